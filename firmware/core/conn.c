/*
 * The connection table: a cuckoo hash of two tables, one entry per place, and its shadow in memory.
 *
 * A key's other place is fixed, so the moves that free a place form one chain: its occupant goes to
 * its other place, whose occupant goes on, until an empty place comes. A new key has two chains to
 * choose from; if neither ends, no arrangement of the table holds all keys. Moves are done from
 * the chain's end: an entry is written to its new place before its old one is overwritten, so that
 * the hardware, which reads both tables in one cycle, finds every key at every moment.
 */
#include <string.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"

uint32_t rf_fw_conn_hash(uint32_t ip, uint32_t key)
{
	uint8_t bytes[8];

	rf_put_be32(bytes, key);
	rf_put_be32(bytes + 4, ip);
	return rf_crc32(bytes, sizeof(bytes));
}

/* Places are numbered through both tables. */
static unsigned int place_of(const struct rf_fw *fw, uint32_t ip, uint32_t key, unsigned int table)
{
	uint32_t mask = (1u << fw->hash_bits) - 1u;
	uint32_t h = rf_fw_conn_hash(ip, key);

	return table == 0 ? h & mask : (1u << fw->hash_bits) + (h >> 16 & mask);
}

static unsigned int state_of(const struct rf_fw_entry *e)
{
	return e->value >> RF_HASH_VALUE_STATE_LSB & 3u;
}

/* Puts an entry into a place of shadow and hardware. */
static void store(struct rf_fw *fw, unsigned int place, const struct rf_fw_entry *e)
{
	unsigned int table = place >> fw->hash_bits;

	fw->table[place] = *e;
	rf_fw_write(fw, RF_HASH_IP, e->ip);
	rf_fw_write(fw, RF_HASH_KEY, e->key);
	rf_fw_write(fw, RF_HASH_VALUE, e->value);
	rf_fw_write(fw, RF_HASH_WRITE,
		    (uint32_t)table << RF_HASH_WRITE_TABLE_LSB |
			    (place & ((1u << fw->hash_bits) - 1u)));
}

void rf_fw_conn_reset(struct rf_fw *fw)
{
	memset(fw->table, 0, sizeof(fw->table));
	rf_fw_write(fw, RF_HASH_IP, 0);
	rf_fw_write(fw, RF_HASH_KEY, 0);
	rf_fw_write(fw, RF_HASH_VALUE, 0);
	for (uint32_t table = 0; table < 2; table++)
		for (uint32_t i = 0; i < 1u << fw->hash_bits; i++)
			rf_fw_write(fw, RF_HASH_WRITE, table << RF_HASH_WRITE_TABLE_LSB | i);
	fw->entries = 0;
	fw->tombstones = 0;
	fw->tomb_ms = RF_FW_NEVER;
}

struct rf_fw_entry *rf_fw_conn_find(struct rf_fw *fw, uint32_t ip, uint32_t key)
{
	for (unsigned int table = 0; table < 2; table++) {
		struct rf_fw_entry *e = &fw->table[place_of(fw, ip, key, table)];

		if (e->ip == ip && e->key == key && state_of(e) != RF_STATE_EMPTY)
			return e;
	}
	return NULL;
}

/* The chain from a place on: path[0..n-1] are occupied, path[n] is empty. Returns n, or -1. */
static int chain(const struct rf_fw *fw, unsigned int place, uint16_t *path)
{
	for (unsigned int n = 0; n < RF_FW_KICKS_MAX; n++) {
		const struct rf_fw_entry *e = &fw->table[place];

		path[n] = (uint16_t)place;
		if (state_of(e) == RF_STATE_EMPTY)
			return (int)n;
		place = place_of(fw, e->ip, e->key, place >> fw->hash_bits == 0 ? 1 : 0);
	}
	return -1;
}

static bool insert(struct rf_fw *fw, const struct rf_fw_entry *e)
{
	uint16_t path[2][RF_FW_KICKS_MAX];
	int n[2];
	unsigned int pick;

	n[0] = chain(fw, place_of(fw, e->ip, e->key, 0), path[0]);
	n[1] = chain(fw, place_of(fw, e->ip, e->key, 1), path[1]);
	if (n[0] < 0 && n[1] < 0)
		return false;
	pick = n[0] < 0 || (n[1] >= 0 && n[1] < n[0]) ? 1 : 0;
	for (int i = n[pick]; i > 0; i--) {
		struct rf_fw_entry moved = fw->table[path[pick][i - 1]];

		store(fw, path[pick][i], &moved);
		fw->cnt.kicks++;
	}
	store(fw, path[pick][0], e);
	fw->entries++;
	return true;
}

