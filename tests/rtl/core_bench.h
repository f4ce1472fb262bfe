// The whole box in Verilator, with the minimum that a test needs: frames in and out, the register
// bus, and frames built and checked byte by byte. Written from docs/box.md, not from the RTL.
#ifndef CORE_BENCH_H
#define CORE_BENCH_H

#include <cinttypes>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "Vrf_core.h"
#include "rf_regs.h"
#include "verilated.h"

typedef std::vector<uint8_t> Bytes;

static const unsigned BEAT = WIDTH / 8;

[[noreturn]] static inline void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] static inline void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "FAIL: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

// Seeded random numbers (xorshift64*).
struct Random {
	uint64_t s;
	explicit Random(uint64_t seed) : s(seed * 2654435769u + 88172645463325252u)
	{
	}
	uint32_t operator()()
	{
		s ^= s >> 12;
		s ^= s << 25;
		s ^= s >> 27;
		return static_cast<uint32_t>((s * 2685821657736338717u) >> 32);
	}
	uint32_t below(uint32_t n)
	{
		return (*this)() % n;
	}
	bool chance(uint32_t n, uint32_t of)
	{
		return below(of) < n;
	}
};

static inline void put(Bytes &b, uint64_t v, unsigned n)
{
	while (n--)
		b.push_back(static_cast<uint8_t>(v >> (8 * n)));
}

static inline uint64_t get(const Bytes &b, size_t at, unsigned n)
{
	uint64_t v = 0;

	if (at + n > b.size())
		die("frame of %zu bytes read at %zu", b.size(), at);
	while (n--)
		v = v << 8 | b[at++];
	return v;
}

static inline void set(Bytes &b, size_t at, uint64_t v, unsigned n)
{
	while (n--)
		b[at++] = static_cast<uint8_t>(v >> (8 * n));
}

static inline uint32_t crc32(const uint8_t *p, size_t n, uint32_t crc = 0)
{
	static uint32_t table[256];

	if (!table[1])
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t c = i;
			for (int k = 0; k < 8; k++)
				c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
			table[i] = c;
		}
	crc = ~crc;
	while (n--)
		crc = table[(crc ^ *p++) & 255] ^ crc >> 8;
	return ~crc;
}

// Offset of the IP header.
static inline size_t l3(const Bytes &b)
{
	return b[12] == 0x81 && b[13] == 0 ? 18 : 14;
}

// ICRC of a frame whose last four bytes (after the IP packet's payload) are the place for it.
static inline uint32_t icrc(const Bytes &b)
{
	size_t at = l3(b), end = at + get(b, at + 2, 2) - 4;
	Bytes m(8, 0xff);

	m.insert(m.end(), b.begin() + static_cast<long>(at), b.begin() + static_cast<long>(end));
	for (unsigned k : {1u, 8u, 10u, 11u, 26u, 27u, 32u})
		m[8 + k] = 0xff;
	return crc32(m.data(), m.size());
}

static inline void seal(Bytes &b)
{
	size_t at = l3(b), end = at + get(b, at + 2, 2) - 4;
	uint32_t c = icrc(b);

	for (unsigned k = 0; k < 4; k++)
		b[end + k] = static_cast<uint8_t>(c >> (8 * k));
}

static inline bool icrc_right(const Bytes &b)
{
	Bytes c = b;

	seal(c);
	return c == b;
}

static inline uint16_t ip_sum(const Bytes &b, size_t at)
{
	uint32_t sum = 0;

	for (unsigned k = 0; k < 20; k += 2)
		if (k != 10)
			sum += static_cast<uint32_t>(get(b, at + k, 2));
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return static_cast<uint16_t>(~sum);
}

// The fields of a RoCE frame.
struct Roce {
	uint64_t dmac = 0x020000000001, smac = 0x020000000002;
	int vlan = -1;
	uint8_t tos = 0, ttl = 64;
	uint16_t id = 0;
	uint32_t sip = 0, dip = 0;
	uint16_t sport = 0xc000;
	uint8_t opcode = 4, pad = 0, flags = 0x40;
	uint16_t pkey = 0xffff;
	uint32_t qpn = 0, psn = 0;
	bool ackreq = false;
	uint8_t reserved = 0;
	Bytes ext;     // RETH, AETH, ImmDt
	Bytes payload; // with pad

