/* The gathers at the store's server: any number of lanes at a time, one gather in each. */
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/store/store_server.h"
#include "proto/rf_bytes.h"

/* The place of a rank's value among those of its gather. */
static unsigned int place_of(const struct store_meet *m, unsigned int rank)
{
	unsigned int place = 0;

	for (unsigned int r = 0; r < rank; r++)
		place += store_set_has(m->ranks, r);
	return place;
}

static void meet_free(struct rf_store_server *s, struct store_meet *m)
{
	struct store_meet **at = &s->meets;

	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	s->n_meets--;
	free(m->values);
	free(m);
}

/* Every rank that has come gets this error, and the gather is over. */
static void meet_fail(struct rf_store_server *s, struct store_meet *m, int status,
		      const uint8_t set[16], const char *text)
{
	uint8_t head[STORE_FAILED_HEAD];

	rf_put_be32(head + 4, (uint32_t)status);
	memcpy(head + 8, set, 16);
	for (unsigned int r = 0; r < s->ranks; r++) {
		struct store_conn *c = store_set_has(m->came_set, r) ? store_conn_of(s, r) : NULL;

		if (!c)
			continue;
		rf_put_be32(head, m->id[r]);
		store_conn_send(c, STORE_FAILED, head, sizeof(head), text, strlen(text));
	}
	meet_free(s, m);
}

static void meet_done(struct rf_store_server *s, struct store_meet *m)
{
	uint8_t head[STORE_VALUES_HEAD];
	bool all = true;

	for (unsigned int r = 0; r < s->ranks; r++)
		all = all && store_set_has(m->ranks, r);
	s->assembled = s->assembled || all;
	rf_put_be32(head + 4, m->counter ? s->number[m->counter - 1]++ : 0);
	for (unsigned int r = 0; r < s->ranks; r++) {
		struct store_conn *c = store_set_has(m->ranks, r) ? store_conn_of(s, r) : NULL;

		if (!c)
			continue;
		rf_put_be32(head, m->id[r]);
		store_conn_send(c, STORE_VALUES, head, sizeof(head), m->values,
				m->n * m->value_len);
	}
	meet_free(s, m);
}

/*
 * Reads a string without zero bytes. Returns its length including the length byte, or 0 if it is
 * malformed, or not of least to most bytes.
 */
static size_t read_string(const uint8_t *p, size_t len, size_t least, size_t most, char *to)
{
	if (len < 1 || p[0] < least || p[0] > most || (size_t)p[0] + 1 > len ||
	    (p[0] && memchr(p + 1, 0, p[0])))
		return 0;
	memcpy(to, p + 1, p[0]);
	to[p[0]] = '\0';
	return (size_t)p[0] + 1;
}

/* A rank's request to take part. */
struct wish {
	uint32_t id, timeout_ms;
	uint8_t counter;
	uint8_t ranks[16];
	char lane[RF_STORE_LANE_MAX + 1];
	char name[RF_STORE_KEY_MAX + 1];
	const uint8_t *value;
	size_t len;
};

static bool read_wish(const struct rf_store_server *s, const struct store_conn *c, const uint8_t *p,
		      size_t len, struct wish *w)
{
	size_t used;

	if (len < STORE_GATHER_HEAD)
		return false;
	w->id = rf_get_be32(p);
	w->timeout_ms = rf_get_be32(p + 4);
	w->counter = p[8];
	memcpy(w->ranks, p + 9, 16);
	p += STORE_GATHER_HEAD;
	len -= STORE_GATHER_HEAD;
	if (w->counter > STORE_COUNTERS)
		return false;
	for (unsigned int r = s->ranks; r < RF_RANKS_MAX; r++)
		if (store_set_has(w->ranks, r))
			return false;
	if (!store_set_has(w->ranks, c->rank))
		return false;
	used = read_string(p, len, 0, RF_STORE_LANE_MAX, w->lane);
	if (!used)
		return false;
	p += used;
	len -= used;
	used = read_string(p, len, 1, RF_STORE_KEY_MAX, w->name);
	if (!used || len - used > RF_STORE_VALUE_MAX)
		return false;
	w->value = p + used;
	w->len = len - used;
	return true;
}

/* The gather in a lane of these ranks; a new one if there is none. NULL: there are too many. */
static struct store_meet *meet_of(struct rf_store_server *s, const struct wish *w)
{
	struct store_meet *m;

