/* Opens and closes the job; counters. */
#include "integrations/mpi/core/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the ranks tell each other before anything is made. */
struct hello {
	uint64_t hash;
	int32_t mode;
	int32_t status; /* of the settings and the device */
};

/* Whether all ranks have equal settings and an open device. Says in why[room] what is not so. */
static bool all_agree(const struct rf_mpi_hooks *hooks, struct hello own, char *why, size_t room)
{
	struct rf_mpi_job *job = &rf_mpi_job;
	struct hello *all = calloc(job->ranks, sizeof(*all));
	bool good = true;

	if (!all || hooks->allgather(hooks->arg, &own, all, sizeof(own))) {
		snprintf(why, room, "MPI could not gather the settings of the ranks");
		free(all);
		return false;
	}
	for (unsigned int r = 0; r < job->ranks && good; r++) {
		if (all[r].hash != all[0].hash) {
			snprintf(
				why, room,
				"RINGFOLD_MPI or RINGFOLD_MPI_TUNE of rank %u differs from that of "
				"rank 0: give all ranks the same environment",
				r);
			good = false;
		} else if (all[r].status && own.status == RF_OK) {
			snprintf(why, room, "rank %u: %s", r, rf_strerror(all[r].status));
			good = false;
		} else if (all[r].status) {
			good = false;
		}
	}
	free(all);
	return good;
}

/* Opens the device; a text in why[room] if that fails. */
static int device_open(char *why, size_t room)
{
	struct rf_mpi_job *job = &rf_mpi_job;
	struct rf_context_config config = RF_CONTEXT_CONFIG_INIT;
	int ret;

	config.rank = job->rank;
	config.ranks = job->ranks;
	ret = rf_context_create(&config, &job->ctx);
	if (ret)
		snprintf(why, room, "%s", rf_last_error_text(NULL));
	return ret;
}

int rf_mpi_open(struct rf_mpi_comm *world, unsigned int rank, unsigned int ranks,
		const struct rf_mpi_hooks *hooks, void (*progress)(void))
{
	struct rf_mpi_job *job = &rf_mpi_job;
	struct hello own = {0};
	char why[RF_LOG_TEXT] = "", log_why[200];
	bool wanted;

	rf_mpi_comm_init(world, rank, ranks);
	job->rank = rank;
	job->ranks = ranks;
	job->progress = progress;
	if (rf_log_open(&job->log, RF_LOG_DEFAULT, NULL, NULL, (int)rank, log_why, sizeof(log_why)))
		rf_log_open(&job->log, RF_LOG_WARN, NULL, NULL, (int)rank, log_why,
			    sizeof(log_why));
	own.status = rf_mpi_settings_read(&job->settings, getenv("RINGFOLD_MPI"),
					  getenv("RINGFOLD_MPI_TUNE"), getenv("RINGFOLD_MPI_STATS"),
					  why, sizeof(why));
	own.hash = job->settings.hash;
	own.mode = (int32_t)job->settings.mode;
	wanted = job->settings.mode != RF_MPI_OFF || own.status;
	if (ranks < 2) {
		if (own.status)
			rf_log_line(&job->log, RF_LOG_WARN, "%s", why);
		return job->settings.mode == RF_MPI_MUST ? own.status : RF_OK;
	}
	if (!own.status && wanted)
		own.status = device_open(why, sizeof(why));
	if (!all_agree(hooks, own, why, sizeof(why))) {
		wanted = true;
	} else if (wanted) {
		rf_mpi_on = true;
		if (rf_mpi_comm_make(world, hooks, true) == RF_OK)
			return RF_OK;
		rf_mpi_on = false;
		if (job->settings.mode == RF_MPI_TRY)
			return RF_OK; /* the cause has been logged */
		return world->status;
	}
	if (job->ctx && rf_context_destroy(job->ctx) == RF_OK)
		job->ctx = NULL;
	if (!wanted)
		return RF_OK;
	rf_log_line(&job->log, RF_LOG_WARN, "MPI goes on without ringfold: %s", why);
	if (job->settings.mode != RF_MPI_MUST)
		return RF_OK;
	return own.status ? own.status : RF_ERR_INVALID;
}

/* One line for each collective that was called. */
static void counters_print(void)
{
	struct rf_mpi_job *job = &rf_mpi_job;

	for (unsigned int k = 0; k < RF_MPI_KINDS; k++) {
		unsigned long long taken = job->count[k].calls[RF_MPI_TAKEN];
		char rest[400] = "";
		size_t at = 0;
		unsigned long long sum = taken;

		for (unsigned int r = RF_MPI_TAKEN + 1; r < RF_MPI_REASONS; r++) {
			unsigned long long n = job->count[k].calls[r];

			sum += n;
			if (n && at < sizeof(rest))
				at += (size_t)snprintf(rest + at, sizeof(rest) - at,
						       "; %llu by MPI (%s)", n,
						       rf_mpi_reason_text((enum rf_mpi_reason)r));
		}
		if (sum)
			fprintf(stderr,
				"ringfold: MPI rank %u: %s: %llu by ringfold, %llu bytes, "
				"%llu failed%s\n",
				job->rank, rf_mpi_kind_name((enum rf_mpi_kind)k), taken,
				(unsigned long long)job->count[k].bytes,
				(unsigned long long)job->count[k].failed, rest);
	}
}

static struct rf_mpi_comm *first_comm(struct rf_mpi_job *job)
{
	struct rf_mpi_comm *c;

	rf_mutex_lock(&job->lock, rf_mpi_class);
	c = job->comms;
	rf_mutex_unlock(&job->lock, rf_mpi_class);
	return c;
}

void rf_mpi_close(void)
{
	struct rf_mpi_job *job = &rf_mpi_job;
	struct rf_mpi_comm *c;

	while ((c = first_comm(job)))
		rf_mpi_comm_end(c);
	if (job->settings.stats && job->settings.mode != RF_MPI_OFF)
		counters_print();
	rf_mpi_on = false;
	if (job->ctx)
		rf_context_destroy(job->ctx);
	job->ctx = NULL;
	rf_log_close(&job->log);
}
