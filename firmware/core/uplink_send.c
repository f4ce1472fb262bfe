/* What a box sends to its parent: ARP and requests. */
#include <string.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"

#define EARLIER_MS 1000u /* the deadline of the parent, before that of the ranks */

/* The address to which the next request goes. */
static uint32_t parent_ip(const struct rf_fw_uplink *u)
{
	return u->port_ip ? u->port_ip : u->chain[0].ip;
}

/* Whom to ask for a MAC on the way there. */
static uint32_t next_hop(const struct rf_fw *fw, const struct rf_fw_uplink *u)
{
	uint32_t ip = parent_ip(u);

	if (fw->cfg.prefix == 0 || fw->cfg.gateway == 0 ||
	    ((ip ^ fw->cfg.ip) & rf_fw_prefix_mask(fw->cfg.prefix)) == 0)
		return ip;
	return fw->cfg.gateway;
}

static bool send_arp(struct rf_fw *fw, const struct rf_fw_uplink *u)
{
	uint8_t mac[RF_CTL_MAC_BYTES];

	memcpy(mac, fw->cfg.mac, sizeof(mac));
	mac[5] = (uint8_t)(mac[5] + u->port);
	return rf_fw_send_arp(fw, u->port,
			      &(struct rf_fw_arp){.op = RF_FW_ARP_REQUEST,
						  .sender_mac = mac,
						  .sender_ip = fw->address[u->port].ip,
						  .target_ip = next_hop(fw, u)});
}

static void put_join(struct rf_fw *fw, const struct rf_fw_group *g, const struct rf_fw_uplink *u,
		     struct rf_ctl_join *j)
{
	uint64_t left = g->deadline_ms - fw->now_ms;

	*j = (struct rf_ctl_join){
		.ranks = u->chain[0].ranks,
		.dtype = g->dtype,
		.op = g->op,
		.mtu_log2 = g->mtu_log2,
		.slots_log2 = g->want_log2,
		.slots_min_log2 = g->min_log2,
		.port = RF_CTL_NO_PORT,
		.flags = (uint16_t)(RF_CTL_J_MIRROR | RF_CTL_J_DIRECTED | RF_CTL_J_LEAF |
				    (g->flags & RF_CTL_J_STRAGGLER)),
		.src_ip = fw->address[u->port].ip,
		.qpn = u->qpn,
		.peer_ip = fw->epoch,
		.start_psn = u->start,
		.lease_ms = u->lease_ms,
		.deadline_ms = left > EARLIER_MS ? (uint32_t)left - EARLIER_MS : 1u};
	if (u->above > 1u)
		j->flags |= RF_CTL_J_UPLINK;
	for (unsigned int i = 1; i < u->above; i++)
		j->up[j->above++] = (struct rf_ctl_uplink){.ip = u->chain[i].ip,
							   .rank = u->chain[i].rank,
							   .ranks = u->chain[i].ranks,
							   .port = u->chain[i].port};
}

/* What has happened here, or at a box below. */
static void put_abort(const struct rf_fw *fw, const struct rf_fw_group *g,
		      struct rf_ctl_abort_req *a)
{
	*a = (struct rf_ctl_abort_req){.code = RF_CTL_ABORT_TRANSPORT,
				       .reason = g->reason,
				       .rank = g->fail_rank,
				       .index = g->fail_index,
				       .detail = g->fail_detail,
				       .other = g->fail_other};
	if (g->reason == RF_CTL_R_ABORTED || g->reason == RF_CTL_R_OPERATOR)
		a->code = g->fail_detail;
	if (a->other.box_ip == 0)
		a->other.box_ip = fw->cfg.ip;
}

bool rf_fw_uplink_send(struct rf_fw *fw, struct rf_fw_group *g, struct rf_fw_uplink *u)
{
	struct rf_ctl_header h = {.verb = RF_CTL_JOIN,
				  .group = g->number,
				  .job = g->job,
				  .rank = u->chain[0].rank,
				  .epoch = u->epoch,
				  .token = u->token,
				  .nonce = u->nonce};
	struct rf_ctl_addr to = {.vlan = RF_CTL_NO_VLAN,
				 .src_ip = fw->address[u->port].ip,
				 .dst_ip = parent_ip(u),
				 .src_port = RF_CTL_UDP_PORT,
				 .dst_port = RF_CTL_UDP_PORT};
	const uint8_t *key = rf_fw_keys_secret(fw, g->job);
	uint8_t *msg = fw->tx + rf_ctl_frame_head(RF_CTL_NO_VLAN);
	struct rf_ctl_request q = {.u.join.ranks = 0};
	size_t len;

	if (!u->have_mac)
		return send_arp(fw, u);
	if (rf_fw_must_wait(fw, u->port))
		return false;
	if (u->state == RF_FW_UP_ASK || u->state == RF_FW_UP_JOIN) {
		put_join(fw, g, u, &q.u.join);
	} else if (u->state == RF_FW_UP_ABORT) {
		h.verb = RF_CTL_ABORT;
		put_abort(fw, g, &q.u.abort);
	} else if (u->state == RF_FW_UP_LEAVE) {
		h.verb = RF_CTL_LEAVE;
	} else {
		h.verb = RF_CTL_STATUS;
		q.u.status.page = RF_CTL_PAGE_GROUP;
	}
	h.seq = ++u->seq;
	memcpy(to.dst_mac, u->mac, sizeof(to.dst_mac));
	len = key ? rf_ctl_request_put(msg, &h, &q, key) : 0;
	len = len > 0 ? rf_ctl_frame_put(fw->tx, sizeof(fw->tx), &to, msg, len) : 0;
	if (len > 0)
		rf_fw_inject(fw, u->port, len);
	return true;
}

void rf_fw_uplink_arp(struct rf_fw *fw, unsigned int port, const struct rf_fw_arp *q)
{
	for (unsigned int i = 0; i < RF_FW_UPLINKS; i++) {
		struct rf_fw_uplink *u = &fw->uplink[i];

		if (u->state < RF_FW_UP_ASK || u->have_mac || u->port != port ||
		    q->sender_ip != next_hop(fw, u))
			continue;
		memcpy(u->mac, q->sender_mac, sizeof(u->mac));
		u->have_mac = 1;
		u->due_ms = fw->now_ms;
		fw->uplink_ms = fw->now_ms;
	}
}
