/*
 * Ranks as threads.
 */
#include "tests/unit/api_ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/api/api.h"
#include "tests/unit/free_port.h"

#define FRAME_MAX 4300u

void rank_note(struct rank *r, const char *file, int line, const char *what)
{
	snprintf(r->text, sizeof(r->text), "%s:%d: %s; last error: %s", file, line, what,
		 r->ctx ? rf_last_error_text(r->ctx) : "no context");
}

int rank_meet(struct rank *r)
{
	unsigned int n = r->all->n - (unsigned int)__builtin_popcountll(r->all->left_out);
	unsigned int want = ++r->met * n;

	atomic_fetch_add(&r->all->met, 1);
	for (unsigned int k = 0; k < 120000; k++) {
		if (atomic_load(&r->all->met) >= want)
			return 0;
		if (r->all->manual)
			rf_progress(r->ctx, 500);
		else
			usleep(500);
	}
	snprintf(r->text, sizeof(r->text), "the other ranks have not come");
	return -1;
}

void ranks_init(struct ranks *all, unsigned int n, int (*run)(struct rank *r))
{
	memset(all, 0, sizeof(*all));
	all->n = n;
	all->run = run;
	all->timeout_ms = 5000;
	all->mtu = 1024;
	all->schedule = RF_SCHEDULE_RING;
	all->port = free_port();
	all->hub = rf_io_hub_create(n, FRAME_MAX);
}

static int rank_body(struct rank *r)
{
	struct ranks *all = r->all;
	struct rf_context_config context = RF_CONTEXT_CONFIG_INIT;
	struct rf_comm_config comm = RF_COMM_CONFIG_INIT;
	struct rf_io *io = rf_io_hub_open(all->hub, r->rank);
	int ret;

	context.mtu = all->mtu_last && r->rank == all->n - 1 ? all->mtu_last : all->mtu;
	context.progress = all->manual ? RF_PROGRESS_MANUAL : RF_PROGRESS_THREAD;
	context.log_level = all->log_level;
	context.log = all->log;
	context.log_arg = r;
	comm.rank = r->rank;
	comm.ranks = all->n;
	comm.port = all->port;
	comm.timeout_ms = all->timeout_ms;
	comm.schedule = all->schedule;
	if (all->prepare)
		all->prepare(r, &context, &comm);
	ret = rf_context_create_on(&context, io, all->verbs ? all->verbs(r, io) : NULL,
				   0x0a000001u + r->rank, &r->ctx);
	if (ret) {
		snprintf(r->text, sizeof(r->text), "context: %s", rf_last_error_text(NULL));
		return ret;
	}
	ret = rf_comm_create(r->ctx, &comm, &r->comm);
	if (ret)
		snprintf(r->text, sizeof(r->text), "communicator: %s", rf_last_error_text(r->ctx));
	else
		ret = all->run(r);
	rf_comm_destroy(r->comm);
	if (rf_context_destroy(r->ctx) && !ret) {
		snprintf(r->text, sizeof(r->text), "the context still has an object");
		ret = -1;
	}
	return ret;
}

static void *rank_thread(void *arg)
{
	struct rank *r = arg;

	r->ret = rank_body(r);
	return NULL;
}

unsigned int ranks_run(struct ranks *all)
{
	pthread_t threads[RANKS];
	unsigned int bad = 0;
	unsigned int k;

	all->met = 0;
	for (k = 0; k < all->n; k++) {
		struct rank *r = &all->rank[k];

		memset(r, 0, sizeof(*r));
		r->all = all;
		r->rank = k;
		if (!(all->left_out >> k & 1))
			pthread_create(&threads[k], NULL, rank_thread, r);
	}
	for (k = 0; k < all->n; k++) {
		if (all->left_out >> k & 1)
			continue;
		pthread_join(threads[k], NULL);
		if (all->rank[k].ret) {
			fprintf(stderr, "rank %u: %d: %s\n", k, all->rank[k].ret,
				all->rank[k].text);
			bad++;
		}
	}
	return bad;
}

void ranks_free(struct ranks *all)
{
	rf_io_hub_destroy(all->hub);
}
