/*
 * rf_reduce against the reference order of docs/reduction.md, bit-exact and cycle by cycle.
 *
 *   Vrf_reduce [--seed N] [--cycles N] [--violate 1|2|3|4]      random packets on random blocks, side by side
 *   Vrf_reduce --speed N                                    N cycles of full load, prints cycles per second
 *
 * At the end one bit of one result is flipped: the check must see it. --violate breaks the caller's contract in one
 * way; the module's own assertions must then stop the run. Compiled with PORTS, WIDTH, TYPES, LANES as the module's
 * parameters.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <memory>
#include <vector>
#include <verilated.h>
#include "Vrf_reduce.h"
#include "tests/rtl/fp_ref.h"

enum {
	LEVELS = PORTS <= 2 ? 1 : PORTS <= 4 ? 2 : 3,
	ADDER = 5,
	LATENCY = 4 + ADDER * LEVELS,
	PASS_MIN = 7,
	BEATS_MAX = 16,
	LANES_MAX = LANES < 5 ? LANES : 5,
	WORDS = WIDTH / 32,
	ALL = 1 << LEVELS,
};

typedef std::vector<uint32_t> words;

struct result {
	long cycle;
	bool last, bad;
	words data;
};

/* A packet in progress on a block. */
struct packet {
	bool active;
	int base, level, type, what, lanes, beats;
	int lane, beat;
	/* Cycle of the first beat of this pass; no input before it. */
	long start;
	uint32_t member;
	bool is_long;
	/* The sum so far, as fp32 for 16-bit types: two values per word then. */
	std::vector<words> acc;
	/* An operand of the beat was wrong. */
	std::vector<bool> bad;
};

/* Copied operands are words, whatever their type. */
static bool half(const struct packet *k)
{
	return ref::is_half(k->type) && k->what != ref::COPY;
}

static uint32_t random_word(ref::rng &r, int type, uint32_t near)
{
	static const uint16_t corners16[] = { 0x0000, 0x8000, 0x0001, 0x03ff, 0x0400, 0x7bff, 0x7c00, 0xfc00, 0x7c01, 0x7e00,
					      0x007f, 0x0080, 0x7f7f, 0x7f80, 0xff80, 0x7f81, 0x7fc0, 0x3f80, 0x3c00, 0xffff };
	uint32_t a, b, k = r.next();

	if (ref::is_half(type)) {
		a = r.next();
		if ((k & 7) == 0)
			a = (a & 0xffff0000u) | corners16[(k >> 3) % 20];
		if ((k & 0x7000) == 0)
			a = (a & 0xffffu) | (uint32_t)corners16[(k >> 16) % 20] << 16;
		return a;
	}
	if ((k & 7) == 0)
		return near ^ 0x80000000u;
	ref::pair(r, &a, &b);
	return b;
}

struct bench {
	std::unique_ptr<Vrf_reduce> top;
	ref::rng r;
	long now;
	struct packet on[ALL];
	std::deque<struct result> want[PORTS];
	/* Cycle of the last beat that took the long path, per port. */
	long long_last[ALL];
	long results, wrong, flip, packets, bads = 0;
	/* Members whose beat of this cycle is wrong: reported in the next one. */
	uint32_t bad_now = 0;
	int violate;

