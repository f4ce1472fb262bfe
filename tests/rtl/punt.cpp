/*
 * rf_punt: frames of several ports, with any mixture of gaps, are read from the window whole and in the order in which
 * their last beats arrived. Each port has four places that other ports cannot use. At most two frames of one source
 * wait on a port, and at most one ARP frame waits or is in progress.
 *
 *   Vrf_punt [--seed N] [--flip]
 *
 * Compiled with WIDTH and PORTS, the module's parameters.
 */
#include <deque>
#include <memory>
#include "Vrf_punt.h"
#include "tests/rtl/net_ref.h"

using namespace net;

enum { B = WIDTH / 8, PLACES = 4, OF_ONE = 2 };

struct side {
	std::deque<bytes> todo;		/* taken by the judge, its stream has not arrived yet */
	std::deque<bool> arp;		/* which of those are ARP */
	bool held_arp = false;
	size_t at = 0;
	bool held = false;
	long places = 0;
};

/* A frame whose last beat was taken: the verdict on its source comes two cycles later. */
struct ending {
	long due;
	int port;
	bytes frame;
	bool arp;
};

static long cycle;

static void check(bool good, const char *what)
{
	if (!good) {
		printf("cycle %ld: %s\n", cycle, what);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	const unsigned long seed = option(argc, argv, "seed", 1);
	std::unique_ptr<Vrf_punt> d(new Vrf_punt);
	rng r(seed);
	side sides[PORTS];
	std::deque<std::pair<int, bytes>> done;
	std::deque<bool> done_arp;
	std::deque<ending> endings;
	long moved = 0, read = 0, refused = 0, reserved = 0, most = 0, forgotten = 0, alone = 0, arps = 0;
	unsigned p_take = 5, p_send = 80, p_read = 50;
	/* The reader: word being read, cycles until it is available. */
	size_t word = 0;
	int wait = -1;
	bytes got;

	printf("seed %lu; again: %s --seed %lu\n", seed, argv[0], seed);
	d->rst = 1;
	for (int i = 0; i < 6; i++) {
		d->clk = i & 1;
		d->eval();
		d->rst = i < 4;
	}
	for (cycle = 0; cycle < 90000 || reserved != 0; cycle++) {
		if (cycle % 1000 == 0) {
			p_take = r.percent(50) ? 2 : r.below(60);
			p_send = r.percent(50) ? 100 : 1 + r.below(100);
			p_read = r.percent(30) ? 0 : r.percent(50) ? 100 : r.below(100);
		}
		if (cycle >= 90000) {
			p_take = 0;
			p_send = p_read = 100;
			check(cycle < 200000, "never drained");
		}
		/* The verdict on a source uses the reads up to the previous cycle. */
		int forget = -1;
		bool forget_arp = false;
		if (!endings.empty() && endings.front().due == cycle) {
			const ending e = endings.front();
			int same = 0;

			endings.pop_front();
			for (const auto &w : done)
				same += w.first == e.port && !memcmp(&w.second[6], &e.frame[6], 6);
			if (same < OF_ONE) {
				done.push_back({ e.port, e.frame });
				done_arp.push_back(e.arp);
			} else {
				forget = e.port;
				forget_arp = e.arp;
			}
		}
		d->pop = 0;
		d->win_en = 0;
		d->take = 0;
		d->arp = (uint8_t)r.next() & ((1 << PORTS) - 1);
		uint8_t data[PORTS * B], keep[PORTS * B / 8];
		for (auto &x : data)
			x = (uint8_t)r.next();
		memset(keep, 0, sizeof(keep));
		d->s_valid = d->s_last = 0;
		for (int p = 0; p < PORTS; p++) {
			side &s = sides[p];
			if (s.todo.empty() || !(s.held || r.percent(p_send)))
				continue;
			const bytes &f = s.todo.front();
			const size_t n = std::min<size_t>(B, f.size() - s.at);
			memcpy(data + p * B, &f[s.at], n);
			const uint64_t k = keep_of(n);
			memcpy(keep + p * B / 8, &k, B / 8);
			d->s_valid |= 1 << p;
			d->s_last |= (s.at + n == f.size()) << p;
		}
		set_bytes(d->s_data, data, sizeof(data));
		set_bytes(d->s_keep, keep, sizeof(keep));
		d->clk = 0;
		d->eval();
		for (int p = 0; p < PORTS; p++) {
			check((d->room >> p & 1) == (sides[p].places < PLACES), "room");
			check((d->room_arp >> p & 1) == (sides[p].places < PLACES && !sides[p].held_arp), "room for ARP");
		}
		alone += d->room != 0 && d->room != (1 << PORTS) - 1;
		/* A frame that has arrived completely is visible three cycles later. */
		check(!d->idle || reserved == (long)done.size(), "idle too early");
		check(d->idle || cycle < moved + 4 || reserved != (long)done.size(), "never idle");

		/* The window. */
		if (wait > 0 && --wait == 0) {
			const uint32_t v = d->win_data;
			for (int i = 0; i < 4; i++)
				got.push_back((uint8_t)(v >> 8 * i));
			wait = -1;
			word++;
		}
		const uint32_t status = d->status;
		if (status >> 31) {
			check(!done.empty(), "status of a frame that is not there");
			const bytes &f = done.front().second;
			check((status & 0xffff) == f.size() && (status >> 24 & 7) == (unsigned)done.front().first, "status");
			if (wait < 0 && word * 4 < f.size() && r.percent(p_read)) {
				d->win_en = 1;
				d->win_addr = (uint8_t)word;
				wait = 2;
			} else if (wait < 0 && word * 4 >= f.size()) {
				got.resize(f.size());
				if (flag(argc, argv, "flip") && read == 10)
					got[7] ^= 1;
				check(got == f, "contents");
				got.clear();
				word = 0;
				d->pop = 1;
				sides[done.front().first].places--;
				if (done_arp.front())
					sides[done.front().first].held_arp = false;
				done.pop_front();
				done_arp.pop_front();
				read++;
			}
		} else if (r.percent(1)) {
			d->pop = 1;	/* no frame there: no effect */
		}

		/* The judges. */
		for (int p = 0; p < PORTS; p++) {
			if (!r.percent(p_take) || sides[p].todo.size() > 8)
				continue;
			const bool arp = d->arp >> p & 1;
			if (!((arp ? d->room_arp : d->room) >> p & 1)) {
				refused++;
				continue;
			}
			bytes f(r.percent(60) ? 60 + r.below(10) : 60 + r.below(965));
			for (auto &x : f)
				x = (uint8_t)r.next();
			/* The first port has one source; on the others the sources differ in one byte of six. */
			memset(&f[6], 7, 6);
			f[6 + r.below(6)] = (uint8_t)(7 + r.below(1 + p));
			sides[p].todo.push_back(f);
			sides[p].arp.push_back(arp);
			if (arp)
				sides[p].held_arp = true, arps++;
			d->take |= 1 << p;
			sides[p].places++;
		}
		/* take is sampled by the clock only; status and room are not read before that. */
		for (int p = 0; p < PORTS; p++) {
			side &s = sides[p];
			s.held = d->s_valid >> p & 1;
			if (!s.held || !(d->s_ready >> p & 1))
				continue;
			s.held = false;
			s.at += B;
			if (s.at >= s.todo.front().size()) {
				endings.push_back({ cycle + 2, p, s.todo.front(), s.arp.front() });
				s.todo.pop_front();
				s.arp.pop_front();
				s.at = 0;
			}
		}
		if (d->take || d->s_valid)
			moved = cycle;
		if (forget >= 0) {
			sides[forget].places--;
			if (forget_arp)
				sides[forget].held_arp = false;
			forgotten++;
			moved = cycle;
		}
		reserved += __builtin_popcount(d->take) - (d->pop && status >> 31) - (forget >= 0);
		check(reserved <= PLACES * PORTS, "more places promised than there are");
		most = std::max<long>(most, reserved);
		d->clk = 1;
		d->eval();
	}
	printf("%ld frames read, %ld refused, %ld forgotten, up to %ld places in use, %ld cycles with room at some ports alone\n", read,
	       refused, forgotten, most, alone);
	check(read > 150 && refused > 100 && forgotten > 20 && most >= 2 * PORTS && alone > 100 && arps > 100, "hardly exercised");
	return 0;
}
