/*
 * Shared code of the benches of single modules: a clock, named checks and the proof that each of
 * them can fail.
 *
 *   Vrf_NAME [--seed N] [--flip]
 *
 * A bench is a function that drives its module from a seed and compares it with its own
 * reference. Every comparison has a name. With --flip the function runs once more for each name,
 * with one comparison of that name inverted. If that run still passes, this is an error. So every
 * check is reached, and its failure is reported.
 */
#ifndef RF_TESTS_UNIT_H
#define RF_TESTS_UNIT_H

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include "tests/rtl/net_ref.h"

namespace unit
{

using net::bytes;
using net::rng;

struct failure {
};

class bench
{
      public:
	rng r;
	long cycle = 0;
	std::map<std::string, long> counts;
	/* The inverted comparison: its name, and how many of that name come before it. */
	std::string turned;
	long turned_at = 0;
	bool quiet = false;

	explicit bench(uint64_t seed) : r(seed)
	{
	}

	void same(const char *what, uint64_t is, uint64_t want)
	{
		if (passes(what, is == want))
			return;
		if (!quiet)
			printf("cycle %ld: %s: is %llx, must be %llx\n", cycle, what,
			       (unsigned long long)is, (unsigned long long)want);
		throw failure();
	}

	void good(const char *what, bool is)
	{
		if (passes(what, is))
			return;
		if (!quiet)
			printf("cycle %ld: %s\n", cycle, what);
		throw failure();
	}

	void same_bytes(const char *what, const bytes &is, const bytes &want)
	{
		size_t at = 0;

		if (passes(what, is == want))
			return;
		while (at < is.size() && at < want.size() && is[at] == want[at])
			at++;
		if (!quiet)
			printf("cycle %ld: %s: %zu bytes, must be %zu; they differ from byte %zu "
			       "on\n",
			       cycle, what, is.size(), want.size(), at);
		throw failure();
	}

	/* At the end of a run: something happened often enough for the run to be significant. */
	void met(const char *what, long is, long least)
	{
		if (!quiet)
			printf("  %-40s %ld\n", what, is);
		good(what, is >= least);
	}

      private:
	bool passes(const char *what, bool equal)
	{
		const long n = counts[what]++;

		return equal != (turned == what && n == turned_at);
	}
};

/* Reads and writes bits of a port of any width; 64 at most. */
template <class T> static inline uint64_t get(const T &port, unsigned lsb, unsigned n)
{
	return (uint64_t)port >> lsb & (n >= 64 ? ~0ull : (1ull << n) - 1);
}

template <size_t N> static inline uint64_t get(const VlWide<N> &port, unsigned lsb, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)(port[(lsb + i) / 32] >> (lsb + i) % 32 & 1) << i;
	return v;
}

template <class T> static inline void put(T &port, unsigned lsb, unsigned n, uint64_t v)
{
	const uint64_t mask = (n >= 64 ? ~0ull : (1ull << n) - 1) << lsb;

	port = (T)((port & ~mask) | (v << lsb & mask));
}

template <size_t N> static inline void put(VlWide<N> &port, unsigned lsb, unsigned n, uint64_t v)
{
	for (unsigned i = 0; i < n; i++) {
		const unsigned at = lsb + i;

		port[at / 32] = (port[at / 32] & ~(1u << at % 32)) | (uint32_t)(v >> i & 1)
									     << at % 32;
	}
}

static inline bytes noise(rng &r, size_t n)
{
	bytes b(n);

	for (auto &x : b)
		x = (uint8_t)r.next();
	return b;
}

/* A new model; values that Verilog leaves undefined are random. */
template <class V> static inline std::unique_ptr<V> fresh(bench &b)
{
	Verilated::randReset(2);
	Verilated::randSeed((int)b.r.below(1u << 30) + 1);
	return std::unique_ptr<V>(new V);
}

/* The inputs are set: propagate them to the outputs. */
template <class V> static inline void settle(V &d)
{
	d.clk = 0;
	d.eval();
}

template <class V> static inline void tick(bench &b, V &d)
{
	settle(d);
	d.clk = 1;
	d.eval();
	b.cycle++;
}

template <class V> static inline void reset(bench &b, V &d)
{
	d.rst = 1;
	for (int i = 0; i < 3; i++)
		tick(b, d);
	d.rst = 0;
}

static inline bool runs(bench &b, void (*body)(bench &))
{
	try {
		body(b);
	} catch (const failure &) {
		return false;
	}
	return true;
}

static inline int run(int argc, char **argv, void (*body)(bench &))
{
	const unsigned long seed = net::option(argc, argv, "seed", 1);
	bench plain(seed);
	int lost = 0;

	printf("seed %lu; again: %s --seed %lu\n", seed, argv[0], seed);
	if (!runs(plain, body))
		return 1;
	long total = 0;
	for (auto &c : plain.counts)
		total += c.second;
	printf("%ld cycles, %zu checks, %ld comparisons\n", plain.cycle, plain.counts.size(),
	       total);
	if (!net::flag(argc, argv, "flip"))
		return 0;
	for (auto &c : plain.counts) {
		bench b(seed);

		b.quiet = true;
		b.turned = c.first;
		/* Early, so that these runs are short. */
		b.turned_at = std::min<long>(c.second / 2, 200);
		if (runs(b, body)) {
			printf("turned round and not noticed: %s\n", c.first.c_str());
			lost++;
		}
	}
	printf("%zu checks turned round, %d not noticed\n", plain.counts.size(), lost);
	return lost != 0;
}

} /* namespace unit */

#endif