	Bytes frame() const
	{
		Bytes b;
		size_t udp = 8 + 12 + ext.size() + payload.size() + 4;

		put(b, dmac, 6);
		put(b, smac, 6);
		if (vlan >= 0) {
			put(b, 0x8100, 2);
			put(b, static_cast<uint64_t>(vlan), 2);
		}
		put(b, 0x0800, 2);
		size_t at = b.size();
		put(b, 0x45, 1);
		put(b, tos, 1);
		put(b, 20 + udp, 2);
		put(b, id, 2);
		put(b, 0x4000, 2);
		put(b, ttl, 1);
		put(b, 17, 1);
		put(b, 0, 2);
		put(b, sip, 4);
		put(b, dip, 4);
		set(b, at + 10, ip_sum(b, at), 2);
		put(b, sport, 2);
		put(b, 4791, 2);
		put(b, udp, 2);
		put(b, 0, 2);
		put(b, opcode, 1);
		put(b, static_cast<uint64_t>(flags | pad << 4), 1);
		put(b, pkey, 2);
		put(b, reserved, 1);
		put(b, qpn, 3);
		put(b, ackreq ? 0x80 : 0, 1);
		put(b, psn & 0xffffff, 3);
		b.insert(b.end(), ext.begin(), ext.end());
		b.insert(b.end(), payload.begin(), payload.end());
		put(b, 0, 4);
		seal(b);
		while (b.size() < 60)
			b.push_back(0);
		return b;
	}
};

struct Sent {
	Bytes b;
	uint64_t first, last;
};

class Box
{
      public:
	struct Rx {
		Bytes b;
		bool bad;
	};
	VerilatedContext ctx;
	std::unique_ptr<Vrf_core> top;
	uint64_t cycle = 0;
	std::deque<Rx> rx[PORTS];
	size_t rx_at[PORTS] = {};
	uint64_t rx_last[PORTS] = {}; // cycle in which the last beat of the last frame entered
	std::vector<Sent> tx[PORTS];
	Bytes tx_now[PORTS];
	uint64_t tx_first[PORTS] = {};
	unsigned cut[PORTS] = {}; // frames that ended as bad
	uint64_t gaps = 0; // cycles in which m_axis paused inside a frame though it was ready
	std::function<void(unsigned, const Sent &)> on_tx;
	std::function<bool(unsigned)> on_ready;

	explicit Box(uint64_t seed)
	{
		ctx.randSeed(static_cast<int>(seed | 1));
		ctx.randReset(2);
		top.reset(new Vrf_core(&ctx));
		memset(&top->s_axis_tdata, 0, sizeof top->s_axis_tdata);
		memset(&top->s_axis_tkeep, 0, sizeof top->s_axis_tkeep);
		top->s_axis_tvalid = 0;
		top->s_axis_tlast = 0;
		top->s_axis_tuser = 0;
		top->m_axis_tready = (1u << PORTS) - 1;
		top->s_axil_awvalid = 0;
		top->s_axil_wvalid = 0;
		top->s_axil_bready = 1;
		top->s_axil_arvalid = 0;
		top->s_axil_rready = 1;
		top->s_axil_wstrb = 15;
		top->rst = 1;
		for (int k = 0; k < 20; k++)
			tick();
		top->rst = 0;
	}

	// Verilator removes the scopes of a model from the context of the thread: that of another
	// Box may be gone.
	~Box()
	{
		Verilated::threadContextp(&ctx);
		top.reset();
	}

	void send(unsigned p, const Bytes &b, bool bad = false)
	{
		rx[p].push_back({b, bad});
	}

	// Before all frames that have not begun to enter.
	void send_soon(unsigned p, const Bytes &b)
	{
		rx[p].insert(rx[p].begin() + (rx_at[p] ? 1 : 0), Rx{b, false});
	}

	void drive()
	{
		uint8_t *data = reinterpret_cast<uint8_t *>(&top->s_axis_tdata);
		uint8_t *keep = reinterpret_cast<uint8_t *>(&top->s_axis_tkeep);
		uint32_t valid = 0, last = 0, user = 0, ready = 0;

		for (unsigned p = 0; p < PORTS; p++) {
			if (!on_ready || on_ready(p))
				ready |= 1u << p;
			if (rx[p].empty() || top->rst)
				continue;
			Rx &f = rx[p].front();
			size_t n = std::min<size_t>(BEAT, f.b.size() - rx_at[p]);
			memcpy(data + p * BEAT, f.b.data() + rx_at[p], n);
			memset(data + p * BEAT + n, 0xa5, BEAT - n);
			for (unsigned k = 0; k < BEAT / 8; k++) {
				size_t done = 8 * k;
				keep[p * BEAT / 8 + k] =
					static_cast<uint8_t>(n >= done + 8 ? 255
							     : n <= done   ? 0
									   : (1 << (n - done)) - 1);
			}
			valid |= 1u << p;
			rx_at[p] += n;
			if (rx_at[p] == f.b.size()) {
				last |= 1u << p;
				if (f.bad)
					user |= 1u << p;
				rx_at[p] = 0;
				rx[p].pop_front();
				rx_last[p] = cycle;
			}
		}
		top->s_axis_tvalid = static_cast<uint8_t>(valid);
		top->s_axis_tlast = static_cast<uint8_t>(last);
		top->s_axis_tuser = static_cast<uint8_t>(user);
		top->m_axis_tready = static_cast<uint8_t>(ready);
	}

