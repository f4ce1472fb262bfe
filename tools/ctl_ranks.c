/* ringfold ctl ranks, stragglers, drop: the groups of one job. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "host/config/settings.h"
#include "tools/ctl.h"
#include "base/opt.h"

#define GROUPS_MAX 64u

static bool is_active(unsigned int state)
{
	return state == RF_CTL_S_JOINING || state == RF_CTL_S_READY || state == RF_CTL_S_DRAINING;
}

/* Adds a number unless it is already in the list. */
static unsigned int add(uint16_t *number, unsigned int count, uint16_t value)
{
	for (unsigned int i = 0; i < count; i++)
		if (number[i] == value)
			return count;
	if (count < GROUPS_MAX)
		number[count++] = value;
	return count;
}

/*
 * Collects the numbers of the job's groups: the active ones, or if there are none, those that the
 * box remembers. Returns their count, or -1.
 */
static int find_groups(struct ctl *c, uint16_t *number)
{
	uint16_t old[GROUPS_MAX];
	unsigned int first = 0, total, alive = 0, ended = 0;

	do {
		const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_GROUPS, (uint16_t)first);

		if (!a)
			return -1;
		total = a->u.groups.total;
		for (unsigned int i = 0; i < a->u.groups.count; i++) {
			const struct rf_ctl_group_entry *e = &a->u.groups.entry[i];

			if (e->job != c->job)
				continue;
			if (is_active(e->state))
				alive = add(number, alive, e->group);
			else
				ended = add(old, ended, e->group);
		}
		if (a->u.groups.count == 0)
			break;
		first += a->u.groups.count;
	} while (first < total);
	for (unsigned int i = 0; alive == 0 && i < ended; i++)
		number[i] = old[i];
	return (int)(alive > 0 ? alive : ended);
}

/* Whether the key is the operator's; if not, acts as c->job from now on. */
bool ctl_is_operator(struct ctl *c)
{
	const struct rf_ctl_reply *a;

	/* With --watch it is known from the previous query. */
	if (c->link.job != RF_CTL_JOB_OPERATOR)
		return false;
	c->quiet = true;
	a = ctl_page(c, RF_CTL_PAGE_BOX, 0);
	c->quiet = false;
	if (a)
		return true;
	a = rf_client_answer(&c->asker);
	/* Any other error will be reported by the actual query. */
	if (!a || a->result != RF_CTL_FAILED ||
	    (a->u.failed.reason != RF_CTL_R_TAG && a->u.failed.reason != RF_CTL_R_KEY_UNKNOWN))
		return true;
	ctl_speak_for(c, c->job);
	return false;
}

/* Calls a function for the given group, or for each group of c->job; returns an exit code. */
int ctl_each_group(struct ctl *c, int (*each)(struct ctl *c, void *arg), void *arg)
{
	uint16_t number[GROUPS_MAX];
	int count = c->all_groups ? find_groups(c, number) : 0;
	int rc = RF_EXIT_GOOD;

	if (count < 0)
		return RF_EXIT_FAILED;
	/* If there is no group, the box reports it. */
	if (count == 0)
		return each(c, arg);
	for (int i = 0; i < count && rc == RF_EXIT_GOOD; i++) {
		c->group = number[i];
		rc = each(c, arg);
	}
	return rc;
}

static int drop(struct ctl *c, void *arg)
{
	(void)arg;
	if (rf_client_drop(&c->asker, c->job, (uint16_t)c->group, RF_CTL_ABORT_USER,
			   boxlink_now()) != 0 ||
	    !ctl_answer(c, &c->asker))
		return RF_EXIT_FAILED;
	printf("job %" PRIu64 " group %u: ended\n", c->job, c->group);
	return RF_EXIT_GOOD;
}

int ctl_drop(struct ctl *c)
{
	return ctl_each_group(c, drop, NULL);
}

/* ---- ranks ---- */

