#include "tests/unit/fw_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

const struct rf_fw_key world_keys[1 + JOBS] = {
	{.job = 0},
	{.job = 1, .most = {.groups = 2}},
	{.job = 2, .most = {.ranks = 7}},
	{.job = 3, .most = {.entries = 17}},
	{.job = 4, .most = {.bytes = 160 << 10}},
	{.job = 5, .most = {.slots = 96}},
	{.job = 6}, /* default limits: half of the box */
};

enum rf_ctl_reason world_quota(const struct world *w, uint64_t job, unsigned int n,
			       unsigned int s_log2)
{
	const struct rf_fw *fw = &w->b->fw;
	const struct rf_ctl_share *k = &world_keys[job].most;
	unsigned int groups = 1, slots = 1u << s_log2, ranks = n, entries = 2 * n;
	unsigned int bytes = 1024u << s_log2;

	for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
		const struct rf_fw_group *g = &fw->group[i];

		if (g->hw == RF_FW_NONE || g->job != job)
			continue;
		groups++;
		slots += 1u << g->slots_log2;
		bytes += 1024u << g->slots_log2;
		ranks += g->ranks;
		entries += rf_fw_group_active(g) ? 2u * g->ranks : 0u;
	}
	for (unsigned int i = 0; i < 2u << fw->hash_bits; i++)
		entries +=
			fw->table[i].job == job && rf_fw_state(&fw->table[i]) == RF_STATE_TOMBSTONE;
	if (groups > (k->groups ? k->groups : 4))
		return RF_CTL_R_QUOTA;
	if (ranks > (k->ranks ? k->ranks : RF_FW_MEMBERS / 2))
		return RF_CTL_R_QUOTA_RANKS;
	if (entries > (k->entries ? k->entries : 256))
		return RF_CTL_R_QUOTA_ENTRIES;
	if (slots > (k->slots ? k->slots : 256))
		return RF_CTL_R_QUOTA;
	return bytes > (k->bytes ? k->bytes : 256u << 10) ? RF_CTL_R_QUOTA_BYTES : RF_CTL_R_NONE;
}

uint64_t world_now(const struct world *w)
{
	return w->b->fw.now_ms;
}

uint32_t world_ip(uint64_t job, unsigned int number, unsigned int rank)
{
	return 0x0a000000u | (uint32_t)job << 16 | (uint32_t)number << 8 | (uint32_t)(rank + 1);
}

struct ask world_ask(struct world *w, unsigned int verb, uint64_t job, unsigned int number,
		     unsigned int rank, uint64_t token)
{
	struct ask a;

	memset(&a, 0, sizeof(a));
	a.h.verb = (uint8_t)verb;
	a.h.job = job;
	a.h.group = (uint16_t)number;
	a.h.rank = (uint16_t)rank;
	a.h.token = token;
	a.h.seq = ++w->seq;
	a.ip = world_ip(job, number, rank);
	a.h.nonce = fw_box_nonce(a.ip);
	a.port = (unsigned int)(rank + job) % 4u;
	return a;
}

bool world_send(struct world *w, const struct ask *a, struct rf_ctl_reply *r)
{
	static const uint8_t key[16];
	struct rf_ctl_addr to = {.vlan = RF_CTL_NO_VLAN,
				 .src_ip = a->ip,
				 .dst_ip = FW_BOX_IP,
				 .src_port = 50000,
				 .dst_port = RF_CTL_UDP_PORT,
				 .src_mac = {2, 0, 0, 0, 9, 9}};
	uint8_t msg[RF_CTL_MESSAGE_MAX], frame[RF_CTL_FRAME_MAX];
	size_t len = rf_ctl_request_put(msg, &a->h, &a->r, key);
	const struct fw_box_frame *f;
	bool found = false;

	assert_true(len > 0);
	len = rf_ctl_frame_put(frame, sizeof(frame), &to, msg, len);
	memcpy(w->sent[w->sends % RECORDS].frame, frame, len);
	w->sent[w->sends++ % RECORDS].len = len;
	fw_box_punt(w->b, a->port, frame, len);
	assert_null(fw_box_poll(w->b));
	while ((f = fw_box_out(w->b)) != NULL) {
		struct rf_ctl_addr from;
		struct rf_ctl_header h;
		const uint8_t *m;
		size_t n;

		assert_int_equal(rf_ctl_frame_get(f->data, f->len, &from, &m, &n), 0);
		assert_int_equal(rf_ctl_header_get(m, n, &h), 0);
		if (found || h.seq != a->h.seq || h.token != a->h.token)
			continue;
		assert_int_equal(rf_ctl_reply_get(m, &h, r), 0);
		found = true;
	}
	if (found) {
		w->replies[r->result & 7u]++;
		if (r->result == RF_CTL_FAILED)
			w->refusals[r->u.failed.reason]++;
	}
	return found;
}

