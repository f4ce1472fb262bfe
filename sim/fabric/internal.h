/* Internals of the fabric, shared by its source files. */
#ifndef RF_SIM_FABRIC_INTERNAL_H
#define RF_SIM_FABRIC_INTERNAL_H

#include "host/member/member.h"
#include "sim/fabric/event.h"
#include "sim/fabric/fabric.h"
#include "base/rng.h"
#include "sim/fabric/switch.h"
#include "wire/notes.h"
#include "sim/fabric/timeline.h"
#include "wire/pcapng.h"

#define RF_PS_PER_NS UINT64_C(1000)
/* The argument of RF_STEP_COLLECTIVE: kind, root, type, operation, elements. */
#define RF_COLLECTIVE_KIND_LSB 60u
#define RF_COLLECTIVE_ROOT_LSB 48u
#define RF_COLLECTIVE_TYPE_LSB 44u
#define RF_COLLECTIVE_OP_LSB 40u

extern const uint8_t rf_fabric_box_mac[6];

/* A frame on its way; owned by the event or queue that holds it. */
struct rf_frame {
	struct rf_frame *next;
	size_t len;
	bool bad; /* its FCS is wrong */
	uint8_t data[];
};

enum rf_event_kind {
	RF_EV_ARRIVE, /* who: link, what: frame */
	RF_EV_LATE,   /* who: host; what: an ACK that its NIC sends late, or NULL: the one it stores
		       */
	RF_EV_HOST,   /* who: host; check sending and timers */
};

/* One direction of a cable. */
struct rf_link {
	uint64_t free_at;      /* ps: the last bit of the last frame has left */
	uint64_t last_arrival; /* jitter must keep the order */
	struct rf_faults faults;
	struct rf_rng rng;
	uint64_t rate; /* bits per second */
	unsigned port; /* number of the host or box port */
	bool box;
	bool up; /* towards the switch */
};

struct rf_fabric {
	struct rf_fabric_cfg cfg;
	struct rf_events events;
	uint64_t now; /* ps */
	/* rf_fabric_pass_time(), for the box, which is below the clock */
	void (*pass_time)(struct rf_fabric *f, uint64_t until);
	struct rf_switch sw;
	struct rf_link *links; /* hosts' up, hosts' down, box ports' up, box ports' down */
	struct rf_host **hosts;
	struct rf_member_peer *peers; /* addresses of all ranks */
	bool *mirrors;                /* whether they have mirror connections */
	struct rf_job_store *stores;  /* of each group */
	struct rf_box *box;           /* of a tree: number 0 */
	struct rf_box *boxes[RF_FABRIC_BOXES];
	unsigned box_count;
	struct rf_member_tree tree;             /* of the boxes; its box 0 is the last one here */
	struct rf_place above[RF_FABRIC_BOXES]; /* of each box at the one above */
	bool above_known[RF_FABRIC_BOXES];
	struct rf_check *check;
	struct rf_pcapng *trace_hosts;
	struct rf_pcapng *trace_box;
	struct rf_timeline *timeline;
	bool capture_cut; /* one of them is not complete */
	struct rf_notes *notes_hosts;
	struct rf_notes *notes_box;
	rf_fabric_filter *filter;
	void *filter_arg;
	rf_fabric_guest *guest; /* NULL: the hosts are the fabric's own */
	void *guest_arg;
	size_t frames;     /* frames in existence */
	unsigned barriers; /* passed by all hosts */
	unsigned routers;  /* that have taken over */
	unsigned active;   /* hosts whose program has not ended */
	bool failed;
	char why[200];
	struct rf_fabric_stats stats;
};

/* frame.c */
struct rf_frame *rf_frame_new(struct rf_fabric *f, const uint8_t *data, size_t len);
/* NULL is allowed. */
void rf_frame_free(struct rf_fabric *f, struct rf_frame *frame);
void rf_fabric_fail(struct rf_fabric *f, const char *why);
void rf_fabric_event(struct rf_fabric *f, uint64_t at, enum rf_event_kind kind, unsigned who,
		     void *what);
