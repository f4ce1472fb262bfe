/* Links: serialisation, delay, and the configured faults. */
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_inet.h"
#include "sim/fabric/internal.h"

uint64_t rf_wire_ps(uint64_t rate, size_t len)
{
	uint64_t bits = (uint64_t)((len < 60 ? 60 : len) + RF_WIRE_OVERHEAD) * 8;

	return (bits * UINT64_C(1000000000000) + rate - 1) / rate;
}

struct rf_link *rf_link_get(struct rf_fabric *f, bool box, unsigned port, bool up)
{
	unsigned base = box ? 2 * f->cfg.ranks : 0;
	unsigned n = box ? rf_fabric_box_ports(f) : f->cfg.ranks;

	return &f->links[base + (up ? 0 : n) + port];
}

static void flip_bit(struct rf_link *l, struct rf_frame *frame)
{
	uint64_t bit = rf_rng_below(&l->rng, frame->len * 8);

	frame->data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
}

/*
 * Flips a bit that only the ICRC detects: somewhere in an IPv4 packet, but not in the bytes that
 * routers may change and that the ICRC leaves out (TOS, TTL, header checksum).
 */
static bool flip_silently(struct rf_link *l, struct rf_frame *frame)
{
	size_t ip = rf_inet_ipv4_at(frame->data, frame->len);
	size_t at;

	if (!ip)
		return false;
	do {
		at = ip + (size_t)rf_rng_below(&l->rng, frame->len - ip);
	} while (at == ip + 1 || at == ip + 8 || at == ip + 10 || at == ip + 11);
	frame->data[at] ^= (uint8_t)(1u << rf_rng_below(&l->rng, 8));
	return true;
}

/* The bit of the rank whose data a frame carries. */
static uint32_t sender_of(const struct rf_frame *frame)
{
	size_t ip = rf_inet_ipv4_at(frame->data, frame->len);
	uint32_t rank;

	if (!ip || frame->len < ip + 40 || frame->data[ip + 28] == 0x11)
		return 0;
	rank = rf_get_be32(frame->data + ip + 12) - rf_fabric_ip(0);
	return rank < 32 ? 1u << rank : 0;
}

/*
 * Flips a bit anywhere. If it hits the destination MAC of a frame that the box then accepts, the
 * error cannot be detected: results go to that address from then on.
 */
static void flip_anywhere(struct rf_fabric *f, struct rf_link *l, struct rf_frame *frame)
{
	uint64_t bit = rf_rng_below(&l->rng, frame->len * 8);

	frame->data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
	f->stats.frames_corrupted_any++;
	if (bit < 48 && l->box != l->up)
		f->stats.misaddressed_ranks |= sender_of(frame);
}

static void arrive(struct rf_fabric *f, struct rf_link *l, uint64_t at, struct rf_frame *frame)
{
	const struct rf_faults *x = &l->faults;
	struct rf_rng *rng = &l->rng;

	if (rf_rng_chance(rng, x->corrupt) && flip_silently(l, frame))
		f->stats.frames_corrupted++;
	if (rf_rng_chance(rng, x->corrupt_any))
		flip_anywhere(f, l, frame);
	if (rf_rng_chance(rng, x->bad_fcs)) {
		flip_bit(l, frame);
		frame->bad = true;
		f->stats.frames_bad_fcs++;
	}
	if (x->jitter_ns)
		at += rf_rng_below(rng, x->jitter_ns * RF_PS_PER_NS);
	if (at < l->last_arrival)
		at = l->last_arrival;
	if (rf_rng_chance(rng, x->reorder)) {
		at += rf_rng_below(rng, x->reorder_ns * RF_PS_PER_NS + 1);
		f->stats.frames_reordered++;
	} else {
		l->last_arrival = at;
	}
	rf_fabric_event(f, at, RF_EV_ARRIVE, (unsigned)(l - f->links), frame);
}

uint64_t rf_link_send(struct rf_fabric *f, struct rf_link *l, uint64_t start,
		      struct rf_frame *frame)
{
	uint64_t begin = start > l->free_at ? start : l->free_at;
	uint64_t end = begin + rf_wire_ps(l->rate, frame->len);
	uint64_t at = end + f->cfg.delay_ns * RF_PS_PER_NS;
	struct rf_frame *twin = NULL;
	bool lost;

	l->free_at = end;
	if (f->filter && !f->filter(f->filter_arg, l->box, l->port, l->up, begin / RF_PS_PER_NS,
				    frame->data, frame->len)) {
		f->stats.frames_lost++;
		rf_timeline_frame(f->timeline, l->box, l->port, l->up, begin, end, frame->data,
				  frame->len, true);
		rf_frame_free(f, frame);
		return end;
	}
	if (rf_rng_chance(&l->rng, l->faults.duplicate)) {
		f->stats.frames_duplicated++;
		twin = rf_frame_new(f, frame->data, frame->len);
	}
	lost = rf_rng_chance(&l->rng, l->faults.loss);
	rf_timeline_frame(f->timeline, l->box, l->port, l->up, begin, end, frame->data, frame->len,
			  lost);
	if (lost) {
		f->stats.frames_lost++;
		rf_frame_free(f, frame);
	} else {
		arrive(f, l, at, frame);
	}
	if (twin)
		arrive(f, l, at, twin);
	return end;
}
