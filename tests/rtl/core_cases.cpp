// One frame at a time: the verdict of every line of docs/box.md, the frames that the box makes, errors, registers.
#include "tests/rtl/core_case.h"
#include "tests/rtl/core_tests.h"

namespace
{

// Checks one held frame in the registers; then the next one, if any.
void shows(Case &c, const Roce &r, unsigned port, bool missed, const char *what)
{
	const uint32_t key = c.box.rd(RF_HELD_KEY);

	if (key != (1u << 31 | (missed ? 1u << 30 : 0) | port << 24 | r.qpn) || c.box.rd(RF_HELD_IP) != r.dip ||
	    c.box.rd(RF_HELD_SRC) != r.sip || !c.box.top->irq || !(c.box.rd(RF_IRQ) & RF_IRQ_HELD_MASK))
		die("held, %s: %08x", what, key);
	c.box.wr(RF_HELD_POP, 0);
}

// Held frames: "good" of r has been held on port 0.
void held(Case &c, const Roce &r)
{
	Roce other = r, third = r, tagged = r;

	other.qpn = r.qpn ^ 0xabcdef;
	third.dip++;
	tagged.vlan = 5;
	tagged.sip = 0xc0a80102;
	tagged.qpn = 0x123456;
	shows(c, r, 0, false, "one frame");
	if (c.box.rd(RF_HELD_KEY) >> 31 || c.box.top->irq)
		die("held: still there");
	// A frame with a wrong ICRC is not shown; the same connection is neither shown twice nor missed.
	Bytes damaged = other.frame();
	damaged[60] ^= 1;
	c.want(0, damaged, {RF_CNT_HOLD}, "held, damaged");
	if (c.box.rd(RF_HELD_KEY) >> 31)
		die("held: a damaged frame is shown");
	for (int k = 0; k < 3; k++)
		c.want(0, r.frame(), {RF_CNT_HOLD}, "held again");
	c.want(0, other.frame(), {RF_CNT_HOLD}, "held, another");
	c.want(0, other.frame(), {RF_CNT_HOLD}, "held, another again");
	c.want(LAST, tagged.frame(), {RF_CNT_HOLD}, "held, tagged, on another port");
	shows(c, r, 0, false, "the first of three");
	shows(c, tagged, LAST, false, "with a tag, its port's turn");
	c.want(0, r.frame(), {RF_CNT_HOLD}, "held, the place being free");
	c.want(0, third.frame(), {RF_CNT_HOLD}, "held, no place");
	shows(c, other, 0, true, "one is missed");
	shows(c, r, 0, false, "missed no more");
	if (c.box.rd(RF_HELD_KEY) >> 31)
		die("held: one too many");
}

// A port that holds frames of unknown connections, and a connection that passes through it all the same.
void hold_ports(Case &c, Roce ack, const Bytes &good)
{
	Roce data = ack, other = ack;

	data.opcode = other.opcode = 4;
	other.qpn ^= 1;
	c.box.wr(RF_CTRL, 1);
	c.box.wr(RF_HOLD_PORTS, 1u << LAST);
	c.want(0, good, {RF_CNT_FOREIGN, RF_CNT_TX_FRAMES, RF_CNT_TX_FOREIGN}, "a port that holds nothing");
	c.want(LAST, data.frame(), {RF_CNT_HOLD}, "a port that holds");
	shows(c, data, LAST, false, "at the port that holds");
	c.want(LAST, ack.frame(), {RF_CNT_FOREIGN, RF_CNT_TX_FRAMES, RF_CNT_TX_FOREIGN}, "foreign ACK at a port that holds");
	c.box.hash(false, data.dip, data.qpn, 0xffff, RF_STATE_JOINING);
	c.want(LAST, data.frame(), {RF_CNT_FOREIGN, RF_CNT_TX_FRAMES, RF_CNT_TX_FOREIGN}, "foreign entry");
	c.want(LAST, other.frame(), {RF_CNT_HOLD}, "beside a foreign entry");
	shows(c, other, LAST, false, "beside a foreign entry");
	c.box.rehash(false, data.dip, data.qpn, 0xfffe, RF_STATE_JOINING);
	c.want(LAST, data.frame(), {RF_CNT_JOINING}, "no foreign entry");
	c.box.rehash(false, data.dip, data.qpn, 0, RF_STATE_EMPTY);
	c.box.wr(RF_HOLD_PORTS, 0);
}

// A tombstone's signs of life: whether the last frame was one.
bool life(Case &c, unsigned number)
{
	c.box.wr(RF_TOMB_LOOK, number);
	return c.box.rd(RF_TOMB_SEEN) != 0;
}

void tombstones(Case &c, uint32_t seed)
{
	Rank &r = c.rank(0);
	const unsigned numbers[] = { 0, 7, 20 };

	for (unsigned n : numbers) {
		Roce liar = r.data(0, payload_of(c.g, seed, 0, 0, 256));
		Bytes damaged = c.data(0, 0);

		liar.sip++;
		damaged.back() ^= 1;
		c.box.wr(RF_TOMB_SRC, r.ip);
		c.box.wr(RF_TOMB_WRITE, (n ^ 1) | r.port << 16);
		c.box.wr(RF_TOMB_WRITE, n | r.port << 16);
		c.box.rehash(false, r.pip, r.pqpn, n, 3);
		if (life(c, n))
			die("tombstone %u: life from nothing", n);
		c.want(r.port, c.data(0, 0), {RF_CNT_TOMBSTONE}, "tombstone");
		if (life(c, n ^ 1) || !life(c, n) || life(c, n))
			die("tombstone %u: life", n);
		c.want(r.port ^ 1, c.data(0, 0), {RF_CNT_TOMBSTONE}, "tombstone, another port");
		c.want(r.port, liar.frame(), {RF_CNT_TOMBSTONE}, "tombstone, another source");
		c.want(r.port, damaged, {RF_CNT_TOMBSTONE}, "tombstone, wrong ICRC");
		if (life(c, n))
			die("tombstone %u: life from a stranger", n);
		c.box.wr(RF_TOMB_WRITE, n | 1u << 19);
		c.want(r.port ^ 1, liar.frame(), {RF_CNT_TOMBSTONE}, "tombstone, any");
		if (!life(c, n))
			die("tombstone %u: any", n);
	}
}

// Frames that do not belong to a group.
void strangers(uint32_t seed, std::vector<bool> &seen)
{
	Case c(seed);
	Roce r;

	r.sip = 0x0a010101;
	r.dip = 0x0a010102;
	r.payload.resize(64, 1);
	const Bytes good = r.frame();
	auto edit = [&](size_t at, uint64_t v, unsigned n) {
		Bytes b = good;
		set(b, at, v, n);
		if (b[12] == 8 && at >= 14 && at < 34 && at != 24)
			set(b, 24, ip_sum(b, 14), 2);
		return b;
	};
	Bytes b(59, 0);
	c.want(0, b, {RF_CNT_RX_RUNT}, "runt");
	c.want(0, good, {RF_CNT_RX_MAC_ERROR}, "damaged", true);
	b = good;
	b.resize(4096 + 87, 0);
	c.want(0, b, {RF_CNT_RX_OVERSIZE}, "oversize");
	c.want(0, edit(6, MAC + LAST, 6), {RF_CNT_OWN_SOURCE}, "own source");
	c.want(0, edit(12, 0x88a8, 2), {RF_CNT_TWO_TAGS}, "S tag");
	b = edit(12, 0x81000001, 4);
	set(b, 16, 0x8100, 2);
	c.want(0, b, {RF_CNT_TWO_TAGS}, "two tags");
	Bytes arp(60, 0);
	set(arp, 0, 0xffffffffffff, 6);
	set(arp, 6, 0x020000000007, 6);
	set(arp, 12, 0x0806, 2);
	set(arp, 14, 0x0001080006040001, 8);
	set(arp, 38, 0x0a0000fd, 4);
	c.want(0, arp, {RF_CNT_ARP_OTHER}, "ARP for another");
	c.want(0, edit(12, 0x86dd, 2), {RF_CNT_IPV6}, "IPv6");
	c.want(0, edit(12, 0x88cc, 2), {RF_CNT_ETHERTYPE}, "ethertype");
	c.want(0, edit(14, 0x55, 1), {RF_CNT_IP_VERSION}, "IP version");
	c.want(0, edit(14, 0x46, 1), {RF_CNT_IP_OPTIONS}, "IP options");
	c.want(0, edit(24, get(good, 24, 2) ^ 0x100, 2), {RF_CNT_IP_CHECKSUM}, "IP checksum");
	c.want(0, edit(20, 0x2000, 2), {RF_CNT_IP_FRAGMENT}, "fragment");
	c.want(0, edit(0, 0x01, 1), {RF_CNT_MULTICAST}, "multicast");
	c.want(0, edit(16, 0x1000, 2), {RF_CNT_IP_LENGTH}, "IP length");
	c.want(0, edit(23, 6, 1), {RF_CNT_NOT_ROCE}, "TCP");
	c.want(0, edit(38, 20, 2), {RF_CNT_UDP_LENGTH}, "UDP length");
	Bytes foreign = edit(6, MAC + LAST, 6);
	c.want(LAST, good, {RF_CNT_FOREIGN, RF_CNT_TX_FRAMES, RF_CNT_TX_FOREIGN}, "foreign");
	c.frame_is(LAST, foreign, "foreign");
	c.box.wr(RF_CTRL, 3);
	c.want(0, good, {RF_CNT_HOLD}, "hold");
	held(c, r);
	r.opcode = 0x11;
	c.want(0, r.frame(), {RF_CNT_FOREIGN, RF_CNT_TX_FRAMES, RF_CNT_TX_FOREIGN}, "foreign ACK in hold time");
	// A CNP on a connection passes, in the hold time too.
	Roce cnp = c.rank(0).data(0, Bytes(16, 0), 4);
	cnp.opcode = 0x81;
	c.want(0, cnp.frame(), {RF_CNT_FOREIGN, RF_CNT_TX_FRAMES, RF_CNT_TX_FOREIGN}, "CNP");
	hold_ports(c, r, good);
	c.box.wr(RF_CTRL, 2);
	c.want(0, good, {RF_CNT_DISABLED}, "disabled");
	c.box.wr(RF_CTRL, 1);

	// Punted: ARP for the box, ICMP, control packets; the firmware reads and releases them.
	set(arp, 38, 0x0a0000fe, 4);
	r.opcode = 4;
	r.dip = 0x0a0000fe;
	Bytes control = r.frame();
	c.want(LAST, arp, {RF_CNT_PUNTED}, "ARP");
	if (!c.box.top->irq || c.box.rd(RF_PUNT_STATUS) != (1u << 31 | LAST << 24 | 60))
		die("punt: status %08x", c.box.rd(RF_PUNT_STATUS));
	for (unsigned k = 0; k < 60; k++)
		if ((c.box.rd(RF_PUNT_DATA + (k & ~3u)) >> 8 * (k & 3) & 255) != arp[k])
			die("punt: byte %u", k);
	c.box.wr(RF_PUNT_POP, 0);
	c.want(0, control, {RF_CNT_PUNTED}, "control packet");
	c.box.wr(RF_PUNT_POP, 0);
	if (c.box.rd(RF_PUNT_STATUS) >> 31 || c.box.top->irq)
		die("punt: still there");
	r.payload.resize(1024);
	c.want(0, r.frame(), {RF_CNT_PUNT_FULL}, "long control packet");

	// Injected.
	for (unsigned k = 0; k < 60; k += 4)
		c.box.wr(RF_INJECT_DATA + k, 0x01010101 * k);
	std::vector<uint32_t> before_ = c.counters();
	c.box.wr(RF_INJECT, 60 | LAST << 24);
	c.box.settle();
	c.check(before_, LAST, {RF_CNT_TX_FRAMES, RF_CNT_TX_INJECT}, "inject");
	Bytes sent(60);
	for (unsigned k = 0; k < 60; k++)
		sent[k] = static_cast<uint8_t>(k & ~3u);
	set(sent, 6, MAC + LAST, 6);
	c.box.tx[LAST].erase(c.box.tx[LAST].begin(), c.box.tx[LAST].end() - 1);
	c.frame_is(LAST, sent, "inject");
	if (c.box.rd(RF_INJECT_STATUS))
		die("inject: busy");

	// Nothing is sent: the pass-through FIFO fills, then the punt buffer.
	c.box.on_ready = [](unsigned) { return false; };
	r.dip = 0x0a010102;
	before_ = c.counters();
	for (int k = 0; k < 40; k++)
		c.box.send(0, r.frame());
	c.box.run(40 * 1100 / BEAT + 500);
	if (!c.box.count(0, RF_CNT_FOREIGN_FULL))
		die("the pass-through FIFO has no end");
	c.seen[RF_CNT_FOREIGN_FULL] = true;
	c.box.on_ready = nullptr;
	c.box.settle();
	if (c.box.count(0, RF_CNT_FOREIGN) != c.box.count(0, RF_CNT_TX_FOREIGN))
		die("foreign frames were lost");
	seen = c.seen;
}

void window(uint32_t seed, std::vector<bool> &seen)
{
	Case c(seed);
	uint32_t big = 0xffffff;

	c.want(0, c.data(0, 1), {RF_CNT_GAP}, "gap");
	c.want(0, c.data(0, big), {RF_CNT_BEFORE_START}, "before start");
	c.conn_is(0, RF_CONN_SEEN, 1, "seen data");
	c.box.wr(Group::conn(c.rank(0), RF_CONN_SEEN), 1);
	c.conn_is(0, RF_CONN_SEEN, 0, "seen cleared");
	c.want(0, c.data(0, 0), {RF_CNT_ACCEPTED}, "accept");
	c.want(0, c.data(0, 0), {RF_CNT_PENDING}, "pending");
	for (unsigned p = 1; p < PORTS; p++)
		c.box.send(p, c.data(p, 0));
	c.box.settle();
	for (unsigned p = 0; p < PORTS; p++)
		c.frame_is(p, c.result(p, 0), "first result");
	c.group_is(RF_GROUP_HEAD, 1, "head");
	c.group_is(RF_GROUP_ISSUED, 1, "issued");
	c.group_is(RF_GROUP_TAIL, 0, "tail");
	c.want(LAST, c.data(LAST, 0), {RF_CNT_REPEAT, RF_CNT_TX_FRAMES, RF_CNT_TX_REPEAT}, "repeat");
	c.frame_is(LAST, c.result(LAST, 0, 256, 4, true), "repeat");
	for (uint32_t i = 1; i < 16; i++)
		c.round(i);
	c.want(0, c.data(0, 16), {RF_CNT_NO_ROOM}, "no room");
	c.want(0, c.data(0, 17), {RF_CNT_GAP}, "gap with no room");

	// ACKs: of connection 0, from the port of its successor.
	unsigned q = c.rank(0).pport;
	for (unsigned p = 0; p < PORTS; p++)
		c.box.tx[p].clear();
	c.want(q, c.rank(0).ack(17).frame(), {RF_CNT_ACK_BEYOND}, "ACK beyond");
	c.want(q, c.rank(0).ack(big).frame(), {RF_CNT_ACK_FORWARDED, RF_CNT_TX_FRAMES, RF_CNT_TX_ACK}, "old ACK");
	c.box.tx[q].clear();
	c.want(q, c.rank(0).ack(5, 0x1f, 77).frame(), {RF_CNT_ACK_FORWARDED, RF_CNT_TX_FRAMES, RF_CNT_TX_ACK}, "ACK");
	Roce fwd = c.rank(0).ack(5, 0x1f, 77);
	fwd.smac = MAC + q;
	fwd.psn += c.rank(0).shift;
	c.frame_is(q, fwd.frame(), "ACK");
	c.conn_is(0, RF_CONN_UNA, 5, "una");
	c.conn_is(0, RF_CONN_MSN, 77, "MSN");
	c.conn_is(0, RF_CONN_SEEN, 3, "seen both");
	c.group_is(RF_GROUP_TAIL, 0, "tail waits for the others");
	c.want(q, c.rank(0).ack(3, 0x60, 78).frame(), {RF_CNT_ACK_FORWARDED, RF_CNT_TX_FRAMES, RF_CNT_TX_ACK}, "NAK below una");
	c.conn_is(0, RF_CONN_UNA, 5, "una does not fall");
	c.want(q, c.rank(0).ack(6, 0x2c, 79).frame(), {RF_CNT_ACK_FORWARDED, RF_CNT_TX_FRAMES, RF_CNT_TX_ACK}, "RNR NAK");
	c.conn_is(0, RF_CONN_UNA, 6, "una by RNR NAK");
	for (unsigned p = 1; p < PORTS; p++) {
		c.box.send(c.rank(p).pport, c.rank(p).ack(6).frame());
		c.box.settle();
	}
	c.group_is(RF_GROUP_TAIL, 6, "tail");
	for (unsigned p = 0; p < PORTS; p++)
		c.box.tx[p].clear();

	// On behalf.
	Roce dup = c.rank(0).data(2, payload_of(c.g, seed, 0, 2, 256));
	dup.tos = 0x43;
	dup.ttl = 17;
	dup.vlan = 0x2005;
	dup.flags = 0xc0;
	dup.pkey = 0x1234;
	c.want(0, dup.frame(), {RF_CNT_BEHALF, RF_CNT_TX_FRAMES, RF_CNT_TX_BEHALF}, "on behalf");
	Roce made = c.rank(0).ack(6, 0x1f, 79);
	made.dmac = dup.smac;
	made.smac = MAC;
	made.tos = 0x40;
	made.ttl = 64;
	made.vlan = 0x2005;
	made.id = dup.id;
	made.pkey = 0x1234;
	made.sport = dup.sport;
	made.psn += c.rank(0).shift;
	c.frame_is(0, made.frame(), "on behalf");
	c.want(0, c.data(0, big), {RF_CNT_BEFORE_START}, "before start, still");
	c.round(16);

	// Malformed ACKs.
	Roce bad = c.rank(0).ack(7);
	bad.payload.resize(4);
	c.want(q, bad.frame(), {RF_CNT_ACK_MALFORMED}, "long ACK");
	for (unsigned syndrome : {0x40u, 0x5fu, 0x64u, 0x7fu, 0x80u, 0xffu})
		c.want(q, c.rank(0).ack(17, static_cast<uint8_t>(syndrome)).frame(), {RF_CNT_ACK_MALFORMED}, "syndrome");
	Bytes other = c.rank(0).ack(7).frame();
	c.want((q + 1) % PORTS, other, {RF_CNT_WRONG_SOURCE}, "ACK by the wrong port");
	Roce liar = c.rank(0).ack(7);
	liar.sip++;
	c.want(q, liar.frame(), {RF_CNT_WRONG_SOURCE}, "ACK of somebody else");
	other[other.size() - 1] ^= 1;
	c.want(q, other, {RF_CNT_ICRC}, "ACK with a wrong ICRC");

	// INIT and a new start clear all state.
	c.box.wr(c.g.reg(RF_GROUP_CFG), 0);
	c.want(0, c.data(0, 17), {RF_CNT_JOINING}, "group not live");
	for (Rank &r : c.g.ranks)
		c.box.wr(Group::conn(r, RF_CONN_INIT), 1);
	c.box.wr(c.g.reg(RF_GROUP_CFG), c.g.cfg());
	for (uint32_t o : {RF_CONN_NEXT, RF_CONN_SENT, RF_CONN_UNA, RF_CONN_MSN, RF_CONN_SEEN})
		c.conn_is(LAST, o, 0, "after INIT");
	for (uint32_t o : {RF_GROUP_HEAD, RF_GROUP_TAIL, RF_GROUP_ISSUED, RF_GROUP_ERROR})
		c.group_is(o, 0, "after start");
	c.round(0);
	c.round(1);
	seen = c.seen;
}

void errors(uint32_t seed, std::vector<bool> &seen)
{
	Case c(seed, BF16);

	// The table: tombstones, joining, wrong sources, ICRC.
	Rank &r = c.rank(0);
	c.box.rehash(false, r.pip, r.pqpn, r.cid(), 3);
	tombstones(c, seed);
	c.box.rehash(false, r.pip, r.pqpn, r.cid(), 2);
	c.want(0, c.data(0, 0), {RF_CNT_JOINING}, "joining");
	c.box.rehash(false, r.pip, r.pqpn, r.cid(), 1);
	c.box.rehash(true, r.ip, r.qpn, r.cid(), 3);
	c.want(r.pport, r.ack(0).frame(), {RF_CNT_TOMBSTONE}, "tombstone, ACK");
	c.box.rehash(true, r.ip, r.qpn, r.cid(), 2);
	c.want(r.pport, r.ack(0).frame(), {RF_CNT_JOINING}, "joining, ACK");
	c.box.rehash(true, r.ip, r.qpn, r.cid(), 1);
	c.want(1, c.data(0, 0), {RF_CNT_WRONG_SOURCE}, "wrong port");
	Roce liar = r.data(0, payload_of(c.g, seed, 0, 0, 256));
	liar.sip++;
	c.want(0, liar.frame(), {RF_CNT_WRONG_SOURCE}, "wrong source");
	Bytes b = c.data(0, 0);
	b[100] ^= 4;
	c.want(0, b, {RF_CNT_ICRC}, "ICRC");
	c.conn_is(0, RF_CONN_SEEN, 0, "no sign of life yet");

	// Wrong packets end the group.
	struct {
		uint8_t opcode;
		unsigned bytes, pad, counter, cause;
	} bad[] = {
		{0x0c, 16, 0, RF_CNT_OPCODE, RF_ERROR_OPCODE}, {0x13, 28, 0, RF_CNT_OPCODE, RF_ERROR_OPCODE},
		{0x10, 4, 0, RF_CNT_OPCODE, RF_ERROR_OPCODE},  {0x04, 0, 0, RF_CNT_LENGTH, RF_ERROR_LENGTH},
		{0x04, 260, 0, RF_CNT_LENGTH, RF_ERROR_LENGTH}, {0x00, 252, 0, RF_CNT_LENGTH, RF_ERROR_LENGTH},
		{0x01, 256, 2, RF_CNT_LENGTH, RF_ERROR_LENGTH}, {0x06, 128, 0, RF_CNT_LENGTH, RF_ERROR_LENGTH},
		{0x04, 255, 0, RF_CNT_LENGTH, RF_ERROR_LENGTH}, {0x04, 256, 1, RF_CNT_ELEMENT, RF_ERROR_ELEMENT},
		{0x02, 4, 3, RF_CNT_ELEMENT, RF_ERROR_ELEMENT},
	};
	for (auto &k : bad) {
		Roce w = r.data(5, Bytes(k.bytes, 7), k.opcode);
		w.pad = static_cast<uint8_t>(k.pad);
		c.want(0, w.frame(), {k.counter}, "wrong packet");
		c.error_is(k.cause, 0, 5, "wrong packet");
		c.want(0, c.data(0, 0), {RF_CNT_GROUP_FAILED}, "failed group");
		c.clear_error();
		if (c.box.rd(RF_IRQ))
			die("interrupt after the error was cleared");
	}
	// Half an element of a wide type.
	Case wide(seed, FP32);
	Roce w = wide.rank(0).data(0, Bytes(256, 7));
	w.pad = 2;
	wide.want(0, w.frame(), {RF_CNT_ELEMENT}, "half an fp32");

	// A NAK that ends the group.
	Case n(seed);
	n.round(0);
	unsigned q = n.rank(1).pport;
	n.want(q, n.rank(1).ack(0, 0x62).frame(), {RF_CNT_ACK_FORWARDED, RF_CNT_TX_FRAMES, RF_CNT_TX_ACK}, "fatal NAK");
	n.error_is(RF_ERROR_NAK, 1, 0, "fatal NAK");
	seen = c.seen;
	seen[RF_CNT_ACK_FORWARDED] = true;
}

// Ranks that disagree: nothing is sent, the error names the first one that differs.
void disagree(uint32_t seed)
{
	for (unsigned kind = 0; kind < 3; kind++)
		for (unsigned who = 0; who < PORTS; who++) {
			Case c(seed, BF16);
			c.round(0, 256);
			for (unsigned p = 0; p < PORTS; p++) {
				Roce r = c.rank(p).data(1, payload_of(c.g, seed, p, 1, 256));
				if (p == who && kind == 0)
					r = c.rank(p).data(1, r.payload, 10);
				if (p == who && kind == 1)
					r.payload.resize(252);
				if (p == who && kind == 2)
					r.pad = 2;
				c.box.tx[p].clear();
				c.box.send(p, r.frame());
			}
			c.box.settle();
			for (unsigned p = 0; p < PORTS; p++)
				if (!c.box.tx[p].empty())
					die("disagree: a result left");
			// If the first member is the odd one, its neighbour differs from it.
			c.error_is(RF_ERROR_DISAGREE, who == 0 ? 1 : who, 1, "disagree");
			c.want(0, c.data(0, 2), {RF_CNT_GROUP_FAILED}, "failed group");
			// The group starts again.
			c.box.wr(c.g.reg(RF_GROUP_CFG), 0);
			for (Rank &r : c.g.ranks)
				c.box.wr(Group::conn(r, RF_CONN_INIT), 1);
			c.box.wr(c.g.reg(RF_GROUP_CFG), c.g.cfg());
			c.group_is(RF_GROUP_ERROR, 0, "error of the former life");
			c.round(0, 256);
		}
}

// Headers of all kinds are unchanged, pad bytes become zero.
void headers(uint32_t seed)
{
	Case c(seed);
	uint32_t i = 0;

	for (uint8_t opcode : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
		c.round(i++, 256, opcode);
	for (unsigned bytes : {4u, 8u, 60u, 252u})
		c.round(i++, bytes, 5);

	for (unsigned pad = 0; pad < 3; pad += 2)
		for (int vlan = -1; vlan < 0x3000; vlan += 0x2fff) {
			Case d(seed, BF16);
			d.g.dtype = INT32; // the test's sums are not those of bf16: only the frame's form is checked
			for (unsigned p = 0; p < PORTS; p++) {
				Roce r = d.rank(p).data(0, Bytes(64 - 4 * (pad / 2), 0));
				for (unsigned k = 0; k < pad; k++)
					r.payload[r.payload.size() - 1 - k] = 0xee;
				r.pad = static_cast<uint8_t>(pad);
				r.vlan = vlan;
				r.tos = 3;
				r.ttl = 9;
				r.reserved = 0x80;
				r.ackreq = true;
				d.box.send(p, r.frame());
				r.payload.assign(r.payload.size(), 0);
				r.smac = MAC + p;
				r.psn -= d.rank(p).shift;
				d.box.settle();
				if (p == LAST)
					d.frame_is(p, r.frame(), "pad");
			}
		}
}

// No frame can leave: every queue fills up, and counts the frames that do not fit.
void full(uint32_t seed, std::vector<bool> &seen)
{
	Case c(seed);

	for (uint32_t i = 0; i < 8; i++)
		c.round(i);
	for (unsigned p = 0; p < PORTS; p++) {
		c.box.send(c.rank(p).pport, c.rank(p).ack(4).frame());
		c.box.settle();
		c.box.tx[p].clear();
	}
	c.box.on_ready = [](unsigned) { return false; };
	// rf_ackq has room for 32 frames, and rf_egress for 32 beats: as many frames if a beat has 64 bytes.
	const int acks = 80;
	for (int k = 0; k < acks; k++) {
		c.box.send(0, c.data(0, 1));
		c.box.run(24);
	}
	c.box.run(1000);
	if (!c.box.count(0, RF_CNT_BEHALF) || !c.box.count(0, RF_CNT_BEHALF_FULL))
		die("ACKs on behalf have no end");
	unsigned q = c.rank(1).pport;
	for (int k = 0; k < acks; k++) {
		c.box.send(q, c.rank(1).ack(5).frame());
		c.box.run(8);
	}
	c.box.run(1000);
	if (!c.box.count(q, RF_CNT_ACK_FULL))
		die("ACKs have no end");
	for (int k = 0; k < 200; k++) {
		c.box.send(LAST, c.data(LAST, 6));
		c.box.run(24);
	}
	c.box.run(1000);
	if (!c.box.count(LAST, RF_CNT_REPEAT_FULL))
		die("repeats have no end");
	// Waiting repeats are discarded when their ACK arrives; it arrives on a port that is open.
	c.box.on_ready = [](unsigned p) { return p != LAST; };
	c.box.run(2000);
	c.box.send(c.rank(LAST).pport, c.rank(LAST).ack(8).frame());
	c.box.run(1000);
	c.box.on_ready = nullptr;
	c.box.settle();
	if (!c.box.count(LAST, RF_CNT_REPEAT_STALE))
		die("no repeat was forgotten");
	for (unsigned p = 0; p < PORTS; p++)
		c.box.tx[p].clear();
	for (uint32_t i = 8; i < 12; i++)
		c.round(i);
	c.seen[RF_CNT_BEHALF_FULL] = c.seen[RF_CNT_ACK_FULL] = c.seen[RF_CNT_REPEAT_FULL] = c.seen[RF_CNT_REPEAT_STALE] = true;
	seen = c.seen;
}

void open_loop(uint32_t seed)
{
	Case c(seed, INT32, Case::OPEN, 0);

	for (uint32_t i = 0; i < 40; i++) {
		c.round(i);
		c.group_is(RF_GROUP_TAIL, i + 1, "tail in open loop");
		c.conn_is(0, RF_CONN_UNA, i + 1, "una in open loop");
	}
	c.want(0, c.data(0, 39), {RF_CNT_PENDING}, "duplicate in open loop");
	c.want(0, c.data(0, 20), {RF_CNT_PENDING}, "old duplicate in open loop");
	c.want(0, c.data(0, 0xffffff), {RF_CNT_BEFORE_START}, "before start in open loop");
}

// Frames arrive faster than the ingress FIFO can be emptied: whole frames are lost and counted.
void overflow(uint32_t seed, std::vector<bool> &seen)
{
	Case c(seed);
	Roce r;

	// Punted frames of all ports share one reader: two ports are enough to be too fast.
	r.dip = 0x0a0000fe;
	r.payload.resize(960);
	for (unsigned p = 0; p < PORTS; p++)
		for (int k = 0; k < 60; k++) {
			r.smac = 0x020000000100 + k;
			c.box.send(p, r.frame());
		}
	c.box.settle();
	uint32_t punted = c.box.total(RF_CNT_PUNTED), lost = c.box.total(RF_CNT_PUNT_FULL) + c.box.total(RF_CNT_RX_OVERFLOW);
	if (punted != 4 * PORTS || punted + lost != 60 * PORTS)
		die("punt: %u kept, %u lost", punted, lost);
	seen = c.seen;
	seen[RF_CNT_PUNT_FULL] = seen[RF_CNT_PUNTED] = true;
}

} // namespace

void cases(uint32_t seed)
{
	std::vector<bool> all(RF_CNT_COUNT), some;
	auto add = [&] {
		for (unsigned c = 0; c < RF_CNT_COUNT; c++)
			all[c] = all[c] || some[c];
	};

	headers(seed);
	strangers(seed, some);
	add();
	window(seed, some);
	add();
	errors(seed, some);
	add();
	disagree(seed);
	full(seed, some);
	add();
	open_loop(seed);
	overflow(seed, some);
	add();
	link_down(seed, some);
	add();
	mirror(seed, some);
	add();
	naks(seed, all);
	// tests/unit/model_directed.c: this bench has no directed groups.
	for (unsigned c : {RF_CNT_CNP_MARK, RF_CNT_ORDER, RF_CNT_IMMEDIATE})
		all[c] = true;
	all[RF_CNT_TX_FIRST] = true;    // each round
	all[RF_CNT_RX_OVERFLOW] = true; // tests/rtl/net_ingress.cpp: this box is never too slow for its ports
	for (unsigned c = 0; c < RF_CNT_COUNT; c++)
		if (!all[c])
			die("no case for counter %s", counter_name(c));
}
