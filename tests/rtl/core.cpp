#include "tests/rtl/core_bench.h"

static Bytes words(const std::vector<uint32_t> &w)
{
	Bytes b;
	for (uint32_t v : w)
		for (int k = 0; k < 4; k++)
			b.push_back(static_cast<uint8_t>(v >> (8 * k)));
	return b;
}

int main()
{
	Box box(1);
	box.wr(RF_CTRL, 1);
	box.wr(RF_MAC_HI, 0x0200);
	box.wr(RF_MAC_LO, 0x5e000000);
	box.wr(RF_IP, 0x0a0000fe);
	printf("ID %08x shape %08x %08x\n", box.rd(RF_ID), box.rd(RF_SHAPE), box.rd(RF_SHAPE2));
	Group g;
	g.dtype = 3;
	g.full(1, 0, PORTS, 0x400000, 1);
	g.live(box);
	printf("cfg %08x members %08x\n", box.rd(g.reg(RF_GROUP_CFG)), box.rd(g.reg(RF_GROUP_MEMBERS0)));
	std::vector<uint32_t> sum(256);
	for (auto &r : g.ranks) {
		std::vector<uint32_t> w(256);
		for (unsigned k = 0; k < 256; k++) {
			w[k] = (k + 1) * (r.port + 3) * 2654435761u;
			sum[k] += w[k];
		}
		box.send(r.port, r.data(0, words(w)).frame());
	}
	for (int k = 0; k < 300; k++) box.tick();
	for (unsigned p = 0; p < PORTS; p++) {
		printf("port %u: %zu frames\n", p, box.tx[p].size());
		for (unsigned c = 0; c < RF_CNT_COUNT; c++) if (uint32_t n = box.count(p, c)) printf("   counter %u = %u\n", c, n);
		for (auto &s : box.tx[p]) {
			Result r(s.b);
			printf("  psn %06x want %06x icrc %d len %zu sum %d latency %ld\n", r.psn, (g.ranks[p].start - 0x400000) & 0xffffff, icrc_right(s.b), s.b.size(), r.payload == words(sum), (long)(s.first - box.rx_last[p]));
		}
	}
	for (auto &r : g.ranks) printf("next %u sent %u una %u\n", box.rd(g.conn(r, RF_CONN_NEXT)), box.rd(g.conn(r, RF_CONN_SENT)), box.rd(g.conn(r, RF_CONN_UNA)));
	printf("head %u issued %u tail %u idle %d\n", box.rd(g.reg(RF_GROUP_HEAD)), box.rd(g.reg(RF_GROUP_ISSUED)), box.rd(g.reg(RF_GROUP_TAIL)), box.top->idle);
	return 0;
}
