#include "wire/notes.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_ctl.h"
#include "proto/rf_inet.h"

#define CONNECTIONS 512u
#define WINDOW 65536u
#define PSN_MASK 0xffffffu
#define PORT 4791u
#define ACK 0x11u
#define DATA_MAX 0x0bu /* opcodes of SEND and WRITE */
#define BTH 28u        /* bytes after an IPv4 header without options: UDP and BTH */
#define BTH_BYTES 12u

/* Indices seen at one place. */
struct seen {
	struct seen *next;
	unsigned place;
	uint32_t highest;
	uint64_t bit[WINDOW / 64];
};

struct connection {
	uint64_t job;
	uint16_t group, rank;
	uint32_t ip, qpn, peer_ip, peer_qpn, start, shift;
	uint32_t slots; /* 0: not known yet */
	bool mirror;    /* the peer is a port of the box, whose address WAITING or READY names */
	struct seen *seen;
};

struct rf_notes {
	uint8_t mac[5];
	struct connection connection[CONNECTIONS];
	unsigned count; /* total learnt; the newest is at count - 1 modulo CONNECTIONS */
	char text[128];
};

struct rf_notes *rf_notes_new(const uint8_t mac[6])
{
	struct rf_notes *n = calloc(1, sizeof(*n));

	if (n)
		memcpy(n->mac, mac, sizeof(n->mac));
	return n;
}

static void forget(struct connection *c)
{
	while (c->seen) {
		struct seen *s = c->seen;

		c->seen = s->next;
		free(s);
	}
	*c = (struct connection){0};
}

void rf_notes_free(struct rf_notes *n)
{
	if (!n)
		return;
	for (unsigned i = 0; i < CONNECTIONS; i++)
		forget(&n->connection[i]);
	free(n);
}

/* The k-th newest connection, NULL after the oldest. */
static struct connection *youngest(struct rf_notes *n, unsigned k)
{
	if (k >= n->count || k >= CONNECTIONS)
		return NULL;
	return &n->connection[(n->count - 1 - k) % CONNECTIONS];
}

/* ---- control messages ---- */

static void learn_join(struct rf_notes *n, const struct rf_ctl_header *h,
		       const struct rf_ctl_join *j)
{
	struct connection c = {
		.job = h->job,
		.group = h->group,
		.rank = h->rank,
		.ip = j->src_ip,
		.qpn = j->qpn,
		.peer_ip = j->peer_ip,
		.peer_qpn = j->peer_qpn,
		.start = j->start_psn,
		.shift = j->shift,
		.mirror = (j->flags & RF_CTL_J_MIRROR) != 0,
	};
	struct connection *old;

	if (c.mirror)
		c.peer_ip = c.peer_qpn = 0;

	for (unsigned k = 0; (old = youngest(n, k)) != NULL; k++) {
		if (old->job != c.job || old->group != c.group || old->rank != c.rank ||
		    old->ip != c.ip || old->qpn != c.qpn || old->peer_qpn != c.peer_qpn)
			continue;
		/* the same JOIN again, or a newer one of the same connection */
		c.slots = old->slots;
		c.seen = old->seen;
		if (c.mirror)
			c.peer_ip = old->peer_ip;
		*old = c;
		return;
	}
	n->count++;
	forget(youngest(n, 0));
	*youngest(n, 0) = c;
}

static void learn(struct rf_notes *n, const uint8_t *msg, size_t len)
{
	struct rf_ctl_request request;
	struct rf_ctl_reply reply;
	struct rf_ctl_header h;
	struct connection *c;

	if (rf_ctl_header_get(msg, len, &h) != 0 || h.verb != RF_CTL_JOIN)
		return;
	if (!(h.flags & RF_CTL_F_REPLY)) {
		if (rf_ctl_request_get(msg, &h, &request) == RF_CTL_R_NONE)
			learn_join(n, &h, &request.u.join);
		return;
	}
	if (rf_ctl_reply_get(msg, &h, &reply) != RF_CTL_R_NONE ||
	    (reply.result != RF_CTL_READY && reply.result != RF_CTL_WAITING))
		return;
	for (unsigned k = 0; (c = youngest(n, k)) != NULL; k++) {
		bool ready = reply.result == RF_CTL_READY;

		if (c->job != h.job || c->group != h.group)
			continue;
		if (c->mirror && c->rank == h.rank)
			c->peer_ip = ready ? reply.u.ready.port_ip : reply.u.waiting.port_ip;
		if (ready)
			c->slots = 1u << reply.u.ready.slots_log2;
	}
}

