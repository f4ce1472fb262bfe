/*
 * rf_bank: commands reach rf_ingress in order; each stream goes to the destination in its command; payloads and headers
 * are found at their addresses; beats known to be wrong are marked; and no payload command is issued while a punted
 * frame may still be stalled.
 *
 * Compiled with LANES, BANK_AW, HDR_AW and COMMANDS, the module's parameters; WIDTH is 64. The bench is the judge,
 * rf_ingress (a command's first beat up to 2 cycles later, then one per cycle while o_ready) and the readers.
 *
 * The readers never read what is written in the same cycle; with --violate 1, 2 or 3 they do (beats, headers, facts), and
 * the module must end the run.
 */
#include "Vrf_bank.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { B = 8, HDR = 80, LW = 1, AW = 3, FORGET = 0, STORE = 1, PUNT = 2, PASS = 3, BEATS_MAX = 6 };

struct command {
	unsigned op, addr, conn;
	bool empty;	/* a packet without payload to store: no stream follows */
	std::vector<uint64_t> data;
	std::vector<bool> wrong;	/* the beat is */
	long from;	/* its first beat is available */
};

struct header {
	bool is = false;
	bytes hdr;
	unsigned vlan, hlen;
	uint64_t fact;
};

/* The IP checksum of a packet of a directed group as it is stored: inverted, and that of the packet without its payload. */
static void empty_sum(uint8_t *at, unsigned plen)
{
	const unsigned sum = (~(at[0] << 8 | at[1]) & 0xffffu) + (~plen & 0xffffu), once = (sum & 0xffff) + (sum >> 16);

	at[0] = (uint8_t)(once >> 8);
	at[1] = (uint8_t)once;
}

/* A word that is output `latency` cycles after its read. */
template <class T> struct later {
	std::deque<std::pair<long, T>> due;

	bool there(long n, T *out)
	{
		if (due.empty() || due.front().first != n)
			return false;
		*out = due.front().second;
		due.pop_front();
		return true;
	}
};

static unsigned long violate;

