/*
 * Measures the cost of packet loss in virtual time: bench_loss FILE appends JSON lines. N = 8, 100
 * Gb/s, 1 us, 16 MB fp32, independent loss on all links in both directions, against the same run
 * without loss. Selective groups must not cost more than in the build of loss_before.h.
 *
 *	bench_loss FILE [SEEDS [MTU LOSS KIND [rtl]]]
 *
 * KIND: nak, selective, transparent, ring; `-` for MTU, LOSS or KIND means all of them. With rtl
 * the seeds run on the Verilated box too (minutes each), and its times must be those of the model,
 * within 1 %. A straggler of 20 s must cost only its own time; this is measured without loss.
 *
 * A failed run has no time: every figure that depends on it is null and not ok.
 *
 * Whether a packet is lost depends on its link, its kind, its PSN, how often it crossed that link
 * before, and the seed, but not on the time. So an engine that is some cycles late loses the same
 * packets.
 *
 * RF_LOSS_VERBOSE=1 prints every run.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "sim/cosim/load.h"
#include "sim/fabric/fabric.h"
#include "base/rng.h"
#include "sim/model/rf_model.h"
#include "tests/sim/loss_before.h"

#define BYTES (UINT64_C(16) << 20)
#define DEFAULT_SEEDS 20u
#define STRAGGLER_NS (20 * RF_SEC)
#define STRAGGLER_LIMIT 5 /* percent of the lossless time */
#define RTL_LIMIT 1       /* percent */

enum kind { NAK, SELECTIVE, TRANSPARENT, RING, KINDS };

static const char *const kind_names[KINDS] = {"nak", "selective", "transparent", "ring"};
static const double losses[] = {0, 1e-5, 1e-4, 1e-3, 1e-2};
#define LOSSES (sizeof(losses) / sizeof(losses[0]))

/*
 * Number of transmissions by link, kind and the low bits of the PSN, which the box does not change.
 */
#define LINKS 32u /* hosts and box ports, up and down */
#define PSNS (1u << 15)
enum { DATA, ACK, NAKS_OF_ALL_KINDS, CONTROL, PACKETS };

struct losses {
	double chance;
	uint64_t seed;
	uint16_t times[LINKS][PACKETS][PSNS];
};

static FILE *out;
static unsigned failures;
static const struct rf_engine_ops *rtl; /* NULL: only the model */

/* Largest cost of a loss rate over the lossless time, in %; 0: no limit. */
static double limit_of(enum kind kind, unsigned mtu, double loss, unsigned seeds)
{
	if (kind == NAK && loss == 1e-4)
		return mtu == 1024 ? 50 : 25;
	if (kind != SELECTIVE)
		return 0;
	return seeds == DEFAULT_SEEDS ? loss_before(mtu, loss) : loss_before_few(loss);
}

static void figure(const char *name, double value, double limit)
{
	bool ok = !isnan(value) && (limit == 0 || value <= limit);
	json_t *o = json_pack("{ss ss so ss sb sb}", "group", "loss", "name", name, "value",
			      isnan(value) ? json_null() : json_real(value), "unit", "%", "must",
			      limit > 0, "ok", ok);

	json_object_set_new(o, "limit", limit > 0 ? json_real(limit) : json_null());
	json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
	fputc('\n', out);
	fflush(out);
	json_decref(o);
}

/*
 * What kind of packet a frame is, and its PSN. Hosts' frames have no tag; ICMP and the like count
 * as control.
 */
static unsigned int kind_of(const uint8_t *frame, size_t len, uint32_t *psn)
{
	const uint8_t *bth = frame + 14 + 20 + 8;

	*psn = 0;
	if (len < 14 + 20 + 8 + 16 || rf_get_be16(frame + 12) != 0x0800 ||
	    rf_get_be16(frame + 36) != 4791)
		return CONTROL;
	*psn = rf_get_be24(bth + 9);
	if (bth[0] != 0x11)
		return DATA;
	return bth[12] < 0x20 ? ACK : NAKS_OF_ALL_KINDS;
}

