/*
 * Which ranks hold a group up, and for how long: fetches the box's STATUS page by page and turns it
 * into text.
 */
#include "host/member/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/config/settings.h"
#include "host/store/store.h"

/* The box's indexes, and their order, are modulo 2^24. */
#define INDEX_MASK 0xffffffu
#define INDEX_HALF 0x800000u
/* How often the box is asked while no data moves. */
#define ASK_NS (1000 * RF_MEMBER_MS)
/* How long the last answer counts while the next is awaited, and a rank that was awaited. */
#define SILENT_NS (2000 * RF_MEMBER_MS)
#define RECENT_NS (5000 * RF_MEMBER_MS)
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

int rf_member_ask(struct rf_member *m, const struct rf_ctl_status_req *req, uint64_t now)
{
	return m->have_client && !m->straggler.asking ? rf_client_status(&m->client, req, now) : -1;
}

bool rf_member_asking(const struct rf_member *m)
{
	return m->have_client &&
	       (m->straggler.asking || rf_client_query(&m->client) == RF_CLIENT_Q_WAITING);
}

const struct rf_ctl_reply *rf_member_answer(const struct rf_member *m)
{
	return m->have_client ? rf_client_answer(&m->client) : NULL;
}

static bool ask_page(struct rf_member *m, unsigned int first, uint64_t now)
{
	struct rf_ctl_status_req ask = {.page = RF_CTL_PAGE_RANKS, .index = (uint16_t)first};

	m->straggler.asking = rf_client_status(&m->client, &ask, now) == 0;
	return m->straggler.asking;
}

bool rf_member_ask_stragglers(struct rf_member *m, uint64_t now)
{
	struct rf_straggler_query *b = &m->straggler;

	if (!m->have_client || b->asking || !ask_page(m, 0, now))
		return false;
	b->asked = now;
	return true;
}

/* What the box's answer means. Ranks are numbered as at this rank's own box. */
struct verdict {
	uint32_t most;         /* the index that the foremost rank has reached */
	uint8_t set[16];       /* ranks that have not reached it */
	unsigned int count;    /* of them */
	unsigned int last;     /* the one that has come least far */
	unsigned int sender;   /* rank on whose connection the fewest results are acknowledged */
	unsigned int receiver; /* the rank that gets these */
	bool delivery;         /* only that one has not acknowledged its results */
	unsigned int blamed;   /* the rank that holds the others up, or NOBODY */
};

static struct verdict judge(const struct rf_member *m)
{
	const struct rf_ctl_rank *rank = m->straggler.rank;
	struct verdict v = {.most = rank[0].next};
	unsigned int ranks = rf_member_ranks_here(m), r;
	bool unacked;

	for (r = 1; r < ranks; r++) {
		v.most = below(v.most, rank[r].next) ? rank[r].next : v.most;
		v.last = below(rank[r].next, rank[v.last].next) ? r : v.last;
		v.sender = below(rank[r].una, rank[v.sender].una) ? r : v.sender;
	}
	for (r = 0; r < ranks; r++) {
		if (!below(rank[r].next, v.most))
			continue;
		v.set[r / 8] |= (uint8_t)(1u << (r % 8));
		v.count++;
	}
	/*
	 * The results on a rank's connection go to the next rank of the ring, or back to a mirror
	 * rank. If the receiver does not acknowledge them, the sender cannot advance: in a ring it
	 * is not late itself.
	 */
	v.receiver = rf_member_receiver_of(m, v.sender);
	unacked = below(rank[v.sender].una, rank[v.sender].sent) &&
		  (!v.count || below(rank[v.sender].una, rank[v.last].next));
	v.blamed = unacked ? v.receiver : v.count ? v.last : RF_MEMBER_NOBODY;
	v.delivery = unacked && !(v.set[v.receiver / 8] >> (v.receiver % 8) & 1u);
	return v;
}

/* As a rank of the group. */
static unsigned int blamed(const struct rf_member *m)
{
	unsigned int late = judge(m).blamed;

	return late == RF_MEMBER_NOBODY ? late : rf_member_rank_here(m, late);
}

/* All ranks' positions are known. */
static void answered(struct rf_member *m, uint64_t now)
{
	unsigned int late;

	m->straggler.answered = now;
	late = blamed(m);
	if (late == RF_MEMBER_NOBODY)
		return;
	m->straggler.awaited = late;
	m->straggler.awaited_at = now;
}

void rf_member_straggler_poll(struct rf_member *m, uint64_t now)
{
	struct rf_straggler_query *b = &m->straggler;
	const struct rf_ctl_reply *reply;
	const struct rf_ctl_ranks_page *page;
	unsigned int k;

	if (!b->asking || rf_client_query(&m->client) == RF_CLIENT_Q_WAITING)
		return;
	b->asking = false;
	m->changes++;
	reply = rf_client_answer(&m->client);
	if (rf_client_query(&m->client) != RF_CLIENT_Q_DONE || !reply ||
	    reply->result != RF_CTL_PAGE || reply->page != RF_CTL_PAGE_RANKS)
		return;
	page = &reply->u.ranks;
	/* without positions: whom the box waited for is in an earlier answer, if anywhere */
	b->ended = page->count && page->rank[0].flags & RF_CTL_RANK_IDLE;
	if (b->ended)
		return;
	for (k = 0; k < page->count && page->first + k < rf_member_ranks_here(m); k++)
		b->rank[page->first + k] = page->rank[k];
	if (page->count && page->first + k < rf_member_ranks_here(m))
		ask_page(m, page->first + k, now);
	else
		answered(m, now);
}

