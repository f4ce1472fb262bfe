/* The connections of a member and its collective. */
#include "host/member/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t shift(const struct rf_member *m)
{
	return rf_member_has_box(m) && (m->cfg.flags & RF_CTL_J_SHIFTED) ? RF_CTL_SHIFT : 0;
}

/* Through the box a receiver expects the start PSN less the shift: see struct roce_qp_cfg. */
static struct rf_pair_peer peer_of(const struct rf_member *m, unsigned int rank, uint32_t qpn)
{
	const struct rf_member_end *end = &m->ends[rank];
	struct rf_pair_peer peer = {.ip = m->cfg.peers[rank].ip, .qpn = qpn};

	memcpy(peer.mac, m->cfg.peers[rank].mac, sizeof(peer.mac));
	peer.psn = (end->start_psn + m->cfg.first_index - shift(m)) & ROCE_PSN_MASK;
	return peer;
}

/* The ranks at distance 2, 4, ... All connections of a rank begin at the same PSN. */
static struct rf_pair_far far_of(const struct rf_member *m)
{
	struct rf_pair_far far = {.count = rf_member_far(m)};
	unsigned int n = m->cfg.ranks;

	for (unsigned int k = 0; k < far.count; k++) {
		unsigned int next = (m->cfg.rank + (2u << k)) % n;
		unsigned int prev = (m->cfg.rank + n - (2u << k)) % n;

		far.next[k] = peer_of(m, next, m->far[next][k].recv_qpn);
		far.prev[k] = peer_of(m, prev, m->far[prev][k].send_qpn);
	}
	return far;
}

/* Mirror: the peer is the box's port, with this rank's own numbers. */
static struct rf_pair_peer port_of(const struct rf_member *m)
{
	const uint8_t *mac = rf_client_port_mac(&m->client);
	struct rf_pair_peer peer = {
		.ip = rf_client_port_ip(&m->client),
		.qpn = m->cfg.own.send_qpn,
		.psn = (m->cfg.own.start_psn + m->cfg.first_index) & ROCE_PSN_MASK,
	};

	if (mac)
		memcpy(peer.mac, mac, sizeof(peer.mac));
	return peer;
}

static uint32_t window_of(const struct rf_member *m)
{
	uint32_t window = rf_member_has_box(m) ? m->window : m->cfg.ring_window;

	if (m->cfg.window)
		return m->cfg.window;
	return m->cfg.flags & RF_CTL_J_SELECTIVE && rf_member_has_box(m)
		       ? roce_selective_window(window)
		       : window;
}

/*
 * Packets per message. The opcodes of all ranks must agree at each index, so all ranks cut messages
 * in the same way: by the window that the box has assigned.
 */
static uint32_t message_packets(const struct rf_member *m)
{
	return m->window < RF_COLL_MESSAGE_PACKETS * 2 ? m->window / 2 : RF_COLL_MESSAGE_PACKETS;
}

int rf_member_add_memory(struct rf_member *m, void *addr, size_t bytes, char *why, size_t room)
{
	return m->pair && m->pair->ops->add_memory
		       ? m->pair->ops->add_memory(m->pair, addr, bytes, why, room)
		       : RF_OK;
}

static int make_scratch(struct rf_member *m, size_t bytes, char *why, size_t room)
{
	m->scratch = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
	if (!m->scratch) {
		snprintf(why, room, "no memory for partial sums");
		return RF_ERR_NO_MEMORY;
	}
	return rf_member_add_memory(m, m->scratch, bytes, why, room);
}

static int created(int result, char *why, size_t room)
{
	if (result == RF_COLL_OK)
		return RF_OK;
	snprintf(why, room, "cannot create the collective: %s", rf_coll_error_name(result));
	return result == RF_COLL_E_NO_MEMORY ? RF_ERR_NO_MEMORY : RF_ERR_INTERNAL;
}