/* See the comment at the top of the file. */
static bool passes(void *arg, bool box, unsigned port, bool up, uint64_t ns, const uint8_t *frame,
		   size_t len)
{
	struct losses *l = arg;
	unsigned int link = port << 2 | (unsigned int)box << 1 | (unsigned int)up, kind;
	uint32_t psn;
	struct rf_rng rng;

	(void)ns;
	kind = kind_of(frame, len, &psn);
	rng = rf_rng_make(l->seed, (uint64_t)l->times[link][kind][psn % PSNS]++ << 32 |
					   (uint64_t)link << 24 | kind << 20 | psn % PSNS);
	return !rf_rng_chance(&rng, l->chance);
}

static void describe(struct rf_fabric_cfg *c, enum kind kind, unsigned mtu, unsigned seed,
		     const struct rf_engine_ops *engine)
{
	rf_fabric_cfg_init(c);
	c->ranks = 8;
	c->ports = 8;
	c->mtu = mtu;
	c->engine = kind == RING ? NULL : engine;
	c->schedule = kind == RING ? RF_RUN_RING : RF_RUN_BOX;
	c->transparent = kind == TRANSPARENT;
	c->selective = kind == SELECTIVE;
	c->rate = UINT64_C(100000000000);
	c->delay_ns = 1000;
	c->seed = seed;
	/*
	 * The box requests missing packets; the timer is only needed for losses it cannot detect,
	 * the last packets.
	 */
	c->ack_timeout_ns = kind == SELECTIVE ? 40 * RF_USEC : 100 * RF_USEC;
	c->ack_timeout_max_ns = 20 * RF_MSEC;
	c->retry_cnt = 255;
}

/* Time of one all-reduce in ns; NAN if the run failed. Rank 3 starts this much later. */
static double run(enum kind kind, unsigned mtu, double loss, unsigned seed,
		  const struct rf_engine_ops *engine, uint64_t late)
{
	struct rf_fabric_cfg c;
	struct rf_fabric_stats s;
	struct losses *l = calloc(1, sizeof(*l));
	struct rf_fabric *f;
	char why[200];
	double ns = NAN;

	if (!l) {
		perror("bench_loss");
		exit(1);
	}
	l->chance = loss;
	l->seed = seed;
	describe(&c, kind, mtu, seed, engine);
	if (rf_fabric_create(&c, &f, why, sizeof(why)) != 0) {
		fprintf(stderr, "bench_loss: %s\n", why);
		failures++;
		free(l);
		return NAN;
	}
	rf_fabric_set_filter(f, passes, l);
	if (rf_fabric_allreduce(f, 256) != 0 || rf_fabric_all(f, RF_STEP_WAIT, 0) != 0 ||
	    rf_fabric_all(f, RF_STEP_BARRIER, 0) != 0 ||
	    (late && rf_fabric_step(f, 3, RF_STEP_COMPUTE, late) != 0) ||
	    rf_fabric_allreduce(f, BYTES / 4) != 0 || rf_fabric_all(f, RF_STEP_LEAVE, 0) != 0 ||
	    rf_fabric_run(f, 100 * RF_SEC) != 1 || !rf_fabric_good(f)) {
		fprintf(stderr, "bench_loss: %s, MTU %u, loss %g, seed %u: not good: %s %s\n",
			kind_names[kind], mtu, loss, seed, rf_fabric_why(f),
			rf_fabric_rank(f, 0)->text);
		failures++;
	} else {
		ns = (double)rf_fabric_op_ns(f, 1);
	}
	rf_fabric_stats(f, &s);
	if (getenv("RF_LOSS_VERBOSE"))
		fprintf(stderr,
			"%s %s %u %g seed %u: %.1f us, %llu repeats, %llu naks, %llu timeouts\n",
			engine->name, kind_names[kind], mtu, loss, seed, ns * 1e-3,
			(unsigned long long)s.repeats, (unsigned long long)s.naks,
			(unsigned long long)s.timeouts);
	rf_fabric_destroy(f);
	free(l);
	return ns;
}

/* Mean over the seeds, in ns; NAN if one of them failed. */
static double mean(enum kind kind, unsigned mtu, double loss, unsigned seeds,
		   const struct rf_engine_ops *engine)
{
	double sum = 0;
	unsigned seed;

	for (seed = 1; seed <= seeds; seed++)
		sum += run(kind, mtu, loss, seed, engine, 0);
	return sum / seeds;
}

