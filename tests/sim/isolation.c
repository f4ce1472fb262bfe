/*
 * How much one group's faults cost the others: eight groups, each with a rank on every port of the
 * box, and the ranks of the last one stall, crash, flood, lie or forge.
 *
 *	isolation PORTS [model|rtl] [BENCHFILE]    BENCHFILE: figures are appended to it
 *
 * Eight hosts share a box port, so a host's link has an eighth of its rate: no host can send more
 * than its share, and only the box's behaviour is measured. The others' vectors and their small
 * sums are timed against a run in which the last group is idle. Every result is compared in full.
 * Exits with 1 if a limit is missed, or if the fault did not take place.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/roce/wire.h"
#include "proto/rf_bytes.h"
#include "proto/rf_ctl.h"
#include "rf_regs.h"
#include "sim/cosim/load.h"
#include "sim/fabric/internal.h"

#define GROUPS 8u
#define BAD (GROUPS - 1u)  /* the group with the fault */
#define LATE (GROUPS - 2u) /* the group that joins during a flood */
#define RATE UINT64_C(100000000000)
#define SMALL_OPS 40u
#define AHEAD_PS (50 * RF_USEC * RF_PS_PER_NS)
#define LIMIT_SHARE 2.0 /* percent */
#define LIMIT_NS 2000.0
#define JOIN_LIMIT_MS 100.0
#define LATE_NS (100 * RF_MSEC)
#define JOIN_WAIT_NS (100 * RF_MSEC)
/* Broadcast ARP requests, with a slow processor in the box: 20 us per register access. */
#define ARP_PER_S UINT64_C(20000)
#define ARP_BUS_NS 20000u
#define ARP_LEASE_MS 300u
#define ARP_LIMIT_MS 2000.0
#define ARP_WAIT_NS (2 * RF_SEC)
/* STATUS during that flood: the pause between two, and when one is asked again. */
#define ASK_EVERY_NS (50 * RF_MSEC)
#define ASK_AGAIN_NS (200 * RF_MSEC)
#define ASK_PORT 5001u

enum trouble {
	IDLE,
	BUSY,
	STALL,
	CRASH,
	DISAGREE,
	REPEAT,
	ACKS, /* for the kinds up to here the group reduces meanwhile */
	DAMAGE,
	FOREIGN,
	FORGE_PORT,
	FORGE_ADDRESS,
	CONTROL,
	ARP, /* for groups that join without other faults */
	TROUBLES
};

static const char *const names[TROUBLES] = {
	[IDLE] = "is idle",
	[BUSY] = "reduces all the time",
	[STALL] = "has a rank that stalls",
	[CRASH] = "has a rank that crashes",
	[DISAGREE] = "disagrees and fails",
	[REPEAT] = "floods with packets sent before",
	[DAMAGE] = "floods with wrong ICRCs",
	[FOREIGN] = "floods with RoCE of no group",
	[ACKS] = "floods with ACKs that lie",
	[FORGE_PORT] = "forges others' data, by other ports",
	[FORGE_ADDRESS] = "forges others' data, from its own addresses",
	[CONTROL] = "floods with forged control packets",
	[ARP] = "floods all ports with ARP from addresses that are never the same",
};

/* A host that continuously requests the box's status page, as `ringfold ctl status` does. */
struct asker {
	uint64_t nonce;
	uint32_t seq;
	bool waits;
	uint64_t begun, next; /* when the question began; when something is to be sent */
	uint64_t longest;
	unsigned answers, tries;
};

struct run {
	struct rf_fabric *f;
	struct rf_fabric_cfg cfg;
	enum trouble kind;
	unsigned ports;
	bool begun;
	uint64_t frames; /* frames of a flood */
	bool injecting;
	bool fresh[8];        /* sent since the flood's last frame */
	uint8_t own[8][2048]; /* the last data packet of each rank of the bad group */
	size_t own_len[8];
	uint8_t other[8][2048]; /* the same for group 0 */
	size_t other_len[8];
	uint64_t random;
	bool late; /* the group before the last joins during the flood */
	struct asker asker;
};

