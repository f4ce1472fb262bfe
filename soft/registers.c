/* The register map: rtl/control/registers.txt. */
#include "base/log2.h"
#include "base/uplink_regs.h"
#include "soft/internal.h"

#define ID 0x52464258u
#define GROUP_CFG_BITS                                                                             \
	(RF_GROUP_CFG_LIVE_MASK | RF_GROUP_CFG_OPEN_LOOP_MASK | RF_GROUP_CFG_TRANSPARENT_MASK |    \
	 RF_GROUP_CFG_SELECTIVE_MASK | RF_GROUP_CFG_STRICT_MASK | RF_GROUP_CFG_DIRECTED_MASK |     \
	 RF_GROUP_CFG_OP_MASK | RF_GROUP_CFG_DTYPE_MASK | RF_GROUP_CFG_MTU_LOG2_MASK |             \
	 RF_GROUP_CFG_LEVEL_MASK | RF_GROUP_CFG_BASE_PORT_MASK | RF_GROUP_CFG_LANES_MASK |         \
	 RF_GROUP_CFG_S_LOG2_MASK)

/* ---- global ---- */

/* No uplinks: a JOIN with one is refused as UPLINK_UNSUPPORTED by the firmware. */
static uint32_t shape(const struct soft_cfg *c)
{
	return c->ports << RF_SHAPE_PORTS_LSB | c->lanes << RF_SHAPE_LANES_LSB |
	       c->width / 64 << RF_SHAPE_WIDTH64_LSB | c->hash_bits << RF_SHAPE_HASH_BITS_LSB |
	       RF_SHAPE_SELECTIVE_MASK | RF_SHAPE_LAG_MASK | RF_SHAPE_MIRROR_MASK |
	       RF_SHAPE_DIRECTED_MASK;
}

static uint32_t shape2(const struct soft_cfg *c)
{
	return c->groups << RF_SHAPE2_GROUPS_LSB | c->bank_log2 << RF_SHAPE2_BANK_AW_LSB |
	       c->hdr_log2 << RF_SHAPE2_HDR_AW_LSB | rf_log2(c->mtu_max) << RF_SHAPE2_MTU_LOG2_LSB;
}

static uint32_t irq_reasons(const struct soft_box *b)
{
	uint32_t reasons = 0;
	unsigned int k;

	if (b->punt_count)
		reasons |= RF_IRQ_PUNT_MASK;
	if (b->held.valid)
		reasons |= RF_IRQ_HELD_MASK;
	for (k = 0; k < b->cfg.groups; k++)
		if (b->groups[k].error & RF_GROUP_ERROR_VALID_MASK)
			reasons |= RF_IRQ_GROUP_ERROR_MASK;
	return reasons;
}

bool soft_irq(const struct soft_box *b)
{
	return irq_reasons(b) != 0;
}

/* Constants and what the box counts by itself. */
static uint32_t read_state(struct soft_box *b, uint32_t addr)
{
	const struct soft_punt *punt = &b->punts[b->punt_at];

	switch (addr) {
	case RF_ID:
		return ID;
	case RF_VERSION:
		return 1;
	case RF_SHAPE:
		return shape(&b->cfg);
	case RF_SHAPE2:
		return shape2(&b->cfg);
	case RF_CLOCK_KHZ:
		return b->cfg.clock_khz;
	case RF_TYPES:
		return RF_TYPES_MASK_MASK;
	case RF_CYCLE_LO:
		b->cycle_hi = (uint32_t)(b->now >> 32);
		return (uint32_t)b->now;
	case RF_CYCLE_HI:
		return b->cycle_hi;
	case RF_IRQ:
		return irq_reasons(b);
	case RF_PUNT_STATUS:
		if (!b->punt_count)
			return 0;
		return RF_PUNT_STATUS_VALID_MASK | punt->port << RF_PUNT_STATUS_PORT_LSB |
		       punt->len;
	case RF_INJECT_STATUS:
		return b->inject_busy;
	case RF_HELD_IP:
		return b->held.ip;
	case RF_HELD_SRC:
		return b->held.src;
	case RF_HELD_KEY:
		return (b->held.valid ? RF_HELD_KEY_VALID_MASK : 0) |
		       (b->held_missed ? RF_HELD_KEY_MISSED_MASK : 0) |
		       b->held.port << RF_HELD_KEY_PORT_LSB | b->held.qpn;
	case RF_TOMB_SEEN:
		return b->tomb_seen;
	default:
		return 0;
	}
}

