/*
 * rf_ram_many: every read port returns the last value written to its address, in the same cycle; a write is visible in
 * later cycles.
 *
 * Compiled with AW and READS, the module's parameters; words have 8 bits.
 */
#include "Vrf_ram_many.h"
#include "tests/rtl/unit.h"

using namespace unit;

static void body(bench &b)
{
	auto d = fresh<Vrf_ram_many>(b);
	std::map<unsigned, unsigned> mem;
	long reads = 0, beside = 0;

	for (int n = 0; n < 20000; n++) {
		const unsigned wr = b.r.below(1 << AW);

		d->wr_en = b.r.percent(60);
		d->wr_addr = (uint8_t)wr;
		d->wr_data = (uint8_t)b.r.next();
		for (unsigned i = 0; i < READS; i++)
			put(d->rd_addr, i * AW, AW, b.r.percent(25) ? wr : b.r.below(1 << AW));
		settle(*d);
		for (unsigned i = 0; i < READS; i++) {
			const unsigned at = (unsigned)get(d->rd_addr, i * AW, AW);

			if (mem.count(at) == 0)
				continue;
			b.same("rd_data", get(d->rd_data, i * 8, 8), mem[at]);
			reads++;
			beside += d->wr_en && at == wr && d->wr_data != mem[at];
		}
		if (d->wr_en)
			mem[wr] = d->wr_data;
		tick(b, *d);
	}
	b.met("reads", reads, 10000);
	b.met("reads beside a write to the same word", beside, 500);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
