/* The communicator: its settings, its ranks and the store. */
#include "host/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/env.h"
#include "host/config/settings.h"
#include "proto/rf_bytes.h"

/* Bytes of the card that every rank publishes: MAC, IP, MTU, schedule, timeout. */
#define CARD 24u
/*
 * Bits of a job number chosen here: JSON readers represent whole numbers exactly only up to 2^53.
 */
#define JOB_BITS 53

#define CONFIG(config, member, absent)                                                             \
	((config) && (config)->size >= offsetof(struct rf_comm_config, member) +                   \
					       sizeof((config)->member)                            \
		 ? (config)->member                                                                \
		 : (absent))

/* Settings that must be the same on all ranks. */
struct comm_settings {
	struct rf_env env;
	const char *root;
	uint64_t port, timeout_ms, job;
};

static int schedule_setting(enum rf_schedule wanted, enum rf_schedule *schedule, char *why,
			    size_t room)
{
	const char *text = rf_setting_text("RF_SCHEDULE");

	*schedule = wanted;
	if (wanted != RF_SCHEDULE_DEFAULT)
		return RF_OK;
	if (strcmp(text, "box") == 0)
		*schedule = RF_SCHEDULE_BOX;
	else if (strcmp(text, "ring") == 0)
		*schedule = RF_SCHEDULE_RING;
	if (*schedule != RF_SCHEDULE_DEFAULT)
		return RF_OK;
	snprintf(why, room, "RF_SCHEDULE=%s: expected box or ring", text);
	return RF_ERR_INVALID;
}

static int comm_settings(struct rf_comm *comm, const struct rf_comm_config *config,
			 struct comm_settings *s, char *why, size_t room)
{
	const char *root = CONFIG(config, root, NULL);
	const char *box_ip = CONFIG(config, box_ip, NULL);
	const char *key = CONFIG(config, key, NULL);
	uint64_t box_timeout_ms = 0;
	int ret = rf_env_read(&s->env, why, room);

	if (CONFIG(config, ranks, 0)) {
		s->env.rank = config->rank;
		s->env.ranks = config->ranks;
		if (!s->env.root)
			s->env.root = rf_setting_text("RF_ROOT");
		ret = RF_OK;
	}
	if (!ret && (s->env.ranks > RF_RANKS_MAX || s->env.rank >= s->env.ranks)) {
		snprintf(why, room, "rank %u of %u: at most %u ranks, and rank below their number",
			 s->env.rank, s->env.ranks, RF_RANKS_MAX);
		ret = RF_ERR_INVALID;
	}
	s->root = root ? root : s->env.root;
	s->port = CONFIG(config, port, 0);
	s->timeout_ms = CONFIG(config, timeout_ms, 0);
	s->job = CONFIG(config, job, 0);
	if (!ret && !s->port)
		ret = rf_setting_number("RF_PORT", 1, 65535, &s->port, why, room);
	if (!ret && !s->timeout_ms)
		ret = rf_setting_number("RF_TIMEOUT", 1, 86400000, &s->timeout_ms, why, room);
	if (!ret)
		ret = rf_setting_number("RF_BOX_TIMEOUT", 10, 86400000, &box_timeout_ms, why, room);
	if (!ret && !s->job && *rf_setting_text("RF_JOB"))
		ret = rf_setting_number("RF_JOB", 1, UINT64_MAX, &s->job, why, room);
	if (!ret)
		ret = rf_ip_parse("address of the box (RF_BOX_IP)",
				  box_ip ? box_ip : rf_setting_text("RF_BOX_IP"), &comm->box_ip,
				  why, room);
	if (!ret)
		ret = rf_hex_parse("key of the job (RF_KEY)", key ? key : rf_setting_text("RF_KEY"),
				   comm->key, sizeof(comm->key), why, room);
	if (!ret)
		ret = schedule_setting(CONFIG(config, schedule, RF_SCHEDULE_DEFAULT),
				       &comm->schedule, why, room);
	comm->rank = s->env.rank;
	comm->ranks = s->env.ranks;
	comm->timeout_ms = (unsigned int)s->timeout_ms;
	comm->box_timeout_ms = (unsigned int)box_timeout_ms;
	return ret;
}

