/*
 * The addresses of the ports: probes before the first use, ARP answers from one port with its MAC,
 * announcements, claims of other hosts, the gateway, and settings that the firmware refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"
#include "tests/unit/fw_mirror.h"

#define HOST_IP 0x0a000005u
#define GATEWAY 0x0a000063u

static struct rf_ctl_reply reply;
static const uint8_t host_mac[6] = {2, 0, 0, 0, 9, 5};

/* A box that probes once in a second and announces once in a minute. */
static struct fw_box *slow_box(void)
{
	struct fw_box *b = fw_mirror_box();
	struct rf_fw_cfg cfg = b->cfg;

	fw_box_free(b);
	b = fw_box_new();
	b->mirror = b->directed = true;
	b->types = 0x3ff;
	b->cfg = cfg;
	b->cfg.probe_ms = 1000;
	b->cfg.announce_ms = 60000;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	return b;
}

struct arp {
	unsigned int op;
	uint8_t sender_mac[6], target_mac[6];
	uint32_t sender_ip, target_ip;
};

static void arp_in(struct fw_box *b, unsigned int port, unsigned int op, const uint8_t *mac,
		   uint32_t sender, uint32_t target)
{
	uint8_t f[60] = {0};

	memset(f, 0xff, 6);
	memcpy(f + 6, mac, 6);
	rf_put_be16(f + 12, 0x0806);
	rf_put_be32(f + 14, 0x00010800);
	rf_put_be16(f + 18, 0x0604);
	rf_put_be16(f + 20, (uint16_t)op);
	memcpy(f + 22, mac, 6);
	rf_put_be32(f + 28, sender);
	rf_put_be32(f + 38, target);
	fw_box_punt(b, port, f, sizeof(f));
	assert_null(fw_box_poll(b));
}

/* The next ARP frame that leaves, and its port; false: none. */
static bool arp_out(struct fw_box *b, struct arp *a, unsigned int *port, bool *to_all)
{
	const struct fw_box_frame *f = fw_box_out(b);

	if (!f)
		return false;
	assert_int_equal(rf_get_be16(f->data + 12), 0x0806);
	assert_int_equal(rf_get_be32(f->data + 14), 0x00010800);
	assert_int_equal(rf_get_be16(f->data + 18), 0x0604);
	a->op = rf_get_be16(f->data + 20);
	memcpy(a->sender_mac, f->data + 22, 6);
	a->sender_ip = rf_get_be32(f->data + 28);
	memcpy(a->target_mac, f->data + 32, 6);
	a->target_ip = rf_get_be32(f->data + 38);
	*to_all = (f->data[0] & f->data[5]) == 0xff;
	*port = f->port;
	/* Both source addresses are those of the port. */
	assert_memory_equal(f->data + 6, a->sender_mac, 6);
	assert_int_equal(a->sender_mac[5], 0x10 + f->port);
	return true;
}

static unsigned int drain(struct fw_box *b)
{
	unsigned int n = 0;

	while (fw_box_out(b))
		n++;
	return n;
}

/* Each port sends these: a probe (sender 0), an announcement, or a request for the gateway. */
static void expect_all(struct fw_box *b, bool probe, uint32_t target)
{
	unsigned int seen = 0, port;
	struct arp a;
	bool to_all;

	while (arp_out(b, &a, &port, &to_all)) {
		assert_true(to_all);
		assert_int_equal(a.op, RF_FW_ARP_REQUEST);
		assert_int_equal(a.sender_ip, probe ? 0 : FW_MIRROR_IP(port));
		if (target != 0 && a.target_ip == target)
			continue;
		assert_int_equal(a.target_ip, FW_MIRROR_IP(port));
		seen |= 1u << port;
	}
	assert_int_equal(seen, 0xf);
}

static unsigned int join(struct fw_box *b, unsigned int r)
{
	struct fw_ask a = fw_mirror_join(r, 8);

	drain(b);
	return fw_ask_result(b, &a, &reply);
}

