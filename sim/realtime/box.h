/*
 * The real-time form: switch and box in one process, one thread. Idle devices sleep.
 *
 *	rf_rt_cfg_init(&cfg); ...
 *	rf_rt_create(&cfg, &b, why, sizeof(why));
 *	rf_rt_run(b, &stop);        until *stop, the duration, or the end of all capture files
 *	rf_rt_destroy(b);
 */
#ifndef RF_SIM_REALTIME_BOX_H
#define RF_SIM_REALTIME_BOX_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/target/sim/cpu.h"
#include "sim/engine.h"
#include "sim/realtime/port.h"

#define RF_RT_PORTS 64u

struct rf_rt_attach {
	const char *name;
	const char *spec;
	unsigned box; /* host port: the rule's box port; box port: its number */
	bool rule;    /* host port: UDP port 4791 is redirected to that port of the box */
};

struct rf_rt_cfg {
	const struct rf_engine_ops *engine;
	unsigned ports;
	unsigned lanes;
	unsigned width;
	bool wide; /* the model with room for 64 groups of 16 slots, and 512 ranks */
	uint64_t seed;
	const char *wave;
	uint8_t mac[6];
	uint32_t ip;
	uint32_t port_ip[8]; /* addresses of the box's ports; 0: none */
	bool port_list;      /* they were chosen by hand: the box announces them */
	unsigned prefix;     /* bits of the box's subnet, 0: not checked */
	uint32_t gateway;    /* 0: none */
	uint64_t probe_ns;   /* between two probes for a port's address; 0: it is used at once */
	enum rf_sim_fw_kind firmware;
	const struct rf_fw_key *keys; /* NULL: anyone may use the box */
	unsigned nkeys;
	uint64_t hold_ns;
	uint64_t tomb_ns; /* life of tombstones */
	uint64_t lease_ns;
	uint64_t tick_ns; /* least time between two NAKs; 0: the firmware's default */
	struct rf_rt_attach host[RF_RT_PORTS]; /* ports of the switch */
	unsigned hosts;
	struct rf_rt_attach direct[8]; /* box ports without a switch in front of them */
	unsigned directs;
	unsigned wait_groups; /* generators begin when this many groups are live */
	const char *pcapng_dir;
	const char *command;
	bool events;          /* lines on stderr as hosts come and go, and groups begin and end */
	bool keep_events;     /* the last ones are kept for rf_rt_view() */
	uint64_t stats_ns;    /* interval of a statistics line on stderr; 0: never */
	uint64_t duration_ns; /* 0: no end */
};

struct rf_rt;

void rf_rt_cfg_init(struct rf_rt_cfg *cfg);
/*
 * Returns 0; -EINVAL if a port specification is invalid, -1 on other failures; both with a reason
 * in why. The strings of cfg must live as long as the box.
 */
int rf_rt_create(const struct rf_rt_cfg *cfg, struct rf_rt **out, char *why, size_t room);
/* rf_rt_run() calls it 200 times a second, between two rounds. It must not block. */
void rf_rt_each_round(struct rf_rt *b, void (*call)(void *arg), void *arg);
/*
 * Runs until *stop is set, the duration is over, or all generators have ended; then closes the
 * capture and output files. Returns 0, or -1 if a port failed or a file is not complete (the reason
 * is on stderr).
 */
int rf_rt_run(struct rf_rt *b, const volatile sig_atomic_t *stop);
/*
 * Prints frames, rule hits, non-zero counters of the box, and speed to stdout, as text or as one
 * JSON object.
 */
void rf_rt_report(struct rf_rt *b, bool json);
void rf_rt_destroy(struct rf_rt *b);

#endif
