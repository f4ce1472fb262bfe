#include "tests/unit/fw_box.h"

#include <stdlib.h>
#include <string.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"

static uint32_t shape(const struct fw_box *b)
{
	return b->ports | b->lanes << 8 | b->width64 << 16 | b->hash_bits << 20 |
	       (b->selective ? 1u << 26 : 0u) | (b->lag ? 1u << 27 : 0u) |
	       (b->mirror ? RF_SHAPE_MIRROR_MASK : 0u) |
	       (b->directed ? RF_SHAPE_DIRECTED_MASK : 0u) |
	       (b->uplinks ? RF_SHAPE_UPLINK_MASK : 0u);
}

static bool group_error(const struct fw_box *b)
{
	for (unsigned int g = 0; g < b->groups; g++)
		if (b->group[g][RF_GROUP_ERROR / 4] & RF_GROUP_ERROR_VALID_MASK)
			return true;
	return false;
}

static uint32_t read_punt_status(const struct fw_box *b)
{
	const struct fw_box_frame *f = &b->punt[b->punt_head];

	if (b->punt_count == 0)
		return 0;
	return (uint32_t)f->len | f->port << RF_PUNT_STATUS_PORT_LSB | RF_PUNT_STATUS_VALID_MASK;
}

static uint32_t read_global(struct fw_box *b, uint32_t addr)
{
	switch (addr) {
	case RF_ID:
		return 0x52464258u;
	case RF_VERSION:
		return 1;
	case RF_SHAPE:
		return shape(b);
	case RF_SHAPE2:
		return b->groups | b->bank_log2 << 8 | b->hdr_log2 << 16 | b->mtu_log2 << 24;
	case RF_TYPES:
		return b->fp16 ? b->types : b->types & ~(1u << RF_DTYPE_BF16 | 1u << RF_DTYPE_FP16);
	case RF_CLOCK_KHZ:
		return FW_BOX_KHZ;
	case RF_CYCLE_LO:
		b->high = (uint32_t)(b->cycle >> 32);
		return (uint32_t)b->cycle;
	case RF_CYCLE_HI:
		return b->high;
	case RF_IRQ:
		return (b->punt_count ? 1u : 0u) | (group_error(b) ? 2u : 0u) |
		       (b->held.there ? 4u : 0u) | (b->parity ? RF_IRQ_PARITY_MASK : 0u);
	case RF_PARITY:
		return b->parity;
	case RF_HELD_IP:
		return b->held.ip;
	case RF_HELD_SRC:
		return b->held.src;
	case RF_HELD_KEY:
		return (b->held.there ? b->held.key | RF_HELD_KEY_VALID_MASK : 0) |
		       (b->held_missed && !b->mutant_missed ? RF_HELD_KEY_MISSED_MASK : 0);
	case RF_TOMB_SEEN:
		return b->tomb_shown;
	case RF_PUNT_STATUS:
		return read_punt_status(b);
	case RF_LAG_STATUS:
		return b->lag_status;
	case RF_LAG_CYCLES:
		return b->lag_cycles;
	case RF_INJECT_STATUS:
		if (b->busy > 0) {
			b->busy--;
			return b->busy_ports;
		}
		return 0;
	default:
		return 0;
	}
}

static uint32_t box_read(void *arg, uint32_t addr)
{
	struct fw_box *b = arg;

	b->cycle++;
	if (addr & 3u)
		b->fault = "unaligned read";
	if (addr < RF_PORT_BASE)
		return read_global(b, addr);
	if (addr < RF_GROUP_BASE)
		return b->counter[(addr - RF_PORT_BASE) / RF_PORT_STRIDE]
				 [(addr - RF_PORT_BASE) % RF_PORT_STRIDE / 4];
	if (addr < RF_GROUP_BASE + RF_GROUP_COUNT * RF_GROUP_STRIDE)
		return b->group[(addr - RF_GROUP_BASE) / RF_GROUP_STRIDE]
			       [(addr - RF_GROUP_BASE) % RF_GROUP_STRIDE / 4];
	if (b->uplinks && addr >= RF_UPLINK_BASE &&
	    addr < RF_UPLINK_BASE + RF_UPLINK_COUNT * RF_UPLINK_STRIDE)
		return b->uplink[(addr - RF_UPLINK_BASE) / RF_UPLINK_STRIDE]
				[(addr - RF_UPLINK_BASE) % RF_UPLINK_STRIDE / 4];
	if (addr >= RF_PUNT_DATA && addr < RF_PUNT_DATA + RF_PUNT_DATA_BYTES)
		return rf_get_le32(b->punt[b->punt_head].data + (addr - RF_PUNT_DATA));
	if (addr >= RF_CONN_BASE && addr < RF_CONN_BASE + RF_CONN_COUNT * RF_CONN_STRIDE)
		return b->conn[(addr - RF_CONN_BASE) / RF_CONN_STRIDE]
			      [(addr - RF_CONN_BASE) % RF_CONN_STRIDE / 4];
	b->fault = "read of an address without a register";
	return 0;
}

