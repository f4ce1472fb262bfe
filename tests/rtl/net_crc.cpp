/*
 * The mask form and the table form of rf_crc compute the same value, and it is the CRC-32: a proof by exhaustion.
 *
 * The mask form is linear by construction. The table form is an XOR of one lookup per byte, block after block. Here
 * every byte position takes all 256 values while the rest is zero. This visits every entry of every table used and
 * compares it with the mask form. So each lookup is linear, the whole is linear, and equality on the bytes is equality
 * everywhere. Every value is compared with the bit-by-bit CRC too. Random beats follow as a check of the argument.
 *
 *   Vnet_crc_tb [--seed N]
 *
 * Compiled with WIDTH.
 */
#include <memory>
#include "Vnet_crc_tb.h"
#include "tests/rtl/net_ref.h"

using namespace net;

enum { B = WIDTH / 8 };

static long compared;

static void check(Vnet_crc_tb &dut, const bytes &data, uint32_t state)
{
	const uint8_t zeros[B] = { 0 };
	const uint32_t want_data = crc32_bits(0, data.data(), B), want_state = crc32_bits(state, zeros, B);

	set_bytes(dut.data, data.data(), B);
	dut.state = state;
	dut.eval();
	const bool good = dut.mask_data == want_data && dut.table_data == want_data && dut.mask_state == want_state &&
		dut.table_state == want_state && crc32_bits(dut.back2, zeros, 2) == state &&
		crc32_bits(dut.back4, zeros, 4) == state;
	const uint8_t more[34] = { 0 };
	if (!good || crc32_bits(dut.back8, more, 8) != state || crc32_bits(dut.back16, more, 16) != state ||
	    crc32_bits(dut.back32, more, 32) != state || crc32_bits(dut.back34, more, 34) != state) {
		printf("state %08x: data %08x, %08x, expected %08x; state %08x, %08x, expected %08x\n", state, dut.mask_data,
		       dut.table_data, want_data, dut.mask_state, dut.table_state, want_state);
		exit(1);
	}
	compared++;
}

int main(int argc, char **argv)
{
	const unsigned long seed = option(argc, argv, "seed", 1);
	std::unique_ptr<Vnet_crc_tb> dut(new Vnet_crc_tb);
	rng r(seed);

	printf("seed %lu; again: %s --seed %lu\n", seed, argv[0], seed);
	for (int place = 0; place < B; place++)
		for (int value = 0; value < 256; value++) {
			bytes data(B, 0);
			data[place] = (uint8_t)value;
			check(*dut, data, (uint32_t)value << 8 * (place & 3));
		}
	for (int i = 0; i < 20000; i++) {
		bytes data(B);
		for (auto &x : data)
			x = (uint8_t)r.next();
		check(*dut, data, (uint32_t)r.next());
	}
	/* The Ethernet FCS of "123456789" is 0xcbf43926. */
	if (~crc32_bits(0xffffffffu, (const uint8_t *)"123456789", 9) != 0xcbf43926u) {
		printf("the bit-by-bit CRC is wrong\n");
		return 1;
	}
	printf("%ld beats compared, good\n", compared);
	return 0;
}
