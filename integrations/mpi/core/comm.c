/* Communicators: the group of each, made by all its ranks together or not at all. */
#include "integrations/mpi/core/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the ranks of a communicator tell each other before and after. */
struct offer {
	uint32_t process; /* rank in the job */
	uint32_t serial;  /* of the name, if this is rank 0 */
};

void rf_mpi_comm_init(struct rf_mpi_comm *c, unsigned int rank, unsigned int ranks)
{
	memset(c, 0, sizeof(*c));
	c->rank = rank;
	c->ranks = ranks;
	c->state = RF_MPI_UNMADE;
}

static void comm_link(struct rf_mpi_comm *c)
{
	struct rf_mpi_job *job = &rf_mpi_job;

	rf_mutex_lock(&job->lock, rf_mpi_class);
	c->next = job->comms;
	job->comms = c;
	rf_mutex_unlock(&job->lock, rf_mpi_class);
}

static void comm_unlink(struct rf_mpi_comm *c)
{
	struct rf_mpi_job *job = &rf_mpi_job;

	rf_mutex_lock(&job->lock, rf_mpi_class);
	for (struct rf_mpi_comm **at = &job->comms; *at; at = &(*at)->next) {
		if (*at == c) {
			*at = c->next;
			break;
		}
	}
	rf_mutex_unlock(&job->lock, rf_mpi_class);
}

void rf_mpi_comm_end(struct rf_mpi_comm *c)
{
	if (!c->comm)
		return;
	comm_unlink(c);
	rf_comm_destroy(c->comm);
	c->comm = NULL;
	c->state = RF_MPI_NOT_SERVED;
}

/* "allreduce, bcast 0-65536; by MPI: barrier" */
static void carries(char *text, size_t room)
{
	const struct rf_mpi_settings *s = &rf_mpi_job.settings;
	char off[200] = "";
	size_t at = 0, off_at = 0;

	for (unsigned int k = 0; k < RF_MPI_KINDS; k++) {
		const struct rf_mpi_range *r = &s->range[k];
		const char *name = rf_mpi_kind_name((enum rf_mpi_kind)k);
		char range[60] = "";

		if (r->least > r->most) {
			if (off_at < sizeof(off))
				off_at +=
					(size_t)snprintf(off + off_at, sizeof(off) - off_at, "%s%s",
							 off_at ? ", " : "; by MPI: ", name);
			continue;
		}
		if (r->most != SIZE_MAX)
			snprintf(range, sizeof(range), " of %zu to %zu bytes", r->least, r->most);
		else if (r->least)
			snprintf(range, sizeof(range), " from %zu bytes", r->least);
		if (at < room)
			at += (size_t)snprintf(text + at, room - at, "%s%s%s", at ? ", " : "", name,
					       range);
	}
	if (at < room)
		snprintf(text + at, room - at, "%s%s", off, off_at ? " (RINGFOLD_MPI_TUNE)" : "");
}

/* One line for each communicator: who carries what, and why not. */
static void comm_log(const struct rf_mpi_comm *c, const char *name, const char *why)
{
	struct rf_mpi_job *job = &rf_mpi_job;
	struct rf_order order = RF_ORDER_INIT;
	char text[RF_LOG_TEXT];

	if (*why) {
		/* a communicator that is not as asked: said by the rank that knows why */
		rf_log_line(&job->log, RF_LOG_WARN,
			    "MPI communicator %s, %u ranks: all calls by MPI: %s", name, c->ranks,
			    why);
		return;
	}
	if (c->rank || !rf_log_on(&job->log, RF_LOG_INFO))
		return;
	carries(text, sizeof(text));
	if (rf_comm_order(c->comm, &order))
		order.schedule = RF_SCHEDULE_BOX;
	rf_log_line(&job->log, RF_LOG_INFO, "MPI communicator %s, %u ranks: by %s: %s", name,
		    c->ranks, order.schedule == RF_SCHEDULE_RING ? "ringfold's ring" : "the box",
		    text);
}

