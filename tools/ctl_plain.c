/* ringfold ctl join --rank ...: registers endpoints by hand that do not support ringfold. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log2.h"
#include "host/config/settings.h"
#include "tools/ctl.h"
#include "base/opt.h"

#define NS_PER_MS UINT64_C(1000000)
#define RNR_CODE_MAX 31u
/* Half of a box of the default size: 512 slots, 512 KiB. */
#define SLOTS 256u
#define SLOTS_BYTES 262144u

/* Number of fields in the text of a rank. */
enum { F_SEND, F_PSN, F_RECV, F_PORT, FIELDS };

/* Index of the field "key=value" that begins here, or FIELDS. */
static unsigned int field_at(const char *text, const char **value)
{
	static const char *const keys[FIELDS] = {"send=", "psn=", "recv=", "port="};

	for (unsigned int k = 0; k < FIELDS; k++) {
		*value = text + strlen(keys[k]);
		if (strncmp(text, keys[k], strlen(keys[k])) == 0)
			return k;
	}
	return FIELDS;
}

/*
 * "ADDRESS,send=QPN,psn=PSN,recv=QPN,port=N": each field once, in any order. Returns 0, or -1 with
 * why.
 */
static int fields(const char *text, uint64_t value[FIELDS], char *why, size_t room)
{
	static const char *const keys[FIELDS] = {"send", "psn", "recv", "port"};
	static const uint64_t least[FIELDS] = {1, 0, 1, 0};
	static const uint64_t most[FIELDS] = {0xffffff, 0xffffff, 0xffffff, RF_CTL_PORTS_MAX - 1};
	bool seen[FIELDS] = {false};

	for (const char *p = strchr(text, ','); p; p = strchr(p, ',')) {
		const char *digits;
		char number[32];
		unsigned int k = field_at(++p, &digits);

		if (k == FIELDS || seen[k]) {
			snprintf(why, room, "%.*s: %s", (int)strcspn(p, ","), p,
				 k == FIELDS ? "unknown field" : "given twice");
			return -1;
		}
		seen[k] = true;
		snprintf(number, sizeof(number), "%.*s", (int)strcspn(digits, ","), digits);
		if (rf_number_parse(keys[k], number, least[k], most[k], &value[k], why, room) != 0)
			return -1;
	}
	for (unsigned int k = 0; k < FIELDS; k++) {
		if (!seen[k]) {
			snprintf(why, room, "%s= is missing", keys[k]);
			return -1;
		}
	}
	return 0;
}

int ctl_add_rank(void *to, const char *text)
{
	struct ctl *c = to;
	struct ctl_rank *r = &c->rank[c->ranks];
	uint64_t value[FIELDS];
	char why[200], ip[32];

	if (c->ranks == CTL_RANKS_MAX) {
		fprintf(stderr, "--rank: at most %u\n", CTL_RANKS_MAX);
		return -1;
	}
	snprintf(ip, sizeof(ip), "%.*s", (int)strcspn(text, ","), text);
	if (rf_ip_parse("address", ip, &r->ip, why, sizeof(why)) != 0 ||
	    fields(text, value, why, sizeof(why)) != 0) {
		fprintf(stderr, "--rank %s: %s\n", text, why);
		return -1;
	}
	r->send_qpn = (uint32_t)value[F_SEND];
	r->psn = (uint32_t)value[F_PSN];
	r->recv_qpn = (uint32_t)value[F_RECV];
	r->port = (uint8_t)value[F_PORT];
	c->ranks++;
	return 0;
}

/* Index of a word in a list that ends with NULL, or -1. */
static int word(const char *const *list, const char *text)
{
	for (int i = 0; list[i]; i++)
		if (strcmp(list[i], text) == 0)
			return i;
	return -1;
}

/* 0, or -1 with a message. */
static int values(const struct ctl *c, int *dtype, int *op)
{
	static const char *const types[] = {"fp32", "bf16", "fp16", "int32", NULL};
	static const char *const ops[] = {"sum", "min", "max", NULL};

	*dtype = word(types, c->dtype);
	*op = word(ops, c->op);
	if (*dtype < 0 || *op < 0 || c->mtu < 256 || c->mtu > 4096 || (c->mtu & (c->mtu - 1))) {
		fprintf(stderr, "ringfold ctl: --dtype fp32, bf16, fp16 or int32; --op sum, min or "
				"max; --mtu 256, 512, 1024, 2048 or 4096\n");
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
	if (c->job == 0 || c->ranks < 2) {
		fprintf(stderr, "ringfold ctl: --job N, and --rank at least twice, are needed\n");
		return -1;
	}
	return 0;
}

unsigned int ctl_slots_wanted(const struct ctl *c, unsigned int mtu)
{
	unsigned int room = SLOTS_BYTES / mtu;

	return c->slots ? c->slots : room < SLOTS ? room : SLOTS;
}

static uint16_t group_flags(const struct ctl *c)
{
	return (uint16_t)(RF_CTL_J_STRICT | (c->transparent ? RF_CTL_J_TRANSPARENT : 0) |
			  (strcmp(c->others, "pass") == 0 ? RF_CTL_J_OTHERS : 0) |
			  c->straggler << RF_CTL_J_STRAGGLER_LSB);
}

static struct rf_ctl_join join_of(const struct ctl *c, unsigned int r, int dtype, int op)
{
	const struct ctl_rank *own = &c->rank[r];
	const struct ctl_rank *peer = &c->rank[(r + 1) % c->ranks];
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
				   .peer_ip = peer->ip,
				   .peer_qpn = peer->recv_qpn,
				   .start_psn = own->psn,
				   .lease_ms = c->lease ? (uint32_t)(c->lease / NS_PER_MS)
							: RF_CTL_LEASE_NONE,
				   .deadline_ms = (uint32_t)(c->timeout / NS_PER_MS),
				   .flags = group_flags(c)};

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
	return rc;
}
