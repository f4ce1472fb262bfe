#include "tests/unit/fw_ask.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"

uint64_t (*fw_ask_nonce)(uint32_t ip) = fw_box_nonce;
uint32_t fw_ask_seq;
const uint8_t fw_ask_zero_key[16];
static uint32_t asked_ip = FW_BOX_IP;

/* A valid JOIN of rank r of n. */
struct fw_ask fw_ask_join(unsigned int r, unsigned int n)
{
	struct fw_ask a = {.h = {.verb = RF_CTL_JOIN,
				 .group = 1,
				 .job = 42,
				 .rank = (uint16_t)r,
				 .token = 100 + r},
			   .r.u.join = {.ranks = (uint16_t)n,
					.mtu_log2 = 10,
					.slots_log2 = 6,
					.port = RF_CTL_NO_PORT,
					.flags = RF_CTL_J_SHIFTED,
					.src_ip = 0x0a000001u + r,
					.qpn = 0x11 + r,
					.peer_ip = 0x0a000001u + (r + 1) % n,
					.peer_qpn = 0x11 + (r + 1) % n,
					.start_psn = 7,
					.shift = RF_CTL_SHIFT,
					.lease_ms = 1000,
					.deadline_ms = 1000},
			   .key = fw_ask_zero_key,
			   .port = r % 4,
			   .ip = 0x0a000001u + r,
			   .vlan = RF_CTL_NO_VLAN};

	return a;
}

size_t fw_ask_frame(const struct fw_ask *a, uint8_t *frame)
{
	struct rf_ctl_addr to = {.vlan = a->vlan,
				 .src_ip = a->ip,
				 .dst_ip = a->to_ip ? a->to_ip : FW_BOX_IP,
				 .src_port = 50000,
				 .dst_port = RF_CTL_UDP_PORT,
				 .src_mac = {2, 0, 0, 0, 9, a->mac ? a->mac : 9}};
	struct rf_ctl_header h = a->h;
	uint8_t msg[RF_CTL_MESSAGE_MAX];
	size_t len;

	asked_ip = to.dst_ip;
	h.seq = ++fw_ask_seq;
	if (h.nonce == 0)
		h.nonce = fw_ask_nonce(a->ip);
	len = rf_ctl_request_put(msg, &h, &a->r, a->key);
	assert_true(len > 0);
	return rf_ctl_frame_put(frame, RF_CTL_FRAME_MAX, &to, msg, len);
}

/* The next transmitted frame, decoded as a reply; false: none. */
bool fw_ask_answer(struct fw_box *b, struct rf_ctl_header *h, struct rf_ctl_reply *r)
{
	const struct fw_box_frame *f = fw_box_out(b);
	struct rf_ctl_addr from;
	const uint8_t *msg;
	size_t len;

	if (!f)
		return false;
	assert_int_equal(rf_ctl_frame_get(f->data, f->len, &from, &msg, &len), 0);
	assert_int_equal(from.src_ip, asked_ip);
	assert_int_equal(from.src_port, RF_CTL_UDP_PORT);
	assert_int_equal(from.dst_port, 50000); /* the request's source port */
	assert_int_equal(rf_ctl_header_get(msg, len, h), 0);
	assert_int_equal(rf_ctl_reply_get(msg, h, r), 0);
	return true;
}

unsigned int fw_ask_result(struct fw_box *b, const struct fw_ask *a, struct rf_ctl_reply *r)
{
	uint8_t frame[RF_CTL_FRAME_MAX];
	struct rf_ctl_header h;

	fw_box_punt(b, a->port, frame, fw_ask_frame(a, frame));
	assert_null(fw_box_poll(b));
	assert_true(fw_ask_answer(b, &h, r));
	assert_int_equal(h.seq, fw_ask_seq);
	assert_int_equal(h.token, a->h.token);
	return r->result;
}

struct fw_box *fw_ask_box(void)
{
	struct fw_box *b = fw_box_new();

	assert_int_equal(fw_box_start(b), RF_FW_OK);
	return b;
}

void fw_ask_accepted(struct fw_box *b, const struct fw_ask *a)
{
	struct rf_ctl_reply r;

	assert_int_equal(fw_ask_result(b, a, &r), RF_CTL_WAITING);
}