struct result {
	double bulk_ns;  /* the slowest of the other groups */
	double small_ns; /* the longest of their small sums */
	double mean_ns;  /* the mean of their small sums */
	uint64_t frames;
	bool good;
};

static unsigned failures;
static FILE *out;

static void figure(const char *name, double value, const char *unit, double limit, bool must)
{
	bool ok = !must || value <= limit;
	json_t *o = json_pack("{ss ss sf ss sb sb}", "group", "isolation", "name", name, "value",
			      value, "unit", unit, "must", must, "ok", ok);

	printf("%-78s %10.3f %s%s\n", name, value, unit, ok ? "" : "   MISSED");
	failures += !ok && !out;
	json_object_set_new(o, "limit", must ? json_real(limit) : json_null());
	if (out) {
		json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
		fputc('\n', out);
	}
	json_decref(o);
}

/* ---- the flood ---- */

/* A frame that leaves the box: is it the answer? */
static void heard(struct asker *a, uint64_t ns, const uint8_t *frame, size_t len)
{
	struct rf_ctl_reply reply;
	struct rf_ctl_header h;
	struct rf_ctl_addr addr;
	const uint8_t *msg;
	size_t n;

	if (!a->waits || rf_ctl_frame_get(frame, len, &addr, &msg, &n) != RF_CTL_FRAME_OK ||
	    addr.dst_port != ASK_PORT || rf_ctl_header_get(msg, n, &h) != 0 || h.seq != a->seq ||
	    rf_ctl_reply_get(msg, &h, &reply) != RF_CTL_R_NONE)
		return;
	if (h.nonce != 0)
		a->nonce = h.nonce;
	a->next = ns;
	if (reply.result != RF_CTL_PAGE)
		return; /* for lack of a nonce: once more */
	a->waits = false;
	a->next = ns + ASK_EVERY_NS;
	a->answers++;
	if (ns - a->begun > a->longest)
		a->longest = ns - a->begun;
}

/* Stores the last data packet that each rank of the bad group and of group 0 has sent. */
static bool keep(void *arg, bool box, unsigned host, bool up, uint64_t ns, const uint8_t *frame,
		 size_t len)
{
	struct run *r = arg;
	struct roce_packet p;
	unsigned rank = host % r->ports;

	if (r->kind == ARP && box && up)
		heard(&r->asker, ns, frame, len);
	if (r->injecting || box || !up || len > sizeof(r->own[0]) ||
	    (host / r->ports != 0 && host / r->ports != BAD) ||
	    roce_parse(frame, len, &p) != ROCE_WIRE_OK || p.payload_len == 0 ||
	    p.src_ip != rf_fabric_ip(host) || !roce_icrc_ok(frame, &p))
		return true;
	/* Only whole packets of the connection, none of those made by a flood. */
	if (host / r->ports == BAD &&
	    p.dst_ip == rf_fabric_ip(BAD * r->ports + (rank + 1) % r->ports)) {
		memcpy(r->own[rank], frame, len);
		r->own_len[rank] = len;
		r->fresh[rank] = true;
	} else if (host / r->ports == 0) {
		memcpy(r->other[rank], frame, len);
		r->other_len[rank] = len;
	}
	return true;
}

static size_t control_frame(const struct run *r, unsigned host, uint8_t *frame, size_t room)
{
	static const uint8_t key[RF_CTL_KEY_BYTES] = {1};
	struct rf_ctl_addr a = {.vlan = RF_CTL_NO_VLAN,
				.src_ip = rf_fabric_ip(host),
				.dst_ip = rf_fabric_box_ip(),
				.src_port = 5000,
				.dst_port = RF_CTL_UDP_PORT};
	struct rf_ctl_header h = {.verb = RF_CTL_STATUS, .rank = 1, .job = 1, .token = 1};
	struct rf_ctl_request q = {.u.status.page = RF_CTL_PAGE_BOX};
	uint8_t msg[RF_CTL_MESSAGE_MAX];
	size_t len;

	h.seq = (uint32_t)r->frames + 1;
	len = rf_ctl_request_put(msg, &h, &q, key);
	memcpy(a.dst_mac, (const uint8_t[6]){0x02, 0x52, 0x46, 0, 0, 0x10}, 6);
	memcpy(a.src_mac, (const uint8_t[6]){0x02, 0x48, 0, 0, 0, (uint8_t)(host + 1)}, 6);
	return rf_ctl_frame_put(frame, room, &a, msg, len);
}