/*
 * Whether the box has answered, if not the last question then one shortly before; or the last one
 * before the group ended.
 */
static bool has_answered(const struct rf_straggler_query *b, uint64_t now)
{
	return b->answered && (b->ended || b->answered >= b->asked || now - b->asked < SILENT_NS);
}

unsigned int rf_member_straggler(const struct rf_member *m, uint64_t now)
{
	return has_answered(&m->straggler, now) ? blamed(m) : RF_MEMBER_NOBODY;
}

unsigned int rf_member_last_straggler(const struct rf_member *m, uint64_t now)
{
	const struct rf_straggler_query *b = &m->straggler;
	unsigned int late = rf_member_straggler(m, now);

	if (late == RF_MEMBER_NOBODY && b->awaited_at && now - b->awaited_at < RECENT_NS)
		return b->awaited;
	return late;
}

uint64_t rf_member_ask_due(const struct rf_member *m)
{
	uint64_t half = m->stall_due - m->cfg.timeout_ns / 2;
	uint64_t first = half < m->moved_at + ASK_NS ? half : m->moved_at + ASK_NS;

	if (!m->have_client || rf_member_asking(m))
		return RF_MEMBER_NEVER;
	return m->straggler.asked < first ? first : m->straggler.asked + ASK_NS;
}

/* One rank that the box waits for: what is missing, and when its process was last heard from. */
static void add_rank(struct line *l, const struct rf_member *m, unsigned int number, uint32_t most,
		     uint64_t now)
{
	const struct rf_ctl_rank *k = &m->straggler.rank[number];
	uint64_t age = k->age_ms + (now - m->straggler.answered) / RF_MEMBER_MS;
	unsigned int r = rf_member_rank_here(m, number);

	if (r == RF_MEMBER_NOBODY)
		add(l, "the box below that is its rank %u: ", number);
	else
		add(l, "rank %u: ", r);
	if (k->flags & RF_CTL_RANK_GONE)
		add(l, "its lease has expired, ");
	else if (k->flags & RF_CTL_RANK_LEFT)
		add(l, "it has left, ");
	add(l, "packet %u of %u, last heard from %llu ms ago", k->next & INDEX_MASK,
	    most & INDEX_MASK, (unsigned long long)age);
}

/* Which ranks of the group are in a set of numbers at the box. Returns how many. */
static unsigned int late_ranks(const struct rf_member *m, const uint8_t set[16], uint8_t late[16])
{
	unsigned int count = 0;

	memset(late, 0, 16);
	for (unsigned int i = 0; i < rf_member_ranks_here(m); i++) {
		unsigned int r = rf_member_rank_here(m, i);

		if (r == RF_MEMBER_NOBODY || !(set[i / 8] >> (i % 8) & 1u))
			continue;
		late[r / 8] |= (uint8_t)(1u << (r % 8));
		count++;
	}
	return count;
}

/* No rank is late with its packets: names the rank that has not acknowledged its results. */
static void add_delivery(struct line *l, const struct rf_member *m, const struct verdict *v)
{
	const struct rf_ctl_rank *k = &m->straggler.rank[v->sender];

	if (!v->delivery && m->cfg.tree && m->cfg.tree->boxes > 1)
		add(l, "; no rank at this box is late: it waits for other boxes");
	else if (v->delivery)
		add(l, "; the box has %s, and waits for rank %u to acknowledge result %u of %u",
		    v->count ? "sent its results" : "the packets of all ranks",
		    rf_member_rank_here(m, v->receiver), k->una & INDEX_MASK, k->sent & INDEX_MASK);
	else
		add(l, "; the box has delivered everything it has received: no rank is late");
}

void rf_member_stragglers_text(const struct rf_member *m, uint64_t now, char *text, size_t room)
{
	const struct rf_straggler_query *b = &m->straggler;
	struct line l = {text, room, 0};
	char ranks[200], ip[16];
	struct verdict v;
	unsigned int r, named = 0;
	uint8_t late[sizeof(v.set)];

	text[0] = '\0';
	if (!m->have_client || !b->asked)
		return;
	if (b->ended && !b->answered) {
		add(&l, "; the box has ended the group");
		return;
	}
	if (!has_answered(b, now)) {
		add(&l,
		    "; the box at %s was asked which rank it waits for and has not answered for "
		    "%llu ms",
		    rf_ip_text(m->cfg.client.box_ip, ip),
		    (unsigned long long)((now - b->asked) / RF_MEMBER_MS));
		return;
	}
	v = judge(m);
	if (v.blamed == RF_MEMBER_NOBODY && rf_member_last_straggler(m, now) != RF_MEMBER_NOBODY) {
		add(&l, "; the box waited for rank %u until %llu ms ago, and has all packets now",
		    b->awaited, (unsigned long long)((now - b->awaited_at) / RF_MEMBER_MS));
		return;
	}
	if (v.delivery || !v.count) {
		add_delivery(&l, m, &v);
		return;
	}
	add(&l, "; the box waits for %s (",
	    late_ranks(m, v.set, late) ? rf_store_ranks_text(late, ranks, sizeof(ranks))
				       : "other boxes");
	for (r = 0; r < rf_member_ranks_here(m) && named < RANKS_NAMED; r++) {
		if (!(v.set[r / 8] >> (r % 8) & 1u))
			continue;
		add(&l, "%s", named++ ? "; " : "");
		add_rank(&l, m, r, v.most, now);
	}
	add(&l, v.count > named ? "; ...)" : ")");
}
