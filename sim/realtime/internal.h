#ifndef RF_SIM_REALTIME_INTERNAL_H
#define RF_SIM_REALTIME_INTERNAL_H

#include "firmware/target/sim/cpu.h"
#include "sim/fabric/switch.h"
#include "sim/realtime/box.h"
#include "sim/realtime/events.h"
#include "wire/notes.h"
#include "wire/pcapng.h"

struct rf_rt_frame {
	struct rf_rt_frame *next;
	size_t len;
	uint8_t data[];
};

struct rf_rt_queue {
	struct rf_rt_frame *head;
	struct rf_rt_frame *tail;
	unsigned count;
	uint64_t lost;
};

/* A device that submits frames. */
struct rf_rt_source {
	struct rf_rt_port *port;
	unsigned box;        /* box port of its rule */
	unsigned budget;     /* generators: frames allowed before the box is queried again */
	uint64_t held_since; /* ns, 0: not held */
	uint64_t rx_bytes;
	uint64_t tx_bytes;
	uint64_t released; /* frames admitted although the box has no room, because nothing moved */
};

struct rf_rt {
	struct rf_rt_cfg cfg;
	const struct rf_engine_ops *ops;
	struct rf_engine *engine;
	struct rf_engine_cfg shape;
	struct rf_sim_fw *fw;
	uint64_t fw_at;   /* cycle of wall-clock time */
	uint64_t started; /* ns */
	uint64_t khz;
	uint32_t cycle_high;
	struct rf_switch sw;
	struct rf_rt_source source[RF_RT_PORTS + 8];
	unsigned source_count;
	struct rf_rt_source *host; /* the first entries of source */
	struct rf_rt_source *direct[8];
	struct rf_rt_queue to_box[8];
	struct rf_rt_queue to_direct[8];
	struct rf_rt_queue to_host[RF_RT_PORTS];
	struct rf_pcapng *trace_hosts;
	struct rf_pcapng *trace_box;
	struct rf_notes *notes_hosts;
	struct rf_notes *notes_box;
	struct rf_rt_events *events; /* NULL: nobody reads them */
	struct rf_hal hal;           /* of rf_rt_view() */
	char name[RF_RT_PORTS][32];  /* of hosts, for rf_rt_view() */
	void (*round)(void *arg);    /* NULL: none */
	void *round_arg;
	bool generators_run;
	bool failed;
	bool capture_cut; /* a capture or output file is not complete */
	uint64_t box_in;
	uint64_t box_out;
	uint64_t box_in_bytes[8];
	uint64_t box_out_bytes[8];
	double engine_seconds;
};

/* box.c: callbacks of the engine and the firmware. */
void rf_rt_engine_host(struct rf_rt *b, struct rf_engine_host *host);
struct rf_hal rf_rt_hal(struct rf_rt *b);
/* setup.c: frames towards a source that it had no room for. */
uint64_t rf_rt_lost_towards(const struct rf_rt *b, unsigned source);

#endif