/* The host of group 0 at the port with the flood asks. */
static void ask(struct run *r)
{
	static const uint8_t key[RF_CTL_KEY_BYTES] = {0};
	struct asker *a = &r->asker;
	struct rf_ctl_addr to = {.vlan = RF_CTL_NO_VLAN,
				 .src_ip = rf_fabric_ip(0),
				 .dst_ip = rf_fabric_box_ip(),
				 .src_port = ASK_PORT,
				 .dst_port = RF_CTL_UDP_PORT,
				 .dst_mac = {0x02, 0x52, 0x46, 0, 0, 0x10},
				 .src_mac = {0x02, 0x48, 0, 0, 0, 1}};
	struct rf_ctl_header h = {.verb = RF_CTL_STATUS, .rank = RF_CTL_NO_RANK, .token = 2};
	struct rf_ctl_request q = {.u.status.page = RF_CTL_PAGE_BOX};
	uint8_t msg[RF_CTL_MESSAGE_MAX], frame[2048];
	size_t len;

	if (rf_fabric_now(r->f) < a->next)
		return;
	if (!a->waits)
		a->begun = rf_fabric_now(r->f);
	a->waits = true;
	a->next = rf_fabric_now(r->f) + ASK_AGAIN_NS;
	a->tries++;
	h.seq = ++a->seq;
	h.nonce = a->nonce;
	len = rf_ctl_request_put(msg, &h, &q, key);
	rf_fabric_inject(r->f, 0, frame, rf_ctl_frame_put(frame, sizeof(frame), &to, msg, len));
}

/* A broadcast request for the box's address, from a host whose address is new each time. */
static size_t arp_frame(struct run *r, uint8_t *frame)
{
	uint8_t mac[6] = {0x06};
	uint8_t *a = frame + 14;

	r->random = r->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	rf_put_be32(mac + 1, (uint32_t)(r->random >> 32));
	mac[5] = (uint8_t)(r->random >> 24);
	memset(frame, 0, 60);
	memset(frame, 0xff, 6);
	memcpy(frame + 6, mac, 6);
	rf_put_be16(frame + 12, 0x0806);
	rf_put_be32(a, 0x00010800);
	rf_put_be32(a + 4, 0x06040001);
	memcpy(a + 8, mac, 6);
	rf_put_be32(a + 14, 0x0a010000 | (uint32_t)(r->random >> 48));
	rf_put_be32(a + 24, rf_fabric_box_ip());
	return 60;
}

/* Makes the next frame of a flood by a rank of the bad group; 0: none yet. */
static size_t flood_frame(struct run *r, unsigned rank, uint8_t *frame, size_t room)
{
	unsigned host = BAD * r->ports + rank;
	bool forge = r->kind == FORGE_PORT || r->kind == FORGE_ADDRESS;
	/* The victim is at the same port, or at a different one. */
	unsigned at = r->kind == FORGE_PORT ? (rank + 1) % r->ports : rank;
	const uint8_t *from = forge ? r->other[at] : r->own[rank];
	size_t len = forge ? r->other_len[at] : r->own_len[rank];
	uint8_t payload[2048];
	struct roce_packet p;

	if (r->kind == CONTROL)
		return control_frame(r, host, frame, room);
	if (len == 0 || roce_parse(from, len, &p) != ROCE_WIRE_OK)
		return 0;
	memcpy(payload, p.payload, p.payload_len);
	p.payload = payload;
	switch (r->kind) {
	case FOREIGN:
		p.qpn = 0x777777;
		break;
	case ACKS:
		/* From the receiver of these packets to their sender. */
		host = BAD * r->ports + (rank + 1) % r->ports;
		p.opcode = 0x11;
		p.payload_len = 0;
		p.syndrome = 0x1f;
		p.psn = (p.psn - RF_CTL_SHIFT + 1000) & 0xffffff;
		p.qpn = 0x100 + 2 * (BAD * r->ports + rank);
		p.dst_ip = p.src_ip;
		memcpy(p.dst_mac, p.src_mac, 6);
		p.src_ip = rf_fabric_ip(host);
		memcpy(p.src_mac, (const uint8_t[6]){0x02, 0x48, 0, 0, 0, (uint8_t)(host + 1)}, 6);
		break;
	case FORGE_ADDRESS:
		p.src_ip = rf_fabric_ip(host);
		/* fall through */
	case FORGE_PORT:
		memcpy(p.src_mac, (const uint8_t[6]){0x02, 0x48, 0, 0, 0, (uint8_t)(host + 1)}, 6);
		memset(payload, 0x5a, p.payload_len);
		p.psn = (p.psn + 1 + (uint32_t)(r->frames & 3)) & 0xffffff;
		break;
	default:
		break;
	}
	len = roce_build(&p, frame, room);
	if (r->kind == DAMAGE && len > 60)
		frame[60] ^= 1;
	return len;
}