struct group *world_in_state(struct world *w, uint64_t job, unsigned int number, unsigned int state)
{
	for (unsigned int i = 0; i < GROUPS; i++)
		if (w->g[i].state == state && w->g[i].job == job && w->g[i].number == number)
			return &w->g[i];
	return NULL;
}

struct group *world_member_of(struct world *w, uint64_t job, unsigned int number, unsigned int rank)
{
	for (unsigned int i = 0; i < GROUPS; i++) {
		struct group *g = &w->g[i];
		const struct rank *r = &g->rank[rank];

		if (g->state != RF_CTL_S_FREE && g->job == job && g->number == number && r->joined)
			return g;
	}
	return NULL;
}

void world_end(struct world *w, struct group *g)
{
	g->state = RF_CTL_S_FREE;
	w->settled = world_now(w) + w->b->cfg.settle_ms + 2u;
}

static unsigned int world_active(const struct world *w)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < GROUPS; i++)
		n += w->g[i].state != RF_CTL_S_FREE;
	return n;
}

bool world_range_free(const struct world *w, uint32_t total, uint32_t size, bool heads)
{
	const struct rf_fw *fw = &w->b->fw;

	for (uint32_t base = 0; base + size <= total; base += size) {
		bool hit = false;

		for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
			const struct rf_fw_group *g = &fw->group[i];
			uint32_t at = heads ? g->hbase : g->dbase;
			uint32_t n = heads ? 1u << g->slots_log2 : 16u << g->slots_log2;

			if (g->hw != RF_FW_NONE && at < base + size && base < at + n)
				hit = true;
		}
		if (!hit)
			return true;
	}
	return false;
}

bool world_taken(struct world *w, const struct group *g, uint64_t job, unsigned int number,
		 unsigned int rank)
{
	for (unsigned int i = 0; i < GROUPS; i++)
		if (&w->g[i] != g && w->g[i].state != RF_CTL_S_FREE && w->g[i].job == job &&
		    w->g[i].number == number && w->g[i].rank[rank].joined)
			return true;
	return false;
}

void world_check(struct world *w)
{
	const struct rf_fw *fw = &w->b->fw;
	unsigned int count = 0;

	for (unsigned int i = 0; i < RF_FW_RECORDS; i++)
		count += rf_fw_group_active(&fw->group[i]);
	assert_int_equal(count, world_active(w));
	for (unsigned int i = 0; i < GROUPS; i++) {
		const struct group *g = &w->g[i];
		bool found = false;

		if (g->state == RF_CTL_S_FREE)
			continue;
		for (unsigned int k = 0; k < RF_FW_RECORDS; k++) {
			const struct rf_fw_group *f = &fw->group[k];

			if (f->state == g->state && f->job == g->job && f->number == g->number &&
			    f->joined == g->joined && f->left == g->left && f->ranks == g->n)
				found = true;
		}
		if (!found)
			print_error(
				"job %u group %u: state %s, %u joined, %u left: not in the box\n",
				(unsigned int)g->job, g->number, rf_ctl_state_text(g->state),
				g->joined, g->left);
		assert_true(found);
	}
}
