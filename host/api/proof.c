/*
 * The check of the path: an all-reduce of one packet whose result is known in advance.
 *
 * Without it a missing rule at one switch port would show as a hang in the first real call.
 */
#include "host/api/api.h"

#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"

/* Longest wait for this packet, whatever the group's deadline is. */
#define PROOF_NS (10000 * NS_PER_MS)

/* Small whole numbers: exact in every type, different on every rank. */
static void known_values(enum rf_type type, unsigned int rank, void *to, size_t count)
{
	uint8_t *p = to;
	size_t i;

	for (i = 0; i < count; i++) {
		int v = (int)((rank * 31u + i * 7u) % 13u) - 6;
		float f = (float)v;
		uint32_t bits;

		switch (type) {
		case RF_FP32:
			memcpy(&bits, &f, sizeof(bits));
			rf_put_le32(p + 4 * i, bits);
			break;
		case RF_BF16:
			rf_put_le16(p + 2 * i, rf_bf16_from_float(f));
			break;
		case RF_FP16:
			rf_put_le16(p + 2 * i, rf_fp16_from_float(f));
			break;
		case RF_INT32:
			rf_put_le32(p + 4 * i, (uint32_t)v);
			break;
		}
	}
}

/*
 * Whether the predecessor's packet bypassed the box. It is the only packet, so it cannot be ahead
 * of a lost one; it is ahead by the PSN shift that the box would have removed.
 */
static bool bypassed(const struct rf_group *g)
{
	return g->schedule == RF_SCHEDULE_BOX && !g->status && rf_group_bypassed(g);
}

/* The packet did not come back: reports what this rank has seen of it. Under the lock. */
static int proof_missing(struct rf_group *g, uint64_t waited)
{
	struct rf_comm *comm = g->comm;
	unsigned int prev = (comm->rank + comm->ranks - 1) % comm->ranks;
	unsigned int next = (comm->rank + 1) % comm->ranks;

	if (bypassed(g))
		return rf_fail(
			comm->ctx, RF_ERR_STEERING,
			"packets of rank %u reach rank %u without passing through the box: the "
			"switch port of rank %u lacks the rule that sends UDP port 4791 to the "
			"box",
			prev, comm->rank, prev);
	if (g->schedule == RF_SCHEDULE_BOX)
		return rf_fail(
			comm->ctx, RF_ERR_TIMEOUT,
			"rank %u sent one packet and no result came back within %llu ms: run "
			"`ringfold doctor` on every host",
			comm->rank, (unsigned long long)(waited / NS_PER_MS));
	return rf_fail(
		comm->ctx, RF_ERR_TIMEOUT,
		"no packet from rank %u, or no acknowledgement from rank %u, within %llu ms: "
		"does the network carry UDP port 4791 and frames of %u bytes?",
		prev, next, (unsigned long long)(waited / NS_PER_MS),
		comm->ctx->mtu + ROCE_HEADERS_MAX + 4u);
}

/* Compares the result and reports the position of the first difference. */
static int proof_check(struct rf_group *g, const uint8_t *got, const uint8_t *want, size_t len)
{
	size_t k;

	for (k = 0; k < len; k++)
		if (got[k] != want[k])
			return rf_fail(
				g->comm->ctx, RF_ERR_STEERING,
				"the sum of known values came back wrong at byte %zu (%02x "
				"instead of %02x) at rank %u: packets are delivered that the "
				"box summed incorrectly",
				k, got[k], want[k], g->comm->rank);
	return RF_OK;
}

static int proof_run(struct rf_group *g, uint8_t *const *inputs, uint8_t *result, size_t count)
{
	struct rf_context *ctx = g->comm->ctx;
	uint64_t waited = g->timeout_ns < PROOF_NS ? g->timeout_ns : PROOF_NS;
	uint64_t until = rf_now() + waited;
	struct rf_request *r;
	int ret;

	rf_lock(ctx);
	g->proving = true;
	ret = rf_request_start(g, inputs[g->comm->rank], result, count, &r);
	if (!ret) {
		ctx->io->ops->wake(ctx->io);
		while (!r->done && !bypassed(g) && rf_sleep(ctx, until))
			;
		ret = r->done ? rf_request_wait(r, until) : RF_IN_PROGRESS;
	}
	g->proving = false;
	if (ret == RF_IN_PROGRESS) {
		ret = proof_missing(g, waited);
		rf_group_fail(g, false, ret, "%s", ctx->error);
		rf_request_wait(r, RF_NEVER);
	}
	rf_unlock(ctx);
	return ret;
}

int rf_group_prove(struct rf_group *g)
{
	struct rf_context *ctx = g->comm->ctx;
	size_t len = ctx->mtu;
	size_t count = len / rf_type_size(g->type);
	uint8_t *inputs[RF_RANKS_MAX];
	unsigned int ranks = g->comm->ranks;
	uint8_t *all = aligned_alloc(64, (ranks + 2) * len);
	uint8_t *want, *got;
	unsigned int r;
	int ret;

	if (!all)
		return rf_fail_unlocked(ctx, RF_ERR_NO_MEMORY,
					"no memory for the check of the path");
	for (r = 0; r < ranks; r++) {
		inputs[r] = all + r * len;
		known_values(g->type, r, inputs[r], count);
	}
	want = all + ranks * len;
	got = want + len;
	memset(got, 0xa5, len);
	ret = rf_order_apply(&g->order, g->type, g->op, (const void *const *)inputs, want, count);
	if (!ret)
		ret = proof_run(g, inputs, got, count);
	if (!ret) {
		rf_lock(ctx);
		ret = proof_check(g, got, want, len);
		rf_unlock(ctx);
	}
	free(all);
	return ret;
}