static void card_write(const struct rf_comm *comm, uint8_t card[CARD])
{
	memset(card, 0, CARD);
	memcpy(card, comm->ctx->io->mac, 6);
	rf_put_be32(card + 6, comm->ctx->ip);
	rf_put_be32(card + 10, comm->ctx->mtu);
	rf_put_be16(card + 14, (uint16_t)comm->schedule);
	rf_put_be16(card + 16, RF_VERSION_MAJOR);
	rf_put_be16(card + 18, RF_VERSION_MINOR);
}

/* Processes all ranks' cards: stores the addresses and checks that the rest is equal. */
static int cards_read(struct rf_comm *comm, const uint8_t *cards, char *why, size_t room)
{
	unsigned int r;
	char ip[16];

	for (r = 0; r < comm->ranks; r++) {
		const uint8_t *card = cards + r * CARD;
		struct rf_member_peer *peer = &comm->peers[r];

		memcpy(peer->mac, card, 6);
		peer->ip = rf_get_be32(card + 6);
		if (memcmp(card + 10, cards + 10, CARD - 10) != 0) {
			snprintf(why, room,
				 "rank %u (MTU %u, schedule %s, version %u.%u) and rank 0 (MTU %u, "
				 "schedule %s, version %u.%u) differ: set RF_MTU and RF_SCHEDULE "
				 "to the same value on all ranks",
				 r, rf_get_be32(card + 10),
				 rf_get_be16(card + 14) == RF_SCHEDULE_RING ? "ring" : "box",
				 rf_get_be16(card + 16), rf_get_be16(card + 18),
				 rf_get_be32(cards + 10),
				 rf_get_be16(cards + 14) == RF_SCHEDULE_RING ? "ring" : "box",
				 rf_get_be16(cards + 16), rf_get_be16(cards + 18));
			return RF_ERR_MISMATCH;
		}
	}
	/* Neighbours in the ring, the last rank and rank 0 among them. */
	for (r = 0; r < comm->ranks; r++) {
		unsigned int next = (r + 1) % comm->ranks;

		if (next == r || comm->peers[next].ip != comm->peers[r].ip)
			continue;
		snprintf(why, room,
			 "ranks %u and %u have the same address %s: give each its own RF_IP", r,
			 next, rf_ip_text(comm->peers[r].ip, ip));
		return RF_ERR_MISMATCH;
	}
	return RF_OK;
}

/* Starts the store, waits for all ranks and exchanges cards. */
static int comm_begin(struct rf_comm *comm, const struct comm_settings *s, char *why, size_t room)
{
	uint8_t card[CARD];
	uint8_t cards[RF_RANKS_MAX * CARD];
	int ret = RF_OK;

	comm->job = s->job;
	while (comm->rank == 0 && !comm->job) {
		rf_random(&comm->job, sizeof(comm->job));
		comm->job >>= 64 - JOB_BITS;
	}
	if (comm->rank == 0)
		ret = rf_store_serve(s->root, (unsigned int)s->port, comm->ranks, comm->job,
				     comm->key, &comm->server, why, room);
	if (!ret)
		ret = rf_store_connect(s->root, (unsigned int)s->port, comm->rank, comm->ranks,
				       &comm->job, comm->key, comm->timeout_ms, &comm->store, why,
				       room);
	if (ret)
		return ret;
	card_write(comm, card);
	ret = rf_store_gather(comm->store, "the start of the job", card, sizeof(card), cards,
			      comm->timeout_ms, why, room);
	if (ret == RF_ERR_RANK_MISSING && strlen(why) + 60 < room)
		strcat(why, ": start the missing ones, or raise RF_TIMEOUT");
	return ret ? ret : cards_read(comm, cards, why, room);
}

static void comm_free(struct rf_comm *comm, unsigned int linger_ms)
{
	rf_store_close(comm->store);
	rf_store_server_stop(comm->server, linger_ms);
	pthread_mutex_destroy(&comm->store_lock);
	free(comm);
}

/* A context has one communicator, also if several threads create one. */
static bool comm_claim(struct rf_context *ctx)
{
	bool had;

	rf_lock(ctx);
	had = ctx->has_comm;
	ctx->has_comm = true;
	rf_unlock(ctx);
	return !had;
}

static void comm_release(struct rf_context *ctx)
{
	rf_lock(ctx);
	ctx->comm = NULL;
	ctx->has_comm = false;
	rf_unlock(ctx);
}

