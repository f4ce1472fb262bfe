/*
 * rf_conn_table against a map: buckets by the CRC in docs/box.md, hits, misses, empty entries, the sweep after reset,
 * latency.
 *
 *   Vrf_conn_table [--seed N] [--flip]
 *
 * Compiled with HASH_BITS, the module's parameter.
 */
#include <map>
#include <memory>
#include "Vrf_conn_table.h"
#include "tests/rtl/net_ref.h"

using namespace net;

enum { LATENCY = 2, ENTRIES = 1 << HASH_BITS, PLACES = 4, BUCKETS = ENTRIES / PLACES };

struct key {
	unsigned role, qpn;
	uint32_t ip;
	bool operator==(const key &o) const { return role == o.role && qpn == o.qpn && ip == o.ip; }
};

struct entry {
	key k;
	unsigned cid, state;
};

struct answer {
	bool valid, hit;
	unsigned cid, state;
};

/* First entry of a key's bucket. */
static unsigned bucket(const key &k, int table)
{
	uint8_t b[8];
	b[0] = (uint8_t)k.role;
	put24(b + 1, k.qpn);
	put32(b + 4, k.ip);
	const uint32_t c = ~crc32_bits(0xffffffffu, b, 8);
	const uint32_t h = c ^ ((c >> 13 | c << 19) & (c >> 23 | c << 9));
	return PLACES * ((table ? h >> 16 : h) & (BUCKETS - 1));
}

static const char *fault;

int main(int argc, char **argv)
{
	const unsigned long seed = option(argc, argv, "seed", 1);
	const bool flip = flag(argc, argv, "flip");
	std::unique_ptr<Vrf_conn_table> d(new Vrf_conn_table);
	rng r(seed);
	long hits = 0, misses = 0, at_reset = 0, cycle = 0;

	printf("seed %lu; again: %s --seed %lu\n", seed, argv[0], seed);
	/* The same keys all the time: an entry from before a reset must not be found after it. */
	std::vector<key> keys;
	for (int round = 0; round < 4; round++) {
		std::map<std::pair<int, unsigned>, entry> tables;
		answer pipe[LATENCY] = {};
		for (int i = 0; round == 0 && i < ENTRIES; i++)
			keys.push_back({ r.below(3), r.below(1 << 24), (uint32_t)r.next() });
		/* Keys that differ in one bit. */
		for (int i = 0; round == 0 && i < ENTRIES; i++) {
			key k = keys[i];
			const unsigned bit = r.percent(20) ? 56 + r.below(2) : r.below(58);
			if (bit < 24)
				k.qpn ^= 1u << bit;
			else if (bit < 56)
				k.ip ^= 1u << (bit - 24);
			else
				k.role ^= bit - 55;
			keys.push_back(k);
		}
		d->rst = 1;
		d->l_valid = d->w_valid = 0;
		for (int i = 0; i < 3; i++) {
			d->clk = 0;
			d->eval();
			d->clk = 1;
			d->eval();
		}
		d->rst = 0;
		for (long n = 0; n < 40000; n++, cycle++) {
			const key &k = keys[r.below((unsigned)keys.size())];
			const bool look = r.percent(80);
			d->l_valid = look;
			d->l_role = k.role;
			d->l_ip = k.ip;
			d->l_qpn = k.qpn;
			d->w_valid = r.percent(round == 0 ? 90 : 20);
			const key &w = keys[r.below((unsigned)keys.size())];
			entry e = { w, r.below(65536), r.below(4) };
			const int table = (int)r.below(2);
			/* Sometimes in a wrong bucket, that of another role: it must not be found there. */
			key of = w;
			if (r.percent(5))
				of.role ^= 1 + r.below(2);
			const unsigned index = r.percent(95) ? bucket(of, table) + r.below(PLACES) : r.below(ENTRIES);
			d->w_table = table;
			d->w_index = (uint16_t)(index | (HASH_BITS < 16 ? r.below(65536) << HASH_BITS : 0));
			d->w_role = w.role;
			d->w_ip = w.ip;
			d->w_qpn = w.qpn;
			d->w_cid = (uint16_t)e.cid;
			d->w_state = (uint8_t)e.state;
			d->clk = 0;
			d->eval();
			if (d->ready != (n >= BUCKETS))
				fault = "ready";
			const answer &a = pipe[LATENCY - 1];
			if (d->r_valid != a.valid)
				fault = "r_valid";
			if (a.valid && (d->r_hit != a.hit || d->r_cid != a.cid || d->r_state != a.state))
				fault = "answer";
			if (fault != nullptr) {
				printf("cycle %ld: %s\n", cycle, fault);
				return 1;
			}
			/* Table 0 comes first, in it the lowest place. */
			answer now = { look, false, 0, 0 };
			for (int t = 0; t < 2 * PLACES && look && d->ready; t++) {
				auto f = tables.find({ t / PLACES, bucket(k, t / PLACES) + t % PLACES });
				if (f != tables.end() && f->second.k == k && f->second.state != 0 && !now.hit)
					now = { true, true, f->second.cid, f->second.state };
			}
			if (flip && n == 20000)
				now.cid ^= 1;
			if (look)
				(d->ready ? now.hit ? hits : misses : at_reset)++;
			for (int i = LATENCY - 1; i > 0; i--)
				pipe[i] = pipe[i - 1];
			pipe[0] = now;
			if (d->w_valid && d->ready)
				tables[{ table, index }] = e;
			d->clk = 1;
			d->eval();
		}
	}
	printf("%ld hits, %ld misses, %ld during the sweep\n", hits, misses, at_reset);
	if (hits < 1000 || misses < 1000 || at_reset < 4) {
		printf("one side was hardly met\n");
		return 1;
	}
	return 0;
}