/* Three probes a second apart; the address is used two seconds after the last one. */
static void test_probes(void **state)
{
	struct fw_box *b = slow_box();

	(void)state;
	assert_int_equal(b->port_ip[2], FW_MIRROR_IP(2));
	for (unsigned int i = 0; i < 3; i++) {
		assert_null(fw_box_run(b, i == 0 ? 10 : 1000));
		expect_all(b, true, 0);
		/* Not used yet: the box answers nobody, and refuses mirror ranks. */
		arp_in(b, 1, RF_FW_ARP_REQUEST, host_mac, HOST_IP, FW_MIRROR_IP(1));
		assert_int_equal(drain(b), 0);
		assert_int_equal(join(b, 0), RF_CTL_FAILED);
		assert_int_equal(reply.u.failed.reason, RF_CTL_R_NO_ADDRESS);
		assert_int_equal(reply.u.failed.detail, 0xf00);
	}
	assert_null(fw_box_run(b, 1900));
	assert_int_equal(drain(b), 0);
	assert_null(fw_box_run(b, 200));
	expect_all(b, false, 0);
	assert_int_equal(b->fw.cnt.arp_probes, 12);
	assert_int_equal(join(b, 0), RF_CTL_WAITING);
	/* Announced again once a minute. */
	for (unsigned int i = 0; i < 3; i++) {
		drain(b);
		assert_null(fw_box_run(b, 59000));
		drain(b);
		assert_int_equal(b->fw.cnt.arp_announced, 4 * (i + 1));
		assert_null(fw_box_run(b, 1100));
		assert_int_equal(b->fw.cnt.arp_announced, 4 * (i + 2));
	}
	fw_box_free(b);
}

/* A busy inject buffer delays a probe, and loses none. */
static void test_busy(void **state)
{
	struct fw_box *b = slow_box();

	(void)state;
	b->busy = 6;
	assert_null(fw_box_run(b, 20));
	expect_all(b, true, 0);
	assert_int_equal(b->fw.cnt.arp_probes, 4);
	fw_box_free(b);
}

/* The address of port p is answered for by port p alone, with its MAC and the nonce. */
static void test_answers(void **state)
{
	struct fw_box *b = fw_mirror_box();

	(void)state;
	for (unsigned int at = 0; at < 4; at++)
		for (unsigned int of = 0; of < 5; of++) {
			unsigned int port;
			struct arp a;
			bool to_all;

			arp_in(b, at, RF_FW_ARP_REQUEST, host_mac, HOST_IP, FW_MIRROR_IP(of));
			if (at != of) {
				assert_int_equal(drain(b), 0);
				continue;
			}
			assert_true(arp_out(b, &a, &port, &to_all));
			assert_int_equal(port, at);
			assert_int_equal(a.op, RF_FW_ARP_REPLY);
			assert_int_equal(a.sender_ip, FW_MIRROR_IP(of));
			assert_int_equal(a.target_ip, HOST_IP);
			assert_memory_equal(a.target_mac, host_mac, 6);
			assert_false(to_all);
		}
	/* The box's own address, on every port. */
	for (unsigned int at = 0; at < 4; at++) {
		arp_in(b, at, RF_FW_ARP_REQUEST, host_mac, HOST_IP, FW_BOX_IP);
		assert_int_equal(drain(b), 1);
	}
	fw_box_free(b);
}

/* Another host has the address already when the box probes for it. */
static void test_claimed_early(void **state)
{
	struct fw_box *b = slow_box();

	(void)state;
	assert_null(fw_box_run(b, 10));
	drain(b);
	arp_in(b, 2, RF_FW_ARP_REPLY, host_mac, FW_MIRROR_IP(2), 0);
	assert_int_equal(b->fw.cnt.arp_claims, 1);
	assert_null(fw_box_run(b, 6000));
	/* It is not announced, nobody is answered, and no rank gets it. */
	arp_in(b, 2, RF_FW_ARP_REQUEST, host_mac, HOST_IP, FW_MIRROR_IP(2));
	for (unsigned int r = 0; r < 6; r++) {
		assert_int_equal(join(b, r), RF_CTL_WAITING);
		assert_int_not_equal(reply.u.waiting.port_ip, FW_MIRROR_IP(2));
	}
	assert_int_equal(b->fw.cnt.arp_announced, 3);
	assert_int_equal(b->fw.cnt.arp_requests, 0);
	/* A minute after the claim it is probed for again, and used. */
	assert_null(fw_box_run(b, 54000));
	drain(b);
	assert_null(fw_box_run(b, 4500));
	assert_int_equal(b->fw.cnt.arp_probes, 3 * 3 + 1 + 3);
	assert_true(rf_fw_address_usable(&b->fw, 2));
	fw_box_free(b);
}

