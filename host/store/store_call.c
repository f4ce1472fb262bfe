/* A rank's gathers: any number at a time, from any thread; the answers come in any order. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "host/store/store_line.h"
#include "proto/rf_bytes.h"
#include "ringfold/ringfold.h"

/* Bounds the work of one look at the socket. */
#define PUMP_READS 64u
/* Time between two calls of idle(). */
#define IDLE_MS 5u

static void call_end(struct rf_store_call *c, int status, const char *text)
{
	c->done = true;
	c->status = status;
	snprintf(c->text, sizeof(c->text), "%s", text);
}

/* The connection has ended, and with it all calls. */
static void all_end(struct rf_store *s, int status, const char *text) RF_REQUIRES(store_class)
{
	for (struct rf_store_call *c = s->calls; c; c = c->next)
		if (!c->done)
			call_end(c, status, text);
}

static bool same_lane(const struct rf_store_call *a, const struct rf_store_call *b)
{
	return memcmp(a->ranks, b->ranks, sizeof(a->ranks)) == 0 && strcmp(a->lane, b->lane) == 0;
}

/* Whether an earlier call has its lane. */
static bool must_queue(const struct rf_store *s, const struct rf_store_call *c)
	RF_REQUIRES(store_class)
{
	for (const struct rf_store_call *other = s->calls; other && other != c; other = other->next)
		if (!other->done && same_lane(other, c))
			return true;
	return false;
}

static size_t put_string(uint8_t *p, const char *text)
{
	size_t n = strlen(text);

	p[0] = (uint8_t)n;
	memcpy(p + 1, text, n);
	return n + 1;
}

/* Sends the request, unless the socket's buffer is full. */
static void call_send(struct rf_store *s, struct rf_store_call *c) RF_REQUIRES(store_class)
{
	uint8_t body[STORE_REQUEST_MAX];
	size_t at = STORE_GATHER_HEAD;
	char why[128];

	rf_put_be32(body, c->id);
	rf_put_be32(body + 4, c->timeout_ms);
	body[8] = c->number ? (uint8_t)(c->counter + 1) : 0;
	memcpy(body + 9, c->ranks, sizeof(c->ranks));
	at += put_string(body + at, c->lane);
	at += put_string(body + at, c->name);
	if (c->len)
		memcpy(body + at, c->value, c->len);
	if (store_post(s, STORE_GATHER, body, at + c->len, why, sizeof(why)))
		return;
	c->sent = true;
	c->by = rf_now_ms() + c->timeout_ms + STORE_GRACE_MS;
}

static struct rf_store_call *call_of(struct rf_store *s, uint32_t id) RF_REQUIRES(store_class)
{
	struct rf_store_call *c = s->calls;

	while (c && (c->id != id || !c->sent || c->done))
		c = c->next;
	return c;
}

static void got_values(struct rf_store_call *c, uint32_t number, const uint8_t *p, size_t len)
{
	char text[128];
	uint8_t *values;

	if (len != c->n * c->len) {
		snprintf(text, sizeof(text), "the store returned %zu bytes instead of %zu", len,
			 c->n * c->len);
		call_end(c, RF_ERR_BOOTSTRAP, text);
		return;
	}
	values = len ? realloc(c->value, len) : c->value;
	if (len && !values) {
		call_end(c, RF_ERR_NO_MEMORY, "no memory for the ranks' values");
		return;
	}
	if (len)
		memcpy(values, p, len);
	c->value = values;
	if (c->number && !c->orphan)
		*c->number = number;
	call_end(c, RF_OK, "");
}