static void body(bench &b)
{
	auto d = fresh<Vrf_bank>(b);
	std::deque<command> asked, streams;
	std::map<unsigned, uint64_t> beats;
	std::map<unsigned, bool> wrong;
	std::map<unsigned, header> headers;
	later<std::pair<bool, uint64_t>> beat_out;
	later<std::pair<bool, bool>> wrong_out;
	later<header> hdr_out, fact_out;
	later<bool> unknown_out;
	long empties = 0, directeds = 0;
	long wrongs = 0, stored = 0, punted = 0, passed = 0, waits = 0, read = 0, hdr_read = 0, mirrors = 0, held = 0;
	unsigned p_new = 50, p_take = 50, p_punt = 50;
	size_t at = 0;

	d->m_valid = d->h_store = d->c_ready = d->o_valid = d->beat_read = d->fact_read = d->hdr_read = d->punt_ready = 0;
	reset(b, *d);
	for (long n = 0; n < 30000 || !asked.empty() || !streams.empty(); n++) {
		b.good("everything is done in the end", n < 40000);
		if (n % 300 == 0) {
			p_new = n >= 30000 ? 0 : b.r.percent(50) ? 100 : b.r.below(40);
			p_take = b.r.percent(50) ? 100 : 1 + b.r.below(99);
			p_punt = b.r.percent(50) ? 100 : 5 + b.r.below(95);
		}
		d->m_valid = 0;
		d->h_store = 0;
		/* The judge has COMMANDS credits. */
		if (asked.size() < COMMANDS && b.r.percent(p_new)) {
			const unsigned len = 1 + b.r.below(BEATS_MAX);
			const unsigned op = b.r.percent(60) ? (unsigned)STORE : b.r.below(4);
			command c = { op, b.r.below(LANES) << BANK_AW | b.r.below((1 << BANK_AW) - BEATS_MAX), b.r.below(1 << AW),
				      DIRECTED && op == STORE && b.r.percent(20), {}, {}, 0 };

			for (unsigned i = 0; i < len && op != FORGET && !c.empty; i++) {
				c.data.push_back(b.r.next());
				c.wrong.push_back(b.r.percent(10));
			}
			d->m_valid = 1;
			d->m_op = (uint8_t)op;
			d->m_empty = c.empty;
			d->m_addr = (uint8_t)c.addr;
			d->m_conn = (uint8_t)c.conn;
			asked.push_back(c);
		}
		d->h_vlan = b.r.percent(50);
		d->h_opcode = (uint8_t)b.r.next();
		d->h_hlen = (uint8_t)b.r.below(128);
		d->h_plen = (uint16_t)b.r.below(1 << 13);
		d->h_pad = (uint8_t)b.r.below(4);
		d->h_psn = b.r.below(1 << 24);
		d->h_mirror = b.r.percent(50);
		d->h_sum = (uint16_t)b.r.next();
		d->h_directed = DIRECTED && b.r.percent(50);
		d->h_says = b.r.below(1 << 28);
		d->h_addr = (uint8_t)(b.r.below(LANES) << HDR_AW | b.r.below(1 << HDR_AW));
		const bytes hdr = noise(b.r, HDR);
		net::set_bytes(d->h_hdr, hdr.data(), HDR);
		d->h_store = b.r.percent(30);

		/* The stream of the oldest command. */
		const bool flows = !streams.empty() && n >= streams.front().from;
		d->o_valid = flows;
		d->o_data = b.r.next();
		d->o_last = b.r.percent(50);
		d->o_bad = b.r.percent(10);
		if (flows) {
			d->o_data = streams.front().data[at];
			d->o_last = at + 1 == streams.front().data.size();
			d->o_bad = streams.front().wrong[at];
		}
		d->punt_ready = b.r.percent(p_punt);
		d->c_ready = b.r.percent(p_take);
		d->beat_read = b.r.percent(50);
		/* Half of the time an address with valid contents. */
		auto known = beats.lower_bound(b.r.below(LANES << BANK_AW));
		d->beat_addr = (uint8_t)(known != beats.end() && b.r.percent(50) ? known->first : b.r.below(LANES << BANK_AW));
		d->hdr_read = b.r.percent(50);
		d->hdr_addr = (uint8_t)(b.r.below(LANES) << HDR_AW | b.r.below(1 << HDR_AW));
		d->fact_read = b.r.percent(50);
		d->fact_addr = (uint8_t)(b.r.below(LANES) << HDR_AW | b.r.below(1 << HDR_AW));
		if (violate != 1 && flows && streams.front().op == STORE && d->beat_addr == streams.front().addr + at)
			d->beat_read = 0;
		if (violate != 2 && d->h_store && d->hdr_addr == d->h_addr)
			d->hdr_read = 0;
		if (violate != 3 && d->h_store && d->fact_addr == d->h_addr)
			d->fact_read = 0;
		settle(*d);

		/* Commands, in order. A command that arrived in this cycle is not offered yet. */
		const size_t offered = asked.size() - d->m_valid;
		if (d->c_valid) {
			b.good("a command that nobody gave", offered != 0);
			const command &c = asked.front();

			b.same("c_op", d->c_op, c.empty ? (unsigned)FORGET : c.op == PASS ? 2 : c.op);
			empties += c.empty;
			if (c.op == STORE)
				for (auto &s : streams)
					b.good("a payload after a punted frame that may be held back", s.op != PUNT);
		} else if (offered != 0) {
			/* Stalled only for a punted frame, or if four streams are in progress. */
			bool punts = false;
			for (auto &s : streams)
				punts |= s.op == PUNT;
			b.good("a command held back for no reason", streams.size() >= 4 || (asked.front().op == STORE && punts));
			waits++;
		}
		const bool take = d->c_valid && d->c_ready;
		b.same("m_done", d->m_done, take);
		b.same("commit_valid", d->commit_valid, take && asked.front().op == STORE);
		if (d->commit_valid)
			b.same("commit_conn", d->commit_conn, asked.front().conn);
		b.same("idle", d->idle, offered == 0 && streams.empty() && !d->h_store);

		/* The stream. */
		const unsigned way = flows ? streams.front().op : 0;
		b.same("punt_valid", d->punt_valid, way == PUNT);
		b.same("pass_valid", d->pass_valid, way == PASS);
		if (flows)
			b.same("o_ready", d->o_ready, way != PUNT || d->punt_ready);
		held += way == PUNT && !d->punt_ready;

		/* The data read. */
		std::pair<bool, uint64_t> beat;
		std::pair<bool, bool> beat_wrong;
		header h;
		if (wrong_out.there(n, &beat_wrong) && beat_wrong.first) {
			b.same("beat_bad, with the beat", d->beat_bad, beat_wrong.second);
			wrongs += beat_wrong.second;
		}
		/* A header that was never written may appear to have a parity error. */
		bool unknown = false;
		unknown_out.there(n, &unknown);
		if (!unknown)
			b.same("nothing is lost", d->bad, 0);
		if (beat_out.there(n, &beat) && beat.first) {
			b.same("beat_data, 2 cycles", d->beat_data, beat.second);
			read++;
		}
		if (hdr_out.there(n, &h) && h.is) {
			b.same_bytes("hdr_data, 2 cycles", net::get_bytes(d->hdr_data, HDR), h.hdr);
			b.same("hlen", get(d->hdr_data, 640, 7), h.hlen);
			b.same("vlan", get(d->hdr_data, 647, 1), h.vlan);
			b.same("hdr_bad", d->hdr_bad, 0);
			hdr_read++;
		}
		if (fact_out.there(n, &h) && h.is) {
			b.same("fact_data, 1 or 2 cycles", (uint64_t)d->fact_data, h.fact);
			b.same("fact_bad", d->fact_bad, 0);
		}
		if (d->beat_read) {
			auto f = beats.find(d->beat_addr);
			beat_out.due.push_back({ n + 2, { f != beats.end(), f != beats.end() ? f->second : 0 } });
			wrong_out.due.push_back({ n + 2, { f != beats.end(), f != beats.end() && wrong[d->beat_addr] } });
		}
		if (d->hdr_read)
			unknown_out.due.push_back({ n + 3, !headers[d->hdr_addr].is });
		if (d->hdr_read)
			hdr_out.due.push_back({ n + 2, headers[d->hdr_addr] });
		if (d->fact_read)
			fact_out.due.push_back({ n + 1 + DIRECTED, headers[d->fact_addr] });

		/* Writes are visible to the reads of later cycles. */
		if (flows && d->o_ready) {
			command &c = streams.front();

			if (way == STORE) {
				beats[c.addr + (unsigned)at] = c.data[at];
				wrong[c.addr + (unsigned)at] = c.wrong[at];
			}
			if (++at == c.data.size()) {
				stored += way == STORE;
				punted += way == PUNT;
				passed += way == PASS;
				at = 0;
				streams.pop_front();
				if (!streams.empty() && streams.front().from <= n)
					streams.front().from = n + 1;
			}
		}
		if (take) {
			command c = asked.front();

			asked.pop_front();
			c.from = n + 1 + b.r.below(2);
			if (c.op != FORGET && !c.empty)
				streams.push_back(c);
		}
		if (d->h_store) {
			header &x = headers[d->h_addr];

			x.is = true;
			x.hdr = hdr;
			/* No header is that long. */
			x.hdr[78] = x.hdr[79] = 0;
			net::put24(&x.hdr[d->h_vlan ? 55 : 51], d->h_psn);
			if (d->h_mirror) {
				const size_t l2 = d->h_vlan ? 18 : 14;

				x.hdr[l2 + 8] = 64;
				net::put16(&x.hdr[l2 + 10], d->h_sum);
				memcpy(&x.hdr[l2 + 12], &hdr[l2 + 16], 4);
				memcpy(&x.hdr[l2 + 16], &hdr[l2 + 12], 4);
				mirrors++;
			}
			if (d->h_directed) {
				empty_sum(&x.hdr[d->h_vlan ? 28 : 24], d->h_plen);
				directeds++;
			}
			x.vlan = d->h_vlan;
			x.hlen = d->h_hlen;
			x.fact = (DIRECTED ? (uint64_t)d->h_says : d->h_opcode & 15u) << 15 | (unsigned)d->h_pad << 13 | d->h_plen;
		}
		tick(b, *d);
	}
	b.met("payloads stored", stored, 1000);
	b.met("frames punted", punted, 200);
	b.met("frames passed on", passed, 200);
	b.met("cycles in which a command waited", waits, 1000);
	b.met("cycles in which the punt buffer held back", held, 200);
	b.met("beats read again", read, 5000);
	b.met("wrong beats among them", wrongs, 300);
	b.met("headers turned back", mirrors, 1000);
	b.met("headers read again", hdr_read, 5000);
	if (DIRECTED) {
		b.met("packets without payload", empties, 300);
		b.met("headers of directed groups", directeds, 1000);
	}
}

int main(int argc, char **argv)
{
	violate = net::option(argc, argv, "violate", 0);
	return run(argc, argv, body);
}