/* Another host probes for the same address at the same time. */
static void test_rival(void **state)
{
	struct fw_box *b = slow_box();

	(void)state;
	assert_null(fw_box_run(b, 10));
	arp_in(b, 1, RF_FW_ARP_REQUEST, host_mac, 0, FW_MIRROR_IP(1));
	assert_int_equal(b->fw.cnt.arp_claims, 1);
	assert_int_equal(rf_fw_address_claims(&b->fw), 1u << 1);
	fw_box_free(b);
	/* Later its probe is only answered. */
	b = fw_mirror_box();
	arp_in(b, 1, RF_FW_ARP_REQUEST, host_mac, 0, FW_MIRROR_IP(1));
	assert_int_equal(b->fw.cnt.arp_claims, 0);
	assert_int_equal(drain(b), 1);
	fw_box_free(b);
}

/*
 * A claim closes a port for new mirror ranks until it has been absent for a minute. It is logged
 * with its MAC. The ranks that the port has stay, and the box goes on answering.
 */
static void test_claims(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct fw_ask s = fw_ask_join(0, 2);
	const struct rf_ctl_log_entry *e;
	unsigned int events[2] = {0};

	(void)state;
	for (unsigned int p = 0; p < 4; p++) {
		/* The box's own frames, and other addresses, are no claims. */
		arp_in(b, p, RF_FW_ARP_REQUEST, b->cfg.mac, FW_MIRROR_IP(p), FW_MIRROR_IP(p));
		arp_in(b, p, RF_FW_ARP_REQUEST, host_mac, HOST_IP, HOST_IP);
	}
	assert_int_equal(b->fw.cnt.arp_claims, 0);
	for (unsigned int p = 0; p < 4; p++) {
		assert_int_equal(join(b, p), RF_CTL_WAITING);
		assert_int_equal(rf_fw_address_claims(&b->fw), (1u << p) - 1u);
		arp_in(b, p, p & 1 ? RF_FW_ARP_REPLY : RF_FW_ARP_REQUEST, host_mac, FW_MIRROR_IP(p),
		       p & 1 ? HOST_IP : FW_MIRROR_IP(p));
	}
	assert_int_equal(join(b, 5), RF_CTL_FAILED);
	assert_int_equal(reply.u.failed.reason, RF_CTL_R_NO_ADDRESS);
	assert_int_equal(reply.u.failed.detail, 0xf);
	arp_in(b, 1, RF_FW_ARP_REQUEST, host_mac, HOST_IP, FW_MIRROR_IP(1));
	assert_int_equal(drain(b), 1);
	/* Renewed on port 3. */
	assert_null(fw_box_run(b, 30000));
	arp_in(b, 3, RF_FW_ARP_REPLY, host_mac, FW_MIRROR_IP(3), HOST_IP);
	assert_null(fw_box_run(b, 29900));
	assert_int_equal(rf_fw_address_claims(&b->fw), 0xf);
	assert_null(fw_box_run(b, 200));
	assert_int_equal(rf_fw_address_claims(&b->fw), 8);
	assert_int_equal(join(b, 6), RF_CTL_WAITING);
	assert_null(fw_box_run(b, 30000));
	assert_int_equal(rf_fw_address_claims(&b->fw), 0);
	drain(b);
	s.h.job = 0;
	s.h.rank = RF_CTL_NO_RANK;
	s.h.verb = RF_CTL_STATUS;
	memset(&s.r, 0, sizeof(s.r));
	s.r.u.status.page = RF_CTL_PAGE_LOG;
	assert_int_equal(fw_ask_result(b, &s, &reply), RF_CTL_PAGE);
	e = reply.u.log.entry;
	for (unsigned int i = 0; i < reply.u.log.count; i++)
		if (e[i].kind == RF_CTL_EV_CLAIMED || e[i].kind == RF_CTL_EV_UNCLAIMED) {
			assert_int_equal(e[i].job, 0x020000000905ull);
			assert_in_range(e[i].group, 0, 3);
			events[e[i].kind == RF_CTL_EV_CLAIMED]++;
			assert_int_equal(e[i].rank, RF_CTL_NO_RANK);
		}
	assert_int_equal(events[0], 4);
	assert_int_equal(events[1], 4);
	assert_int_equal(e[reply.u.log.count - 1].kind, RF_CTL_EV_UNCLAIMED);
	assert_int_equal(e[reply.u.log.count - 1].group, 3);
	fw_box_free(b);
}

