/* The endpoint: which queue pair gets a frame, what is counted, ARP, ping, control packets, turns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "host/roce/endpoint.h"
#include "proto/rf_bytes.h"
#include "tests/unit/fail_calloc.h"
#include "wire/arp.h"

static const uint8_t my_mac[6] = {2, 0, 0, 0, 0, 1};
static const uint8_t peer_mac[6] = {2, 0, 0, 0, 0, 2};
static const uint8_t box_mac[6] = {2, 0, 0, 0, 0, 9};
#define MY_IP 0x0a000001u
#define PEER_IP 0x0a000002u
#define BOX_IP 0x0a000009u

struct heard {
	unsigned int controls;
	unsigned int neighbours;
	uint32_t ip;
	uint8_t mac[6];
	uint32_t len;
	uint8_t data[64];
};

static void on_control(void *ctx, uint64_t now, const struct roce_udp *udp)
{
	struct heard *h = ctx;

	assert_int_equal(now, 7);
	h->controls++;
	h->len = udp->len;
	memcpy(h->data, udp->data, udp->len < 64 ? udp->len : 64);
}

static void on_neighbour(void *ctx, uint64_t now, uint32_t ip, const uint8_t mac[6])
{
	struct heard *h = ctx;

	assert_int_equal(now, 7);
	h->neighbours++;
	h->ip = ip;
	memcpy(h->mac, mac, 6);
}

static struct roce_endpoint_cfg make_cfg(struct heard *h)
{
	struct roce_endpoint_cfg cfg = {.ip = MY_IP, .box_ip = BOX_IP, .max_qps = 3};

	memcpy(cfg.mac, my_mac, 6);
	cfg.callbacks.ctx = h;
	cfg.callbacks.control = h ? on_control : NULL;
	cfg.callbacks.neighbour = h ? on_neighbour : NULL;
	return cfg;
}

static struct roce_endpoint *make(struct heard *h)
{
	struct roce_endpoint_cfg cfg = make_cfg(h);
	struct roce_endpoint *ep = NULL;

	assert_int_equal(roce_endpoint_create(&cfg, &ep), ROCE_OK);
	return ep;
}

static struct roce_qp *make_qp(uint32_t qpn)
{
	struct roce_qp_peer peer = {.ip = PEER_IP, .qpn = 50};
	struct roce_qp_cfg cfg;
	struct roce_qp *qp = NULL;

	roce_qp_cfg_init(&cfg);
	memcpy(cfg.mac, my_mac, 6);
	memcpy(peer.mac, peer_mac, 6);
	cfg.ip = MY_IP;
	cfg.qpn = qpn;
	assert_int_equal(roce_qp_create(&cfg, &qp), ROCE_OK);
	assert_int_equal(roce_qp_to_rtr(qp, &peer), ROCE_OK);
	assert_int_equal(roce_qp_to_rts(qp), ROCE_OK);
	return qp;
}

static struct roce_packet request(uint32_t qpn)
{
	static const uint8_t payload[16];
	struct roce_packet p = {
		.ttl = 64,
		.src_ip = PEER_IP,
		.dst_ip = MY_IP,
		.udp_sport = 0xc000,
		.opcode = ROCE_OP_SEND_ONLY,
		.pkey = 0xffff,
		.qpn = qpn,
		.psn = 5, /* a gap: the answer is a NAK */
		.payload = payload,
		.payload_len = 16,
	};

	memcpy(p.dst_mac, my_mac, 6);
	memcpy(p.src_mac, peer_mac, 6);
	return p;
}

