#include "host/roce/qp_internal.h"

/* RNR timer codes in units of 10 us, IBTA table 45. */
static const uint32_t rnr_timers[32] = {
	65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
	48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

uint64_t roce_rnr_timer_ns(uint8_t code)
{
	return rnr_timers[code & 31] * UINT64_C(10000);
}

void roce_timer_start(struct roce_requester *rq, enum roce_timer timer, uint64_t at)
{
	rq->timer = timer;
	rq->deadline = at;
}

void roce_timer_stop(struct roce_requester *rq)
{
	roce_timer_start(rq, ROCE_TIMER_IDLE, UINT64_MAX);
}

void roce_timer_ack(struct roce_requester *rq, uint64_t now)
{
	if (rq->una < rq->max)
		roce_timer_start(rq, ROCE_TIMER_ACK, now + rq->timeout);
	else
		roce_timer_stop(rq);
}