struct ranks {
	json_t *rows;
	bool over; /* a group has ended */
};

static const char *state_of(unsigned int flags, unsigned int group)
{
	/* A group that has ended has no members any more. */
	if (!is_active(group))
		return rf_ctl_state_text(group);
	if (flags & RF_CTL_RANK_GONE)
		return "gone";
	if (flags & RF_CTL_RANK_LEFT)
		return "left";
	return flags & RF_CTL_RANK_JOINED ? "joined" : "missing";
}

static const char *kind_of(unsigned int flags)
{
	if (flags & RF_CTL_RANK_SILENT)
		return flags & RF_CTL_RANK_MIRROR ? "mirror, silent" : "ring, silent";
	return flags & RF_CTL_RANK_MIRROR ? "mirror" : "ring";
}

static void add_rank(const struct ctl *c, const struct rf_ctl_rank *k, unsigned int rank,
		     const struct rf_ctl_lag_page *lag, const struct rf_ctl_group_page *g,
		     json_t *rows)
{
	json_t *o = json_pack("{}");
	unsigned int at = rank - lag->first;
	char ip[16], mac[18];

	ctl_number(o, "rank", rank);
	json_object_set_new(o, "state", json_string(state_of(k->flags, g->state)));
	ctl_number(o, "port", k->port);
	ctl_number(o, "lane", k->lane);
	ctl_number(o, "age_ms", k->age_ms);
	ctl_number(o, "next", k->next);
	ctl_number(o, "sent", k->sent);
	ctl_number(o, "una", k->una);
	ctl_number(o, "awaited_ms", lag->awaited == rank ? lag->awaited_ms : 0u);
	ctl_number(o, "last", at < lag->count ? lag->rank[at].times : 0u);
	ctl_number(o, "last_most_us", at < lag->count ? lag->rank[at].most_us : 0u);
	json_object_set_new(o, "kind", json_string(kind_of(k->flags)));
	json_object_set_new(o, "port_ip",
			    json_string(k->port_ip ? rf_ip_text(k->port_ip, ip) : "-"));
	json_object_set_new(o, "mac", json_string(ctl_mac(mac, k->mac)));
	ctl_number(o, "group", c->group);
	json_object_set_new(o, "reason", json_string(rf_ctl_reason_name(g->reason)));
	json_array_append_new(rows, o);
}

/* Ranks from which no data has arrived yet. */
struct unseen {
	unsigned int count;
	unsigned int rank[CTL_RANKS_MAX];
};

/* The immediate of an error, or both values of a disagreement. */
static void print_values(const struct rf_ctl_group_page *g)
{
	const struct rf_ctl_other *o = &g->fail_other;
	const char *form = o->what == RF_CTL_WHAT_LENGTH ? "%u bytes" : "immediate %08x";
	char its[32], other[32], ip[16];

	snprintf(its, sizeof(its), form, g->fail_detail);
	snprintf(other, sizeof(other), form, o->value);
	if (g->reason == RF_CTL_R_IMMEDIATE || g->reason == RF_CTL_R_ORDER)
		fprintf(stderr, ": %s", its);
	if (g->reason == RF_CTL_R_DISAGREE && *rf_ctl_what_text(o->what))
		fprintf(stderr, " in %s: it has %s, %s %s", rf_ctl_what_text(o->what), its,
			o->rank == RF_CTL_NO_RANK ? "another rank" : "the first rank", other);
	if (o->box_ip != 0)
		fprintf(stderr, ", at the box %s", rf_ip_text(o->box_ip, ip));
}

