/* ringfold doctor: what arrives from the network, and how long to wait for it. */
#include <string.h>

#include "tools/doctor.h"
#include "wire/arp.h"

#define NS_PER_MS UINT64_C(1000000)
/* Number of round trips to wait for a packet, limited by these and by the answer timeout. */
#define PATIENCE_TRIPS 20u
#define PATIENCE_MIN (50 * NS_PER_MS)

static void record_arp(struct doctor_heard *h, const struct rf_arp *a)
{
	if (a->sender_ip != h->arp_ip || h->macs == DOCTOR_MACS_MAX)
		return;
	for (unsigned int i = 0; i < h->macs; i++) {
		if (memcmp(h->mac[i], a->sender_mac, 6) == 0)
			return;
	}
	memcpy(h->mac[h->macs++], a->sender_mac, 6);
}

void doctor_take(void *arg, const uint8_t *frame, uint32_t len)
{
	struct doctor *d = arg;
	struct doctor_heard *h = &d->heard;
	struct roce_packet p;
	struct rf_arp a;

	h->frames++;
	if (rf_arp_parse(frame, len, &a) != 0) {
		record_arp(h, &a);
		return;
	}
	if (len > sizeof(h->frame[0]) || roce_parse(frame, len, &p) != ROCE_WIRE_OK)
		return;
	for (unsigned int i = 0; i < 2; i++) {
		if (p.qpn != h->qpn[i])
			continue;
		h->kept[i]++;
		h->len[i] = len;
		memcpy(h->frame[i], frame, len);
	}
}

void doctor_listen(struct doctor *d)
{
	memset(&d->heard, 0, sizeof(d->heard));
}

bool doctor_hear(struct doctor *d, uint64_t ns, bool (*cond)(const struct doctor *))
{
	uint64_t until = boxlink_now() + ns;

	while (boxlink_now() < until) {
		if (cond && cond(d))
			return true;
		boxlink_run(&d->link, NULL, 0, NULL, 0);
		d->link.io->ops->wait(d->link.io, 200);
	}
	return cond && cond(d);
}

uint64_t doctor_random(struct doctor *d)
{
	d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return d->state >> 16;
}

uint64_t doctor_patience(const struct doctor *d)
{
	uint64_t ns = d->round_trip * PATIENCE_TRIPS;

	ns = ns < PATIENCE_MIN ? PATIENCE_MIN : ns;
	return ns < d->timeout ? ns : d->timeout;
}

bool doctor_counters(struct doctor *d, const char *name, struct rf_ctl_counters_page *page)
{
	struct rf_ctl_status_req req = {.page = RF_CTL_PAGE_PORT, .index = (uint16_t)d->port};
	const struct rf_ctl_reply *a = NULL;

	if (rf_client_status(&d->asker, &req, boxlink_now()) == 0)
		a = boxlink_answer(&d->link, &d->asker);
	if (!a)
		return doctor_say(d, name, DOCTOR_FAILED,
				  "run it again; is the box overloaded, is the network lossy?",
				  "the box has stopped answering control packets");
	*page = a->u.counters;
	return true;
}
