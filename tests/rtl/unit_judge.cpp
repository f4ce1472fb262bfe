/*
 * rf_judge against lines 20 to 43 of docs/box.md: for every frame the command 4 cycles after its descriptor, its use of
 * the queues and of the ledger in that cycle, and one cycle later header, counter, signs of life and error.
 *
 * Compiled with the parameters of the module. The bench is rf_ingress (descriptors, commands done), the connection
 * table, the static fields, the ledger and all queues; its answers come in the cycle in which they are due and are
 * random in others.
 */
#include <set>
#include "Vrf_judge.h"
#include "tests/rtl/unit.h"
#include "tests/rtl/judge_ref.h"

using namespace unit;
using namespace judge_ref;

enum { HDR = 80, MASK = 0xffffff, CONNS = 1 << (GW + LW), P2 = 2, P3 = 3, P4 = 4, P5 = 5, P6 = 6, NOTHING = 9 };
enum { FORGET, OP_STORE, OP_PUNT, OP_PASS };

struct known {
	unsigned start, shift, src_ip, peer_ip, peer_port, qpn;
	bool mirror;
	uint64_t mac;
};

struct ledger {
	unsigned next, sent, una, limit, msn;
	bool far;
	/* Selective: accepted beyond next. */
	std::set<unsigned> present;
	nak_state nak;
};

struct config {
	bool live, error, open, transparent, selective, strict, directed;
	unsigned mtu_log2, s_log2, dtype, op, dbase, hbase, code;
};

/* A frame in progress. */
struct job {
	frame f;
	unsigned len, psn, msn, src_ip, hlen, cid, conn, vlan;
	bytes hdr;
	verdict v;
	/* Decided in p3 and p4. */
	unsigned why, index, slot, h_psn, h_made, h_syndrome, h_msn;
	unsigned fault;
	bool store, event, behalf, nak, cnp, counted;
};

class judge_bench {
public:
	explicit judge_bench(bench &bb) : b(bb), d(fresh<Vrf_judge>(bb)) {}
	void run();

private:
	bench &b;
	std::unique_ptr<Vrf_judge> d;
	known conns[GROUPS << (LW + PW)];
	ledger led[CONNS];
	config cfg[GROUPS];
	std::deque<job> pipe;	/* by cycles since the descriptor; NOTHING if none was taken */
	unsigned credits = COMMANDS, undone = 0;
	std::map<unsigned, long> met;
	long immediates = 0, directeds = 0, marks = 0;
	long quiet_gaps = 0, harmless = 0, before = 0, held = 0, tombs = 0, wrong_macs = 0, checksums = 0;
	unsigned p_desc = 100, p_room = 80, p_done = 100, p_good = 97, p_pause = 0;

	void world();
	void begin();
	void events();
	void evolve();
	job make();
	void descriptor(const job &j);
	void groups();
	void answers();
	void form(job &j);
	void window(job &j);
	void check_p4();
	void check_p5();
};

void judge_bench::world()
{
	for (auto &k : conns)
		k = { b.r.below(MASK + 1), b.r.below(MASK + 1), (unsigned)b.r.next(), (unsigned)b.r.next(),
		      b.r.percent(80) ? PORT : b.r.below(8), b.r.below(MASK + 1), b.r.percent(40),
		      b.r.next() & 0xffffffffffff };
	for (auto &l : led) {
		l.una = b.r.percent(40) ? b.r.below(2) : b.r.percent(50) ? b.r.below(1000) : b.r.below(MASK + 1);
		l.sent = (l.una + b.r.below(20)) & MASK;
		l.next = (l.sent + b.r.below(20)) & MASK;
		l.limit = (l.next + b.r.below(20)) & MASK;
		/* No packet has arrived yet. */
		if (b.r.percent(25))
			l.una = l.sent = l.next = l.limit = 0;
		l.msn = b.r.below(MASK + 1);
		l.far = b.r.percent(30);
		l.present.clear();
		l.nak = nak_state();
	}
	for (auto &c : cfg)
		c = { true, false, b.r.percent(15), b.r.percent(15), SELECTIVE && b.r.percent(40), b.r.percent(60), DIRECTED && b.r.percent(40),
		      8 + b.r.below(5), 4 + b.r.below(6), b.r.below(10), b.r.below(3), (unsigned)b.r.next(), (unsigned)b.r.next(), b.r.percent(30) ? 0 : b.r.below(32) };
}

