/* ringfold ctl join --rank ...: registers endpoints by hand that do not support ringfold. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log2.h"
#include "base/mac.h"
#include "host/config/settings.h"
#include "tools/ctl.h"
#include "base/opt.h"
#include "proto/rf_bytes.h"

#define NS_PER_MS UINT64_C(1000000)
#define RNR_CODE_MAX 31u
/* Half of a box of the default size: 512 slots, 512 KiB. */
#define SLOTS 256u
#define SLOTS_BYTES 262144u

/* Fields in the text of a rank: numbers first. */
enum { F_SEND, F_PSN, F_RECV, F_PORT, NUMBERS, F_MAC = NUMBERS, F_MIRROR, FIELDS };

static const char *const keys[FIELDS] = {"send=", "psn=", "recv=", "port=", "mac=", "mirror"};

/* Index of the field that this word of the text is, or FIELDS. */
static unsigned int field_at(const char *word, const char **value)
{
	for (unsigned int k = 0; k < FIELDS; k++) {
		size_t len = strlen(keys[k]);

		*value = word + len;
		if (strncmp(word, keys[k], len) == 0 && (keys[k][len - 1] == '=' || !word[len]))
			return k;
	}
	return FIELDS;
}

static int parse_mac(const char *text, uint8_t *mac, char *why, size_t room)
{
	if (rf_mac_read(text, mac) && rf_mac_is_host(mac))
		return 0;
	snprintf(why, room, "mac=%s: expected the MAC address of a host, such as 02:00:00:00:09:01",
		 text);
	return -1;
}

static int one_field(const char *word, struct ctl_rank *r, uint64_t number[NUMBERS],
		     bool seen[FIELDS], char *why, size_t room)
{
	static const char *const names[NUMBERS] = {"send", "psn", "recv", "port"};
	static const uint64_t least[NUMBERS] = {1, 0, 1, 0};
	static const uint64_t most[NUMBERS] = {0xffffff, 0xffffff, 0xffffff, RF_CTL_PORTS_MAX - 1};
	const char *value;
	unsigned int k = field_at(word, &value);

	if (k == FIELDS || seen[k]) {
		snprintf(why, room, "%s: %s", word, k == FIELDS ? "unknown field" : "given twice");
		return -1;
	}
	seen[k] = true;
	if (k == F_MAC)
		return parse_mac(value, r->mac, why, room);
	r->mirror |= k == F_MIRROR;
	if (k >= NUMBERS)
		return 0;
	return rf_number_parse(names[k], value, least[k], most[k], &number[k], why, room);
}

/* Which fields a rank must have, and which it must not. */
static int fields_fit(const struct ctl_rank *r, const bool seen[FIELDS], char *why, size_t room)
{
	for (unsigned int k = 0; k < F_MIRROR; k++) {
		bool other = k == (r->mirror ? F_RECV : F_MAC);

		if (seen[k] == !other)
			continue;
		snprintf(why, room, other ? "%s: not for a %s rank" : "%s is missing", keys[k],
			 r->mirror ? "mirror" : "ring");
		return -1;
	}
	return 0;
}

/*
 * "ADDRESS,send=QPN,psn=PSN,recv=QPN,port=N" or "ADDRESS,mirror,send=QPN,psn=PSN,port=N,mac=MAC":
 * each field once, in any order. Returns 0, or -1 with why.
 */
static int fields(const char *text, struct ctl_rank *r, char *why, size_t room)
{
	uint64_t number[NUMBERS] = {0};
	bool seen[FIELDS] = {false};

	for (const char *p = strchr(text, ','); p; p = strchr(p, ',')) {
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int)strcspn(p + 1, ","), p + 1);
		p++;
		if (one_field(word, r, number, seen, why, room) != 0)
			return -1;
	}
	if (fields_fit(r, seen, why, room) != 0)
		return -1;
	r->send_qpn = (uint32_t)number[F_SEND];
	r->psn = (uint32_t)number[F_PSN];
	r->recv_qpn = (uint32_t)number[F_RECV];
	r->port = (uint8_t)number[F_PORT];
	return 0;
}

int ctl_add_rank(void *to, const char *text)
{
	struct ctl *c = to;
	struct ctl_rank *r = &c->rank[c->ranks];
	char why[200], ip[32];

	if (c->ranks == CTL_RANKS_MAX) {
		fprintf(stderr, "--rank: at most %u\n", CTL_RANKS_MAX);
		return -1;
	}
	snprintf(ip, sizeof(ip), "%.*s", (int)strcspn(text, ","), text);
	memset(r, 0, sizeof(*r));
	if (rf_ip_parse("address", ip, &r->ip, why, sizeof(why)) != 0 ||
	    fields(text, r, why, sizeof(why)) != 0) {
		fprintf(stderr, "--rank %s: %s\n", text, why);
		return -1;
	}
	c->ranks++;
	return 0;
}

static bool any_mirror(const struct ctl *c)
{
	for (unsigned int r = 0; r < c->ranks; r++)
		if (c->rank[r].mirror)
			return true;
	return false;
}

