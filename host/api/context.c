/*
 * The context: device, endpoint, progress thread, statistics.
 */
#include "host/api/api.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/config/env.h"
#include "host/config/settings.h"

/* Frames up to the largest path MTU are accepted, whatever the local MTU is. */
#define FRAME_ROOM (ROCE_FRAME_MAX + 18u)
/* IPv4 packets of a path MTU: no Ethernet header and no tag. Control messages are shorter. */
#define PACKET_MAX(mtu) (ROCE_HEADERS_MAX - 18u + (mtu) + 4u)
#define MAX_QPS (RF_PAIR_QPS * RF_GROUPS_MAX)

/* A config member that the caller's version of the struct may not have. */
#define CONFIG(config, member, absent)                                                             \
	((config) && (config)->size >= offsetof(struct rf_context_config, member) +                \
					       sizeof((config)->member)                            \
		 ? (config)->member                                                                \
		 : (absent))

/* Fills settings from config and environment. Text in rf_error_text. */
static int context_settings(struct rf_context *ctx, const struct rf_context_config *config)
{
	enum rf_progress_mode mode = CONFIG(config, progress, RF_PROGRESS_DEFAULT);
	uint64_t mtu = CONFIG(config, mtu, 0);
	const char *text = rf_setting_text("RF_PROGRESS");
	uint64_t retry, window, spin, cache = CONFIG(config, reg_cache, 0);
	int ret = RF_OK;

	if (!mtu)
		ret = rf_setting_number("RF_MTU", 256, 4096, &mtu, rf_error_text, RF_TEXT_MAX);
	if (!ret && (mtu < 256 || mtu > 4096 || (mtu & (mtu - 1)))) {
		snprintf(rf_error_text, RF_TEXT_MAX,
			 "path MTU %llu: expected 256, 512, 1024, 2048 or 4096 (RF_MTU)",
			 (unsigned long long)mtu);
		ret = RF_ERR_INVALID;
	}
	if (!ret)
		ret = rf_setting_number("RF_RETRY", 1, 60000, &retry, rf_error_text, RF_TEXT_MAX);
	if (!ret)
		ret = rf_setting_number("RF_WINDOW", 1, 65536, &window, rf_error_text, RF_TEXT_MAX);
	if (!ret)
		ret = rf_setting_number("RF_SPIN", 0, 1000000, &spin, rf_error_text, RF_TEXT_MAX);
	if (!ret && !cache)
		ret = rf_setting_number("RF_REG_CACHE", 0, UINT64_MAX, &cache, rf_error_text,
					RF_TEXT_MAX);
	if (ret)
		return ret;
	if ((unsigned int)mode > RF_PROGRESS_MANUAL) {
		snprintf(rf_error_text, RF_TEXT_MAX,
			 "progress %u does not exist: use one of enum rf_progress_mode",
			 (unsigned int)mode);
		return RF_ERR_INVALID;
	}
	if (mode == RF_PROGRESS_DEFAULT && strcmp(text, "manual") == 0)
		mode = RF_PROGRESS_MANUAL;
	else if (mode == RF_PROGRESS_DEFAULT && strcmp(text, "thread") != 0) {
		snprintf(rf_error_text, RF_TEXT_MAX, "RF_PROGRESS=%s: expected thread or manual",
			 text);
		return RF_ERR_INVALID;
	}
	ctx->manual = mode == RF_PROGRESS_MANUAL;
	ctx->mtu = (unsigned int)mtu;
	ctx->retry_ns = retry * RF_NS_PER_MS;
	ctx->window = (uint32_t)window;
	ctx->spin_ns = spin * 1000;
	ctx->reg_cache = cache;
	return RF_OK;
}

/* The router on the way to the box; with ctx->ip and ctx->verbs set. Text in rf_error_text. */
static int context_gateway(struct rf_context *ctx, const struct rf_context_config *config)
{
	const char *text = CONFIG(config, gateway, NULL);
	uint32_t gateway;
	int ret;

	if (!text)
		text = rf_setting_text("RF_GATEWAY");
	if (!*text)
		return RF_OK;
	ret = rf_ip_parse("router on the way to the box (RF_GATEWAY)", text, &gateway,
			  rf_error_text, RF_TEXT_MAX);
	if (ret)
		return ret;
	if (gateway == ctx->ip) {
		snprintf(rf_error_text, RF_TEXT_MAX, "RF_GATEWAY=%s is this host's own address",
			 text);
		return RF_ERR_INVALID;
	}
	if (ctx->verbs)
		rf_log_line(
			&ctx->log, RF_LOG_INFO,
			"RF_GATEWAY is not used over verbs: the system's routes lead to the box");
	else
		ctx->gateway = gateway;
	return RF_OK;
}