/* A claimed address is not announced, while those of the other ports are. */
static void test_silent_claim(void **state)
{
	struct fw_box *b = slow_box();

	(void)state;
	assert_null(fw_box_run(b, 30000));
	assert_int_equal(b->fw.cnt.arp_announced, 4);
	arp_in(b, 2, RF_FW_ARP_REPLY, host_mac, FW_MIRROR_IP(2), HOST_IP);
	assert_null(fw_box_run(b, 40000));
	assert_int_equal(b->fw.cnt.arp_announced, 7);
	drain(b);
	assert_null(fw_box_run(b, 30000));
	assert_int_equal(b->fw.cnt.arp_announced, 8);
	fw_box_free(b);
}

/* A rank that has only asked gets another port if its own is claimed meanwhile. */
static void test_moved(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct fw_ask a = fw_mirror_join(0, 2), fixed = fw_mirror_join(1, 2);

	(void)state;
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_WAITING);
	assert_int_equal(reply.u.waiting.port_ip, FW_MIRROR_IP(0));
	fixed.r.u.join.port = 0;
	assert_int_equal(fw_ask_result(b, &fixed, &reply), RF_CTL_WAITING);
	arp_in(b, 0, RF_FW_ARP_REPLY, host_mac, FW_MIRROR_IP(0), HOST_IP);
	drain(b);
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_WAITING);
	assert_int_not_equal(reply.u.waiting.port_ip, FW_MIRROR_IP(0));
	fw_mirror_at(&a, reply.u.waiting.port_ip);
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_WAITING);
	assert_int_equal(reply.u.waiting.joined, 1);
	/* One that wants this port keeps waiting for it. */
	assert_int_equal(fw_ask_result(b, &fixed, &reply), RF_CTL_WAITING);
	assert_int_equal(reply.u.waiting.port_ip, FW_MIRROR_IP(0));
	fw_box_free(b);
}

/* The gateway is asked for with each announcement; its silence is counted. */
static void test_gateway(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct rf_fw_cfg cfg = b->cfg;

	(void)state;
	fw_box_free(b);
	b = fw_box_new();
	b->mirror = true;
	b->cfg = cfg;
	b->cfg.gateway = GATEWAY;
	b->cfg.announce_ms = 60000;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	assert_null(fw_box_run(b, 10));
	expect_all(b, false, GATEWAY);
	arp_in(b, 1, RF_FW_ARP_REPLY, host_mac, GATEWAY, FW_MIRROR_IP(1));
	assert_true(b->fw.address[1].gateway);
	assert_false(b->fw.address[0].gateway);
	assert_int_equal(b->fw.cnt.arp_claims, 0);
	assert_null(fw_box_run(b, 60100));
	assert_int_equal(b->fw.cnt.gateway_silent, 3);
	drain(b);
	assert_null(fw_box_run(b, 60100));
	assert_int_equal(b->fw.cnt.gateway_silent, 7);
	assert_false(b->fw.address[1].gateway);
	fw_box_free(b);
}

