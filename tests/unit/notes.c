/* The comments of captures: what is learnt from JOIN and READY, and which packets are repeats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_ctl.h"
#include "wire/notes.h"

#define JOB UINT64_C(0x1122334455667788)
#define JOB_TEXT "1234605616436508552"
#define SHIFT 0x400000u

static const uint8_t box_mac[6] = {0x02, 0x52, 0x46, 0x00, 0x00, 0x10};
static const uint8_t host_mac[6] = {0x02, 0, 0, 0, 0, 1};

struct place {
	uint32_t ip, qpn, peer_ip, peer_qpn, start;
	uint32_t port_ip; /* not 0: a mirror rank, which sends there */
};

static const struct place first = {0x0a000001, 17, 0x0a000002, 18, 0xfffff0, 0};

static const char *control(struct rf_notes *n, bool reply, const struct place *p, uint16_t group)
{
	struct rf_ctl_header h = {.verb = RF_CTL_JOIN, .group = group, .job = JOB, .rank = 2};
	struct rf_ctl_addr a = {.vlan = RF_CTL_NO_VLAN,
				.src_ip = p->ip,
				.dst_ip = 0x0a0000fe,
				.src_port = 50000,
				.dst_port = 4791};
	struct rf_ctl_request q = {.u.join = {.ranks = 2,
					      .mtu_log2 = 10,
					      .slots_log2 = 5,
					      .port = RF_CTL_NO_PORT,
					      .flags = RF_CTL_J_SHIFTED,
					      .src_ip = p->ip,
					      .qpn = p->qpn,
					      .peer_ip = p->peer_ip,
					      .peer_qpn = p->peer_qpn,
					      .start_psn = p->start,
					      .shift = SHIFT,
					      .lease_ms = 1000,
					      .deadline_ms = 1000}};
	struct rf_ctl_reply r = {.result = RF_CTL_READY,
				 .u.ready = {.ranks = 2, .slots_log2 = 5, .window = 16}};
	uint8_t msg[RF_CTL_MESSAGE_MAX], frame[2048];
	size_t len;

	if (p->port_ip) {
		q.u.join.flags = RF_CTL_J_MIRROR;
		q.u.join.shift = 0;
		r.u.ready.port_ip = p->port_ip;
	}
	if (reply) {
		h.flags = RF_CTL_F_REPLY | RF_CTL_F_UNSIGNED;
		a.src_port = 4791;
		a.dst_port = 50000;
	}
	len = reply ? rf_ctl_reply_put(msg, &h, &r, NULL) : rf_ctl_request_put(msg, &h, &q, NULL);
	assert_true(len > 0);
	len = rf_ctl_frame_put(frame, sizeof(frame), &a, msg, len);
	return rf_notes_of(n, 0, frame, len);
}

static const char *packet(struct rf_notes *n, const uint8_t mac[6], uint32_t from, uint32_t to,
			  uint32_t qpn, uint8_t opcode, uint32_t psn, bool vlan)
{
	uint8_t frame[128] = {0};
	uint8_t *ip = frame + (vlan ? 18 : 14);

	memcpy(frame + 6, mac, 6);
	rf_put_be16(frame + 12, vlan ? 0x8100 : 0x0800);
	if (vlan)
		rf_put_be16(frame + 16, 0x0800);
	ip[0] = 0x45;
	ip[9] = 17;
	rf_put_be32(ip + 12, from);
	rf_put_be32(ip + 16, to);
	rf_put_be16(ip + 22, 4791);
	ip[28] = opcode;
	rf_put_be24(ip + 33, qpn);
	rf_put_be24(ip + 37, psn & 0xffffff);
	return rf_notes_of(n, 1, frame, sizeof(frame));
}

static const char *data(struct rf_notes *n, uint32_t index)
{
	return packet(n, host_mac, first.ip, first.peer_ip, first.peer_qpn, 1, first.start + index,
		      false);
}