/* One line: who carries the calls, and why. */
static void comm_log(struct rf_comm *comm, const struct comm_settings *s, bool by_config)
{
	struct rf_log *log = &comm->ctx->log;
	const char *set = getenv("RF_SCHEDULE");
	int unknown = RF_LOG_NO_RANK;
	char ip[16], box[48];

	atomic_compare_exchange_strong(&log->rank, &unknown, (int)comm->rank);
	if (comm->ranks == 1) {
		rf_log_line(log, RF_LOG_INFO,
			    "communicator: one rank alone, so every result is a copy");
		return;
	}
	snprintf(box, sizeof(box), "the box %s", rf_ip_text(comm->box_ip, ip));
	rf_log_line(log, RF_LOG_INFO,
		    "communicator: rank %u of %u, job %llu, store %s:%llu; reductions by %s (%s), "
		    "over %s",
		    comm->rank, comm->ranks, (unsigned long long)comm->job, s->root,
		    (unsigned long long)s->port,
		    comm->schedule == RF_SCHEDULE_BOX ? box : "the ranks in a ring, without a box",
		    by_config     ? "set by the program"
		    : set && *set ? "RF_SCHEDULE"
				  : "the default",
		    comm->ctx->verbs ? "verbs" : "ringfold's own transport");
}

int rf_comm_create(struct rf_context *ctx, const struct rf_comm_config *config,
		   struct rf_comm **out)
{
	struct comm_settings s = {0};
	struct rf_comm *comm;
	char why[RF_TEXT_MAX];
	int ret;

	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	if (!out || (config && config->size < sizeof(config->size)))
		return rf_fail(ctx, RF_ERR_INVALID,
			       "config.size is not set: use RF_COMM_CONFIG_INIT");
	comm = calloc(1, sizeof(*comm));
	if (!comm)
		return rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for the communicator");
	pthread_mutex_init(&comm->store_lock, NULL);
	comm->ctx = ctx;
	ret = comm_settings(comm, config, &s, why, sizeof(why));
	if (!ret && comm->ranks > 1 && !ctx->io) {
		snprintf(why, sizeof(why),
			 "%u ranks need a network device: set RF_DEVICE, such as "
			 "net_af_packet0,iface=eth1",
			 comm->ranks);
		ret = RF_ERR_DEVICE;
	}
	if (!ret && !comm_claim(ctx)) {
		snprintf(why, sizeof(why), "this context already has a communicator");
		ret = RF_ERR_BUSY;
	} else if (!ret && comm->ranks > 1) {
		ret = comm_begin(comm, &s, why, sizeof(why));
		if (ret)
			comm_release(ctx);
	}
	if (ret) {
		comm_free(comm, 0);
		return rf_fail(ctx, ret, "%s", why);
	}
	if (comm->store)
		rf_store_set_idle(comm->store, rf_comm_idle, comm);
	rf_lock(ctx);
	ctx->comm = comm;
	rf_unlock(ctx);
	if (ctx->io)
		ctx->io->ops->wake(ctx->io);
	comm_log(comm, &s, CONFIG(config, schedule, RF_SCHEDULE_DEFAULT) != RF_SCHEDULE_DEFAULT);
	*out = comm;
	return RF_OK;
}

int rf_comm_destroy(struct rf_comm *comm)
{
	struct rf_context *ctx;
	unsigned int bound;

	if (!comm)
		return RF_OK;
	ctx = comm->ctx;
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	rf_lock(ctx);
	if (comm->groups) {
		rf_fail(ctx, RF_ERR_BUSY, "destroy the groups first");
		rf_unlock(ctx);
		return RF_ERR_BUSY;
	}
	bound = comm->status || comm->troubled ? 1000 : comm->timeout_ms;
	rf_unlock(ctx);
	rf_comm_gather(comm, "the end of the job", NULL, 0, NULL, bound);
	comm_release(ctx);
	comm_free(comm, 1000);
	return RF_OK;
}

unsigned int rf_comm_rank(const struct rf_comm *comm)
{
	return comm->rank;
}

unsigned int rf_comm_ranks(const struct rf_comm *comm)
{
	return comm->ranks;
}

int rf_comm_barrier(struct rf_comm *comm)
{
	char name[RF_STORE_KEY_MAX];

	if (rf_usable(comm->ctx))
		return RF_ERR_INVALID;
	rf_lock(comm->ctx);
	snprintf(name, sizeof(name), "barrier %u", comm->barriers++);
	rf_unlock(comm->ctx);
	return rf_comm_gather(comm, name, NULL, 0, NULL, comm->timeout_ms);
}
