/* The connection table: docs/box.md, the section of this name. */
#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"
#include "soft/internal.h"

static uint32_t rotr(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

static uint32_t find_in(const struct soft_entry *bucket, uint32_t ip, uint32_t key)
{
	unsigned int k;

	for (k = 0; k < 4; k++)
		if (bucket[k].ip == ip && bucket[k].key == key &&
		    (bucket[k].value & RF_HASH_VALUE_STATE_MASK))
			return bucket[k].value;
	return 0;
}

uint32_t soft_find(const struct soft_box *b, unsigned int role, uint32_t ip, uint32_t qpn)
{
	uint32_t key = role << RF_HASH_KEY_ROLE_LSB | qpn, h, value;
	uint8_t bytes[8];

	rf_put_be32(bytes, key);
	rf_put_be32(bytes + 4, ip);
	h = rf_crc32(bytes, sizeof(bytes));
	h ^= rotr(h, 13) & rotr(h, 23);
	value = find_in(b->table[0] + 4 * (h & b->entry_mask), ip, key);
	return value ? value : find_in(b->table[1] + 4 * (h >> 16 & b->entry_mask), ip, key);
}