uint64_t rf_fabric_digest(uint64_t before, const void *data, size_t len);
/* A frame at a host or a port of the box, at a time in ps. */
void rf_fabric_trace(struct rf_fabric *f, uint64_t at, bool box, unsigned port,
		     enum rf_pcapng_dir dir, const uint8_t *frame, size_t len);
/* Ranks of a group, and the first of the group that has a rank. */
static inline unsigned rf_fabric_size(const struct rf_fabric_cfg *c)
{
	return c->groups > 1 ? c->ranks / c->groups : c->ranks;
}

static inline unsigned rf_fabric_first(const struct rf_fabric_cfg *c, unsigned rank)
{
	return rank - rank % rf_fabric_size(c);
}

static inline uint64_t rf_fabric_ns(const struct rf_fabric *f)
{
	return f->now / RF_PS_PER_NS;
}

/* frame.c: the address of the box of a rank. */
uint32_t rf_fabric_box_of(const struct rf_fabric_cfg *c, unsigned rank);

/* link.c */
uint64_t rf_wire_ps(uint64_t rate, size_t len);
struct rf_link *rf_link_get(struct rf_fabric *f, bool box, unsigned port, bool up);
/*
 * Puts a frame on the wire, its first bit not before `start`; takes ownership. Returns the time at
 * which the wire is free.
 */
uint64_t rf_link_send(struct rf_fabric *f, struct rf_link *l, uint64_t start,
		      struct rf_frame *frame);

/* router.c */
void rf_router_start(struct rf_fabric *f);
/* A frame comes in; if it is for the router, it is changed. True: it was answered, and goes
 * nowhere. */
bool rf_router_frame(struct rf_fabric *f, unsigned in, struct rf_frame *frame);

/* wake.c: see also host.h. */
/* Schedules a check at the current time. */
void rf_host_wake(struct rf_host *h);
/* Whether a host has reached its n-th barrier, or will never reach another one. */
bool rf_host_at_barrier(const struct rf_host *h, unsigned n);
/* Whether all hosts have reached their n-th barrier; wakes those that wait. */
bool rf_fabric_barrier(struct rf_fabric *f, unsigned n);

/* nic.c: see also host.h. */
void rf_host_late(struct rf_host *h, struct rf_frame *frame);

/* host.c */
struct rf_host *rf_host_create(struct rf_fabric *f, unsigned rank);
void rf_host_destroy(struct rf_host *h);
int rf_host_step(struct rf_host *h, enum rf_step_kind kind, uint64_t arg);
/* A frame has arrived; takes ownership. */
void rf_host_frame(struct rf_host *h, struct rf_frame *frame);
/* Does everything that is due: timers, program, sending. */
void rf_host_run(struct rf_host *h);
/* The same from an event, unless an earlier event has made it unnecessary. */
void rf_host_event(struct rf_host *h, uint64_t at);
void rf_host_crash(struct rf_host *h);
int rf_host_restart(struct rf_host *h, unsigned life);
void rf_host_quit(struct rf_host *h);
void rf_host_freeze(struct rf_host *h, uint64_t ns);
/* When the pause of a live process ends (ns); 0: it is not paused. */
uint64_t rf_host_paused_until(const struct rf_host *h);
/* Times of one all-reduce; false if it is not complete. */
/* NULL, or what was not freed or is still waiting. */
const char *rf_host_leak(const struct rf_host *h);
bool rf_host_op_times(const struct rf_host *h, unsigned op, uint64_t *posted, uint64_t *done);
const struct rf_rank *rf_host_rank(const struct rf_host *h);
void rf_host_stats(const struct rf_host *h, struct rf_fabric_stats *s);

