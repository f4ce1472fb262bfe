/* The register map: rtl/control/registers.txt. */
#include "base/log2.h"
#include "base/uplink_regs.h"
#include "sim/model/internal.h"

#define ID 0x52464258u

static uint32_t punt_status(const struct rf_engine *e)
{
	const struct model_punt *p = &e->punts[e->punt_head];

	if (e->punt_count == 0)
		return 0;
	return RF_PUNT_STATUS_VALID_MASK | (uint32_t)p->port << RF_PUNT_STATUS_PORT_LSB |
	       (uint32_t)p->len;
}

static uint32_t held_key(const struct rf_engine *e)
{
	const struct model_held *h = &e->held;

	return (h->valid ? RF_HELD_KEY_VALID_MASK : 0) |
	       (e->held_missed ? RF_HELD_KEY_MISSED_MASK : 0) |
	       (uint32_t)h->port << RF_HELD_KEY_PORT_LSB | h->qpn;
}

static uint32_t irq_reasons(const struct rf_engine *e)
{
	uint32_t reasons = e->punt_count ? RF_IRQ_PUNT_MASK : 0;
	unsigned int g;

	if (e->held.valid)
		reasons |= RF_IRQ_HELD_MASK;
	for (g = 0; g < e->cfg.groups; g++) {
		if (e->groups[g].error & RF_GROUP_ERROR_VALID_MASK)
			reasons |= RF_IRQ_GROUP_ERROR_MASK;
	}
	return reasons;
}

bool model_irq(const struct rf_engine *e)
{
	return irq_reasons(e) != 0;
}

static uint32_t read_global(struct rf_engine *e, uint32_t addr)
{
	const struct rf_engine_cfg *c = &e->cfg;

	if (addr >= RF_PORT_IP0 && addr <= RF_PORT_IP7)
		return e->port_ip[(addr - RF_PORT_IP0) / 4];
	switch (addr) {
	case RF_ID:
		return ID;
	case RF_VERSION:
		return 1;
	case RF_SHAPE:
		return c->ports << RF_SHAPE_PORTS_LSB | c->lanes << RF_SHAPE_LANES_LSB |
		       c->width / 64 << RF_SHAPE_WIDTH64_LSB |
		       c->hash_bits << RF_SHAPE_HASH_BITS_LSB | RF_SHAPE_SELECTIVE_MASK |
		       RF_SHAPE_LAG_MASK | RF_SHAPE_MIRROR_MASK | RF_SHAPE_DIRECTED_MASK |
		       RF_SHAPE_UPLINK_MASK;
	case RF_SHAPE2:
		return c->groups << RF_SHAPE2_GROUPS_LSB | c->bank_log2 << RF_SHAPE2_BANK_AW_LSB |
		       c->hdr_log2 << RF_SHAPE2_HDR_AW_LSB |
		       rf_log2(c->mtu_max) << RF_SHAPE2_MTU_LOG2_LSB;
	case RF_CLOCK_KHZ:
		return c->clock_khz;
	case RF_TYPES:
		return RF_TYPES_MASK_MASK;
	case RF_CYCLE_LO:
		e->cycle_hi = (uint32_t)(e->now >> 32);
		return (uint32_t)e->now;
	case RF_CYCLE_HI:
		return e->cycle_hi;
	case RF_CTRL:
		return e->ctrl;
	case RF_MAC_HI:
		return (uint32_t)(e->mac >> 32);
	case RF_MAC_LO:
		return (uint32_t)e->mac;
	case RF_TX_SHARE:
		return e->tx_share;
	case RF_IP:
		return e->ip;
	case RF_IRQ:
		return irq_reasons(e);
	case RF_HASH_IP:
		return e->hash_ip;
	case RF_HASH_KEY:
		return e->hash_key;
	case RF_HASH_VALUE:
		return e->hash_value;
	case RF_PUNT_STATUS:
		return punt_status(e);
	case RF_HELD_IP:
		return e->held.ip;
	case RF_HELD_SRC:
		return e->held.src;
	case RF_HELD_KEY:
		return held_key(e);
	case RF_TOMB_SRC:
		return e->tomb_src;
	case RF_TOMB_SEEN:
		return e->tomb_seen;
	case RF_HOLD_PORTS:
		return e->hold_ports;
	case RF_LAG_STATUS:
		if (e->lag.state != MODEL_LAG_DONE)
			return 0;
		return RF_LAG_STATUS_VALID_MASK | e->lag.group << RF_LAG_STATUS_GROUP_LSB |
		       model_cid_lane(e->lag.last) << RF_LAG_STATUS_LANE_LSB |
		       model_cid_port(e->lag.last) << RF_LAG_STATUS_PORT_LSB;
	case RF_LAG_CYCLES:
		return e->lag.state == MODEL_LAG_DONE ? e->lag.cycles : 0;
	case RF_LAG_INDEX:
		return e->lag.state == MODEL_LAG_DONE ? e->lag.index : 0;
	case RF_INJECT_STATUS:
		return e->inject_busy;
	default:
		return 0;
	}
}

