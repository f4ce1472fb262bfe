/*
 * rf_results: every result leaves once per copy with the copy's own header, in order; dropped packets leave no frame;
 * all the reserved room is freed; no cycle is lost between packets of two beats or more. In directed groups a copy is
 * full or empty, and its header is that of what leaves.
 *
 * Compiled with BEATS and HDRS, the module's parameters; WIDTH is 64. The bench is the scheduler (it reserves room
 * before a packet), the readers (headers, then the packet's announcement), the reduction (its beats a fixed time later)
 * and rf_egress.
 */
#include "Vrf_results.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { B = 8, HDR = 80, REDUCE = 14, APART = 7, LANES_MAX = HDRS / 2, BEATS_MAX = BEATS / 4 };

struct copy {
	bytes hdr;
	unsigned hlen;
	bool vlan, repeat, ackreq, wrong, directed, wants, mark;
	unsigned addr, index;
	bool mirror;
	uint64_t mac;
	long at;	/* its header comes */
};

struct packet {
	unsigned lanes, beats, room, drop, pad, plen, fulls;
	std::vector<int> has;		/* per lane: there is a copy */
	std::vector<copy> copies;
	bytes data;
	std::vector<bool> wrong;	/* per beat */
	bool follows;			/* no packet without copies came between the last one and this */
	bool clean;			/* the same for packets that leave nothing */
	long told;			/* it is announced */
};

/* A beat that must leave. */
struct piece {
	bytes data;
	size_t number, beats;		/* in its packet; of its packet */
	bool first, last, wrong, follows;	/* of the first copy; of the last copy */
	long packet;
};

static packet make(rng &r)
{
	packet p;
	const unsigned n = r.percent(30) ? 1 : 1 + r.below(BEATS_MAX);

	p.lanes = 1 + r.below(r.percent(50) ? 1 : LANES_MAX);
	p.beats = r.percent(50) ? n : BEATS_MAX;
	p.plen = n * B - 4 * r.below(2);
	p.pad = r.below(4);
	p.drop = r.percent(15);
	p.room = r.percent(85);
	/* Nobody gave. */
	const bool nothing = DIRECTED && r.percent(15);
	const bool directed = nothing || (DIRECTED && r.percent(60));
	if (nothing)
		p.plen = p.pad = 0;
	p.data = noise(r, nothing ? 0 : n * B);
	p.fulls = 0;
	for (unsigned i = 0; i < p.data.size() / B; i++)
		p.wrong.push_back(r.percent(5));
	for (unsigned i = 0; i < p.lanes; i++) {
		p.has.push_back(p.room && r.percent(70));
		if (p.has.back()) {
			copy c = { noise(r, HDR), r.below(128), r.percent(50), r.percent(50), r.percent(50), r.percent(10), directed,
				   !directed || r.percent(60), directed && r.percent(30), r.below(16), r.below(1 << 24), r.percent(50),
				   r.next() & 0xffffffffffff, 0 };

			/* A checksum that bank has stored is not 0. */
			if (directed) {
				c.hlen = 54 + 4 * r.below(2) + 4 * c.vlan;
				c.hdr[c.vlan ? 28 : 24] |= r.below(2);
				c.hdr[c.vlan ? 29 : 25] |= 1;
			}
			p.fulls += c.wants;
			p.copies.push_back(c);
		}
	}
	return p;
}

/* The header as it must leave; a sum of words as that of an IP header. */
static bytes fitted(const packet &p, const copy &c)
{
	const unsigned l2 = c.vlan ? 18 : 14, plen = c.wants ? p.plen : 0, pad = plen ? p.pad : 0;
	bytes h = c.hdr;

	if (c.ackreq)
		h[l2 + 36] |= 0x80;
	if (!c.directed)
		return h;
	const unsigned length = c.hlen - l2 + plen + 4, ecn = h[l2 + 1] & 3, more = c.mark && ecn ? 3 - ecn : 0;
	unsigned sum = (unsigned)(h[l2 + 10] << 8 | h[l2 + 11]) + plen + more;

	sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
	h[l2 + 1] = (uint8_t)(h[l2 + 1] + more);
	h[l2 + 2] = (uint8_t)(length >> 8);
	h[l2 + 3] = (uint8_t)length;
	h[l2 + 10] = (uint8_t)(sum >> 8);
	h[l2 + 11] = (uint8_t)sum;
	h[l2 + 24] = (uint8_t)((length - 20) >> 8);
	h[l2 + 25] = (uint8_t)(length - 20);
	h[l2 + 29] = (uint8_t)((h[l2 + 29] & 0xcf) | pad << 4);
	return h;
}

