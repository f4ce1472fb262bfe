/* Handles punted frames and sends answers: ARP (RFC 826), ICMP echo (RFC 792), control messages. */
#include <string.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_inet.h"

#define IP_HEADER 20u
#define ICMP_HEADER 8u
#define ICMP_ECHO 8u
#define FLAGS_OFFSET 6u /* in a message */

bool rf_fw_net_waiting(struct rf_fw *fw)
{
	return (rf_fw_read(fw, RF_PUNT_STATUS) & RF_PUNT_STATUS_VALID_MASK) != 0;
}

/*
 * Starts an answer in fw->tx: to the sender, with the same VLAN tag. The hardware sets the source
 * MAC.
 */
static void turn(struct rf_fw *fw, size_t len)
{
	memcpy(fw->tx, fw->rx, len);
	memcpy(fw->tx, fw->rx + 6, 6);
	memset(fw->tx + 6, 0, 6);
}

static bool group_mac(const uint8_t *mac)
{
	return (mac[0] & 1u) != 0;
}

/* Whether ip is a valid host address other than the box's own ones. */
static bool host_ip(const struct rf_fw *fw, uint32_t ip)
{
	return !rf_fw_address_any(fw, ip) && ip != 0 && ip >> 28 < 0xeu && ip >> 24 != 127u;
}

/* False: not ARP for IPv4 over Ethernet from a host. */
static bool arp_read(const uint8_t *p, size_t len, const uint8_t *src_mac, struct rf_fw_arp *q)
{
	if (len < RF_FW_ARP_BYTES || rf_get_be32(p) != 0x00010800u ||
	    rf_get_be16(p + 4) != 0x0604u || group_mac(p + 8) || group_mac(src_mac))
		return false;
	q->op = rf_get_be16(p + 6);
	q->sender_mac = p + 8;
	q->sender_ip = rf_get_be32(p + 14);
	q->target_ip = rf_get_be32(p + 24);
	return true;
}

static void arp(struct rf_fw *fw, unsigned int port, size_t l2, size_t len)
{
	const uint8_t *q = fw->rx + l2;
	uint8_t *a = fw->tx + l2;
	struct rf_fw_arp heard;
	bool read = len >= l2 && arp_read(q, len - l2, fw->rx + 6, &heard);

	if (read && heard.op == RF_FW_ARP_REPLY && fw->uplinks)
		rf_fw_uplink_arp(fw, port, &heard);
	/* A claim of the port's address may be a request for another one of the box's. */
	if (read && fw->mirror && rf_fw_address_heard(fw, port, &heard) &&
	    heard.op != RF_FW_ARP_REQUEST)
		return;
	if (!read || heard.op != RF_FW_ARP_REQUEST ||
	    !rf_fw_address_own(fw, port, heard.target_ip) ||
	    rf_fw_address_any(fw, heard.sender_ip)) {
		fw->cnt.arp_other++;
		return;
	}
	turn(fw, l2 + RF_FW_ARP_BYTES);
	rf_put_be16(a + 6, RF_FW_ARP_REPLY);
	memcpy(a + 8, fw->cfg.mac, 6);
	a[13] = (uint8_t)(a[13] + port);
	rf_put_be32(a + 14, heard.target_ip);
	memcpy(a + 18, q + 8, 10);
	rf_put_be32(a + RF_FW_ARP_BYTES, RF_CTL_MAGIC);
	rf_put_be64(a + RF_FW_ARP_BYTES + 4, rf_fw_nonce(fw, rf_get_be32(q + 14)));
	if (rf_fw_inject(fw, port, l2 + RF_FW_ARP_BYTES + RF_CTL_ARP_NONCE))
		fw->cnt.arp_requests++;
}

static bool icmp_echo_ok(const struct rf_fw *fw, unsigned int port, const uint8_t *ip, size_t room,
			 size_t *total)
{
	*total = rf_get_be16(ip + 2);
	return *total >= IP_HEADER + ICMP_HEADER && *total <= room &&
	       rf_ctl_checksum(ip, IP_HEADER, 0) == 0xffffu && ip[IP_HEADER] == ICMP_ECHO &&
	       ip[IP_HEADER + 1] == 0 && rf_fw_address_own(fw, port, rf_get_be32(ip + 16)) &&
	       host_ip(fw, rf_get_be32(ip + 12)) &&
	       rf_ctl_checksum(ip + IP_HEADER, *total - IP_HEADER, 0) == 0xffffu;
}

static void icmp(struct rf_fw *fw, unsigned int port, size_t l2, size_t len)
{
	uint8_t *ip = fw->tx + l2;
	uint8_t *echo = ip + IP_HEADER;
	size_t total;

	if (!icmp_echo_ok(fw, port, fw->rx + l2, len - l2, &total) || group_mac(fw->rx + 6)) {
		fw->cnt.icmp_other++;
		return;
	}
	turn(fw, l2 + total);
	memcpy(ip + 12, fw->rx + l2 + 16, 4);
	memcpy(ip + 16, fw->rx + l2 + 12, 4);
	ip[8] = 64;
	rf_put_be16(ip + 10, 0);
	rf_put_be16(ip + 10, (uint16_t)~rf_ctl_checksum(ip, IP_HEADER, 0));
	echo[0] = 0;
	rf_put_be16(echo + 2, 0);
	rf_put_be16(echo + 2, (uint16_t)~rf_ctl_checksum(echo, total - IP_HEADER, 0));
	if (rf_fw_inject(fw, port, l2 + total))
		fw->cnt.icmp_echo++;
}

