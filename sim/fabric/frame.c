/* What every part of the fabric needs: addresses, frames, events, failures, captures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "sim/fabric/internal.h"

uint32_t rf_fabric_ip(unsigned rank)
{
	return 0x0a000000u + (rank / 250) * 256 + rank % 250 + 1;
}

uint32_t rf_fabric_box_ip(void)
{
	return 0x0a00fffeu;
}

uint32_t rf_fabric_tree_ip(unsigned box)
{
	/* Each has one address, and the next ones for its ports. */
	return rf_fabric_box_ip() - 16u * box;
}

uint32_t rf_fabric_box_of(const struct rf_fabric_cfg *c, unsigned rank)
{
	return rf_fabric_tree_ip(c->leaves ? rank / (c->ranks / c->leaves) : 0);
}

struct rf_frame *rf_frame_new(struct rf_fabric *f, const uint8_t *data, size_t len)
{
	struct rf_frame *frame = malloc(sizeof(*frame) + len);

	if (!frame) {
		rf_fabric_fail(f, "out of memory");
		return NULL;
	}
	f->frames++;
	frame->next = NULL;
	frame->len = len;
	frame->bad = false;
	memcpy(frame->data, data, len);
	return frame;
}

void rf_frame_free(struct rf_fabric *f, struct rf_frame *frame)
{
	if (!frame)
		return;
	f->frames--;
	free(frame);
}

void rf_fabric_fail(struct rf_fabric *f, const char *why)
{
	if (!f->failed)
		snprintf(f->why, sizeof(f->why), "%s", why);
	f->failed = true;
}

void rf_fabric_event(struct rf_fabric *f, uint64_t at, enum rf_event_kind kind, unsigned who,
		     void *what)
{
	if (rf_events_add(&f->events, at, kind, who, what) != 0) {
		rf_fabric_fail(f, "out of memory");
		rf_frame_free(f, what);
	}
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h ^= v;
	h *= UINT64_C(0xff51afd7ed558ccd);
	return h ^ (h >> 29);
}

uint64_t rf_fabric_digest(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (; len >= 8; p += 8, len -= 8)
		h = mix(h, rf_get_le64(p));
	for (; len > 0; p++, len--)
		h = mix(h, *p);
	return h;
}

void rf_fabric_trace(struct rf_fabric *f, uint64_t at, bool box, unsigned port,
		     enum rf_pcapng_dir dir, const uint8_t *frame, size_t len)
{
	struct rf_pcapng **w = box ? &f->trace_box : &f->trace_hosts;

	f->stats.digest = mix(f->stats.digest, at ^ (uint64_t)port << 56 ^ (uint64_t)dir << 54 ^
						       (uint64_t)box << 53);
	f->stats.digest = rf_fabric_digest(f->stats.digest, frame, len);
	/* A capture that cannot be written ends; the run goes on. */
	if (*w && rf_pcapng_frame(
			  *w, port, at / RF_PS_PER_NS, dir, frame, len,
			  rf_notes_of(box ? f->notes_box : f->notes_hosts, port, frame, len)) != 0)
		f->capture_cut |= !rf_pcapng_finish(w, f->cfg.who);
}