/* Prints on stderr why a group has ended. */
static void print_end(const struct ctl *c, const struct rf_ctl_group_page *g)
{
	fprintf(stderr, "ringfold ctl: job %" PRIu64 " group %u: %s", c->job, c->group,
		rf_ctl_state_text(g->state));
	if (g->reason != RF_CTL_R_NONE)
		fprintf(stderr, ": %s: %s", rf_ctl_reason_name(g->reason),
			rf_ctl_reason_text(g->reason));
	if (g->reason == RF_CTL_R_WRONG_QPN)
		fprintf(stderr,
			" (rank %u): it sends to %u.%u.%u.%u, queue pair %u: the rank at that "
			"address has another recv= (or send= and recv= are exchanged), or was not "
			"registered; if another program sends there, register with --others pass",
			g->fail_rank, g->fail_index >> 24, g->fail_index >> 16 & 0xffu,
			g->fail_index >> 8 & 0xffu, g->fail_index & 0xffu, g->fail_detail);
	else if (g->fail_rank != RF_CTL_NO_RANK)
		fprintf(stderr, " (rank %u, index %u)", g->fail_rank, g->fail_index);
	if (g->reason == RF_CTL_R_BEFORE_START)
		fprintf(stderr, ": it sends PSN %u", g->fail_detail);
	print_values(g);
	fputc('\n', stderr);
}

/*
 * Lists ranks registered by hand from which the box has seen no data on the registered connection.
 * If they have sent, recv= is wrong, and with --others pass their data passes unchanged.
 */
static void print_unseen(const struct ctl *c, const struct rf_ctl_group_page *g,
			 const struct unseen *u)
{
	if (c->json || g->state != RF_CTL_S_READY || !(g->flags & RF_CTL_J_STRICT) || u->count == 0)
		return;
	fprintf(stderr, "ringfold ctl: job %" PRIu64 " group %u: no data has arrived from rank",
		c->job, c->group);
	for (unsigned int i = 0; i < u->count; i++)
		fprintf(stderr, "%s %u", i ? "," : "", u->rank[i]);
	if (g->flags & RF_CTL_J_OTHERS)
		fprintf(stderr, " on the registered connection. If it has sent, the recv= "
				"of the rank after it is wrong, and its data passes unchanged\n");
	else
		fprintf(stderr, " on the registered connection\n");
}

static int add_ranks(struct ctl *c, void *arg)
{
	struct ranks *to = arg;
	const struct rf_ctl_reply *answer = ctl_page(c, RF_CTL_PAGE_GROUP, 0);
	struct rf_ctl_group_page g;
	struct unseen unseen = {0};
	unsigned int first = 0, total, count;

	if (!answer)
		return RF_EXIT_FAILED;
	g = answer->u.group;
	do {
		const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_LAG, (uint16_t)first);
		struct rf_ctl_lag_page lag;

		if (!a)
			return RF_EXIT_FAILED;
		lag = a->u.lag;
		a = ctl_page(c, RF_CTL_PAGE_RANKS, (uint16_t)first);
		if (!a)
			return RF_EXIT_FAILED;
		total = a->u.ranks.ranks;
		count = a->u.ranks.count;
		for (unsigned int i = 0; i < count; i++) {
			const struct rf_ctl_rank *k = &a->u.ranks.rank[i];

			add_rank(c, k, first + i, &lag, &g, to->rows);
			if (k->next == 0 && unseen.count < CTL_RANKS_MAX)
				unseen.rank[unseen.count++] = first + i;
		}
		first += count;
	} while (count > 0 && first < total);
	print_unseen(c, &g, &unseen);
	if (!is_active(g.state)) {
		print_end(c, &g);
		to->over = true;
	}
	return RF_EXIT_GOOD;
}

int ctl_ranks(struct ctl *c)
{
	struct ranks to = {json_array(), false};
	int rc = ctl_is_operator(c) ? ctl_each_group(c, add_ranks, &to) : add_ranks(c, &to);

	if (rc == RF_EXIT_GOOD)
		ctl_print_table(c, to.rows);
	else
		json_decref(to.rows);
	return rc == RF_EXIT_GOOD && to.over ? RF_EXIT_FAILED : rc;
}

/* ---- stragglers ---- */

