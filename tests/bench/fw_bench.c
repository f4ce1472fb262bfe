/*
 * What the image for the box's processor costs: instructions from power-on, per JOIN, per timer
 * tick, per STATUS, and the virtual time from power-on to the first group that is ready.
 *
 * usage: fw_bench FILE     appends figures as JSON lines; FILE "-": stdout
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "firmware/core/internal.h"
#include "firmware/target/sim/cpu.h"
#include "proto/rf_bytes.h"
#include "tests/unit/fw_box.h"

#define CPU_KHZ 100000u
#define BUS_NS 40u
#define RANKS 4u
#define MANY 8u

static FILE *out;
static bool failed;

struct bench {
	struct fw_box *box;
	struct rf_sim_fw *fw;
	struct rf_hal real;
	uint64_t accesses;
	uint32_t seq;
	uint64_t nonce[MANY];
	unsigned int ranks; /* of each group */
	uint8_t slots_log2; /* the same */
	bool forge;         /* requests get a wrong tag */
};

static uint32_t count_read(void *arg, uint32_t addr)
{
	struct bench *b = arg;

	b->accesses++;
	return b->real.read(b->real.arg, addr);
}

static void count_write(void *arg, uint32_t addr, uint32_t value)
{
	struct bench *b = arg;

	b->accesses++;
	b->real.write(b->real.arg, addr, value);
}

static void figure(const char *name, double value, const char *unit, double limit)
{
	bool ok = limit == 0 || value <= limit;

	fprintf(out, "{\"group\": \"firmware\", \"name\": \"%s\", \"value\": %.10g, ", name, value);
	if (limit != 0)
		fprintf(out, "\"limit\": %.10g, ", limit);
	else
		fprintf(out, "\"limit\": null, ");
	fprintf(out, "\"unit\": \"%s\", \"must\": %s, \"ok\": %s}\n", unit,
		limit != 0 ? "true" : "false", ok ? "true" : "false");
	failed = failed || !ok;
}

/* Instructions until it sleeps again. */
static double poll(struct bench *b)
{
	uint64_t before = rf_sim_fw_instructions(b->fw);

	for (unsigned int i = 0; i < 64; i++)
		if (rf_sim_fw_poll(b->fw) > b->box->cycle)
			break;
	if (rf_sim_fw_fault(b->fw)) {
		fprintf(stderr, "fw_bench: %s\n", rf_sim_fw_fault(b->fw));
		exit(1);
	}
	while (fw_box_out(b->box))
		;
	return (double)(rf_sim_fw_instructions(b->fw) - before);
}

/* A host asks for the box's MAC and learns the nonce with it. */
static double arp(struct bench *b, unsigned int host)
{
	uint8_t frame[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 9, 9, 8, 6,
			     0,    1,    8,    0,    6,    4,    0, 1, 2, 0, 0, 0, 9, 9};
	const struct fw_box_frame *f;
	uint64_t before = rf_sim_fw_instructions(b->fw);

	rf_put_be32(frame + 28, 0x0a000001u + host);
	rf_put_be32(frame + 38, FW_BOX_IP);
	fw_box_punt(b->box, host % 4u, frame, sizeof(frame));
	rf_sim_fw_poll(b->fw);
	f = fw_box_out(b->box);
	if (!f || rf_get_be32(f->data + 42) != RF_CTL_MAGIC) {
		fprintf(stderr, "fw_bench: no answer to ARP\n");
		exit(1);
	}
	b->nonce[host] = rf_get_be64(f->data + 46);
	return (double)(rf_sim_fw_instructions(b->fw) - before);
}

static double request(struct bench *b, const struct rf_ctl_header *head,
		      const struct rf_ctl_request *body, unsigned int host)
{
	static const uint8_t key[RF_CTL_KEY_BYTES] = {1, 2, 3};
	struct rf_ctl_addr to = {.vlan = RF_CTL_NO_VLAN,
				 .src_ip = 0x0a000001u + host,
				 .dst_ip = FW_BOX_IP,
				 .src_port = 50000,
				 .dst_port = RF_CTL_UDP_PORT,
				 .src_mac = {2, 0, 0, 0, 9, 9}};
	struct rf_ctl_header h = *head;
	uint8_t msg[RF_CTL_MESSAGE_MAX], frame[RF_CTL_FRAME_MAX];
	size_t len;

	h.job = 42;
	h.seq = ++b->seq;
	h.nonce = b->nonce[host];
	len = rf_ctl_request_put(msg, &h, body, key);
	msg[48] ^= b->forge;
	fw_box_punt(b->box, host % 4u, frame,
		    rf_ctl_frame_put(frame, sizeof(frame), &to, msg, len));
	return poll(b);
}

static double join(struct bench *b, unsigned int group, unsigned int r)
{
	struct rf_ctl_header h = {.verb = RF_CTL_JOIN,
				  .group = (uint16_t)group,
				  .rank = (uint16_t)r,
				  .token = 100u * group + r + 1u};
	unsigned int qpn = 0x100u + 16u * group;
	struct rf_ctl_request q = {.u.join = {.ranks = (uint16_t)b->ranks,
					      .mtu_log2 = 10,
					      .slots_log2 = b->slots_log2,
					      .port = RF_CTL_NO_PORT,
					      .flags = RF_CTL_J_SHIFTED,
					      .src_ip = 0x0a000001u + r,
					      .qpn = qpn + r,
					      .peer_ip = 0x0a000001u + (r + 1) % b->ranks,
					      .peer_qpn = qpn + (r + 1) % b->ranks,
					      .start_psn = 7,
					      .shift = RF_CTL_SHIFT,
					      .lease_ms = 4000,
					      .deadline_ms = 1000}};

	return request(b, &h, &q, r);
}

