/*
 * rf_passthru: frames leave whole and in order; room is exactly the space left for beats and frames; a frame may
 * begin one cycle after its first beat, and its beats have no gap.
 *
 * Compiled with BEATS and FRAMES, the module's parameters; WIDTH is 64.
 */
#include "Vrf_passthru.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { B = 8 };

struct frame {
	unsigned len;
	bytes data;
};

static unsigned beats_of(unsigned len)
{
	return (len + B - 1) / B;
}

static void body(bench &b)
{
	auto d = fresh<Vrf_passthru>(b);
	std::deque<frame> asked, coming, leaving;	/* no beat yet; in the FIFO at least in part; header taken */
	size_t in_at = 0, out_at = 0;
	unsigned used = 0, frames = 0, p_ask = 50, p_in = 50, p_out = 50;
	long done = 0, refused = 0, no_frames = 0, first_in = -1;
	bool inside = false, alone = false, had = false;

	d->s_valid = d->ask_take = d->e_ready = d->p_ready = 0;
	reset(b, *d);
	for (long n = 0; n < 40000 || used != 0; n++) {
		if (n % 300 == 0) {
			p_ask = n >= 40000 ? 0 : b.r.percent(50) ? 90 : b.r.below(30);
			p_in = b.r.percent(50) ? 100 : 1 + b.r.below(99);
			p_out = b.r.percent(50) ? 100 : b.r.percent(20) ? 3 : 1 + b.r.below(99);
		}
		/* Lengths up to the longest of which two fit; some that can never fit. */
		d->ask_len = (uint16_t)(b.r.percent(5) ? b.r.below(16384) : 60 + b.r.below(BEATS * B / 2 - 59));
		d->ask_take = d->e_ready = d->p_ready = 0;

		/* The frame's beats follow one another once begun. */
		const bool begin = in_at == 0 && !asked.empty() && b.r.percent(p_in);
		d->s_valid = in_at != 0 || begin;
		d->s_data = b.r.next();
		d->s_last = 0;
		if (d->s_valid) {
			const frame &f = asked.front();

			d->s_data = 0;
			memcpy(&d->s_data, &f.data[in_at], B);
			d->s_last = in_at + B >= f.data.size();
		}
		settle(*d);
		const unsigned need = beats_of(d->ask_len);
		b.same("ask_room", d->ask_room, frames < FRAMES && used + need <= BEATS);
		no_frames += frames == FRAMES;
		b.same("e_valid", d->e_valid, !coming.empty());
		if (d->e_valid)
			b.same("e_len", d->e_len, coming.front().len);
		b.same("e_more", d->e_more, coming.size() > 1);
		b.same("idle", d->idle, used == 0 && frames == 0);
		if (first_in >= 0 && n == first_in + 3)
			b.good("first beat 3 cycles later", d->p_valid);
		if (first_in >= 0 && n < first_in + 3)
			b.good("a beat too early", !d->p_valid);
		if (had && out_at != 0)
			b.good("no gap inside a frame", d->p_valid);

		/* Output: a raw frame is begun together with its first beat. */
		const bool want = b.r.percent(p_out);
		if (!inside && d->e_valid && d->p_valid && want)
			d->e_ready = d->p_ready = 1;
		else if (inside && want)
			d->p_ready = 1;
		settle(*d);
		bool out = d->p_valid && d->p_ready;
		if (d->e_ready) {
			leaving.push_back(coming.front());
			coming.pop_front();
			frames--;
			inside = true;
		}
		if (out) {
			const frame &f = leaving.front();
			const bool last = out_at + B >= f.data.size();
			bytes want_beat(f.data.begin() + out_at, f.data.begin() + out_at + B);

			b.same_bytes("p_data", net::get_bytes(d->p_data, B), want_beat);
			b.same("p_last", d->p_last, last);
			out_at += B;
			if (last) {
				leaving.pop_front();
				out_at = 0;
				inside = false;
				done++;
			}
		}
		used -= out;
		const bool ask = b.r.percent(p_ask);
		d->ask_take = ask && d->ask_room;
		refused += ask && !d->ask_room;
		had = d->p_valid || out_at == 0;

		/* First beat of a frame into an empty FIFO. */
		if (begin && coming.empty() && !inside && !alone) {
			first_in = n;
			alone = true;
		}
		if (first_in >= 0 && n >= first_in + 3) {
			first_in = -1;
			alone = false;
		}
		if (d->s_valid) {
			if (in_at == 0)
				coming.push_back(asked.front());
			in_at += B;
			if (d->s_last) {
				asked.pop_front();
				in_at = 0;
			}
		}
		if (d->ask_take) {
			frame f = { d->ask_len, noise(b.r, need * B) };

			asked.push_back(f);
			used += need;
			frames++;
		}
		tick(b, *d);
	}
	b.met("frames", done, 500);
	b.met("refused", refused, 500);
	b.met("cycles without a place for a frame", no_frames, 100);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