/* No frame is in progress: all connections start. */
void judge_bench::begin()
{
	world();
	d->d_valid = d->m_done = d->tick = d->una_valid = 0;
	for (unsigned a = 0; a < CONNS; a++) {
		d->init_valid = 1;
		d->init_addr = (uint8_t)a;
		tick(b, *d);
	}
	d->init_valid = 0;
}

/* Events that change the NAK state. INIT only if no packet is judged. */
void judge_bench::events()
{
	const unsigned u = b.r.below(CONNS);

	d->una_addr = (uint8_t)u;
	d->una_valid = !cfg[u >> LW].selective && led[u].una != led[u].sent && b.r.percent(10);
	d->tick = b.r.percent(2);
	d->init_addr = (uint8_t)b.r.below(CONNS);
	d->init_valid = 0;
}

/* una, sent and the limit advance slowly; next advances with accepted packets, and over packets that are present. */
void judge_bench::evolve()
{
	/* A TICK in the cycle of a packet takes effect before the packet's request. */
	for (unsigned a = 0; d->tick && a < CONNS; a++)
		led[a].nak.asked = pipe[P4 + 1].nak && pipe[P4 + 1].conn >> PW == a;
	if (d->una_valid) {
		ledger &l = led[d->una_addr];

		l.una = (l.una + 1) & MASK;
		l.nak.asked = l.nak.twice = false;
	}
	if (d->init_valid)
		led[d->init_addr].nak = nak_state();
	for (unsigned a = 0; a < CONNS; a++) {
		ledger &l = led[a];

		if (b.r.percent(1) && cfg[a >> LW].selective && l.una != l.sent)
			l.una = (l.una + 1) & MASK;
		if (l.present.erase(l.next) != 0)
			l.next = (l.next + 1) & MASK;
		if (b.r.percent(2) && l.sent != l.next)
			l.sent = (l.sent + 1) & MASK;
		if (b.r.percent(1) && ((l.limit - l.una) & MASK) < 25 && (l.limit != 0 || b.r.percent(5)))
			l.limit = (l.limit + 1) & MASK;
	}
}

/* Makes the checksum of an IP header right; sometimes the header is such that it is 0 or ffff. */
static void checksum(uint8_t *ip, rng &r)
{
	unsigned sum = 0;

	net::put16(ip + 10, 0);
	if (r.percent(20))
		net::put16(ip + 4, 0);
	for (int i = 0; i < 20; i += 2)
		sum += net::be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	if (net::be16(ip + 4) == 0 && r.percent(80)) {
		sum += 0xffff - (ip[8] << 8) + (64 << 8);
		sum = (sum & 0xffff) + (sum >> 16);
		ip[8] = 64;
		net::put16(ip + 4, 0xffff - sum);
		sum = 0xffff;
	}
	net::put16(ip + 10, sum == 0xffff && r.percent(50) ? 0xffff : 0xffff - sum);
}