static int make_coll(struct rf_member *m, char *why, size_t room)
{
	struct rf_coll_cfg cfg = {
		.rank = m->cfg.rank,
		.ranks = m->cfg.ranks,
		.type = (enum rf_arith_type)m->cfg.type,
		.op = (enum rf_arith_op)m->cfg.op,
		.mtu = m->cfg.mtu,
		.message_bytes = m->cfg.message_bytes,
		.max_ops = m->cfg.calls_max,
		.results_suffice = rf_member_is_mirror(m) && m->pair && m->pair->counts_window,
	};

	if (m->cfg.ranks > 1) {
		if (!cfg.message_bytes)
			cfg.message_bytes = message_packets(m) * cfg.mtu;
		/* what is posted must fit, unless the connections count packets */
		if (!m->pair->counts_window)
			cfg.window_packets = m->window;
		cfg.to_next = m->pair->to_next;
		cfg.from_prev = m->pair->from_prev;
	}
	return created(rf_coll_create(&cfg, &m->coll), why, room);
}

/* Without a box. */
static int make_hosts(struct rf_member *m, char *why, size_t room)
{
	struct rf_hosts_cfg cfg = {
		.rank = m->cfg.rank,
		.ranks = m->cfg.ranks,
		.mtu = m->cfg.mtu,
		.message_bytes = m->cfg.message_bytes,
		.max_ops = m->cfg.calls_max,
	};
	int ret = RF_OK;

	if (m->cfg.ranks > 1) {
		cfg.next[0] = m->pair->to_next;
		cfg.prev[0] = m->pair->from_prev;
		for (unsigned int k = 0; k < rf_member_far(m); k++) {
			cfg.next[k + 1] = m->pair->far_next[k];
			cfg.prev[k + 1] = m->pair->far_prev[k];
		}
		cfg.scratch_bytes = rf_hosts_scratch_bytes(&cfg);
		ret = make_scratch(m, cfg.scratch_bytes, why, room);
		cfg.scratch = m->scratch;
	}
	return ret ? ret : created(rf_hosts_create(&cfg, &m->hosts), why, room);
}

/*
 * All collectives in one group: single packets on our own transport, unless the configuration says
 * otherwise, and long messages on a NIC.
 */
static int make_directed(struct rf_member *m, char *why, size_t room)
{
	bool mirror = rf_member_is_mirror(m), nic = m->pair && !m->pair->counts_window;
	struct rf_directed_cfg cfg = {
		.rank = m->cfg.rank,
		.ranks = m->cfg.ranks,
		.next = mirror ? m->cfg.rank : rf_member_next_rank(m),
		.prev = mirror ? m->cfg.rank : rf_member_prev_rank(m),
		.mtu = m->cfg.mtu,
		.type = (enum rf_arith_type)m->cfg.type,
		.op = (enum rf_arith_op)m->cfg.op,
		.message_packets = nic ? message_packets(m) : m->cfg.message_bytes / m->cfg.mtu,
		.window_packets = nic ? m->window : 0,
		.await_sends = nic || !mirror,
		.max_ops = m->cfg.calls_max,
		.first_index = m->cfg.first_index,
	};

	if (m->cfg.ranks > 1) {
		cfg.to_next = m->pair->to_next;
		cfg.from_prev = m->pair->from_prev;
	}
	return created(rf_directed_create(&cfg, &m->directed), why, room);
}

int rf_member_connect(struct rf_member *m, char *why, size_t room)
{
	struct rf_pair_cfg cfg = {0};
	struct rf_pair_far far = far_of(m);
	unsigned int next = rf_member_next_rank(m), prev = rf_member_prev_rank(m);
	int ret = RF_OK;

	if (m->cfg.ranks > 1) {
		cfg.next = peer_of(m, next, m->ends[next].recv_qpn);
		cfg.prev = peer_of(m, prev, m->ends[prev].send_qpn);
		cfg.far = rf_member_has_box(m) ? NULL : &far;
		cfg.mirror = rf_member_is_mirror(m);
		cfg.single = rf_member_is_directed(m) && m->pair->counts_window &&
			     m->cfg.message_bytes <= m->cfg.mtu;
		if (cfg.mirror)
			cfg.next = port_of(m);
		cfg.start_psn = (m->cfg.own.start_psn + m->cfg.first_index) & ROCE_PSN_MASK;
		cfg.window = window_of(m);
		cfg.selective = rf_member_has_box(m) && (m->cfg.flags & RF_CTL_J_SELECTIVE);
		ret = m->pair->ops->connect(m->pair, &cfg, why, room);
	}
	if (ret)
		return ret;
	if (!rf_member_has_box(m))
		return make_hosts(m, why, room);
	return rf_member_is_directed(m) ? make_directed(m, why, room) : make_coll(m, why, room);
}
