/* The connection table: docs/box.md, the section of this name. */
#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"
#include "sim/model/internal.h"

static uint32_t hash(uint32_t ip, uint32_t key)
{
	uint8_t bytes[8];
	uint32_t h;

	rf_put_be32(bytes, key); /* role and QPN */
	rf_put_be32(bytes + 4, ip);
	h = rf_crc32(bytes, sizeof(bytes));
	return h ^ ((h >> 13 | h << 19) & (h >> 23 | h << 9));
}

/* Place k of the eight that a key with hash h may have. */
static struct model_entry *place(const struct rf_engine *e, uint32_t h, unsigned int k)
{
	uint32_t mask = (1u << (e->cfg.hash_bits - 2)) - 1;
	unsigned int t = k / MODEL_BUCKET;

	return &e->table[t][MODEL_BUCKET * ((t ? h >> 16 : h) & mask) + k % MODEL_BUCKET];
}

const struct model_entry *model_lookup(const struct rf_engine *e, unsigned int role, uint32_t ip,
				       uint32_t qpn)
{
	uint32_t key = role << RF_HASH_KEY_ROLE_LSB | qpn;
	uint32_t h = hash(ip, key);
	unsigned int k;

	for (k = 0; k < 2 * MODEL_BUCKET; k++) {
		const struct model_entry *entry = place(e, h, k);

		if (entry->ip == ip && entry->key == key &&
		    (entry->value & RF_HASH_VALUE_STATE_MASK))
			return entry;
	}
	return NULL;
}
