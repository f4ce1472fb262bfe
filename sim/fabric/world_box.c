/* The box of a world: the engine, its group in registers, the MACs of its ports. */
#include <stdio.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"
#include "rf_regs.h"
#include "sim/fabric/shape.h"
#include "sim/fabric/world_internal.h"

#define PS_PER_SEC_KHZ UINT64_C(1000000000)
#define MAC_FIFO 4096u /* bytes between box and wire at each port */
#define RUN_CYCLES 64u
#define BOX_IP 0x0a00fffeu
#define ROLE_DATA 0u
#define ROLE_ACK 1u
#define ROLE_MIRROR 2u

static const struct rf_engine_ops *ops(const struct rf_world *w)
{
	return w->cfg.engine;
}

uint64_t rf_world_box_time(const struct rf_world *w)
{
	return ops(w)->cycle(w->engine) * w->period;
}

bool rf_world_box_idle(const struct rf_world *w)
{
	return ops(w)->next_event(w->engine) == RF_ENGINE_NEVER;
}

static void box_tx(void *arg, unsigned port, const uint8_t *data, size_t len, uint64_t first,
		   uint64_t last)
{
	struct rf_world *w = arg;
	uint64_t start = (first + 1) * w->period, end = (last + 1) * w->period;
	uint64_t wire = rf_world_wire(w->cfg.rate, len);

	/* If the core is slower than the wire, the last beat comes in time. */
	if (start + wire < end)
		start = end - wire;
	rf_world_send(w, rf_world_link(w, true, port, true), start, data, len);
}

static bool box_tx_ready(void *arg, unsigned port, uint64_t cycle)
{
	struct rf_world *w = arg;
	uint64_t fifo = (uint64_t)MAC_FIFO * 8 * UINT64_C(1000000000000) / w->cfg.rate;
	uint64_t free_at = rf_world_link(w, true, port, true)->free_at, now = cycle * w->period;

	return free_at <= now || free_at - now <= fifo;
}

static void reg(struct rf_world *w, uint32_t addr, uint32_t value)
{
	ops(w)->reg_write(w->engine, addr, value);
}

struct entry {
	uint32_t ip, key;
};

/* The places of the table that are taken; the world's groups are small, so nothing is moved. */
struct table {
	uint8_t used[2][1u << 14];
};

static int add_entry(struct rf_world *w, struct table *t, struct entry e, uint32_t cid)
{
	uint32_t mask = (1u << (w->shape.hash_bits - 2)) - 1, h;
	uint8_t bytes[8];

	rf_put_be32(bytes, e.key);
	rf_put_be32(bytes + 4, e.ip);
	h = rf_crc32(bytes, sizeof(bytes));
	h ^= (h >> 13 | h << 19) & (h >> 23 | h << 9);
	for (unsigned k = 0; k < 8; k++) {
		uint32_t place = 4 * ((k >= 4 ? h >> 16 : h) & mask) + k % 4;

		if (t->used[k / 4][place])
			continue;
		t->used[k / 4][place] = 1;
		reg(w, RF_HASH_IP, e.ip);
		reg(w, RF_HASH_KEY, e.key);
		reg(w, RF_HASH_VALUE, cid | RF_STATE_LIVE << RF_HASH_VALUE_STATE_LSB);
		reg(w, RF_HASH_WRITE, place | (k / 4) << RF_HASH_WRITE_TABLE_LSB);
		return 0;
	}
	return -1;
}

static uint32_t key_of(uint32_t role, uint32_t qpn)
{
	return role << RF_HASH_KEY_ROLE_LSB | qpn;
}