static void hash_write(struct rf_engine *e, uint32_t where)
{
	uint32_t index = where & RF_HASH_WRITE_INDEX_MASK;
	struct model_entry *entry;

	entry = &e->table[where & RF_HASH_WRITE_TABLE_MASK ? 1 : 0]
			 [index & ((1u << e->cfg.hash_bits) - 1)];
	entry->ip = e->hash_ip;
	entry->key = e->hash_key;
	entry->value = e->hash_value;
}

/* A second frame before the first has left, and an invalid length or port, are ignored. */
static void inject(struct rf_engine *e, uint32_t value)
{
	uint32_t len = value & RF_INJECT_LENGTH_MASK;
	uint32_t port = (value & RF_INJECT_PORT_MASK) >> RF_INJECT_PORT_LSB;

	if (len < 60 || len > MODEL_PUNT_MAX || port >= e->cfg.ports || e->inject_busy >> port & 1)
		return;
	e->inject_busy |= 1u << port;
	model_send_raw(e, port, MODEL_SRC_INJECT, e->inject[port], len);
}

static void write_global(struct rf_engine *e, uint32_t addr, uint32_t value)
{
	if (addr >= RF_PORT_IP0 && addr <= RF_PORT_IP7 && (addr - RF_PORT_IP0) / 4 < e->cfg.ports)
		e->port_ip[(addr - RF_PORT_IP0) / 4] = value;
	switch (addr) {
	case RF_CTRL:
		e->ctrl = value & (RF_CTRL_ENABLE_MASK | RF_CTRL_HOLD_MASK);
		break;
	case RF_MAC_HI:
		e->mac = (e->mac & 0xffffffffu) | (uint64_t)(value & 0xffff) << 32;
		break;
	case RF_MAC_LO:
		e->mac = (e->mac & 0xffff00000000u) | value;
		break;
	case RF_TX_SHARE:
		e->tx_share = value & RF_TX_SHARE_FOREIGN_MASK;
		break;
	case RF_IP:
		e->ip = value;
		break;
	/* The model has no parity errors: the register is always 0; nothing to reset. */
	case RF_PARITY:
		break;
	case RF_TICK:
		model_nak_tick(e);
		model_uplink_tick(e);
		break;
	case RF_LAG_ARM:
		model_lag_arm(e, value & RF_LAG_ARM_GROUP_MASK);
		break;
	case RF_HASH_IP:
		e->hash_ip = value;
		break;
	case RF_HASH_KEY:
		e->hash_key = value & (RF_HASH_KEY_QPN_MASK | RF_HASH_KEY_ROLE_MASK);
		break;
	case RF_HASH_VALUE:
		e->hash_value = value & (RF_HASH_VALUE_CID_MASK | RF_HASH_VALUE_STATE_MASK);
		break;
	case RF_HASH_WRITE:
		hash_write(e, value);
		break;
	case RF_PUNT_POP:
		if (e->punt_count) {
			e->punt_head = (e->punt_head + 1) % MODEL_PUNTS;
			e->punt_count--;
		}
		break;
	case RF_INJECT:
		inject(e, value);
		break;
	case RF_HELD_POP:
		model_held_pop(e);
		break;
	case RF_TOMB_SRC:
		e->tomb_src = value;
		break;
	case RF_HOLD_PORTS:
		e->hold_ports = value & ((1u << e->cfg.ports) - 1u);
		break;
	case RF_TOMB_WRITE:
		model_tomb_write(e, value);
		break;
	case RF_TOMB_LOOK:
		model_tomb_look(e, value & RF_TOMB_LOOK_NUMBER_MASK);
		break;
	default:
		break;
	}
}

