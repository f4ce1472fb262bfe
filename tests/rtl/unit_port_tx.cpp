/*
 * rf_port_tx: every source's frames leave whole and in their order. Results come first, but at most RESULTS of them
 * while a frame of the firmware waits, and a waiting ACK after each. Foreign frames leave as soon as their share of the
 * beats allows, and get exactly that share if they and results always wait. No cycle is lost between two waiting
 * frames. Some results are empty: they have no beats, and those on offer belong to a later one.
 *
 * Compiled with RESULTS, the module's parameter; WIDTH is 64. The sources behave as rf_results, rf_ackq, rf_passthru
 * and rf_inject do. The sink takes headers and beats whenever it likes.
 */
#include "Vrf_port_tx.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { B = 8, HDR = 80, RES = 0, ACK = 1, FOR = 2, INJ = 3, SOURCES = 4 };

struct frame {
	bytes hdr;
	unsigned hlen, len;
	bytes data;
	long late;	/* cycles from the frame's header to its first beat (foreign ones) */
};

static frame make(rng &r, int source)
{
	frame f;
	const unsigned beats = source == ACK || (source == RES && r.percent(25)) ? 0 : 1 + r.below(r.percent(50) ? 3 : 12);

	f.hdr = noise(r, HDR);
	f.hlen = r.below(128);
	f.len = beats == 0 ? 0 : beats * B - r.below(B);
	f.data = noise(r, beats * B);
	f.late = r.percent(50) ? 0 : r.below(4);
	return f;
}

/* A source of frames; the first one is offered, `at` is its next beat. */
struct source {
	std::deque<frame> todo;
	size_t at = 0;
	bool taken = false;	/* its header */
	bool p_valid = false;	/* results only: the register at rf_results' output */
	long waits = 0;		/* cycles since it arrived */
	int passed_res = 0, passed_other = 0;
};

/* The first frame that has beats; the number of frames if there is none. */
static size_t filled(const source &s)
{
	size_t k = 0;

	while (k < s.todo.size() && s.todo[k].data.empty())
		k++;
	return k;
}

static uint64_t beat(const source &s)
{
	const frame &f = s.todo[filled(s)];
	uint64_t v = 0;

	if (s.at < f.data.size())
		memcpy(&v, &f.data[s.at], B);
	return v;
}

static bool last(const source &s)
{
	return s.at + B >= s.todo[filled(s)].data.size();
}

static void offer(Vrf_port_tx &d, source *s, rng &r)
{
	source &res = s[RES], &fo = s[FOR], &in = s[INJ];

	d.res_p_valid = res.p_valid;
	d.res_e_empty = !res.todo.empty() && res.todo.front().data.empty();
	d.res_e_valid = (res.p_valid || d.res_e_empty) && !res.taken;
	d.res_p_data = r.next();
	d.res_p_last = 0;
	if (d.res_e_valid) {
		net::set_bytes(d.res_e_hdr, res.todo.front().hdr.data(), HDR);
		d.res_e_hlen = (uint8_t)res.todo.front().hlen;
		d.res_e_plen = (uint16_t)res.todo.front().len;
	}
	if (res.p_valid) {
		d.res_p_data = beat(res);
		d.res_p_last = last(res);
	}
	d.ack_e_valid = !s[ACK].todo.empty();
	if (d.ack_e_valid) {
		net::set_bytes(d.ack_e_hdr, s[ACK].todo.front().hdr.data(), HDR);
		d.ack_e_hlen = (uint8_t)s[ACK].todo.front().hlen;
	}
	/* As soon as one frame has been taken the next is offered. */
	d.for_e_valid = fo.todo.size() > fo.taken;
	d.for_more = fo.todo.size() > 1u + fo.taken;
	d.for_p_valid = !fo.todo.empty() && fo.waits >= fo.todo.front().late;
	if (!fo.todo.empty()) {
		if (d.for_e_valid)
			d.for_e_len = (uint16_t)fo.todo[fo.taken].len;
		d.for_p_data = beat(fo);
		d.for_p_last = last(fo);
	}
	d.inj_valid = !in.todo.empty();
	if (d.inj_valid) {
		d.inj_len = (uint16_t)in.todo.front().len;
		d.inj_data = beat(in);
		d.inj_last = last(in);
	}
}

