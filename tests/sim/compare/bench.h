/*
 * A test bench for a box of either engine: set up by registers, fed with frames; output frames are
 * stored.
 */
#ifndef RF_COMPARE_BENCH_H
#define RF_COMPARE_BENCH_H

#include "rf_regs.h"
#include "sim/engine.h"
#include "sim/model/rf_model.h"
#include "tests/sim/compare/packet.h"

#define BENCH_MAC 0x02f0f0000010u /* base MAC of the box */
#define BENCH_IP 0x0a0000feu      /* 10.0.0.254 */
/* Address of a port for mirror connections. */
#define BENCH_PORT_IP(port) (BENCH_IP - 32u + (port))
#define BENCH_SETTLE 200000u /* cycles within which a box must become idle */

/* One frame that left. */
struct bench_out {
	unsigned int port;
	size_t len;
	uint64_t first, last;
	uint8_t *bytes;
};

/* One rank: both ends of its connection as the box and the hosts know them. */
struct bench_conn {
	unsigned int cid, group, lane, port;
	uint32_t start, shift;
	uint32_t src_ip, dst_ip;    /* addresses of data packets */
	uint32_t data_qpn, ack_qpn; /* destinations of data and of ACKs */
	uint64_t src_mac, dst_mac;
	unsigned int peer_port;
	bool tagged;
	bool mirror; /* dst_ip and dst_mac are the port's */
};

struct bench_group {
	unsigned int number, lanes, dtype, op, mtu_log2, s_log2, level, base_port;
	bool open_loop, transparent, selective, strict, directed;
	uint32_t straggler;  /* timer code, 0: no answer */
	uint8_t members[16]; /* ports of each lane */
	uint32_t dbase, hbase;
	uint32_t start, shift; /* START of rank r is start + 1000 r */
	bool tagged;
	uint64_t mirror;  /* bit r: rank r has a mirror connection */
	bool one_address; /* all mirror ranks have one address */
	unsigned int ranks;
	struct bench_conn conn[64]; /* made by bench_group_start(), lanes ascending, then ports */
};

#define BENCH_ENTRIES 512u /* largest connection table, in entries */

/* What the bench wrote into an entry; value 0: nothing. */
struct bench_place {
	uint32_t ip, key, value;
};

struct bench {
	const struct rf_engine_ops *ops;
	struct rf_engine *e;
	struct rf_engine_cfg cfg;
	uint32_t shape, types; /* its registers SHAPE and TYPES: what the traffic may use */
	struct bench_out *out;
	size_t outs, room;
	uint64_t stall[8]; /* no beat may leave before this cycle */
	struct bench_place table[2][BENCH_ENTRIES];
	bool stuck; /* the box did not become idle */
};

extern const char *const bench_counter_names[RF_CNT_COUNT];

/* The shape used by most tests: 4 ports, one lane, 512 bits. */
void bench_shape(struct rf_engine_cfg *cfg, unsigned int ports, unsigned int lanes,
		 unsigned int width);
/* Creates a box, enabled, without hold. False with a reason on stderr. */
bool bench_open(struct bench *b, const struct rf_engine_ops *ops, const struct rf_engine_cfg *cfg);
void bench_close(struct bench *b);

uint32_t bench_read(struct bench *b, uint32_t addr);
void bench_write(struct bench *b, uint32_t addr, uint32_t value);
uint32_t bench_counter(struct bench *b, unsigned int port, unsigned int counter);
uint32_t bench_conn_read(struct bench *b, unsigned int cid, uint32_t reg);
uint32_t bench_group_read(struct bench *b, unsigned int group, uint32_t reg);

/*
 * Writes an entry of the connection table (an existing key keeps its entry; state 0 frees it).
 * Moves other entries if both places are taken; false if that does not help.
 */
/* Writes PEER_MAC of a connection: of a mirror rank the address it has now. */
void bench_conn_mac(struct bench *b, const struct bench_conn *c);
bool bench_entry(struct bench *b, unsigned int role, uint32_t ip, uint32_t qpn, unsigned int cid,
		 unsigned int state);
/* Registers all ranks of a group and sets it live. False if there is no room for an entry. */
bool bench_group_start(struct bench *b, struct bench_group *g);
/* A group with one rank at each of `ports` ports in each of `lanes` lanes, defaults for the rest.
 */
void bench_group_init(struct bench_group *g, unsigned int number, unsigned int ports,
		      unsigned int lanes);

/* A data packet of a rank; the caller keeps owning the payload. */
void bench_data(const struct bench_conn *c, struct packet *p, uint32_t index, uint8_t opcode,
		const uint8_t *payload, size_t len);
/* An ACK of everything below `una`, as sent by the receiver (shifted PSN). */
void bench_ack(const struct bench_conn *c, struct packet *p, uint32_t una);

void bench_feed(struct bench *b, unsigned int port, const uint8_t *frame, size_t len, bool bad);
void bench_send(struct bench *b, unsigned int port, const struct packet *p);
/*
 * Runs until the box is idle. False, and `stuck` set, if this takes more than BENCH_SETTLE cycles.
 */
bool bench_settle(struct bench *b);
/* Runs this many cycles. */
void bench_run(struct bench *b, uint64_t cycles);
/* Discards the output frames stored so far. */
void bench_clear(struct bench *b);

#endif