static uint32_t read_group(const struct model_group *g, uint32_t offset)
{
	switch (offset) {
	case RF_GROUP_CFG:
		return g->cfg;
	case RF_GROUP_DBASE:
		return g->dbase;
	case RF_GROUP_HBASE:
		return g->hbase;
	case RF_GROUP_MEMBERS0:
	case RF_GROUP_MEMBERS1:
	case RF_GROUP_MEMBERS2:
	case RF_GROUP_MEMBERS3:
		return g->members[(offset - RF_GROUP_MEMBERS0) / 4];
	case RF_GROUP_HEAD:
		return g->head;
	case RF_GROUP_TAIL:
		return g->tail;
	case RF_GROUP_ISSUED:
		return g->issued;
	case RF_GROUP_ERROR:
		return g->error;
	case RF_GROUP_ERROR_INDEX:
		return g->error_index;
	case RF_GROUP_STRAGGLER:
		return g->straggler;
	case RF_GROUP_ERROR_GOT:
		return g->error_got;
	case RF_GROUP_ERROR_WANT:
		return g->error_want;
	default:
		return 0;
	}
}

static void write_group_cfg(struct rf_engine *e, struct model_group *g, uint32_t value)
{
	bool starts = !(g->cfg & RF_GROUP_CFG_LIVE_MASK) && (value & RF_GROUP_CFG_LIVE_MASK);

	g->cfg = value;
	if (starts) {
		g->head = 0;
		g->tail = 0;
		g->issued = 0;
		g->error = 0;
		g->error_index = 0;
		g->error_got = 0;
		g->error_want = 0;
		g->marked = false;
		model_slots_clear(e, (unsigned int)(g - e->groups));
		model_uplink_start(e, (unsigned int)(g - e->groups));
	}
	if (!(value & RF_GROUP_CFG_LIVE_MASK) && e->lag.group == (unsigned int)(g - e->groups))
		e->lag.state = MODEL_LAG_IDLE;
	model_schedule_soon(e, e->now);
}

static void write_group(struct rf_engine *e, struct model_group *g, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case RF_GROUP_CFG:
		write_group_cfg(e, g,
				value & (RF_GROUP_CFG_LIVE_MASK | RF_GROUP_CFG_OPEN_LOOP_MASK |
					 RF_GROUP_CFG_TRANSPARENT_MASK |
					 RF_GROUP_CFG_SELECTIVE_MASK | RF_GROUP_CFG_STRICT_MASK |
					 RF_GROUP_CFG_DIRECTED_MASK | RF_GROUP_CFG_OP_MASK |
					 RF_GROUP_CFG_DTYPE_MASK | RF_GROUP_CFG_MTU_LOG2_MASK |
					 RF_GROUP_CFG_LEVEL_MASK | RF_GROUP_CFG_BASE_PORT_MASK |
					 RF_GROUP_CFG_LANES_MASK | RF_GROUP_CFG_S_LOG2_MASK));
		break;
	case RF_GROUP_DBASE:
		g->dbase = value;
		break;
	case RF_GROUP_HBASE:
		g->hbase = value;
		break;
	case RF_GROUP_MEMBERS0:
	case RF_GROUP_MEMBERS1:
	case RF_GROUP_MEMBERS2:
	case RF_GROUP_MEMBERS3:
		g->members[(offset - RF_GROUP_MEMBERS0) / 4] = value;
		break;
	case RF_GROUP_STRAGGLER:
		g->straggler = value & RF_GROUP_STRAGGLER_CODE_MASK;
		break;
	case RF_GROUP_ERROR:
		if (value & RF_GROUP_ERROR_VALID_MASK) {
			g->error = 0;
			g->error_index = 0;
			g->error_got = 0;
			g->error_want = 0;
			model_schedule_soon(e, e->now);
		}
		break;
	default:
		break;
	}
}

static uint32_t *conn_field(struct model_conn *c, uint32_t offset)
{
	switch (offset) {
	case RF_CONN_START:
		return &c->start;
	case RF_CONN_SHIFT:
		return &c->shift;
	case RF_CONN_SRC_IP:
		return &c->src_ip;
	case RF_CONN_PEER_IP:
		return &c->peer_ip;
	case RF_CONN_PEER_PORT:
		return &c->peer_port;
	case RF_CONN_QPN:
		return &c->qpn;
	case RF_CONN_NEXT:
		return &c->next;
	case RF_CONN_SENT:
		return &c->sent;
	case RF_CONN_UNA:
		return &c->una;
	case RF_CONN_MSN:
		return &c->msn;
	case RF_CONN_SEEN:
		return &c->seen;
	case RF_CONN_PEER_MAC_HI:
		return &c->mac_hi;
	case RF_CONN_PEER_MAC_LO:
		return &c->mac_lo;
	case RF_CONN_SILENT:
		return &c->silent;
	default:
		return NULL;
	}
}

