#include "firmware/core/fw.h"

#include <string.h>

#include "firmware/core/internal.h"

#define BOX_ID 0x52464258u
#define BOX_VERSION 1u

_Static_assert(RF_FW_GROUPS_MAX <= 64u, "a bit per hardware group");
_Static_assert(RF_FW_UPLINKS <= 32u, "a bit per uplink, in the check");
_Static_assert(RF_FW_RECORDS < RF_FW_NONE, "numbers of records fit a byte");
_Static_assert(RF_FW_HASH_BITS_MAX <= 15u, "numbers of places fit 16 bits");

void rf_fw_cfg_default(struct rf_fw_cfg *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->hold_ms = 60000;
	cfg->tomb_ms = 60000;
	cfg->lease_ms = 10000;
	cfg->linger_ms = 30000;
	cfg->nonce_ms = 10000;
	cfg->probe_ms = 1000;
	cfg->announce_ms = 60000;
	cfg->settle_ms = 1;
	cfg->poll_frames = 8;
	cfg->tick_ms = 1;
}

/* Divides 64 by 32 bits without a 64-bit division, which small targets lack. */
static uint64_t divide(uint64_t n, uint32_t d, uint32_t *rest)
{
	uint64_t quotient = 0, r = 0;

	for (unsigned int i = 0; i < 64; i++) {
		r = r << 1 | n >> 63;
		n <<= 1;
		quotient <<= 1;
		if (r >= d) {
			r -= d;
			quotient |= 1u;
		}
	}
	*rest = (uint32_t)r;
	return quotient;
}

static uint64_t cycles(struct rf_fw *fw)
{
	uint32_t low = rf_fw_read(fw, RF_CYCLE_LO);

	return (uint64_t)rf_fw_read(fw, RF_CYCLE_HI) << 32 | low;
}

static void clock_update(struct rf_fw *fw)
{
	uint64_t now = cycles(fw);
	uint64_t past = now - fw->ms_cycles;
	uint32_t rest;

	if (past < fw->khz)
		return;
	/* Usually only a few milliseconds have passed, so 32 bits are enough. */
	if (past >> 32 == 0) {
		fw->now_ms += (uint32_t)past / fw->khz;
		rest = (uint32_t)past % fw->khz;
	} else {
		fw->now_ms += divide(past, fw->khz, &rest);
	}
	fw->ms_cycles = now - rest;
}

static uint32_t field(uint32_t v, uint32_t mask, uint32_t lsb)
{
	return (v & mask) >> lsb;
}

static bool power_of_two(unsigned int v)
{
	return v != 0 && (v & (v - 1u)) == 0;
}

static int read_shape(struct rf_fw *fw)
{
	uint32_t s = rf_fw_read(fw, RF_SHAPE);
	uint32_t t = rf_fw_read(fw, RF_SHAPE2);
	uint32_t groups = field(t, RF_SHAPE2_GROUPS_MASK, RF_SHAPE2_GROUPS_LSB);

	fw->ports = (uint8_t)field(s, RF_SHAPE_PORTS_MASK, RF_SHAPE_PORTS_LSB);
	fw->lanes = (uint8_t)field(s, RF_SHAPE_LANES_MASK, RF_SHAPE_LANES_LSB);
	fw->width64 = (uint8_t)field(s, RF_SHAPE_WIDTH64_MASK, RF_SHAPE_WIDTH64_LSB);
	fw->hash_bits = (uint8_t)field(s, RF_SHAPE_HASH_BITS_MASK, RF_SHAPE_HASH_BITS_LSB);
	fw->types = (uint16_t)(rf_fw_read(fw, RF_TYPES) & RF_TYPES_MASK_MASK);
	fw->fp16 = (fw->types >> RF_DTYPE_BF16 & fw->types >> RF_DTYPE_FP16 & 1) != 0;
	fw->selective = (s & RF_SHAPE_SELECTIVE_MASK) != 0;
	fw->lag = (s & RF_SHAPE_LAG_MASK) != 0;
	fw->mirror = (s & RF_SHAPE_MIRROR_MASK) != 0;
	fw->directed = (s & RF_SHAPE_DIRECTED_MASK) != 0;
	fw->uplinks = fw->mirror && fw->directed && (s & RF_SHAPE_UPLINK_MASK) != 0;
	fw->bank_log2 = (uint8_t)field(t, RF_SHAPE2_BANK_AW_MASK, RF_SHAPE2_BANK_AW_LSB);
	fw->hdr_log2 = (uint8_t)field(t, RF_SHAPE2_HDR_AW_MASK, RF_SHAPE2_HDR_AW_LSB);
	fw->mtu_log2 = (uint8_t)field(t, RF_SHAPE2_MTU_LOG2_MASK, RF_SHAPE2_MTU_LOG2_LSB);
	fw->ngroups = (uint8_t)(groups < RF_FW_GROUPS_MAX ? groups : RF_FW_GROUPS_MAX);
	fw->khz = rf_fw_read(fw, RF_CLOCK_KHZ);
	if (fw->ports == 0 || fw->ports > RF_CTL_PORTS_MAX || fw->lanes == 0 ||
	    fw->lanes > RF_CTL_LANES_MAX || !power_of_two(fw->width64) ||
	    fw->hash_bits < RF_FW_BUCKET_LOG2 || fw->hash_bits > RF_FW_HASH_BITS_MAX ||
	    groups == 0 || fw->bank_log2 > 31 || fw->hdr_log2 > 31 || fw->mtu_log2 < 8 ||
	    fw->mtu_log2 > 12)
		return RF_FW_E_SHAPE;
	return fw->khz == 0 ? RF_FW_E_CLOCK : RF_FW_OK;
}

