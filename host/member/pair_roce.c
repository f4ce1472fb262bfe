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

/* Each number of a pair has 2^20 in a row for other pairs; 0 and 1 are reserved. */
#define NUMBERS_APART 20u

uint32_t rf_pair_roce_number(uint32_t qpn, unsigned int k)
{
	uint32_t n = (qpn + ((k + 1) << NUMBERS_APART)) & ROCE_PSN_MASK;

	return n < 2 ? n + ((RF_PAIR_FAR + 2) << NUMBERS_APART) : n;
}

static int reach(struct rf_pair *base, unsigned int count, char *why, size_t room)
{
	const struct rf_pair_roce *p = roce_of(base);

	(void)why;
	(void)room;
	for (unsigned int k = 0; k < count; k++)
		base->numbers[k] = (struct rf_pair_numbers){rf_pair_roce_number(p->send_qpn, k),
							    rf_pair_roce_number(p->recv_qpn, k)};
	return 0;
}

/* Creates one queue pair, ready to use. `sends`: it is for sending, at a box. */
static struct roce_qp *make_qp(const struct rf_pair_roce *p, const struct rf_pair_cfg *c,
			       const struct rf_pair_peer *peer, uint32_t qpn, bool sends)
{
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
	cfg.qpn = qpn;
	cfg.sq_psn = c->start_psn;
	cfg.rq_psn = peer->psn & ROCE_PSN_MASK;
	cfg.mtu = p->cfg.mtu;
	cfg.window = c->window;
	cfg.selective = c->selective;
	cfg.single = c->single;
	cfg.mirror = c->mirror;
	cfg.tos = c->mirror ? ECT_0 : 0;
	cfg.sq_depth = sends || c->far ? depth : 0;
	cfg.rq_depth = sends && !c->mirror && !c->far ? 0 : depth;
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

static bool connect_far(struct rf_pair_roce *p, const struct rf_pair_cfg *cfg)
{
	for (unsigned int k = 0; k < cfg->far->count; k++) {
		const struct rf_pair_numbers *own = &p->base.numbers[k];

		p->far_next[k] = make_qp(p, cfg, &cfg->far->next[k], own->send_qpn, true);
		p->far_prev[k] = make_qp(p, cfg, &cfg->far->prev[k], own->recv_qpn, false);
		if (!p->far_next[k] || !p->far_prev[k])
			return false;
		p->base.far_next[k] = rf_msg_qp(p->far_next[k]);
		p->base.far_prev[k] = rf_msg_qp(p->far_prev[k]);
	}
	return true;
}

static int connect_all(struct rf_pair *base, const struct rf_pair_cfg *cfg, char *why, size_t room)
{
	struct rf_pair_roce *p = roce_of(base);

	p->to_next = make_qp(p, cfg, &cfg->next, p->send_qpn, true);
	p->from_prev = cfg->mirror ? p->to_next : make_qp(p, cfg, &cfg->prev, p->recv_qpn, false);
	if (!p->to_next || !p->from_prev || (cfg->far && !connect_far(p, cfg))) {
		strncpy(why, "no memory for the queue pairs", room);
		return RF_ERR_NO_MEMORY;
	}
	p->base.to_next = rf_msg_qp(p->to_next);
	p->base.from_prev = rf_msg_qp(p->from_prev);
	return 0;
}

unsigned int rf_pair_roce_qps(const struct rf_pair_roce *p, struct roce_qp *qps[RF_PAIR_QPS])
{
	unsigned int n = 0;

	if (p->to_next)
		qps[n++] = p->to_next;
	if (p->from_prev && p->from_prev != p->to_next)
		qps[n++] = p->from_prev;
	for (unsigned int k = 0; k < RF_PAIR_FAR; k++) {
		if (p->far_next[k])
			qps[n++] = p->far_next[k];
		if (p->far_prev[k])
			qps[n++] = p->far_prev[k];
	}
	return n;
}

static uint64_t moved(const struct rf_pair *base)
{
	struct roce_qp *qps[RF_PAIR_QPS];
	unsigned int n = rf_pair_roce_qps(roce_of_const(base), qps);
	uint64_t mark = 0;

	for (unsigned int k = 0; k < n; k++) {
		const struct roce_qp_counters *c = roce_qp_counters(qps[k]);

		mark += c->tx_packets - c->tx_retransmits - roce_qp_in_flight(qps[k]) + c->rx_bytes;
	}
	return mark;
}

static bool bypassed(const struct rf_pair *base)
{
	const struct rf_pair_roce *p = roce_of_const(base);

	return p->from_prev && roce_qp_counters(p->from_prev)->rx_gaps > 0;
}

static void stop(struct rf_pair *base)
{
	struct roce_qp *qps[RF_PAIR_QPS];
	unsigned int n = rf_pair_roce_qps(roce_of(base), qps);

	for (unsigned int k = 0; k < n; k++)
		roce_qp_to_err(qps[k]);
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
	for (unsigned int k = 0; k < RF_PAIR_FAR; k++) {
		end_qp(p, &p->far_next[k]);
		end_qp(p, &p->far_prev[k]);
	}
}

void rf_pair_roce_init(struct rf_pair_roce *p, const struct rf_pair_roce_cfg *cfg,
		       uint32_t send_qpn, uint32_t recv_qpn)
{
	static const struct rf_pair_ops ops = {.reach = reach,
					       .connect = connect_all,
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
