/*
 * One rank of the demo: trains a small net on handwritten digits, data parallel. In every step each
 * rank computes the gradient of its share of the batch, one all-reduce adds the gradients, and all
 * ranks take the same step.
 *
 * With --alone N one process does the work of N ranks without a network, and adds in the order
 * given by --places. Its weights must be equal to those of the ranks, bit for bit.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "demo/net.h"
#include "base/opt.h"
#include "ringfold/ringfold.h"

struct run {
	/* settings */
	const char *data, *weights, *places, *places_out, *box_log;
	unsigned int epochs, batch, hidden, alone;
	uint64_t seed;
	double rate, momentum;
	bool quiet, summary;
	/* the job */
	struct rf_context *ctx;
	struct rf_comm *comm;
	struct rf_order order;
	unsigned int rank, ranks;
	/* work */
	struct digits digits;
	struct net net;
	size_t *turn;    /* the training digits in the order of this epoch */
	float *gradient; /* of this rank; with --alone: those of all ranks, one after another */
	float *sum;
	uint64_t bytes;  /* reduced in this epoch */
	uint64_t cycles; /* of the box, last value read */
};

static int failed(struct run *run, const char *what, int status)
{
	/* before the job has started the rank is unknown */
	if (run->comm)
		fprintf(stderr, "rank %u: ", run->rank);
	fprintf(stderr, "%s: %s: %s\n", what, rf_strerror(status), rf_last_error_text(run->ctx));
	return RF_EXIT_FAILED;
}

/* ---- the order of additions as text: "port.lane,port.lane,..." by rank ---- */

static int places_write(const struct rf_order *order, const char *path)
{
	FILE *file = fopen(path, "we");
	unsigned int r;

	if (!file) {
		perror(path);
		return -1;
	}
	if (order->schedule == RF_SCHEDULE_RING)
		fputs("ring", file);
	else
		for (r = 0; r < order->ranks; r++)
			fprintf(file, "%s%u.%u", r ? "," : "", order->place[r].port,
				order->place[r].lane);
	fputc('\n', file);
	return fclose(file);
}

static int places_read(struct rf_order *order, const char *text, unsigned int ranks)
{
	unsigned int r;

	order->size = sizeof(*order);
	order->ranks = ranks;
	order->mtu = 1024;
	order->schedule = strcmp(text, "ring") == 0 ? RF_SCHEDULE_RING : RF_SCHEDULE_BOX;
	for (r = 0; r < ranks && order->schedule == RF_SCHEDULE_BOX; r++) {
		char *end;

		order->place[r].port = (unsigned int)strtoul(text, &end, 10);
		if (end == text || *end != '.')
			return -1;
		text = end + 1;
		order->place[r].lane = (unsigned int)strtoul(text, &end, 10);
		if (end == text || *end != (r + 1 < ranks ? ',' : '\0'))
			return -1;
		text = end + 1;
	}
	return 0;
}

/* ---- work ---- */

/* Computes the gradient of rank r's share of the batch that begins at turn[first]. */
static void share(struct run *run, size_t first, unsigned int r, float *gradient)
{
	float scale = 1.0f / (float)(run->batch * run->ranks);
	unsigned int k;

	memset(gradient, 0, (run->net.count + 1) * sizeof(float));
	for (k = 0; k < run->batch; k++) {
		size_t i = run->turn[first + r * run->batch + k];

		net_gradient(&run->net, &run->digits.train[i], scale, gradient);
	}
}

/* Sums the gradients of all ranks into run->sum. */
static int reduce(struct run *run, size_t first)
{
	size_t count = run->net.count + 1;
	const void *inputs[RF_RANKS_MAX];
	unsigned int r;

	run->bytes += count * sizeof(float);
	if (!run->alone) {
		share(run, first, run->rank, run->gradient);
		return rf_allreduce(run->comm, run->gradient, run->sum, count, RF_FP32, RF_SUM);
	}
	for (r = 0; r < run->ranks; r++) {
		inputs[r] = run->gradient + r * count;
		share(run, first, r, run->gradient + r * count);
	}
	return rf_order_apply(&run->order, RF_FP32, RF_SUM, inputs, run->sum, count);
}

static void shuffle(struct run *run, uint64_t *state)
{
	size_t k;

	for (k = run->digits.n_train - 1; k > 0; k--) {
		size_t j = (size_t)(net_random(state) % (k + 1));
		size_t t = run->turn[k];

		run->turn[k] = run->turn[j];
		run->turn[j] = t;
	}
}