/*
 * Writes fw->reply after the head of the frame; most: the bytes that the answer may have. A page of
 * STATUS that is longer is refused.
 */
static size_t put_reply(struct rf_fw *fw, const struct rf_ctl_header *h, uint8_t *msg, size_t most,
			const uint8_t *key)
{
	size_t len = rf_ctl_reply_put(msg, h, &fw->reply, key);

	if (fw->reply.result != RF_CTL_PAGE || len <= most)
		return len;
	rf_fw_refuse(fw, RF_CTL_R_TRUNCATED, h->rank, (uint32_t)len);
	return rf_ctl_reply_put(msg, h, &fw->reply, key);
}

/* Sends fw->reply to a host. key NULL: unsigned. */
static bool send(struct rf_fw *fw, struct rf_ctl_header *h, const struct rf_ctl_addr *to,
		 unsigned int port, const uint8_t *key)
{
	uint8_t *msg = fw->tx + rf_ctl_frame_head(to->vlan);
	/* Whoever repeats a recorded STATUS gets no more out of the box than went in. */
	size_t len, most = fw->numbered ? RF_CTL_MESSAGE_MAX : h->length;

	h->flags = RF_CTL_F_REPLY;
	if (!key)
		h->flags |= RF_CTL_F_UNSIGNED;
	if (fw->cfg.nkeys == 0)
		h->flags |= RF_CTL_F_OPEN_LAB;
	h->epoch = fw->epoch;
	h->nonce = key ? rf_fw_nonce(fw, to->dst_ip) : 0;
	len = put_reply(fw, h, msg, most, key);
	len = len > 0 ? rf_ctl_frame_put(fw->tx, sizeof(fw->tx), to, msg, len) : 0;
	return len > 0 && rf_fw_inject(fw, port, len);
}

/*
 * Replies come from the address to which the request went. They go to the UDP port from which it
 * came, because a RoCE NIC does not pass port 4791 to software.
 */
static struct rf_ctl_addr answer_to(uint32_t from, const uint8_t *mac, uint32_t ip, uint16_t vlan,
				    uint16_t udp_port)
{
	struct rf_ctl_addr to = {.vlan = vlan,
				 .src_ip = from,
				 .dst_ip = ip,
				 .src_port = RF_CTL_UDP_PORT,
				 .dst_port = udp_port};

	memcpy(to.dst_mac, mac, sizeof(to.dst_mac));
	return to;
}

/*
 * Checks and executes a message and fills fw->reply. False: no answer. *key NULL: the answer is
 * unsigned.
 */
static bool judge(struct rf_fw *fw, struct rf_fw_request *q, const uint8_t *msg, size_t len,
		  const uint8_t **key)
{
	int rc = rf_ctl_header_get(msg, len, &q->h);
	enum rf_ctl_reason why;
	bool answer;

	*key = NULL;
	if (rc < 0) {
		fw->cnt.not_control++;
		return false;
	}
	if (q->h.flags & RF_CTL_F_REPLY) {
		fw->cnt.reply_reflected++;
		return false;
	}
	if (rc > 0) {
		rf_fw_refuse(fw, (enum rf_ctl_reason)rc, q->h.rank,
			     rc == RF_CTL_R_VERSION ? RF_CTL_VERSION : 0u);
		return len >= RF_CTL_HEADER;
	}
	*key = rf_fw_keys_secret(fw, q->h.job);
	if (!*key)
		return rf_fw_refuse(fw, RF_CTL_R_KEY_UNKNOWN, q->h.rank, 0);
	if (!rf_ctl_tag_ok(msg, &q->h, *key)) {
		*key = NULL;
		return rf_fw_refuse(fw, RF_CTL_R_TAG, q->h.rank, 0);
	}
	/*
	 * A repeated operator command keeps its nonce; its tag distinguishes it from a new request.
	 */
	if (rf_fw_repeated(fw, q))
		return true;
	if (!rf_fw_nonce_ok(fw, q->h.nonce, q->h.job, q->addr.src_ip))
		return rf_fw_refuse(fw, RF_CTL_R_NONCE, q->h.rank, 0);
	fw->refused = 0;
	fw->numbered = 0;
	why = rf_ctl_request_get(msg, &q->h, &q->body);
	answer = why == RF_CTL_R_NONE ? rf_fw_request(fw, q) : rf_fw_refuse(fw, why, q->h.rank, 0);
	/*
	 * After a refusal there is no member that would recognise this request as old, so its nonce
	 * is made void. STATUS changes nothing.
	 */
	if (fw->refused && q->h.verb != RF_CTL_STATUS)
		rf_fw_nonce_void(fw, q->h.job, q->addr.src_ip);
	return answer;
}