static void test_texts(void **state)
{
	struct rf_notes *n = rf_notes_new(box_mac);
	uint8_t port_mac[6];

	(void)state;
	assert_non_null(n);
	memcpy(port_mac, box_mac, 6);
	port_mac[5]++;
	assert_null(data(n, 0));
	assert_null(control(n, false, &first, 3));
	assert_string_equal(data(n, 0), "ringfold job " JOB_TEXT " group 3 rank 2 data index 0");
	assert_null(control(n, true, &first, 3));
	assert_string_equal(data(n, 33),
			    "ringfold job " JOB_TEXT " group 3 rank 2 data index 33 slot 1");
	assert_string_equal(data(n, 33),
			    "ringfold job " JOB_TEXT " group 3 rank 2 data index 33 slot 1 repeat");
	/* at another place it is new; what the box sends is shifted */
	assert_string_equal(packet(n, port_mac, first.ip, first.peer_ip, first.peer_qpn, 1,
				   first.start + 33 - SHIFT, true),
			    "ringfold job " JOB_TEXT " group 3 rank 2 data index 33 slot 1");
	/* its ACK: shifted towards the box, not from it */
	assert_string_equal(packet(n, host_mac, first.peer_ip, first.ip, first.qpn, 0x11,
				   first.start + 33 - SHIFT, false),
			    "ringfold job " JOB_TEXT " group 3 rank 2 ack index 33 slot 1");
	assert_string_equal(packet(n, port_mac, first.peer_ip, first.ip, first.qpn, 0x11,
				   first.start + 33, false),
			    "ringfold job " JOB_TEXT " group 3 rank 2 ack index 33 slot 1");
	/* others: another queue pair, another sender, a READ */
	assert_null(packet(n, host_mac, first.ip, first.peer_ip, 19, 1, 0, false));
	assert_null(packet(n, host_mac, 0x0a000003, first.peer_ip, first.peer_qpn, 1, 0, false));
	assert_null(packet(n, host_mac, first.ip, first.peer_ip, first.peer_qpn, 0x0c, 0, false));
	rf_notes_free(n);
	rf_notes_free(NULL);
}

/*
 * A mirror rank's packets go to the box's port and come back, on one QPN; behind a router no MAC of
 * the box is seen.
 */
static void test_mirror(void **state)
{
	static const struct place p = {
		.ip = 0x0a000001, .qpn = 17, .start = 0xfffff0, .port_ip = 0x0a0000de};
	static const char text[] = "ringfold job " JOB_TEXT " group 3 rank 2 data index 33 slot 1";
	struct rf_notes *n = rf_notes_new(box_mac);

	(void)state;
	control(n, false, &p, 3);
	assert_null(packet(n, host_mac, p.ip, p.port_ip, p.qpn, 5, p.start + 33, false));
	control(n, true, &p, 3);
	assert_string_equal(packet(n, host_mac, p.ip, p.port_ip, p.qpn, 5, p.start + 33, false),
			    text);
	assert_string_equal(packet(n, host_mac, p.port_ip, p.ip, p.qpn, 5, p.start + 33, false),
			    text);
	assert_non_null(strstr(packet(n, host_mac, p.port_ip, p.ip, p.qpn, 5, p.start + 33, false),
			       " repeat"));
	assert_string_equal(packet(n, host_mac, p.ip, p.port_ip, p.qpn, 0x11, p.start + 33, false),
			    "ringfold job " JOB_TEXT " group 3 rank 2 ack index 33 slot 1");
	/* another host, another peer, another queue pair */
	assert_null(packet(n, host_mac, p.ip + 1, p.port_ip, p.qpn, 5, p.start + 34, false));
	assert_null(packet(n, host_mac, p.ip, p.port_ip + 1, p.qpn, 5, p.start + 34, false));
	assert_null(packet(n, host_mac, p.ip, p.port_ip, p.qpn + 1, 5, p.start + 34, false));
	rf_notes_free(n);
}

static void test_window(void **state)
{
	struct rf_notes *n = rf_notes_new(box_mac);

	(void)state;
	control(n, false, &first, 3);
	for (uint32_t i = 0; i < 200000; i++) {
		/* each third packet is lost here, and arrives later */
		if (i % 3 != 1)
			assert_null(strstr(data(n, i), "repeat"));
		if (i % 3 == 2) {
			assert_null(strstr(data(n, i - 1), "repeat"));
			assert_non_null(strstr(data(n, i), "repeat"));
			assert_non_null(strstr(data(n, i > 60000 ? i - 60000 : i), "repeat"));
		}
	}
	/* after a jump, earlier packets are forgotten */
	assert_null(strstr(data(n, 2000000), "repeat"));
	assert_non_null(strstr(data(n, 2000000), "repeat"));
	assert_null(strstr(data(n, 2000001), "repeat"));
	rf_notes_free(n);
}

/* More connections than can be remembered: the oldest are dropped, the newest stay. */
static void test_many(void **state)
{
	struct rf_notes *n = rf_notes_new(box_mac);
	struct place p = first;

	(void)state;
	for (uint32_t k = 0; k < 600; k++) {
		p.qpn = 1000 + k;
		p.peer_qpn = 5000 + k;
		control(n, false, &p, (uint16_t)k);
		assert_non_null(
			packet(n, host_mac, p.ip, p.peer_ip, p.peer_qpn, 1, p.start, false));
	}
	assert_null(packet(n, host_mac, p.ip, p.peer_ip, 5000, 1, p.start, false));
	assert_non_null(packet(n, host_mac, p.ip, p.peer_ip, 5599, 1, p.start, false));
	rf_notes_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_mirror),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