/* Runs the same seeds on both engines. */
static void compare(enum kind kind, unsigned mtu, double loss, unsigned seeds, double model)
{
	double ns = mean(kind, mtu, loss, seeds, rtl), off = 100 * (ns / model - 1);
	char name[160];

	snprintf(name, sizeof(name), "16 MB x 8, MTU %u, loss %g, %s: RTL from model's %.0f us",
		 mtu, loss, kind_names[kind], model * 1e-3);
	figure(name, off < 0 ? -off : off, RTL_LIMIT);
}

static void straggler(enum kind kind, unsigned mtu, double base)
{
	double ns = run(kind, mtu, 0, 1, rf_model_engine(), STRAGGLER_NS);
	char name[160];

	snprintf(name, sizeof(name),
		 "16 MB x 8, MTU %u, a straggler of 20 s, %s: beyond its own time", mtu,
		 kind_names[kind]);
	figure(name, 100 * ((ns - (double)STRAGGLER_NS) / base - 1), STRAGGLER_LIMIT);
}

/*
 * The benefit of the box's NAKs at a loss rate: hosts that have only their timers must not be
 * faster.
 */
static void against_timers(unsigned mtu, double loss, double with, double without)
{
	char name[160];

	snprintf(name, sizeof(name), "16 MB x 8, MTU %u, loss %g: with NAKs, of the time without",
		 mtu, loss);
	figure(name, 100 * with / without, 100);
}

static double measure(enum kind kind, unsigned mtu, double loss, unsigned seeds, double *base)
{
	double ns = mean(kind, mtu, loss, loss > 0 ? seeds : 1, rf_model_engine());
	char name[160];

	if (loss == 0)
		*base = ns;
	snprintf(name, sizeof(name), "16 MB x 8, MTU %u, loss %g, %s: over the lossless %.0f us",
		 mtu, loss, kind_names[kind], *base * 1e-3);
	figure(name, 100 * (ns / *base - 1), limit_of(kind, mtu, loss, seeds));
	if (rtl && kind != RING)
		compare(kind, mtu, loss, loss > 0 ? seeds : 1, ns);
	if (loss == 0 && kind != RING && !rtl)
		straggler(kind, mtu, ns);
	return ns;
}

/* Whether an argument selects this. */
static bool wanted(int argc, char **argv, int at, const char *what)
{
	return argc <= at || strcmp(argv[at], "-") == 0 || strcmp(argv[at], what) == 0;
}

int main(int argc, char **argv)
{
	unsigned seeds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : DEFAULT_SEEDS;
	char why[200], number[16];
	unsigned mtu, l;
	int kind;

	if (argc < 2 || seeds == 0) {
		fprintf(stderr, "usage: bench_loss FILE [SEEDS [MTU LOSS KIND [rtl]]]\n");
		return 2;
	}
	out = fopen(argv[1], "a");
	if (!out) {
		perror(argv[1]);
		return 1;
	}
	if (argc > 6 && rf_engine_by_name(argv[6], 8, 1, 512, false, &rtl, why, sizeof(why)) != 0) {
		fprintf(stderr, "bench_loss: %s\n", why);
		return 77;
	}
	for (mtu = 1024; mtu <= 4096; mtu *= 4) {
		double naks[LOSSES] = {0};

		for (kind = NAK; kind < KINDS; kind++) {
			double base = 0, ns;

			snprintf(number, sizeof(number), "%u", mtu);
			if (!wanted(argc, argv, 3, number) ||
			    !wanted(argc, argv, 5, kind_names[kind]))
				continue;
			for (l = 0; l < LOSSES; l++) {
				if (!wanted(argc, argv, 4, "-") && l > 0 &&
				    strtod(argv[4], NULL) != losses[l])
					continue;
				ns = measure((enum kind)kind, mtu, losses[l], seeds, &base);
				if (kind == NAK)
					naks[l] = ns;
				if (kind == TRANSPARENT && l > 0 && naks[l] > 0)
					against_timers(mtu, losses[l], naks[l], ns);
			}
		}
	}
	return fclose(out) != 0 || failures ? 1 : 0;
}