static uint32_t read_lag(const struct soft_lag *l, uint32_t addr)
{
	if (l->state != SOFT_LAG_DONE)
		return 0;
	if (addr == RF_LAG_CYCLES)
		return l->cycles;
	if (addr == RF_LAG_INDEX)
		return l->index;
	return RF_LAG_STATUS_VALID_MASK | l->group << RF_LAG_STATUS_GROUP_LSB |
	       soft_cid_lane(l->last) << RF_LAG_STATUS_LANE_LSB |
	       soft_cid_port(l->last) << RF_LAG_STATUS_PORT_LSB;
}

/* Registers that read as they were written. */
static uint32_t *plain(struct soft_box *b, uint32_t addr)
{
	switch (addr) {
	case RF_CTRL:
		return &b->ctrl;
	case RF_TX_SHARE:
		return &b->tx_share;
	case RF_IP:
		return &b->ip;
	case RF_HASH_IP:
		return &b->hash_ip;
	case RF_HASH_KEY:
		return &b->hash_key;
	case RF_HASH_VALUE:
		return &b->hash_value;
	case RF_TOMB_SRC:
		return &b->tomb_src;
	case RF_HOLD_PORTS:
		return &b->hold_ports;
	default:
		if (addr >= RF_PORT_IP0 && addr < RF_PORT_IP0 + 4 * b->cfg.ports)
			return &b->port_ip[(addr - RF_PORT_IP0) / 4];
		return NULL;
	}
}

/* Bits that such a register has. */
static uint32_t bits_of(const struct soft_box *b, uint32_t addr)
{
	switch (addr) {
	case RF_CTRL:
		return RF_CTRL_ENABLE_MASK | RF_CTRL_HOLD_MASK;
	case RF_TX_SHARE:
		return RF_TX_SHARE_FOREIGN_MASK;
	case RF_HASH_KEY:
		return RF_HASH_KEY_QPN_MASK | RF_HASH_KEY_ROLE_MASK;
	case RF_HASH_VALUE:
		return RF_HASH_VALUE_CID_MASK | RF_HASH_VALUE_STATE_MASK;
	case RF_HOLD_PORTS:
		return (1u << b->cfg.ports) - 1;
	default:
		return UINT32_MAX;
	}
}

static uint32_t read_global(struct soft_box *b, uint32_t addr)
{
	const uint32_t *reg = plain(b, addr);

	if (reg)
		return *reg;
	if (addr == RF_MAC_HI)
		return (uint32_t)(b->mac >> 32);
	if (addr == RF_MAC_LO)
		return (uint32_t)b->mac;
	if (addr == RF_LAG_STATUS || addr == RF_LAG_CYCLES || addr == RF_LAG_INDEX)
		return read_lag(&b->lag, addr);
	return read_state(b, addr);
}

static void hash_write(struct soft_box *b, uint32_t value)
{
	uint32_t at = value & RF_HASH_WRITE_INDEX_MASK & ((1u << b->cfg.hash_bits) - 1);

	b->table[value & RF_HASH_WRITE_TABLE_MASK ? 1 : 0][at] =
		(struct soft_entry){b->hash_ip, b->hash_key, b->hash_value};
}

static void tick(struct soft_box *b)
{
	unsigned int cid;

	for (cid = 0; cid < b->cfg.groups << 7; cid++)
		b->conns[cid].asked = false;
}

static void punt_pop(struct soft_box *b)
{
	if (!b->punt_count)
		return;
	b->punt_at = (b->punt_at + 1) % SOFT_PUNTS;
	b->punt_count--;
}