/*
 * Each rank of the bad group fills its link. If its own packets matter, each is followed by a frame
 * of the flood, and by more while it has none to send.
 */
static void flood(struct run *r)
{
	uint64_t due = r->kind == ARP ? (rf_fabric_now(r->f) - (LATE_NS - 100 * RF_USEC)) /
						(RF_SEC / ARP_PER_S)
				      : 0;

	for (; r->frames < due; r->frames++) {
		uint8_t frame[60];

		rf_fabric_inject(r->f, BAD * r->ports, frame, arp_frame(r, frame));
	}
	if (r->kind == ARP)
		return;
	for (unsigned rank = 0; rank < r->ports; rank++) {
		struct rf_link *l = rf_link_get(r->f, false, BAD * r->ports + rank, true);
		uint8_t frame[2048];
		size_t len;

		/*
		 * Frames are queued some microseconds ahead, so that the link never becomes idle.
		 */
		while (r->kind > ACKS ? l->free_at < r->f->now + AHEAD_PS
				      : l->free_at <= r->f->now || r->fresh[rank]) {
			/* ACKs are made by the receiver of the packets. */
			len = flood_frame(r,
					  r->kind == ACKS ? (rank + r->ports - 1) % r->ports : rank,
					  frame, sizeof(frame));
			if (len == 0)
				break;
			r->fresh[rank] = false;
			r->injecting = true;
			rf_fabric_inject(r->f, BAD * r->ports + rank, frame, len);
			r->injecting = false;
			r->frames++;
		}
	}
}

static void begin(struct run *r)
{
	r->begun = true;
	if (r->kind == STALL)
		rf_fabric_freeze(r->f, BAD * r->ports, 10 * RF_SEC);
	if (r->kind == CRASH)
		rf_fabric_crash(r->f, BAD * r->ports);
}

static bool all_have(const struct run *r, unsigned from, unsigned to, unsigned done)
{
	for (unsigned k = from; k < to; k++)
		if (rf_fabric_rank(r->f, k)->done < done &&
		    rf_fabric_rank(r->f, k)->state < RF_RANK_DONE)
			return false;
	return true;
}

/* Time at which the late group is ready; 0: not yet. */
static uint64_t late_ready(const struct run *r)
{
	uint64_t last = 0;

	for (unsigned k = LATE * r->ports; k < BAD * r->ports; k++) {
		uint64_t ready = rf_fabric_rank(r->f, k)->ready_ns;

		if (ready == 0)
			return 0;
		last = ready > last ? ready : last;
	}
	return last;
}

/*
 * Called after every event: starts the fault, maintains it, ends the run when the others are done.
 */
