/* The calls of a run: made in different orders on each rank, awaited in every way, compared. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/api_soak.h"

/* ---- calls under way ---- */

struct flight {
	struct job job;
	struct job_buffers b;
	unsigned int comm;
	struct rf_request *q;
};

static int compare(struct soak *s, struct flight *f)
{
	char text[200];
	size_t wrong;

	if (s->p->flip && s->r->rank == 0 && f->b.recv_bytes)
		f->b.recv[f->b.recv_bytes / 2] ^= 1;
	wrong = job_compare(&f->b);
	if (!wrong)
		return 0;
	job_text(&f->job, s->order[f->comm].ranks, text, sizeof(text));
	snprintf(s->r->text, sizeof(s->r->text), "communicator %u: %zu wrong bytes in %s", f->comm,
		 wrong, text);
	return -1;
}

static int begin(struct soak *s, struct flight *f, struct rf_rng *rng)
{
	struct rf_comm *comm = s->comm[f->comm];

	f->job = soak_draw_job(rng, rf_comm_ranks(comm));
	job_prepare(&f->job, &s->order[f->comm], rf_comm_rank(comm), &f->b);
	EXPECT(s->r, job_call(comm, &f->job, f->b.send, f->b.recv, &f->q) == RF_OK);
	return 0;
}

/* Begins the calls of all communicators, in an order of this rank's own. Returns how many, or -1.
 */
static int begin_all(struct soak *s, unsigned int round, unsigned int skip, struct flight *f)
{
	struct rf_rng rng[SOAK_COMMS];
	unsigned int left[SOAK_COMMS] = {0}, total = 0, n = 0;

	for (unsigned int c = 0; c < s->p->comms; c++) {
		rng[c] = soak_calls_of(s->p, c, round);
		if (s->comm[c] && c != skip)
			total += left[c] = 1 + (unsigned int)rf_rng_below(&rng[c], SOAK_CALLS);
	}
	while (n < total) {
		unsigned int c = (unsigned int)rf_rng_below(&s->rng, s->p->comms);

		if (!left[c])
			continue;
		left[c]--;
		f[n].comm = c;
		if (begin(s, &f[n], &rng[c]) != 0)
			return -1;
		n++;
		if (soak_one_in(&s->rng, 8))
			rf_progress(s->r->ctx, 0);
	}
	return (int)n;
}

/* ---- ways to wait ---- */

struct waits {
	pthread_mutex_t lock;
	unsigned int done;
	int status;
	char text[400];
};

static void completed(void *arg, int status, const char *text)
{
	struct waits *w = arg;

	pthread_mutex_lock(&w->lock);
	w->done++;
	if (status && !w->status) {
		w->status = status;
		snprintf(w->text, sizeof(w->text), "%s", text);
	}
	pthread_mutex_unlock(&w->lock);
}

static int by_callback(struct soak *s, struct flight *f, unsigned int n)
{
	struct waits w = {.lock = PTHREAD_MUTEX_INITIALIZER};
	unsigned int done = 0;

	for (unsigned int k = 0; k < n; k++)
		EXPECT(s->r, rf_on_completion(f[k].q, completed, &w) == RF_OK);
	/* every call has a limit, so each callback comes */
	while (done < n) {
		if (s->p->manual)
			rf_progress(s->r->ctx, 1000);
		else
			usleep(200);
		pthread_mutex_lock(&w.lock);
		done = w.done;
		pthread_mutex_unlock(&w.lock);
	}
	if (w.status)
		snprintf(s->r->text, sizeof(s->r->text), "callback: %d: %s", w.status, w.text);
	return w.status;
}

static int by_any(struct soak *s, struct flight *f, unsigned int n)
{
	struct rf_request *q[SOAK_COMMS * SOAK_CALLS];
	unsigned int index;

	for (unsigned int k = 0; k < n; k++)
		q[k] = f[k].q;
	for (unsigned int k = 0; k < n; k++) {
		EXPECT(s->r, rf_wait_any(q, n, RF_WAIT_FOREVER, &index) == RF_OK);
		EXPECT(s->r, index < n && !q[index]);
	}
	return 0;
}

