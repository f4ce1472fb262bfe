/*
 * Which ranks hold a group up, and for how long: fetches the box's STATUS page by page and turns it
 * into text.
 */
#include "host/api/api.h"

#include <stdarg.h>
#include <stdio.h>

#include "host/config/settings.h"

/* The box's indexes, and their order, are modulo 2^24. */
#define INDEX_MASK 0xffffffu
#define INDEX_HALF 0x800000u
/* Ranks that are described individually, not only counted. */
#define RANKS_NAMED 3u

struct line {
	char *text;
	size_t room, used;
};

static void add(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct line *l, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(l->text + l->used, l->room - l->used, format, args);
	va_end(args);
	if (n > 0)
		l->used += (size_t)n < l->room - l->used ? (size_t)n : l->room - l->used - 1;
}

static bool below(uint32_t a, uint32_t b)
{
	return ((a - b) & INDEX_MASK) >= INDEX_HALF;
}

static bool ask_page(struct rf_group *g, unsigned int first, uint64_t now)
{
	struct rf_ctl_status_req ask = {.page = RF_CTL_PAGE_RANKS, .index = (uint16_t)first};

	g->straggler.asking = rf_client_status(&g->client, &ask, now) == 0;
	return g->straggler.asking;
}

bool rf_straggler_ask(struct rf_group *g, uint64_t now)
{
	struct rf_straggler_query *b = &g->straggler;

	if (!g->have_client || b->asking || !ask_page(g, 0, now))
		return false;
	b->asked = now;
	return true;
}

void rf_straggler_poll(struct rf_group *g, uint64_t now)
{
	struct rf_straggler_query *b = &g->straggler;
	const struct rf_ctl_reply *reply;
	const struct rf_ctl_ranks_page *page;
	unsigned int k;

	if (!b->asking || rf_client_query(&g->client) == RF_CLIENT_Q_WAITING)
		return;
	b->asking = false;
	reply = rf_client_answer(&g->client);
	if (rf_client_query(&g->client) != RF_CLIENT_Q_DONE || !reply ||
	    reply->result != RF_CTL_PAGE || reply->page != RF_CTL_PAGE_RANKS)
		return;
	page = &reply->u.ranks;
	for (k = 0; k < page->count && page->first + k < g->comm->ranks; k++)
		b->rank[page->first + k] = page->rank[k];
	if (page->count && page->first + k < g->comm->ranks)
		ask_page(g, page->first + k, now);
	else
		b->answered = now;
}

/* One rank that the box waits for: what is missing, and when its process was last heard from. */
static void add_rank(struct line *l, const struct rf_group *g, unsigned int r, uint32_t most,
		     uint64_t now)
{
	const struct rf_ctl_rank *k = &g->straggler.rank[r];
	uint64_t age = k->age_ms + (now - g->straggler.answered) / NS_PER_MS;

	add(l, "rank %u: ", r);
	if (k->flags & RF_CTL_RANK_GONE)
		add(l, "its lease has expired, ");
	else if (k->flags & RF_CTL_RANK_LEFT)
		add(l, "it has left, ");
	add(l, "packet %u of %u, last heard from %llu ms ago", k->next & INDEX_MASK,
	    most & INDEX_MASK, (unsigned long long)age);
}

/* All operands have arrived: finds the rank that has not acknowledged its results. */
static void add_delivery(struct line *l, const struct rf_group *g)
{
	const struct rf_straggler_query *b = &g->straggler;
	unsigned int ranks = g->comm->ranks, r, worst = 0;

	for (r = 1; r < ranks; r++)
		if (below(b->rank[r].una, b->rank[worst].una))
			worst = r;
	/* the results on a rank's connection go to the next rank of the ring */
	if (below(b->rank[worst].una, b->rank[worst].sent))
		add(l,
		    "; the box has the packets of all ranks, and waits for rank %u to "
		    "acknowledge result %u of %u",
		    (worst + 1) % ranks, b->rank[worst].una & INDEX_MASK,
		    b->rank[worst].sent & INDEX_MASK);
	else
		add(l, "; the box has delivered everything it has received: no rank is late");
}

void rf_straggler_text(const struct rf_group *g, uint64_t now, char *text, size_t room)
{
	const struct rf_straggler_query *b = &g->straggler;
	struct line l = {text, room, 0};
	uint8_t set[16] = {0};
	char ranks[200], ip[16];
	unsigned int r, count = 0, named = 0;
	uint32_t most;

	text[0] = '\0';
	if (!g->have_client || !b->asked)
		return;
	if (b->answered < b->asked) {
		add(&l,
		    "; the box at %s was asked which rank it waits for and has not answered for "
		    "%llu ms",
		    rf_ip_text(g->comm->box_ip, ip),
		    (unsigned long long)((now - b->asked) / NS_PER_MS));
		return;
	}
	most = b->rank[0].next;
	for (r = 1; r < g->comm->ranks; r++)
		if (below(most, b->rank[r].next))
			most = b->rank[r].next;
	for (r = 0; r < g->comm->ranks; r++) {
		if (!below(b->rank[r].next, most))
			continue;
		set[r / 8] |= (uint8_t)(1u << (r % 8));
		count++;
	}
	if (!count) {
		add_delivery(&l, g);
		return;
	}
	add(&l, "; the box waits for %s (", rf_store_ranks_text(set, ranks, sizeof(ranks)));
	for (r = 0; r < g->comm->ranks && named < RANKS_NAMED; r++) {
		if (!(set[r / 8] >> (r % 8) & 1u))
			continue;
		add(&l, "%s", named++ ? "; " : "");
		add_rank(&l, g, r, most, now);
	}
	add(&l, count > named ? "; ...)" : ")");
}
