#include "tests/unit/fw_mirror.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void fw_mirror_shape(struct fw_box *b, const struct rf_fw_key *keys, unsigned int nkeys)
{
	b->mirror = b->directed = true;
	b->types = 0x3ff;
	b->cfg.prefix = 16;
	b->cfg.port_list = true;
	for (unsigned int p = 0; p < 4; p++)
		b->cfg.port_ip[p] = FW_MIRROR_IP(p);
	b->cfg.probe_ms = 0;
	b->cfg.announce_ms = 0;
	b->cfg.keys = keys;
	b->cfg.nkeys = nkeys;
}

struct fw_box *fw_mirror_box_keys(const struct rf_fw_key *keys, unsigned int nkeys)
{
	struct fw_box *b = fw_box_new();

	fw_mirror_shape(b, keys, nkeys);
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	return b;
}

struct fw_box *fw_mirror_box(void)
{
	return fw_mirror_box_keys(NULL, 0);
}

struct fw_ask fw_mirror_join(unsigned int r, unsigned int n)
{
	struct fw_ask a = fw_ask_join(r, n);

	a.port = 0;
	a.mac = (uint8_t)(r + 1);
	a.r.u.join.flags = RF_CTL_J_MIRROR;
	a.r.u.join.shift = 0;
	a.r.u.join.peer_ip = 0;
	a.r.u.join.peer_qpn = 0;
	return a;
}

void fw_mirror_form(struct fw_ask *a, uint32_t first, unsigned int r)
{
	a->port = r % 4u;
	a->to_ip = first + a->port;
	a->r.u.join.flags = RF_CTL_J_MIRROR;
	a->r.u.join.port = (uint8_t)a->port;
	a->r.u.join.shift = 0;
	a->r.u.join.peer_ip = 0;
	a->r.u.join.peer_qpn = 0;
}

void fw_mirror_at(struct fw_ask *a, uint32_t port_ip)
{
	a->to_ip = port_ip;
	a->port = port_ip - FW_MIRROR_IP(0);
}

void fw_mirror_send(struct fw_box *b, const struct fw_ask *a)
{
	uint8_t frame[RF_CTL_FRAME_MAX];

	fw_box_punt(b, a->port, frame, fw_ask_frame(a, frame));
	assert_null(fw_box_poll(b));
}
