/*
 * The connection table: a cuckoo hash with two tables of buckets, and its shadow copy in memory.
 *
 * A key has eight possible places: a bucket of four in each table. If all are taken, one of their
 * entries moves to its bucket in the other table, may push out an entry there, and so on until an
 * empty place is found. A breadth-first search finds the shortest such chain. If the search ends
 * without reaching its limit, no arrangement of the table holds all keys. The moves are done from
 * the end of the chain: each entry is written to its new place before its old place is overwritten.
 * So the hardware, which reads both tables in one cycle, finds every key at any time.
 */
#include <string.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"

/* The bits of a HASH_KEY word that are used. */
#define KEY_MASK (RF_HASH_KEY_QPN_MASK | RF_HASH_KEY_ROLE_MASK)

uint32_t rf_fw_conn_hash(uint32_t ip, uint32_t key)
{
	uint8_t bytes[8];
	uint32_t h;

	rf_put_be32(bytes, key);
	rf_put_be32(bytes + 4, ip);
	h = rf_crc32(bytes, sizeof(bytes));
	return h ^ ((h >> 13 | h << 19) & (h >> 23 | h << 9));
}

/* First places of a key's buckets in the two tables. Places are numbered across both tables. */
static void buckets_of(const struct rf_fw *fw, uint32_t ip, uint32_t key, unsigned int bucket[2])
{
	uint32_t mask = (1u << (fw->hash_bits - RF_FW_BUCKET_LOG2)) - 1u;
	uint32_t h = rf_fw_conn_hash(ip, key);

	bucket[0] = (h & mask) << RF_FW_BUCKET_LOG2;
	bucket[1] = 1u << fw->hash_bits | (h >> 16 & mask) << RF_FW_BUCKET_LOG2;
}

/* Writes an entry to a place, in the shadow copy and in the hardware. */
static void store(struct rf_fw *fw, unsigned int place, const struct rf_fw_entry *e)
{
	unsigned int table = place >> fw->hash_bits;

	fw->table[place] = *e;
	rf_fw_write(fw, RF_HASH_IP, e->ip);
	rf_fw_write(fw, RF_HASH_KEY, e->key);
	rf_fw_write(fw, RF_HASH_VALUE, rf_fw_entry_value(e));
	rf_fw_write(fw, RF_HASH_WRITE,
		    (uint32_t)table << RF_HASH_WRITE_TABLE_LSB |
			    (place & ((1u << fw->hash_bits) - 1u)));
}

void rf_fw_conn_reset(struct rf_fw *fw)
{
	uint32_t places = 1u << fw->hash_bits;
	struct rf_hal *hal = fw->hal;

	memset(fw->table, 0, 2u * places * sizeof(fw->table[0]));
	for (uint32_t i = 0; i < 2u * places; i++)
		fw->table[i].number = (uint16_t)i;
	rf_fw_write(fw, RF_HASH_IP, 0);
	rf_fw_write(fw, RF_HASH_KEY, 0);
	rf_fw_write(fw, RF_HASH_VALUE, 0);
	/* A fifth of the start-up time is spent here, so the loop reads nothing from memory. */
	for (uint32_t i = 0; i < places; i++) {
		rf_hal_write(hal, RF_HASH_WRITE, i);
		rf_hal_write(hal, RF_HASH_WRITE, 1u << RF_HASH_WRITE_TABLE_LSB | i);
	}
	fw->entries = 0;
	fw->tombstones = 0;
	fw->foreigns = 0;
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

/* Places that the search has reached, each with the place whose entry would move there. */
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
	/* Usually there are no tombstones, and the first JOIN of every group calls this. */
	unsigned int places = tombstones && fw->tombstones == 0 ? 0 : 2u << fw->hash_bits;
	uint32_t n = 0;

	for (unsigned int i = 0; i < places; i++) {
		unsigned int state = rf_fw_state(&fw->table[i]);

		n += fw->table[i].job == job &&
		     (tombstones ? state == RF_STATE_TOMBSTONE : state != RF_STATE_EMPTY);
	}
	return n;
}

