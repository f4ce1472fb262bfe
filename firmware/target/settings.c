#include "firmware/target/settings.h"

#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"

#define MAGIC 0x52465354u /* "RFST" */
#define LAYOUT 6u

/*
 * Layout by offset: 0 magic, 4 layout number, 8 total bytes, 12 CRC-32 of everything after the
 * salt, 16 salt, 32 the words, 32 + 4 WORDS the keys. A key: job 8, key 16, groups 4, slots 4,
 * ranks 4, entries 4, bytes 4, ports 1, prefixes in use 1, reserved 2, RF_FW_KEY_IPS addresses of
 * 4, then RF_FW_KEY_IPS prefix lengths of 1.
 */
#define SALT 16u
#define HEAD (SALT + RF_FW_SALT_BYTES)
#define WORDS (PORT_IPS_AT + RF_CTL_PORTS_MAX)
#define PORT_IPS_AT 17u /* the words before are numbers, these the addresses of the ports */
#define KEYS (HEAD + 4u * WORDS)
#define IPS_AT 48u
#define KEY_BYTES (IPS_AT + 5u * RF_FW_KEY_IPS)

_Static_assert(KEYS + RF_SETTINGS_KEYS_MAX * KEY_BYTES <= RF_SETTINGS_BYTES, "keys fit the page");

static void put_key(uint8_t *p, const struct rf_fw_key *k)
{
	rf_put_be64(p, k->job);
	memcpy(p + 8, k->key, RF_CTL_KEY_BYTES);
	rf_put_be32(p + 24, k->most.groups);
	rf_put_be32(p + 28, k->most.slots);
	rf_put_be32(p + 32, k->most.ranks);
	rf_put_be32(p + 36, k->most.entries);
	rf_put_be32(p + 40, k->most.bytes);
	p[44] = k->ports;
	p[45] = k->ips;
	rf_put_be16(p + 46, 0);
	for (unsigned int i = 0; i < RF_FW_KEY_IPS; i++) {
		rf_put_be32(p + IPS_AT + 4u * i, k->ip[i].ip);
		p[IPS_AT + 4u * RF_FW_KEY_IPS + i] = k->ip[i].bits;
	}
}

static bool get_key(const uint8_t *p, struct rf_fw_key *k)
{
	k->job = rf_get_be64(p);
	memcpy(k->key, p + 8, RF_CTL_KEY_BYTES);
	k->most.groups = rf_get_be32(p + 24);
	k->most.slots = rf_get_be32(p + 28);
	k->most.ranks = rf_get_be32(p + 32);
	k->most.entries = rf_get_be32(p + 36);
	k->most.bytes = rf_get_be32(p + 40);
	k->ports = p[44];
	k->ips = p[45];
	for (unsigned int i = 0; i < RF_FW_KEY_IPS; i++) {
		k->ip[i].ip = rf_get_be32(p + IPS_AT + 4u * i);
		k->ip[i].bits = p[IPS_AT + 4u * RF_FW_KEY_IPS + i];
		if (k->ip[i].bits > 32u)
			return false;
	}
	return k->ips <= RF_FW_KEY_IPS;
}

size_t rf_settings_put(uint8_t *page, const struct rf_fw_cfg *cfg)
{
	const uint8_t *mac = cfg->mac;
	const uint32_t word[PORT_IPS_AT] = {
		rf_get_be16(mac), rf_get_be32(mac + 2),
		cfg->ip,          cfg->epoch,
		cfg->hold_ms,     cfg->lease_ms,
		cfg->linger_ms,   cfg->settle_ms,
		cfg->share_max,   cfg->poll_frames,
		cfg->tick_ms,     cfg->nonce_ms,
		cfg->tomb_ms,     (uint32_t)cfg->port_list << 8 | cfg->prefix,
		cfg->gateway,     cfg->probe_ms,
		cfg->announce_ms};
	uint32_t total = KEYS + cfg->nkeys * KEY_BYTES;

	if (cfg->nkeys > RF_SETTINGS_KEYS_MAX)
		return 0;
	for (unsigned int i = 0; i < WORDS; i++)
		rf_put_be32(page + HEAD + 4u * i,
			    i < PORT_IPS_AT ? word[i] : cfg->port_ip[i - PORT_IPS_AT]);
	for (unsigned int i = 0; i < cfg->nkeys; i++)
		put_key(page + KEYS + i * KEY_BYTES, &cfg->keys[i]);
	memcpy(page + SALT, cfg->salt, RF_FW_SALT_BYTES);
	rf_put_be32(page, MAGIC);
	rf_put_be32(page + 4, LAYOUT);
	rf_put_be32(page + 8, total);
	rf_put_be32(page + 12, rf_crc32(page + HEAD, total - HEAD));
	return total;
}

bool rf_settings_get(const uint8_t *page, struct rf_fw_cfg *cfg, struct rf_fw_key *keys)
{
	uint32_t total = rf_get_be32(page + 8);
	uint32_t word[WORDS];

	if (rf_get_be32(page) != MAGIC || rf_get_be32(page + 4) != LAYOUT || total < KEYS ||
	    total > KEYS + RF_SETTINGS_KEYS_MAX * KEY_BYTES || (total - KEYS) % KEY_BYTES != 0 ||
	    rf_crc32(page + HEAD, total - HEAD) != rf_get_be32(page + 12))
		return false;
	for (unsigned int i = 0; i < WORDS; i++)
		word[i] = rf_get_be32(page + HEAD + 4u * i);
	memcpy(cfg->salt, page + SALT, RF_FW_SALT_BYTES);
	rf_put_be16(cfg->mac, (uint16_t)word[0]);
	rf_put_be32(cfg->mac + 2, word[1]);
	cfg->ip = word[2];
	cfg->epoch = word[3];
	cfg->hold_ms = word[4];
	cfg->lease_ms = word[5];
	cfg->linger_ms = word[6];
	cfg->settle_ms = word[7];
	cfg->share_max = word[8];
	cfg->poll_frames = word[9];
	cfg->tick_ms = word[10];
	cfg->nonce_ms = word[11];
	cfg->tomb_ms = word[12];
	cfg->port_list = (word[13] & 0x100u) != 0;
	cfg->prefix = (uint8_t)word[13];
	cfg->gateway = word[14];
	cfg->probe_ms = word[15];
	cfg->announce_ms = word[16];
	for (unsigned int i = 0; i < RF_CTL_PORTS_MAX; i++)
		cfg->port_ip[i] = word[PORT_IPS_AT + i];
	cfg->nkeys = (total - KEYS) / KEY_BYTES;
	cfg->keys = keys;
	for (unsigned int i = 0; i < cfg->nkeys; i++)
		if (!get_key(page + KEYS + i * KEY_BYTES, &keys[i]))
			return false;
	return true;
}

void rf_settings_spend(uint8_t *page)
{
	memset(page + SALT, 0, RF_FW_SALT_BYTES);
}
