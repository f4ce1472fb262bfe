/*
 * The software box: docs/box.md in C, written for speed. docs/soft.md describes its design.
 *
 * No socket, no clock, no thread, no allocation after soft_create(): bursts of frames in memory go
 * in, bursts of frames come out.
 *
 *	soft_clock(b, now);
 *	soft_in(b, port, frames, n);         for each port that has received
 *	n = soft_take(b, port, out, most);   for each port with soft_waiting()
 *	... send them ...
 *	soft_done(b, port);
 *
 * All calls for one box come from one thread at a time. Frames are Ethernet frames without FCS.
 * Registers are those of rtl/control/registers.txt.
 */
#ifndef RF_SOFT_SOFT_H
#define RF_SOFT_SOFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOFT_PORTS 8u
#define SOFT_LANES 16u
#define SOFT_GROUPS 64u
#define SOFT_BURST 32u /* frames that soft_in() looks at together */
/* Bytes of a frame buffer that may be read, whatever the length of the frame. */
#define SOFT_FRAME_ROOM 128u

struct soft_cfg {
	unsigned int ports;     /* 2..8 */
	unsigned int lanes;     /* 1..16 */
	unsigned int width;     /* 64, 128, 256, 512: bits of a beat, the unit of DBASE */
	unsigned int groups;    /* 1..64 */
	unsigned int mtu_max;   /* largest path MTU, 256..4096 */
	unsigned int bank_log2; /* log2 of beats in one lane of a bank, 4..20 */
	unsigned int hdr_log2;  /* log2 of header slots of one lane, 2..16 */
	unsigned int hash_bits; /* log2 of entries of one connection table, 3..15 */
	unsigned int clock_khz; /* unit of soft_clock(), and the register CLOCK_KHZ */
};

/* A received frame. The buffer has at least SOFT_FRAME_ROOM bytes, and soft_in() may change it. */
struct soft_frame {
	uint8_t *bytes;
	size_t len;
	bool bad; /* the MAC has marked it as damaged */
};

/* A frame to be sent, valid until soft_done(). */
struct soft_out {
	const uint8_t *bytes;
	size_t len;
};

struct soft_box;

/* NULL on failure, with a reason of at most room bytes in why. */
struct soft_box *soft_create(const struct soft_cfg *cfg, char *why, size_t room);
void soft_destroy(struct soft_box *b);

/* The time, in cycles of clock_khz since any moment. It never goes back. */
void soft_clock(struct soft_box *b, uint64_t now);
/* Judges n frames that came in on a port, and sends what has become complete. */
void soft_in(struct soft_box *b, unsigned int port, const struct soft_frame *frames,
	     unsigned int n);
/* Ports at which a frame waits, one bit each. */
unsigned int soft_waiting(const struct soft_box *b);
/* The next frames of a port, at most `most`, in their order; they are counted as sent. */
unsigned int soft_take(struct soft_box *b, unsigned int port, struct soft_out *out,
		       unsigned int most);
/* The frames taken from a port have been sent: their room is free again. */
void soft_done(struct soft_box *b, unsigned int port);
/*
 * The link of a port is down: what waits there and has not been taken is discarded and counted
 * `tx_down`. Returns the number of frames.
 */
unsigned int soft_discard(struct soft_box *b, unsigned int port);

/* Unknown addresses read 0. */
uint32_t soft_read(struct soft_box *b, uint32_t addr);
void soft_write(struct soft_box *b, uint32_t addr, uint32_t value);
/* The interrupt line. */
bool soft_irq(const struct soft_box *b);

/* The instructions that the sums use: "none", "avx2" or "avx512". */
const char *soft_simd(const struct soft_box *b);
/*
 * Chooses them by name; NULL or "": the widest that the processor has. False if the name is unknown
 * or the processor lacks them.
 */
bool soft_set_simd(struct soft_box *b, const char *name);

/*
 * For tests: moves a live group, of which no packet has come yet, ahead as if every index below had
 * been sent and acknowledged.
 */
void soft_move(struct soft_box *b, unsigned int group, uint32_t index);
/* For tests: NULL, or what still waits or has not been given back. */
const char *soft_leak(const struct soft_box *b);

#endif