static void inject(struct fw_box *b, uint32_t value)
{
	struct fw_box_frame *f = &b->out[(b->out_head + b->out_count) % FW_BOX_FRAMES];
	size_t len = value & RF_INJECT_LENGTH_MASK;
	unsigned int port = value >> RF_INJECT_PORT_LSB & 7u;

	if (b->busy > 0 && b->busy_ports >> port & 1)
		b->fault = "injected while busy";
	if (len < 60 || len > 1024 || port >= b->ports || b->out_count == FW_BOX_FRAMES) {
		b->fault = "inject of a wrong length or port, or too many";
		return;
	}
	for (size_t i = 0; i < 256; i++)
		rf_put_le32(f->data + 4 * i, b->inject_word[i]);
	f->len = len;
	f->port = port;
	/* As the hardware does: insert the port's source MAC. */
	rf_put_be16(f->data + 6, (uint16_t)b->mac_hi);
	rf_put_be32(f->data + 8, b->mac_lo + port);
	b->out_count++;
}

static void hash_write(struct fw_box *b, uint32_t value)
{
	uint32_t index = value & RF_HASH_WRITE_INDEX_MASK;
	unsigned int table = value >> RF_HASH_WRITE_TABLE_LSB & 1u;

	if (index >= 1u << b->hash_bits) {
		b->fault = "entry outside of the connection table";
		return;
	}
	b->table[table][index] = (struct fw_box_entry){b->hash_ip, b->hash_key, b->hash_value};
	b->hash_writes++;
	if (b->on_hash)
		b->on_hash(b, b->on_hash_arg);
}

static bool tomb_of(struct fw_box *b, uint32_t number)
{
	if (number < 2u << b->hash_bits)
		return true;
	b->fault = "no tombstone has this number";
	return false;
}

static void tomb_write(struct fw_box *b, uint32_t value)
{
	uint32_t number = value & RF_TOMB_WRITE_NUMBER_MASK;

	if (!tomb_of(b, number))
		return;
	b->tomb[number][0] = b->tomb_src;
	b->tomb[number][1] = value;
	b->tomb_seen[number] = false;
}

static void held_show(struct fw_box *b)
{
	for (unsigned int p = 0; p < b->ports && !b->held.there; p++) {
		b->held = b->held_wait[p];
		b->held_wait[p].there = false;
	}
}

static void held_frame(struct fw_box *b, unsigned int port, uint32_t src_ip, uint32_t ip,
		       uint32_t qpn)
{
	struct fw_box_held *wait = &b->held_wait[port];
	const struct fw_box_held *known[] = {&b->held, wait};

	for (unsigned int i = 0; i < 2; i++)
		if (known[i]->there && known[i]->ip == ip &&
		    (known[i]->key & RF_HELD_KEY_QPN_MASK) == qpn)
			return;
	if (wait->there) {
		b->held_missed = true;
		return;
	}
	*wait = (struct fw_box_held){true, ip, qpn | port << RF_HELD_KEY_PORT_LSB, src_ip};
	held_show(b);
}