/* The connection of a rank; returns its entries in the table. */
static int start_connection(struct rf_world *w, struct table *t, unsigned group, unsigned rank)
{
	struct rf_place at = rf_world_place(w, rank);
	unsigned next = (rank + 1) % w->cfg.ranks;
	uint32_t cid = group * 128u + at.lane * 8u + at.port,
		 base = RF_CONN_BASE + cid * RF_CONN_STRIDE;
	uint32_t ip = rf_world_host_ip(w, rank), peer = rf_world_host_ip(w, next);
	uint32_t qpn = rf_world_qpn(w, group, rank, true);
	uint8_t mac[6];

	rf_world_host_mac(rank, mac);
	if (w->cfg.router)
		rf_world_router_mac(mac);
	reg(w, base + RF_CONN_START, rf_world_psn(w, group, rank));
	reg(w, base + RF_CONN_SHIFT, w->cfg.mirror ? 0 : RF_WORLD_SHIFT);
	reg(w, base + RF_CONN_SRC_IP, ip);
	reg(w, base + RF_CONN_PEER_IP, w->cfg.mirror ? ip : peer);
	reg(w, base + RF_CONN_PEER_PORT, w->cfg.mirror ? at.port : rf_world_place(w, next).port);
	reg(w, base + RF_CONN_QPN, qpn);
	reg(w, base + RF_CONN_PEER_MAC_HI,
	    w->cfg.mirror ? RF_CONN_PEER_MAC_HI_MIRROR_MASK | rf_get_be16(mac) : 0);
	reg(w, base + RF_CONN_PEER_MAC_LO, w->cfg.mirror ? rf_get_be32(mac + 2) : 0);
	reg(w, base + RF_CONN_INIT, 1);
	if (w->cfg.mirror)
		return add_entry(w, t, (struct entry){ip, key_of(ROLE_MIRROR, qpn)}, cid);
	if (add_entry(w, t, (struct entry){ip, key_of(ROLE_ACK, qpn)}, cid) != 0)
		return -1;
	return add_entry(
		w, t, (struct entry){peer, key_of(ROLE_DATA, rf_world_qpn(w, group, next, false))},
		cid);
}

static unsigned log2_of(unsigned v)
{
	unsigned n = 0;

	while (v > 1u << n)
		n++;
	return n;
}

static int start_group(struct rf_world *w, struct table *table, unsigned group)
{
	const struct rf_world_cfg *c = &w->cfg;
	uint32_t base = RF_GROUP_BASE + group * RF_GROUP_STRIDE;
	unsigned lanes = (c->ranks + c->ports - 1) / c->ports;
	unsigned level = c->ports > 4 ? 3 : c->ports > 2 ? 2 : 1;
	uint8_t members[16] = {0};
	uint32_t cfg = (uint32_t)c->type << RF_GROUP_CFG_DTYPE_LSB |
		       (uint32_t)c->op << RF_GROUP_CFG_OP_LSB |
		       log2_of(c->mtu) << RF_GROUP_CFG_MTU_LOG2_LSB |
		       level << RF_GROUP_CFG_LEVEL_LSB | lanes << RF_GROUP_CFG_LANES_LSB |
		       log2_of(c->slots) << RF_GROUP_CFG_S_LOG2_LSB | RF_GROUP_CFG_DIRECTED_MASK |
		       (c->selective ? RF_GROUP_CFG_SELECTIVE_MASK : 0);

	reg(w, base + RF_GROUP_CFG, cfg);
	reg(w, base + RF_GROUP_DBASE, group * (c->slots * c->mtu / (c->width / 8)));
	reg(w, base + RF_GROUP_HBASE, group * c->slots);
	for (unsigned r = 0; r < c->ranks; r++) {
		struct rf_place at = rf_world_place(w, r);

		members[at.lane] |= (uint8_t)(1u << at.port);
		if (start_connection(w, table, group, r) != 0)
			return -1;
	}
	for (unsigned k = 0; k < 4; k++)
		reg(w, base + RF_GROUP_MEMBERS0 + 4 * k, rf_get_le32(members + 4 * k));
	reg(w, base + RF_GROUP_CFG, cfg | RF_GROUP_CFG_LIVE_MASK);
	return 0;
}

static int start_groups(struct rf_world *w)
{
	static struct table table;

	memset(&table, 0, sizeof(table));
	for (unsigned g = 0; g < w->cfg.groups; g++)
		if (start_group(w, &table, g) != 0)
			return -1;
	return 0;
}