/* 0, or -1 with a message. */
static int values(const struct ctl *c, int *dtype, int *op)
{
	*dtype = element_type_parse(c->dtype);
	*op = element_op_parse(c->op);
	if (*dtype < 0) {
		fprintf(stderr,
			"ringfold ctl: --dtype %s: expected fp32, bf16, fp16, fp64, int8, uint8, "
			"int32, uint32, int64 or uint64\n",
			c->dtype);
		return -1;
	}
	if (*op < 0) {
		fprintf(stderr,
			"ringfold ctl: --op %s: expected sum, min, max, of integers and, or, xor, "
			"with --directed copy\n",
			c->op);
		return -1;
	}
	if (!element_allows((unsigned int)*dtype, (unsigned int)*op)) {
		fprintf(stderr, "ringfold ctl: --op %s: not of --dtype %s\n", c->op, c->dtype);
		return -1;
	}
	if (c->mtu < 256 || c->mtu > 4096 || (c->mtu & (c->mtu - 1))) {
		fprintf(stderr, "ringfold ctl: --mtu %u: expected 256, 512, 1024, 2048 or 4096\n",
			c->mtu);
		return -1;
	}
	if (c->straggler > RNR_CODE_MAX) {
		fprintf(stderr,
			"ringfold ctl: --straggler: expected an RNR timer code from 1 to %u\n",
			RNR_CODE_MAX);
		return -1;
	}
	if (strcmp(c->others, "fail") != 0 && strcmp(c->others, "pass") != 0) {
		fprintf(stderr, "ringfold ctl: --others %s: expected fail or pass\n", c->others);
		return -1;
	}
	if (strcmp(c->others, "pass") == 0 && (c->directed || any_mirror(c))) {
		fprintf(stderr, "ringfold ctl: --others pass: only with ring ranks, and not with "
				"--directed\n");
		return -1;
	}
	if (c->job == 0 || c->ranks == 0) {
		fprintf(stderr, "ringfold ctl: --job N, and --rank for each rank, are needed\n");
		return -1;
	}
	return 0;
}

unsigned int ctl_slots_wanted(const struct ctl *c, unsigned int mtu)
{
	unsigned int room = SLOTS_BYTES / mtu;

	return c->slots ? c->slots : room < SLOTS ? room : SLOTS;
}

/* A group with mirror ranks, or a directed one, cannot be watched for wrong registrations. */
static uint16_t group_flags(const struct ctl *c)
{
	bool strict = !any_mirror(c) && !c->directed;

	return (uint16_t)((strict ? RF_CTL_J_STRICT : 0) |
			  (c->transparent ? RF_CTL_J_TRANSPARENT : 0) |
			  (c->directed ? RF_CTL_J_DIRECTED : 0) |
			  (strict && strcmp(c->others, "pass") == 0 ? RF_CTL_J_OTHERS : 0) |
			  c->straggler << RF_CTL_J_STRAGGLER_LSB);
}

/* The successor in the ring; a mirror rank names its MAC in the same place. */
static void set_peer(const struct ctl *c, unsigned int r, struct rf_ctl_join *join)
{
	unsigned int next = (r + 1) % c->ranks;

	if (c->rank[r].mirror) {
		join->flags |= RF_CTL_J_MIRROR;
		join->peer_ip = rf_get_be32(c->rank[r].mac);
		join->peer_qpn = rf_get_be16(c->rank[r].mac + 4);
		return;
	}
	while (c->rank[next].mirror)
		next = (next + 1) % c->ranks;
	join->peer_ip = c->rank[next].ip;
	join->peer_qpn = c->rank[next].recv_qpn;
}

static struct rf_ctl_join join_of(const struct ctl *c, unsigned int r, int dtype, int op)
{
	const struct ctl_rank *own = &c->rank[r];
	unsigned int slots = ctl_slots_wanted(c, c->mtu);
	struct rf_ctl_join join = {.ranks = (uint16_t)c->ranks,
				   .dtype = (uint8_t)dtype,
				   .op = (uint8_t)op,
				   .mtu_log2 = (uint8_t)rf_log2(c->mtu),
				   .slots_log2 = (uint8_t)rf_log2(slots),
				   .slots_min_log2 = (uint8_t)rf_log2(slots),
				   .port = own->port,
				   .src_ip = own->ip,
				   .qpn = own->send_qpn,
				   .start_psn = own->psn,
				   .lease_ms = c->lease ? (uint32_t)(c->lease / NS_PER_MS)
							: RF_CTL_LEASE_NONE,
				   .deadline_ms = (uint32_t)(c->timeout / NS_PER_MS),
				   .flags = group_flags(c)};

	set_peer(c, r, &join);
	return join;
}

int ctl_join_plain(struct ctl *c)
{
	static struct rf_client clients[CTL_RANKS_MAX];
	static struct rf_ctl_join join[CTL_RANKS_MAX];
	const struct rf_ctl_ready *ready;
	int dtype, op, rc;

	if (values(c, &dtype, &op) != 0)
		return RF_EXIT_USAGE;
	ctl_speak_for(c, c->job);
	for (unsigned int r = 0; r < c->ranks; r++)
		join[r] = join_of(c, r, dtype, op);
	rc = ctl_register(c, join, c->ranks, c->job ^ 0x706c6eu, clients);
	if (rc != RF_EXIT_GOOD)
		return rc;
	ready = rf_client_ready(&clients[0]);
	printf("job %" PRIu64 ": %u ranks ready, %u slots, at most %u packets may be in flight "
	       "on a connection\n",
	       c->job, c->ranks, 1u << ready->slots_log2, ready->window);
	for (unsigned int r = 0; r < c->ranks; r++) {
		uint32_t ip = rf_client_ready(&clients[r])->port_ip;

		if (c->rank[r].mirror)
			printf("rank %u sends to %u.%u.%u.%u\n", r, ip >> 24, ip >> 16 & 255u,
			       ip >> 8 & 255u, ip & 255u);
	}
	return rc;
}