bool fw_box_data(struct fw_box *b, unsigned int port, uint32_t src_ip, uint32_t ip, uint32_t qpn)
{
	uint32_t value = fw_box_lookup(b, ip, rf_fw_key(0, qpn));
	uint32_t number = value & RF_HASH_VALUE_CID_MASK;

	if (value >> RF_HASH_VALUE_STATE_LSB == RF_STATE_TOMBSTONE && tomb_of(b, number)) {
		uint32_t word = b->tomb[number][1];
		uint32_t from = (word & RF_TOMB_WRITE_PORT_MASK) >> RF_TOMB_WRITE_PORT_LSB;

		if ((word & RF_TOMB_WRITE_ANY_MASK) ||
		    (from == port && b->tomb[number][0] == src_ip))
			b->tomb_seen[number] = !b->mutant_life;
	}
	if (!(b->ctrl & RF_CTRL_ENABLE_MASK))
		return false;
	if (value == rf_fw_value(RF_FW_FOREIGN_CID, RF_STATE_JOINING))
		return true;
	if (value != 0)
		return false;
	if (!(b->ctrl & RF_CTRL_HOLD_MASK) && !(b->hold_ports >> port & 1u))
		return true;
	held_frame(b, port, src_ip, ip, qpn);
	return false;
}

static void write_global(struct fw_box *b, uint32_t addr, uint32_t value)
{
	if (addr >= RF_PORT_IP0 && addr <= RF_PORT_IP7 && b->mirror) {
		b->port_ip[(addr - RF_PORT_IP0) / 4] = value;
		return;
	}
	switch (addr) {
	case RF_CTRL:
		if (b->on_ctrl)
			b->on_ctrl(b, value);
		b->ctrl = value;
		break;
	case RF_HOLD_PORTS:
		b->hold_ports = value;
		break;
	case RF_PARITY:
		if (!(value & RF_PARITY_VALID_MASK))
			break;
		/* The hardware is reset. */
		b->parity = 0;
		b->restarts++;
		b->ctrl = RF_CTRL_HOLD_MASK;
		b->hold_ports = 0;
		memset(b->group, 0, sizeof(b->group));
		memset(b->table, 0, sizeof(b->table));
		break;
	case RF_MAC_HI:
		b->mac_hi = value;
		break;
	case RF_MAC_LO:
		b->mac_lo = value;
		break;
	case RF_IP:
		b->ip = value;
		break;
	case RF_HASH_IP:
		b->hash_ip = value;
		break;
	case RF_HASH_KEY:
		b->hash_key = value;
		break;
	case RF_HASH_VALUE:
		b->hash_value = value;
		break;
	case RF_HASH_WRITE:
		hash_write(b, value);
		break;
	case RF_HELD_POP:
		b->held.there = false;
		b->held_missed = false;
		held_show(b);
		break;
	case RF_TOMB_SRC:
		b->tomb_src = value;
		break;
	case RF_TOMB_WRITE:
		tomb_write(b, value);
		break;
	case RF_TOMB_LOOK:
		b->tomb_shown = tomb_of(b, value) && b->tomb_seen[value];
		if (tomb_of(b, value))
			b->tomb_seen[value] = false;
		break;
	case RF_PUNT_POP:
		if (b->punt_count == 0) {
			b->fault = "pop of an empty punt queue";
			break;
		}
		b->punt_head = (b->punt_head + 1) % FW_BOX_FRAMES;
		b->punt_count--;
		break;
	case RF_INJECT:
		inject(b, value);
		break;
	case RF_TICK:
		break;
	case RF_LAG_ARM:
		b->lag_arms++;
		b->lag_status = 0;
		break;
	default:
		b->fault = "write to an address without a register";
		break;
	}
}

static void write_group(struct fw_box *b, unsigned int g, uint32_t offset, uint32_t value)
{
	bool live = (b->group[g][0] & 1u) != 0;

	if (offset == RF_GROUP_ERROR) {
		if (value & RF_GROUP_ERROR_VALID_MASK)
			b->group[g][offset / 4] = 0;
		return;
	}
	if (live && (offset != RF_GROUP_CFG || value != 0))
		b->fault = "a live group's registers written";
	if (offset > RF_GROUP_MEMBERS3 && offset != RF_GROUP_STRAGGLER)
		b->fault = "a read-only group register written";
	if (offset == RF_GROUP_CFG && !live && (value & 1u)) {
		if ((value & ~1u) != b->group[g][0])
			b->fault = "CFG changed together with LIVE";
		b->group[g][RF_GROUP_HEAD / 4] = b->group[g][RF_GROUP_TAIL / 4] = 0;
		b->group[g][RF_GROUP_ISSUED / 4] = b->group[g][RF_GROUP_ERROR / 4] = 0;
	}
	b->group[g][offset / 4] = value;
}