/* All ranks say who they are; rank 0 names the group. */
static int comm_name(struct rf_mpi_comm *c, const struct rf_mpi_hooks *hooks, unsigned int *members,
		     char *name, size_t room)
{
	struct rf_mpi_job *job = &rf_mpi_job;
	struct offer own = {job->rank, 0}, *all = calloc(c->ranks, sizeof(*all));

	if (!c->rank)
		own.serial = atomic_fetch_add(&job->serial, 1);
	if (!all || hooks->allgather(hooks->arg, &own, all, sizeof(own))) {
		free(all);
		return RF_ERR_BOOTSTRAP;
	}
	for (unsigned int r = 0; r < c->ranks; r++)
		members[r] = all[r].process;
	snprintf(name, room, "mpi.%u.%u", all[0].process, all[0].serial);
	free(all);
	return RF_OK;
}

/* Whether the group exists on all ranks; else the first failure, with its text in why[room]. */
static int comm_agree(struct rf_mpi_comm *c, const struct rf_mpi_hooks *hooks, int own, char *why,
		      size_t room)
{
	int32_t mine = own, *all = calloc(c->ranks, sizeof(*all));
	int ret = RF_OK;

	if (!all || hooks->allgather(hooks->arg, &mine, all, sizeof(mine))) {
		free(all);
		snprintf(why, room, "MPI could not gather the results of the ranks");
		return RF_ERR_BOOTSTRAP;
	}
	for (unsigned int r = 0; r < c->ranks && !ret; r++) {
		ret = all[r];
		if (ret && !own)
			snprintf(why, room, "rank %u: %s", r, rf_strerror(ret));
	}
	free(all);
	return ret;
}

int rf_mpi_comm_make(struct rf_mpi_comm *c, const struct rf_mpi_hooks *hooks, bool first)
{
	struct rf_mpi_job *job = &rf_mpi_job;
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	unsigned int *members = calloc(c->ranks, sizeof(*members));
	char name[RF_NAME_MAX + 1] = "", why[RF_LOG_TEXT] = "";
	int ret = members ? RF_OK : RF_ERR_NO_MEMORY;

	if (!ret)
		ret = comm_name(c, hooks, members, name, sizeof(name));
	if (!ret) {
		config.rank = job->rank;
		config.ranks = job->ranks;
		config.name = name;
		config.members = members;
		config.n_members = c->ranks;
		if (first) {
			config.allgather = hooks->allgather;
			config.allgather_arg = hooks->arg;
		}
		ret = rf_comm_create(job->ctx, &config, &c->comm);
		if (ret)
			snprintf(why, sizeof(why), "%s", rf_last_error_text(NULL));
		ret = comm_agree(c, hooks, ret, why, sizeof(why));
	} else {
		snprintf(why, sizeof(why), "%s", rf_strerror(ret));
	}
	free(members);
	c->status = ret;
	c->state = ret ? RF_MPI_NOT_SERVED : RF_MPI_TAKEN;
	if (ret && c->comm) {
		rf_comm_destroy(c->comm);
		c->comm = NULL;
	}
	if (!ret)
		comm_link(c);
	comm_log(c, name, why);
	return ret;
}

int rf_mpi_take(struct rf_mpi_comm *c, const struct rf_mpi_ask *ask,
		const struct rf_mpi_hooks *hooks)
{
	struct rf_mpi_job *job = &rf_mpi_job;
	enum rf_mpi_reason reason = RF_MPI_NOT_ON;
	int ret = RF_OK;

	if (rf_mpi_on)
		reason = rf_mpi_decide(&job->settings, c->ranks, ask);
	if (reason == RF_MPI_TAKEN && c->state == RF_MPI_UNMADE && ask->blocking)
		ret = rf_mpi_comm_make(c, hooks, false);
	if (reason == RF_MPI_TAKEN)
		reason = c->state;
	atomic_fetch_add_explicit(&job->count[ask->kind].calls[reason], 1, memory_order_relaxed);
	if (reason == RF_MPI_TAKEN)
		atomic_fetch_add_explicit(&job->count[ask->kind].bytes, ask->bytes,
					  memory_order_relaxed);
	if (reason == RF_MPI_NOT_SERVED && job->settings.mode == RF_MPI_MUST)
		return ret ? ret : c->status;
	return (int)reason;
}
