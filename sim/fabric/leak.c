/* Checks that everything was freed at the end, and faults of that kind for tests of the check. */
#include <stdlib.h>
#include <string.h>

#include "sim/fabric/host.h"

const char *rf_fabric_leak(struct rf_fabric *f)
{
	for (unsigned r = 0; r < f->cfg.ranks; r++) {
		const char *what = rf_host_leak(f->hosts[r]);

		if (what)
			return what;
	}
	if (f->frames != 0)
		return "a frame was never delivered and never dropped";
	for (unsigned i = 0; i < f->box_count; i++) {
		const char *what = rf_box_leak(f->boxes[i]);

		if (what)
			return what;
	}
	return NULL;
}

/* A data packet that never reaches the peer. */
static void post(struct rf_host *h)
{
	static const char byte;
	struct roce_send_wr wr = {.opcode = ROCE_WR_SEND, .buf = &byte, .len = 1};

	if (h->pair.to_next)
		(void)roce_qp_post_send(h->pair.to_next, &wr);
}

void rf_fabric_spoil(struct rf_fabric *f, enum rf_spoil what)
{
	static const uint8_t frame[64];
	uint8_t sent[ROCE_FRAME_MAX];
	struct rf_host *h = f->hosts[0];

	switch (what) {
	case RF_SPOIL_NOTHING:
		break;
	case RF_SPOIL_FRAME:
		f->frames++;
		break;
	case RF_SPOIL_NIC:
		if (!h->held)
			h->held = rf_frame_new(f, frame, sizeof(frame));
		break;
	case RF_SPOIL_QP:
		post(h);
		break;
	case RF_SPOIL_TIMER:
		post(h);
		(void)roce_endpoint_tx(h->ep, rf_host_ns(h), sent, sizeof(sent));
		break;
	case RF_SPOIL_VECTOR:
		if (h->pub.posted)
			h->ops[0].send = h->ops[0].recv = malloc(1);
		break;
	case RF_SPOIL_MEMBER:
		if (h->member && rf_member_client(h->member))
			rf_member_client(h->member)->state = RF_CLIENT_READY;
		break;
	case RF_SPOIL_BOX:
	case RF_SPOIL_SLOTS:
	case RF_SPOIL_TABLE:
		if (f->box)
			rf_box_spoil(f->box, what);
		break;
	}
}
