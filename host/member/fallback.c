/* The machine of a group that continues without its box. */
#include "host/member/fallback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/member/order.h"
#include "proto/rf_bytes.h"

#define CARD 8u
/* Bytes of each rank's operand gathered at a time. */
#define BLOCK (256u * 1024u)
/* Added to the group's timeout: other ranks may still be in a step that ends at its own deadline.
 */
#define GATHER_GRACE_MS 5000u

/* A copy of an operand, kept in case the box fails. The driver owns the memory. */
struct kept {
	void *copy, *recv; /* copy NULL: not an all-reduce */
	size_t count;
	enum rf_type type;
	enum rf_op op;
};

/* The call that is carried out over the ring. */
struct task {
	const struct kept *kept;
	char *result;
	bool for_others; /* only the other ranks need it: the result overwrites the copy */
	size_t at, step; /* elements: done, and of the block under way */
};

struct rf_fallback_state {
	struct rf_fallback_cfg cfg;
	enum rf_fallback_action action;
	struct kept kept[2]; /* of call n: at n mod 2 */
	uint32_t n_done;     /* calls that have succeeded */
	bool ring;           /* the ring has taken over */
	bool failed;         /* the group is unusable */
	bool resuming;       /* this rank has an unfinished call */
	bool ring_order;     /* a call has been completed in the ring's order */
	uint32_t least;      /* calls that every rank has completed */
	struct rf_member_gather gather;
	struct rf_fallback_call call;
	struct task task;
	uint32_t *room; /* EXACT: the operands of all ranks for one block */
	int status;
	char cause[RF_MEMBER_TEXT]; /* why the box's group failed */
	char text[RF_MEMBER_TEXT];
	bool noticed; /* there is a notice */
	char notice[RF_MEMBER_TEXT + 200];
};

static const char *const names[] = {"default", "none", "exact", "ring"};

const char *rf_fallback_name(enum rf_fallback kind)
{
	return (unsigned int)kind <= RF_FALLBACK_RING ? names[kind] : "unknown";
}

int rf_fallback_create(const struct rf_fallback_cfg *cfg, struct rf_fallback_state **out)
{
	struct rf_fallback_state *f;

	*out = NULL;
	if (cfg->kind <= RF_FALLBACK_NONE || cfg->ranks < 2 ||
	    cfg->order.schedule != RF_SCHEDULE_BOX)
		return RF_OK;
	f = calloc(1, sizeof(*f));
	if (!f)
		return RF_ERR_NO_MEMORY;
	if (cfg->kind == RF_FALLBACK_EXACT) {
		f->room = malloc((size_t)BLOCK * cfg->ranks);
		if (!f->room) {
			free(f);
			return RF_ERR_NO_MEMORY;
		}
	}
	f->cfg = *cfg;
	f->action = RF_FALLBACK_OVER;
	*out = f;
	return RF_OK;
}

void rf_fallback_destroy(struct rf_fallback_state *f)
{
	if (!f)
		return;
	free(f->room);
	free(f);
}

/* ---- calls through the box ---- */

bool rf_fallback_takes(const struct rf_fallback_state *f, int status)
{
	return f && !f->failed && (status == RF_ERR_BOX_SILENT || status == RF_ERR_BOX_REFUSED);
}

unsigned int rf_fallback_turn(const struct rf_fallback_state *f)
{
	return f->n_done & 1;
}

void rf_fallback_keep(struct rf_fallback_state *f, void *copy, const struct rf_directed_call *call)
{
	f->kept[f->n_done & 1] = (struct kept){.copy = copy,
					       .recv = call->recv,
					       .count = (size_t)call->count,
					       .type = (enum rf_type)call->type,
					       .op = (enum rf_op)call->op};
	if (copy && call->count)
		memcpy(copy, call->send, (size_t)call->count * rf_arith_size(call->type));
}

void rf_fallback_succeeded(struct rf_fallback_state *f)
{
	f->n_done++;
}

void rf_fallback_give_up(struct rf_fallback_state *f)
{
	f->failed = true;
}

/* ---- a call over the ring ---- */

static void over(struct rf_fallback_state *f, int status, const char *text)
{
	f->action = RF_FALLBACK_OVER;
	f->status = status;
	f->text[0] = '\0';
	if (!status)
		return;
	snprintf(f->text, sizeof(f->text),
		 "%.200s; fallback failed as well (RF_FALLBACK=%s): %.250s", f->cause,
		 names[f->cfg.kind], text);
	f->failed = true;
}

/*
 * EXACT: gathers all operands on all ranks (a sum with zeroes, on integers, so exact), which are
 * then added in the box's order.
 */
static void exact_block(struct rf_fallback_state *f)
{
	struct task *t = &f->task;
	size_t size = rf_type_size(t->kept->type);
	size_t words;

	t->step = t->kept->count - t->at;
	if (t->step > BLOCK / size)
		t->step = BLOCK / size;
	words = (t->step * size + 3) / 4;
	memset(f->room, 0, words * 4 * f->cfg.ranks);
	memcpy(f->room + words * f->cfg.rank, (const char *)t->kept->copy + t->at * size,
	       t->step * size);
	f->call = (struct rf_fallback_call){.send = f->room,
					    .recv = f->room,
					    .count = words * f->cfg.ranks,
					    .type = RF_INT32,
					    .op = RF_SUM};
	f->action = RF_FALLBACK_CALL;
}

