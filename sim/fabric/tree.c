/* A tree of boxes: where the ranks have their places, and the sum that they must get. */
#include <string.h>

#include "firmware/core/fw.h"
#include "host/collective/arith.h"
#include "host/member/order.h"
#include "sim/fabric/host.h"

/* ---- boxes ---- */

void rf_fabric_tree_reset(struct rf_fabric *f, unsigned box)
{
	rf_box_reset(f->boxes[box]);
}

const struct rf_fw *rf_fabric_firmware(const struct rf_fabric *f, unsigned box)
{
	return box < f->box_count ? rf_box_fw(f->boxes[box]) : NULL;
}

/* ---- sums ---- */

/* Where a box is a rank of the one above. False: none there now. */
static bool place_above(const struct rf_fabric *f, unsigned box, struct rf_place *at)
{
	const struct rf_fw *fw = rf_fabric_firmware(f, rf_fabric_parent(&f->cfg, box));

	for (unsigned i = 0; fw && i < fw->records; i++) {
		const struct rf_fw_group *g = &fw->group[i];

		for (unsigned k = g->live ? g->first : RF_FW_NO_MEMBER; k != RF_FW_NO_MEMBER;
		     k = fw->member[k].next) {
			const struct rf_fw_member *m = &fw->member[k];

			if (m->rank != f->tree.box[rf_tree_number(&f->cfg, box)].rank)
				continue;
			*at = (struct rf_place){.port = m->port, .lane = m->lane};
			return true;
		}
	}
	return false;
}

/* The order in which the tree adds. False: some box has not given all places. */
static bool tree_order(struct rf_fabric *f, struct rf_order *o)
{
	*o = (struct rf_order)RF_ORDER_INIT;
	o->schedule = RF_SCHEDULE_BOX;
	o->ranks = f->cfg.ranks;
	o->mtu = f->cfg.mtu;
	o->boxes = f->tree.boxes;
	for (unsigned r = 0; r < o->ranks; r++) {
		if (!f->hosts[r]->places)
			return false;
		o->box[r] = f->tree.box_of[r];
		o->place[r].port = f->hosts[r]->places[r].port;
		o->place[r].lane = f->hosts[r]->places[r].lane;
	}
	for (unsigned b = 0; b + 1 < f->box_count; b++) {
		unsigned k = rf_tree_number(&f->cfg, b);

		/* It keeps the last known one when the group has ended. */
		f->above_known[b] |= place_above(f, b, &f->above[b]);
		if (!f->above_known[b])
			return false;
		o->above[k].parent = f->tree.box[k].parent;
		o->above[k].place.port = f->above[b].port;
		o->above[k].place.lane = f->above[b].lane;
	}
	return true;
}

int rf_tree_sum(struct rf_fabric *f, const struct rf_fabric_call *call, char *const *inputs,
		void *out)
{
	struct rf_order o;

	if (!tree_order(f, &o))
		return -1;
	return rf_order_compute(&o, (enum rf_type)call->type, (enum rf_op)call->op,
				(const void *const *)inputs, out, (size_t)call->count)
		       ? -1
		       : 0;
}