static void check_header(bench &b, Vrf_port_tx &d, int k, const frame &f)
{
	const bool raw = k == FOR || k == INJ;

	b.same("e_raw", d.e_raw, raw);
	if (raw) {
		b.same("e_len", d.e_len, f.len);
		return;
	}
	b.same_bytes("e_hdr", net::get_bytes(d.e_hdr, HDR), f.hdr);
	b.same("e_hlen", d.e_hlen, f.hlen);
	b.same("e_plen", d.e_plen, f.len);
}

/* Results and foreign frames wait all the time: the part of the beats that foreign frames get, for each share. */
static void shares(bench &b)
{
	for (unsigned share : { 0u, 1u, 4u, 8u, 13u, 15u })
		for (size_t beats : { 1u, 17u, 64u }) {
			auto d = fresh<Vrf_port_tx>(b);
			source s[SOURCES];
			long res = 0, foreign = 0;

			d->share = (uint8_t)share;
			d->res_next_beat = d->res_next_copy = d->res_next_empty = d->e_ready = d->p_ready = 0;
			reset(b, *d);
			for (int n = 0; n < 30000; n++) {
				for (int k : { RES, FOR })
					while (s[k].todo.size() < 3) {
						frame f = make(b.r, k);

						f.len = (unsigned)(k == RES ? 17 : beats) * B;
						f.data = noise(b.r, f.len);
						f.late = 0;
						s[k].todo.push_back(f);
					}
				s[RES].p_valid = true;
				offer(*d, s, b.r);
				d->res_next_beat = d->res_next_copy = d->e_ready = d->p_ready = 1;
				settle(*d);
				const int which = d->sent == 0 ? -1 : __builtin_ctz(d->sent);
				if (which >= 0)
					s[which].taken = true;
				res += which == RES;
				for (int k : { RES, FOR }) {
					if (!(k == RES ? d->res_p_ready && d->res_p_valid : d->for_p_ready && d->for_p_valid))
						continue;
					(k == RES ? res : foreign)++;
					const bool ends = last(s[k]);
					s[k].at += B;
					if (ends) {
						s[k].todo.pop_front();
						s[k].at = 0;
						s[k].taken = false;
					}
				}
				tick(b, *d);
			}
			const double is = (double)foreign / (double)(res + foreign);
			printf("share %2u, frames of %2zu beats: %5.2f %% of the beats (%5.2f %% asked)\n", share, beats, 100 * is, share * 6.25);
			b.good("foreign frames have their share", is > share / 16.0 - 0.01 && is < share / 16.0 + 0.01);
		}
}

