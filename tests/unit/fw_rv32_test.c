/*
 * The firmware's two builds on one trace: the native build and the image for the box's processor
 * get the same frames, errors, signs of life and times, and must make the same register accesses
 * (address, direction, value) in the same order.
 *
 * usage: fw_rv32_test [SEED [STEPS]]     exit 77 if the image or its emulator was not built
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "firmware/target/settings.h"
#include "firmware/target/sim/cpu.h"
#include "tests/unit/fw_mirror.h"

#define LOG_MAX 65536u
#define KEYS 3u
#define WIDE_GROUPS 64u
#define WIDE_RANKS 8u

static uint64_t seed = 1;
static bool expired = true; /* requests with an expired nonce are among those drawn */
static unsigned int steps = 1500;
static const char *program;
static const char *image;

struct access {
	bool write;
	uint32_t addr, value;
};

/* One build with its own box. */
struct side {
	struct fw_box *box;
	struct rf_sim_fw *fw;
	struct rf_hal real;
	struct access log[LOG_MAX];
	unsigned int logged;
	bool wrong; /* flips one bit of one write, which the comparison must detect */
};

static struct side sides[2];
static uint64_t accesses, writes;

/* The nonce that a client would have; sometimes an expired one. */
static uint64_t nonce(uint32_t ip)
{
	static uint64_t old;
	/* On a copy, because the call makes a new nonce if the old one has expired. */
	static struct rf_fw copy;
	uint64_t now;

	copy = *rf_sim_fw_native(sides[0].fw);
	now = rf_fw_nonce(&copy, ip);

	if (expired && seed % 97u == 0)
		return old;
	old = now;
	return now;
}