static void who_gets_a_frame(void **state)
{
	struct roce_endpoint *ep = make(NULL);
	const struct roce_endpoint_counters *n = roce_endpoint_counters(ep);
	struct roce_qp *qp = make_qp(20);
	struct roce_packet p = request(20);
	uint8_t frame[ROCE_FRAME_MAX], out[ROCE_FRAME_MAX];
	size_t len = roce_build(&p, frame, sizeof(frame));

	(void)state;
	assert_int_equal(roce_endpoint_add_qp(ep, qp), ROCE_OK);
	assert_int_equal(roce_endpoint_tx(ep, 0, out, sizeof(out)), 0);
#define TRY(change, counter)                                                                       \
	do {                                                                                       \
		uint64_t before = n->counter;                                                      \
		p = request(20);                                                                   \
		change;                                                                            \
		len = roce_build(&p, frame, sizeof(frame));                                        \
		roce_endpoint_rx(ep, 0, frame, len);                                               \
		assert_int_equal(n->counter, before + 1);                                          \
	} while (0)
	TRY(p.dst_mac[5] = 3, rx_other_mac);
	TRY(p.dst_ip = BOX_IP, rx_other_ip);
	TRY(p.src_ip = 99, rx_wrong_source);
	TRY(p.qpn = 21, rx_unknown_qpn);
	TRY(p.opcode = 0x64, rx_wire[-ROCE_WIRE_OPCODE]);
	TRY(p.udp_checksum = 0x1234, rx_udp_checksum);
	assert_int_equal(roce_qp_counters(qp)->rx_packets, 0);
	assert_int_equal(roce_endpoint_tx(ep, 0, out, sizeof(out)), 0);
	TRY((void)0, rx_roce);
#undef TRY
	assert_int_equal(roce_qp_counters(qp)->rx_packets, 1);
	frame[22]--; /* TTL changed, checksum left as it was */
	roce_endpoint_rx(ep, 0, frame, len);
	assert_int_equal(n->rx_ip_checksum, 1);
	frame[22]++;
	frame[len - 1] ^= 0x80;
	roce_endpoint_rx(ep, 0, frame, len);
	assert_int_equal(n->rx_icrc, 1);
	roce_endpoint_rx(ep, 0, frame, 30);
	assert_int_equal(n->rx_wire[-ROCE_WIRE_RUNT], 1);
	roce_endpoint_rx(ep, 0, frame, 0);
	assert_int_equal(n->rx_wire[-ROCE_WIRE_RUNT], 2);
	assert_int_equal(roce_qp_counters(qp)->rx_packets, 1);
	/* The NAK for the one that arrived. */
	assert_int_equal(roce_endpoint_tx(ep, 0, out, ROCE_FRAME_MAX - 1), 0);
	len = roce_endpoint_tx(ep, 0, out, sizeof(out));
	assert_int_equal(len, 62);
	assert_int_equal(roce_parse(out, len, &p), ROCE_WIRE_OK);
	assert_int_equal(p.syndrome, ROCE_SYN_NAK_SEQUENCE);
	assert_memory_equal(p.dst_mac, peer_mac, 6);
	assert_int_equal(n->tx_frames, 1);
	roce_endpoint_destroy(ep);
	roce_qp_destroy(qp);
}