/* Lower end of a bin in microseconds. */
static uint32_t bin_from(unsigned int bin)
{
	return bin == 0 ? 0u : 1u << (bin - 1);
}

static json_t *bins_of(const struct rf_ctl_lag_page *lag)
{
	json_t *bins = json_array();

	for (unsigned int i = 0; i < lag->bins; i++) {
		json_t *o;

		if (lag->bin[i] == 0)
			continue;
		o = json_object();
		ctl_number(o, "from_us", bin_from(i));
		if (i + 1 < RF_CTL_LAG_BINS)
			ctl_number(o, "below_us", bin_from(i + 1));
		ctl_number(o, "times", lag->bin[i]);
		json_array_append_new(bins, o);
	}
	return bins;
}

static uint64_t measurements(const struct rf_ctl_lag_page *lag)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < lag->bins; i++)
		sum += lag->bin[i];
	return sum;
}

static void print_lag(const struct ctl *c, const struct rf_ctl_lag_page *lag, json_t *o)
{
	uint64_t all = measurements(lag), most = 1;

	printf("job %" PRIu64 " group %u: %" PRIu64 " measurements", c->job, c->group, all);
	if (all > 0)
		printf(", the last rank %" PRIu64 " us after the first on average",
		       lag->sum_us / all);
	if (lag->awaited != RF_CTL_NO_RANK)
		printf("; rank %u is awaited, for %u ms now", lag->awaited, lag->awaited_ms);
	putchar('\n');
	for (unsigned int i = 0; i < lag->bins; i++)
		most = lag->bin[i] > most ? lag->bin[i] : most;
	for (unsigned int i = 0; i < lag->bins; i++)
		if (lag->bin[i] > 0)
			printf("%10u us and more %10u  %.*s\n", bin_from(i), lag->bin[i],
			       (int)((40 * (uint64_t)lag->bin[i] + most - 1) / most),
			       "########################################");
	for (unsigned int i = 0; i < lag->count; i++)
		if (lag->rank[i].times > 0)
			printf("rank %4u: the last %u times, by at most %u us\n", lag->first + i,
			       lag->rank[i].times, lag->rank[i].most_us);
	json_decref(o);
}

static int add_lag(struct ctl *c, void *list)
{
	const struct rf_ctl_reply *a = ctl_page(c, RF_CTL_PAGE_LAG, 0);
	const struct rf_ctl_lag_page *lag;
	json_t *o, *ranks;

	if (!a)
		return RF_EXIT_FAILED;
	lag = &a->u.lag;
	ranks = json_array();
	for (unsigned int i = 0; i < lag->count; i++)
		json_array_append_new(ranks,
				      json_pack("{si sI sI}", "rank", (int)(lag->first + i),
						"times", (json_int_t)lag->rank[i].times, "most_us",
						(json_int_t)lag->rank[i].most_us));
	o = json_object();
	ctl_number(o, "job", c->job);
	ctl_number(o, "group", c->group);
	ctl_number(o, "measurements", measurements(lag));
	ctl_number(o, "sum_us", lag->sum_us);
	if (lag->awaited != RF_CTL_NO_RANK) {
		ctl_number(o, "awaited", lag->awaited);
		ctl_number(o, "awaited_ms", lag->awaited_ms);
	}
	json_object_set_new(o, "bins", bins_of(lag));
	json_object_set_new(o, "ranks", ranks);
	if (c->json)
		json_array_append_new(list, o);
	else
		print_lag(c, lag, o);
	return RF_EXIT_GOOD;
}

int ctl_stragglers(struct ctl *c)
{
	json_t *list = json_array();
	int rc = ctl_is_operator(c) ? ctl_each_group(c, add_lag, list) : add_lag(c, list);

	if (rc == RF_EXIT_GOOD && c->json) {
		json_dumpf(list, stdout, JSON_INDENT(1));
		putchar('\n');
	}
	json_decref(list);
	return rc;
}
