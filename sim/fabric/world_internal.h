/* Internals of a world, shared by its source files. Times are picoseconds. */
#ifndef RF_SIM_FABRIC_WORLD_INTERNAL_H
#define RF_SIM_FABRIC_WORLD_INTERNAL_H

#include "base/rng.h"
#include "host/roce/endpoint.h"
#include "sim/fabric/event.h"
#include "sim/fabric/switch.h"
#include "sim/fabric/world.h"

#define RF_WORLD_PS UINT64_C(1000) /* in a nanosecond */
#define RF_WORLD_SHIFT (1u << 22)

struct rf_world_frame {
	size_t len;
	uint8_t data[];
};

enum rf_world_event {
	RF_WORLD_AT_SWITCH, /* who: port of the switch */
	RF_WORLD_AT_HOST,   /* who: host */
	RF_WORLD_AT_BOX,    /* who: port of the box */
	RF_WORLD_WAKE,      /* who: host */
};

/* One direction of a cable. */
struct rf_world_link {
	uint64_t free_at;
	uint64_t rate;
	double loss;
	uint32_t to; /* enum rf_world_event of an arrival */
	uint32_t who;
};

struct rf_world_host {
	unsigned rank;
	struct roce_endpoint *ep;
	struct roce_qp *to_next[RF_WORLD_GROUPS],
		*from_prev[RF_WORLD_GROUPS]; /* mirror: the same */
	struct rf_directed *group[RF_WORLD_GROUPS];
	unsigned next[RF_WORLD_GROUPS]; /* call that is looked at next */
	uint64_t wake;
	unsigned done;
	int status;
};

/* One call of all ranks. in: what each gives; the same as send unless in place. */
struct rf_world_work {
	struct rf_world_call call;
	uint64_t counts[RF_WORLD_RANKS];
	uint64_t at[RF_WORLD_RANKS + 1]; /* where each block begins, bytes */
	uint64_t bytes;                  /* of the vector or of all blocks */
	char *in[RF_WORLD_RANKS], *send[RF_WORLD_RANKS], *recv[RF_WORLD_RANKS];
	void *memory[RF_WORLD_RANKS][2]; /* to be freed */
	uint64_t first, last;            /* start and end */
};

struct rf_world {
	struct rf_world_cfg cfg;
	struct rf_events events;
	uint64_t now;
	struct rf_rng rng;
	struct rf_switch sw;
	/* Hosts' up, hosts' down, box ports' up, box ports' down. */
	struct rf_world_link link[2 * RF_WORLD_RANKS + 16];
	struct rf_world_host host[RF_WORLD_RANKS];
	struct rf_engine *engine;
	struct rf_engine_cfg shape;
	uint64_t period;
	struct rf_world_work work[RF_WORLD_CALLS];
	unsigned works;
	bool failed; /* no memory */
	struct rf_world_result r;
};

/* world_net.c */
void rf_world_net_init(struct rf_world *w);
struct rf_world_link *rf_world_link(struct rf_world *w, bool box, unsigned port, bool up);
/* Puts a copy of a frame on a wire, not before `start`. Returns when the wire is free. */
uint64_t rf_world_send(struct rf_world *w, struct rf_world_link *l, uint64_t start,
		       const uint8_t *data, size_t len);
/* A frame has come into the switch. */
void rf_world_switch(struct rf_world *w, unsigned in, uint8_t *data, size_t len);
uint64_t rf_world_wire(uint64_t rate, size_t len);
/* Addresses. */
uint32_t rf_world_host_ip(const struct rf_world *w, unsigned rank);
void rf_world_host_mac(unsigned rank, uint8_t mac[6]);
uint32_t rf_world_port_ip(unsigned port);
void rf_world_port_mac(unsigned port, uint8_t mac[6]);
void rf_world_router_mac(uint8_t mac[6]);

/* world_box.c */
int rf_world_box_start(struct rf_world *w, char *why, size_t room);
void rf_world_box_frame(struct rf_world *w, unsigned port, const uint8_t *data, size_t len);
uint64_t rf_world_box_time(const struct rf_world *w);
/* Advances it towards a time, or less far if it sent something. */
void rf_world_box_run(struct rf_world *w, uint64_t until);
/* Whether it does something without further input. */
bool rf_world_box_idle(const struct rf_world *w);

/* world_host.c */
int rf_world_hosts_start(struct rf_world *w, char *why, size_t room);
void rf_world_host_frame(struct rf_world *w, unsigned rank, const uint8_t *data, size_t len);
/* Does what is due: calls, timers, sending. */
void rf_world_host_run(struct rf_world *w, unsigned rank);
bool rf_world_host_done(const struct rf_world *w, unsigned rank);
void rf_world_hosts_free(struct rf_world *w);
/* QPN of a queue pair, PSN of the first packet. */
uint32_t rf_world_qpn(const struct rf_world *w, unsigned group, unsigned rank, bool sends);
uint32_t rf_world_psn(const struct rf_world *w, unsigned group, unsigned rank);
struct rf_place rf_world_place(const struct rf_world *w, unsigned rank);

/* world_check.c */
int rf_world_work_make(struct rf_world *w, struct rf_world_work *k);
void rf_world_work_free(struct rf_world *w, struct rf_world_work *k);
void rf_world_work_check(struct rf_world *w, struct rf_world_work *k);

#endif
