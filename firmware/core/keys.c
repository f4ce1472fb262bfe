/* Limits of a job's key: its share of the box. */
#include "firmware/core/internal.h"

static const uint8_t zero_key[RF_CTL_KEY_BYTES];

const struct rf_fw_key *rf_fw_keys_find(const struct rf_fw *fw, uint64_t job)
{
	for (unsigned int i = 0; i < fw->cfg.nkeys; i++)
		if (fw->cfg.keys[i].job == job)
			return &fw->cfg.keys[i];
	return NULL;
}

const uint8_t *rf_fw_keys_secret(const struct rf_fw *fw, uint64_t job)
{
	const struct rf_fw_key *k = rf_fw_keys_find(fw, job);

	if (fw->cfg.nkeys == 0)
		return zero_key;
	return k ? k->key : NULL;
}

uint32_t rf_fw_keys_entries(const struct rf_fw_group *g)
{
	return (uint32_t)g->ranks + g->doubles + (g->uplink != RF_FW_NONE);
}

int rf_fw_keys_doubles(const struct rf_fw_group *g, bool mirror)
{
	if (g->flags & RF_CTL_J_OPEN_LOOP)
		return 0;
	if (g->ring_first)
		return mirror ? -1 : 0;
	return mirror ? 0 : 1;
}

uint32_t rf_fw_keys_bytes(unsigned int slots_log2, unsigned int mtu_log2)
{
	return 1u << (slots_log2 + mtu_log2);
}

void rf_fw_keys_held(const struct rf_fw *fw, uint64_t job, struct rf_ctl_share *held)
{
	*held = (struct rf_ctl_share){.entries = rf_fw_conn_count(fw, job, true)};
	for (unsigned int i = 0; i < fw->records; i++) {
		const struct rf_fw_group *g = &fw->group[i];

		if (g->hw == RF_FW_NONE || g->job != job)
			continue;
		held->groups++;
		held->slots += 1u << g->slots_log2;
		held->ranks += g->ranks;
		held->bytes += rf_fw_keys_bytes(g->slots_log2, g->mtu_log2);
		/* Entries that remain after a group's end are counted as tombstones. */
		if (rf_fw_group_active(g))
			held->entries += rf_fw_keys_entries(g);
	}
}

/* Half of the box, or more if the smallest group needs more. */
static void half(const struct rf_fw *fw, struct rf_ctl_share *s)
{
	uint32_t beat_log2 = 0;

	while (fw->width64 > 1u << beat_log2)
		beat_log2++;
	beat_log2 += 3u;
	s->groups = fw->ngroups / 2u;
	s->slots = 1u << fw->hdr_log2 >> 1;
	s->ranks = RF_FW_MEMBERS / 2u;
	s->entries = 1u << fw->hash_bits;
	s->bytes = fw->bank_log2 + beat_log2 > 31u ? UINT32_MAX
						   : 1u << (fw->bank_log2 + beat_log2) >> 1;
	if (s->groups == 0)
		s->groups = 1;
	if (s->slots < 16u)
		s->slots = 16u;
	if (s->bytes < 16u << fw->mtu_log2)
		s->bytes = 16u << fw->mtu_log2;
}

void rf_fw_keys_most(const struct rf_fw *fw, uint64_t job, struct rf_ctl_share *most)
{
	const struct rf_fw_key *key = rf_fw_keys_find(fw, job);
	unsigned int tenants = 0;

	*most = (struct rf_ctl_share){RF_CTL_NO_LIMIT, RF_CTL_NO_LIMIT, RF_CTL_NO_LIMIT,
				      RF_CTL_NO_LIMIT, RF_CTL_NO_LIMIT};
	if (!key)
		return;
	for (unsigned int i = 0; i < fw->cfg.nkeys; i++)
		tenants += fw->cfg.keys[i].job != RF_CTL_JOB_OPERATOR;
	/* A single job does not have to share the box. */
	if (tenants > 1 && job != RF_CTL_JOB_OPERATOR)
		half(fw, most);
	if (key->most.groups > 0)
		most->groups = key->most.groups;
	if (key->most.slots > 0)
		most->slots = key->most.slots;
	if (key->most.ranks > 0)
		most->ranks = key->most.ranks;
	if (key->most.entries > 0)
		most->entries = key->most.entries;
	if (key->most.bytes > 0)
		most->bytes = key->most.bytes;
}

static uint32_t less(uint32_t most, uint32_t held)
{
	if (most == RF_CTL_NO_LIMIT)
		return most;
	return most > held ? most - held : 0;
}

void rf_fw_keys_left(const struct rf_fw *fw, uint64_t job, struct rf_ctl_share *left)
{
	struct rf_ctl_share held;

	rf_fw_keys_held(fw, job, &held);
	rf_fw_keys_most(fw, job, left);
	left->groups = less(left->groups, held.groups);
	left->slots = less(left->slots, held.slots);
	left->ranks = less(left->ranks, held.ranks);
	left->entries = less(left->entries, held.entries);
	left->bytes = less(left->bytes, held.bytes);
}
