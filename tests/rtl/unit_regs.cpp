/*
 * rf_regs against rtl/control/registers.txt: every write reaches its register and no other; every read is answered 5
 * cycles after rd_en; addresses that this box does not have ignore writes and read as zero; INIT and SEEN wait for
 * their turn and delay further accesses meanwhile.
 *
 * Compiled with the parameters of the module. The answers of other modules are a fixed function of their inputs.
 */
#include "Vrf_regs.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { READ = 5, CW = GW + LW + PW };

static const unsigned conn_offsets[] = { RF_CONN_START, RF_CONN_SHIFT, RF_CONN_SRC_IP, RF_CONN_PEER_IP, RF_CONN_PEER_PORT,
					 RF_CONN_QPN, RF_CONN_INIT, RF_CONN_NEXT, RF_CONN_SENT, RF_CONN_UNA, RF_CONN_MSN,
					 RF_CONN_SEEN, RF_CONN_SILENT, RF_CONN_PEER_MAC_HI, RF_CONN_PEER_MAC_LO };
static const uint32_t conn_masks[6] = { 0xffffff, 0xffffff, 0xffffffff, 0xffffffff, 7, 0xffffff };

/* An answer of `what` for `key`. */
static uint32_t answer(unsigned what, unsigned key)
{
	uint32_t v = (what * 0x9e3779b9u) ^ (key * 0x85ebca6bu + 0x1234567u);

	v ^= v >> 13;
	return v * 0xc2b2ae35u;
}

enum { A_COUNT = 1, A_GROUP, A_HEAD, A_TAIL, A_ISSUED, A_NEXT, A_SENT, A_UNA, A_MSN, A_SEEN, A_SILENT, A_WINDOW, A_LAG, A_HELD };

static const std::pair<unsigned, uint32_t> plain[] = {
	{ RF_CTRL, 3 }, { RF_MAC_HI, 0xffff }, { RF_MAC_LO, ~0u }, { RF_IP, ~0u }, { RF_HASH_IP, ~0u }, { RF_HASH_KEY, MIRROR ? 0x3ffffff : 0x1ffffff },
	{ RF_HASH_VALUE, 0x3ffff }, { RF_INJECT, ~0u }, { RF_TX_SHARE, 15 }, { RF_TOMB_SRC, ~0u },
	{ RF_HOLD_PORTS, (1u << PORTS) - 1 }, { RF_PORT_IP0, MIRROR ? ~0u : 0 }, { RF_PORT_IP1, MIRROR ? ~0u : 0 },
	{ RF_PORT_IP2, MIRROR ? ~0u : 0 }
};

static const unsigned constants[] = { RF_ID, RF_VERSION, RF_SHAPE, RF_SHAPE2, RF_TYPES, RF_CLOCK_KHZ, RF_CYCLE_LO, RF_CYCLE_HI, RF_IRQ,
				      RF_PARITY, RF_PUNT_STATUS, RF_INJECT_STATUS, RF_HASH_WRITE, RF_PUNT_POP, RF_TICK, RF_LAG_ARM,
				      RF_LAG_STATUS, RF_LAG_CYCLES, RF_LAG_INDEX, RF_HELD_IP, RF_HELD_SRC,
				      RF_HELD_KEY, RF_HELD_POP, RF_TOMB_WRITE, RF_TOMB_LOOK, RF_TOMB_SEEN, RF_PORT_IP3, RF_PORT_IP7 };

struct model {
	std::map<unsigned, uint32_t> regs;
	std::map<unsigned, uint32_t> fields[6], mac_hi, mac_lo;
	uint32_t last_hi = 0;
	bool hi_known = false;
	uint32_t punt_status = 0, cycle_at_read = 0;
	bool error = false, stopped = false, restart = false, held = false, missed = false, tomb_seen = false;
	unsigned inject_busy = 0;
	uint32_t fault = 0;
};

static bool conn_of(unsigned addr, unsigned *conn)
{
	if (addr < RF_CONN_BASE || addr >= RF_CONN_BASE + RF_CONN_COUNT * RF_CONN_STRIDE)
		return false;
	const unsigned cid = (addr - RF_CONN_BASE) / RF_CONN_STRIDE;
	const unsigned g = cid / 128, l = cid / 8 % 16, p = cid % 8;

	*conn = g << (LW + PW) | l << PW | p;
	return g < GROUPS && l < LANES && p < PORTS;
}

