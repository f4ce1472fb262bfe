/* ringfold ctl join --rank ...: endpoints that know nothing of ringfold, registered by hand. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/src/bootstrap/settings.h"
#include "host/tools/ctl.h"
#include "host/tools/opt.h"

#define NS_PER_MS UINT64_C(1000000)
#define RNR_CODE_MAX 31u

/* One field "key=value" of a rank's text, as a number up to `most`. */
static int field(const char *text, const char *key, uint64_t most, uint64_t *value, char *why,
		 size_t room)
{
	size_t len = strlen(key);
	char digits[32];

	for (const char *p = text; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		if (strncmp(p, key, len) != 0 || p[len] != '=')
			continue;
		snprintf(digits, sizeof(digits), "%.*s", (int)strcspn(p + len + 1, ","),
			 p + len + 1);
		return rf_number_parse(key, digits, 0, most, value, why, room);
	}
	snprintf(why, room, "%s= is missing", key);
	return -1;
}

int ctl_add_rank(void *to, const char *value)
{
	struct ctl *c = to;
	struct ctl_rank *r = &c->rank[c->ranks];
	uint64_t qpn, psn, peer, port;
	char why[200], ip[32];

	if (c->ranks == CTL_RANKS_MAX) {
		fprintf(stderr, "--rank: at most %u\n", CTL_RANKS_MAX);
		return -1;
	}
	snprintf(ip, sizeof(ip), "%.*s", (int)strcspn(value, ","), value);
	if (rf_ip_parse("address", ip, &r->ip, why, sizeof(why)) != 0 ||
	    field(value, "send", 0xffffff, &qpn, why, sizeof(why)) != 0 ||
	    field(value, "psn", 0xffffff, &psn, why, sizeof(why)) != 0 ||
	    field(value, "recv", 0xffffff, &peer, why, sizeof(why)) != 0 ||
	    field(value, "port", RF_CTL_PORTS_MAX - 1, &port, why, sizeof(why)) != 0) {
		fprintf(stderr, "--rank %s: %s\n", value, why);
		return -1;
	}
	r->send_qpn = (uint32_t)qpn;
	r->psn = (uint32_t)psn;
	r->recv_qpn = (uint32_t)peer;
	r->port = (uint8_t)port;
	c->ranks++;
	return 0;
}

static unsigned int log2_of(unsigned int n)
{
	unsigned int k = 0;

	while (n >>= 1)
		k++;
	return k;
}

/* Place of a word in a list that ends with NULL, or -1. */
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
		fprintf(stderr, "ringfold ctl: --straggler: an RNR timer code from 1 to %u\n",
			RNR_CODE_MAX);
		return -1;
	}
	if (c->job == 0 || c->ranks < 2) {
		fprintf(stderr, "ringfold ctl: --job N, and --rank at least twice, are needed\n");
		return -1;
	}
	return 0;
}

static uint16_t group_flags(const struct ctl *c)
{
	return (uint16_t)((c->transparent ? RF_CTL_J_TRANSPARENT : 0) |
			  c->straggler << RF_CTL_J_STRAGGLER_LSB);
}

static struct rf_ctl_join join_of(const struct ctl *c, unsigned int r, int dtype, int op)
{
	const struct ctl_rank *own = &c->rank[r];
	const struct ctl_rank *peer = &c->rank[(r + 1) % c->ranks];
	struct rf_ctl_join join = {.ranks = (uint16_t)c->ranks,
				   .dtype = (uint8_t)dtype,
				   .op = (uint8_t)op,
				   .mtu_log2 = (uint8_t)log2_of(c->mtu),
				   .slots_log2 = (uint8_t)log2_of(c->slots),
				   .slots_min_log2 = (uint8_t)log2_of(c->slots),
				   .port = own->port,
				   .src_ip = own->ip,
				   .qpn = own->send_qpn,
				   .peer_ip = peer->ip,
				   .peer_qpn = peer->recv_qpn,
				   .start_psn = own->psn,
				   .lease_ms = RF_CTL_LEASE_NONE,
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
	printf("job %" PRIu64 ": %u ranks ready, %u slots, at most %u packets may be on their way "
	       "on a connection\n",
	       c->job, c->ranks, 1u << ready->slots_log2, ready->window);
	return rc;
}
