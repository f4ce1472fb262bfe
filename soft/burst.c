/* Bursts of frames in and out. */
#include "soft/internal.h"

static uint32_t entry_of(const struct soft_box *b, const struct soft_head *h)
{
	if (h->to_port)
		return soft_find(b, 2, h->src_ip, h->qpn);
	return soft_find(b, h->opcode == SOFT_OP_ACK || h->opcode == SOFT_OP_CNP, h->dst_ip,
			 h->qpn);
}

/*
 * First all frames are parsed and their entries found: the memory that their judging needs is on
 * its way meanwhile. Nothing of this depends on the frames before.
 */
void soft_in(struct soft_box *b, unsigned int port, const struct soft_frame *frames, unsigned int n)
{
	struct soft_head head[SOFT_BURST];

	while (n) {
		unsigned int k, burst = n < SOFT_BURST ? n : SOFT_BURST;

		for (k = 0; k < burst; k++) {
			soft_parse(b, port, &frames[k], &head[k]);
			if (head[k].verdict != SOFT_ROCE)
				continue;
			head[k].value = entry_of(b, &head[k]);
			if (soft_exists(b, head[k].value & RF_HASH_VALUE_CID_MASK))
				__builtin_prefetch(
					&b->conns[head[k].value & RF_HASH_VALUE_CID_MASK]);
		}
		for (k = 0; k < burst; k++)
			soft_judge(b, port, &head[k]);
		soft_pump(b);
		frames += burst;
		n -= burst;
	}
}

void soft_done(struct soft_box *b, unsigned int port)
{
	soft_release(b, port);
	soft_pump(b);
}

unsigned int soft_discard(struct soft_box *b, unsigned int port)
{
	unsigned int n = soft_lose(b, port);

	soft_pump(b);
	return n;
}