	void watch()
	{
		const uint8_t *data = reinterpret_cast<const uint8_t *>(&top->m_axis_tdata);
		const uint8_t *keep = reinterpret_cast<const uint8_t *>(&top->m_axis_tkeep);

		for (unsigned p = 0; p < PORTS; p++) {
			uint32_t bit = 1u << p;
			if (!(top->m_axis_tready & bit))
				continue;
			if (!(top->m_axis_tvalid & bit)) {
				gaps += !tx_now[p].empty();
				continue;
			}
			if (tx_now[p].empty())
				tx_first[p] = cycle;
			size_t n = 0;
			for (unsigned k = 0; k < BEAT / 8; k++)
				n += static_cast<size_t>(
					__builtin_popcount(keep[p * BEAT / 8 + k]));
			tx_now[p].insert(tx_now[p].end(), data + p * BEAT, data + p * BEAT + n);
			if (top->m_axis_tlast & top->m_axis_tuser & bit) {
				tx_now[p].clear();
				cut[p]++;
			} else if (top->m_axis_tlast & bit) {
				Sent s = {Bytes(), tx_first[p], cycle};
				s.b.swap(tx_now[p]);
				if (on_tx)
					on_tx(p, s);
				else
					tx[p].push_back(s);
			} else if (n != BEAT) {
				die("port %u: beat with %zu bytes inside a frame", p, n);
			}
		}
	}

	// One cycle: inputs change after the edge, outputs are checked before the next one.
	void tick()
	{
		drive();
		top->clk = 0;
		top->eval();
		if (!top->rst)
			watch();
		top->clk = 1;
		top->eval();
		cycle++;
	}

	void run(uint64_t n)
	{
		while (n--)
			tick();
	}

	// Until no packet or event is in progress.
	void settle(uint64_t limit = 20000)
	{
		uint64_t end = cycle + limit;
		unsigned quiet = 0;

		while (quiet < 3) {
			tick();
			bool more = false;
			for (unsigned p = 0; p < PORTS; p++)
				more = more || !rx[p].empty();
			quiet = !more && top->idle ? quiet + 1 : 0;
			if (cycle > end)
				die("not idle after %" PRIu64 " cycles", limit);
		}
	}

	void wr(uint32_t addr, uint32_t value)
	{
		top->s_axil_awaddr = addr;
		top->s_axil_wdata = value;
		top->s_axil_awvalid = 1;
		top->s_axil_wvalid = 1;
		for (int n = 0;; n++) {
			top->eval();
			bool aw = top->s_axil_awvalid && top->s_axil_awready;
			bool w = top->s_axil_wvalid && top->s_axil_wready;
			bool b = top->s_axil_bvalid;
			tick();
			if (aw)
				top->s_axil_awvalid = 0;
			if (w)
				top->s_axil_wvalid = 0;
			if (b)
				return;
			if (n > 2000)
				die("write %06x: no answer", addr);
		}
	}

	uint32_t rd(uint32_t addr)
	{
		top->s_axil_araddr = addr;
		top->s_axil_arvalid = 1;
		for (int n = 0;; n++) {
			top->eval();
			bool ar = top->s_axil_arvalid && top->s_axil_arready;
			bool r = top->s_axil_rvalid;
			uint32_t data = top->s_axil_rdata;
			tick();
			if (ar)
				top->s_axil_arvalid = 0;
			if (r)
				return data;
			if (n > 2000)
				die("read %06x: no answer", addr);
		}
	}

	uint32_t count(unsigned p, unsigned counter)
	{
		return rd(RF_PORT_BASE + p * RF_PORT_STRIDE + 4 * counter);
	}
	uint32_t total(unsigned counter)
	{
		uint32_t n = 0;
		for (unsigned p = 0; p < PORTS; p++)
			n += count(p, counter);
		return n;
	}