static bool config_ok(const struct rf_fw_cfg *cfg)
{
	return cfg->ip != 0 && cfg->epoch != 0 && cfg->poll_frames > 0 && cfg->tick_ms > 0 &&
	       (cfg->mac[0] & 1u) == 0 && cfg->mac[5] <= 0x100u - RF_CTL_PORTS_MAX &&
	       cfg->nonce_ms > 0 && cfg->nonce_ms <= RF_FW_NONCE_MS_MAX &&
	       cfg->lease_ms >= RF_CTL_TIME_MIN_MS && cfg->hold_ms <= RF_CTL_TIME_MAX_MS &&
	       cfg->tomb_ms <= RF_CTL_TIME_MAX_MS && (cfg->nkeys == 0 || cfg->keys != NULL);
}

static bool has_salt(const struct rf_fw_cfg *cfg)
{
	unsigned int any = 0;

	for (unsigned int i = 0; i < RF_FW_SALT_BYTES; i++)
		any |= cfg->salt[i];
	return any != 0;
}

static void clear_state(struct rf_fw *fw)
{
	for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
		/* The rest is written when a group is made. */
		fw->group[i].state = RF_CTL_S_FREE;
		fw->group[i].live = 0;
		fw->group[i].hw = RF_FW_NONE;
		fw->group[i].uplink = RF_FW_NONE;
		fw->group[i].first = RF_FW_NO_MEMBER;
	}
	rf_fw_member_init(fw);
	rf_fw_buddy_init(&fw->beats, fw->bank_log2);
	rf_fw_buddy_init(&fw->hslots, fw->hdr_log2);
}

static void clear_hardware(struct rf_fw *fw, unsigned int groups)
{
	const uint8_t *mac = fw->cfg.mac;

	rf_fw_conn_reset(fw);
	for (unsigned int i = 0; i < groups && i < RF_GROUP_COUNT; i++) {
		rf_fw_write(fw, rf_fw_group_reg(i, RF_GROUP_CFG), 0);
		rf_fw_write(fw, rf_fw_group_reg(i, RF_GROUP_ERROR), RF_GROUP_ERROR_VALID_MASK);
	}
	rf_fw_write(fw, RF_MAC_HI, (uint32_t)mac[0] << 8 | mac[1]);
	rf_fw_write(fw, RF_MAC_LO,
		    (uint32_t)mac[2] << 24 | (uint32_t)mac[3] << 16 | (uint32_t)mac[4] << 8 |
			    mac[5]);
	rf_fw_write(fw, RF_IP, fw->cfg.ip);
}

