/*
 * rf_ackq: ACKs that cross the box leave with their new PSN after the verdict of the ledger, those of mirror connections
 * turned back; so do CNPs, without a verdict. ACKs on behalf of a
 * receiver and NAKs match docs/box.md. All leave in the order in which the judge gave them; nothing is lost if there
 * was room.
 *
 * Compiled with CW and DEPTH, the module's parameters. The bench is the judge (room in p4, event in p4, header in p5),
 * the ledger (verdicts in the order of the events) and rf_port_tx.
 */
#include "Vrf_ackq.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { HDR = 80 };

struct event {
	unsigned conn, index, msn, fatal, still;
};

struct frame {
	bytes hdr;	/* as it must leave */
	bool alone, behalf, nak;	/* alone: no verdict */
	long from;	/* may leave from this cycle on; a forwarded one also waits for its verdict */
};

/* The outputs of the judge. */
struct order {
	bool event = false, behalf = false, nak = false, cnp = false, vlan = false, mirror = false;
	unsigned sum = 0, psn = 0, made = 0, syndrome = 0, qpn = 0, msn = 0;
	bytes hdr;
};

static unsigned checksum(const uint8_t *ip)
{
	unsigned sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += net::be16(ip + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

static bytes forwarded(const order &o)
{
	const size_t l2 = o.vlan ? 18 : 14;
	bytes f(o.hdr.begin(), o.hdr.begin() + (long)l2 + 44);

	net::put24(&f[l2 + 37], o.psn);
	if (o.cnp) {
		f.resize(l2 + 40);
		f.resize(l2 + 56, 0);
	}
	if (o.mirror) {
		const uint8_t *from = o.hdr.data();

		memcpy(&f[0], from + 6, 6);
		memcpy(&f[6], from, 6);
		f[l2 + 8] = 64;
		/* The judge has computed it. */
		net::put16(&f[l2 + 10], o.sum);
		memcpy(&f[l2 + 12], from + l2 + 16, 4);
		memcpy(&f[l2 + 16], from + l2 + 12, 4);
	}
	return f;
}

/* An ACK on behalf of a receiver, or a NAK. */
static bytes on_behalf(const order &o)
{
	const size_t l2 = o.vlan ? 18 : 14;
	bytes f(o.hdr.begin(), o.hdr.begin() + (long)l2 + 44);
	const uint8_t *from = o.hdr.data();
	uint8_t *ip = &f[l2], *udp = ip + 20, *bth = ip + 28;

	memcpy(&f[0], from + 6, 6);
	memcpy(&f[6], from, 6);
	ip[1] &= 0xfc; /* no ECN */
	net::put16(ip + 2, 48);
	ip[8] = 64;
	net::put16(ip + 10, 0);
	memcpy(ip + 12, from + l2 + 16, 4);
	memcpy(ip + 16, from + l2 + 12, 4);
	net::put16(ip + 10, checksum(ip));
	net::put16(udp + 4, 28);
	net::put16(udp + 6, 0);
	bth[0] = 0x11;
	bth[1] &= 0x40;
	bth[4] = 0;
	net::put24(bth + 5, o.qpn);
	bth[8] = 0;
	net::put24(bth + 9, o.made);
	bth[12] = (uint8_t)o.syndrome;
	net::put24(bth + 13, o.msn);
	return f;
}

/* Sets the identification so that the sum of the made header has a carry when it is folded. */
static void carry(order &o, rng &r)
{
	uint8_t *ip = &o.hdr[o.vlan ? 18 : 14];
	unsigned sum = 48;

	for (int i = 0; i < 20; i += 2)
		sum += i == 2 || i == 4 || i == 10 ? 0 : i == 0 ? net::be16(ip) & 0xfffc : i == 8 ? 64 << 8 | ip[9] : net::be16(ip + i);
	net::put16(ip + 4, 0xffff - r.below(3) - sum);
}

static void body(bench &b)
{
	auto d = fresh<Vrf_ackq>(b);
	std::deque<event> events, asked;	/* not taken; waiting for their verdict */
	std::deque<frame> frames;
	std::deque<std::pair<bool, long>> verdicts;
	order p5;
	unsigned p_new = 50, p_ledger = 50, p_out = 50;
	long sent = 0, made = 0, naks = 0, cnps = 0, back = 0, refused = 0, full = 0;

	d->event_take = d->h_event = d->h_behalf = d->h_nak = d->h_cnp = d->ev_ready = d->v_valid = d->e_ready = 0;
	reset(b, *d);
	for (long n = 0; n < 40000 || p5.event || p5.behalf || p5.cnp || !frames.empty(); n++) {
		b.good("everything leaves in the end", n < 60000);
		if (n % 300 == 0) {
			p_new = n >= 40000 ? 0 : b.r.percent(50) ? 100 : 1 + b.r.below(60);
			p_ledger = b.r.percent(50) ? 100 : 2 + b.r.below(98);
			p_out = b.r.percent(50) ? 100 : 2 + b.r.below(98);
		}
		/* p5 of the previous frame. */
		const bytes noisy = noise(b.r, HDR);
		d->h_event = p5.event;
		d->h_behalf = p5.behalf && !p5.nak;
		d->h_nak = p5.nak;
		d->h_cnp = p5.cnp;
		d->h_mirror = p5.mirror;
		d->h_sum = (uint16_t)(p5.mirror ? p5.sum : b.r.next());
		d->h_syndrome = (uint8_t)p5.syndrome;
		/* the PSN of the other kind, and the syndrome of an ACK, do not matter */
		d->h_made = p5.nak ? b.r.below(1 << 24) : p5.made;
		d->h_named = p5.nak ? p5.made : b.r.below(1 << 24);
		if (!p5.nak)
			d->h_syndrome = (uint8_t)b.r.next();
		d->h_vlan = p5.vlan;
		d->h_psn = p5.psn;
		d->h_qpn = p5.qpn;
		d->h_msn = p5.msn;
		net::set_bytes(d->h_hdr, p5.event || p5.behalf || p5.cnp ? p5.hdr.data() : noisy.data(), HDR);
		d->event_take = 0;
		d->event_conn = (uint8_t)b.r.below(1 << CW);
		d->event_index = b.r.below(1 << 24);
		d->event_msn = b.r.below(1 << 24);
		d->event_fatal = b.r.percent(20);
		d->event_still = b.r.percent(20);
		d->ev_ready = b.r.percent(p_ledger);
		d->v_valid = !asked.empty() && b.r.percent(p_ledger);
		d->v_ok = b.r.percent(75);
		d->e_ready = b.r.percent(p_out);
		settle(*d);

		const bool all_gone = frames.empty() && events.empty() && asked.empty() && !p5.event && !p5.behalf && !p5.cnp;
		if (all_gone)
			b.good("room where nothing is", d->event_room && d->behalf_room);
		b.good("idle while frames wait", !d->idle || (frames.empty() && events.empty() && !p5.event && !p5.behalf && !p5.cnp));
		if (all_gone)
			b.good("idle where nothing is", d->idle);

		/* Events, in order; they are offered in the next cycle. */
		b.same("ev_valid", d->ev_valid, !events.empty());
		if (d->ev_valid) {
			const event &e = events.front();

			b.same("ev_conn", d->ev_conn, e.conn);
			b.same("ev_index", d->ev_index, e.index);
			b.same("ev_msn", d->ev_msn, e.msn);
			b.same("ev_fatal", d->ev_fatal, e.fatal);
			b.same("ev_still", d->ev_still, e.still);
		}

		/* Output. */
		while (!frames.empty() && !frames.front().alone && !verdicts.empty() && verdicts.front().second <= n &&
		       !verdicts.front().first && frames.front().from <= n) {
			/* Refused: dropping it takes one cycle. */
			frames.front().from = -1;
			break;
		}
		const bool dies = !frames.empty() && frames.front().from == -1;
		bool due = !frames.empty() && !dies && frames.front().from <= n;
		if (due && !frames.front().alone)
			due = !verdicts.empty() && verdicts.front().second <= n;
		b.same("e_valid", d->e_valid, due);
		if (due) {
			const frame &f = frames.front();

			b.same("e_hlen", d->e_hlen, f.hdr.size());
			b.same("e_behalf", d->e_behalf, f.behalf);
			b.same("e_nak", d->e_nak, f.nak);
			b.same_bytes(f.nak ? "NAK" : f.behalf ? "frame on behalf" : "frame forwarded", net::get_bytes(d->e_hdr, f.hdr.size()), f.hdr);
		}

		/* The judge: one frame per cycle, of either kind if there is room. */
		order p4;
		if (b.r.percent(p_new)) {
			const bool is_event = b.r.percent(50), room = is_event ? d->event_room : d->behalf_room;

			full += !room;
			if (room) {
				p4.event = is_event;
				p4.cnp = !is_event && b.r.percent(30);
				p4.behalf = !is_event && !p4.cnp;
				p4.mirror = p4.cnp || b.r.percent(40);
				p4.sum = b.r.below(65536);
				p4.vlan = b.r.percent(40);
				p4.nak = p4.behalf && b.r.percent(50);
				p4.psn = b.r.below(1 << 24);
				p4.made = b.r.below(1 << 24);
				p4.syndrome = !p4.nak ? 0x1f : b.r.percent(50) ? 0x60 : 0x20 + b.r.below(32);
				p4.qpn = b.r.below(1 << 24);
				p4.msn = b.r.below(1 << 24);
				p4.hdr = noise(b.r, HDR);
				if (b.r.percent(20))
					carry(p4, b.r);
				d->event_take = is_event;
			}
		}
		settle(*d);

		/* The next cycle. */
		if (d->e_valid && d->e_ready) {
			sent += !frames.front().alone;
			cnps += frames.front().alone && !frames.front().behalf;
			made += frames.front().behalf && !frames.front().nak;
			naks += frames.front().nak;
			if (!frames.front().alone)
				verdicts.pop_front();
			frames.pop_front();
		} else if (dies) {
			verdicts.pop_front();
			frames.pop_front();
			refused++;
		}
		if (d->v_valid) {
			verdicts.push_back({ d->v_ok, n + 2 });
			asked.pop_front();
		}
		if (d->ev_valid && d->ev_ready) {
			asked.push_back(events.front());
			events.pop_front();
		}
		if (d->event_take)
			events.push_back({ d->event_conn, d->event_index, d->event_msn, d->event_fatal, d->event_still });
		if (p5.event || p5.behalf || p5.cnp)
			frames.push_back({ p5.behalf ? on_behalf(p5) : forwarded(p5), !p5.event, p5.behalf, p5.nak, n + 3 });
		back += p5.event && p5.mirror;
		b.good("more than its capacity", frames.size() <= DEPTH + 1);
		p5 = p4;
		tick(b, *d);
	}
	b.met("ACKs forwarded", sent, 2000);
	b.met("ACKs on behalf", made, 1000);
	b.met("NAKs", naks, 1000);
	b.met("ACKs turned back", back, 1000);
	b.met("CNPs", cnps, 1000);
	b.met("ACKs refused", refused, 500);
	b.met("frames without room", full, 1000);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
