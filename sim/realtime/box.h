/*
 * The real-time form: switch and box in one process, one thread. Whoever is idle sleeps.
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
	bool no_rule;
};

struct rf_rt_cfg {
	const struct rf_engine_ops *engine;
	unsigned ports;
	unsigned lanes;
	unsigned width;
	uint64_t seed;
	const char *wave;
	uint8_t mac[6];
	uint32_t ip;
	enum rf_sim_fw_kind firmware;
	const struct rf_fw_key *keys; /* none: an open lab */
	unsigned nkeys;
	uint64_t hold_ns;
	uint64_t tomb_ns; /* life of tombstones */
	uint64_t lease_ns;
	uint64_t tick_ns; /* a NAK stands so long before another may be made; 0: firmware's default
			   */
	struct rf_rt_attach host[RF_RT_PORTS]; /* ports of the switch */
	unsigned hosts;
	struct rf_rt_attach direct[8]; /* box ports that have no switch in front of them */
	unsigned directs;
	unsigned wait_groups; /* generators begin when so many groups are live */
	const char *pcapng_dir;
	const char *command;
	uint64_t stats_ns;    /* a line on stderr so often; 0: never */
	uint64_t duration_ns; /* 0: no end */
};

struct rf_rt;

void rf_rt_cfg_init(struct rf_rt_cfg *cfg);
/* 0; -EINVAL where a port is described wrong, -1 where something did not succeed; both with a
 * reason in why. The strings of cfg must live as long as the box. */
int rf_rt_create(const struct rf_rt_cfg *cfg, struct rf_rt **out, char *why, size_t room);
/* 0, or -1 where a port failed (told on stderr). */
int rf_rt_run(struct rf_rt *b, const volatile sig_atomic_t *stop);
/* Frames, rule hits, counters of the box that are not zero, speed; on stdout, or as one JSON
 * object. */
void rf_rt_report(struct rf_rt *b, bool json);
void rf_rt_destroy(struct rf_rt *b);

#endif
