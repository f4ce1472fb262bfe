/*
 * The store of a job (host/store) in virtual time: gathers, announcements, and the loss of a
 * process. The ranks of a group gather in the same order, so a gather is found by its number and by
 * the life of the job. Everything takes cfg.store_ns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/store/store.h"
#include "sim/fabric/host.h"

/* Longest number of gathers that can be open at a time: a rank is at most one ahead. */
#define GATHERS 4u

struct rf_gather {
	unsigned life, number;
	unsigned count; /* ranks that are here */
	char name[RF_MEMBER_NAME_MAX];
	bool differ; /* the ranks are at different points */
	bool here[RF_FABRIC_RANKS];
	uint64_t full_ns; /* when the last one came; 0: not all are here */
	size_t len;
	uint8_t values[RF_FABRIC_RANKS * RF_MEMBER_VALUE_MAX];
};

struct rf_notice {
	unsigned rank, life;
	unsigned number; /* of the group */
	uint64_t at;     /* ns */
	int status;
	char text[RF_MEMBER_TEXT];
};

struct rf_job_store {
	struct rf_gather gather[GATHERS];
	struct rf_notice *notices;
	size_t count, room;
};

int rf_stores_create(struct rf_fabric *f)
{
	f->stores = calloc(f->cfg.ranks / rf_fabric_size(&f->cfg), sizeof(*f->stores));
	return f->stores ? 0 : -1;
}

void rf_stores_destroy(struct rf_fabric *f)
{
	for (unsigned k = 0; f->stores && k < f->cfg.ranks / rf_fabric_size(&f->cfg); k++)
		free(f->stores[k].notices);
	free(f->stores);
}

static struct rf_job_store *store_of(const struct rf_host *h)
{
	return &h->f->stores[h->rank / rf_fabric_size(&h->f->cfg)];
}

static struct rf_gather *gather_of(const struct rf_host *h, unsigned number)
{
	return &store_of(h)->gather[number % GATHERS];
}

static void wake_group(const struct rf_host *h)
{
	unsigned first = rf_fabric_first(&h->f->cfg, h->rank);

	for (unsigned i = 0; i < rf_fabric_size(&h->f->cfg); i++)
		if (first + i != h->rank)
			rf_host_wake(h->f->hosts[first + i]);
}

/* ---- gathers ---- */

/* The gather that this rank takes part in, or NULL: of the fallback, the ring, or the group. */
static const struct rf_member_gather *wanted(const struct rf_host *h)
{
	const struct rf_member_gather *want = NULL;

	if (h->fallback && rf_fallback_action(h->fallback) == RF_FALLBACK_GATHER)
		return rf_fallback_gather(h->fallback);
	if (h->ring)
		want = rf_member_gather(h->ring);
	return want ? want : rf_member_gather(h->member);
}

/* Its result. */
static void gathered(struct rf_host *h, int status, const char *text, unsigned culprit,
		     const uint8_t *values)
{
	h->gather_open = false;
	if (h->fallback && rf_fallback_action(h->fallback) == RF_FALLBACK_GATHER)
		rf_fallback_gathered(h->fallback, status, text, values);
	else
		rf_member_gathered(h->ring && rf_member_gather(h->ring) ? h->ring : h->member,
				   status, text, culprit, values, rf_host_ns(h));
}

static void contribute(struct rf_host *h, const struct rf_member_gather *want)
{
	unsigned size = rf_fabric_size(&h->f->cfg);
	unsigned self = h->rank % size;
	struct rf_gather *g = gather_of(h, ++h->gathers);

	h->gather_open = true;
	h->gather_until = rf_host_ns(h) + want->timeout_ms * RF_MSEC;
	if (g->number != h->gathers || g->life != h->pub.life) {
		memset(g, 0, sizeof(*g));
		g->number = h->gathers;
		g->life = h->pub.life;
		g->len = want->len;
		snprintf(g->name, sizeof(g->name), "%s", want->name);
	}
	if (strcmp(g->name, want->name) != 0) {
		g->differ = true;
		wake_group(h);
		return;
	}
	g->here[self] = true;
	memcpy(g->values + self * g->len, want->value, g->len);
	if (++g->count == size) {
		g->full_ns = rf_host_ns(h);
		wake_group(h);
	}
}

/* The first rank that is not here and whose process has been gone for long enough. */
static unsigned lost_rank(const struct rf_host *h, const struct rf_gather *g)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;
	unsigned first = rf_fabric_first(cfg, h->rank);

	for (unsigned i = 0; i < rf_fabric_size(cfg); i++) {
		const struct rf_host *other = h->f->hosts[first + i];

		if (!g->here[i] && other->gone_ns && other->pub.life == g->life &&
		    rf_host_ns(h) >= other->gone_ns + cfg->lost_ns)
			return i;
	}
	return RF_MEMBER_NOBODY;
}