static int by_all(struct soak *s, struct flight *f, unsigned int n)
{
	struct rf_request *q[SOAK_COMMS * SOAK_CALLS];

	for (unsigned int k = 0; k < n; k++)
		q[k] = f[k].q;
	EXPECT(s->r, rf_wait_all(q, n, RF_WAIT_FOREVER) == RF_OK);
	return 0;
}

static int one_by_one(struct soak *s, struct flight *f, unsigned int n)
{
	unsigned int from = (unsigned int)rf_rng_below(&s->rng, n);

	for (unsigned int k = 0; k < n; k++)
		EXPECT(s->r, rf_wait(f[(from + k) % n].q, RF_WAIT_FOREVER) == RF_OK);
	return 0;
}

static int by_descriptor(struct soak *s, struct flight *f, unsigned int n)
{
	struct pollfd p = {.events = POLLIN};
	unsigned int left = n;

	EXPECT(s->r, rf_completion_fd(s->r->ctx, &p.fd) == RF_OK);
	while (left) {
		if (s->p->manual)
			rf_progress(s->r->ctx, 1000);
		else
			poll(&p, 1, 1000);
		for (unsigned int k = 0; k < n; k++) {
			int ret = f[k].q ? rf_test(f[k].q) : RF_IN_PROGRESS;

			if (ret == RF_IN_PROGRESS)
				continue;
			EXPECT(s->r, ret == RF_OK);
			f[k].q = NULL;
			left--;
		}
	}
	return 0;
}

int soak_fly(struct soak *s, unsigned int round, unsigned int skip)
{
	static int (*const ways[])(struct soak *, struct flight *, unsigned int) = {
		by_callback, by_any, by_all, one_by_one, by_descriptor};
	struct flight *f = calloc(SOAK_COMMS * SOAK_CALLS, sizeof(*f));
	int n = begin_all(s, round, skip, f), ret = n < 0 ? -1 : 0;

	if (n > 0)
		ret = ways[rf_rng_below(&s->rng, 5)](s, f, (unsigned int)n);
	/* after a failure the library may still use the buffers */
	if (ret)
		return ret;
	for (int k = 0; k < n; k++)
		ret |= compare(s, &f[k]);
	free(f);
	return ret;
}

/* ---- blocking calls ---- */

struct caller {
	pthread_t thread;
	struct soak *s;
	unsigned int first, step, round;
	int ret;
	char text[400];
};

static int calls(struct caller *k, unsigned int c)
{
	struct soak *s = k->s;
	struct rf_rng rng = soak_calls_of(s->p, c, 10 + k->round);
	unsigned int n = 1 + (unsigned int)rf_rng_below(&rng, 4);

	for (unsigned int i = 0; i < n; i++) {
		struct flight f = {.comm = c};
		int ret;

		f.job = soak_draw_job(&rng, rf_comm_ranks(s->comm[c]));
		job_prepare(&f.job, &s->order[c], rf_comm_rank(s->comm[c]), &f.b);
		ret = job_call(s->comm[c], &f.job, f.b.send, f.b.recv, NULL);
		if (ret) {
			snprintf(k->text, sizeof(k->text), "%s", rf_last_error_text(s->r->ctx));
			return ret;
		}
		if (compare(s, &f) != 0)
			return -1;
	}
	return 0;
}

/* Every step-th communicator, in the same order on all ranks. */
static void *caller(void *arg)
{
	struct caller *k = arg;

	for (unsigned int c = k->first; c < k->s->p->comms && !k->ret; c += k->step)
		if (k->s->comm[c])
			k->ret = calls(k, c);
	return NULL;
}

int soak_blocking(struct soak *s, unsigned int round)
{
	unsigned int threads = s->p->manual ? 1 : 2;
	struct caller k[2];
	int ret = 0;

	for (unsigned int t = 0; t < threads; t++) {
		k[t] = (struct caller){.s = s, .first = t, .step = threads, .round = round};
		pthread_create(&k[t].thread, NULL, caller, &k[t]);
	}
	for (unsigned int t = 0; t < threads; t++) {
		pthread_join(k[t].thread, NULL);
		if (k[t].text[0])
			snprintf(s->r->text, sizeof(s->r->text), "thread %u: %s", t, k[t].text);
		ret |= k[t].ret;
	}
	return ret;
}