	bench(uint64_t seed, long flip_at, int how)
		: top(new Vrf_reduce), r(seed), now(0), on(), results(0), wrong(0), flip(flip_at), packets(0), violate(how)
	{
		for (int p = 0; p < ALL; p++)
			long_last[p] = -1000;
		top->rst = 1;
		top->in_bad = 0;
		for (int i = 0; i < 4; i++)
			clock();
		top->rst = 0;
	}
	void clock()
	{
		top->clk = 0;
		top->eval();
		top->clk = 1;
		top->eval();
	}
	bool free_block(int base, int level)
	{
		for (int p = 0; p < ALL; p++)
			if (on[p].active && ((p >= base && p < base + (1 << level)) ||
					     (base >= p && base < p + (1 << on[p].level))))
				return false;
		return base < PORTS;
	}
	void begin(int base, int level)
	{
		struct packet *k = &on[base];

		k->active = true;
		k->base = base;
		k->level = level;
		do {
			k->type = (int)r.below(ref::TYPES_ALL);
		} while (!(TYPES >> k->type & 1));
		do {
			k->what = r.below(3) ? (int)r.below(7) : ref::SUM;
		} while (k->what != ref::COPY && !ref::allowed(k->type, k->what));
		k->lanes = r.below(2) || k->what == ref::COPY ? 1 : 1 + (int)r.below(LANES_MAX);
		k->beats = 1 + (int)r.below(r.below(3) ? 4 : BEATS_MAX);
		k->lane = k->beat = 0;
		k->start = now + (r.below(3) ? 0 : r.below(12));
		k->acc.assign((size_t)k->beats, words());
		packets++;
	}
	/* One beat of one pass: inputs to the module, and the reference. */
	void give(struct packet *k)
	{
		int n = 1 << k->level;
		int values = half(k) ? 2 * WORDS : WORDS;
		words leaf[ALL];
		bool there[ALL];
		bool final = k->lane == k->lanes - 1, bad = false;

		if (k->beat == 0) {
			do {
				k->member = r.next() & r.next() & ((1u << n) - 1);
				if (r.below(2))
					k->member = (1u << n) - 1;
				k->member &= ((1u << PORTS) - 1) >> k->base;
				/* A copy has one operand. */
				if (k->what == ref::COPY)
					k->member = 1u << r.below((uint32_t)(k->base + n > PORTS ? PORTS - k->base : n));
			} while (!k->member);
			k->is_long = k->lanes > 1;
			for (int i = k->base; i < k->base + n; i++)
				if (now - long_last[i] <= ADDER)
					k->is_long = true;
		}
		for (int i = 0; i < n && k->base + i < PORTS; i++) {
			int p = k->base + i;

			there[i] = k->member >> i & 1;
			if (there[i] && r.below(100) == 0) {
				bad_now |= 1u << p;
				bad = true;
			}
			set_control(p, k, there[i], final);
			leaf[i].resize((size_t)values);

			uint64_t a, x64 = 0;

			for (int w = 0; w < WORDS; w++) {
				uint32_t x = random_word(r, k->type, i ? leaf[i - 1][(size_t)w] : 0x3f800000);

				if (ref::is_wide(k->type)) {
					if (w % 2 == 0)
						ref::pair64(r, &a, &x64);
					x = (uint32_t)(x64 >> (w % 2 * 32));
				}

				top->in_data[p * WORDS + w] = x;
				if (!half(k)) {
					leaf[i][(size_t)w] = x;
					continue;
				}
				leaf[i][(size_t)w * 2] = ref::widen(k->type, (uint16_t)x);
				leaf[i][(size_t)w * 2 + 1] = ref::widen(k->type, (uint16_t)(x >> 16));
			}
		}
		for (int i = (k->base + n > PORTS ? PORTS - k->base : n); i < n; i++)
			there[i] = false;
		for (int step = 1; step < n; step *= 2)
			for (int i = 0; i < n; i += 2 * step) {
				if (there[i] && there[i + step])
					ref::vector(k->type, k->what, leaf[i].data(), leaf[i + step].data(),
						    leaf[i].data(), values);
				else if (there[i + step])
					leaf[i] = leaf[i + step];
				there[i] = there[i] || there[i + step];
			}
		words &acc = k->acc[(size_t)k->beat];

		k->bad.resize(k->acc.size());
		if (k->lane == 0)
			k->bad[(size_t)k->beat] = false;
		k->bad[(size_t)k->beat] = k->bad[(size_t)k->beat] || bad;

		if (k->lane == 0)
			acc = leaf[0];
		else
			ref::vector(k->type, k->what, acc.data(), leaf[0].data(), acc.data(), values);
		if (final)
			expect(k, acc);
		if (++k->beat == k->beats)
			next_pass(k, final);
	}
	void set_control(int p, struct packet *k, bool member, bool final)
	{
		top->in_valid |= 1u << p;
		top->in_member |= (unsigned)member << p;
		top->in_first |= (unsigned)(k->lane == 0) << p;
		top->in_final |= (unsigned)final << p;
		top->in_last |= (unsigned)(k->beat == k->beats - 1) << p;
		top->in_level = (top->in_level & ~(3u << (2 * p))) | (unsigned)k->level << (2 * p);
		top->in_dtype = (top->in_dtype & ~(15u << (4 * p))) | (unsigned)k->type << (4 * p);
		top->in_op = (top->in_op & ~(7u << (3 * p))) | (unsigned)k->what << (3 * p);
	}
	void expect(struct packet *k, const words &acc)
	{
		struct result e;

		e.cycle = now + LATENCY + (k->is_long ? ADDER : 0);
		e.last = k->beat == k->beats - 1;
		e.bad = k->bad[(size_t)k->beat];
		e.data.resize(WORDS);
		for (size_t w = 0; w < WORDS; w++)
			e.data[w] = half(k) ? (uint32_t)ref::narrow(k->type, acc[2 * w]) |
						      (uint32_t)ref::narrow(k->type, acc[2 * w + 1]) << 16 :
					      acc[w];
		if (k->what != ref::COPY)
			ref::finish(k->type, e.data.data(), half(k) ? 0 : WORDS);
		for (int p = k->base; p < k->base + (1 << k->level); p++) {
			if (k->is_long)
				long_last[p] = now;
			if (p < PORTS)
				want[p].push_back(e);
		}
	}
	void next_pass(struct packet *k, bool final)
	{
		long min = violate == 1 ? PASS_MIN - 1 : PASS_MIN;
		long next = now + 1;

		if (final) {
			k->active = false;
			return;
		}
		if (next - k->start < min)
			next = k->start + min;
		k->start = next + (r.below(3) ? 0 : r.below(8));
		k->beat = 0;
		k->lane++;
	}
	/* One cycle; `more`: new packets may begin. False when no packet is in progress. */
	bool step(bool more)
	{
		bool busy = false;

		for (int tries = 0; more && tries < PORTS; tries++) {
			int level = (int)r.below(LEVELS + 1);
			int base = (int)r.below(ALL) >> level << level;

			if (r.below(4) && free_block(base, level))
				begin(base, level);
		}
		/* Data that is not valid is random. */
		top->in_valid = 0;
		top->in_member = top->in_first = top->in_final = top->in_last = 0;
		top->in_level = r.next() & ((1u << (2 * PORTS)) - 1);
		top->in_dtype = r.next() & (uint32_t)((1ull << (4 * PORTS)) - 1);
		top->in_op = r.next() & ((1u << (3 * PORTS)) - 1);
		for (int b = 0; b < PORTS; b++) {
			busy = busy || on[b].active;
			if (on[b].active && now >= on[b].start)
				give(&on[b]);
		}
		if (violate == 2 && now > 100 && (top->in_valid & 3) == 3)
			top->in_level ^= 1;
		/* A type that is not built in; and of floats. */
		if (violate == 3 && now > 100)
			top->in_dtype = 0xcccccccc & (uint32_t)((1ull << (4 * PORTS)) - 1);
		if (violate == 4 && now > 100) {
			top->in_dtype = 0;
			top->in_op = 0333333333 & ((1u << (3 * PORTS)) - 1);
		}
		tick();
		return busy;
	}
	void tick()
	{
		uint32_t told = bad_now;

		clock();
		/* Data that is not valid has no error flags. */
		top->in_bad = told;
		bad_now = 0;
		now++;
		for (int p = 0; p < PORTS; p++)
			check(p);
	}
	void check(int p)
	{
		bool valid = top->out_valid >> p & 1;
		bool due = !want[p].empty() && want[p].front().cycle == now;

		if (valid != due) {
			if (wrong++ < 10)
				printf("cycle %ld port %d: out_valid is %d, not %d\n", now, p, valid, due);
			if (due)
				want[p].pop_front();
			return;
		}
		if (!due)
			return;
		struct result &e = want[p].front();

		if ((top->out_last >> p & 1) != e.last && wrong++ < 10)
			printf("cycle %ld port %d: out_last is not %d\n", now, p, e.last);
		if ((top->out_bad >> p & 1) != e.bad && wrong++ < 10)
			printf("cycle %ld port %d: out_bad is not %d\n", now, p, e.bad);
		bads += e.bad;
		if (top->bad && wrong++ < 10)
			printf("cycle %ld: control has lost a bit\n", now);
		for (int w = 0; w < WORDS; w++) {
			uint32_t y = top->out_data[p * WORDS + w];

			if (results++ == flip)
				y ^= 0x100;
			if (y != e.data[(size_t)w] && wrong++ < 10 && flip < 0)
				printf("cycle %ld port %d word %d: %08x, not %08x\n", now, p, w, y, e.data[(size_t)w]);
		}
		want[p].pop_front();
	}
	void run(long cycles)
	{
		while (now < cycles && wrong < 100)
			step(true);
		while (step(false) && wrong < 100)
			continue;
		for (int i = 0; i < LATENCY + 2 * ADDER; i++)
			tick();
		for (int p = 0; p < PORTS; p++)
			wrong += (long)want[p].size();
		if (flip < 0 && bads < 50 && wrong++ < 10)
			printf("only %ld results were wrong from the start\n", bads);
	}
	/* Full load, one lane, one block of all ports. */
	double speed(long cycles)
	{
		top->in_valid = top->in_member = (1u << PORTS) - 1;
		top->in_first = top->in_final = (1u << PORTS) - 1;
		top->in_level = (uint16_t)(LEVELS * 0x5555);
		top->in_dtype = 0;
		top->in_op = 0;

		clock_t begun = ::clock();

		for (long i = 0; i < cycles; i++) {
			top->in_last = (i % 16 == 15) ? (1u << PORTS) - 1 : 0;
			for (int w = 0; w < PORTS * WORDS; w++)
				top->in_data[w] = (uint32_t)(i * 2654435761u + (unsigned)w * 40503u) & 0xbfffffffu;
			clock();
		}
		return (double)cycles / ((double)(::clock() - begun) / CLOCKS_PER_SEC);
	}
};

int main(int argc, char **argv)
{
	uint64_t seed = 1;
	long cycles = 400000 / (PORTS * WORDS) + 20000;
	long speed = 0;
	int violate = 0;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--cycles"))
			cycles = strtol(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--violate"))
			violate = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--speed"))
			speed = strtol(argv[i + 1], NULL, 0);
	}
	if (speed) {
		printf("%.0f cycles/s\n", bench(seed, -1, 0).speed(speed));
		return 0;
	}
	printf("repeat with: %s --seed %llu --cycles %ld\n", argv[0], (unsigned long long)seed, cycles);

	bench b(seed, -1, violate);
	b.run(cycles);
	printf("%ld packets, %ld result words, %ld wrong\n", b.packets, b.results, b.wrong);

	bench flipped(seed, 1000, 0);
	flipped.run(2000);
	if (flipped.wrong != 1) {
		printf("a flipped bit was not seen\n");
		return 1;
	}
	return b.wrong != 0 || b.packets < 100;
}
