/*
 * The box as the simulator sees it: frames in and out, a register bus, a clock. One interface,
 * three implementations: the Verilated RTL (sim/cosim, a shared object for each shape of box), the
 * reference model (sim/model) and the software box (sim/soft, soft).
 *
 * Time is counted in core clock cycles since creation. Frames are Ethernet frames without FCS, as
 * in docs/box.md. All calls come from one thread.
 */
#ifndef RF_SIM_ENGINE_H
#define RF_SIM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RF_ENGINE_ABI 2u
#define RF_ENGINE_FRAME_MAX                                                                        \
	10240u /* longest frame that rx() takes: jumbo frames are the box's to drop */
#define RF_ENGINE_NEVER UINT64_MAX

/* Shape of the box. The RTL's is fixed when it is built: create() fails where they differ. */
struct rf_engine_cfg {
	unsigned ports;       /* 2..8 */
	unsigned lanes;       /* 1..16 */
	unsigned width;       /* bits of the data path: 64, 128, 256, 512 */
	unsigned groups;      /* number of groups */
	unsigned mtu_max;     /* largest path MTU, 256..4096 */
	unsigned bank_log2;   /* log2 of beats in one lane of a bank */
	unsigned hdr_log2;    /* log2 of header slots of one lane */
	unsigned hash_bits;   /* log2 of entries of one connection table */
	unsigned clock_khz;   /* for the CLOCK_KHZ register: 250000 */
	uint64_t seed;        /* initial values of what reset does not set (RTL) */
	const char *waveform; /* FST file to write, or NULL (RTL only) */
};

/* What the engine calls while it runs. */
struct rf_engine_host {
	void *arg;
	/* A frame has left by a port: its first beat in cycle first, its last in cycle last. Valid
	 * only during the call. */
	void (*tx)(void *arg, unsigned port, const uint8_t *frame, size_t len, uint64_t first,
		   uint64_t last);
	/* Whether the MAC takes a beat on this port in this cycle (its FIFO has room). NULL:
	 * always. */
	bool (*tx_ready)(void *arg, unsigned port, uint64_t cycle);
};

struct rf_engine; /* one box */

struct rf_engine_ops {
	unsigned abi;     /* RF_ENGINE_ABI */
	const char *name; /* "rtl", "model" or "soft" */
	/* The shape that this implementation was built for; zero where it takes any. */
	void (*shape)(struct rf_engine_cfg *cfg);
	/* NULL on failure, with a reason of at most room bytes in why. host is copied. */
	struct rf_engine *(*create)(const struct rf_engine_cfg *cfg,
				    const struct rf_engine_host *host, char *why, size_t room);
	void (*destroy)(struct rf_engine *e);
	/*
	 * Queue a frame at a port. Its beats enter the box one per cycle from the current cycle on,
	 * after those of frames queued before. bad: the MAC marks it as damaged. The bytes are
	 * copied. False if the queue (64 frames) is full.
	 */
	bool (*rx)(struct rf_engine *e, unsigned port, const uint8_t *frame, size_t len, bool bad);
	/* Frames queued at a port whose last beat has not entered yet. */
	unsigned (*rx_queued)(const struct rf_engine *e, unsigned port);
	/* Run until the given cycle, or return earlier, after a cycle in which a frame left or the
	 * interrupt line rose. */
	void (*run)(struct rf_engine *e, uint64_t until);
	uint64_t (*cycle)(const struct rf_engine *e);
	/*
	 * First cycle in which something can happen without further input: the current one while
	 * anything is in flight, RF_ENGINE_NEVER when the box is quiescent. A quiescent box may be
	 * moved ahead with jump().
	 */
	uint64_t (*next_event)(const struct rf_engine *e);
	void (*jump)(struct rf_engine *e, uint64_t cycle);
	bool (*irq)(const struct rf_engine *e);
	/* Register bus (rtl/control/registers.txt). The RTL spends a few cycles on each. Unknown
	 * addresses read 0. */
	uint32_t (*reg_read)(struct rf_engine *e, uint32_t addr);
	void (*reg_write)(struct rf_engine *e, uint32_t addr, uint32_t value);
	/* Clock cycles that were really evaluated (jumps excluded): for speed figures. */
	uint64_t (*evaluated)(const struct rf_engine *e);
	/*
	 * For tests: moves a live group ahead as if every index below had been sent and
	 * acknowledged, millions of packets in no time. No packet of the group has come yet; index
	 * is a multiple of 2 S. False where this engine cannot.
	 */
	bool (*move)(struct rf_engine *e, unsigned group, uint32_t index);
	/* For tests: NULL, or what is still on its way, waits in a queue or has not been given
	 * back. */
	const char *(*leak)(const struct rf_engine *e);
};

/* The reference model, and the software box (soft/): linked in. */
const struct rf_engine_ops *rf_model_engine(void);
const struct rf_engine_ops *rf_soft_engine(void);

/*
 * The RTL: symbol exported by the shared objects build/vl/box-*.so, found by shape with
 * sim/cosim/load.h.
 */
#define RF_ENGINE_SYMBOL "rf_rtl_engine"
typedef const struct rf_engine_ops *rf_engine_entry(void);

#endif