/* Gives an entry another value where it stands. */
static void change(struct rf_fw *fw, struct rf_fw_entry *e, uint32_t value, uint32_t until)
{
	struct rf_fw_entry now = *e;

	if (state_of(e) == RF_STATE_TOMBSTONE)
		fw->tombstones--;
	now.value = value;
	now.until = until;
	if (state_of(&now) == RF_STATE_TOMBSTONE)
		fw->tombstones++;
	if (state_of(&now) == RF_STATE_EMPTY) {
		memset(&now, 0, sizeof(now));
		fw->entries--;
	}
	store(fw, (unsigned int)(e - fw->table), &now);
}

bool rf_fw_conn_put(struct rf_fw *fw, uint32_t ip, uint32_t key, uint32_t cid, unsigned int state)
{
	struct rf_fw_entry *e = rf_fw_conn_find(fw, ip, key);
	struct rf_fw_entry fresh = {
		.ip = ip, .key = key, .value = cid | (uint32_t)state << RF_HASH_VALUE_STATE_LSB};

	if (!e)
		return insert(fw, &fresh);
	change(fw, e, fresh.value, 0);
	return true;
}

void rf_fw_conn_remove(struct rf_fw *fw, uint32_t ip, uint32_t key)
{
	struct rf_fw_entry *e = rf_fw_conn_find(fw, ip, key);

	if (e)
		change(fw, e, 0, 0);
}

static uint32_t tombstone_counter(struct rf_fw *fw, unsigned int port)
{
	return rf_fw_read(fw,
			  RF_PORT_BASE + (uint32_t)port * RF_PORT_STRIDE + 4u * RF_CNT_TOMBSTONE);
}

/* A quarter of the hold time between two looks. */
static uint64_t tomb_next(const struct rf_fw *fw)
{
	return fw->now_ms + fw->cfg.hold_ms / 4u + 1u;
}

void rf_fw_conn_bury(struct rf_fw *fw, uint32_t ip, uint32_t key)
{
	struct rf_fw_entry *e = rf_fw_conn_find(fw, ip, key);
	uint32_t value;

	if (!e)
		return;
	if (fw->cfg.hold_ms == 0) {
		change(fw, e, 0, 0);
		return;
	}
	value = (e->value & RF_HASH_VALUE_CID_MASK) | (uint32_t)RF_STATE_TOMBSTONE
							      << RF_HASH_VALUE_STATE_LSB;
	change(fw, e, value, (uint32_t)fw->now_ms + fw->cfg.hold_ms);
	if (fw->tomb_ms != RF_FW_NEVER)
		return;
	fw->tomb_ms = tomb_next(fw);
	for (unsigned int p = 0; p < fw->ports; p++)
		fw->tomb_seen[p] = tombstone_counter(fw, p);
}

void rf_fw_conn_exhume(struct rf_fw *fw, uint32_t ip, uint32_t key)
{
	struct rf_fw_entry *e = rf_fw_conn_find(fw, ip, key);

	if (e && state_of(e) == RF_STATE_TOMBSTONE)
		change(fw, e, 0, 0);
}

/*
 * The hardware counts packets on tombstones by port only. So where a port's counter has moved, the
 * hold time of all tombstones of that port begins again: none goes too early.
 */
void rf_fw_conn_tick(struct rf_fw *fw)
{
	uint32_t now = (uint32_t)fw->now_ms;
	bool moved[RF_CTL_PORTS_MAX] = {false};

	if (fw->now_ms < fw->tomb_ms)
		return;
	for (unsigned int p = 0; p < fw->ports; p++) {
		uint32_t count = tombstone_counter(fw, p);

		moved[p] = count != fw->tomb_seen[p];
		fw->tomb_seen[p] = count;
	}
	for (unsigned int i = 0; i < 2u << fw->hash_bits; i++) {
		struct rf_fw_entry *e = &fw->table[i];

		if (state_of(e) != RF_STATE_TOMBSTONE)
			continue;
		if (moved[e->value & 7u])
			e->until = now + fw->cfg.hold_ms;
		else if ((int32_t)(now - e->until) >= 0)
			change(fw, e, 0, 0);
	}
	fw->tomb_ms = fw->tombstones > 0 ? tomb_next(fw) : RF_FW_NEVER;
}