/* Opens the capture file; %r in the path is replaced by the rank. */
static int context_pcap(struct rf_context *ctx, const char *path, unsigned int rank)
{
	char full[1024];
	int ret;

	if (!*path)
		return RF_OK;
	rf_rank_text(path, rank, full, sizeof(full));
	ret = rf_pcapng_open(full, NULL, &ctx->pcap);
	if (ret == 0)
		ret = rf_pcapng_interface(ctx->pcap, "host", 0);
	if (ret == 0)
		return RF_OK;
	snprintf(rf_error_text, RF_TEXT_MAX, "cannot write %.300s (RF_PCAP): %s", full,
		 strerror(-ret));
	return RF_ERR_SYSTEM;
}

static int context_endpoint(struct rf_context *ctx, uint32_t ip)
{
	struct roce_endpoint_cfg cfg = {.ip = ip, .max_qps = MAX_QPS};

	memcpy(cfg.mac, ctx->io->mac, sizeof(cfg.mac));
	if (roce_endpoint_create(&cfg, &ctx->ep) != ROCE_OK) {
		snprintf(rf_error_text, RF_TEXT_MAX, "no memory for the endpoint");
		return RF_ERR_NO_MEMORY;
	}
	return RF_OK;
}

static int context_thread(struct rf_context *ctx)
{
	sigset_t all, old;
	int ret;

	/* block all signals: the application's signals must not arrive on this thread */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&ctx->thread, NULL, rf_progress_thread, ctx);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret) {
		snprintf(rf_error_text, RF_TEXT_MAX, "cannot start the progress thread: %s",
			 strerror(ret));
		return RF_ERR_SYSTEM;
	}
	ctx->thread_on = true;
	return RF_OK;
}

/* Nobody else uses it any more. */
static void RF_UNSHARED context_free(struct rf_context *ctx)
{
	if (ctx->thread_on) {
		atomic_store(&ctx->stop, true);
		ctx->io->ops->wake(ctx->io);
		pthread_join(ctx->thread, NULL);
	}
	roce_endpoint_destroy(ctx->ep);
	if (ctx->io)
		ctx->io->ops->close(ctx->io);
	rf_mem_end(ctx);
	rf_verbs_close(ctx->verbs);
	rf_context_pcap_end(ctx);
	if (ctx->event_fd >= 0)
		close(ctx->event_fd);
	rf_log_close(&ctx->log);
	pthread_cond_destroy(&ctx->cond);
	pthread_mutex_destroy(&ctx->lock);
	free(ctx);
}

int rf_context_create_io(const struct rf_context_config *config, struct rf_io *io, uint32_t ip,
			 struct rf_context **out)
{
	return rf_context_create_on(config, io, NULL, ip, out);
}

/*
 * The rank of this process, as far as it is known: of the config, or of the environment. The latter
 * may be wrong, which only those report that need it.
 */
static int context_rank(struct rf_context *ctx, const struct rf_context_config *config, int *known)
{
	struct rf_env env = {0};
	char why[RF_TEXT_MAX];

	*known = RF_LOG_NO_RANK;
	ctx->ranks = CONFIG(config, ranks, 0);
	if (ctx->ranks > RF_RANKS_MAX || (ctx->ranks && config->rank >= ctx->ranks)) {
		snprintf(rf_error_text, RF_TEXT_MAX,
			 "rank %u of %u: at most %u ranks, and rank below their number",
			 config->rank, ctx->ranks, RF_RANKS_MAX);
		return RF_ERR_INVALID;
	}
	if (ctx->ranks) {
		ctx->rank = config->rank;
		*known = (int)ctx->rank;
	} else if (rf_env_read(&env, why, sizeof(why)) == RF_OK) {
		ctx->rank = env.rank;
		if (*env.source)
			*known = (int)env.rank;
	}
	return RF_OK;
}

/* Rank and log, before anything else. */
static int context_log(struct rf_context *ctx, const struct rf_context_config *config)
{
	int rank, ret = context_rank(ctx, config, &rank);

	ctx->log.fd = -1;
	if (ret)
		return ret;
	ret = rf_log_open(&ctx->log, CONFIG(config, log_level, RF_LOG_DEFAULT),
			  CONFIG(config, log, NULL), CONFIG(config, log_arg, NULL), rank,
			  rf_error_text, RF_TEXT_MAX);
	if (!ret)
		rf_settings_warn(rf_log_warn, &ctx->log);
	return ret;
}