static void write_conn(struct fw_box *b, unsigned int cid, uint32_t offset, uint32_t value)
{
	uint32_t *r = b->conn[cid];

	if (offset == RF_CONN_SEEN) {
		r[offset / 4] &= ~value;
		return;
	}
	if (offset == RF_CONN_PEER_MAC_HI || offset == RF_CONN_PEER_MAC_LO) {
		if (!b->mirror)
			b->fault = "an Ethernet address on a box without mirror connections";
		r[offset / 4] = value;
		return;
	}
	if (b->group[cid >> 7][0] & 1u)
		b->fault = "a connection of a live group written";
	if (offset == RF_CONN_INIT)
		r[RF_CONN_NEXT / 4] = r[RF_CONN_SENT / 4] = r[RF_CONN_UNA / 4] =
			r[RF_CONN_MSN / 4] = r[RF_CONN_SEEN / 4] = 0;
	else if (offset > RF_CONN_INIT)
		b->fault = "a read-only connection register written";
	else
		r[offset / 4] = value;
}

static void write_uplink(struct fw_box *b, unsigned int group, uint32_t offset, uint32_t value)
{
	if (b->group[group][0] & 1u)
		b->fault = "an uplink of a live group written";
	if (offset > RF_UPLINK_HEADER)
		b->fault = "a read-only register of an uplink written";
	else
		b->uplink[group][offset / 4] = value;
}

static void box_write(void *arg, uint32_t addr, uint32_t value)
{
	struct fw_box *b = arg;

	b->cycle++;
	if (addr & 3u)
		b->fault = "unaligned write";
	if (addr < RF_PORT_BASE)
		write_global(b, addr, value);
	else if (addr >= RF_GROUP_BASE && addr < RF_GROUP_BASE + RF_GROUP_COUNT * RF_GROUP_STRIDE)
		write_group(b, (addr - RF_GROUP_BASE) / RF_GROUP_STRIDE,
			    (addr - RF_GROUP_BASE) % RF_GROUP_STRIDE, value);
	else if (addr >= RF_INJECT_DATA && addr < RF_INJECT_DATA + RF_INJECT_DATA_BYTES)
		b->inject_word[(addr - RF_INJECT_DATA) / 4] = value;
	else if (addr >= RF_CONN_BASE && addr < RF_CONN_BASE + RF_CONN_COUNT * RF_CONN_STRIDE)
		write_conn(b, (addr - RF_CONN_BASE) / RF_CONN_STRIDE,
			   (addr - RF_CONN_BASE) % RF_CONN_STRIDE, value);
	else if (b->uplinks && addr >= RF_UPLINK_BASE &&
		 addr < RF_UPLINK_BASE + RF_UPLINK_COUNT * RF_UPLINK_STRIDE)
		write_uplink(b, (addr - RF_UPLINK_BASE) / RF_UPLINK_STRIDE,
			     (addr - RF_UPLINK_BASE) % RF_UPLINK_STRIDE, value);
	else
		b->fault = "write to an address without a register";
}

static struct fw_box *newest;

uint64_t fw_box_nonce(uint32_t ip)
{
	/* On a copy, because the call makes a new nonce if the old one has expired. */
	static struct rf_fw copy;

	copy = newest->fw;
	return rf_fw_nonce(&copy, ip);
}

struct fw_box *fw_box_new(void)
{
	static const uint8_t mac[6] = {0x02, 0x52, 0x46, 0, 0, 0x10};
	struct fw_box *b = calloc(1, sizeof(*b));

	if (!b)
		abort();
	newest = b;
	b->ports = 4;
	b->busy_ports = 0xff;
	b->lanes = 16;
	b->width64 = 8;
	b->hash_bits = 8;
	b->groups = 8;
	b->bank_log2 = 13;
	b->hdr_log2 = 9;
	b->mtu_log2 = 12;
	b->fp16 = b->selective = b->lag = true;
	b->types = 1u << RF_DTYPE_FP32 | 1u << RF_DTYPE_BF16 | 1u << RF_DTYPE_FP16 |
		   1u << RF_DTYPE_INT32;
	b->ctrl = 2;
	b->cycle = 1000;
	/* The content of the connection table after a reset is unknown. */
	memset(b->table, 0xa5, sizeof(b->table));
	rf_fw_cfg_default(&b->cfg);
	memcpy(b->cfg.mac, mac, 6);
	b->cfg.ip = FW_BOX_IP;
	b->cfg.epoch = 77;
	b->cfg.salt[0] = 78;
	b->hal = (struct rf_hal){b, box_read, box_write};
	return b;
}