static double accuracy(struct run *run)
{
	size_t right = 0;
	size_t k;

	for (k = 0; k < run->digits.n_held; k++)
		right += net_answer(&run->net, &run->digits.held[k]) == run->digits.held[k].label;
	return 100.0 * (double)right / (double)run->digits.n_held;
}

/*
 * Reads the number before " cycles" in the last complete line written by the box; 0 if there is
 * none. The box writes a line every few milliseconds: this waits for one more, so that it covers
 * the whole epoch.
 */
static uint64_t box_cycles(const char *path)
{
	struct timespec pause = {.tv_nsec = 30000000};
	FILE *file = path ? fopen(path, "re") : NULL;
	uint64_t cycles = 0;
	char line[512];

	if (!file)
		return 0;
	nanosleep(&pause, NULL);
	if (fseek(file, -2048, SEEK_END) != 0)
		rewind(file);
	while (fgets(line, sizeof(line), file)) {
		char *at = strchr(line, '\n') ? strstr(line, " cycles") : NULL;

		while (at && at > line && at[-1] >= '0' && at[-1] <= '9')
			at--;
		if (at && *at >= '0' && *at <= '9')
			cycles = strtoull(at, NULL, 10);
	}
	fclose(file);
	return cycles;
}

static bool speaks(const struct run *run)
{
	return run->rank == 0 && !run->quiet;
}

static void show_epoch(struct run *run, unsigned int epoch, double loss)
{
	uint64_t cycles = box_cycles(run->box_log);

	if (isatty(STDOUT_FILENO))
		printf("\r\033[K");
	printf("epoch %3u  loss %8.5f  accuracy %6.2f %%  reduced %" PRIu64 " bytes", epoch, loss,
	       accuracy(run), run->bytes);
	if (run->box_log)
		printf("  box cycles %" PRIu64, cycles - run->cycles);
	putchar('\n');
	fflush(stdout);
	run->cycles = cycles;
	run->bytes = 0;
}

static void show_step(unsigned int epoch, size_t step, size_t steps)
{
	char bar[31];
	size_t k;

	for (k = 0; k < 30; k++)
		bar[k] = k * steps < step * 30 ? '#' : '.';
	bar[30] = '\0';
	printf("\repoch %3u  [%s]", epoch, bar);
	fflush(stdout);
}

static int train(struct run *run)
{
	size_t batch = (size_t)run->batch * run->ranks;
	size_t steps = run->digits.n_train / batch;
	uint64_t random = run->seed * 2 + 1;
	bool tty = speaks(run) && isatty(STDOUT_FILENO);
	unsigned int epoch;
	size_t step;

	for (epoch = 1; epoch <= run->epochs; epoch++) {
		double loss = 0;

		shuffle(run, &random);
		for (step = 0; step < steps; step++) {
			int ret = reduce(run, step * batch);

			if (ret)
				return failed(run, "all-reduce", ret);
			net_step(&run->net, run->sum, (float)run->rate, (float)run->momentum);
			loss += (double)run->sum[run->net.count];
			if (tty)
				show_step(epoch, step + 1, steps);
		}
		if (speaks(run))
			show_epoch(run, epoch, loss / (double)steps);
	}
	return RF_EXIT_GOOD;
}

/* ---- set-up ---- */

static int join(struct run *run)
{
	int ret = rf_context_create(NULL, &run->ctx);

	if (ret)
		return failed(run, "device", ret);
	ret = rf_comm_create(run->ctx, NULL, &run->comm);
	if (ret)
		return failed(run, "job", ret);
	run->rank = rf_comm_rank(run->comm);
	run->ranks = rf_comm_ranks(run->comm);
	run->order.size = sizeof(run->order);
	rf_comm_order(run->comm, &run->order);
	if (run->rank == 0 && run->places_out && places_write(&run->order, run->places_out))
		return RF_EXIT_FAILED;
	return RF_EXIT_GOOD;
}

static int alone(struct run *run)
{
	run->ranks = run->alone;
	if (places_read(&run->order, run->places, run->alone) == 0)
		return RF_EXIT_GOOD;
	fprintf(stderr,
		"--places: expected port.lane of each of %u ranks, separated by commas, or ring\n",
		run->alone);
	return RF_EXIT_USAGE;
}