/* Whether a copy has beats. */
static bool full(const packet &p, const copy &c)
{
	return c.wants && p.plen != 0;
}

/* The payload as it must leave: the pad bytes at the end of the last word are zero. */
static bytes leaving(const packet &p)
{
	bytes d = p.data;

	for (unsigned i = 0; i < p.pad; i++)
		d[p.plen - 1 - i] = 0;
	return d;
}

static void body(bench &b)
{
	auto d = fresh<Vrf_results>(b);
	std::deque<packet> out, reducing;	/* to leave; beats not received yet */
	std::deque<long> when;			/* the first beat of reducing.front() */
	std::deque<std::pair<long, copy>> headers;
	packet now = {};
	long frames = 0, none = 0, dropped = 0, no_room = 0, stored_at = -1, gap_checks = 0, n = 0, next_lane = 0, free_at = 0;
	unsigned lane = 0, copy_at = 0, p_new = 100, p_sink = 100, out_copy = 0;
	/* Beats stored so far, and those of the packets that have left. */
	size_t red_at = 0, stored = 0, total = 0, base = 0;
	bool lost = false;		/* the header or beat that left in the last cycle */
	copy lost_of = {};
	long losses = 0, mirrors = 0;
	bool busy = false, header = false, due = false, was_soon = false, ended = false, follows = true, clean = true;
	std::deque<piece> beats;
	long kept = 0, empties = 0, announced = 0;

	d->take_valid = d->copy_valid = d->pack_valid = d->out_valid = d->e_ready = d->p_ready = 0;
	reset(b, *d);
	for (; n < 40000 || busy || !reducing.empty() || !out.empty(); n++) {
		b.good("everything leaves in the end", n < 60000);
		if (n % 700 == 0) {
			p_new = n >= 40000 ? 0 : b.r.percent(50) ? 100 : 1 + b.r.below(20);
			p_sink = b.r.percent(50) ? 100 : b.r.percent(20) ? 2 : 1 + b.r.below(99);
		}
		d->take_valid = d->copy_valid = d->pack_valid = d->out_valid = d->e_ready = d->p_ready = 0;
		d->out_data = b.r.next();
		d->out_last = b.r.percent(50);
		net::set_bytes(d->hdr_data, noise(b.r, 81).data(), 81);
		d->hdr_bad = b.r.percent(10);
		d->hdr_mirror = b.r.percent(50);
		d->hdr_mac = b.r.next() & 0xffffffffffff;
		d->out_bad = b.r.percent(10);
		if (!headers.empty() && headers.front().first == n) {
			const copy &c = headers.front().second;

			net::set_bytes(d->hdr_data, c.hdr.data(), HDR);
			put(d->hdr_data, 640, 7, c.hlen);
			put(d->hdr_data, 647, 1, c.vlan);
			d->hdr_bad = c.wrong;
			d->hdr_mirror = c.mirror;
			d->hdr_mac = c.mac;
			headers.pop_front();
		}
		/* Reduction. */
		if (!reducing.empty() && n >= when.front()) {
			const packet &p = reducing.front();

			d->out_valid = 1;
			memcpy(&d->out_data, &p.data[red_at], B);
			d->out_last = red_at + B == p.data.size();
			d->out_bad = p.wrong[red_at / B];
		}
		settle(*d);

		/* The room of a packet is freed when its last beat is at the output for the last time. */
		int held = (int)stored;
		if (d->p_valid && !beats.empty() && beats.front().last && beats.front().number + 1 == beats.front().beats)
			held -= (int)beats.front().beats;
		b.good("beats given back before they left", (int)d->free_beats <= BEATS - held);
		int lanes = 0;
		for (auto &x : out)
			lanes += (int)x.lanes;
		if (header && out_copy + 1 == out.front().copies.size())
			lanes -= (int)out.front().lanes;
		b.good("headers given back before they left", (int)d->free_hdrs <= HDRS - lanes);
		b.same("idle", d->idle, d->free_beats == BEATS && d->free_hdrs == HDRS);
		/* First beat of a result into an empty store: 2 cycles. */
		if (stored_at >= 0 && n == stored_at + 2)
			b.good("first beat after 2 cycles", d->p_valid);
		if (stored_at >= 0 && n >= stored_at && n < stored_at + 2)
			b.good("a beat too early", !d->p_valid);
		/* A beat that was stored two cycles ago follows the one before it at once. */
		if (due) {
			b.good("a gap between beats that are ready", d->p_valid);
			gap_checks++;
		}
		if (was_soon && !DIRECTED)
			b.good("a beat after soon", d->p_valid);
		if (d->e_valid && !d->e_empty)
			b.good("e_valid comes with the first beat", d->p_valid && beats.front().number == 0 && !header);
		if (d->e_valid && d->e_empty)
			b.good("an empty packet within another", !header);
		/* An empty packet that is ready when the one before it ends is announced. */
		if (d->e_valid && d->e_empty && ended && !out.empty() && n > out.front().told + 3 &&
		    n > out.front().copies[out_copy].at + 3 && (out_copy != 0 || out.front().clean)) {
			b.good("soon before an empty packet", was_soon);
			announced++;
		}
		ended = false;

		/* Egress. */
		const bool want = b.r.percent(p_sink);
		bool e = d->e_valid && want, p = (e && !d->e_empty && b.r.percent(80)) || (header && d->p_valid && want);
		d->e_ready = e;
		d->p_ready = p;
		settle(*d);
		const bool soon = (d->next_beat && (!d->p_valid || p)) || (e && d->next_copy) || d->next_empty;

		/* The scheduler: room for a packet, then the reader: lane after lane. */
		if (!busy && n >= free_at && b.r.percent(p_new)) {
			if (now.lanes == 0)
				now = make(b.r);
			if (!now.room || (d->free_beats >= now.beats && d->free_hdrs >= now.lanes)) {
				d->take_valid = now.room;
				d->take_beats = (uint8_t)now.beats;
				d->take_hdrs = (uint8_t)now.lanes;
				busy = true;
				lane = copy_at = 0;
				next_lane = n + 1 + b.r.below(4);
			} else {
				no_room++;
			}
		} else if (busy && n >= next_lane) {
			const bool fin = lane + 1 == now.lanes;

			if (now.has[lane]) {
				copy &c = now.copies[copy_at++];

				c.at = n + 2;
				d->copy_valid = 1;
				d->copy_repeat = c.repeat;
				d->copy_ackreq = c.ackreq;
				d->copy_directed = c.directed;
				d->copy_wants = c.wants;
				d->copy_mark = c.mark;
				d->copy_addr = (uint8_t)c.addr;
				d->copy_index = c.index;
				headers.push_back({ n + 2, c });
			}
			if (fin) {
				d->pack_valid = 1;
				d->pack_room = now.room;
				d->pack_copies = (uint8_t)now.copies.size();
				d->pack_fulls = (uint8_t)now.fulls;
				d->pack_drop = now.drop;
				d->pack_length = (uint8_t)(now.data.size() / B);
				d->pack_tail = (uint16_t)(now.pad << 13 | now.plen);
				d->pack_beats = (uint8_t)now.beats;
				d->pack_hdrs = (uint8_t)now.lanes;
				if (!now.data.empty()) {
					reducing.push_back(now);
					when.push_back(n + REDUCE);
				}
				none += now.room && now.copies.empty();
				dropped += now.drop && !now.copies.empty();
				const bool keeps = now.room && !now.drop && now.fulls != 0 && !now.data.empty();
				now.follows = follows;
				now.told = n;
				follows = now.room ? keeps : follows;
				const bool leaves = !now.drop && !now.copies.empty();
				now.clean = clean;
				clean = now.room ? leaves : clean;
				if (now.room && leaves)
					out.push_back(now);
				const bytes all = leaving(now);
				kept += keeps;
				for (unsigned i = 0; keeps && i < now.fulls; i++)
					for (size_t k = 0; k < all.size() / B; k++)
						beats.push_back({ bytes(all.begin() + (long)k * B, all.begin() + (long)(k + 1) * B), k,
								  all.size() / B, i == 0, i + 1 == now.fulls, now.wrong[k], now.follows, kept });
				/* The next packet's pass begins when this one's has been read. */
				free_at = n + (long)(now.data.size() / B) - 1;
				now.lanes = 0;
				busy = false;
			}
			lane++;
			next_lane = n + APART;
		}
		settle(*d);

		/* An error is reported in the next cycle. */
		b.same("lost_valid", d->lost_valid, lost);
		if (lost) {
			b.same("lost_addr", d->lost_addr, lost_of.addr);
			b.same("lost_index", d->lost_index, lost_of.index);
			losses++;
		}
		b.same("nothing else is lost", d->bad, 0);
		if (e && !out.empty())
			lost_of = out.front().copies[out_copy];
		lost = (e && lost_of.wrong) || (p && beats.front().wrong);

		/* The output. */
		b.good("a packet that nobody announced", (!e || !out.empty()) && (!p || !beats.empty()));
		if (e) {
			const packet &x = out.front();
			const copy &c = x.copies[out_copy];

			bytes want_hdr = fitted(x, c);

			for (unsigned k = 0; c.mirror && k < 6; k++)
				want_hdr[k] = (uint8_t)(c.mac >> (40 - 8 * k));
			mirrors += c.mirror;
			b.same_bytes("e_hdr", net::get_bytes(d->e_hdr, HDR), want_hdr);
			b.same("e_hlen", d->e_hlen, c.hlen);
			b.same("e_plen", d->e_plen, c.wants ? x.plen : 0);
			b.same("e_empty", d->e_empty, !full(x, c));
			b.same("e_repeat", d->e_repeat, c.repeat);
			header = full(x, c);
			empties += !header;
			frames++;
		}
		bool through = e && !header;
		due = false;
		if (p) {
			const piece x = beats.front();
			const bool end = x.number + 1 == x.beats;

			b.same_bytes("p_data", net::get_bytes(d->p_data, B), x.data);
			b.same("p_last", d->p_last, end);
			beats.pop_front();
			if (end) {
				header = false;
				through = true;
				if (x.last) {
					stored -= x.beats;
					base += x.beats;
				}
			}
			if (!beats.empty()) {
				const piece &y = beats.front();

				due = y.packet == x.packet ? !y.first || base + y.number < total :
							     y.follows && x.beats != 1 && base < total;
			}
		}
		if (through) {
			ended = true;
			if (++out_copy == out.front().copies.size()) {
				out_copy = 0;
				out.pop_front();
			}
		}
		was_soon = soon;

		if (d->out_valid) {
			const packet &x = reducing.front();
			const bool keep = x.room && !x.drop && x.fulls != 0;

			if (stored_at >= 0 && n > stored_at + 2)
				stored_at = -1;
			if (keep && red_at == 0 && d->idle == 0 && stored == 0 && stored_at < 0 && beats.size() == x.fulls * x.data.size() / B && beats.front().follows)
				stored_at = n;
			stored += keep;
			total += keep;
			red_at += B;
			if (d->out_last) {
				red_at = 0;
				reducing.pop_front();
				when.pop_front();
				if (!when.empty() && when.front() <= n)
					when.front() = n + 1;
			}
		}
		tick(b, *d);
	}
	b.met("copies", frames, 1000);
	b.met("results of mirror connections", mirrors, 500);
	b.met("headers and beats that were wrong", losses, DIRECTED ? 300 : 500);
	if (DIRECTED) {
		b.met("empty copies", empties, 300);
		b.met("empty copies that were announced", announced, 100);
	}
	b.met("packets dropped with copies", dropped, 100);
	b.met("packets without a copy", none, 30);
	b.met("cycles without room", no_room, 500);
	b.met("beats that followed at once", gap_checks, 1000);
	for (int i = 0; i < 50; i++) {
		d->take_valid = d->copy_valid = d->pack_valid = d->out_valid = d->e_ready = d->p_ready = 0;
		tick(b, *d);
	}
	b.same("all beats are free again", d->free_beats, BEATS);
	b.same("all headers are free again", d->free_hdrs, HDRS);
	b.good("idle at the end", d->idle);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