static bool group_of(unsigned addr, unsigned *group)
{
	if (addr < RF_GROUP_BASE || addr >= RF_GROUP_BASE + RF_GROUP_COUNT * RF_GROUP_STRIDE)
		return false;
	*group = (addr - RF_GROUP_BASE) / RF_GROUP_STRIDE;
	return *group < GROUPS;
}

/* The expected value of a read; false if a value was never written and is undefined. */
static bool reading(const model &m, unsigned addr, uint32_t *v)
{
	unsigned n;

	*v = 0;
	for (auto &r : plain)
		if (r.first == addr) {
			*v = m.regs.at(addr);
			return true;
		}
	if (conn_of(addr, &n)) {
		const unsigned off = addr % RF_CONN_STRIDE;

		for (unsigned f = 0; f < 6; f++)
			if (conn_offsets[f] == off) {
				auto i = m.fields[f].find(n);
				if (i == m.fields[f].end())
					return false;
				*v = i->second;
			}
		const auto &mac = off == RF_CONN_PEER_MAC_HI ? m.mac_hi : m.mac_lo;

		if (MIRROR && (off == RF_CONN_PEER_MAC_HI || off == RF_CONN_PEER_MAC_LO)) {
			if (mac.find(n) == mac.end())
				return false;
			*v = mac.at(n);
		}
		switch (off) {
		case RF_CONN_NEXT: *v = answer(A_NEXT, n) & 0xffffff; break;
		case RF_CONN_SENT: *v = answer(A_SENT, n) & 0xffffff; break;
		case RF_CONN_UNA: *v = answer(A_UNA, n) & 0xffffff; break;
		case RF_CONN_MSN: *v = answer(A_MSN, n) & 0xffffff; break;
		case RF_CONN_SEEN: *v = answer(A_SEEN, n) & 3; break;
		case RF_CONN_SILENT: *v = answer(A_SILENT, n) & 1; break;
		default: break;
		}
		return true;
	}
	if (group_of(addr, &n)) {
		const unsigned off = addr % RF_GROUP_STRIDE;

		*v = off == RF_GROUP_HEAD ? answer(A_HEAD, n) & 0xffffff :
		     off == RF_GROUP_TAIL ? answer(A_TAIL, n) & 0xffffff :
		     off == RF_GROUP_ISSUED ? answer(A_ISSUED, n) & 0xffffff : answer(A_GROUP, n << 6 | off);
		return true;
	}
	if (addr >= RF_PORT_BASE && addr < RF_PORT_BASE + 8 * RF_PORT_STRIDE) {
		n = (addr - RF_PORT_BASE) / RF_PORT_STRIDE;
		if (n < PORTS)
			*v = answer(A_COUNT, n << 8 | addr % RF_PORT_STRIDE / 4);
		return true;
	}
	if (addr >= RF_PUNT_DATA && addr < RF_PUNT_DATA + RF_PUNT_DATA_BYTES) {
		*v = answer(A_WINDOW, addr);
		return true;
	}
	switch (addr) {
	case RF_ID: *v = 0x52464258; break;
	case RF_VERSION: *v = 1; break;
	case RF_SHAPE: *v = PORTS | LANES << 8 | WIDTH / 64 << 16 | HASH_BITS << 20 | SELECTIVE << 26 | LAG << 27 | MIRROR << 28 |
			     DIRECTED << 29; break;
	case RF_SHAPE2: *v = GROUPS | BANK_AW << 8 | HDR_AW << 16 | 12 << 24; break;
	case RF_TYPES: *v = TYPES; break;
	case RF_CLOCK_KHZ: *v = CLOCK_KHZ; break;
	case RF_CYCLE_LO: *v = m.cycle_at_read; break;
	case RF_IRQ: *v = (unsigned)m.stopped << 3 | (unsigned)m.held << 2 | (unsigned)m.error << 1 | m.punt_status >> 31; break;
	case RF_PARITY: *v = m.stopped ? m.fault : 0; break;
	case RF_HELD_IP: case RF_HELD_SRC: *v = answer(A_HELD, addr); break;
	case RF_HELD_KEY: *v = (unsigned)m.held << 31 | (unsigned)m.missed << 30 | (answer(A_HELD, addr) & 0x7ffffff); break;
	case RF_TOMB_SEEN: *v = m.tomb_seen; break;
	case RF_PUNT_STATUS: *v = m.punt_status; break;
	case RF_INJECT_STATUS: *v = m.inject_busy; break;
	case RF_LAG_STATUS: case RF_LAG_CYCLES: case RF_LAG_INDEX: *v = answer(A_LAG, addr); break;
	default: break;
	}
	return true;
}

