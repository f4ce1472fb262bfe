/* Settings of the seams, and the decision that rests on them. */
#include "integrations/mpi/core/rf_mpi.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[RF_MPI_KINDS] = {
	[RF_MPI_ALLREDUCE] = "allreduce",
	[RF_MPI_REDUCE] = "reduce",
	[RF_MPI_BCAST] = "bcast",
	[RF_MPI_BARRIER] = "barrier",
	[RF_MPI_ALLGATHER] = "allgather",
	[RF_MPI_ALLGATHERV] = "allgatherv",
	[RF_MPI_REDUCE_SCATTER] = "reduce_scatter",
	[RF_MPI_REDUCE_SCATTER_BLOCK] = "reduce_scatter_block",
	[RF_MPI_GATHER] = "gather",
	[RF_MPI_SCATTER] = "scatter",
};

static const char *const reason_texts[RF_MPI_REASONS] = {
	[RF_MPI_TAKEN] = "by the box",
	[RF_MPI_NOT_ON] = "ringfold is off",
	[RF_MPI_ALONE] = "one rank",
	[RF_MPI_EMPTY] = "no data",
	[RF_MPI_NO_TYPE] = "type that the box does not reduce",
	[RF_MPI_NO_OP] = "operation that the box does not have",
	[RF_MPI_SIZE] = "RINGFOLD_MPI_TUNE",
	[RF_MPI_UNMADE] = "nonblocking, before the first blocking call",
	[RF_MPI_NOT_SERVED] = "the communicator has no group",
};

const char *rf_mpi_kind_name(enum rf_mpi_kind kind)
{
	return kind_names[kind];
}

const char *rf_mpi_reason_text(enum rf_mpi_reason reason)
{
	return reason_texts[reason];
}

static void hash_text(uint64_t *hash, const char *text)
{
	/* FNV-1a, with the terminating byte */
	do {
		*hash = (*hash ^ (unsigned char)*text) * 0x100000001b3u;
	} while (*text++);
}

/* A size with K, M or G at *text; moves behind it. Returns false if there is none. */
static bool size_read(const char **text, size_t *size)
{
	unsigned long long value;
	unsigned int shift = 0;
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	value = strtoull(*text, &end, 10);
	switch (toupper((unsigned char)*end)) {
	case 'K':
		shift = 10;
		break;
	case 'M':
		shift = 20;
		break;
	case 'G':
		shift = 30;
		break;
	}
	if (value > SIZE_MAX >> shift)
		return false;
	*size = (size_t)value << shift;
	*text = end + (shift != 0);
	return true;
}

/* "0-64k", "4k-", "off" or "all" at text, to the next comma. */
static bool range_read(const char *text, size_t length, struct rf_mpi_range *range)
{
	const char *end = text + length;

	*range = (struct rf_mpi_range){0, SIZE_MAX};
	if (length == 3 && !strncmp(text, "all", 3))
		return true;
	if (length == 3 && !strncmp(text, "off", 3)) {
		*range = (struct rf_mpi_range){1, 0};
		return true;
	}
	if (!size_read(&text, &range->least) || text >= end || *text++ != '-')
		return false;
	if (text == end)
		return true;
	return size_read(&text, &range->most) && text == end && range->least <= range->most;
}

static int tune_read(struct rf_mpi_settings *s, const char *tune, char *why, size_t room)
{
	while (*tune) {
		size_t length = strcspn(tune, ","), name = strcspn(tune, ":,");
		unsigned int k = 0;

		while (k < RF_MPI_KINDS &&
		       (strlen(kind_names[k]) != name || strncmp(kind_names[k], tune, name)))
			k++;
		if (k == RF_MPI_KINDS || name == length) {
			snprintf(why, room,
				 "RINGFOLD_MPI_TUNE: \"%.*s\" is not COLLECTIVE:RANGE, such as "
				 "allreduce:0-64k",
				 (int)length, tune);
			return RF_ERR_INVALID;
		}
		if (!range_read(tune + name + 1, length - name - 1, &s->range[k])) {
			snprintf(why, room,
				 "RINGFOLD_MPI_TUNE: the range of \"%.*s\" is none of 0-64k, 4k-, "
				 "all, off",
				 (int)length, tune);
			return RF_ERR_INVALID;
		}
		tune += length + (tune[length] == ',');
	}
	return RF_OK;
}

int rf_mpi_settings_read(struct rf_mpi_settings *s, const char *mode, const char *tune,
			 const char *stats, char *why, size_t room)
{
	memset(s, 0, sizeof(*s));
	for (unsigned int k = 0; k < RF_MPI_KINDS; k++)
		s->range[k].most = SIZE_MAX;
	s->hash = 0xcbf29ce484222325u;
	hash_text(&s->hash, mode ? mode : "0");
	hash_text(&s->hash, tune ? tune : "");
	s->stats = stats && strcmp(stats, "0") != 0 && *stats;
	if (mode && *mode && (mode[1] || mode[0] < '0' || mode[0] > '2')) {
		snprintf(why, room, "RINGFOLD_MPI: \"%s\" is none of 0 (off), 1 (try), 2 (must)",
			 mode);
		return RF_ERR_INVALID;
	}
	s->mode = mode && *mode ? (enum rf_mpi_mode)(mode[0] - '0') : RF_MPI_OFF;
	return tune ? tune_read(s, tune, why, room) : RF_OK;
}

static bool is_float(int type)
{
	return type == RF_FP32 || type == RF_FP64 || type == RF_FP16 || type == RF_BF16;
}

static bool reduces(enum rf_mpi_kind kind)
{
	return kind == RF_MPI_ALLREDUCE || kind == RF_MPI_REDUCE || kind == RF_MPI_REDUCE_SCATTER ||
	       kind == RF_MPI_REDUCE_SCATTER_BLOCK;
}

enum rf_mpi_reason rf_mpi_decide(const struct rf_mpi_settings *s, unsigned int ranks,
				 const struct rf_mpi_ask *ask)
{
	const struct rf_mpi_range *range = &s->range[ask->kind];

	if (s->mode == RF_MPI_OFF)
		return RF_MPI_NOT_ON;
	if (ranks < 2)
		return RF_MPI_ALONE;
	if (!ask->bytes && ask->kind != RF_MPI_BARRIER)
		return RF_MPI_EMPTY;
	if (reduces(ask->kind)) {
		if (ask->type == RF_MPI_NONE)
			return RF_MPI_NO_TYPE;
		if (ask->op == RF_MPI_NONE || (ask->op >= RF_AND && is_float(ask->type)))
			return RF_MPI_NO_OP;
	}
	if (ask->bytes < range->least || ask->bytes > range->most)
		return RF_MPI_SIZE;
	return RF_MPI_TAKEN;
}