static void missing_text(const struct rf_host *h, const struct rf_gather *g, const char *name,
			 char *text, size_t room, unsigned *culprit)
{
	uint8_t set[16] = {0};
	char ranks[200];

	*culprit = RF_MEMBER_NOBODY;
	for (unsigned i = rf_fabric_size(&h->f->cfg); i-- > 0;) {
		if (g->here[i])
			continue;
		set[i / 8] |= (uint8_t)(1u << i % 8);
		*culprit = i;
	}
	snprintf(text, room, "%s did not arrive at \"%s\" in time",
		 rf_store_ranks_text(set, ranks, sizeof(ranks)), name);
}

/* Hands over the result of the open gather, if there is one. */
static bool finish(struct rf_host *h, const struct rf_member_gather *want)
{
	const struct rf_gather *g = gather_of(h, h->gathers);
	uint64_t now = rf_host_ns(h);
	char text[RF_MEMBER_TEXT];
	unsigned culprit = lost_rank(h, g);

	if (g->differ) {
		snprintf(text, sizeof(text), "this rank is at \"%s\", others are not", want->name);
		gathered(h, RF_ERR_MISMATCH, text, RF_MEMBER_NOBODY, NULL);
		return true;
	}
	if (g->full_ns && now >= g->full_ns + h->f->cfg.store_ns) {
		gathered(h, RF_OK, NULL, RF_MEMBER_NOBODY, g->values);
		return true;
	}
	if (g->full_ns)
		return false;
	if (culprit != RF_MEMBER_NOBODY) {
		rf_member_lost_text(culprit, text, sizeof(text));
		gathered(h, RF_ERR_RANK_LOST, text, culprit, NULL);
		return true;
	}
	if (now < h->gather_until)
		return false;
	missing_text(h, g, want->name, text, sizeof(text), &culprit);
	gathered(h, RF_ERR_RANK_MISSING, text, culprit, NULL);
	return true;
}

/* ---- announcements ---- */

static void post(struct rf_host *h, unsigned number, uint64_t at, int status, const char *text)
{
	struct rf_job_store *s = store_of(h);
	struct rf_notice *n;

	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 16;

		n = realloc(s->notices, room * sizeof(*n));
		if (!n) {
			rf_fabric_fail(h->f, "no memory for an announcement");
			return;
		}
		s->notices = n;
		s->room = room;
	}
	n = &s->notices[s->count++];
	*n = (struct rf_notice){
		.rank = h->rank, .life = h->pub.life, .number = number, .at = at, .status = status};
	snprintf(n->text, sizeof(n->text), "%s", text);
	wake_group(h);
}

void rf_host_announce(struct rf_host *h, unsigned number, int status, const char *text)
{
	post(h, number, rf_host_ns(h) + h->f->cfg.store_ns, status, text);
}

void rf_host_gone(struct rf_host *h)
{
	h->gone_ns = rf_host_ns(h) ? rf_host_ns(h) : 1;
	if (h->f->cfg.store)
		post(h, 0, h->gone_ns + h->f->cfg.lost_ns, RF_ERR_RANK_LOST, "");
}

static void read_notices(struct rf_host *h)
{
	const struct rf_job_store *s = store_of(h);
	unsigned first = rf_fabric_first(&h->f->cfg, h->rank);

	for (; h->notices < s->count; h->notices++) {
		const struct rf_notice *n = &s->notices[h->notices];
		bool lost = n->status == RF_ERR_RANK_LOST && !n->text[0];

		if (n->at > rf_host_ns(h))
			return;
		if (n->rank == h->rank || n->life != h->pub.life)
			continue;
		if (lost || n->number == 0)
			rf_member_announced(h->member, n->rank - first, n->status, n->text,
					    rf_host_ns(h));
		if (h->ring && (lost || n->number != 0))
			rf_member_announced(h->ring, n->rank - first, n->status, n->text,
					    rf_host_ns(h));
	}
}

/* ---- a rank's connection to the store ---- */

void rf_host_store_look(struct rf_host *h)
{
	const struct rf_member_gather *want;

	if (!h->f->cfg.store || !h->member)
		return;
	read_notices(h);
	while ((want = wanted(h)) != NULL) {
		if (!h->gather_open)
			contribute(h, want);
		if (!finish(h, want))
			break;
	}
}

uint64_t rf_host_store_next(const struct rf_host *h)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;
	const struct rf_member_gather *want = NULL;
	const struct rf_job_store *s;
	uint64_t next = UINT64_MAX;

	if (!cfg->store || !h->member)
		return next;
	s = store_of(h);
	if (h->notices < s->count)
		next = s->notices[h->notices].at;
	want = wanted(h);
	if (want && !h->gather_open)
		return rf_host_ns(h);
	if (want) {
		const struct rf_gather *g = gather_of(h, h->gathers);
		uint64_t t = g->full_ns ? g->full_ns + cfg->store_ns : h->gather_until;

		next = t < next ? t : next;
	}
	return next;
}