static void control(struct rf_fw *fw, unsigned int port, size_t len)
{
	struct rf_fw_request q = {.port = port};
	struct rf_ctl_addr to;
	const uint8_t *msg, *key;
	size_t msg_len;
	int rc = rf_ctl_frame_get(fw->rx, len, &q.addr, &msg, &msg_len);

	if (rc == RF_CTL_FRAME_OTHER) {
		fw->cnt.punt_other++;
		return;
	}
	if (rc == RF_CTL_FRAME_LENGTH) {
		fw->cnt.bad_length++;
		return;
	}
	if (rc != RF_CTL_FRAME_OK) {
		fw->cnt.bad_checksum++;
		return;
	}
	/* For an address that is still being probed, or for that of another port. */
	if (!rf_fw_address_own(fw, port, q.addr.dst_ip)) {
		fw->cnt.punt_other++;
		return;
	}
	if (!host_ip(fw, q.addr.src_ip) || group_mac(q.addr.src_mac)) {
		fw->cnt.bad_source++;
		return;
	}
	/* What a parent answers, which is not a request. */
	if (fw->uplinks && msg_len >= RF_CTL_HEADER &&
	    (rf_get_be16(msg + FLAGS_OFFSET) & RF_CTL_F_REPLY)) {
		rf_fw_uplink_message(fw, port, &q.addr, msg, msg_len);
		return;
	}
	if (!judge(fw, &q, msg, msg_len, &key))
		return;
	to = answer_to(q.addr.dst_ip, q.addr.src_mac, q.addr.src_ip, q.addr.vlan, q.addr.src_port);
	if (send(fw, &q.h, &to, port, key))
		fw->cnt.replies++;
}

/* Sends one member its notice; false if the hardware is busy. */
static bool notice(struct rf_fw *fw, struct rf_fw_group *g, struct rf_fw_member *m)
{
	struct rf_ctl_header h = {.verb = RF_CTL_JOIN,
				  .group = g->number,
				  .job = g->job,
				  .rank = m->rank,
				  .seq = m->seq,
				  .token = m->token};
	struct rf_ctl_addr to = answer_to(m->to_ip, m->src_mac, m->from_ip, m->vlan, m->udp_port);
	const uint8_t *key = rf_fw_keys_secret(fw, g->job);

	if (rf_fw_must_wait(fw, m->from_port))
		return false;
	m->notify = 0;
	rf_fw_reply_state(fw, g, m);
	if (key && send(fw, &h, &to, m->from_port, key))
		fw->cnt.notices++;
	return true;
}

void rf_fw_net_notices(struct rf_fw *fw)
{
	if (!fw->notices)
		return;
	for (unsigned int i = 0; i < fw->records; i++) {
		struct rf_fw_group *g = &fw->group[i];
		struct rf_fw_member *m;

		if (g->state == RF_CTL_S_FREE)
			continue;
		for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
			if (m->notify && !notice(fw, g, m))
				return;
	}
	fw->notices = 0;
}

static void frame(struct rf_fw *fw, unsigned int port, size_t len)
{
	uint16_t tci, type;
	bool has_vlan;
	size_t l2 = rf_inet_eth_get(fw->rx, len, &has_vlan, &tci, &type);

	if (type == RF_INET_TYPE_ARP)
		arp(fw, port, l2, len);
	else if (type == RF_INET_TYPE_IPV4 && fw->rx[l2] == RF_INET_VERSION_LENGTH &&
		 fw->rx[l2 + 9] == RF_INET_PROTO_ICMP)
		icmp(fw, port, l2, len);
	else
		control(fw, port, len);
}

/* Reads one punted frame; each causes at most one answer. */
static void take(struct rf_fw *fw, uint32_t status)
{
	uint32_t len = status & RF_PUNT_STATUS_LENGTH_MASK;
	uint32_t port = (status & RF_PUNT_STATUS_PORT_MASK) >> RF_PUNT_STATUS_PORT_LSB;
	bool fits = len >= RF_CTL_FRAME_MIN && len <= RF_CTL_FRAME_MAX && port < fw->ports;

	fw->cnt.punts++;
	for (uint32_t i = 0; fits && i < len; i += 4u)
		rf_put_le32_aligned(fw->rx + i, rf_fw_read(fw, RF_PUNT_DATA + i));
	rf_fw_write(fw, RF_PUNT_POP, 1);
	if (fits)
		frame(fw, port, len);
	else
		fw->cnt.punt_other++;
}

bool rf_fw_net_punt(struct rf_fw *fw)
{
	uint32_t status = rf_fw_read(fw, RF_PUNT_STATUS);

	if (!(status & RF_PUNT_STATUS_VALID_MASK))
		return false;
	if (rf_fw_must_wait(fw, (status & RF_PUNT_STATUS_PORT_MASK) >> RF_PUNT_STATUS_PORT_LSB))
		return false;
	take(fw, status);
	return true;
}