/* An answer. False: it violates the protocol. One that nobody waits for is ignored. */
static bool answered(struct rf_store *s, uint8_t verb, const uint8_t *p, size_t len)
	RF_REQUIRES(store_class)
{
	struct rf_store_call *c;
	char text[RF_STORE_TEXT_MAX];
	int status;

	if ((verb != STORE_VALUES || len < STORE_VALUES_HEAD) &&
	    (verb != STORE_FAILED || len < STORE_FAILED_HEAD))
		return false;
	c = call_of(s, rf_get_be32(p));
	if (!c)
		return true;
	if (verb == STORE_VALUES) {
		got_values(c, rf_get_be32(p + 4), p + STORE_VALUES_HEAD, len - STORE_VALUES_HEAD);
		return true;
	}
	status = (int)rf_get_be32(p + 4);
	memcpy(c->set, p + 8, sizeof(c->set));
	snprintf(text, sizeof(text), "%.*s", (int)(len - STORE_FAILED_HEAD),
		 (const char *)p + STORE_FAILED_HEAD);
	call_end(c, status < 0 ? status : RF_ERR_BOOTSTRAP, text);
	return true;
}

/* Handles all whole messages. False: the server violates the protocol. */
static bool take_all(struct rf_store *s) RF_REQUIRES(store_class)
{
	const uint8_t *body;
	uint8_t verb;
	size_t len;
	int found;

	while ((found = store_scan(s, &verb, &body, &len)) > 0) {
		if (!answered(s, verb, body, len))
			return false;
		store_eat(s);
	}
	return found == 0;
}

static void unlink_call(struct rf_store *s, struct rf_store_call *c) RF_REQUIRES(store_class)
{
	struct rf_store_call **at = &s->calls;

	while (*at && *at != c)
		at = &(*at)->next;
	if (*at)
		*at = c->next;
	free(c->value);
	free(c);
}

void store_pump(struct rf_store *s)
{
	struct rf_store_call *c, *next;
	char why[RF_STORE_TEXT_MAX] = "";
	uint64_t now = rf_now_ms();
	int ret = RF_OK;

	for (unsigned int k = 0; k < PUMP_READS && s->fd >= 0 && !ret; k++) {
		size_t before = s->rx_len;
		bool alive = store_flush(s, why, sizeof(why)) == RF_OK && store_fill(s);
		bool more = s->rx_len > before;

		if (!take_all(s) || !alive)
			ret = store_gone(s, why, sizeof(why));
		if (!more)
			break;
	}
	/* what had arrived by now has been read */
	for (c = s->calls; c && s->fd >= 0; c = c->next) {
		if (c->done || !c->sent || now < c->by)
			continue;
		/* a server that does not keep its own deadline */
		store_gone(s, why, sizeof(why));
		all_end(s, RF_ERR_BOOTSTRAP, "the store at rank 0 does not answer");
	}
	for (c = s->calls; c && s->fd >= 0; c = c->next)
		if (!c->sent && !must_queue(s, c))
			call_send(s, c);
	if (s->fd < 0) {
		store_gone(s, why, sizeof(why));
		all_end(s, RF_ERR_RANK_LOST, why);
	}
	for (c = s->calls; c; c = next) {
		next = c->next;
		if (c->orphan && (c->done || !c->sent))
			unlink_call(s, c);
	}
}

/* ---- for callers ---- */

static int check(const struct rf_store_gather *g, char *why, size_t room)
{
	size_t name = strlen(g->name);

	if (name >= 1 && name <= RF_STORE_KEY_MAX && g->len <= RF_STORE_VALUE_MAX &&
	    (!g->lane || strlen(g->lane) <= RF_STORE_LANE_MAX))
		return RF_OK;
	snprintf(why, room, "name or value too long for the store");
	return RF_ERR_INVALID;
}

