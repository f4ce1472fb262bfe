/* The configuration of a host's member: numbers, addresses, settings. */
#include <string.h>

#include "sim/fabric/host.h"

#define JOB UINT64_C(0x72696e67666f6c64)

uint32_t rf_host_qpn(unsigned life, unsigned rank, bool to_next)
{
	return 0x100 + 0x1000 * life + 2 * rank + (to_next ? 0 : 1);
}

uint32_t rf_host_start_psn(const struct rf_fabric *f, unsigned life, unsigned rank)
{
	struct rf_rng rng =
		rf_rng_make(f->cfg.seed, UINT64_C(2) << 40 | (uint64_t)life << 20 | rank);

	if (f->cfg.start_psn != RF_FABRIC_RANDOM_PSN)
		return f->cfg.start_psn & 0xffffff;
	return (uint32_t)rf_rng_next(&rng) & 0xffffff;
}

unsigned rf_host_window(const struct rf_host *h)
{
	return h->f->cfg.selective ? roce_selective_window(h->pub.window) : h->pub.window;
}

struct rf_member_end rf_host_numbers(const struct rf_host *h, unsigned rank)
{
	unsigned life = h->pub.life;

	if (rf_fabric_is_mirror(&h->f->cfg,
				rank)) { /* one queue pair, whose number is drawn at random */
		struct rf_rng rng = rf_rng_make(h->f->cfg.seed,
						UINT64_C(4) << 40 | (uint64_t)life << 20 | rank);
		uint32_t qpn = 0x10u + (uint32_t)rf_rng_below(&rng, 0xfffff0);

		return (struct rf_member_end){.recv_qpn = qpn,
					      .send_qpn = qpn,
					      .start_psn = rf_host_start_psn(h->f, life, rank)};
	}
	return (struct rf_member_end){.recv_qpn = rf_host_qpn(life, rank, false),
				      .send_qpn = rf_host_qpn(life, rank, true),
				      .start_psn = rf_host_start_psn(h->f, life, rank)};
}

void rf_host_pair_init(struct rf_host *h, struct rf_pair_roce *pair,
		       const struct rf_member_end *own)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;
	struct rf_pair_roce_cfg c = {.ep = h->ep,
				     .ip = rf_fabric_ip(h->rank),
				     .has_vlan = cfg->vlan,
				     .vlan_tci = RF_HOST_VLAN_TCI,
				     .mtu = cfg->mtu,
				     .ack_timeout = cfg->ack_timeout_ns,
				     .ack_timeout_max = cfg->ack_timeout_max_ns,
				     .retry_cnt = (uint8_t)cfg->retry_cnt,
				     .sum = &h->old};

	rf_host_mac(h->rank, c.mac);
	rf_pair_roce_init(pair, &c, own->send_qpn, own->recv_qpn);
}

static struct rf_client_cfg client_cfg(const struct rf_host *h)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;
	struct rf_rng rng =
		rf_rng_make(cfg->seed, UINT64_C(3) << 40 | (uint64_t)h->pub.life << 20 | h->rank);
	struct rf_client_cfg c = {.ip = rf_fabric_ip(h->rank),
				  .box_ip = rf_fabric_box_of(cfg, h->rank),
				  .via_ip = cfg->router ? rf_fabric_router_ip() : 0,
				  .vlan = cfg->vlan ? RF_HOST_VLAN_TCI : RF_CTL_NO_VLAN,
				  .job = JOB + h->rank / rf_fabric_size(cfg),
				  .token = rf_rng_next(&rng) | 1,
				  .answer_ns = cfg->answer_ns};

	rf_host_mac(h->rank, c.mac);
	return c;
}

struct rf_member_cfg rf_host_member_cfg(const struct rf_host *h)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;
	unsigned first = rf_fabric_first(cfg, h->rank);
	bool box = cfg->schedule == RF_RUN_BOX;
	bool mirror = rf_fabric_is_mirror(cfg, h->rank);
	bool directed = rf_fabric_is_directed(cfg, h->rank);
	bool known = cfg->type <= RF_ARITH_INT32 && cfg->op <= RF_ARITH_MAX;

	return (struct rf_member_cfg){
		.tree = cfg->leaves ? &h->f->tree : NULL,
		.rank = h->rank - first,
		.ranks = rf_fabric_size(cfg),
		.peers = h->f->peers + first,
		.own = rf_host_numbers(h, h->rank),
		.store = cfg->store,
		.ends = h->ends,
		/* those of packets without immediate: the calls of a directed group have their own
		 */
		.type = known ? (enum rf_type)cfg->type : RF_FP32,
		.op = known ? (enum rf_op)cfg->op : RF_SUM,
		.schedule = box ? RF_SCHEDULE_BOX : RF_SCHEDULE_RING,
		.fallback = cfg->fallback,
		.slots = cfg->slots,
		.flags = (uint16_t)((cfg->plain || mirror ? 0 : RF_CTL_J_SHIFTED) |
				    (mirror ? RF_CTL_J_MIRROR : 0) |
				    (directed ? RF_CTL_J_DIRECTED : 0) |
				    (cfg->transparent ? RF_CTL_J_TRANSPARENT : 0) |
				    (cfg->selective ? RF_CTL_J_SELECTIVE : 0) |
				    cfg->straggler << RF_CTL_J_STRAGGLER_LSB),
		.prove = cfg->store,
		.timeout_ns = cfg->timeout_ns,
		.exchange_ns = cfg->join_deadline_ms * RF_MSEC,
		.client = client_cfg(h),
		.lease_ms = cfg->lease_ms,
		.join_ms = cfg->join_deadline_ms,
		.mtu = cfg->mtu,
		.ring_window = cfg->slots / 2,
		.message_bytes =
			directed ? cfg->message_packets[h->rank] * cfg->mtu : cfg->message_bytes,
		.calls_max = cfg->max_ops,
		.window = cfg->quirk[h->rank].window,
		.first_index = cfg->start_index,
		.mirrors = rf_fabric_is_mixed(cfg, h->rank) ? h->f->mirrors + first : NULL,
		.port = cfg->port_of_rank[h->rank],
	};
}