static uint32_t rnd(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static void note(struct side *s, bool write, uint32_t addr, uint32_t value)
{
	assert_true(s->logged < LOG_MAX);
	s->log[s->logged++] = (struct access){write, addr, value};
}

static uint32_t side_read(void *arg, uint32_t addr)
{
	struct side *s = arg;
	uint32_t value = s->real.read(s->real.arg, addr);

	note(s, false, addr, value);
	return value;
}

static void side_write(void *arg, uint32_t addr, uint32_t value)
{
	struct side *s = arg;

	s->real.write(s->real.arg, addr, value);
	if (s->wrong && addr == RF_INJECT) {
		value ^= 1u;
		s->wrong = false;
	}
	note(s, true, addr, value);
}

/* Index of the first access that differs, or -1. */
static int compare(void)
{
	unsigned int n = sides[0].logged > sides[1].logged ? sides[0].logged : sides[1].logged;
	int found = -1;

	for (unsigned int i = 0; i < n && found < 0; i++) {
		const struct access *a = &sides[0].log[i], *b = &sides[1].log[i];

		if (i >= sides[0].logged || i >= sides[1].logged || a->write != b->write ||
		    a->addr != b->addr || a->value != b->value)
			found = (int)i;
		else
			writes += a->write;
	}
	accesses += n;
	return found;
}

static void same(void)
{
	int at = compare();

	if (at >= 0) {
		for (unsigned int k = 0; k < 2; k++) {
			const struct access *a = &sides[k].log[at];

			print_error("%s: %u accesses, access %d: %s 0x%06x 0x%08x\n",
				    k ? "rv32" : "native", sides[k].logged, at,
				    a->write ? "write" : "read", (unsigned int)a->addr,
				    (unsigned int)a->value);
		}
		fail();
	}
	sides[0].logged = sides[1].logged = 0;
}

/* The largest shape that the firmware serves. */
static void widen(struct fw_box *b)
{
	b->groups = WIDE_GROUPS;
	b->bank_log2 = 14;
	b->hdr_log2 = 10;
	b->hash_bits = 10;
}

static void start(unsigned int nkeys, bool wide)
{
	static struct rf_fw_key keys[KEYS];

	for (unsigned int i = 0; i < KEYS; i++) {
		keys[i].job = i;
		memset(keys[i].key, (int)(i * 37u), sizeof(keys[i].key));
	}
	for (unsigned int k = 0; k < 2; k++) {
		struct side *s = &sides[k];
		struct rf_sim_fw_cfg cfg = {.kind = k ? RF_SIM_FW_RV32 : RF_SIM_FW_NATIVE,
					    .hal = {s, side_read, side_write},
					    .program = program,
					    .image = image};
		struct rf_fw_cfg fw;
		char why[200] = "";

		s->box = fw_box_new();
		if (wide)
			widen(s->box);
		s->box->mirror = s->box->directed = true;
		s->box->types = 0x3ff;
		s->real = s->box->hal;
		s->logged = 0;
		fw = s->box->cfg;
		fw.hold_ms = 300;
		fw.tomb_ms = 250;
		fw.linger_ms = 400;
		fw.nonce_ms = 700;
		fw.share_max = wide ? 0 : 12;
		fw.probe_ms = 20;
		fw.announce_ms = 100;
		fw.gateway = 0x0a000063;
		fw.keys = nkeys ? keys : NULL;
		fw.nkeys = nkeys;
		if (rf_sim_fw_start(&cfg, &fw, &s->fw, why, sizeof(why)) != 0)
			print_error("%s\n", why);
		assert_non_null(s->fw);
	}
	same();
}

static void stop(void)
{
	for (unsigned int k = 0; k < 2; k++) {
		assert_null(sides[k].box->fault);
		assert_null(rf_sim_fw_fault(sides[k].fw));
		rf_sim_fw_stop(sides[k].fw);
		fw_box_free(sides[k].box);
	}
}

/* Runs both until they sleep. The frames that they send are equal because the writes are. */
static void poll(void)
{
	for (unsigned int i = 0; i < 64; i++) {
		uint64_t next[2];

		for (unsigned int k = 0; k < 2; k++) {
			next[k] = rf_sim_fw_poll(sides[k].fw);
			while (fw_box_out(sides[k].box))
				;
		}
		assert_true(next[0] == next[1]);
		assert_true(sides[0].box->cycle == sides[1].box->cycle);
		if (next[0] > sides[0].box->cycle)
			break;
	}
}

static void pass(unsigned int ms)
{
	uint64_t end = sides[0].box->cycle + (uint64_t)ms * FW_BOX_KHZ;

	for (;;) {
		uint64_t next = rf_sim_fw_next(sides[0].fw);

		if (next >= end)
			break;
		for (unsigned int k = 0; k < 2; k++)
			if (next > sides[k].box->cycle)
				sides[k].box->cycle = next;
		poll();
	}
	for (unsigned int k = 0; k < 2; k++)
		sides[k].box->cycle = end;
	poll();
}

static void frame_to_both(unsigned int port, const uint8_t *frame, size_t len)
{
	for (unsigned int k = 0; k < 2; k++)
		fw_box_punt(sides[k].box, port, frame, len);
}

static void request(unsigned int nkeys)
{
	uint64_t job = rnd(4), group = rnd(2);
	unsigned int ranks = 2 + rnd(3), rank = rnd(ranks);
	struct fw_ask a = fw_ask_join(rank, ranks);
	uint8_t frame[RF_CTL_FRAME_MAX], key[16];
	struct rf_ctl_join *j = &a.r.u.join;
	static const uint8_t verbs[] = {1, 1, 1, 1, 1, 1, 2, 3, 3, 4};
	size_t len;

	a.h.verb = verbs[rnd(sizeof(verbs))];
	if (rnd(300) == 0)
		a.h.verb = RF_CTL_RESET;
	a.h.job = a.h.verb == RF_CTL_RESET ? 0 : job;
	a.h.group = (uint16_t)group;
	a.h.token = 1 + job * 64 + group * 32 + rank + (rnd(20) == 0 ? 1000 : 0);
	if (rnd(10) == 0)
		a.h.rank = RF_CTL_NO_RANK;
	if (a.h.verb == RF_CTL_JOIN) {
		j->ranks = (uint16_t)(rnd(10) ? 2 + job % 3 : ranks);
		j->qpn = 0x100u * (uint32_t)job + 0x10u * (uint32_t)group + rank;
		j->peer_qpn =
			0x100u * (uint32_t)job + 0x10u * (uint32_t)group + (rank + 1) % j->ranks;
		j->peer_ip = 0x0a000001u + (rank + 1) % j->ranks;
		j->slots_log2 = (uint8_t)(4 + rnd(3));
		if (job == 1) {
			j->flags = 0;
			j->shift = 0;
		}
		if (rnd(5))
			j->slots_log2 = 6;
		j->dtype = (uint8_t)(job & 3);
		j->lease_ms = 200;
	} else if (a.h.verb == RF_CTL_STATUS) {
		a.r.u.status = (struct rf_ctl_status_req){.page = (uint8_t)(1 + rnd(9)),
							  .job = rnd(4),
							  .group = (uint16_t)rnd(2),
							  .index = (uint16_t)rnd(4)};
	} else if (a.h.verb == RF_CTL_ABORT) {
		a.r.u.abort = (struct rf_ctl_abort_req){
			.code = 5, .job = rnd(4), .group = (uint16_t)rnd(2)};
	} else {
		a.h.flags = rnd(2) ? RF_CTL_F_QP_DESTROYED : 0;
	}
	memset(key, nkeys ? (int)(a.h.job * 37u) : 0, sizeof(key));
	a.key = key;
	a.vlan = rnd(8) ? RF_CTL_NO_VLAN : 5;
	len = fw_ask_frame(&a, frame);
	if (rnd(12) == 0)
		frame[rnd((uint32_t)len)] ^= (uint8_t)(1u << rnd(8));
	frame_to_both(a.port, frame, len);
}

/* A group from the first JOIN to the last LEAVE. */
static void whole(unsigned int nkeys)
{
	unsigned int n = 2 + rnd(3), group = 8 + rnd(4);
	uint64_t token = 5000 + rnd(1u << 20);
	bool mirror = rnd(2) != 0;
	uint8_t frame[RF_CTL_FRAME_MAX], key[16];

	memset(key, nkeys ? 2 * 37 : 0, sizeof(key));
	for (unsigned int i = 0; i < 2 * n; i++) {
		struct fw_ask a = fw_ask_join(i % n, n);

		a.key = key;
		a.h.job = 2;
		a.h.group = (uint16_t)group;
		a.h.token = token + i % n;
		a.r.u.join.qpn = 0x1000u + 16u * group + i % n;
		a.r.u.join.peer_qpn = 0x1000u + 16u * group + (i + 1) % n;
		a.r.u.join.slots_log2 = 5;
		if (mirror)
			fw_mirror_form(&a, FW_BOX_IP + 1u, i % n);
		a.h.verb = i < n ? RF_CTL_JOIN : RF_CTL_LEAVE;
		frame_to_both(a.port, frame, fw_ask_frame(&a, frame));
		if (rnd(2))
			poll();
	}
	poll();
}

static void noise(void)
{
	uint8_t frame[RF_CTL_FRAME_MAX];
	size_t len = 60 + rnd(900);

	for (size_t i = 0; i < len; i++)
		frame[i] = (uint8_t)rnd(256);
	if (rnd(2)) {
		memcpy(frame + 12, "\x08\x06\x00\x01\x08\x00\x06\x04\x00\x01", 10);
		frame[38] = 10, frame[39] = 0, frame[40] = 0, frame[41] = 254;
		frame[6] = frame[22] = 2;
		/* Sometimes a claim of the address of a port. */
		if (rnd(2)) {
			frame[21] = (uint8_t)(1 + rnd(2));
			frame[28] = 10, frame[29] = frame[30] = 0;
			frame[31] = (uint8_t)(255 + rnd(4));
		}
	}
	frame_to_both(rnd(4), frame, len);
}

/* Moves one rank or the whole group ahead. */
static void progress(struct fw_box *b, unsigned int cid, uint32_t random)
{
	uint32_t *reg = b->conn[cid];

	if (random & 1u)
		reg[RF_CONN_NEXT / 4] = (reg[RF_CONN_NEXT / 4] + 5u) & 0xffffffu;
	if (random & 2u)
		reg[RF_CONN_UNA / 4] = reg[RF_CONN_NEXT / 4];
	if (random & 4u)
		b->group[cid >> 7][RF_GROUP_HEAD / 4]++;
}

/* Sets a measurement of which rank was last. */
static void measured(struct fw_box *b, unsigned int cid, uint32_t random)
{
	b->lag_cycles = random >> (random & 31u);
	b->lag_status = RF_LAG_STATUS_VALID_MASK | (cid >> 7) << RF_LAG_STATUS_GROUP_LSB |
			(cid >> 3 & 15u) << RF_LAG_STATUS_LANE_LSB | (cid & 7u);
}

/* Actions of the hardware itself: signs of life, errors, counters, a busy inject buffer. */
static void hardware(void)
{
	unsigned int g = rnd(8), cid = g << 7 | rnd(2) << 3 | rnd(4), what = rnd(6);
	uint32_t random = rnd(1u << 31);

	for (unsigned int k = 0; k < 2; k++) {
		struct fw_box *b = sides[k].box;

		if (what == 0 && (b->group[g][0] & 1u))
			b->group[g][RF_GROUP_ERROR / 4] =
				RF_GROUP_ERROR_VALID_MASK | RF_ERROR_LENGTH << 16;
		else if (what == 1)
			b->conn[cid][RF_CONN_SEEN / 4] = 3;
		else if (what == 2)
			b->counter[cid & 3][RF_CNT_TOMBSTONE]++;
		else if (what == 3)
			progress(b, cid, random);
		else if (what == 4)
			measured(b, cid, random);
		else
			b->busy = 3;
	}
}

static void run(unsigned int nkeys, unsigned int count)
{
	start(nkeys, false);
	for (unsigned int i = 0; i < count; i++) {
		uint32_t dice = rnd(100);

		if (dice < 67)
			request(nkeys);
		else if (dice < 70)
			whole(nkeys);
		else if (dice < 76)
			noise();
		else if (dice < 84)
			hardware();
		else
			pass(1 + rnd(dice == 99 ? 900 : 40));
		if (rnd(3))
			poll();
		else
			continue;
		same();
	}
	pass(2000);
	same();
}

static void report(void)
{
	struct rf_fw *fw = rf_sim_fw_native(sides[0].fw);
	uint32_t depth = rf_sim_fw_stack(sides[1].fw);

	assert_null(rf_fw_check(fw));
	print_message(
		"%llu accesses, %llu writes; %u groups ready, %u ended, %u failed, %u leases, "
		"stack %u bytes deep\n",
		(unsigned long long)accesses, (unsigned long long)writes,
		(unsigned int)fw->cnt.groups_ready, (unsigned int)fw->cnt.groups_ended,
		(unsigned int)fw->cnt.groups_failed, (unsigned int)fw->cnt.leases,
		(unsigned int)depth);
	assert_true(depth > 100 && depth < 4096);
	for (unsigned int n = 0; n < rf_fw_counter_count(); n++)
		assert_int_equal(rf_sim_fw_counter(sides[0].fw, n),
				 rf_sim_fw_counter(sides[1].fw, n));
}

static void test_trace(void **state)
{
	struct rf_fw *fw;

	(void)state;
	run(0, steps);
	fw = rf_sim_fw_native(sides[0].fw);
	assert_true(fw->cnt.groups_ready > 10 && fw->cnt.groups_failed > 20 && fw->cnt.leases > 5 &&
		    fw->cnt.groups_ended > 0);
	report();
	stop();
}

static void test_keys(void **state)
{
	struct rf_fw *fw;

	(void)state;
	run(KEYS, steps / 2);
	fw = rf_sim_fw_native(sides[0].fw);
	assert_true(fw->cnt.refused[RF_CTL_R_KEY_UNKNOWN] > 20 && fw->cnt.groups_ready > 3 &&
		    fw->cnt.refused[RF_CTL_R_TAG] > 5);
	report();
	stop();
}

/* A request of a rank of one of the many groups, JOIN or LEAVE, to both. */
static void wide_ask(unsigned int g, unsigned int r, unsigned int ranks, uint8_t verb)
{
	struct fw_ask a = fw_ask_join(r, ranks);
	uint8_t frame[RF_CTL_FRAME_MAX];

	a.h.verb = verb;
	a.h.group = (uint16_t)g;
	a.h.token = 1u + g * RF_FW_RANKS_MAX + r;
	a.r.u.join.qpn = 0x10000u + RF_FW_RANKS_MAX * g + r;
	a.r.u.join.peer_qpn = 0x10000u + RF_FW_RANKS_MAX * g + (r + 1) % ranks;
	a.r.u.join.slots_log2 = 4;
	a.r.u.join.lease_ms = 60000;
	if (g & 1u) /* every other group consists of mirror ranks */
		fw_mirror_form(&a, FW_BOX_IP + 1u, r);
	frame_to_both(a.port, frame, fw_ask_frame(&a, frame));
	poll();
	same();
}

static void wide_group(unsigned int g, unsigned int ranks, uint8_t verb)
{
	for (unsigned int r = 0; r < ranks; r++)
		wide_ask(g, r, ranks, verb);
}

/*
 * All groups and all places of ranks of the largest shape are in use: the next one is refused, and
 * fits after another one has ended.
 */
static void test_wide(void **state)
{
	const struct rf_fw_counters *cnt;

	(void)state;
	expired = false;
	start(0, true);
	cnt = &rf_sim_fw_native(sides[0].fw)->cnt;
	pass(100); /* the addresses of the ports have been probed */
	same();
	for (unsigned int g = 0; g < WIDE_GROUPS; g++)
		wide_group(g, WIDE_RANKS, RF_CTL_JOIN);
	assert_int_equal(cnt->groups_ready, WIDE_GROUPS);
	wide_ask(WIDE_GROUPS, 0, WIDE_RANKS, RF_CTL_JOIN);
	assert_int_equal(cnt->refused[RF_CTL_R_NO_GROUPS], 1);
	pass(1200);
	same();
	wide_group(17, WIDE_RANKS, RF_CTL_LEAVE);
	assert_int_equal(cnt->groups_ended, 1);
	pass(5);
	/* A place of a group is free again, but not for more ranks than have left. */
	wide_ask(WIDE_GROUPS, 0, WIDE_RANKS + 1u, RF_CTL_JOIN);
	assert_int_equal(cnt->refused[RF_CTL_R_NO_RANKS], 1);
	wide_group(WIDE_GROUPS, WIDE_RANKS, RF_CTL_JOIN);
	assert_int_equal(cnt->groups_ready, WIDE_GROUPS + 1u);
	pass(1200);
	same();
	report();
	stop();
	expired = true;
}

/* The comparison detects one wrong bit in one write. */
static void test_mutant(void **state)
{
	struct fw_ask a = fw_ask_join(0, 2);
	uint8_t frame[RF_CTL_FRAME_MAX];

	(void)state;
	start(0, false);
	sides[1].wrong = true;
	frame_to_both(a.port, frame, fw_ask_frame(&a, frame));
	poll();
	assert_true(compare() >= 0);
	stop();
}

/* Settings that the firmware refuses stop the image with the same message as the native build. */
static void test_refused(void **state)
{
	struct fw_box *b = fw_box_new();
	struct rf_sim_fw *f;
	char why[2][200];

	(void)state;
	b->cfg.epoch = 0;
	for (unsigned int k = 0; k < 2; k++) {
		struct rf_sim_fw_cfg cfg = {.kind = k ? RF_SIM_FW_RV32 : RF_SIM_FW_NATIVE,
					    .hal = b->hal,
					    .program = program,
					    .image = image};

		assert_int_equal(rf_sim_fw_start(&cfg, &b->cfg, &f, why[k], sizeof(why[k])), -1);
		assert_null(f);
	}
	assert_string_equal(why[0], why[1]);
	fw_box_free(b);
}

/*
 * The image erases the salt in its page, so a restart of the processor without a fresh salt is
 * refused with that reason.
 */
static void test_salt(void **state)
{
	struct fw_box *b = fw_box_new();
	struct rf_sim_fw_cfg cfg = {
		.kind = RF_SIM_FW_RV32, .hal = b->hal, .program = program, .image = image};
	static struct rf_fw_key keys[RF_SETTINGS_KEYS_MAX];
	uint8_t page[RF_SETTINGS_BYTES];
	struct rf_fw_cfg left;
	struct rf_sim_fw *f;
	char why[200];

	(void)state;
	assert_int_equal(rf_sim_fw_start(&cfg, &b->cfg, &f, why, sizeof(why)), 0);
	rf_sim_fw_page(f, page);
	rf_sim_fw_stop(f);
	assert_true(rf_settings_get(page, &left, keys));
	assert_int_equal(left.epoch, b->cfg.epoch);
	assert_int_equal(left.ip, b->cfg.ip);
	assert_int_equal(rf_sim_fw_start(&cfg, &left, &f, why, sizeof(why)), -1);
	assert_null(f);
	assert_non_null(strstr(why, "no fresh salt"));
	fw_box_free(b);
}

/*
 * A program that exits, missing files, and a file that is not an image are reported, and nothing
 * hangs.
 */
static void test_missing(void **state)
{
	static const struct {
		const char *program, *image, *reason;
	} bad[] = {{"/bin/false", NULL, "has ended"},
		   {"/nonexistent", NULL, "ringfold-rv32 is missing"},
		   {NULL, "/nonexistent", "image is missing"},
		   {NULL, "/dev/null", "has ended"}};
	struct fw_box *b = fw_box_new();

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rf_sim_fw_cfg cfg = {.kind = RF_SIM_FW_RV32,
					    .hal = b->hal,
					    .program = bad[i].program ? bad[i].program : program,
					    .image = bad[i].image ? bad[i].image : image};
		struct rf_sim_fw *f;
		char why[300] = "";

		assert_int_equal(rf_sim_fw_start(&cfg, &b->cfg, &f, why, sizeof(why)), -1);
		assert_null(f);
		assert_non_null(strstr(why, bad[i].reason));
	}
	fw_box_free(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace),   cmocka_unit_test(test_keys),
		cmocka_unit_test(test_mutant),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_missing), cmocka_unit_test(test_salt),
		cmocka_unit_test(test_wide),
	};

	fw_ask_nonce = nonce;
	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		steps = (unsigned int)strtoul(argv[2], NULL, 0);
	program = getenv("RF_RV32_PROGRAM");
	image = getenv("RF_RV32_IMAGE");
	if (!program)
		program = "build/bin/ringfold-rv32";
	if (!image)
		image = "build/firmware/ringfold-rv32.elf";
	if (access(program, X_OK) != 0 || access(image, R_OK) != 0) {
		print_message("needs clang, lld and libunicorn-dev\n");
		return 77;
	}
	print_message("seed %llu; to repeat: build/tests/fw_rv32_test %llu %u\n",
		      (unsigned long long)seed, (unsigned long long)seed, steps);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
