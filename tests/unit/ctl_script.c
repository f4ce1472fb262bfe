#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/ctl_script.h"

const uint8_t script_own_mac[6] = {2, 0, 0, 0, 0, 3};
const uint8_t script_box_mac[6] = {2, 0x52, 0x46, 0, 0, 0x11};
const uint8_t script_key[16] = {5, 5, 5};
const struct rf_ctl_join script_join = {.ranks = 4,
					.mtu_log2 = 10,
					.slots_log2 = 9,
					.port = RF_CTL_NO_PORT,
					.flags = RF_CTL_J_SHIFTED,
					.qpn = 0x11,
					.peer_ip = 0x0a000004,
					.peer_qpn = 0x12,
					.shift = RF_CTL_SHIFT,
					.lease_ms = 10000,
					.deadline_ms = 3000};

struct rf_client script_client(bool know_mac)
{
	static struct rf_client c;
	struct rf_client_cfg cfg = {.ip = SCRIPT_OWN_IP,
				    .box_ip = SCRIPT_BOX_IP,
				    .vlan = RF_CTL_NO_VLAN,
				    .job = 42,
				    .group = 1,
				    .rank = 3,
				    .token = 77,
				    .have_box_mac = know_mac};

	memcpy(cfg.mac, script_own_mac, 6);
	memcpy(cfg.box_mac, script_box_mac, 6);
	memcpy(cfg.key, script_key, 16);
	rf_client_init(&c, &cfg);
	return c;
}

unsigned int script_request(struct rf_client *c, uint64_t now, struct rf_ctl_header *h,
			    struct rf_ctl_request *q)
{
	uint8_t frame[RF_CLIENT_FRAME_MAX];
	size_t len = rf_client_tx(c, now, frame, sizeof(frame)), n;
	struct rf_ctl_addr a;
	const uint8_t *msg;

	if (len == 0)
		return 0;
	assert_int_equal(rf_ctl_frame_get(frame, len, &a, &msg, &n), 0);
	assert_memory_equal(frame, script_box_mac, 6);
	assert_int_equal(a.src_ip, SCRIPT_OWN_IP);
	assert_int_equal(a.dst_ip, SCRIPT_BOX_IP);
	assert_int_equal(rf_ctl_header_get(msg, n, h), 0);
	assert_true(rf_ctl_tag_ok(msg, h, script_key));
	assert_int_equal(rf_ctl_request_get(msg, h, q), 0);
	return h->verb;
}

size_t script_reply_frame(const struct rf_client *c, const struct rf_ctl_header *to,
			  const struct rf_ctl_reply *r, const uint8_t *k, uint32_t epoch,
			  uint8_t *frame)
{
	struct rf_ctl_header h = *to;
	struct rf_ctl_addr a = {.vlan = RF_CTL_NO_VLAN,
				.src_ip = SCRIPT_BOX_IP,
				.dst_ip = c->cfg.ip,
				.src_port = RF_CTL_UDP_PORT,
				.dst_port = RF_CTL_UDP_PORT};
	uint8_t msg[RF_CTL_MESSAGE_MAX];
	size_t len;

	h.flags = RF_CTL_F_REPLY;
	if (!k)
		h.flags |= RF_CTL_F_UNSIGNED;
	h.epoch = epoch;
	len = rf_ctl_reply_put(msg, &h, r, k);
	assert_true(len > 0);
	memcpy(a.dst_mac, c->cfg.mac, 6);
	memcpy(a.src_mac, script_box_mac, 6);
	return rf_ctl_frame_put(frame, RF_CTL_FRAME_MAX, &a, msg, len);
}

int script_reply(struct rf_client *c, uint64_t now, const struct rf_ctl_header *to,
		 const struct rf_ctl_reply *r, const uint8_t *k, uint32_t epoch)
{
	uint8_t frame[RF_CTL_FRAME_MAX];

	return rf_client_rx(c, now, frame, script_reply_frame(c, to, r, k, epoch, frame));
}

struct rf_ctl_reply script_waiting(void)
{
	struct rf_ctl_reply r;

	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_WAITING;
	r.u.waiting.ranks = 4;
	r.u.waiting.joined = 2;
	rf_ctl_mask_set(r.u.waiting.missing, 1);
	rf_ctl_mask_set(r.u.waiting.missing, 2);
	return r;
}

struct rf_ctl_reply script_ready(void)
{
	struct rf_ctl_reply r;

	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_READY;
	r.u.ready = (struct rf_ctl_ready){
		.ranks = 4, .window = 256, .slots_log2 = 9, .lanes = 1, .lease_ms = 10000};
	return r;
}

struct rf_ctl_reply script_failed(enum rf_ctl_reason why, unsigned int rank)
{
	struct rf_ctl_reply r;

	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_FAILED;
	r.u.failed.reason = (uint8_t)why;
	r.u.failed.rank = (uint16_t)rank;
	return r;
}

struct rf_ctl_reply script_group_page(unsigned int state)
{
	struct rf_ctl_reply r;

	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_PAGE;
	r.page = RF_CTL_PAGE_GROUP;
	r.u.group.state = (uint8_t)state;
	r.u.group.ranks = 4;
	return r;
}

struct rf_client script_ready_client(void)
{
	struct rf_client c = script_client(true);
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = script_ready();

	assert_int_equal(rf_client_join(&c, &script_join, 0), 0);
	assert_int_equal(script_request(&c, 0, &h, &q), RF_CTL_JOIN);
	assert_int_equal(script_reply(&c, MS, &h, &r, script_key, 9), 1);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
	return c;
}