/* The largest shape that the firmware serves. */
static void widen(struct fw_box *box)
{
	box->groups = 64;
	box->bank_log2 = 14;
	box->hdr_log2 = 10;
	box->hash_bits = 10;
}

static void start(struct bench *b, const struct rf_fw_key *key, bool wide)
{
	struct rf_sim_fw_cfg cfg = {.kind = RF_SIM_FW_RV32,
				    .hal = {b, count_read, count_write},
				    .program = "build/bin/ringfold-rv32",
				    .image = "build/firmware/ringfold-rv32.elf"};
	char why[200];

	b->box = fw_box_new();
	if (wide)
		widen(b->box);
	b->ranks = RANKS;
	b->slots_log2 = wide ? 4 : 5;
	b->real = b->box->hal;
	b->box->cfg.keys = key;
	b->box->cfg.nkeys = 1;
	if (rf_sim_fw_start(&cfg, &b->box->cfg, &b->fw, why, sizeof(why)) != 0) {
		fprintf(stderr, "fw_bench: %s\n", why);
		exit(1);
	}
}

static void measure(void)
{
	static const struct rf_fw_key key = {.job = 42, .key = {1, 2, 3}};
	static struct bench b;
	struct rf_ctl_header h = {.verb = RF_CTL_STATUS, .group = 0, .rank = 1, .token = 2};
	struct rf_ctl_request q = {.u.status = {.page = RF_CTL_PAGE_GROUP}};
	double n[RANKS], boot, total;

	start(&b, &key, false);
	boot = (double)rf_sim_fw_instructions(b.fw);
	figure("instructions from power-on to ready for requests", boot, "instructions", 0);
	for (unsigned int r = 0; r < RANKS; r++)
		n[r] = arp(&b, r);
	figure("instructions per ARP request", n[0], "instructions", 0);
	for (unsigned int r = 0; r < RANKS; r++)
		n[r] = join(&b, 0, r);
	total = (double)rf_sim_fw_instructions(b.fw) / CPU_KHZ * 1e3 +
		(double)b.accesses * BUS_NS * 1e-3;
	figure("instructions per JOIN, first of 4 ranks", n[0], "instructions", 0);
	figure("instructions per JOIN, last of 4 ranks, which completes the group", n[RANKS - 1],
	       "instructions", 0);
	figure("power-on to first group ready, 100 MHz processor, 40 ns per access", total, "us",
	       1000);
	figure("instructions per STATUS of a group", request(&b, &h, &q, 1), "instructions", 0);
	b.forge = true;
	figure("instructions per request with a wrong tag", request(&b, &h, &q, 1), "instructions",
	       0);
	b.forge = false;
	b.box->cycle += 2000ull * FW_BOX_KHZ;
	figure("instructions per timer tick, 1 group of 4 ranks", poll(&b), "instructions", 0);
	for (unsigned int g = 1; g < 8; g++)
		for (unsigned int r = 0; r < RANKS; r++)
			join(&b, g, r);
	b.box->cycle += 1500ull * FW_BOX_KHZ;
	figure("instructions per timer tick, 8 groups of 4 ranks", poll(&b), "instructions", 0);
	figure("deepest stack seen", rf_sim_fw_stack(b.fw), "bytes", 0);
	rf_sim_fw_stop(b.fw);
	fw_box_free(b.box);
}

/* All that the processor does for a group of eight ranks while `others` are live. */
static void measure_many(unsigned int others, bool wide, const char *name)
{
	static const struct rf_fw_key key = {.job = 42, .key = {1, 2, 3}};
	static struct bench b;
	double n = 0;
	uint64_t before = 0;

	memset(&b, 0, sizeof(b));
	start(&b, &key, wide);
	b.ranks = MANY;
	for (unsigned int r = 0; r < MANY; r++)
		arp(&b, r);
	for (unsigned int g = 0; g <= others; g++) {
		n = 0;
		before = b.accesses;
		for (unsigned int r = 0; r < MANY; r++)
			n += join(&b, g, r);
		if (!(b.box->group[g][RF_GROUP_CFG / 4] & RF_GROUP_CFG_LIVE_MASK)) {
			fprintf(stderr, "fw_bench: group %u is not live\n", g);
			exit(1);
		}
	}
	figure(name, n / CPU_KHZ * 1e3 + (double)(b.accesses - before) * BUS_NS * 1e-3, "us", 2000);
	rf_sim_fw_stop(b.fw);
	fw_box_free(b.box);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: fw_bench FILE\n");
		return 2;
	}
	out = strcmp(argv[1], "-") == 0 ? stdout : fopen(argv[1], "a");
	if (!out) {
		perror(argv[1]);
		return 1;
	}
	if (access("build/bin/ringfold-rv32", X_OK) != 0 ||
	    access("build/firmware/ringfold-rv32.elf", R_OK) != 0) {
		fprintf(stderr, "fw_bench: needs clang, lld and libunicorn-dev\n");
		return 0;
	}
	measure();
	measure_many(7, false,
		     "group of 8 ranks made beside 7 others, 100 MHz processor, 40 ns per access");
	measure_many(63, true,
		     "group of 8 ranks made beside 63 others, 100 MHz processor, 40 ns per access");
	return fclose(out) != 0 || failed ? 1 : 0;
}