/* store.c: see also host.h. */
int rf_stores_create(struct rf_fabric *f);
void rf_stores_destroy(struct rf_fabric *f);
/* A process has ended, or has left its group. */
void rf_host_gone(struct rf_host *h);

/* box.c */
struct rf_box *rf_box_create(struct rf_fabric *f, unsigned number, char *why, size_t room);
void rf_box_destroy(struct rf_box *b);
/* A frame has arrived at a port at the current time; takes ownership. */
void rf_box_frame(struct rf_box *b, unsigned port, struct rf_frame *frame);
/*
 * Advances the box towards a time (ps), or less far if it sent something that causes an earlier
 * event.
 */
void rf_box_run(struct rf_box *b, uint64_t until);
/* Whether the firmware has work to do now, and doing it. */
bool rf_box_firmware_due(const struct rf_box *b);
void rf_box_firmware(struct rf_box *b);
/* The box's own time, ps: not before the fabric's. */
uint64_t rf_box_time(const struct rf_box *b);
/* Time of the box's next activity without input: its current time, or UINT64_MAX. */
uint64_t rf_box_next(const struct rf_box *b);
void rf_box_reset(struct rf_box *b);
const char *rf_box_leak(struct rf_box *b);
void rf_box_spoil(struct rf_box *b, enum rf_spoil what);
uint32_t rf_box_read(struct rf_box *b, uint32_t addr);
/* Adds its figures. */
void rf_box_stats(const struct rf_box *b, struct rf_fabric_stats *s);
const struct rf_fw *rf_box_fw(const struct rf_box *b);

/* tree_shape.c */
/* Ports of all boxes together. */
unsigned rf_fabric_box_ports(const struct rf_fabric *f);
/* NULL, or why the shape of a tree is wrong. */
const char *rf_tree_refuse(const struct rf_fabric_cfg *c);
/* The number of a box in struct rf_member_tree and struct rf_order, where the top is 0. */
unsigned rf_tree_number(const struct rf_fabric_cfg *c, unsigned box);
void rf_tree_describe(const struct rf_fabric_cfg *c, struct rf_member_tree *t);

/* tree.c */
/* The sum of all ranks of a tree, from their operands: box by box. -1: no box knows the places. */
int rf_tree_sum(struct rf_fabric *f, const struct rf_fabric_call *call, char *const *inputs,
		void *out);

/* check.c */
struct rf_check *rf_check_create(const struct rf_fabric_cfg *cfg);
void rf_check_destroy(struct rf_check *c);
/* The sums are those of a tree of boxes. */
void rf_check_tree(struct rf_check *c, struct rf_fabric *f);
/* The inputs of a rank for a call. key: different for each of its calls. */
void rf_check_fill(const struct rf_check *c, unsigned rank, unsigned key,
		   const struct rf_fabric_call *call, void *to);
/* The fill pattern of untouched memory. */
void rf_check_blank(void *to, size_t bytes);
/* Elements of the result that a rank of the group gets. */
uint64_t rf_check_gets(const struct rf_fabric_cfg *cfg, const struct rf_fabric_call *call,
		       unsigned me);
/*
 * Compares the result of rank `me` of the group that starts at this first rank with the reference;
 * returns the number of wrong elements, UINT64_MAX if out of memory. blank_ok: untouched elements
 * are accepted too.
 */
uint64_t rf_check_result(struct rf_check *c, const struct rf_place *places, unsigned first,
			 unsigned me, unsigned key, const struct rf_fabric_call *call,
			 const void *got, bool blank_ok);

/* check_hosts.c */
/* The result without a box, from the operands of all ranks, which it overwrites. */
void rf_check_hosts(const struct rf_fabric_cfg *cfg, const struct rf_fabric_call *call,
		    char *const *inputs, char *out);

/* fabric.c */
/*
 * Handles all events up to a time (ps), except the firmware's: for register accesses, which take
 * time.
 */
void rf_fabric_pass_time(struct rf_fabric *f, uint64_t until);

#endif
