/*
 * rf_fifo_parity: words in order, none lost; `bad` in the cycle after a word with a parity error was at the output, and
 * only then.
 *
 * Compiled with WIDTH and DEPTH, the module's parameters. The bench flips bits in the memory itself.
 */
#include "Vrf_fifo_parity.h"
#include "Vrf_fifo_parity___024root.h"
#include "tests/rtl/unit.h"

using namespace unit;

static void body(bench &b)
{
	auto d = fresh<Vrf_fifo_parity>(b);
	auto &mem = d->rootp->rf_fifo_parity__DOT__g_parity__DOT__fifo__DOT__g_lut__DOT__ram__DOT__mem;
	struct word {
		unsigned at, data;
		bool wrong;
	};
	std::deque<word> words;
	unsigned place = 0;
	bool bad = false;
	long flips = 0, bads = 0, taken = 0;

	d->s_valid = d->m_ready = 0;
	reset(b, *d);
	for (long n = 0; n < 30000; n++) {
		if (!words.empty() && b.r.percent(10)) {
			word &w = words[b.r.below((unsigned)words.size())];
			const unsigned bit = b.r.below(WIDTH + 1);

			mem[w.at] ^= 1u << bit;
			if (bit < WIDTH)
				w.data ^= 1u << bit;
			w.wrong = !w.wrong;
			flips++;
		}
		d->s_valid = b.r.percent(n / 300 % 2 ? 80 : 30);
		d->s_data = b.r.below(1 << WIDTH);
		d->m_ready = b.r.percent(50);
		settle(*d);
		b.same("s_ready", d->s_ready, words.size() < DEPTH);
		b.same("count", d->count, words.size());
		b.same("m_valid", d->m_valid, !words.empty());
		b.same("bad", d->bad, bad);
		bads += bad;
		bad = false;
		const bool push = d->s_valid && d->s_ready;
		if (!words.empty()) {
			b.same("m_data", d->m_data, words.front().data);
			bad = words.front().wrong;
			if (d->m_ready) {
				words.pop_front();
				taken++;
			}
		}
		if (push) {
			words.push_back({ place, d->s_data, false });
			place = (place + 1) % DEPTH;
		}
		tick(b, *d);
	}
	b.met("words", taken, 5000);
	b.met("bits flipped", flips, 1000);
	b.met("bad words told", bads, 500);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