/* A context without a device. Nobody else has it yet. */
static int RF_UNSHARED context_new(const struct rf_context_config *config, struct rf_context **out)
{
	struct rf_context *ctx = calloc(1, sizeof(*ctx));
	pthread_condattr_t attr;
	int ret;

	if (!ctx) {
		snprintf(rf_error_text, RF_TEXT_MAX, "no memory for the context");
		return RF_ERR_NO_MEMORY;
	}
	ctx->forks = rf_forks_now();
	ctx->event_fd = -1;
	ctx->called_end = &ctx->called;
	pthread_mutex_init(&ctx->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&ctx->cond, &attr);
	pthread_condattr_destroy(&attr);
	ret = context_log(ctx, config);
	if (ret)
		context_free(ctx);
	else
		*out = ctx;
	return ret;
}

/* Starts work over a device, which the context owns from here on. Destroys the context on failure.
 */
static int context_start(struct rf_context *ctx, const struct rf_context_config *config,
			 struct rf_io *io, struct rf_verbs *verbs, uint32_t ip)
{
	const char *pcap = CONFIG(config, pcap, NULL);
	int ret;

	ctx->io = io;
	ctx->verbs = verbs;
	ctx->ip = ip;
	rf_random(&ctx->next_qpn, sizeof(ctx->next_qpn));
	ret = context_settings(ctx, config);
	if (!ret)
		ret = context_gateway(ctx, config);
	if (!ret && io)
		ret = context_pcap(ctx, pcap ? pcap : rf_setting_text("RF_PCAP"), ctx->rank);
	if (!ret && io)
		ret = context_endpoint(ctx, ip);
	if (!ret && io && !ctx->manual)
		ret = context_thread(ctx);
	if (ret)
		context_free(ctx);
	return ret;
}

int rf_context_create_on(const struct rf_context_config *config, struct rf_io *io,
			 struct rf_verbs *verbs, uint32_t ip, struct rf_context **out)
{
	struct rf_context *ctx = NULL;
	int ret = context_new(config, &ctx);

	if (ret) {
		if (io)
			io->ops->close(io);
		rf_verbs_close(verbs);
		return ret;
	}
	ret = context_start(ctx, config, io, verbs, ip);
	if (!ret)
		*out = ctx;
	return ret;
}

static int mtu_setting(const struct rf_context_config *config, unsigned int *mtu)
{
	uint64_t value = CONFIG(config, mtu, 0);
	int ret = RF_OK;

	if (!value)
		ret = rf_setting_number("RF_MTU", 256, 4096, &value, rf_error_text, RF_TEXT_MAX);
	*mtu = (unsigned int)value;
	return ret;
}

/* Own address: configured, from the interface, or derived from the rank. */
static int context_ip(const char *text, const struct rf_io *io, unsigned int rank, uint32_t *ip)
{
	if (*text)
		return rf_ip_parse("own address (RF_IP)", text, ip, rf_error_text, RF_TEXT_MAX);
	*ip = io->ip ? io->ip : 0x0a000001u + rank;
	return RF_OK;
}

/* Opens the DPDK device. */
static int open_dpdk(struct rf_context *ctx, const struct rf_context_config *config,
		     const char *device, const char *ip_text, unsigned int mtu, struct rf_io **io,
		     uint32_t *ip)
{
	const char *args = CONFIG(config, dpdk_args, NULL);
	struct rf_env env;
	char full[512];
	int ret = ctx->ranks ? RF_OK : rf_env_read(&env, rf_error_text, RF_TEXT_MAX);

	if (ret)
		return ret;
	rf_rank_text(device, ctx->rank, full, sizeof(full));
	ret = rf_io_dpdk_open(
		&(struct rf_io_dpdk_cfg){
			.device = full,
			.args = args ? args : rf_setting_text("RF_DPDK_ARGS"),
			.frame_max = FRAME_ROOM,
			.mtu = PACKET_MAX(mtu),
			.warn = rf_log_warn,
			.warn_arg = &ctx->log,
		},
		io, rf_error_text, RF_TEXT_MAX);
	if (ret)
		return ret;
	ret = context_ip(ip_text, *io, ctx->rank, ip);
	if (ret)
		(*io)->ops->close(*io);
	else
		rf_log_line(&ctx->log, RF_LOG_INFO, "DPDK, %.*s, path MTU %u",
			    (int)strcspn(full, ","), full, mtu);
	return ret;
}