	for (m = s->meets; m; m = m->next)
		if (memcmp(m->ranks, w->ranks, 16) == 0 && strcmp(m->lane, w->lane) == 0)
			return m;
	if (s->n_meets == STORE_MEETS)
		return NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	memcpy(m->ranks, w->ranks, 16);
	memcpy(m->lane, w->lane, sizeof(m->lane));
	memcpy(m->name, w->name, sizeof(m->name));
	m->value_len = w->len;
	m->n = place_of(m, RF_RANKS_MAX);
	m->values = malloc(m->n * w->len + 1);
	if (!m->values) {
		free(m);
		return NULL;
	}
	m->next = s->meets;
	s->meets = m;
	s->n_meets++;
	return m;
}

static void refuse(struct store_conn *c, uint32_t id)
{
	static const char text[] = "rank 0 has no room for another gather";
	uint8_t head[STORE_FAILED_HEAD] = {0};

	rf_put_be32(head, id);
	rf_put_be32(head + 4, (uint32_t)RF_ERR_BUSY);
	store_conn_send(c, STORE_FAILED, head, sizeof(head), text, strlen(text));
}

bool store_meet_join(struct rf_store_server *s, struct store_conn *c, const uint8_t *p, size_t len)
{
	char text[3 * RF_STORE_KEY_MAX];
	uint8_t gone[16] = {0};
	bool lost = false;
	struct store_meet *m;
	struct wish w;

	if (!read_wish(s, c, p, len, &w))
		return false;
	m = meet_of(s, &w);
	if (!m) {
		refuse(c, w.id);
		return true;
	}
	/* one at a time in a lane */
	if (store_set_has(m->came_set, c->rank))
		return false;
	store_set_add(m->came_set, c->rank);
	m->came++;
	m->id[c->rank] = w.id;
	m->until[c->rank] = rf_now_ms() + w.timeout_ms;
	m->counter = w.counter > m->counter ? w.counter : m->counter;
	for (unsigned int r = 0; r < s->ranks; r++)
		if (s->gone[r] && store_set_has(m->ranks, r)) {
			store_set_add(gone, r);
			lost = true;
		}
	if (lost) {
		meet_fail(s, m, RF_ERR_RANK_LOST, gone, "");
	} else if (strcmp(w.name, m->name) != 0 || w.len != m->value_len) {
		snprintf(text, sizeof(text), "rank %u is at \"%s\", others are at \"%s\"", c->rank,
			 w.name, m->name);
		meet_fail(s, m, RF_ERR_MISMATCH, gone, text);
	} else {
		memcpy(m->values + place_of(m, c->rank) * w.len, w.value, w.len);
		if (m->came == m->n)
			meet_done(s, m);
	}
	return true;
}

void store_meet_cancel(struct rf_store_server *s, unsigned int rank, uint32_t id)
{
	uint8_t set[16] = {0};

	store_set_add(set, rank);
	for (struct store_meet *m = s->meets; m; m = m->next)
		if (store_set_has(m->came_set, rank) && m->id[rank] == id) {
			meet_fail(s, m, RF_ERR_ABORTED, set, "");
			return;
		}
}

void store_meet_left(struct rf_store_server *s, unsigned int rank)
{
	struct store_meet *m, *next;
	uint8_t set[16] = {0};

	store_set_add(set, rank);
	for (m = s->meets; m; m = next) {
		next = m->next;
		if (!store_set_has(m->ranks, rank))
			continue;
		if (s->assembled) {
			meet_fail(s, m, RF_ERR_RANK_LOST, set, "");
		} else if (store_set_has(m->came_set, rank)) {
			m->came_set[rank / 8] &= (uint8_t) ~(1u << (rank % 8));
			if (--m->came == 0)
				meet_free(s, m);
		}
	}
}

/* When the first of those that have come stops waiting. */
static uint64_t meet_until(const struct store_meet *m)
{
	uint64_t by = UINT64_MAX;

	for (unsigned int r = 0; r < RF_RANKS_MAX; r++)
		if (store_set_has(m->came_set, r) && m->until[r] < by)
			by = m->until[r];
	return by;
}

uint64_t store_meet_next(const struct rf_store_server *s)
{
	uint64_t next = UINT64_MAX;

	for (const struct store_meet *m = s->meets; m; m = m->next) {
		uint64_t by = meet_until(m);

		next = by < next ? by : next;
	}
	return next;
}

void store_meet_deadlines(struct rf_store_server *s, uint64_t now)
{
	struct store_meet *m, *next;
	uint8_t set[16];

	for (m = s->meets; m; m = next) {
		next = m->next;
		if (meet_until(m) > now)
			continue;
		for (unsigned int k = 0; k < sizeof(set); k++)
			set[k] = m->ranks[k] & (uint8_t)~m->came_set[k];
		meet_fail(s, m, RF_ERR_RANK_MISSING, set, m->name);
	}
}

void store_meet_end(struct rf_store_server *s)
{
	while (s->meets)
		meet_free(s, s->meets);
}