static void arp(void **state)
{
	struct heard h = {0};
	struct roce_endpoint *ep = make(&h);
	struct rf_arp a = {.op = 1, .sender_ip = PEER_IP, .target_ip = MY_IP};
	uint8_t frame[128];
	size_t len;

	(void)state;
	memcpy(a.sender_mac, peer_mac, 6);
	for (int tag = 0; tag < 2; tag++) {
		a = (struct rf_arp){.op = 1, .sender_ip = PEER_IP, .target_ip = MY_IP};
		memcpy(a.sender_mac, peer_mac, 6);
		a.has_vlan = tag;
		a.vlan_tci = tag ? 5 : 0;
		len = rf_arp_build(&a, frame, sizeof(frame));
		roce_endpoint_rx(ep, 7, frame, len);
		uint8_t out[ROCE_FRAME_MAX];
		len = roce_endpoint_tx(ep, 7, out, sizeof(out));
		assert_int_equal(len, tag ? 64 : 60);
		assert_int_not_equal(rf_arp_parse(out, len, &a), 0);
		assert_int_equal(a.op, 2);
		assert_int_equal(a.has_vlan, tag);
		assert_int_equal(a.sender_ip, MY_IP);
		assert_memory_equal(a.sender_mac, my_mac, 6);
		assert_int_equal(a.target_ip, PEER_IP);
		assert_memory_equal(out, peer_mac, 6);
	}
	assert_int_equal(h.neighbours, 2);
	assert_int_equal(h.ip, PEER_IP);
	assert_memory_equal(h.mac, peer_mac, 6);
	/* A reply is accepted and not answered; a request for another host is ignored. */
	a = (struct rf_arp){.op = 2, .sender_ip = BOX_IP, .target_ip = MY_IP};
	memcpy(a.sender_mac, box_mac, 6);
	memcpy(a.target_mac, my_mac, 6);
	len = rf_arp_build(&a, frame, sizeof(frame));
	roce_endpoint_rx(ep, 7, frame, len);
	assert_int_equal(h.neighbours, 3);
	a = (struct rf_arp){.op = 1, .sender_ip = PEER_IP, .target_ip = BOX_IP};
	len = rf_arp_build(&a, frame, sizeof(frame));
	roce_endpoint_rx(ep, 7, frame, len);
	assert_int_equal(h.neighbours, 3);
	/* A probe (sender 0) is answered, and no address is learnt from it. */
	a = (struct rf_arp){.op = 1, .target_ip = MY_IP};
	len = rf_arp_build(&a, frame, sizeof(frame));
	roce_endpoint_rx(ep, 7, frame, len);
	assert_int_equal(h.neighbours, 3);
	uint8_t out[ROCE_FRAME_MAX];
	assert_int_equal(roce_endpoint_tx(ep, 7, out, sizeof(out)), 60);
	assert_int_equal(roce_endpoint_tx(ep, 7, out, sizeof(out)), 0);
	roce_endpoint_destroy(ep);
}

static size_t make_ping(uint8_t *frame, uint8_t type)
{
	struct roce_udp u = {.src_ip = PEER_IP, .dst_ip = MY_IP, .len = 40};
	uint8_t body[40] = {0};
	size_t len;

	memcpy(u.dst_mac, my_mac, 6);
	memcpy(u.src_mac, peer_mac, 6);
	u.data = body;
	len = roce_udp_build(&u, frame, 128);
	frame[23] = RF_INET_PROTO_ICMP;
	rf_put_be16(frame + 24, 0);
	rf_put_be16(frame + 24, rf_inet_checksum(0, frame + 14, 20));
	memset(frame + 34, 0xa5, 48);
	frame[34] = type;
	frame[35] = 0;
	rf_put_be16(frame + 36, 0);
	rf_put_be16(frame + 36, rf_inet_checksum(0, frame + 34, 48));
	return len;
}

static void ping(void **state)
{
	struct roce_endpoint *ep = make(NULL);
	uint8_t frame[128], out[ROCE_FRAME_MAX];
	size_t len = make_ping(frame, 8);

	(void)state;
	roce_endpoint_rx(ep, 0, frame, len);
	assert_int_equal(roce_endpoint_tx(ep, 0, out, sizeof(out)), len);
	assert_memory_equal(out, peer_mac, 6);
	assert_memory_equal(out + 6, my_mac, 6);
	assert_int_equal(rf_get_be32(out + 26), MY_IP);
	assert_int_equal(rf_get_be32(out + 30), PEER_IP);
	assert_int_equal(rf_inet_checksum(0, out + 14, 20), 0);
	assert_int_equal(rf_inet_checksum(0, out + 34, 48), 0);
	assert_int_equal(out[34], 0);
	assert_memory_equal(out + 38, frame + 38, 44);
	/* A reply, and a request that was damaged, get no answer. */
	len = make_ping(frame, 0);
	roce_endpoint_rx(ep, 0, frame, len);
	len = make_ping(frame, 8);
	frame[60] ^= 1;
	roce_endpoint_rx(ep, 0, frame, len);
	assert_int_equal(roce_endpoint_tx(ep, 0, out, sizeof(out)), 0);
	assert_int_equal(roce_endpoint_counters(ep)->rx_icmp, 1);
	roce_endpoint_destroy(ep);
}

