/* The connections of a rank over our own transport. */
#include <string.h>

#include "host/member/pair.h"
#include "ringfold/ringfold.h"

#define ECT_0 2u /* ECN bits: switches may mark the packet (docs/transport.md) */

static struct rf_pair_roce *roce_of(struct rf_pair *p)
{
	return (struct rf_pair_roce *)(void *)p;
}

static const struct rf_pair_roce *roce_of_const(const struct rf_pair *p)
{
	return (const struct rf_pair_roce *)(const void *)p;
}

/* Creates one queue pair, ready to use. */
static struct roce_qp *make_qp(const struct rf_pair_roce *p, const struct rf_pair_cfg *c,
			       bool sends)
{
	const struct rf_pair_peer *peer = sends ? &c->next : &c->prev;
	struct roce_qp_peer to = {.ip = peer->ip, .qpn = peer->qpn};
	/* A single packet takes a work request; what is sent and not acknowledged keeps it. */
	uint32_t depth = c->single ? 2 * c->window + RF_PAIR_DEPTH : RF_PAIR_DEPTH;
	struct roce_qp_cfg cfg;
	struct roce_qp *qp;

	roce_qp_cfg_init(&cfg);
	memcpy(cfg.mac, p->cfg.mac, sizeof(cfg.mac));
	cfg.ip = p->cfg.ip;
	cfg.has_vlan = p->cfg.has_vlan;
	cfg.vlan_tci = p->cfg.vlan_tci;
	cfg.qpn = sends ? p->send_qpn : p->recv_qpn;
	cfg.sq_psn = c->start_psn;
	cfg.rq_psn = peer->psn & ROCE_PSN_MASK;
	cfg.mtu = p->cfg.mtu;
	cfg.window = c->window;
	cfg.selective = c->selective;
	cfg.single = c->single;
	cfg.mirror = c->mirror;
	cfg.tos = c->mirror ? ECT_0 : 0;
	cfg.sq_depth = sends ? depth : 0;
	cfg.rq_depth = sends && !c->mirror ? 0 : depth;
	cfg.ack_timeout = p->cfg.ack_timeout;
	cfg.ack_timeout_max = p->cfg.ack_timeout_max;
	cfg.retry_cnt = p->cfg.retry_cnt;
	if (roce_qp_create(&cfg, &qp) != ROCE_OK)
		return NULL;
	memcpy(to.mac, peer->mac, sizeof(to.mac));
	if (roce_qp_to_rtr(qp, &to) == ROCE_OK && roce_qp_to_rts(qp) == ROCE_OK &&
	    roce_endpoint_add_qp(p->cfg.ep, qp) == ROCE_OK)
		return qp;
	roce_qp_destroy(qp);
	return NULL;
}

static int connect_both(struct rf_pair *base, const struct rf_pair_cfg *cfg, char *why, size_t room)
{
	struct rf_pair_roce *p = roce_of(base);

	p->to_next = make_qp(p, cfg, true);
	p->from_prev = cfg->mirror ? p->to_next : make_qp(p, cfg, false);
	if (!p->to_next || !p->from_prev) {
		strncpy(why, "no memory for the queue pairs", room);
		return RF_ERR_NO_MEMORY;
	}
	p->base.to_next = rf_msg_qp(p->to_next);
	p->base.from_prev = rf_msg_qp(p->from_prev);
	return 0;
}

static uint64_t moved(const struct rf_pair *base)
{
	const struct rf_pair_roce *p = roce_of_const(base);
	const struct roce_qp_counters *tx = roce_qp_counters(p->to_next);
	const struct roce_qp_counters *rx = roce_qp_counters(p->from_prev);

	return tx->tx_packets - tx->tx_retransmits - roce_qp_in_flight(p->to_next) + rx->rx_bytes;
}

static bool bypassed(const struct rf_pair *base)
{
	const struct rf_pair_roce *p = roce_of_const(base);

	return p->from_prev && roce_qp_counters(p->from_prev)->rx_gaps > 0;
}

static void stop(struct rf_pair *base)
{
	struct rf_pair_roce *p = roce_of(base);

	if (p->to_next)
		roce_qp_to_err(p->to_next);
	if (p->from_prev)
		roce_qp_to_err(p->from_prev);
}

static void end_qp(struct rf_pair_roce *p, struct roce_qp **qp)
{
	struct roce_qp_counters *sum = p->cfg.sum;
	const struct roce_qp_counters *c;

	if (!*qp)
		return;
	c = roce_qp_counters(*qp);
	sum->tx_packets += c->tx_packets;
	sum->tx_retransmits += c->tx_retransmits;
	sum->tx_acks += c->tx_acks;
	sum->tx_naks += c->tx_naks;
	sum->tx_rnr_naks += c->tx_rnr_naks;
	sum->rx_packets += c->rx_packets;
	sum->rx_acks += c->rx_acks;
	sum->rx_naks += c->rx_naks;
	sum->rx_rnr_naks += c->rx_rnr_naks;
	sum->rx_duplicates += c->rx_duplicates;
	sum->rx_gaps += c->rx_gaps;
	sum->timeouts += c->timeouts;
	roce_endpoint_remove_qp(p->cfg.ep, *qp);
	roce_qp_destroy(*qp);
	*qp = NULL;
}

static void disconnect(struct rf_pair *base)
{
	struct rf_pair_roce *p = roce_of(base);

	if (p->from_prev == p->to_next)
		p->from_prev = NULL;
	end_qp(p, &p->to_next);
	end_qp(p, &p->from_prev);
}

void rf_pair_roce_init(struct rf_pair_roce *p, const struct rf_pair_roce_cfg *cfg,
		       uint32_t send_qpn, uint32_t recv_qpn)
{
	static const struct rf_pair_ops ops = {.connect = connect_both,
					       .moved = moved,
					       .bypassed = bypassed,
					       .stop = stop,
					       .disconnect = disconnect};

	memset(p, 0, sizeof(*p));
	p->base.ops = &ops;
	p->base.counts_window = true;
	p->cfg = *cfg;
	p->send_qpn = send_qpn;
	p->recv_qpn = recv_qpn;
}
