/*
 * rf_conn_static: six fields per connection, written one at a time, read all at once one cycle after rd_en; the output
 * is stable until the next read. Compiled with CW, the module's parameter.
 */
#include "Vrf_conn_static.h"
#include "tests/rtl/unit.h"

using namespace unit;

enum { FIELDS = 6 };

static const uint32_t masks[FIELDS] = { 0xffffff, 0xffffff, 0xffffffff, 0xffffffff, 7, 0xffffff };

struct known {
	bool is = false;
	uint32_t value = 0;
};

static void body(bench &b)
{
	auto d = fresh<Vrf_conn_static>(b);
	known mem[1 << CW][FIELDS], out[FIELDS];
	long compared = 0, beside = 0;

	for (int n = 0; n < 20000; n++) {
		const unsigned field = b.r.below(FIELDS), conn = b.r.below(1 << CW);
		const bool wr = b.r.percent(50), rd = b.r.percent(60);
		const unsigned at = b.r.percent(30) ? conn : b.r.below(1 << CW);

		d->wr_field = (uint8_t)(wr ? 1u << field : 0);
		d->wr_conn = (uint8_t)conn;
		d->wr_data = (uint32_t)b.r.next();
		d->rd_en = rd;
		d->rd_conn = (uint8_t)at;
		settle(*d);
		const uint32_t is[FIELDS] = { d->rd_start, d->rd_shift, d->rd_src_ip,
					      d->rd_peer_ip, d->rd_peer_port, d->rd_qpn };
		for (int f = 0; f < FIELDS; f++)
			if (out[f].is) {
				b.same("field", is[f], out[f].value);
				compared++;
			}
		if (rd)
			memcpy((void *)out, (void *)mem[at], sizeof(out));
		beside += rd && wr && at == conn;
		if (wr)
			mem[conn][field] = { true, d->wr_data & masks[field] };
		tick(b, *d);
	}
	b.met("fields read", compared, 50000);
	b.met("reads beside a write", beside, 1000);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