/* Registers whose writing does something. */
static void write_command(struct soft_box *b, uint32_t addr, uint32_t value)
{
	switch (addr) {
	case RF_MAC_HI:
		b->mac = (b->mac & UINT32_MAX) | (uint64_t)(value & 0xffff) << 32;
		break;
	case RF_MAC_LO:
		b->mac = (b->mac & ~(uint64_t)UINT32_MAX) | value;
		break;
	case RF_TICK:
		tick(b);
		break;
	case RF_LAG_ARM:
		b->lag.state = SOFT_LAG_ARMED;
		b->lag.group = value & RF_LAG_ARM_GROUP_MASK;
		break;
	case RF_HASH_WRITE:
		hash_write(b, value);
		break;
	case RF_PUNT_POP:
		punt_pop(b);
		break;
	case RF_INJECT:
		soft_inject(b, value);
		break;
	case RF_HELD_POP:
		soft_held_pop(b);
		break;
	case RF_TOMB_WRITE:
		soft_tomb_write(b, value);
		break;
	case RF_TOMB_LOOK:
		soft_tomb_look(b, value & RF_TOMB_LOOK_NUMBER_MASK);
		break;
	default: /* PARITY is always 0: there is none */
		break;
	}
}

static void write_global(struct soft_box *b, uint32_t addr, uint32_t value)
{
	uint32_t *reg = plain(b, addr);

	if (reg)
		*reg = value & bits_of(b, addr);
	else
		write_command(b, addr, value);
}

/* ---- groups ---- */

static uint32_t read_group(const struct soft_group *g, uint32_t offset)
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

static void write_cfg(struct soft_box *b, unsigned int group, uint32_t value)
{
	struct soft_group *g = &b->groups[group];
	bool was = g->cfg & RF_GROUP_CFG_LIVE_MASK, is = value & RF_GROUP_CFG_LIVE_MASK;

	g->cfg = value & GROUP_CFG_BITS;
	soft_decode(b, group);
	if (is && !was)
		soft_live(b, group);
	if (!is && b->lag.group == group)
		b->lag.state = SOFT_LAG_IDLE;
	soft_wake(b, group); /* queued repeats of a group that ends are dropped */
}

static void write_group(struct soft_box *b, unsigned int group, uint32_t offset, uint32_t value)
{
	struct soft_group *g = &b->groups[group];

	switch (offset) {
	case RF_GROUP_CFG:
		write_cfg(b, group, value);
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
		soft_decode(b, group);
		break;
	case RF_GROUP_STRAGGLER:
		g->straggler = value & RF_GROUP_STRAGGLER_CODE_MASK;
		break;
	case RF_GROUP_ERROR:
		if (value & RF_GROUP_ERROR_VALID_MASK) {
			g->error = g->error_index = g->error_got = g->error_want = 0;
			soft_wake(b, group);
		}
		break;
	default:
		break;
	}
}

/* ---- connections ---- */

static uint32_t read_conn(const struct soft_conn *c, uint32_t offset)
{
	switch (offset) {
	case RF_CONN_START:
		return c->start;
	case RF_CONN_SHIFT:
		return c->shift;
	case RF_CONN_SRC_IP:
		return c->src_ip;
	case RF_CONN_PEER_IP:
		return c->peer_ip;
	case RF_CONN_PEER_PORT:
		return c->peer_port;
	case RF_CONN_QPN:
		return c->qpn;
	case RF_CONN_NEXT:
		return c->next;
	case RF_CONN_SENT:
		return c->sent;
	case RF_CONN_UNA:
		return c->una;
	case RF_CONN_MSN:
		return c->msn;
	case RF_CONN_SEEN:
		return c->seen;
	case RF_CONN_PEER_MAC_HI:
		return c->mac_hi;
	case RF_CONN_PEER_MAC_LO:
		return c->mac_lo;
	case RF_CONN_SILENT:
		return c->silent;
	default:
		return 0;
	}
}

