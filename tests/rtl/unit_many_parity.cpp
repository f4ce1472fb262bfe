/*
 * rf_many_parity: every read port returns the last value written to its address in the same cycle, and reports whether
 * that word has a parity error.
 *
 * Compiled with WIDTH, AW and READS, the module's parameters. The bench flips bits in the memory itself.
 */
#include "Vrf_many_parity.h"
#include "Vrf_many_parity___024root.h"
#include "tests/rtl/unit.h"

using namespace unit;

static void body(bench &b)
{
	auto d = fresh<Vrf_many_parity>(b);
	auto &mem = d->rootp->rf_many_parity__DOT__g_parity__DOT__ram__DOT__mem;
	std::map<unsigned, unsigned> words;
	std::map<unsigned, bool> wrong;
	long flips = 0, bads = 0, goods = 0;

	for (int n = 0; n < 20000; n++) {
		const unsigned at = b.r.below(1 << AW);

		if (words.count(at) != 0 && b.r.percent(10)) {
			const unsigned bit = b.r.below(WIDTH + 1);

			mem[at] = (uint16_t)(mem[at] ^ 1u << bit);
			if (bit < WIDTH)
				words[at] ^= 1u << bit;
			wrong[at] = !wrong[at];
			flips++;
		}
		d->wr_en = b.r.percent(40);
		d->wr_addr = (uint8_t)b.r.below(1 << AW);
		d->wr_data = (uint16_t)b.r.below(1 << WIDTH);
		for (unsigned i = 0; i < READS; i++)
			put(d->rd_addr, i * AW, AW, b.r.below(1 << AW));
		settle(*d);
		for (unsigned i = 0; i < READS; i++) {
			const unsigned from = (unsigned)get(d->rd_addr, i * AW, AW);

			if (words.count(from) == 0)
				continue;
			b.same("rd_data", get(d->rd_data, i * WIDTH, WIDTH), words[from]);
			b.same("rd_bad", get(d->rd_bad, i, 1), wrong[from]);
			bads += wrong[from];
			goods += !wrong[from];
		}
		if (d->wr_en) {
			words[d->wr_addr] = d->wr_data;
			wrong[d->wr_addr] = false;
		}
		tick(b, *d);
	}
	b.met("bits flipped", flips, 500);
	b.met("reads of bad words", bads, 500);
	b.met("reads of good words", goods, 5000);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
