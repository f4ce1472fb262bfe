/*
 * The job: the processes that may be ranks of communicators. They meet at the store of rank 0 when
 * the first communicator of each is made, and leave together with the last.
 */
#include "host/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/env.h"
#include "host/config/settings.h"
#include "proto/rf_bytes.h"

/* Bytes of the card that every process publishes: MAC, IP, MTU, version. */
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

/* What only the making of the job needs. */
struct settings {
	char root[RF_ROOT_ROOM];
	uint64_t port;
};

/* Rank and number of ranks: of the config, the context, or the environment. */
static int ranks_setting(struct rf_context *ctx, const struct rf_comm_config *config, char *why,
			 size_t room)
{
	struct rf_env env = {0};
	int ret = rf_env_read(&env, why, room);

	if (CONFIG(config, ranks, 0)) {
		env.rank = config->rank;
		env.ranks = config->ranks;
		ret = RF_OK;
	} else if (ctx->ranks) {
		env.rank = ctx->rank;
		env.ranks = ctx->ranks;
		ret = RF_OK;
	}
	if (!ret && (env.ranks > RF_RANKS_MAX || env.rank >= env.ranks)) {
		snprintf(why, room, "rank %u of %u: at most %u ranks, and rank below their number",
			 env.rank, env.ranks, RF_RANKS_MAX);
		ret = RF_ERR_INVALID;
	}
	ctx->job.rank = env.rank;
	ctx->job.ranks = env.ranks;
	return ret;
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* Where rank 0 is. "" if the processes are to find out: by allgather(), and nothing is set. */
static int root_setting(const struct rf_comm_config *config, bool find, char root[RF_ROOT_ROOM],
			char *why, size_t room)
{
	const char *text = CONFIG(config, root, NULL);

	if (!text && !is_set("RF_ROOT") && is_set("MASTER_ADDR"))
		text = getenv("MASTER_ADDR");
	else if (!text && (is_set("RF_ROOT") || !find))
		text = rf_setting_text("RF_ROOT");
	if (text && strlen(text) >= RF_ROOT_ROOM) {
		snprintf(why, room, "the name in RF_ROOT is longer than %u bytes",
			 RF_ROOT_ROOM - 1);
		return RF_ERR_INVALID;
	}
	snprintf(root, RF_ROOT_ROOM, "%s", text ? text : "");
	return RF_OK;
}

static int settings(struct rf_context *ctx, const struct rf_comm_config *config, struct settings *s,
		    char *why, size_t room)
{
	struct rf_job *job = &ctx->job;
	const char *key = CONFIG(config, key, NULL);
	bool find = CONFIG(config, allgather, NULL) != NULL;
	uint64_t timeout_ms = CONFIG(config, timeout_ms, 0);
	int ret = ranks_setting(ctx, config, why, room);

	if (!ret)
		ret = root_setting(config, find, s->root, why, room);
	s->port = CONFIG(config, port, 0);
	job->number = CONFIG(config, job, 0);
	if (!ret && s->port > 65535) {
		snprintf(why, room, "port %llu: expected a number from 1 to 65535",
			 (unsigned long long)s->port);
		ret = RF_ERR_INVALID;
	}
	if (!ret && !s->port && !(find && !is_set("RF_PORT")))
		ret = rf_setting_number("RF_PORT", 1, 65535, &s->port, why, room);
	if (!ret && !timeout_ms)
		ret = rf_setting_number("RF_TIMEOUT", 1, 86400000, &timeout_ms, why, room);
	if (!ret && !job->number && *rf_setting_text("RF_JOB"))
		ret = rf_setting_number("RF_JOB", 1, UINT64_MAX, &job->number, why, room);
	if (!ret)
		ret = rf_hex_parse("key of the job (RF_KEY)", key ? key : rf_setting_text("RF_KEY"),
				   job->key, sizeof(job->key), why, room);
	job->timeout_ms = (unsigned int)timeout_ms;
	if (!ret && job->ranks > 1 && !ctx->io) {
		snprintf(why, room,
			 "%u ranks need a network device: set RF_DEVICE, such as "
			 "net_af_packet0,iface=eth1",
			 job->ranks);
		ret = RF_ERR_DEVICE;
	}
	return ret;
}

static void card_write(const struct rf_context *ctx, uint8_t card[CARD])
{
	memset(card, 0, CARD);
	memcpy(card, ctx->io->mac, 6);
	rf_put_be32(card + 6, ctx->ip);
	rf_put_be32(card + 10, ctx->mtu);
	rf_put_be16(card + 14, RF_VERSION_MAJOR);
	rf_put_be16(card + 16, RF_VERSION_MINOR);
}

/* Processes all cards: stores the addresses and checks that the rest is equal. */
static int cards_read(struct rf_job *job, const uint8_t *cards, char *why, size_t room)
{
	for (unsigned int r = 0; r < job->ranks; r++) {
		const uint8_t *card = cards + r * CARD;

		memcpy(job->peers[r].mac, card, 6);
		job->peers[r].ip = rf_get_be32(card + 6);
		if (memcmp(card + 10, cards + 10, CARD - 10) == 0)
			continue;
		snprintf(why, room,
			 "rank %u (MTU %u, version %u.%u) and rank 0 (MTU %u, version %u.%u) "
			 "differ: set RF_MTU to the same value on all ranks, and use one version",
			 r, rf_get_be32(card + 10), rf_get_be16(card + 14), rf_get_be16(card + 16),
			 rf_get_be32(cards + 10), rf_get_be16(cards + 14), rf_get_be16(cards + 16));
		return RF_ERR_MISMATCH;
	}
	return RF_OK;
}

/* Adds the remedy to the text that names the ranks that are missing. */
static void missing_text(const struct rf_job *job, char *why, size_t room)
{
	unsigned int other = rf_store_server_other(job->server);
	size_t used = strlen(why);

	if (used >= room)
		return;
	if (other)
		snprintf(why + used, room - used,
			 ": a process of another release of ringfold has called, with version %u "
			 "of the store: use one release on all ranks",
			 other);
	else
		snprintf(why + used, room - used, ": start the missing ones, or raise RF_TIMEOUT");
}

/* Starts the store, waits for all processes and exchanges cards. */
static int begin(struct rf_context *ctx, const struct rf_comm_config *config, struct settings *s,
		 char *why, size_t room)
{
	struct rf_job *job = &ctx->job;
	uint8_t card[CARD];
	uint8_t cards[RF_RANKS_MAX * CARD];
	int ret = RF_OK;

	while (job->rank == 0 && !job->number) {
		rf_random(&job->number, sizeof(job->number));
		job->number >>= 64 - JOB_BITS;
	}
	if (job->ranks == 1)
		return RF_OK;
	if (CONFIG(config, allgather, NULL))
		ret = rf_bootstrap(job, config, s->root, &s->port, why, room);
	else if (job->rank == 0)
		ret = rf_store_serve(s->root, (unsigned int)s->port, job->ranks, job->number,
				     job->key, &job->server, why, room);
	if (!ret)
		ret = rf_store_connect(s->root, (unsigned int)s->port, job->rank, job->ranks,
				       &job->number, job->key, job->timeout_ms, &job->store, why,
				       room);
	if (ret)
		return ret;
	card_write(ctx, card);
	ret = rf_store_gather(job->store, "the start of the job", card, sizeof(card), cards,
			      job->timeout_ms, why, room);
	if (ret == RF_ERR_RANK_MISSING)
		missing_text(job, why, room);
	return ret ? ret : cards_read(job, cards, why, room);
}

static void release(struct rf_job *job, unsigned int linger_ms)
{
	rf_store_close(job->store);
	rf_store_server_stop(job->server, linger_ms);
	memset(job, 0, sizeof(*job));
}

static void job_log(struct rf_context *ctx, const struct settings *s)
{
	int unknown = RF_LOG_NO_RANK;

	atomic_compare_exchange_strong(&ctx->log.rank, &unknown, (int)ctx->job.rank);
	if (ctx->job.ranks > 1)
		rf_log_line(&ctx->log, RF_LOG_TRACE, "job %llu of %u processes, store %s:%llu",
			    (unsigned long long)ctx->job.number, ctx->job.ranks, s->root,
			    (unsigned long long)s->port);
}

/* The job changes to another state, and nobody else uses it from here on. */
static void change(struct rf_context *ctx, enum rf_job_state to) RF_REQUIRES(rf_context_class)
{
	ctx->job_state = to;
	pthread_cond_broadcast(&ctx->cond);
}

/* A later config may repeat the rank, but not change it. */
static int same_rank(struct rf_context *ctx, const struct rf_comm_config *config)
{
	if (!CONFIG(config, ranks, 0) ||
	    (config->rank == ctx->job.rank && config->ranks == ctx->job.ranks))
		return RF_OK;
	return rf_fail(ctx, RF_ERR_INVALID,
		       "this context is rank %u of %u already, and cannot be rank %u of %u",
		       ctx->job.rank, ctx->job.ranks, config->rank, config->ranks);
}

int rf_job_take(struct rf_context *ctx, const struct rf_comm_config *config)
{
	struct settings s = {0};
	char why[RF_TEXT_MAX];
	int ret;

	rf_lock(ctx);
	while (ctx->job_state == RF_JOB_CHANGING)
		rf_sleep(ctx, RF_NEVER);
	if (ctx->job_state == RF_JOB_UP) {
		ret = same_rank(ctx, config);
		ctx->n_comms += !ret;
		rf_unlock(ctx);
		return ret;
	}
	change(ctx, RF_JOB_CHANGING);
	rf_unlock(ctx);
	ret = settings(ctx, config, &s, why, sizeof(why));
	if (!ret)
		ret = begin(ctx, config, &s, why, sizeof(why));
	if (ret)
		release(&ctx->job, 0);
	rf_lock(ctx);
	ctx->n_comms += !ret;
	change(ctx, ret ? RF_JOB_NONE : RF_JOB_UP);
	rf_unlock(ctx);
	if (ret)
		return rf_fail(ctx, ret, "%s", why);
	if (ctx->io)
		ctx->io->ops->wake(ctx->io);
	job_log(ctx, &s);
	return RF_OK;
}

void rf_job_drop(struct rf_context *ctx, unsigned int timeout_ms)
{
	struct rf_store_gather end = {.name = "the end of the job", .timeout_ms = timeout_ms};
	bool last;

	rf_lock(ctx);
	last = --ctx->n_comms == 0;
	if (last && !ctx->job.store)
		change(ctx, RF_JOB_NONE);
	rf_unlock(ctx);
	if (!last || !ctx->job.store)
		return;
	/* others may still need rank 0's store, and this process's last acknowledgements */
	rf_job_gather(ctx, &end, NULL);
	rf_lock(ctx);
	last = ctx->n_comms == 0;
	if (last)
		change(ctx, RF_JOB_CHANGING);
	rf_unlock(ctx);
	if (!last)
		return;
	release(&ctx->job, 1000);
	rf_lock(ctx);
	change(ctx, RF_JOB_NONE);
	rf_unlock(ctx);
}