void fw_box_free(struct fw_box *b)
{
	if (newest == b)
		newest = NULL;
	free(b);
}

int fw_box_start(struct fw_box *b)
{
	return rf_fw_init(&b->fw, &b->hal, &b->cfg);
}

void fw_box_punt(struct fw_box *b, unsigned int port, const uint8_t *frame, size_t len)
{
	struct fw_box_frame *f = &b->punt[(b->punt_head + b->punt_count) % FW_BOX_FRAMES];

	if (b->punt_count == FW_BOX_FRAMES || len > sizeof(f->data))
		abort();
	memset(f->data, 0xee, sizeof(f->data));
	memcpy(f->data, frame, len);
	f->len = len;
	f->port = port;
	b->punt_count++;
}

const struct fw_box_frame *fw_box_out(struct fw_box *b)
{
	const struct fw_box_frame *f = &b->out[b->out_head];

	if (b->out_count == 0)
		return NULL;
	b->out_head = (b->out_head + 1) % FW_BOX_FRAMES;
	b->out_count--;
	return f;
}

/* The shadow copy must equal the table. */
static const char *compare_tables(const struct fw_box *b)
{
	for (unsigned int t = 0; t < 2; t++)
		for (unsigned int i = 0; i < 1u << b->hash_bits; i++) {
			const struct fw_box_entry *h = &b->table[t][i];
			const struct rf_fw_entry *s = &b->fw.table[(t << b->hash_bits) + i];

			if (h->ip != s->ip || h->key != s->key ||
			    h->value != rf_fw_value(s->cid, s->state))
				return "shadow and connection table differ";
		}
	return NULL;
}

static uint64_t poll_once(struct fw_box *b)
{
	uint64_t due = 0;

	/* A busy inject buffer can delay notices, so poll a few more times. */
	for (unsigned int i = 0; i < 64; i++) {
		due = rf_fw_poll(&b->fw);
		if (due > b->cycle)
			break;
	}
	return due;
}

static const char *check(const struct fw_box *b)
{
	const char *what = b->fault ? b->fault : rf_fw_check(&b->fw);

	return what ? what : compare_tables(b);
}

const char *fw_box_poll(struct fw_box *b)
{
	poll_once(b);
	return check(b);
}

const char *fw_box_run(struct fw_box *b, unsigned int ms)
{
	uint64_t end = b->cycle + (uint64_t)ms * FW_BOX_KHZ;

	for (;;) {
		uint64_t due = poll_once(b);
		const char *what = check(b);

		if (what)
			return what;
		if (due >= end)
			break;
		if (due > b->cycle)
			b->cycle = due;
	}
	if (b->cycle < end)
		b->cycle = end;
	return fw_box_poll(b);
}

uint32_t fw_box_lookup(const struct fw_box *b, uint32_t ip, uint32_t key)
{
	uint32_t h = rf_fw_conn_hash(ip, key);
	uint32_t mask = (1u << (b->hash_bits - 2u)) - 1u;

	for (unsigned int t = 0; t < 2; t++)
		for (unsigned int i = 0; i < 4; i++) {
			const struct fw_box_entry *e =
				&b->table[t][4 * ((t ? h >> 16 : h) & mask) + i];

			if (e->ip == ip && e->key == key && e->value != 0)
				return e->value;
		}
	return 0;
}

void fw_box_progress(struct fw_box *b, unsigned int record, uint32_t random)
{
	const struct rf_fw_group *g = &b->fw.group[record];

	for (uint16_t i = g->live ? g->first : RF_FW_NO_MEMBER; i != RF_FW_NO_MEMBER;
	     i = b->fw.member[i].next) {
		const struct rf_fw_member *m = &b->fw.member[i];
		uint32_t *conn = b->conn[RF_FW_CID(g->hw, m->lane, m->port)];

		conn[RF_CONN_NEXT / 4] = random & 3u ? 9u : random >> 2 & 7u;
		conn[RF_CONN_UNA / 4] = random & 0x60u ? conn[RF_CONN_NEXT / 4] : 0u;
		random = random >> 7 | random << 23;
	}
}
