/*
 * The connection table: a cuckoo hash of two tables of buckets, and its shadow in memory.
 *
 * A key has eight places: a bucket of four in either table. Where all are taken an occupant goes
 * to its bucket in the other table, whose occupant goes on, until an empty place comes. The
 * shortest such chain is searched breadth first; where the search ends without having been cut
 * short, no arrangement of the table holds all keys. Moves are done from the chain's end: an entry
 * is written to its new place before its old one is overwritten, so that the hardware, which reads
 * both tables in one cycle, finds every key at every moment.
 */
#include <string.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"

uint32_t rf_fw_conn_hash(uint32_t ip, uint32_t key)
{
	uint8_t bytes[8];
	uint32_t h;

	rf_put_be32(bytes, key);
	rf_put_be32(bytes + 4, ip);
	h = rf_crc32(bytes, sizeof(bytes));
	return h ^ ((h >> 13 | h << 19) & (h >> 23 | h << 9));
}

/* First places of a key's buckets in the two tables. Places are numbered through both. */
static void buckets_of(const struct rf_fw *fw, uint32_t ip, uint32_t key, unsigned int bucket[2])
{
	uint32_t mask = (1u << (fw->hash_bits - RF_FW_BUCKET_LOG2)) - 1u;
	uint32_t h = rf_fw_conn_hash(ip, key);

	bucket[0] = (h & mask) << RF_FW_BUCKET_LOG2;
	bucket[1] = 1u << fw->hash_bits | (h >> 16 & mask) << RF_FW_BUCKET_LOG2;
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
	unsigned int bucket[2];

	buckets_of(fw, ip, key, bucket);
	for (unsigned int i = 0; i < 2 * RF_FW_BUCKET; i++) {
		struct rf_fw_entry *e = &fw->table[bucket[i / RF_FW_BUCKET] + i % RF_FW_BUCKET];

		if (e->ip == ip && e->key == key && rf_fw_state(e) != RF_STATE_EMPTY)
			return e;
	}
	return NULL;
}

/* Places that have been reached, each with the one whose occupant would come there. */
struct reached {
	uint16_t place[RF_FW_REACH_MAX];
	uint16_t from[RF_FW_REACH_MAX];
	unsigned int count;
	uint8_t seen[((2u << RF_FW_HASH_BITS_MAX) / RF_FW_BUCKET + 7u) / 8u]; /* buckets */
};

static void reach(struct reached *r, unsigned int bucket, unsigned int from)
{
	unsigned int n = bucket / RF_FW_BUCKET;

	if (r->seen[n / 8u] >> (n % 8u) & 1u || r->count + RF_FW_BUCKET > RF_FW_REACH_MAX)
		return;
	r->seen[n / 8u] |= (uint8_t)(1u << (n % 8u));
	for (unsigned int k = 0; k < RF_FW_BUCKET; k++) {
		r->place[r->count] = (uint16_t)(bucket + k);
		r->from[r->count++] = (uint16_t)from;
	}
}

uint32_t rf_fw_conn_count(const struct rf_fw *fw, uint64_t job, bool tombstones)
{
	/* Mostly there are no tombstones, and every first JOIN asks. */
	unsigned int places = tombstones && fw->tombstones == 0 ? 0 : 2u << fw->hash_bits;
	uint32_t n = 0;

	for (unsigned int i = 0; i < places; i++) {
		unsigned int state = rf_fw_state(&fw->table[i]);

		n += fw->table[i].job == job &&
		     (tombstones ? state == RF_STATE_TOMBSTONE : state != RF_STATE_EMPTY);
	}
	return n;
}

/* Whether a job has a tombstone at an earlier place of those reached. */
static bool judged(const struct rf_fw *fw, const struct reached *r, unsigned int n)
{
	for (unsigned int k = 0; k < n; k++) {
		const struct rf_fw_entry *e = &fw->table[r->place[k]];

		if (e->job == fw->table[r->place[n]].job && rf_fw_state(e) == RF_STATE_TOMBSTONE)
			return true;
	}
	return false;
}

/*
 * Of the tombstones reached: the oldest of the job that holds most entries. Only where that job is
 * `job` itself or holds more: nobody fills the table to lift others' tombstones. Those that belong
 * to no job stay. r->count: there is none.
 */
