/*
 * rf_counters against an array: zero after reset, ready 64 cycles after it, nothing counted until then, every counter
 * by its own events and by no others, an event visible from the next but one cycle on.
 */
#include "Vrf_counters.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { CLEARING = 64 };

static const unsigned singles[] = { RF_CNT_RX_FRAMES, RF_CNT_RX_OVERFLOW, RF_CNT_ACK_BEYOND,
				    RF_CNT_ACK_FORWARDED, RF_CNT_REPEAT_STALE, RF_CNT_TX_DOWN, RF_CNT_TX_FRAMES };

static bool single(unsigned c)
{
	for (unsigned s : singles)
		if (s == c)
			return true;
	return false;
}

static void body(bench &b)
{
	auto d = fresh<Vrf_counters>(b);
	std::vector<unsigned> verdicts, leaving;
	long read = 0;

	for (unsigned c = 0; c < RF_CNT_COUNT; c++)
		if (!single(c))
			(c > RF_CNT_TX_FRAMES ? leaving : verdicts).push_back(c);
	for (int round = 0; round < 3; round++) {
		std::vector<uint32_t> count(256, 0), next(256, 0);

		d->verdict = d->sent = d->rx_frames = d->rx_overflow = d->ack_beyond = 0;
		d->ack_forwarded = d->repeat_stale = d->tx_down = d->tx_frames = 0;
		d->verdict_cause = d->sent_cause = d->rd_number = 0;
		reset(b, *d);
		for (int n = 0; n < 12000; n++) {
			const bool busy = n / 1000 % 2;

			d->verdict = b.r.percent(busy ? 90 : 20);
			d->verdict_cause = (uint8_t)verdicts[b.r.below((unsigned)verdicts.size())];
			d->sent = b.r.percent(busy ? 90 : 20);
			d->sent_cause = (uint8_t)leaving[b.r.below((unsigned)leaving.size())];
			d->rx_frames = b.r.percent(30);
			d->rx_overflow = b.r.percent(10);
			d->ack_beyond = b.r.percent(10);
			d->ack_forwarded = b.r.percent(20);
			d->repeat_stale = b.r.percent(15);
			d->tx_down = b.r.percent(20);
			d->tx_frames = b.r.percent(40);
			d->rd_number = (uint8_t)(b.r.percent(20) ? d->verdict_cause :
						 b.r.percent(20) ? d->sent_cause :
						 b.r.percent(80) ? b.r.below(RF_CNT_COUNT) : b.r.below(256));
			settle(*d);
			b.same("ready", d->ready, n >= CLEARING);
			if (d->ready) {
				b.same("rd_data", d->rd_data, count[d->rd_number]);
				read += d->rd_data != 0;
				count = next;
				next[d->verdict_cause] += d->verdict;
				next[d->sent_cause] += d->sent;
				next[RF_CNT_RX_FRAMES] += d->rx_frames;
				next[RF_CNT_RX_OVERFLOW] += d->rx_overflow;
				next[RF_CNT_ACK_BEYOND] += d->ack_beyond;
				next[RF_CNT_ACK_FORWARDED] += d->ack_forwarded;
				next[RF_CNT_REPEAT_STALE] += d->repeat_stale;
				next[RF_CNT_TX_DOWN] += d->tx_down;
				next[RF_CNT_TX_FRAMES] += d->tx_frames;
			}
			tick(b, *d);
		}
		for (unsigned c = 0; c < RF_CNT_COUNT; c++)
			b.good("a counter that was never met", next[c] != 0);
	}
	b.met("counters read that were not zero", read, 10000);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
