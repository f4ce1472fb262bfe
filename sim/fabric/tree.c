/* A tree of boxes: where the ranks have their places, and the sum that they must get. */
#include <string.h>

#include "firmware/core/fw.h"
#include "host/collective/arith.h"
#include "sim/fabric/host.h"

void rf_fabric_tree_reset(struct rf_fabric *f, unsigned box)
{
	rf_box_reset(f->boxes[box]);
}

const struct rf_fw *rf_fabric_firmware(const struct rf_fabric *f, unsigned box)
{
	return box < f->box_count ? rf_box_fw(f->boxes[box]) : NULL;
}

/* Where a box below is a rank of the one above. False: none there; then that of before stands. */
static bool place_above(const struct rf_fabric *f, unsigned leaf, struct rf_place *at)
{
	const struct rf_fw *fw = rf_fabric_firmware(f, f->cfg.leaves);

	for (unsigned i = 0; fw && i < fw->records; i++) {
		const struct rf_fw_group *g = &fw->group[i];

		for (unsigned k = g->live ? g->first : RF_FW_NO_MEMBER; k != RF_FW_NO_MEMBER;
		     k = fw->member[k].next) {
			const struct rf_fw_member *m = &fw->member[k];

			if (m->rank != leaf)
				continue;
			*at = (struct rf_place){.port = m->port, .lane = m->lane};
			return true;
		}
	}
	return false;
}

int rf_tree_sum(struct rf_fabric *f, const struct rf_fabric_call *call, char *const *inputs,
		void *out)
{
	const void *partial[RF_FABRIC_LEAVES];
	unsigned size = rf_fabric_size(&f->cfg);

	for (unsigned b = 0; b < f->cfg.leaves; b++) {
		const struct rf_place *places = f->hosts[b * size]->places;
		const void *in[RF_FABRIC_GROUP_RANKS];

		for (unsigned r = 0; r < size; r++)
			in[r] = inputs[b * size + r];
		/* The partial sum takes the place of the first operand. */
		partial[b] = inputs[b * size];
		f->above_known[b] |= place_above(f, b, &f->above[b]);
		if (!places || !f->above_known[b] ||
		    rf_order_reduce(call->type, call->op, size, places, in, inputs[b * size],
				    (size_t)call->count) != 0)
			return -1;
	}
	return rf_order_reduce(call->type, call->op, f->cfg.leaves, f->above, partial, out,
			       (size_t)call->count);
}