static void task_begin(struct rf_fallback_state *f, const struct kept *k, bool for_others)
{
	struct task *t = &f->task;

	*t = (struct task){.kept = k,
			   .result = for_others ? k->copy : k->recv,
			   .for_others = for_others,
			   .step = k->count};
	if (!k->copy) {
		over(f, RF_ERR_INTERNAL, "the call is not an all-reduce");
		return;
	}
	if (f->room) {
		exact_block(f);
		return;
	}
	f->call = (struct rf_fallback_call){.send = k->copy,
					    .recv = t->result,
					    .count = k->count,
					    .type = k->type,
					    .op = k->op};
	f->action = RF_FALLBACK_CALL;
}

/* The ring exists, and calls that only other ranks need are done. */
static void own_call(struct rf_fallback_state *f)
{
	if (f->resuming)
		task_begin(f, &f->kept[f->n_done & 1], false);
	else
		over(f, RF_OK, NULL);
}

static void task_end(struct rf_fallback_state *f)
{
	if (f->task.for_others) {
		own_call(f);
		return;
	}
	f->n_done++;
	f->ring_order = f->cfg.kind == RF_FALLBACK_RING;
	over(f, RF_OK, NULL);
}

void rf_fallback_called(struct rf_fallback_state *f, int status, const char *text)
{
	if (status)
		over(f, status, text);
	else if (f->room)
		f->action = RF_FALLBACK_ADD;
	else
		task_end(f);
}

void rf_fallback_add(struct rf_fallback_state *f)
{
	struct task *t = &f->task;
	const void *inputs[RF_RANKS_MAX];
	size_t size = rf_type_size(t->kept->type), words = (t->step * size + 3) / 4;
	const char *wrong;

	for (unsigned int r = 0; r < f->cfg.ranks; r++)
		inputs[r] = f->room + words * r;
	wrong = rf_order_compute(&f->cfg.order, t->kept->type, t->kept->op, inputs,
				 t->result + t->at * size, t->step);
	t->at += t->step;
	if (wrong)
		over(f, RF_ERR_INVALID, wrong);
	else if (t->at < t->kept->count)
		exact_block(f);
	else
		task_end(f);
}

/* ---- from the box to the ring ---- */

/* All ranks meet, at the failure of the box or at the end of the group. */
static void meet(struct rf_fallback_state *f)
{
	struct rf_member_gather *g = &f->gather;

	rf_put_be32(g->value, f->n_done);
	rf_put_be32(g->value + 4, f->resuming);
	g->number++;
	g->len = CARD;
	g->timeout_ms = (unsigned int)(f->cfg.timeout_ns / 1000000u) + GATHER_GRACE_MS;
	snprintf(g->name, sizeof(g->name), "the end of group %u or of its box", f->cfg.number);
	f->action = RF_FALLBACK_GATHER;
}

void rf_fallback_resume(struct rf_fallback_state *f, const char *text)
{
	f->resuming = true;
	snprintf(f->cause, sizeof(f->cause), "%s", text);
	if (f->ring)
		own_call(f);
	else
		meet(f);
}

void rf_fallback_finish(struct rf_fallback_state *f, int status, const char *text)
{
	f->resuming = false;
	snprintf(f->cause, sizeof(f->cause), "%s", status ? text : "");
	f->action = RF_FALLBACK_OVER;
	if (!f->ring && !f->failed && (!status || rf_fallback_takes(f, status)))
		meet(f);
}

static void notice(struct rf_fallback_state *f)
{
	snprintf(f->notice, sizeof(f->notice),
		 "rank %u: group %u continues without its box, over the ring (RF_FALLBACK=%s: "
		 "%s): %s",
		 f->cfg.rank, f->cfg.number, names[f->cfg.kind],
		 f->cfg.kind == RF_FALLBACK_EXACT ? "slower, the same bits"
						  : "another order of additions, other bits",
		 f->cause[0] ? f->cause : "another rank reported it");
	f->noticed = true;
}

void rf_fallback_gathered(struct rf_fallback_state *f, int status, const char *text,
			  const uint8_t *values)
{
	bool unfinished = false;

	if (status) {
		over(f, status, text);
		return;
	}
	f->least = f->n_done;
	for (unsigned int r = 0; r < f->cfg.ranks; r++) {
		uint32_t n = rf_get_be32(values + r * CARD);

		unfinished |= rf_get_be32(values + r * CARD + 4) != 0;
		if ((int32_t)(n - f->least) < 0)
			f->least = n;
	}
	if (!unfinished) {
		over(f, RF_OK, NULL);
		return;
	}
	notice(f);
	if (f->n_done - f->least > 1)
		over(f, RF_ERR_INTERNAL, "ranks are more than one call apart");
	else
		f->action = RF_FALLBACK_CREATE;
}

void rf_fallback_created(struct rf_fallback_state *f, int status, const char *text)
{
	if (status) {
		over(f, status, text);
		return;
	}
	f->ring = true;
	if (f->n_done != f->least)
		task_begin(f, &f->kept[f->least & 1], true);
	else
		own_call(f);
}

/* ---- what is known ---- */

enum rf_fallback_action rf_fallback_action(const struct rf_fallback_state *f)
{
	return f->action;
}

const struct rf_member_gather *rf_fallback_gather(const struct rf_fallback_state *f)
{
	return &f->gather;
}

const struct rf_fallback_call *rf_fallback_call(const struct rf_fallback_state *f)
{
	return &f->call;
}

int rf_fallback_status(const struct rf_fallback_state *f)
{
	return f->status;
}

const char *rf_fallback_text(const struct rf_fallback_state *f)
{
	return f->text;
}

const char *rf_fallback_notice(struct rf_fallback_state *f)
{
	bool noticed = f->noticed;

	f->noticed = false;
	return noticed ? f->notice : NULL;
}

enum rf_schedule rf_fallback_schedule(const struct rf_fallback_state *f)
{
	return f->ring_order ? RF_SCHEDULE_RING : RF_SCHEDULE_BOX;
}
