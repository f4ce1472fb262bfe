/* The host's control client of a mirror rank: it asks, then joins at the address of a port. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "proto/rf_bytes.h"
#include "tests/unit/ctl_script.h"
#include "wire/arp.h"

#define PORT_IP 0x0a000081u
static const uint8_t port_mac[6] = {2, 0x52, 0x46, 0, 0, 0x13};

/* The next frame; its addresses in *a. Returns its length, 0 if none is due. */
static size_t next_frame(struct rf_client *c, uint64_t now, uint8_t *frame, struct rf_ctl_addr *a)
{
	size_t len = rf_client_tx(c, now, frame, RF_CLIENT_FRAME_MAX), n;
	const uint8_t *msg;

	memset(a, 0, sizeof(*a));
	if (len > 0 && rf_get_be16(frame + 12) == 0x0800)
		assert_int_equal(rf_ctl_frame_get(frame, len, a, &msg, &n), 0);
	return len;
}

/* An ARP reply from ip and mac to the client. */
static void arp_reply(struct rf_client *c, uint64_t now, uint32_t ip, const uint8_t *mac)
{
	struct rf_arp r = {.op = RF_ARP_REPLY, .sender_ip = ip, .target_ip = SCRIPT_OWN_IP};
	uint8_t frame[RF_CLIENT_FRAME_MAX];

	memcpy(r.sender_mac, mac, 6);
	memcpy(r.target_mac, script_own_mac, 6);
	rf_client_rx(c, now, frame, rf_arp_build(&r, frame, sizeof(frame)));
}

/* A mirror rank whose JOIN the box has answered with the address of a port. */
static struct rf_client mirror_client(uint32_t via, uint32_t mac_high)
{
	struct rf_client c = script_client(true);
	struct rf_ctl_join j = script_join;
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply w = script_waiting();

	c.cfg.via_ip = via;
	j.flags = RF_CTL_J_MIRROR;
	j.shift = 0;
	j.peer_ip = mac_high;
	j.peer_qpn = mac_high ? 0x0901 : 0;
	assert_int_equal(rf_client_join(&c, &j, 0), 0);
	assert_int_equal(rf_client_port_ip(&c), 0);
	assert_int_equal(script_request(&c, 0, &h, &q), RF_CTL_JOIN);
	w.u.waiting.port_ip = PORT_IP;
	assert_int_equal(script_reply(&c, 0, &h, &w, script_key, 9), 1);
	assert_int_equal(rf_client_port_ip(&c), PORT_IP);
	return c;
}