static void write_conn(struct soft_box *b, unsigned int cid, uint32_t offset, uint32_t value)
{
	struct soft_conn *c = &b->conns[cid];

	switch (offset) {
	case RF_CONN_START:
		c->start = value & SOFT_SERIAL;
		break;
	case RF_CONN_SHIFT:
		c->shift = value & SOFT_SERIAL;
		break;
	case RF_CONN_QPN:
		c->qpn = value & SOFT_SERIAL;
		break;
	case RF_CONN_SRC_IP:
		c->src_ip = value;
		break;
	case RF_CONN_PEER_IP:
		c->peer_ip = value;
		break;
	case RF_CONN_PEER_PORT:
		c->peer_port = value & 7;
		break;
	case RF_CONN_INIT:
		soft_init(b, cid);
		break;
	case RF_CONN_SEEN:
		c->seen &= ~value;
		break;
	case RF_CONN_PEER_MAC_HI: /* takes effect with the other half */
		c->mac_hi =
			value & (RF_CONN_PEER_MAC_HI_MAC_MASK | RF_CONN_PEER_MAC_HI_MIRROR_MASK |
				 RF_CONN_PEER_MAC_HI_SELECTIVE_MASK);
		break;
	case RF_CONN_PEER_MAC_LO:
		c->mac_lo = value;
		c->mac = (uint64_t)(c->mac_hi & RF_CONN_PEER_MAC_HI_MAC_MASK) << 32 | value;
		c->mirror = c->mac_hi & RF_CONN_PEER_MAC_HI_MIRROR_MASK;
		c->selective = c->mac_hi & RF_CONN_PEER_MAC_HI_SELECTIVE_MASK;
		break;
	default:
		break;
	}
}

/* ---- all ---- */

/* Which of `count` blocks an address lies in, and where. False if in none. */
static bool in_block(uint32_t addr, uint32_t base, uint32_t stride, uint32_t count, uint32_t *n,
		     uint32_t *offset)
{
	if (addr - base >= stride * count)
		return false;
	*n = (addr - base) / stride;
	*offset = (addr - base) % stride;
	return true;
}

static uint32_t punt_word(const struct soft_box *b, uint32_t offset)
{
	const uint8_t *p = b->punts[b->punt_at].bytes + offset;

	if (!b->punt_count)
		return 0;
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint32_t soft_read(struct soft_box *b, uint32_t addr)
{
	uint32_t n, offset;

	addr &= ~3u;
	if (in_block(addr, RF_PORT_BASE, RF_PORT_STRIDE, b->cfg.ports, &n, &offset))
		return offset / 4 < RF_CNT_COUNT ? b->ports[n].counters[offset / 4] : 0;
	if (in_block(addr, RF_GROUP_BASE, RF_GROUP_STRIDE, b->cfg.groups, &n, &offset))
		return read_group(&b->groups[n], offset);
	if (in_block(addr, RF_CONN_BASE, RF_CONN_STRIDE, b->cfg.groups << 7, &n, &offset))
		return read_conn(&b->conns[n], offset);
	if (in_block(addr, RF_PUNT_DATA, RF_PUNT_DATA_BYTES, 1, &n, &offset))
		return punt_word(b, offset);
	return read_global(b, addr);
}

void soft_write(struct soft_box *b, uint32_t addr, uint32_t value)
{
	uint32_t n, offset;

	addr &= ~3u;
	if (in_block(addr, RF_GROUP_BASE, RF_GROUP_STRIDE, b->cfg.groups, &n, &offset))
		write_group(b, n, offset, value);
	else if (in_block(addr, RF_CONN_BASE, RF_CONN_STRIDE, b->cfg.groups << 7, &n, &offset))
		write_conn(b, n, offset, value);
	else if (in_block(addr, RF_INJECT_DATA, RF_INJECT_DATA_BYTES, 1, &n, &offset))
		soft_inject_word(b, offset, value);
	else
		write_global(b, addr, value);
	soft_pump(b);
}