static bool step(void *arg)
{
	struct run *r = arg;

	if (!r->begun) {
		if (r->late && rf_fabric_now(r->f) < LATE_NS - 100 * RF_USEC)
			return false;
		if (all_have(r, 0, r->late ? LATE * r->ports : r->cfg.ranks, 1))
			begin(r);
		return false;
	}
	if (r->kind >= REPEAT)
		flood(r);
	if (r->kind == ARP)
		ask(r);
	if (r->late && r->kind == ARP && rf_fabric_now(r->f) < LATE_NS + 3 * ARP_LEASE_MS * RF_MSEC)
		return false;
	if (r->late)
		return late_ready(r) != 0;
	for (unsigned k = 0; k < BAD * r->ports; k++)
		if (rf_fabric_rank(r->f, k)->state < RF_RANK_DONE)
			return false;
	return true;
}

/* ---- one run ---- */

static bool program(struct run *r, uint64_t count)
{
	bool ok = true;

	for (unsigned k = 0; k < r->cfg.ranks; k++) {
		bool bad = k / r->ports == BAD;
		uint64_t n = count;

		ok &= rf_fabric_step(r->f, k, RF_STEP_ALLREDUCE, 256) == 0;
		ok &= rf_fabric_step(r->f, k, RF_STEP_WAIT, 0) == 0;
		ok &= rf_fabric_step(r->f, k, RF_STEP_BARRIER, 0) == 0;
		if (bad && (r->kind == IDLE || r->kind > ACKS)) {
			ok &= rf_fabric_step(r->f, k, RF_STEP_COMPUTE, 10 * RF_SEC) == 0;
			continue;
		}
		if (bad && r->kind == DISAGREE && k % r->ports == 0)
			n += 1000;
		for (unsigned i = 0; bad && r->kind <= ACKS && i < 4; i++)
			ok &= rf_fabric_step(r->f, k, RF_STEP_ALLREDUCE, n) == 0;
		if (bad)
			continue;
		ok &= rf_fabric_step(r->f, k, RF_STEP_ALLREDUCE, count) == 0;
		ok &= rf_fabric_step(r->f, k, RF_STEP_WAIT, 0) == 0;
		for (unsigned i = 0; i < SMALL_OPS; i++) {
			ok &= rf_fabric_step(r->f, k, RF_STEP_ALLREDUCE, 256) == 0;
			ok &= rf_fabric_step(r->f, k, RF_STEP_WAIT, 0) == 0;
		}
	}
	return ok;
}

static void configure(struct run *r, unsigned ports, const struct rf_engine_ops *engine)
{
	struct rf_fabric_cfg *c = &r->cfg;

	rf_fabric_cfg_init(c);
	c->ports = ports;
	c->groups = GROUPS;
	c->ranks = GROUPS * ports;
	c->engine = engine;
	c->rate = RATE;
	c->host_rate = RATE / GROUPS;
	c->slots = 64;
	c->ack_timeout_ns = 1 * RF_MSEC;
	for (unsigned k = 0; k < c->ranks; k++) {
		c->port_of_rank[k] = (uint8_t)(k % ports);
		c->join_at[k] = k * 5 * RF_USEC;
	}
	if (r->kind == ARP) {
		c->bus_ns = ARP_BUS_NS;
		c->lease_ms = ARP_LEASE_MS;
	}
	r->ports = ports;
	for (unsigned k = LATE * ports; r->late && k < BAD * ports; k++)
		c->join_at[k] = LATE_NS;
}

static void judge(struct run *r, struct result *x)
{
	unsigned n = 0;

	for (unsigned k = 0; k < BAD * r->ports; k++) {
		const struct rf_rank *s = rf_fabric_rank(r->f, k);

		if (s->state != RF_RANK_DONE || s->wrong || s->done != SMALL_OPS + 2) {
			printf("rank %u of group %u: state %d, %u done, wrong %" PRIu64 ": %s\n",
			       k % r->ports, k / r->ports, (int)s->state, s->done, s->wrong,
			       s->text);
			x->good = false;
		}
	}
	for (unsigned g = 0; g < BAD; g++) {
		double bulk = (double)rf_fabric_group_op_ns(r->f, g, 1);

		if (bulk > x->bulk_ns)
			x->bulk_ns = bulk;
		for (unsigned i = 0; i < SMALL_OPS; i++, n++) {
			double small = (double)rf_fabric_group_op_ns(r->f, g, 2 + i);

			x->mean_ns += small;
			if (small > x->small_ns)
				x->small_ns = small;
		}
	}
	x->mean_ns /= n;
	/*
	 * Ranks that disagree put sums of different vectors into failed results: this is allowed.
	 */
	for (unsigned k = BAD * r->ports; k < r->cfg.ranks; k++)
		x->good &= rf_fabric_rank(r->f, k)->wrong == 0 &&
			   (r->kind == DISAGREE || rf_fabric_rank(r->f, k)->raw == 0);
}

