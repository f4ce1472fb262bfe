/*
 * rf_delay_parity: each word is output N cycles later, and is reported as bad if a bit flipped in the delay line.
 *
 * Compiled with WIDTH, N and PART, the module's parameters. The bench flips bits in the memory itself.
 */
/* Headers have an N of their own. */
enum { CYCLES = N };
#undef N

#include "Vrf_delay_parity.h"
#include "Vrf_delay_parity___024root.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { PARTS = (WIDTH + PART - 1) / PART };

static void body(bench &b)
{
	auto d = fresh<Vrf_delay_parity>(b);
	auto &mem = d->rootp->rf_delay_parity__DOT__g_parity__DOT__line__DOT__g_ram__DOT__ram__DOT__mem;
	struct word {
		bool valid;
		unsigned data;
		bool wrong;
		unsigned at;
	};
	std::deque<word> words(CYCLES, word{ false, 0, false, 0 });
	long flips = 0, bads = 0, seen = 0;
	/* The memory of the delay line is a ring; it starts with the cycle after the reset. */
	unsigned place = 0;

	d->in_valid = 0;
	reset(b, *d);
	for (long n = 0; n < 30000; n++) {
		/* Words that are still in the memory: all except the one at the output. */
		const unsigned which = 1 + b.r.below(CYCLES - 1);
		if (words[which].valid && b.r.percent(20)) {
			const unsigned bit = b.r.below(WIDTH + PARTS);

			mem[words[which].at] ^= 1u << bit;
			if (bit < WIDTH)
				words[which].data ^= 1u << bit;
			/* A second flipped bit would cancel the first. */
			if (words[which].wrong) {
				mem[words[which].at] ^= 1u << bit;
				if (bit < WIDTH)
					words[which].data ^= 1u << bit;
			}
			words[which].wrong = true;
			flips++;
		}
		d->in_valid = b.r.percent(70);
		d->in_data = b.r.below(1 << WIDTH);
		settle(*d);
		const word &out = words.front();
		b.same("out_valid", d->out_valid, out.valid);
		b.same("out_bad", d->out_bad, out.valid && out.wrong);
		if (out.valid) {
			b.same("out_data", d->out_data, out.data);
			bads += out.wrong;
			seen++;
		}
		words.pop_front();
		words.push_back({ d->in_valid != 0, d->in_data, false, place });
		place = (place + 1) % (CYCLES - 1);
		tick(b, *d);
	}
	b.met("words", seen, 10000);
	b.met("bits flipped", flips, 1000);
	b.met("bad words told", bads, 500);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
