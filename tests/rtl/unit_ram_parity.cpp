/*
 * rf_ram_parity: a read returns the last value written to its address. It is reported as bad if a part of the word has
 * one flipped bit, or was stored as wrong, and never otherwise.
 *
 * Compiled with WIDTH, DEPTH and PART, the module's parameters. The bench flips bits in the memory itself.
 */
#include "Vrf_ram_parity.h"
#include "Vrf_ram_parity___024root.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { PARTS = (WIDTH + PART - 1) / PART };

struct word {
	bool is = false;
	uint64_t data;
	bool wrong[PARTS];
};

static void body(bench &b)
{
	auto d = fresh<Vrf_ram_parity>(b);
	auto &mem = d->rootp->rf_ram_parity__DOT__g_parity__DOT__ram__DOT__mem;
	word words[DEPTH], out;
	long flips = 0, bads = 0, goods = 0;

	d->wr_en = d->rd_en = 0;
	for (long n = 0; n < 40000; n++) {
		const unsigned at = b.r.below(DEPTH);

		if (words[at].is && b.r.percent(10)) {
			const unsigned bit = b.r.below(WIDTH + PARTS);

			mem[at] ^= 1ull << bit;
			if (bit < WIDTH)
				words[at].data ^= 1ull << bit;
			words[at].wrong[bit < WIDTH ? bit / PART : bit - WIDTH] ^= true;
			flips++;
		}
		d->wr_en = b.r.percent(40);
		d->wr_addr = (uint8_t)b.r.below(DEPTH);
		d->wr_data = b.r.next() & ((1ull << WIDTH) - 1);
		d->wr_bad = b.r.percent(10);
		d->rd_en = b.r.percent(60);
		d->rd_addr = (uint8_t)b.r.below(DEPTH);
		settle(*d);
		if (out.is) {
			bool wrong = false;

			for (bool w : out.wrong)
				wrong |= w;
			b.same("rd_data", d->rd_data, out.data);
			b.same("rd_bad", d->rd_bad, wrong);
			bads += wrong;
			goods += !wrong;
		}
		if (d->rd_en)
			out = words[d->rd_addr];
		if (d->wr_en) {
			word &x = words[d->wr_addr];

			x.is = true;
			x.data = d->wr_data;
			for (bool &w : x.wrong)
				w = d->wr_bad;
		}
		tick(b, *d);
	}
	b.met("bits flipped", flips, 1000);
	b.met("reads of bad words", bads, 1000);
	b.met("reads of good words", goods, 5000);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
