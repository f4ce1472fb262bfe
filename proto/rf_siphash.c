#include "proto/rf_siphash.h"

#include "proto/rf_bytes.h"

struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotl(uint64_t x, unsigned int n)
{
	return x << n | x >> (64 - n);
}

static void sip_rounds(struct sip *s, unsigned int n)
{
	while (n-- > 0) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rotl(s->v1, 13) ^ s->v0;
		s->v3 = rotl(s->v3, 16) ^ s->v2;
		s->v0 = rotl(s->v0, 32);
		s->v2 += s->v1;
		s->v0 += s->v3;
		s->v1 = rotl(s->v1, 17) ^ s->v2;
		s->v3 = rotl(s->v3, 21) ^ s->v0;
		s->v2 = rotl(s->v2, 32);
	}
}

static void sip_word(struct sip *s, uint64_t m)
{
	s->v3 ^= m;
	sip_rounds(s, 2);
	s->v0 ^= m;
}

uint64_t rf_siphash_hole(const uint8_t key[RF_SIPHASH_KEY_BYTES], const void *data, size_t len,
			 size_t hole)
{
	uint64_t k0 = rf_get_le64(key);
	uint64_t k1 = rf_get_le64(key + 8);
	struct sip s = {
		/* "somepseudorandomlygeneratedbytes" */
		.v0 = k0 ^ 0x736f6d6570736575u,
		.v1 = k1 ^ 0x646f72616e646f6du,
		.v2 = k0 ^ 0x6c7967656e657261u,
		.v3 = k1 ^ 0x7465646279746573u,
	};
	uint64_t last = (uint64_t)len
			<< 56; /* the length modulo 256, then the bytes that are left */
	const uint8_t *p = data;
	size_t left = len;

	for (; left >= 8; p += 8, left -= 8)
		sip_word(&s, len - left == hole ? 0 : rf_get_le64(p));
	for (size_t i = 0; i < left; i++)
		last |= (uint64_t)p[i] << (8 * i);
	sip_word(&s, last);
	s.v2 ^= 0xff;
	sip_rounds(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t rf_siphash(const uint8_t key[RF_SIPHASH_KEY_BYTES], const void *data, size_t len)
{
	return rf_siphash_hole(key, data, len, SIZE_MAX);
}
