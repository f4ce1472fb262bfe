/*
 * rf_axil: random reads and writes, all orders of address and data, late acknowledgements, delayed responses, against
 * an array; no access is done twice, lost or started while `open` is low.
 *
 *   Vrf_axil [--seed N] [--flip]
 */
#include <map>
#include <memory>
#include "Vrf_axil.h"
#include "tests/rtl/net_ref.h"

using namespace net;

static long cycle;

static void check(bool good, const char *what)
{
	if (!good) {
		printf("cycle %ld: %s\n", cycle, what);
		exit(1);
	}
}

struct transfer {
	uint32_t addr, data;
};

int main(int argc, char **argv)
{
	const unsigned long seed = option(argc, argv, "seed", 1);
	std::unique_ptr<Vrf_axil> d(new Vrf_axil);
	rng r(seed);
	std::map<uint32_t, uint32_t> regs;
	/* Writes given so far, addresses and data taken, writes seen on the bus, responses taken: in this order downwards. */
	std::vector<transfer> all;
	size_t aws = 0, ws = 0, done = 0, answered = 0;
	bool aw = false, w = false, ar = false, r_wait = false, read_asked = false;
	transfer rd = {};
	long writes = 0, reads = 0, shut = 0;
	uint32_t expect = 0;
	unsigned p_go = 50, p_ack = 50, p_resp = 50, p_open = 100;
	int open_was = 2;

	printf("seed %lu; again: %s --seed %lu\n", seed, argv[0], seed);
	d->rst = 1;
	for (int i = 0; i < 6; i++) {
		d->clk = i & 1;
		d->eval();
	}
	d->rst = 0;
	for (cycle = 0; cycle < 100000; cycle++) {
		if (cycle % 500 == 0) {
			p_go = 1 + r.below(100);
			p_ack = 1 + r.below(100);
			p_resp = 1 + r.below(100);
			p_open = r.percent(80) ? 100 : r.below(100);
		}
		const bool drain = cycle > 99000;
		/* Master: an offer is held until it is taken. */
		if (all.size() < answered + 2 && !drain && r.percent(p_go))
			all.push_back({ r.percent(50) ? 4 * r.below(8) : r.below(1 << 24), (uint32_t)r.next() });
		if (aws < all.size() && r.percent(50))
			aw = true;
		if (ws < all.size() && r.percent(50))
			w = true;
		if (!r_wait && !drain && r.percent(p_go)) {
			rd.addr = r.percent(50) ? 4 * r.below(8) : r.below(1 << 24);
			ar = r_wait = true;
		}
		d->s_axil_awvalid = aw;
		d->s_axil_awaddr = aw ? all[aws].addr : (uint32_t)r.below(1 << 24);
		d->s_axil_wvalid = w;
		d->s_axil_wdata = w ? all[ws].data : (uint32_t)r.next();
		d->s_axil_wstrb = (uint8_t)r.below(16);
		d->s_axil_bready = r.percent(p_resp);
		d->s_axil_arvalid = ar;
		d->s_axil_araddr = rd.addr;
		d->s_axil_rready = r.percent(p_resp);
		d->open = drain || r.percent(p_open);
		d->rd_ack = 0;
		d->rd_data = (uint32_t)r.next();
		d->clk = 0;
		d->eval();
		if (d->rd_en) {
			check(!read_asked && r_wait && !ar, "rd_en");
			check(d->rd_addr == (rd.addr & ~3u), "rd_addr");
			read_asked = true;
		}
		if (read_asked && r.percent(p_ack)) {
			d->rd_ack = 1;
			expect = regs.count(rd.addr & ~3u) ? regs[rd.addr & ~3u] : 0x12345678;
			d->rd_data = expect;
			d->eval();
			read_asked = false;
		}
		if (d->wr_en) {
			check(done < aws && done < ws && done == answered, "wr_en");
			check(d->wr_addr == (all[done].addr & ~3u) && d->wr_data == all[done].data, "write");
			regs[all[done].addr & ~3u] = all[done].data;
			done++;
			writes++;
		}
		/* Ready follows `open` by one cycle. */
		open_was = d->open ? 2 : open_was - 1;
		if (open_was <= 0) {
			check(!d->s_axil_awready && !d->s_axil_wready && !d->s_axil_arready, "begun while shut");
			shut++;
		}
		check(!d->idle || (!aw && !w && aws == answered && ws == answered && !r_wait), "idle");
		if (aw && d->s_axil_awready) {
			aw = false;
			aws++;
		}
		if (w && d->s_axil_wready) {
			w = false;
			ws++;
		}
		if (ar && d->s_axil_arready)
			ar = false;
		if (d->s_axil_bvalid) {
			check(answered < done && d->s_axil_bresp == 0, "response to no write");
			if (d->s_axil_bready)
				answered++;
		}
		if (d->s_axil_rvalid) {
			check(r_wait && !ar && !read_asked, "data nobody asked for");
			check(d->s_axil_rdata == (flag(argc, argv, "flip") && reads == 100 ? ~expect : expect), "read data");
			check(d->s_axil_rresp == 0, "read response");
			if (d->s_axil_rready) {
				r_wait = false;
				reads++;
			}
		}
		d->clk = 1;
		d->eval();
	}
	check(answered == all.size() && !r_wait, "an access never ended");
	printf("%ld writes, %ld reads, %ld cycles shut\n", writes, reads, shut);
	check(writes > 2000 && reads > 2000 && shut > 100, "hardly exercised");
	return 0;
}