/* A mirror rank asks for the MAC of its port, and sends the same JOIN there. */
static void test_mirror(void **state)
{
	struct rf_client c = mirror_client(0, 0);
	uint8_t frame[RF_CLIENT_FRAME_MAX];
	struct rf_ctl_addr a;
	struct rf_arp q;
	char text[200];

	(void)state;
	assert_true(next_frame(&c, MS, frame, &a) > 0);
	assert_true(rf_arp_parse(frame, 60, &q) > 0);
	assert_int_equal(q.op, RF_ARP_REQUEST);
	assert_int_equal(q.target_ip, PORT_IP);
	/* The reply for another address is not it. */
	arp_reply(&c, MS, PORT_IP + 1, port_mac);
	assert_false(c.port_mac_known);
	arp_reply(&c, MS, PORT_IP, port_mac);
	assert_true(next_frame(&c, MS, frame, &a) > 0);
	assert_int_equal(a.dst_ip, PORT_IP);
	assert_memory_equal(a.dst_mac, port_mac, 6);
	assert_int_equal(frame[42 + 5], RF_CTL_JOIN);
	/* Answers come from there. */
	for (unsigned int other = 0; other < 2; other++) {
		struct rf_ctl_reply r = script_ready();
		uint8_t answer[RF_CTL_FRAME_MAX];
		struct rf_ctl_header h;
		const uint8_t *msg;
		size_t len;

		assert_int_equal(rf_ctl_frame_get(frame, 42 + 100, &a, &msg, &len), 0);
		assert_int_equal(rf_ctl_header_get(msg, len, &h), 0);
		r.u.ready.port_ip = PORT_IP;
		len = script_reply_frame(&c, &h, &r, script_key, 9, answer);
		rf_put_be32(answer + 26, other ? PORT_IP : PORT_IP + 1);
		rf_put_be16(answer + 24, 0);
		rf_put_be16(answer + 24, (uint16_t)~rf_ctl_checksum(answer + 14, 20, 0));
		assert_int_equal(rf_client_rx(&c, 2 * MS, answer, len), other);
	}
	assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
	/* Signs of life too, which tell the box a new MAC. */
	assert_true(next_frame(&c, 1100 * MS, frame, &a) > 0);
	assert_int_equal(frame[42 + 5], RF_CTL_STATUS);
	assert_int_equal(a.dst_ip, PORT_IP);
	/* Without a reply for the port's address the error names it. */
	c = mirror_client(0, 0);
	for (uint64_t t = MS; rf_client_state(&c) == RF_CLIENT_JOINING && t < 20000 * MS;
	     t += 10 * MS)
		while (rf_client_tx(&c, t, frame, sizeof(frame)) > 0)
			;
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_NO_PORT_ARP);
	rf_client_text(&c, text, sizeof(text));
	assert_non_null(strstr(text, "no ARP reply for the address 10.0.0.129 of the box's port"));
	/* Behind a router, whose MAC is known already. */
	c = mirror_client(0x0a000033, 0);
	assert_true(next_frame(&c, MS, frame, &a) > 0);
	assert_int_equal(a.dst_ip, PORT_IP);
	assert_memory_equal(a.dst_mac, script_box_mac, 6);
	/* A JOIN on behalf of another host, whose MAC it names, never goes to the port. */
	c = mirror_client(0, 0x02000000);
	for (uint64_t t = MS; t < 900 * MS; t += 10 * MS)
		while (next_frame(&c, t, frame, &a) > 0)
			assert_int_equal(a.dst_ip, SCRIPT_BOX_IP);
}

/*
 * The process stands still for 14 s after it has asked for the port's MAC. The reply is in the
 * receive ring and is read first; the JOIN that follows has its whole time for an answer.
 */
static void test_stands_still(void **state)
{
	struct rf_client c = mirror_client(0, 0);
	uint8_t frame[RF_CLIENT_FRAME_MAX];
	struct rf_ctl_addr a;

	(void)state;
	assert_true(next_frame(&c, MS, frame, &a) > 0);
	assert_int_equal(rf_get_be16(frame + 12), 0x0806);
	arp_reply(&c, 14000 * MS, PORT_IP, port_mac);
	assert_true(next_frame(&c, 14000 * MS, frame, &a) > 0);
	assert_int_equal(a.dst_ip, PORT_IP);
	assert_int_equal(next_frame(&c, 14000 * MS, frame, &a), 0);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
	/* A box that is gone is still detected. */
	for (uint64_t t = 14000 * MS; rf_client_state(&c) == RF_CLIENT_JOINING;) {
		while (next_frame(&c, t, frame, &a) > 0)
			;
		assert_true(t < 19200 * MS);
		if (rf_client_state(&c) == RF_CLIENT_JOINING)
			t = rf_client_next_timeout(&c);
	}
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_SILENT);
}

/* READY without the address to which a mirror rank has to send is no answer. */
static void test_no_port(void **state)
{
	struct rf_client c = mirror_client(0, 0);
	struct rf_ctl_reply r = script_ready();
	uint8_t frame[RF_CLIENT_FRAME_MAX];
	struct rf_ctl_header h;
	struct rf_ctl_addr a;
	const uint8_t *msg;
	size_t len;

	(void)state;
	arp_reply(&c, MS, PORT_IP, port_mac);
	assert_true(next_frame(&c, MS, frame, &a) > 0);
	assert_int_equal(rf_ctl_frame_get(frame, 42 + 100, &a, &msg, &len), 0);
	assert_int_equal(rf_ctl_header_get(msg, len, &h), 0);
	r.u.ready.port_ip = 0;
	script_reply(&c, MS, &h, &r, script_key, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
	assert_int_equal(c.stats.rx_malformed, 1);
	r.u.ready.port_ip = PORT_IP;
	script_reply(&c, MS, &h, &r, script_key, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_mirror),
					   cmocka_unit_test(test_stands_still),
					   cmocka_unit_test(test_no_port)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