/* Sets number and state of an entry that is not written yet. */
static void set_value(struct rf_fw_entry *e, uint32_t value)
{
	e->cid = (uint16_t)(value & RF_HASH_VALUE_CID_MASK);
	e->state = value >> RF_HASH_VALUE_STATE_LSB & 3u;
}

/*
 * Makes an entry a tombstone with the number that it has. Packets from one address on one port keep
 * it alive; if that address is 0, all packets do.
 */
static void inscribe(struct rf_fw *fw, struct rf_fw_entry *e, uint32_t src_ip)
{
	uint32_t any = src_ip == 0 ? RF_TOMB_WRITE_ANY_MASK : 0;

	set_value(e, rf_fw_value(e->number, RF_STATE_TOMBSTONE));
	e->until = (uint32_t)fw->now_ms + rf_fw_tomb_life(fw, e);
	rf_fw_write(fw, RF_TOMB_SRC, src_ip);
	rf_fw_write(fw, RF_TOMB_WRITE,
		    any | (uint32_t)e->port << RF_TOMB_WRITE_PORT_LSB | e->number);
}

/* Whether the job of tombstone n has a tombstone at an earlier place of those reached. */
static bool judged(const struct rf_fw *fw, const struct reached *r, unsigned int n)
{
	for (unsigned int k = 0; k < n; k++) {
		const struct rf_fw_entry *e = &fw->table[r->place[k]];

		if (e->job == fw->table[r->place[n]].job && rf_fw_state(e) == RF_STATE_TOMBSTONE)
			return true;
	}
	return false;
}

/* The first tombstone that belongs to no job; r->count: there is none. */
static unsigned int held_gives_way(const struct rf_fw *fw, const struct reached *r)
{
	unsigned int n;

	for (n = 0; n < r->count; n++)
		if (rf_fw_held(&fw->table[r->place[n]]))
			break;
	return n;
}

/*
 * Chooses an entry to evict among those reached: a foreign one; otherwise, in the hold time, a
 * tombstone that belongs to no job; otherwise the oldest tombstone of the job that holds the most
 * entries, if that job is `job` itself or holds more than it. So a job cannot remove another job's
 * tombstones by filling the table. r->count: there is none.
 */