	// Entry of the connection table: the first empty one of the key's two buckets of four,
	// recorded here.
	std::vector<bool> taken[2] = {std::vector<bool>(1u << HASH_BITS),
				      std::vector<bool>(1u << HASH_BITS)};
	void hash(unsigned role, uint32_t ip, uint32_t qpn, unsigned cid, unsigned state)
	{
		Bytes key;

		put(key, role, 1);
		put(key, qpn, 3);
		put(key, ip, 4);
		uint32_t h = crc32(key.data(), 8), mask = (1u << (HASH_BITS - 2)) - 1;
		h ^= (h >> 13 | h << 19) & (h >> 23 | h << 9);
		for (unsigned t = 0; t < 2; t++)
			for (unsigned n = 0; n < 4; n++) {
				uint32_t place = 4 * (h >> 16 * t & mask) + n;
				if (taken[t][place])
					continue;
				taken[t][place] = true;
				entry(role, ip, qpn, cid, state, t, place);
				where[key] = {t, place};
				return;
			}
		die("no place for a connection: take other addresses");
	}
	void rehash(unsigned role, uint32_t ip, uint32_t qpn, unsigned cid, unsigned state)
	{
		Bytes key;

		put(key, role, 1);
		put(key, qpn, 3);
		put(key, ip, 4);
		entry(role, ip, qpn, cid, state, where.at(key).first, where.at(key).second);
	}

      private:
	struct Less {
		bool operator()(const Bytes &a, const Bytes &b) const
		{
			return a < b;
		}
	};
	std::map<Bytes, std::pair<unsigned, uint32_t>> where;
	void entry(unsigned role, uint32_t ip, uint32_t qpn, unsigned cid, unsigned state,
		   unsigned t, uint32_t place)
	{
		wr(RF_HASH_IP, ip);
		wr(RF_HASH_KEY, qpn | role << 24);
		wr(RF_HASH_VALUE, cid | state << 16);
		wr(RF_HASH_WRITE, place | t << 16);
	}
};

static inline bool before(uint32_t a, uint32_t b)
{
	uint32_t d = (b - a) & 0xffffff;
	return d != 0 && d < 0x800000;
}

// A rank: its connection leads to the next rank of its group.
struct Rank {
	unsigned group = 0, lane = 0, port = 0, number = 0;
	uint32_t ip = 0, qpn = 0;   // its own; ACKs for its data come to these
	uint32_t pip = 0, pqpn = 0; // of its successor; data goes to these
	unsigned pport = 0;
	uint32_t start = 0, shift = 0;
	unsigned cid() const
	{
		return group << 7 | lane << 3 | port;
	}

	// Data packet of index i.
	Roce data(uint32_t i, const Bytes &payload, uint8_t opcode = 4) const
	{
		Roce r;

		r.sip = ip;
		r.dip = pip;
		r.qpn = pqpn;
		r.smac = 0x020000001000 + number;
		r.dmac = 0x020000001000 + number + 1;
		r.psn = start + i;
		r.opcode = opcode;
		r.payload = payload;
		r.id = static_cast<uint16_t>(i);
		r.sport = static_cast<uint16_t>(0xc000 + number);
		unsigned n = opcode == 6 || opcode == 10                 ? 16
			     : opcode == 3 || opcode == 5 || opcode == 9 ? 4
			     : opcode == 11                              ? 20
									 : 0;
		for (unsigned k = 0; k < n; k++)
			r.ext.push_back(static_cast<uint8_t>(i * 7 + k));
		return r;
	}
	// ACK of the successor for everything below index u.
	Roce ack(uint32_t u, uint8_t syndrome = 0x1f, uint32_t msn = 0) const
	{
		Roce r;

		r.sip = pip;
		r.dip = ip;
		r.qpn = qpn;
		r.smac = 0x020000001000 + number + 1;
		r.dmac = 0x020000001000 + number;
		r.psn = start - shift + u - (syndrome < 0x20 ? 1 : 0);
		r.opcode = 0x11;
		put(r.ext, syndrome, 1);
		put(r.ext, msn, 3);
		return r;
	}
};

struct Group {
	unsigned number = 0, level = 0, base = 0, lanes = 1, dtype = 0, op = 0, mtu_log2 = 10,
		 s_log2 = 9;
	bool open = false, transparent = false, selective = false;
	uint32_t dbase = 0, hbase = 0;
	std::vector<Rank> ranks;

