/*
 * Several whole boxes with their firmware (reference model), one parent and leaves below, hosts
 * with real control clients, and one switch that connects all of them. Failures are cmocka's.
 */
#ifndef FW_TREE_H
#define FW_TREE_H

#include "firmware/core/fw.h"
#include "firmware/target/linux/hal.h"
#include "host/control/client.h"
#include "host/roce/wire.h"
#include "sim/engine.h"

#define TREE_BOXES 4u
#define TREE_HOSTS 9u
#define TREE_PORTS 4u
#define TREE_KHZ 250000u
#define TREE_ELEMENTS 256u
#define TREE_JOB 8u
#define TREE_LEASE 400u

struct tree_frame {
	uint8_t data[ROCE_FRAME_MAX];
	size_t len;
	int from; /* box, or -1: a host */
};

struct tree_host {
	struct rf_client client;
	uint8_t mac[6];
	uint32_t ip;
	unsigned int box, rank; /* of its box */
	uint32_t qpn, psn;
	struct rf_ctl_join join;
	uint8_t frame[ROCE_FRAME_MAX]; /* last RoCE frame received */
	size_t len;
	unsigned int count;
	bool mute;
};

struct tree_box {
	struct rf_engine *e;
	struct rf_fw fw;
	struct rf_fw_cfg cfg;
	struct rf_hal hal;
	struct rf_engine_cfg shape;
	uint64_t due, base; /* base: when the box was started; its cycles count from there */
	unsigned int number;
	bool dead;     /* the firmware does nothing, the box passes nothing */
	uint8_t older; /* answers in this version of the protocol */
};

struct tree_lab {
	struct tree_box box[TREE_BOXES];
	struct tree_host host[TREE_HOSTS];
	unsigned int boxes, hosts;
	struct tree_frame queue[256];
	unsigned int head, waiting;
	unsigned int up_frames;       /* control frames from leaves to boxes */
	bool no_notices;              /* answers to JOIN do not reach boxes */
	uint32_t first_qpn, last_qpn; /* in JOINs of boxes */
	unsigned int qpns;            /* how often it has changed */
	uint64_t now;                 /* cycles */
};

extern struct tree_lab tree;

uint32_t tree_box_ip(unsigned int box);
/* Boxes without firmware, hosts without memberships; change box[].cfg and .shape now. */
void tree_init(unsigned int boxes);
/* Starts a box, also again. */
void tree_start_box(unsigned int box);
/* A host at a box. Its JOIN may be changed before tree_join(). */
struct tree_host *tree_add_host(unsigned int box, unsigned int rank, unsigned int ranks);
/* Its JOIN names this uplink, as the next one further up. */
void tree_up(struct tree_host *h, unsigned int parent, unsigned int rank, unsigned int ranks);
/* `leaves` boxes of 3 ranks under box 0, which has no ranks of its own; boxes are started. */
void tree_two_levels(unsigned int leaves);
void tree_join(struct tree_host *h);
void tree_join_all(void);
void tree_run(unsigned int us);
/* Runs until all hosts are in this state, at most so many ms. */
bool tree_until(enum rf_client_state state, unsigned int ms);
bool tree_all(enum rf_client_state state);
/* A host's packet of an index; imm 0: that of an all-reduce. */
void tree_send(const struct tree_host *h, unsigned int index, uint32_t imm);
/* A NAK from the port of box 0 to that of box 1, on the uplink between them. */
void tree_nak_down(void);
/* All-reduce of fp32 of one index by all hosts; compares every bit with the order of the tree. */
void tree_reduce(unsigned int index);
void tree_check(void);
void tree_end(void);

#endif
