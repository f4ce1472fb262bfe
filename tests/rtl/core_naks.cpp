// NAKs that the box makes, stragglers, selective groups, who is last: one frame at a time.
#include "tests/rtl/core_case.h"
#include "tests/rtl/core_tests.h"

namespace
{

const std::vector<unsigned> MADE = {RF_CNT_TX_FRAMES, RF_CNT_TX_NAK};

std::vector<unsigned> with(unsigned counter, bool made)
{
	std::vector<unsigned> v = {counter};

	if (made)
		v.insert(v.end(), MADE.begin(), MADE.end());
	return v;
}

// Sends index i of port p: the counter; with a syndrome, the NAK that it must cause, for index u.
void sends(Case &c, unsigned p, uint32_t i, unsigned counter, int syndrome = -1, uint32_t u = 0)
{
	char what[80];

	snprintf(what, sizeof what, "index %u of port %u (%s)", i, p, counter_name(counter));
	for (unsigned q = 0; q < PORTS; q++)
		c.box.tx[q].clear();
	Bytes in = c.data(p, i);
	c.want(p, in, with(counter, syndrome >= 0), what);
	if (syndrome < 0) {
		for (unsigned q = 0; q < PORTS; q++)
			if (!c.box.tx[q].empty())
				die("%s: a frame left", what);
		return;
	}
	// The frame is made from the packet's own header, as an ACK on behalf.
	Roce r = c.rank(p).data(i, Bytes());
	Roce made = c.rank(p).ack(u, static_cast<uint8_t>(syndrome), c.box.rd(Group::conn(c.rank(p), RF_CONN_MSN)));
	made.dmac = r.smac;
	made.smac = MAC + p;
	made.id = r.id;
	made.sport = r.sport;
	made.psn += c.rank(p).shift;
	c.frame_is(p, made.frame(), what);
}

// The ports from `from` on send index i.
void others(Case &c, uint32_t i, unsigned from = 1)
{
	for (unsigned p = from; p < PORTS; p++)
		c.box.send(p, c.data(p, i));
	c.box.settle();
}

void acked(Case &c, unsigned p, uint32_t u, uint8_t syndrome = 0x1f)
{
	c.box.send(c.rank(p).pport, c.rank(p).ack(u, syndrome, 7).frame());
	c.box.settle();
}

void plain(uint32_t seed, std::vector<bool> &seen)
{
	Case c(seed, INT32, Case::NAKS);

	// First order: packets in flight are silent; the sender goes back, and the missing index arrives.
	sends(c, 0, 1, RF_CNT_GAP_NAK, 0x60, 0);
	sends(c, 0, 2, RF_CNT_GAP);
	sends(c, 0, 3, RF_CNT_GAP);
	sends(c, 0, 0, RF_CNT_ACCEPTED);
	sends(c, 0, 1, RF_CNT_ACCEPTED);
	// una has not advanced: second order, and again only after the sender went back, or after a tick.
	sends(c, 0, 3, RF_CNT_GAP_RNR, 0x21, 0);
	sends(c, 0, 4, RF_CNT_GAP);
	sends(c, 0, 0, RF_CNT_PENDING);
	sends(c, 0, 1, RF_CNT_PENDING);
	sends(c, 0, 3, RF_CNT_GAP_RNR, 0x21, 0);
	sends(c, 0, 4, RF_CNT_GAP);
	c.box.wr(RF_TICK, 1);
	sends(c, 0, 5, RF_CNT_GAP_RNR, 0x21, 0);
	sends(c, 0, 6, RF_CNT_GAP);
	// Repeating the same index is going back too.
	sends(c, 0, 6, RF_CNT_GAP_RNR, 0x21, 0);
	// una advances: first order, from there.
	others(c, 0);
	others(c, 1);
	acked(c, 0, 1);
	sends(c, 0, 7, RF_CNT_GAP_NAK, 0x60, 1);
	sends(c, 0, 8, RF_CNT_GAP);
	// An ACK without new information changes nothing.
	acked(c, 0, 1);
	sends(c, 0, 9, RF_CNT_GAP);
	acked(c, 0, 2);
	sends(c, 0, 10, RF_CNT_GAP_NAK, 0x60, 2);
	// Another connection has its own state.
	sends(c, 1, 5, RF_CNT_GAP_NAK, 0x60, 0);
	sends(c, 0, 11, RF_CNT_GAP);
	// None without room, before the missing index or beyond it.
	for (uint32_t i = 2; i < 16; i++)
		sends(c, 0, i, RF_CNT_ACCEPTED);
	sends(c, 0, 16, RF_CNT_NO_ROOM);
	sends(c, 0, 17, RF_CNT_GAP);
	sends(c, 0, 17, RF_CNT_GAP);
	// INIT clears the NAK state.
	c.box.wr(c.g.reg(RF_GROUP_CFG), 0);
	for (Rank &r : c.g.ranks)
		c.box.wr(Group::conn(r, RF_CONN_INIT), 1);
	c.box.wr(c.g.reg(RF_GROUP_CFG), c.g.cfg());
	sends(c, 0, 1, RF_CNT_GAP_NAK, 0x60, 0);
	sends(c, 0, 0xffffff, RF_CNT_BEFORE_START);
	sends(c, 0, 2, RF_CNT_GAP);
	seen = c.seen;
}

// No NAK for a transparent group, nor in open loop.
void silent(uint32_t seed)
{
	Case c(seed), o(seed, INT32, Case::OPEN, 0);

	for (uint32_t i : {1, 2, 1, 5}) {
		sends(c, 0, i, RF_CNT_GAP);
		sends(o, 0, i, RF_CNT_GAP);
	}
}

void stragglers(uint32_t seed, std::vector<bool> &seen)
{
	Case c(seed, INT32, Case::NAKS);
	uint32_t code = c.g.reg(RF_GROUP_STRAGGLER);

	sends(c, 0, 0, RF_CNT_ACCEPTED);
	sends(c, 0, 0, RF_CNT_PENDING);
	c.box.wr(code, 30);
	if (c.box.rd(code) != 30)
		die("straggler's code is %u", c.box.rd(code));
	sends(c, 0, 0, RF_CNT_PENDING_RNR, 0x3e, 0);
	sends(c, 0, 0, RF_CNT_PENDING);
	// The previous packet went back without an answer, so no NAK is outstanding now.
	sends(c, 0, 0, RF_CNT_PENDING_RNR, 0x3e, 0);
	sends(c, 0, 1, RF_CNT_ACCEPTED);
	sends(c, 0, 2, RF_CNT_ACCEPTED);
	// A resend is answered once, at its first packet.
	sends(c, 0, 0, RF_CNT_PENDING_RNR, 0x3e, 0);
	sends(c, 0, 1, RF_CNT_PENDING);
	sends(c, 0, 2, RF_CNT_PENDING);
	// After a gap it is a loss: there is no answer.
	sends(c, 0, 5, RF_CNT_GAP);
	c.box.wr(RF_TICK, 0);
	sends(c, 0, 1, RF_CNT_PENDING);
	sends(c, 0, 1, RF_CNT_PENDING_RNR, 0x3e, 0);
	// From una on.
	others(c, 0);
	acked(c, 0, 1);
	sends(c, 0, 1, RF_CNT_PENDING_RNR, 0x3e, 1);
	c.box.wr(code, 0);
	c.box.wr(RF_TICK, 0);
	sends(c, 0, 1, RF_CNT_PENDING);
	seen = c.seen;
}

void selective(uint32_t seed, std::vector<bool> &seen)
{
	Case c(seed, INT32, Case::SELECTIVE);

	sends(c, 0, 0, RF_CNT_ACCEPTED);
	sends(c, 0, 2, RF_CNT_AHEAD_NAK, 0x60, 1);
	sends(c, 0, 3, RF_CNT_AHEAD);
	// A packet that is not new requests the first missing one again.
	// So does the packet S/8 = 2 indexes after the last one that sent a request.
	sends(c, 0, 2, RF_CNT_PENDING_NAK, 0x60, 1);
	sends(c, 0, 3, RF_CNT_PENDING_NAK, 0x60, 1);
	sends(c, 0, 4, RF_CNT_AHEAD);
	sends(c, 0, 5, RF_CNT_AHEAD_NAK, 0x60, 1);
	// A new gap is requested when it appears.
	sends(c, 0, 7, RF_CNT_AHEAD_NAK, 0x60, 6);
	sends(c, 0, 8, RF_CNT_AHEAD);
	c.box.wr(RF_TICK, 0);
	sends(c, 0, 9, RF_CNT_AHEAD_NAK, 0x60, 1);
	sends(c, 0, 16, RF_CNT_GAP_NAK, 0x60, 10);
	sends(c, 0, 17, RF_CNT_GAP);
	c.conn_is(0, RF_CONN_NEXT, 1, "next stays");
	sends(c, 0, 1, RF_CNT_ACCEPTED);
	c.conn_is(0, RF_CONN_NEXT, 6, "next runs on");
	sends(c, 0, 5, RF_CNT_PENDING);
	sends(c, 0, 9, RF_CNT_PENDING_NAK, 0x60, 6);
	// Nothing was sent early; now all complete packets are sent, in order.
	for (uint32_t i = 0; i < 6; i++) {
		for (unsigned p = 0; p < PORTS; p++)
			c.box.tx[p].clear();
		others(c, i);
		for (unsigned p = 0; p < PORTS; p++)
			c.frame_is(p, c.result(p, i), "selective");
	}
	// Another port's packets come in another order.
	for (unsigned p = 1; p < PORTS; p++)
		for (uint32_t i : {8, 6, 7, 9})
			c.box.send(p, c.data(p, i));
	c.box.settle();
	sends(c, 0, 7, RF_CNT_PENDING_NAK, 0x60, 6);
	for (unsigned p = 0; p < PORTS; p++)
		c.box.tx[p].clear();
	c.box.send(0, c.data(0, 6));
	c.box.settle();
	c.group_is(RF_GROUP_HEAD, 10, "head runs on");
	for (unsigned p = 0; p < PORTS; p++)
		for (uint32_t i = 6; i < 10; i++)
			if (c.box.tx[p].size() != 4 || c.box.tx[p][i - 6].b != c.result(p, i))
				die("selective: result %u on port %u", i, p);
	// A NAK of the receiver names an index and acknowledges nothing; one beyond sent is invalid.
	unsigned q = c.rank(0).pport;
	c.want(q, c.rank(0).ack(4, 0x60, 3).frame(), {RF_CNT_ACK_FORWARDED, RF_CNT_TX_FRAMES, RF_CNT_TX_ACK}, "selective NAK");
	c.conn_is(0, RF_CONN_UNA, 0, "una after a selective NAK");
	c.conn_is(0, RF_CONN_MSN, 3, "MSN after a selective NAK");
	c.want(q, c.rank(0).ack(11, 0x60, 4).frame(), {RF_CNT_ACK_BEYOND}, "selective NAK beyond");
	for (unsigned p = 0; p < PORTS; p++)
		acked(c, p, 10);
	c.group_is(RF_GROUP_TAIL, 10, "tail");
	// Two laps in a random order: marks of the previous lap do not count.
	for (uint32_t lap = 0; lap < 2; lap++) {
		uint32_t from = 10 + 16 * lap;
		for (unsigned p = 0; p < PORTS; p++) {
			for (uint32_t i = 0; i < 16; i++)
				c.box.send(p, c.data(p, from + (i * 5 + p) % 16));
			c.box.settle();
		}
		c.group_is(RF_GROUP_HEAD, from + 16, "head after a lap");
		for (unsigned p = 0; p < PORTS; p++)
			c.box.tx[p].clear();
		sends(c, 0, from + 16, RF_CNT_NO_ROOM);
		sends(c, 0, from + 17, RF_CNT_GAP);
		for (unsigned p = 0; p < PORTS; p++)
			acked(c, p, from + 16);
	}
	// When the group starts again its marks are clear.
	sends(c, 0, 43, RF_CNT_AHEAD_NAK, 0x60, 42);
	c.box.wr(c.g.reg(RF_GROUP_CFG), 0);
	for (Rank &r : c.g.ranks)
		c.box.wr(Group::conn(r, RF_CONN_INIT), 1);
	c.box.wr(c.g.reg(RF_GROUP_CFG), c.g.cfg());
	for (uint32_t i = 0; i < 4; i++)
		c.round(i);
	seen = c.seen;
}

// Who is last: `last` sends `late` cycles after the others.
void lag(uint32_t seed, bool any_order)
{
	Case c(seed, INT32, any_order ? Case::SELECTIVE : Case::NAKS);
	uint32_t next = 0;
	auto round = [&] {
		others(c, next++, 0);
		for (unsigned p = 0; p < PORTS; p++)
			acked(c, p, next);
	};

	for (unsigned last = 0; last < PORTS; last++) {
		c.box.wr(RF_LAG_ARM, c.g.number);
		uint32_t k = next + 16;
		while (next < k)
			round();
		if (c.box.rd(RF_LAG_STATUS))
			die("lag: done too early");
		for (unsigned p = 0; p < PORTS; p++)
			if (p != last)
				c.box.send(p, c.data(p, k));
		c.box.run(500 + 100 * last);
		c.box.send(last, c.data(last, k));
		c.box.settle();
		uint32_t is = c.box.rd(RF_LAG_STATUS), cycles = c.box.rd(RF_LAG_CYCLES), late = 500 + 100 * last;
		if (is != (1u << 31 | last))
			die("lag: status %08x, port %u was last", is, last);
		if (cycles + 60 < late || cycles > late + 60)
			die("lag: %u cycles instead of %u", cycles, late);
		if (c.box.rd(RF_LAG_INDEX) != k)
			die("lag: index %u instead of %u", c.box.rd(RF_LAG_INDEX), k);
		next++;
		for (unsigned p = 0; p < PORTS; p++)
			acked(c, p, next);
	}
	// The end of the group is the end of the measurement.
	c.box.wr(RF_LAG_ARM, c.g.number);
	round();
	c.box.wr(c.g.reg(RF_GROUP_CFG), 0);
	if (c.box.rd(RF_LAG_STATUS) || c.box.rd(RF_LAG_CYCLES) || c.box.rd(RF_LAG_INDEX))
		die("lag: something left of the group");
	// The measurement of a group that does not exist never ends.
	c.box.wr(RF_LAG_ARM, 200);
	if (c.box.rd(RF_LAG_STATUS))
		die("lag: of a group that does not exist");
}

} // namespace

void naks(uint32_t seed, std::vector<bool> &all)
{
	std::vector<bool> seen[3];

	plain(seed, seen[0]);
	silent(seed);
	stragglers(seed, seen[1]);
	selective(seed, seen[2]);
	lag(seed, false);
	lag(seed, true);
	for (unsigned c = 0; c < RF_CNT_COUNT; c++)
		for (auto &s : seen)
			all[c] = all[c] || s[c];
}
