// The link of one of the ports goes down while a group's results are sent, and comes up again.
//
// Compiled with STALL_CYCLES, the core's parameter.
#include "tests/rtl/core_case.h"

namespace
{

// A group without ACKs whose ranks send as fast as the results of the first port come.
struct Stream {
	static const unsigned AHEAD = 8;
	Case &c;
	uint32_t next[PORTS] = {}, expect[PORTS] = {};
	uint64_t left[PORTS] = {};   // cycle of the last result
	unsigned missed = 0, others = 0; // results that the last port has not sent; frames that are not results

	explicit Stream(Case &one) : c(one)
	{
		c.box.on_tx = [this](unsigned p, const Sent &s) { came(p, s); };
	}
	~Stream()
	{
		c.box.on_tx = nullptr;
	}

	void came(unsigned p, const Sent &s)
	{
		// The next result if none was lost; on the last port, any result, but whole.
		for (uint32_t i = expect[p]; i < expect[p] + (p == LAST ? 100000 : 1) && i <= next[p]; i++)
			if (s.b == c.result(p, i)) {
				missed += i - expect[p];
				expect[p] = i + 1;
				left[p] = s.last;
				return;
			}
		if (get(s.b, 12, 2) == 0x0800)
			die("link down: port %u: a frame of %zu bytes that is not the result of index %u", p, s.b.size(), expect[p]);
		others++;
	}

	void tick(uint32_t end)
	{
		for (unsigned p = 0; p < PORTS; p++)
			if (next[p] < end && next[p] < expect[0] + AHEAD && c.box.rx[p].size() < 2)
				c.box.send(p, c.data(p, next[p]++));
		c.box.tick();
	}

	// Runs until the first port has sent the results below `end`. Cycles per result in the second half.
	double to(uint32_t end)
	{
		const uint32_t begin = expect[0], half = begin + (end - begin) / 2;
		uint64_t at = 0, limit = c.box.cycle + 3 * STALL_CYCLES + 2000ull * (end - begin);

		while (expect[0] < end) {
			tick(end);
			if (expect[0] == half && at == 0)
				at = left[0];
			if (c.box.cycle > limit)
				die("link down: index %u never left", expect[0]);
		}
		return static_cast<double>(left[0] - at) / (end - half);
	}
};

// The firmware sends on a port: the frame soon leaves its buffer.
void inject(Case &c, unsigned p)
{
	for (unsigned k = 0; k < 60; k += 4)
		c.box.wr(RF_INJECT_DATA + k, 0x88b588b5);
	c.box.wr(RF_INJECT, 60 | p << RF_INJECT_PORT_LSB);
	c.box.run(400);
	if (c.box.rd(RF_INJECT_STATUS))
		die("link down: the frame of the firmware for port %u stays", p);
}

} // namespace

void link_down(uint32_t seed, std::vector<bool> &seen)
{
	Case c(seed, INT32, Case::OPEN, 0);
	Stream s(c);
	const double all = s.to(200);

	// The offered beat is held; the group waits for it; the others do not.
	c.box.on_ready = [](unsigned p) { return p != LAST; };
	const uint64_t begin = c.box.cycle;
	for (unsigned k = 0; k < STALL_CYCLES / 2; k++)
		s.tick(100000);
	if (c.box.count(LAST, RF_CNT_TX_DOWN) != 0)
		die("link down: something was discarded before its time");
	for (unsigned p = 0; p < LAST; p++)
		inject(c, p);
	if (s.others != LAST)
		die("link down: %u frames of the firmware left by the other ports", s.others);

	// The link is down: the group continues at the previous rate.
	s.to(s.expect[0] + 20);
	if (c.box.cycle - begin < STALL_CYCLES)
		die("link down: the group went on after %u cycles", static_cast<unsigned>(c.box.cycle - begin));
	const double less = s.to(s.expect[0] + 200);
	if (less > all + 0.05)
		die("link down: %.2f cycles a result instead of %.2f", less, all);
	for (unsigned p = 0; p < PORTS; p++)
		inject(c, p);
	if (s.others != 2 * LAST)
		die("link down: %u frames of the firmware left by the other ports", s.others);
	const uint32_t at = s.expect[LAST], now = s.expect[0];

	// The link is up again: frames that leave are whole, and no more are lost.
	c.box.on_ready = nullptr;
	s.to(now + 200);
	c.box.run(2000);
	if (c.box.cut[LAST] > 1 || s.expect[LAST] != s.expect[0])
		die("link down: %u frames cut, index %u instead of %u", c.box.cut[LAST], s.expect[LAST], s.expect[0]);
	if (at >= now || s.missed < now - at - 1 || s.missed > now - at + 40)
		die("link down: %u results did not leave", s.missed);
	const uint32_t down = c.box.count(LAST, RF_CNT_TX_DOWN), kinds = c.box.count(LAST, RF_CNT_TX_FIRST) + c.box.count(LAST, RF_CNT_TX_INJECT);
	if (down != s.missed + 1 || kinds != down + c.box.count(LAST, RF_CNT_TX_FRAMES))
		die("link down: tx_down is %u, %u results and a frame of the firmware did not leave", down, s.missed);
	for (unsigned p = 0; p < LAST; p++)
		if (c.box.count(p, RF_CNT_TX_DOWN) || c.box.cut[p])
			die("link down: port %u lost frames", p);
	printf("link down: %.2f cycles a result, %.2f while a port is down, %u results discarded\n", all, less, s.missed);
	seen = c.seen;
	seen[RF_CNT_TX_DOWN] = true;
}