static void body(bench &b)
{
	shares(b);
	auto d = fresh<Vrf_port_tx>(b);
	source s[SOURCES];
	unsigned p_new[SOURCES] = {}, p_sink = 100;
	long empties = 0, sent[SOURCES] = {}, bubbles_looked_at = 0, at_limit = 0, acks_behind = 0, stalls = 0;
	int inside = -1, offered = -1, run = 0, ack_run = 0, credit = 0;
	long by_share = 0;
	/* When the offered frame was chosen: a result waited, the share allowed a foreign frame. */
	bool res_then = false, may_then = false, charged = false;
	/* A result has begun since the last ACK; one waited when a result ended. */
	bool ack_turn = false, ack_due = false;
	bool due = false, flooded = false, rest = false, waits_at_rest = false;

	memset(&d->res_e_hdr, 0, sizeof(d->res_e_hdr));
	memset(&d->ack_e_hdr, 0, sizeof(d->ack_e_hdr));
	d->res_next_beat = d->res_next_copy = d->res_next_empty = d->e_ready = d->p_ready = 0;
	d->res_e_valid = d->ack_e_valid = d->for_e_valid = d->inj_valid = d->res_p_valid = d->for_p_valid = 0;
	d->share = 4;
	reset(b, *d);
	for (int n = 0; n < 60000; n++) {
		if (n % 500 == 0) {
			for (int k = 0; k < SOURCES; k++)
				p_new[k] = b.r.percent(30) ? 0 : b.r.percent(40) ? 100 : b.r.below(20);
			p_sink = b.r.percent(50) ? 100 : 1 + b.r.below(99);
		}
		for (int k = 0; k < SOURCES; k++)
			if (s[k].todo.size() < (k == INJ ? 1 : 3) && b.r.percent(p_new[k]))
				s[k].todo.push_back(make(b.r, k));
		d->e_ready = d->p_ready = d->res_next_beat = d->res_next_copy = d->res_next_empty = 0;
		offer(*d, s, b.r);
		settle(*d);

		/* The frame on offer: `sent` would name it. */
		d->e_ready = 1;
		settle(*d);
		const int chosen = d->sent == 0 ? -1 : __builtin_ctz(d->sent);
		d->e_ready = 0;
		settle(*d);
		if (offered >= 0)
			b.same("a frame once offered stays", (uint64_t)chosen, (uint64_t)offered);
		/* In the cycle after a frame's end no waiting frame may lose a cycle. */
		if (due) {
			b.good("a bubble between two frames", d->e_valid);
			bubbles_looked_at++;
		}
		/* If no frame was there a cycle ago: a result at once, others one cycle later. */
		if (rest && d->res_e_valid)
			b.good("a result at once", d->e_valid);
		if (waits_at_rest)
			b.good("another one within a cycle", d->e_valid);
		const bool other_there = d->ack_e_valid || d->for_e_valid || d->inj_valid;
		waits_at_rest = inside < 0 && !d->e_valid && other_there;
		rest = inside < 0 && !d->res_e_valid && !other_there;

		/* The sink takes headers and beats independently. */
		const bool raw = d->e_raw;
		d->e_ready = b.r.percent(p_sink);
		d->p_ready = b.r.percent(p_sink);
		settle(*d);
		stalls += d->e_valid && !d->e_ready;
		const bool e = d->e_valid && d->e_ready;
		const bool p = d->p_valid && d->p_ready;
		b.good("a beat before its header", !d->p_valid || inside >= 0 || e);
		/* rf_results reads its next beat when the register at its output is free or leaves. */
		source &res = s[RES];
		const bool res_out = d->res_p_valid && d->res_p_ready;
		size_t full_ones = 0;
		for (auto &f : res.todo)
			full_ones += !f.data.empty();
		const bool more = res.p_valid ? (!last(res) || full_ones > 1) : full_ones != 0;
		const bool read = more && (!res.p_valid || res_out);
		const bool next = res.todo.size() > 1, next_empty = next && res.todo[1].data.empty();
		const bool leaves = d->res_e_valid && d->res_e_ready, bare = leaves && d->res_e_empty;
		const bool soon = read || (leaves && next) || (res.taken && next_empty);
		d->res_next_beat = more;
		d->res_next_copy = next;
		d->res_next_empty = res.taken && next_empty;
		settle(*d);

		const int which = d->sent == 0 ? -1 : __builtin_ctz(d->sent);
		b.same("sent comes with e_ready", d->sent != 0, e);
		b.same("one frame at a time", __builtin_popcount(d->sent), e);
		b.good("idle while something is there", !d->idle || (inside < 0 && !d->res_e_valid && !d->ack_e_valid &&
								     !d->for_e_valid && !d->inj_valid));
		b.same("res_e_ready", d->res_e_ready && d->res_e_valid, which == RES);
		b.same("ack_e_ready", d->ack_e_ready && d->ack_e_valid, which == ACK);
		b.same("for_e_ready", d->for_e_ready && d->for_e_valid, which == FOR);

		bool others = false;
		others |= !s[INJ].todo.empty() && inside != INJ;
		const bool acks = !s[ACK].todo.empty() && inside != ACK;
		if (e) {
			b.good("a frame inside a frame", inside < 0);
			check_header(b, *d, which, s[which].todo.front());
			sent[which]++;
			inside = which;
			s[which].taken = true;
			for (int c = ACK; c < SOURCES; c++) {
				if (c == which || s[c].todo.empty())
					continue;
				(which == RES ? s[c].passed_res : s[c].passed_other)++;
				b.good("passed by too many results", which != RES || s[c].passed_res <= (c == FOR ? 30 : 3 * RESULTS + 2));
				b.good("passed by too many others", which == RES || s[c].passed_other <= 4 * (RESULTS + 3));
			}
			if (which == RES) {
				run += others;
				ack_run += acks;
				b.good("more than one result before an ACK", ack_run <= 1);
				b.good("a result before an ACK that waited for its turn", !ack_due);
				ack_turn = true;
				b.good("more results than RESULTS in a row", run <= RESULTS);
				at_limit += run == RESULTS;
			} else {
				if (flooded)
					b.good("another one before its turn",
					       (which == ACK && ack_turn) || (which == INJ && run >= RESULTS) ||
						       (which == FOR && may_then));
				by_share += which == FOR && res_then;
				if (which != FOR)
					(which == ACK ? ack_run : run) = 0;
				if (which == FOR)
					charged = res_then;
				ack_turn &= which != ACK;
				acks_behind += which == ACK && ack_due;
				flooded = true;
			}
			ack_due = false;
		}
		if (!others)
			run = 0;
		const bool for_waits = which == FOR ? d->for_more : d->for_e_valid;
		const bool chooses = (p && last(s[inside])) || (e && which == ACK) || bare || (inside < 0 && !d->e_valid);
		if (chooses) {
			may_then = credit >= 0;
			res_then = p || bare || (e && which == ACK) ? soon || (inside != RES && (d->res_p_valid || d->res_e_valid)) : d->res_e_valid || soon;
		}
		if (credit >= 0 && !for_waits) {
			credit = 0;
		} else {
			credit += e && !raw ? 4 : 0;
			credit += p && inside == RES ? 4 : p && inside == FOR && charged ? -12 : 0;
		}
		if (!acks)
			ack_run = 0;
		/* No result waits: others may be sent earlier. */
		if (!soon && (!d->res_p_valid || res_out) && (!d->res_e_valid || leaves))
			flooded = false;
		offered = e ? -1 : chosen;

		/* Beats. */
		bool ended = false;
		if (p) {
			source &x = s[inside];

			b.good("a beat of no frame", inside >= 0);
			b.same("p_data", d->p_data, beat(x));
			b.same("p_last", d->p_last, last(x));
			b.same("ready of its source alone", d->res_p_ready * 1 + d->for_p_ready * 2 + d->inj_ready * 4,
			       inside == RES ? 1 : inside == FOR ? 2 : 4);
			ended = last(x);
			if (inside == RES)
				x.p_valid = false;
			if (!ended)
				x.at += B;
		} else if (e && (which == ACK || bare)) {
			ended = true;
			empties += bare;
		}
		due = ended && (soon || (inside != RES && (res.p_valid || d->res_e_valid)));
		if (ended)
			for (int c = ACK; c < SOURCES; c++)
				due |= c != inside && !s[c].todo.empty();
		if (ended) {
			source &x = s[inside];

			ack_due = inside == RES && d->ack_e_valid;
			x.todo.pop_front();
			/* The beat at the output of rf_results may belong to a later frame. */
			if (!bare)
				x.at = 0;
			x.taken = false;
			x.waits = -1;
			x.passed_res = x.passed_other = 0;
			inside = -1;
		}
		if (read)
			res.p_valid = true;
		for (auto &x : s)
			if (!x.todo.empty())
				x.waits++;
		tick(b, *d);
	}
	b.met("results", sent[RES], 1000);
	b.met("empty results", empties, 300);
	b.met("ACKs", sent[ACK], 500);
	b.met("foreign frames", sent[FOR], 500);
	b.met("frames of the firmware", sent[INJ], 300);
	b.met("ends with another frame waiting", bubbles_looked_at, 1000);
	b.met("foreign frames before a result", by_share, 300);
	b.met("others that RESULTS results had passed", at_limit, 50);
	b.met("ACKs sent after a result that was waiting", acks_behind, 50);
	b.met("frames that waited for the sink", stalls, 500);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