/* Evidence that the fault took place. */
static bool took_place(struct run *r)
{
	static const unsigned counter[TROUBLES] = {
		[DAMAGE] = RF_CNT_ICRC,
		[FOREIGN] = RF_CNT_FOREIGN,
		[ACKS] = RF_CNT_ACK_BEYOND,
		[FORGE_PORT] = RF_CNT_WRONG_SOURCE,
		[FORGE_ADDRESS] = RF_CNT_WRONG_SOURCE,
	};
	const struct rf_rank *first = rf_fabric_rank(r->f, BAD * r->ports);

	switch (r->kind) {
	case IDLE:
		return true;
	case BUSY:
		return first->done >= 2;
	case STALL:
	case CRASH:
		return rf_fabric_rank(r->f, BAD * r->ports + 1)->done < 5;
	case DISAGREE:
		return first->state == RF_RANK_FAILED;
	case REPEAT:
	case CONTROL:
		return r->frames > 200;
	default:
		return r->frames > 200 && rf_fabric_counter(r->f, 0, counter[r->kind]) > 100;
	}
}

static struct result run(enum trouble kind, unsigned ports, const struct rf_engine_ops *engine,
			 uint64_t count)
{
	static struct run r;
	struct result x = {.good = true};
	char why[200];

	memset(&r, 0, sizeof(r));
	r.kind = kind;
	configure(&r, ports, engine);
	if (rf_fabric_create(&r.cfg, &r.f, why, sizeof(why)) != 0) {
		printf("no fabric: %s\n", why);
		exit(1);
	}
	rf_fabric_set_filter(r.f, keep, &r);
	if (!program(&r, count) || rf_fabric_run_until(r.f, 2 * RF_SEC, step, &r) < 0) {
		printf("the run failed: %s\n", rf_fabric_why(r.f));
		exit(1);
	}
	judge(&r, &x);
	if (!took_place(&r)) {
		printf("the trouble did not take place (%" PRIu64 " frames): the last group %s\n",
		       r.frames, names[kind]);
		x.good = false;
	}
	x.frames = r.frames;
	rf_fabric_destroy(r.f);
	if (!x.good) {
		printf("not good: the last group %s\n", names[kind]);
		failures++;
	}
	return x;
}

