/*
 * 64-bit division, for which RV32 has no instruction and which compilers expect under these names
 * (the ABI of the GNU runtime library). It works bit by bit, because it is called rarely and never
 * per packet.
 */
#include <stdint.h>

uint64_t __udivdi3(uint64_t n, uint64_t d);
uint64_t __umoddi3(uint64_t n, uint64_t d);

/* A division by 0 gives all ones and the dividend, as RISC-V's own instructions do. */
static uint64_t divide(uint64_t n, uint64_t d, uint64_t *rest)
{
	uint64_t quotient = 0, r = 0;

	for (unsigned int i = 0; i < 64; i++) {
		uint64_t carry = r >> 63;

		r = r << 1 | n >> 63;
		n <<= 1;
		quotient <<= 1;
		if (carry || r >= d) {
			r -= d;
			quotient |= 1u;
		}
	}
	*rest = r;
	return quotient;
}

uint64_t __udivdi3(uint64_t n, uint64_t d)
{
	uint64_t rest;

	return divide(n, d, &rest);
}

uint64_t __umoddi3(uint64_t n, uint64_t d)
{
	uint64_t rest;

	divide(n, d, &rest);
	return rest;
}