static void control_packets(void **state)
{
	struct heard h = {0};
	struct roce_endpoint *ep = make(&h);
	struct roce_qp *qp = make_qp(20);
	struct roce_udp u = {
		.src_ip = BOX_IP, .dst_ip = MY_IP, .sport = 5, .dport = 4791, .len = 30};
	uint8_t body[30];
	uint8_t frame[128];
	size_t len;

	(void)state;
	assert_int_equal(roce_endpoint_add_qp(ep, qp), ROCE_OK);
	/* The body looks like a BTH of our queue pair; the frame is still a control packet. */
	memset(body, 0, sizeof(body));
	body[0] = ROCE_OP_SEND_ONLY;
	body[7] = 20;
	memcpy(u.dst_mac, my_mac, 6);
	memcpy(u.src_mac, box_mac, 6);
	u.data = body;
	len = roce_udp_build(&u, frame, sizeof(frame));
	roce_endpoint_rx(ep, 7, frame, len);
	assert_int_equal(h.controls, 1);
	assert_int_equal(h.len, 30);
	assert_memory_equal(h.data, body, 30);
	/* Shorter than any BTH. */
	u.len = 3;
	len = roce_udp_build(&u, frame, sizeof(frame));
	roce_endpoint_rx(ep, 7, frame, len);
	assert_int_equal(h.controls, 2);
	assert_int_equal(h.len, 3);
	/* The answer to our own request: port 4791 is the source. */
	u.sport = 4791;
	u.dport = 1234;
	len = roce_udp_build(&u, frame, sizeof(frame));
	roce_endpoint_rx(ep, 7, frame, len);
	assert_int_equal(h.controls, 3);
	/* Neither port, another sender, a box that does not exist: no control packet. */
	u.sport = 5;
	len = roce_udp_build(&u, frame, sizeof(frame));
	roce_endpoint_rx(ep, 7, frame, len);
	u.dport = 4791;
	u.src_ip = PEER_IP;
	len = roce_udp_build(&u, frame, sizeof(frame));
	roce_endpoint_rx(ep, 7, frame, len);
	u.src_ip = BOX_IP;
	len = roce_udp_build(&u, frame, sizeof(frame));
	roce_endpoint_set_box(ep, 0);
	roce_endpoint_rx(ep, 7, frame, len);
	assert_int_equal(h.controls, 3);
	assert_int_equal(roce_qp_counters(qp)->rx_packets, 0);
	roce_endpoint_destroy(ep);
	roce_qp_destroy(qp);
}

static void queue_pairs_take_turns(void **state)
{
	static uint8_t data[8192];
	struct roce_endpoint *ep = make(NULL);
	struct roce_qp *qp[4];
	uint8_t out[ROCE_FRAME_MAX];
	unsigned int turns[3] = {0};
	struct roce_packet p;
	size_t len;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		qp[i] = make_qp(20 + 64 * i);
	for (uint32_t i = 0; i < 3; i++) {
		struct roce_send_wr wr = {.buf = data, .len = sizeof(data)};

		assert_int_equal(roce_endpoint_add_qp(ep, qp[i]), ROCE_OK);
		assert_int_equal(roce_endpoint_add_qp(ep, qp[i]), ROCE_E_EXISTS);
		assert_int_equal(roce_qp_post_send(qp[i], &wr), ROCE_OK);
	}
	assert_int_equal(roce_endpoint_add_qp(ep, qp[3]), ROCE_E_AGAIN);
	assert_int_equal(roce_endpoint_next_timeout(ep), UINT64_MAX);
	for (unsigned int k = 0; k < 24; k++) {
		len = roce_endpoint_tx(ep, 10 * k, out, sizeof(out));
		assert_true(len > 0);
		assert_int_equal(roce_parse(out, len, &p), 0);
		assert_in_range(p.udp_sport, 0xc000, 0xffff);
		for (uint32_t i = 0; i < 3; i++)
			turns[i] += p.udp_sport == (0xc000u | (20 + 64 * i));
		if (k % 3 == 2)
			assert_true(turns[0] == turns[1] && turns[1] == turns[2]);
	}
	assert_int_equal(roce_endpoint_tx(ep, 500, out, sizeof(out)), 0);
	/* The first one's timer, started with its first packet. */
	assert_int_equal(roce_endpoint_next_timeout(ep), 4000000);
	/* Removed: its packets are unknown, the other queue pairs are still found. */
	roce_endpoint_remove_qp(ep, qp[0]);
	roce_endpoint_remove_qp(ep, qp[3]);
	assert_int_equal(roce_endpoint_next_timeout(ep), 4000010);
	for (uint32_t i = 0; i < 3; i++) {
		p = request(20 + 64 * i);
		len = roce_build(&p, out, sizeof(out));
		roce_endpoint_rx(ep, 500, out, len);
		assert_int_equal(roce_qp_counters(qp[i])->rx_packets, i > 0);
	}
	assert_int_equal(roce_endpoint_counters(ep)->rx_unknown_qpn, 1);
	assert_int_equal(roce_endpoint_add_qp(ep, qp[3]), ROCE_OK);
	roce_endpoint_destroy(ep);
	for (uint32_t i = 0; i < 4; i++)
		roce_qp_destroy(qp[i]);
}