	uint32_t cfg() const
	{
		return 1u | (open ? 2u : 0) | (transparent ? 4u : 0) | (selective ? 8u : 0) |
		       dtype << RF_GROUP_CFG_DTYPE_LSB | op << RF_GROUP_CFG_OP_LSB |
		       mtu_log2 << RF_GROUP_CFG_MTU_LOG2_LSB | level << RF_GROUP_CFG_LEVEL_LSB |
		       base << RF_GROUP_CFG_BASE_PORT_LSB | lanes << RF_GROUP_CFG_LANES_LSB |
		       s_log2 << RF_GROUP_CFG_S_LOG2_LSB;
	}
	uint32_t reg(uint32_t offset) const
	{
		return RF_GROUP_BASE + number * RF_GROUP_STRIDE + offset;
	}
	static uint32_t conn(const Rank &r, uint32_t offset)
	{
		return RF_CONN_BASE + r.cid() * RF_CONN_STRIDE + offset;
	}

	// Ranks 0.. at the given positions (lane, port), in a ring.
	void place(const std::vector<std::pair<unsigned, unsigned>> &places, uint32_t shift,
		   uint32_t seed)
	{
		unsigned n = static_cast<unsigned>(places.size());

		for (unsigned k = 0; k < n; k++) {
			Rank r;
			unsigned s = (k + 1) % n;
			r.group = number;
			r.lane = places[k].first;
			r.port = places[k].second;
			r.number = number * 128 + k;
			r.ip = 0x0a000000 + number * 256 + k + 1;
			r.qpn = 0x100 + number * 4096 + k;
			r.pip = 0x0a000000 + number * 256 + s + 1;
			r.pqpn = 0x800 + number * 4096 + s;
			r.pport = places[s].second;
			r.start = (seed * 7919 + k * 0x10001 + 0xfffff0) & 0xffffff;
			r.shift = shift;
			ranks.push_back(r);
		}
	}
	void full(unsigned l, unsigned first, unsigned count, uint32_t shift, uint32_t seed)
	{
		std::vector<std::pair<unsigned, unsigned>> at;

		for (unsigned k = 0; k < l; k++)
			for (unsigned p = 0; p < count; p++)
				at.push_back({k, first + p});
		lanes = l;
		base = first;
		level = count > 4 ? 3 : count > 2 ? 2 : count > 1 ? 1 : 0;
		place(at, shift, seed);
	}
	void live(Box &box) const
	{
		uint32_t members[4] = {};

		box.wr(reg(RF_GROUP_DBASE), dbase);
		box.wr(reg(RF_GROUP_HBASE), hbase);
		for (const Rank &r : ranks)
			members[r.lane / 4] |= 1u << (r.lane % 4 * 8 + r.port);
		for (unsigned k = 0; k < 4; k++)
			box.wr(reg(RF_GROUP_MEMBERS0 + 4 * k), members[k]);
		box.wr(reg(RF_GROUP_CFG), cfg() & ~1u);
		for (const Rank &r : ranks) {
			box.wr(conn(r, RF_CONN_START), r.start);
			box.wr(conn(r, RF_CONN_SHIFT), r.shift);
			box.wr(conn(r, RF_CONN_SRC_IP), r.ip);
			box.wr(conn(r, RF_CONN_PEER_IP), r.pip);
			box.wr(conn(r, RF_CONN_PEER_PORT), r.pport);
			box.wr(conn(r, RF_CONN_QPN), r.qpn);
			box.wr(conn(r, RF_CONN_INIT), 1);
			box.hash(false, r.pip, r.pqpn, r.cid(), 1);
			box.hash(true, r.ip, r.qpn, r.cid(), 1);
		}
		box.wr(reg(RF_GROUP_CFG), cfg());
	}
};

// The fields of a result.
struct Result {
	uint32_t psn;
	uint8_t opcode;
	bool ackreq;
	Bytes payload;
	explicit Result(const Bytes &b)
	{
		size_t at = l3(b);
		opcode = static_cast<uint8_t>(get(b, at + 28, 1));
		psn = static_cast<uint32_t>(get(b, at + 37, 3));
		ackreq = get(b, at + 36, 1) >> 7;
		size_t head = at + 40;
		if (opcode == 6 || opcode == 10)
			head += 16;
		else if (opcode == 3 || opcode == 5 || opcode == 9 || opcode == 0x11)
			head += 4;
		else if (opcode == 11)
			head += 20;
		size_t end = at + get(b, at + 2, 2) - 4;
		payload.assign(b.begin() + static_cast<long>(head),
			       b.begin() + static_cast<long>(end));
	}
};

#endif