/* What rf_fw_init() refuses. */
static void test_settings(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct rf_fw_cfg good = b->cfg;

	(void)state;
#define BAD(why, what)                                                                             \
	do {                                                                                       \
		b->cfg = good;                                                                     \
		what;                                                                              \
		assert_int_equal(fw_box_start(b), why);                                            \
		assert_string_not_equal(rf_fw_error_text(why), "unknown error");                   \
	} while (0)
	BAD(RF_FW_E_TWICE, b->cfg.port_ip[3] = FW_MIRROR_IP(1));
	BAD(RF_FW_E_OWN, b->cfg.port_ip[3] = FW_BOX_IP);
	BAD(RF_FW_E_SUBNET, b->cfg.port_ip[3] = 0x0a010000); /* another subnet */
	BAD(RF_FW_E_SUBNET, b->cfg.port_ip[3] = 0x0a000000); /* the subnet itself */
	BAD(RF_FW_E_SUBNET, b->cfg.port_ip[3] = 0x0a00ffff); /* its broadcast address */
	BAD(RF_FW_E_ADDRESS, b->cfg.port_ip[3] = 0xe0000001; b->cfg.prefix = 0);
	BAD(RF_FW_E_ADDRESS, b->cfg.port_ip[3] = 0x7f000001; b->cfg.prefix = 0);
	BAD(RF_FW_E_ADDRESS, b->cfg.port_ip[3] = 0x00000001; b->cfg.prefix = 0);
	BAD(RF_FW_E_PORTS, b->cfg.port_ip[4] = FW_MIRROR_IP(4));
	BAD(RF_FW_E_BOX, b->cfg.ip = 0x00000001; b->cfg.prefix = 0);
	BAD(RF_FW_E_BOX, b->cfg.ip = 0x7f000001; b->cfg.prefix = 0);
	BAD(RF_FW_E_BOX, b->cfg.ip = 0xe0000001; b->cfg.prefix = 0);
	BAD(RF_FW_E_BOX, b->cfg.ip = 0xffffffff; b->cfg.prefix = 0);
	BAD(RF_FW_E_BOX, b->cfg.ip = 0x0a000000); /* the subnet itself */
	BAD(RF_FW_E_BOX, b->cfg.ip = 0x0a00ffff); /* its broadcast address */
	BAD(RF_FW_E_PREFIX, b->cfg.prefix = 33);
	BAD(RF_FW_E_GATEWAY, b->cfg.gateway = 0x0a010001);
	BAD(RF_FW_E_GATEWAY, b->cfg.gateway = FW_BOX_IP);
	BAD(RF_FW_E_AT_GATEWAY, b->cfg.gateway = FW_MIRROR_IP(2));
	/* By default the box's address + 1 + p: 10.0.0.255 is a broadcast address in a /24. */
	BAD(RF_FW_E_SUBNET, b->cfg.port_list = false; b->cfg.prefix = 24);
#undef BAD
	b->cfg = good;
	b->cfg.port_list = false;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	assert_int_equal(b->port_ip[0], FW_BOX_IP + 1);
	assert_int_equal(b->port_ip[3], FW_BOX_IP + 4);
	/* Ports may have no address. A /31 has no broadcast address. */
	b->cfg = good;
	b->cfg.port_ip[0] = b->cfg.port_ip[1] = b->cfg.port_ip[2] = 0;
	b->cfg.port_ip[3] = FW_BOX_IP + 1;
	b->cfg.prefix = 31;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	for (unsigned int r = 0; r < 3; r++) {
		assert_int_equal(join(b, r), RF_CTL_WAITING);
		assert_int_equal(reply.u.waiting.port_ip, FW_BOX_IP + 1);
	}
	fw_box_free(b);
}

/* ARP bodies that are cut, of another kind, or from a group address change nothing. */
static void test_damaged(void **state)
{
	static const uint8_t group[6] = {3, 0, 0, 0, 9, 5};
	struct fw_box *b = fw_mirror_box();
	uint8_t f[60] = {0};

	(void)state;
	arp_in(b, 0, RF_FW_ARP_REPLY, group, FW_MIRROR_IP(0), HOST_IP);
	arp_in(b, 0, 3, host_mac, HOST_IP, FW_MIRROR_IP(0));
	for (unsigned int at = 14; at < 20; at++) {
		memset(f, 0xff, 6);
		memcpy(f + 6, host_mac, 6);
		rf_put_be16(f + 12, 0x0806);
		rf_put_be32(f + 14, 0x00010800);
		rf_put_be16(f + 18, 0x0604);
		rf_put_be16(f + 20, RF_FW_ARP_REPLY);
		memcpy(f + 22, host_mac, 6);
		rf_put_be32(f + 28, FW_MIRROR_IP(0));
		f[at] ^= 1;
		fw_box_punt(b, 0, f, sizeof(f));
		assert_null(fw_box_poll(b));
	}
	assert_int_equal(b->fw.cnt.arp_claims, 0);
	assert_int_equal(b->fw.cnt.arp_other, 8);
	assert_int_equal(drain(b), 0);
	fw_box_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probes),       cmocka_unit_test(test_busy),
		cmocka_unit_test(test_answers),      cmocka_unit_test(test_claimed_early),
		cmocka_unit_test(test_rival),        cmocka_unit_test(test_claims),
		cmocka_unit_test(test_silent_claim), cmocka_unit_test(test_moved),
		cmocka_unit_test(test_gateway),      cmocka_unit_test(test_settings),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
