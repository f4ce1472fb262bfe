/*
 * Fuzzing of the control protocol: the firmware on a fake box gets frames made by the fuzzer. After
 * each frame all invariants must hold and no register may be misused.
 *
 * Input: chunks {kind 1, length 1, bytes}. Kinds, modulo 4:
 *	0 time: milliseconds, up to 2 bytes
 *	1 a frame as it is
 *	2 a message: a frame is put around it, nonce and tag are made right; an odd number in its
 *	  second reserved byte: to the address of its port, otherwise to the box's
 *	3 a message for job 42, whose key the box does not have; frame around it, tag wrong
 *
 * With libFuzzer: make fuzz. Without: ctl_fuzz FILE... runs each file once (the kept corpus), and a
 * few hundred changed copies of it.
 */
#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_siphash.h"
#include "tests/unit/fuzz.h"
#include "tests/unit/fw_box.h"

#define CHUNKS 48u

static void must(const char *what)
{
	if (!what)
		return;
	fprintf(stderr, "ctl_fuzz: %s\n", what);
	abort();
}

static void drain(struct fw_box *b)
{
	const struct fw_box_frame *f;

	while ((f = fw_box_out(b)) != NULL) {
		struct rf_ctl_addr a;
		struct rf_ctl_header h;
		struct rf_ctl_reply r;
		const uint8_t *msg;
		size_t len;

		/* Every frame from the box must be readable. */
		if (rf_get_be16(f->data + 12) == 0x0806 || f->data[23] == 1)
			continue;
		if (rf_ctl_frame_get(f->data, f->len, &a, &msg, &len) == 0 &&
		    (rf_ctl_header_get(msg, len, &h) != 0 || rf_ctl_reply_get(msg, &h, &r) != 0))
			must("a reply that cannot be read");
	}
}

static void message(struct fw_box *b, const uint8_t *data, size_t len, bool right)
{
	static const uint8_t key[RF_CTL_KEY_BYTES];
	struct rf_ctl_addr a = {.vlan = RF_CTL_NO_VLAN,
				.dst_ip = FW_BOX_IP,
				.src_port = 50000,
				.dst_port = RF_CTL_UDP_PORT,
				.src_mac = {2, 0, 0, 0, 0, 1}};
	uint8_t msg[RF_CTL_HEADER + 256u] = {0}, frame[RF_CTL_FRAME_MAX];
	size_t total = len < RF_CTL_HEADER ? RF_CTL_HEADER : len;

	memcpy(msg, data, len);
	rf_put_be32(msg, RF_CTL_MAGIC);
	msg[4] = RF_CTL_VERSION;
	rf_put_be16(msg + 6, rf_get_be16(msg + 6) & 0x0fffu);
	rf_put_be16(msg + 8, (uint16_t)total);
	if (right)
		rf_put_be64(msg + 40, fw_box_nonce(0x0a000001u + msg[21]));
	/* A mirror rank joins at the address of a port. */
	if (msg[23] & 1u)
		a.dst_ip = FW_BOX_IP + 1u + msg[21] % 4u;
	/* The rank's own address, so that rings can close. */
	a.src_ip = 0x0a000001u + msg[21];
	if (msg[5] == RF_CTL_JOIN && total >= RF_CTL_HEADER + 16u &&
	    rf_get_be32(msg + RF_CTL_HEADER + 12) == 0)
		rf_put_be32(msg + RF_CTL_HEADER + 12, a.src_ip);
	rf_put_le64(msg + 48, 0);
	rf_put_le64(msg + 48, rf_siphash(key, msg, total) ^ !right);
	fw_box_punt(b, msg[21] % 4u, frame, rf_ctl_frame_put(frame, sizeof(frame), &a, msg, total));
	must(fw_box_poll(b));
}

static void chunk(struct fw_box *b, unsigned int kind, const uint8_t *data, size_t len)
{
	uint8_t frame[RF_CTL_FRAME_MIN + 256u] = {0};
	unsigned int ms = len > 1 ? rf_get_be16(data) : (unsigned int)len;

	switch (kind & 3u) {
	case 0:
		must(fw_box_run(b, ms % 3000u));
		break;
	case 1:
		memcpy(frame, data, len);
		fw_box_punt(b, len % 4u, frame, len < RF_CTL_FRAME_MIN ? RF_CTL_FRAME_MIN : len);
		must(fw_box_poll(b));
		break;
	case 2:
		message(b, data, len, true);
		break;
	default:
		message(b, data, len, false);
		break;
	}
	drain(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fw_box *b = fw_box_new();
	size_t at = 0;

	b->mirror = b->directed = true;
	b->types = 0x3ff;
	b->cfg.probe_ms = 1;
	b->cfg.announce_ms = 100;
	b->cfg.hold_ms = 500;
	b->cfg.tomb_ms = 500;
	b->cfg.linger_ms = 1000;
	if (fw_box_start(b) != RF_FW_OK)
		abort();
	for (unsigned int i = 0; i < CHUNKS && at + 2u <= size; i++) {
		size_t len = data[at + 1u];

		if (len > size - at - 2u)
			len = size - at - 2u;
		chunk(b, data[at], data + at + 2u, len);
		at += 2u + len;
	}
	must(fw_box_run(b, 10));
	fw_box_free(b);
	return 0;
}