int rf_store_start(struct rf_store *s, const struct rf_store_gather *g, struct rf_store_call **call,
		   char *why, size_t room)
{
	struct rf_store_call **at, *c;
	int ret = check(g, why, room);

	if (ret)
		return ret;
	c = calloc(1, sizeof(*c));
	if (c)
		c->value = malloc(g->len + 1);
	if (!c || !c->value) {
		free(c);
		snprintf(why, room, "no memory for the ranks' values");
		return RF_ERR_NO_MEMORY;
	}
	for (unsigned int r = 0; r < s->ranks; r++) {
		if (g->ranks && !store_set_has(g->ranks, r))
			continue;
		store_set_add(c->ranks, r);
		c->n++;
	}
	snprintf(c->lane, sizeof(c->lane), "%s", g->lane ? g->lane : "");
	snprintf(c->name, sizeof(c->name), "%s", g->name);
	c->timeout_ms = g->timeout_ms;
	c->number = g->number;
	c->counter = g->counter < STORE_COUNTERS ? g->counter : 0;
	c->len = g->len;
	if (g->len)
		memcpy(c->value, g->value, g->len);
	rf_mutex_lock(&s->lock, store_class);
	c->id = s->next_id++;
	for (at = &s->calls; *at; at = &(*at)->next)
		;
	*at = c;
	store_pump(s);
	rf_mutex_unlock(&s->lock, store_class);
	*call = c;
	return RF_OK;
}

/* Describes a gather's failure. */
static void failure_text(const struct rf_store_call *c, char *why, size_t room)
{
	char ranks[200];

	rf_store_ranks_text(c->set, ranks, sizeof(ranks));
	if (c->status == RF_ERR_RANK_MISSING)
		snprintf(why, room, "%s did not arrive at \"%s\" within %u ms", ranks, c->name,
			 c->timeout_ms);
	else if (c->status == RF_ERR_RANK_LOST && strncmp(c->text, "the conn", 8) != 0)
		snprintf(why, room, "%s has ended while the others were at \"%s\"", ranks, c->name);
	else if (c->status == RF_ERR_ABORTED)
		snprintf(why, room, "%s has cancelled \"%s\"", ranks, c->name);
	else if (c->status == RF_ERR_MISMATCH)
		snprintf(why, room, "%.300s: all ranks must make the same calls in the same order",
			 c->text);
	else
		snprintf(why, room, "%s", c->text);
}

int rf_store_test(struct rf_store *s, struct rf_store_call *c, void *values, char *why, size_t room)
{
	int ret = RF_IN_PROGRESS;

	rf_mutex_lock(&s->lock, store_class);
	if (!c->done)
		store_pump(s);
	if (c->done) {
		ret = c->status;
		if (ret)
			failure_text(c, why, room);
		else if (c->len)
			memcpy(values, c->value, c->n * c->len);
		unlink_call(s, c);
		store_pump(s); /* the next one in its lane */
	}
	rf_mutex_unlock(&s->lock, store_class);
	return ret;
}

void rf_store_drop(struct rf_store *s, struct rf_store_call *c)
{
	if (!c)
		return;
	rf_mutex_lock(&s->lock, store_class);
	c->orphan = true;
	store_pump(s);
	rf_mutex_unlock(&s->lock, store_class);
}

void rf_store_cancel(struct rf_store *s, struct rf_store_call *c)
{
	uint8_t id[4];
	char why[128];

	rf_mutex_lock(&s->lock, store_class);
	rf_put_be32(id, c->id);
	/* if the socket is full, the others wait until their deadline */
	if (c->sent && !c->done)
		store_post(s, STORE_CANCEL, id, sizeof(id), why, sizeof(why));
	rf_mutex_unlock(&s->lock, store_class);
	rf_store_drop(s, c);
}

void rf_store_wait(struct rf_store *s, unsigned int ms)
{
	/* it is -1 once the connection has ended: then poll() only sleeps */
	struct pollfd p = {.fd = s->fd, .events = POLLIN};

	poll(&p, 1, (int)ms);
}

int rf_store_gather(struct rf_store *s, const char *name, const void *value, size_t len,
		    void *values, unsigned int timeout_ms, char *why, size_t room)
{
	struct rf_store_gather g = {
		.name = name, .value = value, .len = len, .timeout_ms = timeout_ms};
	struct rf_store_call *call;
	int ret = rf_store_start(s, &g, &call, why, room);

	if (ret)
		return ret;
	while ((ret = rf_store_test(s, call, values, why, room)) == RF_IN_PROGRESS) {
		rf_store_wait(s, IDLE_MS);
		if (s->idle)
			s->idle(s->idle_arg);
	}
	return ret;
}