static unsigned any_address(rng &r)
{
	switch (r.below(9)) {
	case 0: return plain[r.below(sizeof(plain) / sizeof(plain[0]))].first;
	case 1: return constants[r.below(sizeof(constants) / sizeof(constants[0]))];
	case 2: return RF_PORT_BASE + 4 * r.below(8 * RF_PORT_STRIDE / 4);
	case 3: return RF_GROUP_BASE + RF_GROUP_STRIDE * r.below(r.percent(80) ? GROUPS : RF_GROUP_COUNT) + 4 * r.below(16);
	case 4: return RF_PUNT_DATA + 4 * r.below(256);
	case 5: return RF_INJECT_DATA + 4 * r.below(256);
	case 6: return r.percent(50) ? 4 * r.below(1 << 22) : 4 * r.below(1 << 14);
	default:
		return RF_CONN_BASE + RF_CONN_STRIDE * (128 * r.below(GROUPS + 1) + 8 * r.below(LANES + 1) + r.below(PORTS + 1)) +
		       (r.percent(90) ? conn_offsets[r.below(14)] : 4 * r.below(16));
	}
}

/* The expected effect of a write in its own cycle. */
static void check_write(bench &b, Vrf_regs &d, const model &m)
{
	const unsigned addr = d.wr_addr;
	unsigned conn = 0, group = 0, field = 0;
	const bool is_conn = d.wr_en && conn_of(addr, &conn), is_group = d.wr_en && group_of(addr, &group);

	for (unsigned f = 0; f < 6; f++)
		field |= (unsigned)(is_conn && conn_offsets[f] == addr % RF_CONN_STRIDE) << f;
	b.same("conn_field", d.conn_field, field);
	if (field != 0)
		b.same("conn_wr", d.conn_wr, conn);
	const bool mac = MIRROR && is_conn && addr % RF_CONN_STRIDE == RF_CONN_PEER_MAC_LO;
	b.same("conn_mac_wr", d.conn_mac_wr, mac);
	if (mac) {
		b.same("conn_wr of PEER_MAC", d.conn_wr, conn);
		b.same("conn_mac, lower half", d.conn_mac & 0xffffffff, d.wr_data);
		if (m.hi_known)
			b.same("conn_mac", d.conn_mac >> 32, m.last_hi);
	}
	b.same("group_wr", d.group_wr, is_group);
	if (is_group)
		b.same("group_wr_number", d.group_wr_number, group);
	b.same("punt_pop", d.punt_pop, d.wr_en && addr == RF_PUNT_POP);
	b.same("tick", d.tick, d.wr_en && addr == RF_TICK);
	b.same("lag_arm", d.lag_arm, d.wr_en && addr == RF_LAG_ARM);
	b.same("held_pop", d.held_pop, d.wr_en && addr == RF_HELD_POP);
	b.same("tomb_write", d.tomb_write, d.wr_en && addr == RF_TOMB_WRITE);
	b.same("tomb_look", d.tomb_look, d.wr_en && addr == RF_TOMB_LOOK);
	if (d.tomb_write)
		b.same("tomb_src", d.tomb_src, m.regs.at(RF_TOMB_SRC));
	b.same("inject_cmd", d.inject_cmd, d.wr_en && addr == RF_INJECT);
	b.same("inject_win_en", d.inject_win_en, d.wr_en && addr >= RF_INJECT_DATA && addr < RF_INJECT_DATA + 1024);
	b.same("hash_valid", d.hash_valid, d.wr_en && addr == RF_HASH_WRITE);
	if (d.hash_valid) {
		const uint32_t key = m.regs.at(RF_HASH_KEY), value = m.regs.at(RF_HASH_VALUE);

		b.same("hash_table", d.hash_table, d.wr_data >> 16 & 1);
		b.same("hash_index", d.hash_index, d.wr_data & 0xffff);
		b.same("hash_ip", d.hash_ip, m.regs.at(RF_HASH_IP));
		b.same("hash_role", d.hash_role, key >> 24);
		b.same("hash_qpn", d.hash_qpn, key & 0xffffff);
		b.same("hash_cid", d.hash_cid, value & 0xffff);
		b.same("hash_state", d.hash_state, value >> 16);
	}
}