int rf_context_create(const struct rf_context_config *config, struct rf_context **out)
{
	const char *device = CONFIG(config, device, NULL);
	const char *ip_text = CONFIG(config, ip, NULL);
	struct rf_verbs *verbs = NULL;
	struct rf_context *ctx = NULL;
	struct rf_io *io = NULL;
	unsigned int mtu;
	uint32_t ip = 0;
	int ret;

	if (!out || (config && config->size < sizeof(config->size))) {
		snprintf(rf_error_text, RF_TEXT_MAX, "%s",
			 out ? "config.size is not set: use RF_CONTEXT_CONFIG_INIT"
			     : "ctx is NULL");
		return RF_ERR_INVALID;
	}
	if (!device)
		device = rf_setting_text("RF_DEVICE");
	if (!ip_text)
		ip_text = rf_setting_text("RF_IP");
	ret = context_new(config, &ctx);
	if (ret)
		return ret;
	ret = mtu_setting(config, &mtu);
	if (!ret)
		ret = rf_backend_open(&ctx->log, device, ip_text, mtu, &verbs, &io, rf_error_text,
				      RF_TEXT_MAX);
	if (ret == 0 && *device)
		ret = open_dpdk(ctx, config, device, ip_text, mtu, &io, &ip);
	if (ret < 0) {
		context_free(ctx);
		return ret;
	}
	ret = context_start(ctx, config, io, verbs, verbs ? io->ip : ip);
	if (!ret)
		*out = ctx;
	return ret;
}

int rf_context_destroy(struct rf_context *ctx)
{
	if (!ctx)
		return RF_OK;
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	rf_lock(ctx);
	if (ctx->n_comms || ctx->n_creations || ctx->memory.n_handles) {
		rf_fail(ctx, RF_ERR_BUSY, "%s",
			ctx->memory.n_handles ? "deregister the memory first"
					      : "destroy the communicators first");
		rf_unlock(ctx);
		return RF_ERR_BUSY;
	}
	rf_unlock(ctx);
	context_free(ctx);
	return RF_OK;
}

/* Adds the counters of one queue pair. */
static void stats_qp(struct rf_stats *s, const struct roce_qp_counters *c)
{
	s->tx_data += c->tx_packets;
	s->tx_repeats += c->tx_retransmits;
	s->tx_acks += c->tx_acks + c->tx_naks + c->tx_rnr_naks;
	s->rx_data += c->rx_packets - c->rx_acks - c->rx_naks - c->rx_rnr_naks - c->rx_duplicates -
		      c->rx_gaps;
	s->rx_duplicates += c->rx_duplicates;
	s->rx_gaps += c->rx_gaps;
	s->rx_acks += c->rx_acks;
	s->rx_naks += c->rx_naks + c->rx_rnr_naks;
	s->timeouts += c->timeouts;
}

int rf_stats(struct rf_context *ctx, struct rf_stats *stats)
{
	struct roce_qp *qps[RF_PAIR_QPS];
	struct rf_stats s = {0};
	struct rf_group *g;
	size_t size;

	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	if (!stats || stats->size < sizeof(stats->size))
		return rf_fail(ctx, RF_ERR_INVALID, "stats.size is not set");
	rf_lock(ctx);
	s.calls = ctx->calls;
	s.call_bytes = ctx->call_bytes;
	s.sleeps = atomic_load(&ctx->sleeps);
	s.registrations = ctx->memory.registrations;
	s.registration_hits = ctx->memory.hits;
	if (ctx->io) {
		const struct roce_endpoint_counters *e = roce_endpoint_counters(ctx->ep);

		s.tx_frames = ctx->io->tx_frames;
		s.tx_bytes = ctx->io->tx_bytes;
		s.rx_frames = ctx->io->rx_frames;
		s.rx_bytes = ctx->io->rx_bytes;
		s.rx_bad_icrc = e->rx_icrc;
		s.rx_dropped = e->rx_frames - e->rx_roce - e->rx_arp - e->rx_icmp - e->rx_control;
	}
	stats_qp(&s, &ctx->past);
	for (g = ctx->groups; g; g = g->next) {
		unsigned int n = rf_pair_roce_qps(&g->roce, qps);

		for (unsigned int k = 0; k < n; k++)
			stats_qp(&s, roce_qp_counters(qps[k]));
	}
	rf_unlock(ctx);
	size = stats->size < sizeof(s) ? stats->size : sizeof(s);
	s.size = stats->size;
	memcpy(stats, &s, size);
	return RF_OK;
}