static unsigned int gives_way(const struct rf_fw *fw, const struct reached *r, uint64_t job)
{
	uint32_t most = rf_fw_conn_count(fw, job, false);
	unsigned int oldest = r->count;
	uint64_t whose = job;

	if (job == RF_FW_NO_JOB)
		return r->count;
	for (unsigned int n = 0; n < r->count; n++)
		if (rf_fw_foreign(&fw->table[r->place[n]]))
			return n;
	if (fw->hold_until != RF_FW_NEVER && held_gives_way(fw, r) < r->count)
		return held_gives_way(fw, r);
	for (unsigned int n = 0; n < r->count; n++) {
		const struct rf_fw_entry *e = &fw->table[r->place[n]];
		uint32_t held;

		if (rf_fw_state(e) != RF_STATE_TOMBSTONE || e->job == RF_FW_NO_JOB ||
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

void rf_fw_conn_prolong_hold(struct rf_fw *fw)
{
	/* now_ms may be up to a millisecond old. */
	if (fw->hold_until != RF_FW_NEVER)
		fw->hold_until = fw->now_ms + fw->cfg.hold_ms + 1u;
}

/* src_ip: for a tombstone that belongs to a job, the source whose packets keep it alive. */
static bool insert(struct rf_fw *fw, const struct rf_fw_entry *e, uint32_t src_ip)
{
	struct reached r;
	struct rf_fw_entry now = *e;
	unsigned int bucket[2];
	unsigned int n;

	r.count = 0;
	memset(r.seen, 0, sizeof(r.seen));
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
		fw->entries--;
		if (rf_fw_foreign(&fw->table[r.place[n]])) {
			fw->foreigns--;
		} else {
			fw->tombstones--;
			fw->cnt.evicted++;
			/*
			 * Its connection may still be in use: if the hold time is running, it goes
			 * on in place of the tombstone.
			 */
			rf_fw_conn_prolong_hold(fw);
		}
	}
	/*
	 * Each entry keeps its number; the new one gets the number of the place that was empty.
	 */
	now.number = fw->table[r.place[n]].number;
	for (; r.from[n] != RF_FW_REACH_MAX; n = r.from[n]) {
		struct rf_fw_entry moved = fw->table[r.place[r.from[n]]];

		store(fw, r.place[n], &moved);
		fw->cnt.kicks++;
	}
	if (rf_fw_state(e) == RF_STATE_TOMBSTONE) {
		inscribe(fw, &now, src_ip);
		fw->tombstones++;
	}
	fw->foreigns += rf_fw_foreign(e);
	store(fw, r.place[n], &now);
	fw->entries++;
	return true;
}

/* Changes the value of an entry in place; its job stays the same. */
static void change(struct rf_fw *fw, struct rf_fw_entry *e, uint32_t value, uint32_t until)
{
	struct rf_fw_entry now = *e;

	if (rf_fw_state(e) == RF_STATE_TOMBSTONE)
		fw->tombstones--;
	fw->foreigns -= rf_fw_foreign(e);
	set_value(&now, value);
	now.until = until;
	if (rf_fw_state(&now) == RF_STATE_TOMBSTONE)
		fw->tombstones++;
	fw->foreigns += rf_fw_foreign(&now);
	if (rf_fw_state(&now) == RF_STATE_EMPTY) {
		now = (struct rf_fw_entry){.number = e->number};
		fw->entries--;
	}
	store(fw, (unsigned int)(e - fw->table), &now);
}

bool rf_fw_conn_put(struct rf_fw *fw, uint32_t ip, uint32_t key, uint32_t value, uint64_t job)
{
	struct rf_fw_entry *e = rf_fw_conn_find(fw, ip, key);
	struct rf_fw_entry fresh = {.ip = ip, .key = key & KEY_MASK, .job = job};

	set_value(&fresh, value);
	if (!e)
		return insert(fw, &fresh, 0);
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

uint32_t rf_fw_tomb_life(const struct rf_fw *fw, const struct rf_fw_entry *e)
{
	return e->job == RF_FW_NO_JOB ? fw->cfg.hold_ms : fw->cfg.tomb_ms;
}

/* There are tombstones: schedules a check of them after an eighth of the shorter lifetime. */
static void look_soon(struct rf_fw *fw)
{
	uint32_t life = fw->cfg.hold_ms;

	if (life == 0 || (fw->cfg.tomb_ms > 0 && fw->cfg.tomb_ms < life))
		life = fw->cfg.tomb_ms;
	if (fw->tomb_ms == RF_FW_NEVER)
		fw->tomb_ms = fw->now_ms + life / 8u + 1u;
}

void rf_fw_conn_bury(struct rf_fw *fw, const struct rf_fw_member *m, uint64_t job, bool confirmed)
{
	struct rf_fw_entry *e = rf_fw_conn_find(fw, m->peer_ip, rf_fw_key(0, m->peer_qpn));
	struct rf_fw_entry now;

	if (!e)
		return;
	now = *e;
	now.job = job;
	now.port = m->port;
	if (rf_fw_tomb_life(fw, &now) == 0) {
		change(fw, e, 0, 0);
		return;
	}
	inscribe(fw, &now, confirmed ? m->src_ip : 0);
	e->job = job;
	e->port = m->port;
	change(fw, e, rf_fw_entry_value(&now), now.until);
	look_soon(fw);
}

bool rf_fw_conn_hold(struct rf_fw *fw, uint32_t ip, uint32_t qpn, unsigned int port)
{
	struct rf_fw_entry fresh = {.ip = ip,
				    .key = rf_fw_key(0, qpn) & KEY_MASK,
				    .state = RF_STATE_TOMBSTONE,
				    .job = RF_FW_NO_JOB,
				    .port = port & RF_FW_PORT_MASK};

	/*
	 * A connection with an entry is dropped by that entry already, or now belongs to a group.
	 */
	if (rf_fw_conn_find(fw, ip, fresh.key))
		return true;
	if (!insert(fw, &fresh, 0))
		return false;
	look_soon(fw);
	return true;
}

bool rf_fw_conn_cut(struct rf_fw *fw, const struct rf_fw_shown *s, uint64_t job)
{
	struct rf_fw_entry fresh = {.ip = s->ip,
				    .key = rf_fw_key(0, s->qpn) & KEY_MASK,
				    .state = RF_STATE_TOMBSTONE,
				    .job = job,
				    .port = s->port & RF_FW_PORT_MASK};

	if (rf_fw_tomb_life(fw, &fresh) == 0 || !insert(fw, &fresh, s->src))
		return false;
	look_soon(fw);
	return true;
}

bool rf_fw_conn_pass(struct rf_fw *fw, const struct rf_fw_shown *s)
{
	struct rf_fw_entry fresh = {.ip = s->ip,
				    .key = rf_fw_key(0, s->qpn) & KEY_MASK,
				    .cid = RF_FW_FOREIGN_CID,
				    .state = RF_STATE_JOINING,
				    .job = RF_FW_NO_JOB,
				    .port = s->port & RF_FW_PORT_MASK};

	return insert(fw, &fresh, 0);
}

void rf_fw_conn_forget_foreign(struct rf_fw *fw, unsigned int ports)
{
	for (unsigned int i = 0; i < 2u << fw->hash_bits; i++) {
		struct rf_fw_entry *e = &fw->table[i];

		if (rf_fw_foreign(e) && ports >> e->port & 1u)
			change(fw, e, 0, 0);
	}
}

void rf_fw_conn_exhume(struct rf_fw *fw, uint32_t ip, uint32_t key, uint64_t job)
{
	struct rf_fw_entry *e = rf_fw_conn_find(fw, ip, key);

	if (e && rf_fw_state(e) == RF_STATE_TOMBSTONE && e->job == job)
		change(fw, e, 0, 0);
}

void rf_fw_conn_exhume_all(struct rf_fw *fw, uint64_t job)
{
	for (unsigned int i = 0; i < 2u << fw->hash_bits; i++) {
		struct rf_fw_entry *e = &fw->table[i];

		if (rf_fw_state(e) == RF_STATE_TOMBSTONE && e->job == job)
			change(fw, e, 0, 0);
	}
}

/* A packet seen renews a tombstone from the time of this check, so none is removed too early. */
void rf_fw_conn_tick(struct rf_fw *fw)
{
	uint32_t now = (uint32_t)fw->now_ms;

	if (fw->now_ms < fw->tomb_ms)
		return;
	for (unsigned int i = 0; i < 2u << fw->hash_bits; i++) {
		struct rf_fw_entry *e = &fw->table[i];

		if (rf_fw_state(e) != RF_STATE_TOMBSTONE)
			continue;
		rf_fw_write(fw, RF_TOMB_LOOK, e->cid);
		if (rf_fw_read(fw, RF_TOMB_SEEN) & RF_TOMB_SEEN_SEEN_MASK)
			e->until = now + rf_fw_tomb_life(fw, e);
		else if ((int32_t)(now - e->until) >= 0)
			change(fw, e, 0, 0);
	}
	fw->tomb_ms = RF_FW_NEVER;
	if (fw->tombstones > 0)
		look_soon(fw);
}