/* Room for all slots of the groups; a Verilated box may have more. */
static void make_shape(struct rf_world *w)
{
	struct rf_engine_cfg built = {0};
	unsigned lanes = (w->cfg.ranks + w->cfg.ports - 1) / w->cfg.ports;
	unsigned beats = log2_of(w->cfg.groups * w->cfg.slots * w->cfg.mtu / (w->cfg.width / 8));

	rf_shape_cfg(&w->shape, w->cfg.ports, w->cfg.lanes > lanes ? w->cfg.lanes : lanes,
		     w->cfg.width);
	if (w->shape.bank_log2 < beats)
		w->shape.bank_log2 = beats;
	if (w->shape.hdr_log2 < log2_of(w->cfg.groups * w->cfg.slots))
		w->shape.hdr_log2 = log2_of(w->cfg.groups * w->cfg.slots);
	ops(w)->shape(&built);
	if (w->shape.bank_log2 < built.bank_log2)
		w->shape.bank_log2 = built.bank_log2;
	if (w->shape.hdr_log2 < built.hdr_log2)
		w->shape.hdr_log2 = built.hdr_log2;
	w->shape.seed = w->cfg.seed;
}

int rf_world_box_start(struct rf_world *w, char *why, size_t room)
{
	struct rf_engine_host host = {.arg = w, .tx = box_tx, .tx_ready = box_tx_ready};
	uint32_t need = RF_SHAPE_DIRECTED_MASK | (w->cfg.mirror ? RF_SHAPE_MIRROR_MASK : 0);
	uint8_t mac[6];

	make_shape(w);
	w->period = PS_PER_SEC_KHZ / w->shape.clock_khz;
	w->engine = ops(w)->create(&w->shape, &host, why, room);
	if (!w->engine)
		return -1;
	need &= ~ops(w)->reg_read(w->engine, RF_SHAPE);
	if (need) {
		snprintf(why, room, "engine %s: this build of the box has no %s", ops(w)->name,
			 need & RF_SHAPE_DIRECTED_MASK ? "directed groups" : "mirror connections");
		return -1;
	}
	rf_world_port_mac(0, mac);
	reg(w, RF_MAC_HI, rf_get_be16(mac));
	reg(w, RF_MAC_LO, rf_get_be32(mac + 2));
	reg(w, RF_IP, BOX_IP);
	for (unsigned p = 0; w->cfg.mirror && p < w->cfg.ports; p++)
		reg(w, RF_PORT_IP0 + 4 * p, rf_world_port_ip(p));
	reg(w, RF_CTRL, RF_CTRL_ENABLE_MASK);
	if (start_groups(w) != 0) {
		snprintf(why, room, "no room in the box's connection table");
		return -1;
	}
	/* A selective group's slots are cleared first. */
	ops(w)->run(w->engine, ops(w)->cycle(w->engine) + w->cfg.slots + 16);
	w->now = rf_world_box_time(w);
	return 0;
}

void rf_world_box_frame(struct rf_world *w, unsigned port, const uint8_t *data, size_t len)
{
	(void)ops(w)->rx(w->engine, port, data, len, false);
}

void rf_world_box_run(struct rf_world *w, uint64_t until)
{
	uint64_t cycle = ops(w)->cycle(w->engine);
	uint64_t target = (until + w->period - 1) / w->period;

	if (target <= cycle)
		return;
	if (rf_world_box_idle(w)) {
		ops(w)->jump(w->engine, target);
		return;
	}
	/* In short steps, so that the end of activity is detected early. */
	ops(w)->run(w->engine, target > cycle + RUN_CYCLES ? cycle + RUN_CYCLES : target);
}

uint32_t rf_world_counter(struct rf_world *w, unsigned port, unsigned counter)
{
	return ops(w)->reg_read(w->engine, RF_PORT_BASE + port * RF_PORT_STRIDE + counter * 4);
}

uint32_t rf_world_error(struct rf_world *w)
{
	uint32_t error = 0;

	for (unsigned g = 0; g < w->cfg.groups && !error; g++)
		error = ops(w)->reg_read(w->engine,
					 RF_GROUP_BASE + g * RF_GROUP_STRIDE + RF_GROUP_ERROR);
	return error;
}
