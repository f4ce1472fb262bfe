/*
 * A fake box for firmware tests: registers that behave as described in registers.txt, a punt queue,
 * a list of injected frames, and a clock that the test advances. It does not process data. It
 * checks rules for the firmware (fw_box_fault): group registers are not written while live, no
 * frame is injected while busy.
 */
#ifndef FW_BOX_H
#define FW_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uplink_regs.h"
#include "firmware/core/fw.h"
#include "firmware/target/linux/hal.h"
#include "rf_regs.h"

#define FW_BOX_IP 0x0a0000feu /* 10.0.0.254 */
#define FW_BOX_FRAMES 256u
#define FW_BOX_HASH_MAX 10u
#define FW_BOX_KHZ 250000u

struct fw_box_frame {
	uint8_t data[1024];
	size_t len;
	unsigned int port;
};

struct fw_box_entry {
	uint32_t ip, key, value;
};

struct fw_box {
	struct rf_fw fw;
	struct rf_fw_cfg cfg;
	struct rf_hal hal;
	/* shape */
	unsigned int ports, lanes, width64, hash_bits, groups, bank_log2, hdr_log2, mtu_log2;
	bool fp16, selective, lag;
	bool mirror, directed, uplinks; /* not in the default shape; before the start */
	uint32_t types;                 /* TYPES */
	/* state */
	uint64_t cycle;
	uint32_t ctrl, hold_ports, mac_hi, mac_lo, ip, high;
	uint32_t parity; /* the PARITY register; not 0: parity error */
	unsigned int restarts;
	uint32_t hash_ip, hash_key, hash_value;
	uint32_t port_ip[8];
	struct fw_box_entry table[2][1u << FW_BOX_HASH_MAX];
	uint32_t group[RF_GROUP_COUNT][16];
	uint32_t conn[RF_CONN_COUNT][16];
	uint32_t uplink[RF_UPLINK_COUNT][8];
	uint32_t counter[8][128];
	uint32_t inject_word[256];
	/*
	 * held frames, shown and waiting; expected sources of tombstones, and whether they were
	 * seen
	 */
	struct fw_box_held {
		bool there;
		uint32_t ip, key, src;
	} held, held_wait[8];
	bool held_missed;
	uint32_t tomb_src, tomb[2u << FW_BOX_HASH_MAX][2], tomb_shown;
	bool tomb_seen[2u << FW_BOX_HASH_MAX];
	uint32_t lag_status, lag_cycles; /* a measurement, until the next one is armed */
	unsigned int lag_arms;
	unsigned int busy;   /* reads of INJECT_STATUS that still return busy ... */
	uint32_t busy_ports; /* ... for these ports; all by default */
	unsigned int hash_writes;
	struct fw_box_frame punt[FW_BOX_FRAMES];
	unsigned int punt_head, punt_count;
	struct fw_box_frame out[FW_BOX_FRAMES];
	unsigned int out_head, out_count;
	bool mutant_missed; /* MISSED is not reported */
	bool mutant_life;   /* tombstones see no packets */
	/* called before CTRL changes to a value */
	void (*on_ctrl)(struct fw_box *b, uint32_t value);
	/* called after each HASH_WRITE */
	void (*on_hash)(struct fw_box *b, void *arg);
	void *on_hash_arg;
	const char *fault;
};

/* Default shape: 4 ports, 16 lanes, 512 bits, 8 groups. Change fields before the start. */
struct fw_box *fw_box_new(void);
/* The nonce that a client at this address would have learned from the box created last. */
uint64_t fw_box_nonce(uint32_t ip);
void fw_box_free(struct fw_box *b);
/* rf_fw_init() with cfg; returns its result. */
int fw_box_start(struct fw_box *b);

void fw_box_punt(struct fw_box *b, unsigned int port, const uint8_t *frame, size_t len);
/* The oldest injected frame or NULL. */
const struct fw_box_frame *fw_box_out(struct fw_box *b);
/*
 * Calls rf_fw_poll() until no punted frame waits, then rf_fw_check() and the box's own checks.
 * NULL, or a description of the fault.
 */
const char *fw_box_poll(struct fw_box *b);
/* Advances the time by ms milliseconds, polling whenever the firmware requested it. */
const char *fw_box_run(struct fw_box *b, unsigned int ms);
/*
 * A data packet with a correct ICRC, handled as in lines 21 and 22 of box.md. True: it passes as
 * foreign.
 */
bool fw_box_data(struct fw_box *b, unsigned int port, uint32_t src_ip, uint32_t ip, uint32_t qpn);
/* Moves ranks of a live group ahead or leaves them, some with everything acknowledged, some not. */
void fw_box_progress(struct fw_box *b, unsigned int record, uint32_t random);
/* Value of a key in the hardware's table; 0: absent. */
uint32_t fw_box_lookup(const struct fw_box *b, uint32_t ip, uint32_t key);

#endif
