/* The thread that makes progress and sleeps in between, and rf_progress(). */
#include "host/api/api.h"

#include <sched.h>
#include <sys/prctl.h>

/*
 * Sleep times for a device that cannot interrupt: first and longest while something is outstanding,
 * and longest when idle.
 */
#define SLEEP_MIN_US 10u
#define SLEEP_BUSY_US 160u
#define SLEEP_IDLE_US 1000u

/* Sleeps after `idle_ns` without work; the lock is not held. */
static void thread_sleep(struct rf_context *ctx, uint64_t next, uint64_t idle_ns, bool busy,
			 unsigned int *step)
{
	uint64_t now = rf_now();
	uint64_t us = next > now ? (next - now) / 1000 + 1 : 0;
	unsigned int most = busy ? SLEEP_BUSY_US : SLEEP_IDLE_US;

	if (!us)
		return;
	if (idle_ns < ctx->spin_ns) {
		sched_yield();
		return;
	}
	if (us > RF_STORE_POLL_NS / 1000)
		us = RF_STORE_POLL_NS / 1000;
	if (ctx->io->polling) {
		us = us < *step ? us : *step;
		*step = *step * 2 < most ? *step * 2 : most;
	}
	atomic_fetch_add(&ctx->sleeps, 1);
	ctx->io->ops->wait(ctx->io, (uint32_t)us);
}

void *rf_progress_thread(void *arg)
{
	struct rf_context *ctx = arg;
	uint64_t active = rf_now();
	unsigned int step = SLEEP_MIN_US;

	/* the kernel may otherwise stretch each short sleep by 50 microseconds */
	prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);
	prctl(PR_SET_NAME, "ringfold", 0, 0, 0);
	while (!atomic_load(&ctx->stop)) {
		unsigned int done, k;
		uint64_t next;
		bool busy;

		rf_mutex_lock(&ctx->lock, rf_context_class);
		done = rf_round(ctx);
		busy = ctx->outstanding > 0;
		next = rf_next_timeout(ctx);
		rf_mutex_unlock(&ctx->lock, rf_context_class);
		rf_deliver(ctx);
		/* a mutex is not fair: waiting threads must get a chance */
		for (k = 0; k < 100 && atomic_load(&ctx->callers); k++)
			sched_yield();
		if (done) {
			active = rf_now();
			step = SLEEP_MIN_US;
			continue;
		}
		thread_sleep(ctx, next, rf_now() - active, busy, &step);
	}
	return NULL;
}

int rf_progress(struct rf_context *ctx, unsigned int timeout_us)
{
	uint64_t until = rf_now() + (uint64_t)timeout_us * 1000;
	unsigned int done;

	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	rf_lock(ctx);
	if (!ctx->io) {
		rf_unlock(ctx);
		return RF_IN_PROGRESS;
	}
	while ((done = rf_round(ctx)) == 0) {
		uint64_t now = rf_now();
		uint64_t next = rf_next_timeout(ctx);
		uint64_t us;

		if (now >= until)
			break;
		next = next < until ? next : until;
		us = next > now ? (next - now) / 1000 + 1 : 0;
		if (ctx->io->polling && us > SLEEP_BUSY_US)
			us = SLEEP_BUSY_US;
		rf_unlock(ctx);
		if (us)
			ctx->io->ops->wait(ctx->io, (uint32_t)us);
		rf_lock(ctx);
	}
	rf_unlock(ctx);
	rf_deliver(ctx);
	return done ? RF_OK : RF_IN_PROGRESS;
}