/* The other modules' answers. */
static void others(Vrf_regs &d)
{
	for (unsigned p = 0; p < PORTS; p++)
		put(d.count_data, p * 32, 32, answer(A_COUNT, p << 8 | d.count_number));
	d.group_rd_data = answer(A_GROUP, (unsigned)d.group_rd_number << 6 | (d.rd_at & 63));
	d.x_head = answer(A_HEAD, d.group_rd_number) & 0xffffff;
	d.x_tail = answer(A_TAIL, d.group_rd_number) & 0xffffff;
	d.x_issued = answer(A_ISSUED, d.group_rd_number) & 0xffffff;
	d.x_next = answer(A_NEXT, d.conn_rd) & 0xffffff;
	d.x_sent = answer(A_SENT, d.conn_rd) & 0xffffff;
	d.x_una = answer(A_UNA, d.conn_rd) & 0xffffff;
	d.x_msn = answer(A_MSN, d.conn_rd) & 0xffffff;
	d.x_seen = answer(A_SEEN, d.conn_rd) & 3;
	d.x_silent = answer(A_SILENT, d.conn_rd) & 1;
	d.lag_status = answer(A_LAG, RF_LAG_STATUS);
	d.lag_cycles = answer(A_LAG, RF_LAG_CYCLES);
	d.lag_index = answer(A_LAG, RF_LAG_INDEX);
	d.held_ip = answer(A_HELD, RF_HELD_IP);
	d.held_src = answer(A_HELD, RF_HELD_SRC);
	d.held_qpn = answer(A_HELD, RF_HELD_KEY) & 0xffffff;
	d.held_port = answer(A_HELD, RF_HELD_KEY) >> 24 & 7;
}