static void write_conn(struct rf_engine *e, unsigned int cid, uint32_t offset, uint32_t value)
{
	struct model_conn *c = &e->conns[cid];

	switch (offset) {
	case RF_CONN_START:
	case RF_CONN_SHIFT:
	case RF_CONN_QPN:
		*conn_field(c, offset) = value & MODEL_SERIAL_MASK;
		break;
	case RF_CONN_SRC_IP:
	case RF_CONN_PEER_IP:
		*conn_field(c, offset) = value;
		break;
	case RF_CONN_PEER_PORT:
		c->peer_port = value & 7;
		break;
	case RF_CONN_INIT:
		model_conn_init(e, cid);
		break;
	case RF_CONN_SEEN:
		c->seen &= ~value;
		break;
	case RF_CONN_PEER_MAC_HI:
		c->mac_hi =
			value & (RF_CONN_PEER_MAC_HI_MAC_MASK | RF_CONN_PEER_MAC_HI_MIRROR_MASK |
				 RF_CONN_PEER_MAC_HI_SELECTIVE_MASK);
		break;
	case RF_CONN_PEER_MAC_LO:
		c->mac_lo = value;
		c->mirror = c->mac_hi & RF_CONN_PEER_MAC_HI_MIRROR_MASK;
		c->selective = c->mac_hi & RF_CONN_PEER_MAC_HI_SELECTIVE_MASK;
		c->mac = (uint64_t)(c->mac_hi & RF_CONN_PEER_MAC_HI_MAC_MASK) << 32 | value;
		break;
	default:
		break;
	}
}

/* Number of a block's instance, and the offset within it; false if the address is not in it. */
static bool instance(uint32_t addr, uint32_t base, uint32_t stride, uint32_t count, uint32_t *n,
		     uint32_t *offset)
{
	if (addr < base || addr >= base + stride * count)
		return false;
	*n = (addr - base) / stride;
	*offset = (addr - base) % stride;
	return true;
}

uint32_t model_reg_read(struct rf_engine *e, uint32_t addr)
{
	const struct model_punt *punt = &e->punts[e->punt_head];
	uint32_t n, offset;
	const uint32_t *field;

	addr &= ~3u;
	if (instance(addr, RF_PORT_BASE, RF_PORT_STRIDE, e->cfg.ports, &n, &offset))
		return offset / 4 < RF_CNT_COUNT ? e->ports[n].counters[offset / 4] : 0;
	if (instance(addr, RF_GROUP_BASE, RF_GROUP_STRIDE, e->cfg.groups, &n, &offset))
		return read_group(&e->groups[n], offset);
	if (instance(addr, RF_UPLINK_BASE, RF_UPLINK_STRIDE, e->cfg.groups, &n, &offset))
		return model_uplink_read_reg(&e->uplinks[n], offset);
	if (instance(addr, RF_CONN_BASE, RF_CONN_STRIDE, e->cfg.groups * 128, &n, &offset)) {
		field = conn_field(&e->conns[n], offset);
		return field ? *field : 0;
	}
	if (instance(addr, RF_PUNT_DATA, RF_PUNT_DATA_BYTES, 1, &n, &offset)) {
		const uint8_t *b = punt->bytes + offset;

		if (e->punt_count == 0)
			return 0;
		return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
		       (uint32_t)b[3] << 24;
	}
	return read_global(e, addr);
}

void model_reg_write(struct rf_engine *e, uint32_t addr, uint32_t value)
{
	uint32_t n, offset, k;

	addr &= ~3u;
	if (instance(addr, RF_GROUP_BASE, RF_GROUP_STRIDE, e->cfg.groups, &n, &offset)) {
		write_group(e, &e->groups[n], offset, value);
	} else if (instance(addr, RF_UPLINK_BASE, RF_UPLINK_STRIDE, e->cfg.groups, &n, &offset)) {
		model_uplink_write_reg(e, n, offset, value);
	} else if (instance(addr, RF_CONN_BASE, RF_CONN_STRIDE, e->cfg.groups * 128, &n, &offset)) {
		write_conn(e, n, offset, value);
	} else if (instance(addr, RF_INJECT_DATA, RF_INJECT_DATA_BYTES, 1, &n, &offset)) {
		for (n = 0; n < e->cfg.ports; n++)
			for (k = 0; k < 4 && !(e->inject_busy >> n & 1); k++)
				e->inject[n][offset + k] = (uint8_t)(value >> (8 * k));
	} else {
		write_global(e, addr, value);
	}
}