static int prepare(struct run *run)
{
	size_t k;

	if (digits_load(run->data, &run->digits))
		return RF_EXIT_FAILED;
	if (net_init(&run->net, run->hidden, run->seed))
		return RF_EXIT_FAILED;
	run->turn = calloc(run->digits.n_train, sizeof(*run->turn));
	run->gradient = calloc((run->net.count + 1) * (run->alone ? run->alone : 1), sizeof(float));
	run->sum = calloc(run->net.count + 1, sizeof(float));
	if (!run->turn || !run->gradient || !run->sum)
		return RF_EXIT_FAILED;
	for (k = 0; k < run->digits.n_train; k++)
		run->turn[k] = k;
	if ((size_t)run->batch * run->ranks <= run->digits.n_train && run->batch)
		return RF_EXIT_GOOD;
	fprintf(stderr, "--batch: expected 1 or more, and at most %zu digits over all ranks\n",
		run->digits.n_train);
	return RF_EXIT_USAGE;
}

static int report(struct run *run)
{
	FILE *file;

	if (speaks(run) || run->summary)
		printf("weights %016" PRIx64 "  accuracy %.2f %%  parameters %zu  ranks %u\n",
		       net_digest(&run->net), accuracy(run), run->net.count, run->ranks);
	if (!run->weights || run->rank)
		return RF_EXIT_GOOD;
	file = fopen(run->weights, "we");
	if (!file ||
	    fwrite(run->net.weight, sizeof(float), run->net.count, file) != run->net.count ||
	    fclose(file)) {
		perror(run->weights);
		return RF_EXIT_FAILED;
	}
	return RF_EXIT_GOOD;
}

static void leave(struct run *run)
{
	rf_comm_destroy(run->comm);
	rf_context_destroy(run->ctx);
	digits_free(&run->digits);
	net_free(&run->net);
	free(run->turn);
	free(run->gradient);
	free(run->sum);
}

int main(int argc, char **argv)
{
	struct run run = {.data = "tests/data/digits/digits.csv",
			  .places = "0.0,1.0,2.0,3.0",
			  .epochs = 30,
			  .batch = 24,
			  .hidden = 48,
			  .seed = 1,
			  .rate = 0.2,
			  .momentum = 0.9};
	const struct rf_opt table[] = {
		{RF_OPT_STRING, "data", 0, &run.data, "FILE", "the digits (CSV)", NULL},
		{RF_OPT_UINT, "epochs", 0, &run.epochs, "N", "passes over all digits", NULL},
		{RF_OPT_UINT, "batch", 0, &run.batch, "N", "digits per rank and step", NULL},
		{RF_OPT_UINT, "hidden", 0, &run.hidden, "N", "hidden units", NULL},
		{RF_OPT_U64, "seed", 0, &run.seed, "N", "for the weights and the order", NULL},
		{RF_OPT_STRING, "weights", 0, &run.weights, "FILE",
		 "write the final weights (fp32, rank 0)", NULL},
		{RF_OPT_STRING, "places-out", 0, &run.places_out, "FILE",
		 "write the order of additions (rank 0)", NULL},
		{RF_OPT_STRING, "box-log", 0, &run.box_log, "FILE",
		 "output of `ringfold box --stats`, to show its cycles", NULL},
		{RF_OPT_FLAG, "quiet", 'q', &run.quiet, NULL, "print nothing", NULL},
		{RF_OPT_FLAG, "summary", 0, &run.summary, NULL, "print only the last line", NULL},
		{RF_OPT_HEADING, NULL, 0, NULL, NULL, "without a network:", NULL},
		{RF_OPT_UINT, "alone", 0, &run.alone, "N", "do the work of N ranks in this process",
		 NULL},
		{RF_OPT_STRING, "places", 0, &run.places, "TEXT", "add in this order", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		"ringfold train [options]",
		"One rank of the demo: trains a network on handwritten digits; the gradients are "
		"added "
		"by\n"
		"ringfold. Rank and number of ranks come from the environment (RF_RANK, RF_SIZE "
		"...).",
		"  RF_RANK=0 RF_SIZE=4 RF_DEVICE=... ringfold train --epochs 5\n"
		"  ringfold train --alone 4 --places 0.0,1.0,2.0,3.0     the same sums, no network",
		table,
	};
	int n = rf_opt_parse(&page, argc, argv);
	int ret;

	if (n < 0)
		return n == -1 ? RF_EXIT_GOOD : RF_EXIT_USAGE;
	if (n < argc || run.alone > RF_RANKS_MAX || !run.hidden || run.hidden > 4096) {
		fprintf(stderr, "ringfold train: see --help\n");
		return RF_EXIT_USAGE;
	}
	ret = run.alone ? alone(&run) : join(&run);
	if (!ret)
		ret = prepare(&run);
	if (!ret)
		ret = train(&run);
	if (!ret)
		ret = report(&run);
	leave(&run);
	return ret;
}
