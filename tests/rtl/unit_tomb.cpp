/*
 * rf_tomb against "Tombstones" of docs/box.md: a packet with a correct ICRC that came by the port and from the address
 * that firmware wrote is visible to the next read, any other packet is not; a read and a write clear it. Both sides at
 * once, in every cycle.
 *
 * If the expected values of a tombstone have a parity error, every packet renews it. The bench flips bits in the memory
 * itself.
 *
 * Compiled with PORT and AW, the module's parameters.
 */
#include "Vrf_tomb.h"
#include "Vrf_tomb___024root.h"
#include "tests/rtl/unit.h"

using namespace unit;

struct expectation {
	unsigned ip, port;
	bool any, seen, lost;
};

/* A packet in progress: the table's answer, then the question, then its mark. */
struct packet {
	bool there, ask, mark;
	unsigned number, ip;
};

static void body(bench &b)
{
	auto d = fresh<Vrf_tomb>(b);
	expectation e[1 << AW] = {}, one = {};
	packet answer = {}, asked = {}, marks = {};
	auto &mem = d->rootp->rf_tomb__DOT__expected__DOT__g_parity__DOT__ram__DOT__mem;
	long seen = 0, strangers = 0, both = 0, looks = 0, flips = 0, lost = 0;

	d->rd_valid = d->ask = d->w_valid = d->look = 0;
	reset(b, *d);
	for (int n = 0; n < 40000; n++) {
		const bool known = n >= 1 << AW;

		/* The first writes make all tombstones known. Few numbers, so that both sides meet. */
		d->number = (uint16_t)(known ? b.r.below(1 << AW) : (unsigned)n);
		d->number = (uint16_t)(d->number | (known ? b.r.below(4) << AW : 0));
		d->w_valid = !known || b.r.percent(8);
		d->look = !d->w_valid && b.r.percent(30);
		d->w_ip = 0x0a000001 + b.r.below(3);
		d->w_port = (uint8_t)(b.r.percent(60) ? PORT : b.r.below(8));
		d->w_any = b.r.percent(20);
		d->rd_valid = known && b.r.percent(70);
		d->rd_number = (uint16_t)(b.r.below(1 << AW) | b.r.below(4) << AW);
		const unsigned hit = b.r.below(1 << AW);
		if (known && b.r.percent(2) && !e[hit].lost) {
			mem[hit] ^= 1ull << b.r.below(37);
			e[hit].lost = true;
			flips++;
		}
		/* p3: the expected values were read one cycle ago. */
		d->ask = answer.there && b.r.percent(80);
		d->ask_ip = 0x0a000001 + b.r.below(3);
		settle(*d);
		const unsigned at = d->number & ((1 << AW) - 1);
		if (known)
			b.same("seen", d->seen, e[at].seen);
		seen += known && d->look && d->seen;
		looks += d->look;

		/* The next cycle. A read in the cycle of a mark: visible now, or in the next read. */
		const bool meets = marks.mark && marks.number == at && (d->look || d->w_valid);
		both += meets;
		const bool was = e[at].seen;
		if (d->look || d->w_valid)
			e[at].seen = false;
		if (marks.mark && !(meets && was))
			e[marks.number].seen = true;
		if (d->w_valid) {
			e[at].ip = d->w_ip;
			e[at].port = d->w_port;
			e[at].any = d->w_any;
			e[at].lost = false;
		}
		asked = answer;
		const bool here = one.any || one.lost || (one.port == PORT && one.ip == d->ask_ip);
		lost += d->ask && one.lost;
		strangers += d->ask && !here;
		marks = { d->ask != 0, d->ask != 0, d->ask && here, asked.number, d->ask_ip };
		answer.there = d->rd_valid;
		answer.number = d->rd_number & ((1 << AW) - 1);
		tick(b, *d);
		/* A read in the cycle of a write returns the old word: the firmware has not finished. */
		if (answer.there && !(d->w_valid && at == answer.number))
			one = e[answer.number];
		else if (answer.there)
			answer.there = false;
	}
	b.met("looks", looks, 5000);
	b.met("looks that saw something", seen, 1000);
	b.met("packets from elsewhere", strangers, 1000);
	b.met("looks in the cycle of a mark", both, 100);
	b.met("bits lost", flips, 200);
	b.met("packets of a tombstone that has lost a bit", lost, 200);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