static void body(bench &b)
{
	auto d = fresh<Vrf_regs>(b);
	model m;
	long reads = 0, known = 0, zero = 0, writes = 0, inits = 0, seens = 0, looks = 0, waited = 0;
	long read_at = -1, window_at = -1, since = 0;
	unsigned rd_addr = 0, late = 0, bits = 0;
	bool init = false, seen = false;

	for (auto &r : plain)
		m.regs[r.first] = 0;
	m.regs[RF_CTRL] = 2;
	m.regs[RF_TX_SHARE] = 4;
	long stops = 0, restarts = 0;

	d->fault_valid = 0;
	d->wr_en = d->rd_en = d->init_ready = d->seen_ready = 0;
	reset(b, *d);
	for (long n = 0; n < 70000; n++, since++) {
		d->punt_win_data = (uint32_t)b.r.next();
		/* The window's memory answers 2 cycles after its read and keeps its output. */
		if (window_at >= 0 && n >= window_at)
			d->punt_win_data = answer(A_WINDOW, rd_addr);
		if (read_at < 0) {
			m.punt_status = (uint32_t)b.r.next();
			m.error = b.r.percent(50);
			m.inject_busy = b.r.below(1u << PORTS);
			m.held = b.r.percent(50);
			m.missed = b.r.percent(50);
		}
		d->punt_status = m.punt_status;
		d->any_error = m.error;
		d->inject_busy = m.inject_busy;
		d->held_valid = m.held;
		d->held_missed = m.missed;
		d->tomb_seen = b.r.percent(50);
		d->init_ready = b.r.percent(30);
		d->seen_ready = b.r.percent(30);
		const bool held = init || seen;
		d->wr_en = !held && b.r.percent(60);
		d->wr_addr = any_address(b.r);
		d->wr_data = b.r.percent(5) ? 0 : (uint32_t)b.r.next();
		d->rd_en = read_at < 0 && b.r.percent(60);
		d->fault_valid = read_at < 0 && !d->rd_en && b.r.percent(50);
		d->fault_port = (uint8_t)b.r.below(PORTS);
		d->fault_memory = (uint8_t)b.r.below(16);
		d->rd_addr = any_address(b.r);
		settle(*d);
		others(*d);
		settle(*d);

		b.same("irq", d->irq, m.held || m.error || m.stopped || m.punt_status >> 31);
		b.same("enable", d->enable, (m.regs[RF_CTRL] & 1) && !m.stopped);
		b.same("stopped", d->stopped, m.stopped);
		b.same("restart", d->restart, m.restart);
		b.same("hold", d->hold, m.regs[RF_CTRL] >> 1 & 1 ? (1u << PORTS) - 1 : m.regs[RF_HOLD_PORTS]);
		b.same("base_mac", d->base_mac, (uint64_t)m.regs[RF_MAC_HI] << 32 | m.regs[RF_MAC_LO]);
		b.same("box_ip", d->box_ip, m.regs[RF_IP]);
		for (unsigned p = 0; p < PORTS; p++) {
			b.same("port_ip", get(d->port_ip, p * 32, 32), m.regs[RF_PORT_IP0 + 4 * p]);
			b.same("port_ip_set", d->port_ip_set >> p & 1, m.regs[RF_PORT_IP0 + 4 * p] != 0);
		}
		b.same("tx_share", d->tx_share, m.regs[RF_TX_SHARE]);
		check_write(b, *d, m);
		unsigned conn = 0;
		const bool wr_conn = d->wr_en && conn_of(d->wr_addr, &conn);
		const bool wr_init = wr_conn && d->wr_addr % RF_CONN_STRIDE == RF_CONN_INIT;
		const bool wr_seen = wr_conn && d->wr_addr % RF_CONN_STRIDE == RF_CONN_SEEN;
		b.same("busy", d->busy, held || wr_init || wr_seen);
		b.same("init_valid", d->init_valid, init);
		b.same("seen_valid", d->seen_valid, seen);
		if (held)
			b.same("conn_wr of what waits", d->conn_wr, late);
		if (seen)
			b.same("seen_bits", d->seen_bits, bits);
		waited += held;

		/* Reads. */
		b.same("rd_ack", d->rd_ack, read_at >= 0 && n == read_at + READ);
		if (d->rd_ack) {
			uint32_t want;

			if (reading(m, rd_addr, &want)) {
				b.same("rd_data", d->rd_data, want);
				known++;
				zero += want == 0;
			}
			reads++;
			read_at = -1;
		}
		const bool window = read_at >= 0 && n == read_at + 1 && rd_addr >= RF_PUNT_DATA && rd_addr < RF_PUNT_DATA + 1024;
		b.same("punt_win_en", d->punt_win_en, window);
		if (window) {
			b.same("rd_at", d->rd_at, rd_addr & 0xfff);
			window_at = n + 2;
		}
		if (d->rd_en) {
			window_at = -1;
			read_at = n;
			rd_addr = d->rd_addr;
			m.cycle_at_read = (uint32_t)since;
		}

		/* Writes are effective from the next cycle on; none that a read in progress would see only in part. */
		init = init ? !d->init_ready : wr_init;
		seen = seen ? !d->seen_ready : wr_init || wr_seen;
		if (wr_init || wr_seen) {
			late = conn;
			bits = wr_init ? 3 : d->wr_data & 3;
			inits += wr_init;
			seens += wr_seen;
		}
		const bool restart = m.restart;
		if (!restart && d->fault_valid && !m.stopped) {
			m.stopped = true;
			m.fault = 1u << 31 | (unsigned)d->fault_memory << 8 | d->fault_port;
			stops++;
		}
		if (restart)
			m.stopped = false;
		m.restart = false;
		const bool meets = d->wr_addr == rd_addr || d->wr_addr == RF_PARITY ||
				   (d->wr_addr == RF_TOMB_LOOK && rd_addr == RF_TOMB_SEEN);
		if (d->wr_en && !(read_at >= 0 && meets)) {
			m.restart = d->wr_addr == RF_PARITY && d->wr_data >> 31;
			restarts += m.restart;
			writes++;
			if (d->wr_addr == RF_TOMB_LOOK) {
				m.tomb_seen = d->tomb_seen;
				looks++;
			}
			if (wr_conn && d->wr_addr % RF_CONN_STRIDE == RF_CONN_PEER_MAC_HI)
				m.last_hi = m.mac_hi[conn] = d->wr_data & 0x1ffff, m.hi_known = true;
			if (wr_conn && d->wr_addr % RF_CONN_STRIDE == RF_CONN_PEER_MAC_LO)
				m.mac_lo[conn] = d->wr_data;
			for (auto &r : plain)
				if (r.first == d->wr_addr)
					m.regs[r.first] = d->wr_data & r.second;
			for (unsigned f = 0; wr_conn && f < 6; f++)
				if (conn_offsets[f] == d->wr_addr % RF_CONN_STRIDE)
					m.fields[f][conn] = d->wr_data & conn_masks[f];
		} else {
			d->wr_en = 0;
		}
		if (restart)
			m.regs[RF_CTRL] = 2, m.regs[RF_HOLD_PORTS] = 0;
		tick(b, *d);
	}
	b.met("lost bits", stops, 15);
	b.met("restarts", restarts, 15);
	b.met("reads", reads, 3000);
	b.met("reads of known values", known, 2500);
	b.met("reads of zero", zero, 300);
	b.met("writes", writes, 10000);
	b.met("INIT", inits, 200);
	b.met("SEEN", seens, 200);
	b.met("TOMB_LOOK", looks, 100);
	b.met("cycles that one of them waited", waited, 500);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