int rf_fw_init(struct rf_fw *fw, struct rf_hal *hal, const struct rf_fw_cfg *cfg)
{
	int rc;

	memset(fw, 0, offsetof(struct rf_fw, group));
	fw->hal = hal;
	fw->cfg = *cfg;
	fw->epoch = cfg->epoch;
	if (rf_fw_read(fw, RF_ID) != BOX_ID || rf_fw_read(fw, RF_VERSION) != BOX_VERSION)
		return RF_FW_E_ID;
	rf_fw_write(fw, RF_CTRL, RF_CTRL_HOLD_MASK);
	if (!config_ok(cfg))
		return RF_FW_E_CONFIG;
	if (!has_salt(cfg))
		return RF_FW_E_SALT;
	rc = read_shape(fw);
	if (rc != RF_FW_OK)
		return rc;
	rc = fw->mirror ? rf_fw_cfg_addresses(cfg, fw->ports) : RF_FW_OK;
	if (rc != RF_FW_OK)
		return rc;
	clear_state(fw);
	for (unsigned int i = 0; i < RF_FW_PORTS; i++)
		fw->busy_since[i] = RF_FW_NEVER;
	clear_hardware(
		fw, field(rf_fw_read(fw, RF_SHAPE2), RF_SHAPE2_GROUPS_MASK, RF_SHAPE2_GROUPS_LSB));
	fw->ms_cycles = cycles(fw);
	rf_fw_nonce_init(fw);
	rf_fw_address_begin(fw);
	rf_fw_note(fw, RF_CTL_EV_START, &(struct rf_fw_what){.rank = RF_CTL_NO_RANK});
	rf_fw_hold_begin(fw);
	return RF_FW_OK;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void errors(struct rf_fw *fw)
{
	uint32_t irq = rf_fw_read(fw, RF_IRQ);

	if (irq & RF_IRQ_PARITY_MASK)
		rf_fw_begin_anew(fw);
	else if (irq & RF_IRQ_GROUP_ERROR_MASK)
		rf_fw_group_errors(fw);
}

uint64_t rf_fw_poll(struct rf_fw *fw)
{
	uint64_t next;
	bool waiting;

	clock_update(fw);
	errors(fw);
	/* Before requests: a new group may need resources that an old one returns. */
	rf_fw_group_settle(fw);
	fw->held = false;
	for (unsigned int i = 0; i < fw->cfg.poll_frames; i++)
		if (!rf_fw_net_punt(fw))
			break;
	rf_fw_hold_poll(fw);
	rf_fw_conn_tick(fw);
	next = rf_fw_group_tick(fw);
	next = earlier(next, rf_fw_stall_tick(fw));
	if (fw->mirror)
		next = earlier(next, rf_fw_address_tick(fw));
	if (fw->uplinks)
		next = earlier(next, rf_fw_uplink_tick(fw));
	if (fw->strict)
		next = earlier(next, rf_fw_watch_tick(fw));
	rf_fw_net_notices(fw);
	waiting = rf_fw_net_waiting(fw);
	/* A port's inject buffer is busy; it is free again within microseconds. */
	if (fw->held && (waiting || fw->notices))
		return cycles(fw) + fw->khz / 256u + 1u;
	if (waiting || fw->notices)
		return fw->ms_cycles;
	next = earlier(next, earlier(fw->hold_until, fw->tomb_ms));
	if (next == RF_FW_NEVER)
		return RF_FW_NEVER;
	return fw->ms_cycles + (next - fw->now_ms) * fw->khz;
}

bool rf_fw_stop(struct rf_fw *fw)
{
	clock_update(fw);
	for (unsigned int i = 0; i < RF_FW_RECORDS; i++)
		rf_fw_group_fail(fw, &fw->group[i], RF_CTL_R_RESET, RF_CTL_NO_RANK, 0, 0);
	rf_fw_net_notices(fw);
	if (fw->uplinks)
		rf_fw_uplink_tick(fw);
	if (fw->notices || rf_fw_uplink_busy(fw))
		return false;
	rf_fw_write(fw, RF_CTRL, RF_CTRL_HOLD_MASK);
	return true;
}

const char *rf_fw_error_text(int error)
{
	switch (error) {
	case RF_FW_OK:
		return "no error";
	case RF_FW_E_ID:
		return "not a ringfold box, or one with a newer register map";
	case RF_FW_E_SHAPE:
		return "the box's shape exceeds the limits of this firmware";
	case RF_FW_E_CONFIG:
		return "a setting of the firmware is not allowed";
	case RF_FW_E_CLOCK:
		return "the box reports a clock rate of 0";
	case RF_FW_E_ADDRESS:
		return "the address of a port cannot be a host's: 0.x, 127.x or from 224.x on";
	case RF_FW_E_PREFIX:
		return "the prefix has more than 32 bits";
	case RF_FW_E_GATEWAY:
		return "the gateway is not another host in the box's subnet";
	case RF_FW_E_OWN:
		return "a port has the box's own address";
	case RF_FW_E_AT_GATEWAY:
		return "a port has the gateway's address";
	case RF_FW_E_SUBNET:
		return "the address of a port is not in the box's subnet, or is its first or last "
		       "one, which no host has";
	case RF_FW_E_TWICE:
		return "two ports have the same address";
	case RF_FW_E_BOX:
		return "the box's own address cannot be a host's: 0.x, 127.x, from 224.x on, or "
		       "the first or last one of its subnet";
	case RF_FW_E_PORTS:
		return "there are more addresses of ports than the box has ports";
	case RF_FW_E_SALT:
		return "there is no fresh salt: 16 random bytes must be written before each start";
	default:
		return "unknown error";
	}
}