static unsigned int gives_way(const struct rf_fw *fw, const struct reached *r, uint64_t job)
{
	uint32_t most = rf_fw_conn_count(fw, job, false);
	unsigned int oldest = r->count;
	uint64_t whose = job;

	if (job == RF_FW_NOBODY)
		return r->count;
	for (unsigned int n = 0; n < r->count; n++) {
		const struct rf_fw_entry *e = &fw->table[r->place[n]];
		uint32_t held;

		if (rf_fw_state(e) != RF_STATE_TOMBSTONE || e->job == RF_FW_NOBODY ||
		    judged(fw, r, n))
			continue;
		held = rf_fw_conn_count(fw, e->job, false);
		if (held > most) {
			most = held;
			whose = e->job;
		}
	}
	for (unsigned int n = 0; n < r->count; n++) {
		const struct rf_fw_entry *e = &fw->table[r->place[n]];

		if (rf_fw_state(e) != RF_STATE_TOMBSTONE || e->job != whose)
			continue;
		if (oldest == r->count ||
		    (int32_t)(e->until - fw->table[r->place[oldest]].until) < 0)
			oldest = n;
	}
	return oldest;
}

static bool insert(struct rf_fw *fw, const struct rf_fw_entry *e)
{
	struct reached r = {.count = 0};
	unsigned int bucket[2];
	unsigned int n;

	buckets_of(fw, e->ip, e->key, bucket);
	reach(&r, bucket[0], RF_FW_REACH_MAX);
	reach(&r, bucket[1], RF_FW_REACH_MAX);
	for (n = 0; n < r.count; n++) {
		const struct rf_fw_entry *old = &fw->table[r.place[n]];

		if (rf_fw_state(old) == RF_STATE_EMPTY)
			break;
		buckets_of(fw, old->ip, old->key, bucket);
		reach(&r, bucket[r.place[n] >> fw->hash_bits ? 0 : 1], n);
	}
	if (n == r.count) {
		n = gives_way(fw, &r, e->job);
		if (n == r.count)
			return false;
		fw->tombstones--;
		fw->entries--;
		fw->cnt.evicted++;
	}
	for (; r.from[n] != RF_FW_REACH_MAX; n = r.from[n]) {
		struct rf_fw_entry moved = fw->table[r.place[r.from[n]]];

		store(fw, r.place[n], &moved);
		fw->cnt.kicks++;
	}
	store(fw, r.place[n], e);
	fw->entries++;
	return true;
}

/* Gives an entry another value where it stands; whose it is stays. */
static void change(struct rf_fw *fw, struct rf_fw_entry *e, uint32_t value, uint32_t until)
{
	struct rf_fw_entry now = *e;

	if (rf_fw_state(e) == RF_STATE_TOMBSTONE)
		fw->tombstones--;
	now.value = value;
	now.until = until;
	if (rf_fw_state(&now) == RF_STATE_TOMBSTONE)
		fw->tombstones++;
	if (rf_fw_state(&now) == RF_STATE_EMPTY) {
		memset(&now, 0, sizeof(now));
		fw->entries--;
	}
	store(fw, (unsigned int)(e - fw->table), &now);
}

bool rf_fw_conn_put(struct rf_fw *fw, uint32_t ip, uint32_t key, uint32_t value, uint64_t job)
{
	struct rf_fw_entry *e = rf_fw_conn_find(fw, ip, key);
	struct rf_fw_entry fresh = {.ip = ip, .key = key, .value = value, .job = job};

	if (!e)
		return insert(fw, &fresh);
	e->job = job;
	change(fw, e, value, 0);
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
	return fw->now_ms + fw->cfg.tomb_ms / 4u + 1u;
}

void rf_fw_conn_bury(struct rf_fw *fw, uint32_t ip, uint32_t key, uint64_t job)
{
	struct rf_fw_entry *e = rf_fw_conn_find(fw, ip, key);
	uint32_t value;

	if (!e)
		return;
	if (fw->cfg.tomb_ms == 0) {
		change(fw, e, 0, 0);
		return;
	}
	value = rf_fw_value(e->value & RF_HASH_VALUE_CID_MASK, RF_STATE_TOMBSTONE);
	e->job = job;
	change(fw, e, value, (uint32_t)fw->now_ms + fw->cfg.tomb_ms);
	if (fw->tomb_ms != RF_FW_NEVER)
		return;
	fw->tomb_ms = tomb_next(fw);
	for (unsigned int p = 0; p < fw->ports; p++)
		fw->tomb_seen[p] = tombstone_counter(fw, p);
}

void rf_fw_conn_exhume(struct rf_fw *fw, uint32_t ip, uint32_t key, uint64_t job)
{
	struct rf_fw_entry *e = rf_fw_conn_find(fw, ip, key);

	if (e && rf_fw_state(e) == RF_STATE_TOMBSTONE && e->job == job)
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

		if (rf_fw_state(e) != RF_STATE_TOMBSTONE)
			continue;
		if (moved[e->value & 7u])
			e->until = now + fw->cfg.tomb_ms;
		else if ((int32_t)(now - e->until) >= 0)
			change(fw, e, 0, 0);
	}
	fw->tomb_ms = fw->tombstones > 0 ? tomb_next(fw) : RF_FW_NEVER;
}