static void own_frames(void **state)
{
	struct roce_endpoint *ep = make(NULL);
	uint8_t frame[ROCE_ENDPOINT_FRAME_BYTES + 1] = {0}, out[ROCE_FRAME_MAX];

	(void)state;
	assert_int_equal(roce_endpoint_send_frame(ep, frame, sizeof(frame)), ROCE_E_INVALID);
	assert_int_equal(roce_endpoint_send_frame(ep, frame, 13), ROCE_E_INVALID);
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < ROCE_ENDPOINT_FRAMES; i++) {
			frame[20] = (uint8_t)i;
			assert_int_equal(roce_endpoint_send_frame(ep, frame, 60 + i), ROCE_OK);
		}
		assert_int_equal(roce_endpoint_send_frame(ep, frame, 60), ROCE_E_AGAIN);
		for (unsigned int i = 0; i < ROCE_ENDPOINT_FRAMES; i++) {
			assert_int_equal(roce_endpoint_tx(ep, 0, out, sizeof(out)), 60 + i);
			assert_int_equal(out[20], i);
		}
		assert_int_equal(roce_endpoint_tx(ep, 0, out, sizeof(out)), 0);
	}
	assert_int_equal(roce_endpoint_counters(ep)->frames_full, 3);
	roce_endpoint_destroy(ep);
	roce_endpoint_destroy(NULL);
}

static void refused_settings_and_no_memory(void **state)
{
	struct roce_endpoint_cfg cfg = make_cfg(NULL);
	struct roce_endpoint *ep = NULL;

	(void)state;
	cfg.max_qps = 0;
	assert_int_equal(roce_endpoint_create(&cfg, &ep), ROCE_E_INVALID);
	cfg.max_qps = 4097;
	assert_int_equal(roce_endpoint_create(&cfg, &ep), ROCE_E_INVALID);
	cfg = make_cfg(NULL);
	cfg.ip = 0;
	assert_int_equal(roce_endpoint_create(&cfg, &ep), ROCE_E_INVALID);
	cfg = make_cfg(NULL);
	cfg.mac[0] = 1;
	assert_int_equal(roce_endpoint_create(&cfg, &ep), ROCE_E_INVALID);
	cfg = make_cfg(NULL);
	fail_at = 1;
	assert_int_equal(roce_endpoint_create(&cfg, &ep), ROCE_E_NO_MEMORY);
	assert_null(ep);
	fail_at = 2;
	assert_int_equal(roce_endpoint_create(&cfg, &ep), ROCE_OK);
	assert_int_equal(fail_at, 1);
	fail_at = 0;
	roce_endpoint_destroy(ep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_gets_a_frame),
		cmocka_unit_test(arp),
		cmocka_unit_test(ping),
		cmocka_unit_test(control_packets),
		cmocka_unit_test(queue_pairs_take_turns),
		cmocka_unit_test(own_frames),
		cmocka_unit_test(refused_settings_and_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