/* Time that a whole group needs to join during the fault of the last one. */
static void join_under(enum trouble kind, unsigned ports, const struct rf_engine_ops *engine,
		       const char *by)
{
	static struct run r;
	char why[200], name[120];
	uint64_t ready;

	memset(&r, 0, sizeof(r));
	r.kind = kind;
	r.late = true;
	configure(&r, ports, engine);
	if (rf_fabric_create(&r.cfg, &r.f, why, sizeof(why)) != 0) {
		printf("no fabric: %s\n", why);
		exit(1);
	}
	rf_fabric_set_filter(r.f, keep, &r);
	for (unsigned k = 0; k < r.cfg.ranks; k++) {
		/* One sum, so that there is something to forge and to repeat. */
		if (rf_fabric_step(r.f, k, RF_STEP_ALLREDUCE, 256) != 0 ||
		    rf_fabric_step(r.f, k, RF_STEP_WAIT, 0) != 0 ||
		    rf_fabric_step(r.f, k, RF_STEP_COMPUTE, 20 * RF_SEC) != 0)
			exit(1);
	}
	if (rf_fabric_run_until(r.f, LATE_NS + (kind == ARP ? ARP_WAIT_NS : JOIN_WAIT_NS), step,
				&r) < 0) {
		printf("the run failed: %s\n", rf_fabric_why(r.f));
		exit(1);
	}
	ready = late_ready(&r);
	snprintf(name, sizeof(name), "%s, %u ports, one %s: a group joins within", by, ports,
		 names[kind]);
	figure(name, ready ? (double)(ready - LATE_NS) * 1e-6 : 1e9, "ms",
	       kind == ARP ? ARP_LIMIT_MS : JOIN_LIMIT_MS, true);
	for (unsigned k = 0; k < LATE * ports; k++)
		if (rf_fabric_rank(r.f, k)->state != RF_RANK_RUNNING) {
			printf("rank %u of group %u: %s\n", k % ports, k / ports,
			       rf_fabric_rank(r.f, k)->text);
			failures++;
		}
	if (kind == ARP) {
		uint32_t punted = rf_fabric_counter(r.f, 0, RF_CNT_PUNTED);
		uint64_t now = rf_fabric_now(r.f);

		if (r.asker.waits && now - r.asker.begun > r.asker.longest)
			r.asker.longest = now - r.asker.begun;
		snprintf(name, sizeof(name), "%s, %u ports: STATUS meanwhile answered within", by,
			 ports);
		figure(name, r.asker.answers > 4 ? (double)r.asker.longest * 1e-6 : 1e9, "ms",
		       ARP_LIMIT_MS, true);
		snprintf(name, sizeof(name), "%s, %u ports: answers, of questions", by, ports);
		printf("%-78s %u of %u\n", name, r.asker.answers, r.asker.tries);
		snprintf(name, sizeof(name), "%s, %u ports: ARP and control that port 0 took", by,
			 ports);
		figure(name, punted, "frames", 0, false);
	}
	rf_fabric_destroy(r.f);
}

int main(int argc, char **argv)
{
	unsigned ports = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	const char *by = argc > 2 ? argv[2] : "model";
	const struct rf_engine_ops *engine;
	uint64_t count = 64 * 1024;
	struct result idle;
	char why[300], name[120];

	if (argc < 2 || argc > 4 || ports < 2 || ports > 8) {
		fprintf(stderr, "usage: isolation PORTS [model|rtl] [BENCHFILE]\n");
		return 2;
	}
	if (argc == 4) {
		out = fopen(argv[3], "a");
		if (!out) {
			perror(argv[3]);
			return 1;
		}
	} else {
		count /= 2;
	}
	if (rf_engine_by_name(by, ports, 1, 512, false, &engine, why, sizeof(why)) != 0) {
		printf("skipped: %s\n", why);
		return 77;
	}
	idle = run(IDLE, ports, engine, count);
	snprintf(name, sizeof(name), "%s, %u ports, 8 groups, 1 idle: vectors at", by, ports);
	figure(name, (double)count * 32 / idle.bulk_ns, "Gb/s", 0, false);
	snprintf(name, sizeof(name), "%s, %u ports, 8 groups, 1 idle: small sums, longest", by,
		 ports);
	figure(name, idle.small_ns * 1e-3, "us", 0, false);
	for (enum trouble k = BUSY; k < ARP; k++) {
		struct result x = run(k, ports, engine, count);

		if (!x.good)
			continue;
		snprintf(name, sizeof(name), "%s, %u ports, one %s: throughput lost", by, ports,
			 names[k]);
		figure(name, 100 * (1 - idle.bulk_ns / x.bulk_ns), "%", LIMIT_SHARE, true);
		snprintf(name, sizeof(name), "%s, %u ports, one %s: latency", by, ports, names[k]);
		figure(name, (x.small_ns - idle.small_ns) * 1e-3, "us", LIMIT_NS * 1e-3, true);
	}
	join_under(IDLE, ports, engine, by);
	join_under(DAMAGE, ports, engine, by);
	join_under(ACKS, ports, engine, by);
	join_under(CONTROL, ports, engine, by);
	join_under(ARP, ports, engine, by);
	return (out && fclose(out) != 0) || failures ? 1 : 0;
}