/* ---- packets ---- */

static struct seen *seen_at(struct connection *c, unsigned place)
{
	struct seen *s;

	for (s = c->seen; s; s = s->next)
		if (s->place == place)
			return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->place = place;
	/* index 0 will be the first */
	s->highest = PSN_MASK;
	s->next = c->seen;
	c->seen = s;
	return s;
}

/* Marks an index; returns whether it was already marked. */
static bool mark(struct seen *s, uint32_t index)
{
	uint64_t *word = &s->bit[index % WINDOW / 64];
	uint64_t bit = UINT64_C(1) << (index & 63u);
	uint32_t ahead = (index - s->highest) & PSN_MASK;
	bool old;

	if (ahead >= WINDOW && ahead <= PSN_MASK / 2) {
		memset(s->bit, 0, sizeof(s->bit));
		s->highest = index;
	} else if (ahead - 1 < WINDOW) {
		/* forget indices that the window has passed */
		for (uint32_t k = 1; k <= ahead; k++) {
			uint32_t i = (s->highest + k) % WINDOW;

			s->bit[i / 64] &= ~(UINT64_C(1) << (i & 63u));
		}
		s->highest = index;
	}
	old = (*word & bit) != 0;
	*word |= bit;
	return old;
}

static const char *note(struct rf_notes *n, struct connection *c, unsigned place, bool ack,
			uint32_t psn)
{
	bool from_box = place & 1u;
	/* the receiver counts from start - shift: for packets it receives and for its answers */
	uint32_t index = (psn - c->start + (ack != from_box ? c->shift : 0)) & PSN_MASK;
	struct seen *s = ack ? NULL : seen_at(c, place);
	char slot[24] = "";

	if (c->slots)
		snprintf(slot, sizeof(slot), " slot %" PRIu32, index % c->slots);
	snprintf(n->text, sizeof(n->text),
		 "ringfold job %" PRIu64 " group %u rank %u %s index %" PRIu32 "%s%s", c->job,
		 c->group, c->rank, ack ? "ack" : "data", index, slot,
		 s && mark(s, index) ? " repeat" : "");
	return n->text;
}

/* Whether a packet belongs to a connection. */
static bool is_of(const struct connection *c, bool ack, uint32_t from, uint32_t to, uint32_t qpn)
{
	if (c->mirror)
		return c->peer_ip != 0 && qpn == c->qpn &&
		       ((from == c->ip && to == c->peer_ip) || (from == c->peer_ip && to == c->ip));
	return ack ? to == c->ip && qpn == c->qpn && from == c->peer_ip
		   : to == c->peer_ip && qpn == c->peer_qpn && from == c->ip;
}

const char *rf_notes_of(struct rf_notes *n, unsigned interface, const uint8_t *frame, size_t len)
{
	size_t l2 = rf_inet_ipv4_at(frame, len);
	const uint8_t *ip = frame + l2;
	uint32_t from, to, qpn;
	struct connection *c;
	struct rf_ctl_addr a;
	const uint8_t *msg;
	unsigned place;
	size_t msg_len;
	bool ack;

	if (!l2 || len < l2 + BTH + BTH_BYTES || ip[0] != RF_INET_VERSION_LENGTH ||
	    ip[9] != RF_INET_PROTO_UDP)
		return NULL;
	if (rf_get_be32(ip + BTH) == RF_CTL_MAGIC) {
		if (rf_ctl_frame_get(frame, len, &a, &msg, &msg_len) == RF_CTL_FRAME_OK)
			learn(n, msg, msg_len);
		return NULL;
	}
	ack = ip[BTH] == ACK;
	if (rf_get_be16(ip + 22) != PORT || (!ack && ip[BTH] > DATA_MAX))
		return NULL;
	from = rf_get_be32(ip + 12);
	to = rf_get_be32(ip + 16);
	qpn = rf_get_be24(ip + BTH + 5);
	place = interface * 2 + (memcmp(frame + 6, n->mac, sizeof(n->mac)) == 0);
	for (unsigned k = 0; (c = youngest(n, k)) != NULL; k++) {
		if (!is_of(c, ack, from, to, qpn))
			continue;
		if (c->mirror) /* behind a router nobody sees the box's MAC */
			place = interface * 2 + (to == c->ip);
		return note(n, c, place, ack, rf_get_be24(ip + BTH + 9));
	}
	return NULL;
}
