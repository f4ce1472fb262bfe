// Mirror connections: a rank of a ring that sends to its own port, and what goes back to it.
#include "tests/rtl/core_case.h"
#include "tests/rtl/core_tests.h"

static const uint32_t PORT_IP = 0x0a00fe00;
static const uint64_t HOST = 0x02000000a000;

// The packet of the mirror rank: to the port's address and MAC, with the rank's own QPN.
static Roce to_port(const Rank &r, Roce f)
{
	f.sip = r.ip;
	f.dip = PORT_IP + r.port;
	f.qpn = r.qpn;
	f.smac = HOST;
	f.dmac = MAC + r.port;
	return f;
}

// As it goes back.
static Roce back(Roce f, uint64_t host)
{
	std::swap(f.sip, f.dip);
	f.smac = f.dmac;
	f.dmac = host;
	f.ttl = 64;
	return f;
}

static void make_mirror(Case &c, Rank &r)
{
	c.box.wr(c.g.reg(RF_GROUP_CFG), 0);
	c.box.run(2000);
	for (unsigned p = 0; p < PORTS; p++)
		c.box.wr(RF_PORT_IP0 + 4 * p, PORT_IP + p);
	r.pport = r.port;
	r.shift = 0;
	c.box.wr(Group::conn(r, RF_CONN_SHIFT), 0);
	c.box.wr(Group::conn(r, RF_CONN_PEER_IP), r.ip);
	c.box.wr(Group::conn(r, RF_CONN_PEER_PORT), r.port);
	c.box.wr(Group::conn(r, RF_CONN_PEER_MAC_HI), 1u << 16 | static_cast<uint32_t>(HOST >> 32));
	c.box.wr(Group::conn(r, RF_CONN_PEER_MAC_LO), static_cast<uint32_t>(HOST));
	for (const Rank &x : c.g.ranks)
		c.box.wr(Group::conn(x, RF_CONN_INIT), 1);
	c.box.hash(2, r.ip, r.qpn, r.cid(), RF_STATE_LIVE);
	c.box.wr(c.g.reg(RF_GROUP_CFG), c.g.cfg());
}

void mirror(uint32_t seed, std::vector<bool> &seen)
{
	Case c(seed, INT32, Case::NAKS);
	Rank &r = c.rank(0);

	make_mirror(c, r);
	Roce d = to_port(r, r.data(0, payload_of(c.g, seed, 0, 0, 256))), other = d;
	d.ttl = 9;
	d.tos = 0x6b;

	// Refused: another port's address, this address with another MAC, no entry, another host.
	c.want(1, d.frame(), {RF_CNT_WRONG_PORT}, "address of another port");
	other.dmac++;
	c.want(0, other.frame(), {RF_CNT_WRONG_PORT}, "another MAC");
	other = d;
	other.qpn ^= 1;
	c.want(0, other.frame(), {RF_CNT_UNKNOWN}, "no entry");
	other = d;
	other.sip++;
	c.want(0, other.frame(), {RF_CNT_UNKNOWN}, "no entry of this address");
	other = d;
	other.smac ^= 1;
	c.want(0, other.frame(), {RF_CNT_WRONG_SOURCE}, "another host's MAC");
	c.conn_is(0, RF_CONN_SEEN, 0, "no sign of life yet");

	// Its result goes back; the others' go on in the ring.
	c.want(0, d.frame(), {RF_CNT_ACCEPTED}, "mirror rank");
	for (unsigned p = 1; p < PORTS; p++)
		c.box.send(p, c.data(p, 0));
	c.box.settle();
	Roce sum = back(d, HOST);
	sum.payload = expected(c.g, seed, 0, 256);
	sum.ackreq = true;
	c.frame_is(0, sum.frame(), "result of the mirror rank");
	for (unsigned p = 1; p < PORTS; p++)
		c.frame_is(p, c.result(p, 0), "result in the ring");

	// After a change of its MAC a repeat goes to the new one, and the old one is refused.
	c.box.wr(Group::conn(r, RF_CONN_PEER_MAC_LO), static_cast<uint32_t>(HOST + 5));
	c.want(0, d.frame(), {RF_CNT_WRONG_SOURCE}, "the old MAC");
	d.smac = HOST + 5;
	c.want(0, d.frame(), {RF_CNT_REPEAT, RF_CNT_TX_REPEAT, RF_CNT_TX_FRAMES}, "repeat");
	sum.dmac = HOST + 5;
	c.frame_is(0, sum.frame(), "repeat to the new MAC");

	// Its ACK and its CNP go back.
	Roce ack = to_port(r, r.ack(1, 0x1f, 0x777));
	ack.smac = HOST + 5;
	ack.ttl = 3;
	ack.tos = 1;
	c.want(0, ack.frame(), {RF_CNT_ACK_FORWARDED, RF_CNT_TX_ACK, RF_CNT_TX_FRAMES}, "ACK");
	c.frame_is(0, back(ack, HOST + 5).frame(), "ACK that goes back");
	c.conn_is(0, RF_CONN_UNA, 1, "una of the mirror rank");
	Roce cnp = ack;
	cnp.opcode = 0x81;
	cnp.ext.assign(16, 0x5a);
	c.want(0, cnp.frame(), {RF_CNT_CNP_BACK, RF_CNT_TX_ACK, RF_CNT_TX_FRAMES}, "CNP");
	cnp.ext.assign(16, 0);
	c.frame_is(0, back(cnp, HOST + 5).frame(), "CNP that goes back");
	cnp.ext.resize(12);
	c.want(0, cnp.frame(), {RF_CNT_ACK_MALFORMED}, "short CNP");
	seen = c.seen;
}