/* The checksum of the header with TTL 64. */
static unsigned with_ttl_64(const uint8_t *ip)
{
	unsigned sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += i == 10 ? 0u : i == 8 ? 64u << 8 | ip[9] : net::be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

job judge_bench::make()
{
	static const unsigned opcodes[] = { 0x00, 0x01, 0x02, 0x04, 0x03, 0x05, 0x05, 0x06, 0x08, 0x0a, 0x0b, 0x0c, 0x0d, 0x11, 0x11, 0x11, 0x81 };
	/* Most frames are good in all fields that are not chosen below. */
	const unsigned ok = b.r.percent(80) ? 100 : p_good;
	const unsigned g = b.r.below(GROUPS), l = b.r.below(LANES), p = b.r.percent(ok) ? PORT : b.r.below(PORTS);
	job j = {};
	frame &f = j.f;

	j.conn = g << (LW + PW) | l << PW | p;
	j.cid = g << 7 | l << 3 | p;
	const known &k = conns[j.conn];
	const ledger &x = led[g << LW | l];
	f.kind = b.r.percent(90) ? 2 : b.r.below(2);
	f.cause = b.r.below(40);
	f.opcode = b.r.percent(ok) ? opcodes[b.r.below(17)] : b.r.below(256);
	f.pad = b.r.percent(80) ? 0 : b.r.below(4);
	f.plen = b.r.percent(80) ? 1 << cfg[g].mtu_log2 : b.r.percent(60) ? 4 * (int)b.r.below(1025) : (int)b.r.below(16384) - 8192;
	f.udp_len = b.r.percent(ok) ? (f.opcode == 0x81 ? 40 : 28) : b.r.below(65536);
	f.to_port = b.r.percent(30);
	f.syndrome = b.r.percent(60) ? b.r.below(32) : b.r.below(256);
	f.state = b.r.percent(ok) ? 1 : 1 + b.r.below(3);
	f.icrc_ok = b.r.percent(ok);
	f.hit = b.r.percent(ok);
	f.good = b.r.percent(ok);
	if (!f.good)
		j.cid = b.r.percent(30) ? j.cid | 1u << 15 : b.r.percent(50) ? j.cid | 1u << 13 : (j.cid & ~7u) | PORTS;
	f.foreign = b.r.percent(f.state == RF_STATE_JOINING ? 50 : 5);
	if (f.foreign) {
		j.cid = 0xffff;
		f.good = false;
	}
	const bool ack = f.opcode == 0x11 || f.opcode == 0x81;
	j.src_ip = !b.r.percent(ok) ? (unsigned)b.r.next() : ack ? k.peer_ip : k.src_ip;
	f.mirror = k.mirror && p == PORT;
	/* A MAC that differs in one bit. */
	const uint64_t from = b.r.percent(ok) ? k.mac : k.mac ^ 1ull << b.r.below(48);
	const bool mac_here = !f.mirror || from == k.mac;
	f.data_here = p == PORT && j.src_ip == k.src_ip && mac_here;
	f.ack_here = k.peer_port == PORT && j.src_ip == k.peer_ip && mac_here;
	/* Around the edges of the window. */
	const unsigned edges[] = { x.una, x.sent, x.next, x.next, x.next, x.limit };
	const unsigned near = b.r.percent(40) ? x.nak.last + 1 + b.r.below(2) : edges[b.r.below(6)] + b.r.below(5) - 2;
	const unsigned index = x.next == 0 && b.r.percent(50) ? x.nak.last + b.r.below(3) :
			       b.r.percent(95) ? near : b.r.below(MASK + 1);
	j.psn = (ack ? index + k.start - k.shift : index + k.start) & MASK;
	/* The immediate, mostly that of an honest rank. */
	if (cfg[g].directed && f.opcode == 5 && b.r.percent(40))
		f.plen = f.pad = 0;
	f.imm = (b.r.percent(ok) ? index & 15 : b.r.below(16)) | b.r.below(4) << 4 | (b.r.percent(ok) ? b.r.below(3) : b.r.below(16)) << 8;
	f.imm |= b.r.below(1 << 16) << 16 | b.r.below(4) << 12 | (unsigned)(b.r.percent(ok) ? f.plen != 0 : b.r.below(2)) << 14;
	f.imm |= (b.r.percent(ok) && f.opcode == 3 ? 1 : b.r.below(2)) << 15;
	j.len = b.r.percent(80) ? b.r.below(1100) : b.r.below(16384);
	j.msn = b.r.below(MASK + 1);
	j.hlen = b.r.below(128);
	j.vlan = b.r.below(2);
	j.hdr = noise(b.r, HDR);
	for (unsigned n = 0; n < 6; n++)
		j.hdr[6 + n] = (uint8_t)(from >> (40 - 8 * n));
	wrong_macs += !mac_here;
	if (f.mirror)
		checksum(&j.hdr[j.vlan ? 18 : 14], b.r);
	/* Tags, ARP, and near misses of both. */
	if (b.r.percent(50))
		net::put16(&j.hdr[12], b.r.percent(50) ? 0x8100 : 0x0806);
	if (b.r.percent(50) && !f.mirror)
		net::put16(&j.hdr[16], b.r.percent(80) ? 0x0806 : 0x0800);
	net::put32(&j.hdr[j.vlan ? 58 : 54], f.imm);
	return j;
}

void judge_bench::descriptor(const job &j)
{
	d->d_class = (uint8_t)j.f.kind;
	d->d_cause = (uint8_t)j.f.cause;
	d->d_len = (uint16_t)j.len;
	d->d_vlan = (uint8_t)j.vlan;
	d->d_opcode = (uint8_t)j.f.opcode;
	d->d_psn = j.psn;
	d->d_pad = (uint8_t)j.f.pad;
	d->d_src_ip = j.src_ip;
	d->d_to_port = j.f.to_port;
	d->d_udp_len = (uint16_t)j.f.udp_len;
	d->d_hlen = (uint8_t)j.hlen;
	d->d_plen = (uint16_t)(j.f.plen & 0x3fff);
	d->d_syndrome = (uint8_t)j.f.syndrome;
	d->d_msn = j.msn;
	d->d_icrc_ok = j.f.icrc_ok;
}

void judge_bench::groups()
{
	for (unsigned g = 0; g < GROUPS; g++) {
		config &c = cfg[g];

		c.live = b.r.percent(97);
		c.error = b.r.percent(3);
		put(d->g_live, g, 1, c.live);
		put(d->g_error, g, 1, c.error);
		put(d->g_cfg, g * 32, 32, (unsigned)c.live | (unsigned)c.open << RF_GROUP_CFG_OPEN_LOOP_LSB |
		    c.dtype << RF_GROUP_CFG_DTYPE_LSB | c.op << RF_GROUP_CFG_OP_LSB |
		    (unsigned)c.directed << RF_GROUP_CFG_DIRECTED_LSB | c.mtu_log2 << RF_GROUP_CFG_MTU_LOG2_LSB |
		    c.s_log2 << RF_GROUP_CFG_S_LOG2_LSB | (unsigned)c.transparent << RF_GROUP_CFG_TRANSPARENT_LSB |
		    (unsigned)(c.selective || !SELECTIVE) << RF_GROUP_CFG_SELECTIVE_LSB |
		    (unsigned)c.strict << RF_GROUP_CFG_STRICT_LSB);
		put(d->g_straggler, g * 5, 5, c.code);
		put(d->g_dbase, g * 32, 32, c.dbase);
		put(d->g_hbase, g * 32, 32, c.hbase);
	}
}

/* Inputs that are due in this cycle; random values in all others. */
void judge_bench::answers()
{
	const job &two = pipe[P2], &three = pipe[P3];

	d->r_hit = b.r.percent(50);
	d->r_cid = (uint16_t)b.r.next();
	d->r_state = (uint8_t)b.r.below(4);
	if (two.f.kind == 2) {
		d->r_hit = two.f.hit;
		d->r_cid = (uint16_t)two.cid;
		d->r_state = (uint8_t)two.f.state;
	}
	known k = { b.r.below(MASK + 1), b.r.below(MASK + 1), (unsigned)b.r.next(), (unsigned)b.r.next(), b.r.below(8),
		    b.r.below(MASK + 1), b.r.percent(50), b.r.next() & 0xffffffffffff };
	if (three.f.kind == 2 && three.f.hit)
		k = conns[three.conn];
	d->f_start = k.start;
	d->f_shift = k.shift;
	d->f_src_ip = k.src_ip;
	d->f_peer_ip = k.peer_ip;
	d->f_peer_port = (uint8_t)k.peer_port;
	d->f_qpn = k.qpn;
	d->f_mirror = k.mirror;
	d->f_mac = k.mac;
}

/* p3: all checks that do not depend on the ledger, with the current registers. */
void judge_bench::form(job &j)
{
	const config &c = cfg[j.conn >> (LW + PW)];
	const known &k = conns[j.conn];
	const unsigned acked = j.psn + k.shift - k.start + ack_syndrome(j.f.syndrome);

	j.f.enable = d->enable;
	j.f.hold = d->hold;
	j.f.live = c.live;
	j.f.error = c.error;
	j.f.mtu_log2 = c.mtu_log2;
	j.f.dtype = c.dtype;
	j.f.op = c.op;
	j.f.directed = c.directed;
	j.f.index = (j.psn - k.start) & 15;
	j.f.silent = DIRECTED && get(d->silents, (j.conn & (PORTS - 1)) << (GW + LW) | j.conn >> PW, 1);
	j.v = judge(j.f);
	j.index = (j.f.opcode == 0x11 ? acked : j.psn - k.start) & MASK;
	j.slot = j.index & ((1u << c.s_log2) - 1);
}

/* Lines 30 to 36 and the NAKs. */
void judge_bench::window(job &j)
{
	ledger &x = led[j.conn >> PW];
	const config &c = cfg[j.conn >> (LW + PW)];
	const known &k = conns[j.conn];
	const bool present = x.present.count(j.index) != 0;
	const indexed at = { j.index, x.next, x.sent, x.una, x.limit, c.code, 1u << (c.s_log2 - 3), x.far, c.open,
			     c.transparent, c.selective, present, (bool)d->behalf_room, (bool)d->repeat_room, c.strict };

	if (j.v.act == FORM) {
		j.fault = storable(at) ? j.v.fault : 0;
		harmless += j.fault == 0;
		return;
	}
	const fate f = at_window(x.nak, at);

	j.fault = f.before ? RF_ERROR_BEFORE_START : 0;
	before += f.before;
	j.why = f.why;
	j.store = f.accept;
	j.behalf = f.behalf;
	j.nak = f.nak.made;
	j.h_syndrome = f.nak.syndrome;
	j.h_made = (k.start + (!f.nak.made ? x.una - 1 : c.selective ? f.nak.named : x.una)) & MASK;
	j.h_msn = x.msn;
	j.h_psn = (j.psn - k.shift) & MASK;
	quiet_gaps += !j.nak && d->behalf_room && (j.why == RF_CNT_GAP || j.why == RF_CNT_AHEAD);
	b.same("repeat_take", d->repeat_take, f.repeat);
	if (j.store && j.index == x.next)
		x.next = (x.next + 1) & MASK;
	else if (j.store)
		x.present.insert(j.index);
}

void judge_bench::check_p4()
{
	job &j = pipe[P4];
	const unsigned act = j.v.act;
	unsigned op = FORGET;

	b.same("m_valid", d->m_valid, j.f.kind != NOTHING);
	if (j.f.kind == NOTHING) {
		b.same("nothing taken for nothing", d->punt_take | d->pass_take | d->repeat_take | d->event_take | d->j_valid, 0);
		return;
	}
	const config &c = cfg[j.conn >> (LW + PW)];
	const unsigned lane = j.conn >> PW & ((1 << LW) - 1);
	j.counted = true;
	j.why = j.v.why;
	b.same("j_valid", d->j_valid, act == WINDOW);
	if (act == FORM)
		window(j);
	if (act == WINDOW) {
		b.same("j_addr", d->j_addr, j.conn >> PW);
		b.same("j_index", d->j_index, j.index);
		const unsigned slot = (c.hbase + j.slot) & ((1u << HDR_AW) - 1), lap = j.index >> c.s_log2 & 1;
		b.same("j_selective", d->j_selective, c.selective);
		b.same("j_slot", d->j_slot, slot);
		b.same("j_lap", d->j_lap, lap);
		window(j);
		if (j.store) {
			const unsigned beats = (1u << c.mtu_log2) >> BYTES_LOG2;

			op = OP_STORE;
			b.same("m_empty", d->m_empty, j.f.plen == 0);
			b.same("m_addr", d->m_addr, lane << BANK_AW | ((c.dbase + j.slot * beats) & ((1u << BANK_AW) - 1)));
			b.same("m_conn", d->m_conn, j.conn >> PW);
			b.same("m_selective", d->m_selective, c.selective);
			b.same("m_slot", d->m_slot, slot);
			b.same("m_lap", d->m_lap, lap);
		}
	} else if (act == PUNT) {
		const bool arp = net::be16(&j.hdr[net::be16(&j.hdr[12]) == 0x8100 ? 16 : 12]) == 0x0806;
		const bool fits = j.len <= 1024 && (arp ? d->punt_room_arp : d->punt_room);

		b.same("punt_arp", d->punt_arp, arp);
		op = fits ? OP_PUNT : FORGET;
		j.why = fits ? RF_CNT_PUNTED : RF_CNT_PUNT_FULL;
	} else if (act == FOREIGN) {
		b.same("pass_len", d->pass_len, j.len);
		op = d->pass_room ? OP_PASS : FORGET;
		j.why = d->pass_room ? RF_CNT_FOREIGN : RF_CNT_FOREIGN_FULL;
	} else if (act == RETURN) {
		j.cnp = d->behalf_room;
		j.why = j.cnp ? RF_CNT_CNP_BACK : RF_CNT_ACK_FULL;
		j.h_psn = (j.psn - conns[j.conn].shift) & MASK;
	} else if (act == EVENT) {
		/* Counted according to the ledger's verdict if there is room. */
		j.event = d->event_room;
		j.counted = !j.event;
		j.why = RF_CNT_ACK_FULL;
		j.h_psn = (j.psn + conns[j.conn].shift) & MASK;
	}
	b.same("cnp_mark_valid", d->cnp_mark_valid, act == MARK);
	if (act == MARK) {
		b.same("cnp_mark_group", d->cnp_mark_group, j.conn >> (LW + PW));
		marks++;
	}
	b.same("m_op", d->m_op, op);
	b.same("punt_take", d->punt_take, op == OP_PUNT);
	b.same("pass_take", d->pass_take, op == OP_PASS);
	b.same("event_take", d->event_take, j.event);
	if (j.event) {
		b.same("event_conn", d->event_conn, j.conn);
		b.same("event_index", d->event_index, j.index);
		b.same("event_msn", d->event_msn, j.msn);
		b.same("event_fatal", d->event_fatal, j.f.syndrome >= 0x61 && j.f.syndrome <= 0x63);
		b.same("event_still", d->event_still, j.f.syndrome == 0x60 && c.selective);
	}
	if (act != WINDOW)
		b.same("no repeat_take", d->repeat_take, 0);
}

/* {gives, wants, has an immediate, type, operation, tag}: what a stored packet states. */
static unsigned says(const job &j)
{
	const unsigned group = j.f.dtype << 3 | j.f.op, imm = j.f.imm;

	if (!j.f.directed)
		return 7u << 25 | group << 18 | (j.f.opcode & 15);
	if (j.f.opcode != 3 && j.f.opcode != 5)
		return 6u << 25 | group << 18;
	return (imm >> 14 & 1) << 27 | (imm >> 15 & 1) << 26 | 1u << 25 | (imm >> 4 & 15) << 21 | (imm >> 8 & 7) << 18 |
	       imm >> 16 << 2 | (imm >> 12 & 3);
}

void judge_bench::check_p5()
{
	const job &j = pipe[P5], &counted = pipe[P6];
	const bool there = j.f.kind != NOTHING, counts = counted.f.kind != NOTHING && counted.counted;

	b.same("h_store", d->h_store, there && j.store);
	b.same("h_event", d->h_event, there && j.event);
	b.same("h_behalf", d->h_behalf, there && j.behalf);
	b.same("h_nak", d->h_nak, there && j.nak);
	b.same("h_cnp", d->h_cnp, there && j.cnp);
	b.same("x_count", d->x_count, counts);
	if (counts)
		b.same("x_cause", d->x_cause, counted.why);
	b.same("x_seen_data", d->x_seen_data, there && j.v.seen && j.f.opcode != 0x11);
	b.same("x_seen_ack", d->x_seen_ack, there && j.v.seen && j.f.opcode == 0x11);
	b.same("x_error", d->x_error, there ? j.fault : 0);
	b.same("h_held", d->h_held, there && j.v.held);
	held += there && j.v.held;
	if (!there)
		return;
	met[!j.counted ? 1001 : j.f.kind == 0 ? 1000 : j.why]++;
	if (j.v.seen || j.fault != 0)
		b.same("x_conn", d->x_conn, j.conn);
	if (j.fault != 0)
		b.same("x_index", d->x_index, j.index);
	if (j.fault == RF_ERROR_ORDER || j.fault == RF_ERROR_IMMEDIATE) {
		b.same("x_got", d->x_got, j.f.imm);
		immediates++;
	}
	if (!j.store && !j.event && !j.behalf && !j.nak && !j.cnp && !j.v.held)
		return;
	if (j.store || j.event || j.cnp)
		b.same("h_mirror", d->h_mirror, j.f.mirror);
	if (d->h_mirror && (j.store || j.event || j.cnp)) {
		const unsigned want = with_ttl_64(&j.hdr[j.vlan ? 18 : 14]);

		b.same("h_sum", d->h_sum, want);
		checksums += want == 0;
	}
	b.same_bytes("h_hdr", net::get_bytes(d->h_hdr, HDR), j.hdr);
	b.same("h_vlan", d->h_vlan, j.vlan);
	if (j.store || j.event || j.cnp)
		b.same("h_psn", d->h_psn, j.h_psn);
	if (j.behalf || j.nak) {
		b.same("the frame's PSN", j.nak ? d->h_named : d->h_made, j.h_made);
		if (j.nak)
			b.same("h_syndrome", d->h_syndrome, j.h_syndrome);
		b.same("h_qpn", d->h_qpn, conns[j.conn].qpn);
		b.same("h_msn", d->h_msn, j.h_msn);
	}
	if (j.store) {
		const unsigned slot = cfg[j.conn >> (LW + PW)].hbase + j.slot;

		b.same("h_addr", d->h_addr, (j.conn >> PW & ((1 << LW) - 1)) << HDR_AW | (slot & ((1u << HDR_AW) - 1)));
		b.same("h_opcode", d->h_opcode, j.f.opcode);
		b.same("h_hlen", d->h_hlen, j.hlen);
		b.same("h_plen", d->h_plen, (unsigned)j.f.plen);
		b.same("h_pad", d->h_pad, j.f.pad);
		b.same("h_directed", d->h_directed, j.f.directed);
		if (DIRECTED)
			b.same("h_says", d->h_says, says(j));
		directeds += j.f.directed;
	}
}

void judge_bench::run()
{
	job none = {};
	long stalls = 0, paused = 0;

	none.f.kind = NOTHING;
	d->d_valid = d->m_done = d->pause = 0;
	d->init_valid = d->una_valid = d->tick = 0;
	reset(b, *d);
	begin();
	pipe.assign(P6 + 1, none);
	for (long n = 0; n < 60000; n++) {
		if (n % 400 == 0) {
			/* No frame is in progress when the configuration changes. */
			p_desc = n % 4000 == 0 ? 0 : b.r.percent(60) ? 100 : 1 + b.r.below(60);
			p_room = b.r.percent(50) ? 100 : 10 + b.r.below(90);
			p_done = b.r.percent(60) ? 100 : 5 + b.r.below(60);
			p_good = b.r.percent(50) ? 90 : 60;
			p_pause = b.r.percent(70) ? 0 : b.r.below(40);
		}
		if (n % 4000 == 200)
			begin();
		const job next = make();
		descriptor(next);
		/* The header comes in p3. */
		net::set_bytes(d->d_hdr, (pipe[P3].f.kind != NOTHING ? pipe[P3] : next).hdr.data(), HDR);
		d->d_valid = b.r.percent(p_desc);
		d->pause = b.r.percent(p_pause);
		d->enable = b.r.percent(98);
		d->hold = b.r.percent(50);
		groups();
		events();
		d->punt_room = b.r.percent(p_room);
		d->punt_room_arp = b.r.percent(p_room);
		d->pass_room = b.r.percent(p_room);
		d->repeat_room = b.r.percent(p_room);
		d->event_room = b.r.percent(p_room);
		d->behalf_room = b.r.percent(p_room);
		d->m_done = undone != 0 && b.r.percent(p_done);
		d->silents = (uint32_t)(b.r.next() & b.r.next());
		answers();
		settle(*d);
		const ledger &x = led[d->j_addr];
		d->j_next = x.next;
		d->j_sent = x.sent;
		d->j_una = x.una;
		d->j_far = x.far;
		d->j_msn = x.msn;
		const bool is_next = d->j_index == x.next;
		d->j_inside = less(d->j_index, x.limit);
		d->j_full = x.next == x.limit;
		d->j_accept = !d->j_selective ? is_next && !d->j_full :
			      !less(d->j_index, x.next) && d->j_inside && x.present.count(d->j_index) == 0;
		d->init_valid = !d->j_valid && !d->una_valid && b.r.percent(1);
		settle(*d);

		const bool take = d->d_valid && d->d_ready;
		b.same("d_ready", d->d_ready, credits != 0 && !d->pause);
		paused += d->pause && credits != 0 && d->d_valid;
		b.same("idle", d->idle, credits == COMMANDS);
		b.same("l_valid", d->l_valid, take && next.f.kind == 2);
		stalls += d->d_valid && !d->d_ready;
		if (pipe[P2].f.kind == 2) {
			b.same("f_read", d->f_read, pipe[P2].f.hit);
			if (pipe[P2].f.hit && pipe[P2].f.good)
				b.same("f_conn", d->f_conn, pipe[P2].conn);
		}
		b.same("h_take", d->h_take, pipe[P3].f.kind != NOTHING);
		if (pipe[P3].f.kind != NOTHING)
			form(pipe[P3]);
		if (pipe[P3].f.kind == 2 && pipe[P3].f.hit && pipe[P3].f.good)
			b.same("j_soon", d->j_soon, pipe[P3].conn >> (LW + PW));
		const bool tomb = pipe[P3].f.kind != NOTHING && pipe[P3].v.tomb;
		b.same("t_valid", d->t_valid, tomb);
		if (tomb)
			b.same("t_src_ip", d->t_src_ip, pipe[P3].src_ip);
		tombs += tomb;
		check_p4();
		check_p5();

		undone += d->m_valid;
		undone -= d->m_done;
		credits += d->m_done;
		credits -= take;
		/* Taken in this cycle: one cycle old in the next. */
		pipe[0] = take ? next : none;
		pipe.pop_back();
		pipe.push_front(none);
		evolve();
		tick(b, *d);
	}
	b.met("frames that waited for a credit", stalls, 500);
	b.met("frames that were held", paused, 500);
	b.met("verdicts of different kinds", (long)met.size(), (SELECTIVE ? 35 : 32) + 2 * DIRECTED);
	b.met("sequence NAKs", met[RF_CNT_GAP_NAK], 100);
	b.met("RNR NAKs after them", met[RF_CNT_GAP_RNR], 100);
	b.met("RNR NAKs for stragglers", met[RF_CNT_PENDING_RNR], 8);
	if (SELECTIVE)
		b.met("selective NAKs", met[RF_CNT_AHEAD_NAK] + met[RF_CNT_PENDING_NAK], 100);
	b.met("packets of wrong form that end no group", harmless, 100);
	b.met("ranks that begin before their start PSN", before, 4);
	b.met("gaps that are not answered", quiet_gaps, 100);
	if (DIRECTED) {
		b.met("groups that end because of an immediate", immediates, 3);
		b.met("packets of directed groups", directeds, 300);
		b.met("CNPs of ranks that do not give", marks, 100);
	}
	b.met("held frames", held, 100);
	b.met("CNPs returned", met[RF_CNT_CNP_BACK], 100);
	b.met("frames on no mirror connection", met[RF_CNT_UNKNOWN], 100);
	b.met("frames from a wrong MAC", wrong_macs, 100);
	b.met("checksums of zero", checksums, 10);
	b.met("tombstones with a right ICRC", tombs, 100);
}

static void body(bench &b)
{
	judge_bench j(b);

	j.run();
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
