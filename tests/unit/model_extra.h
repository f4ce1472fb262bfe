/*
 * What the tests of mirror connections and directed groups share: counted verdicts, and the
 * frame that a box should make of a mirror rank's packet.
 */
#ifndef RF_MODEL_EXTRA_H
#define RF_MODEL_EXTRA_H

#include "tests/unit/model_common.h"

/* Opens a box of 4 ports and `lanes` lanes and starts the group, which bench_group_init() has made
 * and the test changed. */
void extra_start(struct bench *b, struct bench_group *g, unsigned int lanes);
/* Feeds one frame, runs to rest, and wants this counter of the port up by one and no other verdict.
 */
void extra_frame(struct bench *b, unsigned int port, const uint8_t *frame, size_t len,
		 unsigned int counter);
void extra_packet(struct bench *b, unsigned int port, const struct packet *p, unsigned int counter);
/* Data SEND ONLY of 64 bytes of a rank, every element `value`. */
void extra_data(struct bench *b, const struct bench_conn *c, uint32_t index, uint32_t value,
		unsigned int counter);
/* All ranks send an index, 1.0 in every element; then, if asked, all acknowledge it. */
void extra_round(struct bench *b, const struct bench_group *g, uint32_t index, bool ack);
/* Fields of the immediate of a directed group. */
#define EXTRA_WANTS 0x8000u
#define EXTRA_GIVES 0x4000u
#define EXTRA_CODE(op, type) ((uint32_t)(op) << 8 | (uint32_t)(type) << 4)
/* SEND ONLY WITH IMMEDIATE of a rank: `imm` without the index; the caller keeps the payload. */
void extra_directed(const struct bench_conn *c, struct packet *p, uint32_t index, uint32_t imm,
		    const uint8_t *payload, size_t len);
/* The checksum of an untagged frame's IP header, its lengths and its ICRC are right. */
void extra_ip_sound(const struct bench_out *o);
/* The only frame that left by a port since the last bench_clear(). */
const struct bench_out *extra_of_port(const struct bench *b, unsigned int port);
/* What left by the port is p as the box returns it: addresses exchanged, TTL 64, `bth8`. */
void extra_returned(const struct bench *b, unsigned int port, const struct packet *p,
		    const uint8_t *payload, size_t len, uint8_t bth8);

#endif
