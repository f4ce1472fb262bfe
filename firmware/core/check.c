/* Checks the invariants of the bookkeeping, for tests. */
#include "firmware/core/internal.h"

static const char *check_slots(const struct rf_fw *fw)
{
	uint64_t hw = 0;
	uint32_t beats = 0, heads = 0;

	for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
		const struct rf_fw_group *g = &fw->group[i];
		uint32_t size, hsize;

		if (g->hw == RF_FW_NONE) {
			if (rf_fw_group_active(g))
				return "an active group without hardware";
			continue;
		}
		if (hw >> g->hw & 1u)
			return "a hardware group owned twice";
		hw |= UINT64_C(1) << g->hw;
		size = 1u << rf_fw_group_beats_log2(fw, g->mtu_log2, g->slots_log2);
		hsize = 1u << g->slots_log2;
		if (g->dbase % size != 0 || g->hbase % hsize != 0)
			return "a slot range that is not aligned";
		if (g->dbase + size > 1u << fw->bank_log2 || g->hbase + hsize > 1u << fw->hdr_log2)
			return "a slot range outside of the banks";
		for (unsigned int k = 0; k < i; k++) {
			const struct rf_fw_group *o = &fw->group[k];
			uint32_t osize;

			if (o->hw == RF_FW_NONE)
				continue;
			osize = 1u << rf_fw_group_beats_log2(fw, o->mtu_log2, o->slots_log2);
			if (g->dbase < o->dbase + osize && o->dbase < g->dbase + size)
				return "a beat owned twice";
			if (g->hbase < o->hbase + (1u << o->slots_log2) &&
			    o->hbase < g->hbase + hsize)
				return "a header slot owned twice";
		}
		/* A range smaller than a leaf of the allocator takes a whole leaf. */
		beats += size < 1u << fw->beats.leaf_log2 ? 1u << fw->beats.leaf_log2 : size;
		heads += hsize < 1u << fw->hslots.leaf_log2 ? 1u << fw->hslots.leaf_log2 : hsize;
	}
	for (unsigned int i = fw->records; i < RF_FW_RECORDS; i++)
		if (fw->group[i].state != RF_CTL_S_FREE)
			return "a group after the last record";
	if (hw != fw->hw_used)
		return "hardware groups marked as used do not fit the groups";
	if (beats + rf_fw_buddy_room(&fw->beats) != 1u << fw->bank_log2)
		return "free and owned beats do not add up";
	if (heads + rf_fw_buddy_room(&fw->hslots) != 1u << fw->hdr_log2)
		return "free and owned header slots do not add up";
	return NULL;
}

static const char *check_members(const struct rf_fw *fw)
{
	uint8_t seen[RF_FW_MEMBERS] = {0};
	unsigned int found = 0;

	for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
		const struct rf_fw_group *g = &fw->group[i];
		int rank = -1;
		unsigned int joined = 0, left = 0, all = 0;

		for (uint16_t k = g->first; k != RF_FW_NO_MEMBER; k = fw->member[k].next) {
			const struct rf_fw_member *m = &fw->member[k];

			if (seen[k]++)
				return "a member in two lists";
			if (!m->used)
				return "a free member in a group";
			if (m->rank <= rank || m->rank >= g->ranks)
				return "ranks of a group out of order";
			rank = m->rank;
			joined += m->arrived;
			all++;
			left += (m->flags & (RF_CTL_RANK_LEFT | RF_CTL_RANK_GONE)) != 0;
			found++;
		}
		if (g->state == RF_CTL_S_FREE ? all != 0 : joined != g->joined || left != g->left)
			return "a group counts its members wrong";
		if ((g->state == RF_CTL_S_READY || g->state == RF_CTL_S_DRAINING) != (g->live != 0))
			return "a group live in a state in which it must not be, or the reverse";
		if (g->live && joined != g->ranks)
			return "a live group with ranks missing";
	}
	for (uint16_t k = fw->free_member; k != RF_FW_NO_MEMBER; k = fw->member[k].next) {
		if (seen[k]++)
			return "a member both free and used";
		found++;
	}
	return found == fw->members ? NULL : "a lost member";
}

/* The one entry of a key in the places where it may be; NULL if it has none or two. */
static const struct rf_fw_entry *entry(const struct rf_fw *fw, uint32_t ip, uint32_t key)
{
	uint32_t mask = (1u << (fw->hash_bits - RF_FW_BUCKET_LOG2)) - 1u;
	uint32_t h = rf_fw_conn_hash(ip, key);
	const struct rf_fw_entry *found = NULL;

	for (unsigned int i = 0; i < 2 * RF_FW_BUCKET; i++) {
		unsigned int table = i / RF_FW_BUCKET;
		uint32_t bucket = (table ? h >> 16 : h) & mask;
		const struct rf_fw_entry *e = &fw->table[(table << fw->hash_bits) +
							 RF_FW_BUCKET * bucket + i % RF_FW_BUCKET];

		if (e->ip != ip || e->key != key || rf_fw_state(e) == RF_STATE_EMPTY)
			continue;
		if (found)
			return NULL;
		found = e;
	}
	return found;
}

static bool is(const struct rf_fw_entry *e, uint32_t cid, unsigned int state, uint64_t job)
{
	return e && rf_fw_entry_value(e) == rf_fw_value(cid, state) && e->job == job;
}

static bool has(const struct rf_fw_member *m, unsigned int put)
{
	return (m->put & put) != 0;
}

static bool joined_from(const struct rf_fw *fw, const struct rf_fw_group *g, uint32_t ip)
{
	for (uint16_t k = g->first; k != RF_FW_NO_MEMBER; k = fw->member[k].next)
		if (!fw->member[k].mirror && fw->member[k].src_ip == ip)
			return true;
	return false;
}

static const char *check_table(const struct rf_fw *fw)
{
	uint32_t entries = 0, tombs = 0, foreigns = 0, expect = 0;

	for (unsigned int i = 0; i < 2u << fw->hash_bits; i++) {
		unsigned int state = rf_fw_state(&fw->table[i]);
		uint64_t job = fw->table[i].job;

		if (state == RF_STATE_EMPTY && job != RF_FW_NO_JOB)
			return "an empty place that belongs to a job";
		if (fw->cfg.nkeys > 0 && job != RF_FW_NO_JOB && !rf_fw_keys_find(fw, job))
			return "an entry of a job that does not exist";
		entries += state != RF_STATE_EMPTY;
		tombs += state == RF_STATE_TOMBSTONE;
		foreigns += rf_fw_foreign(&fw->table[i]);
		if (rf_fw_foreign(&fw->table[i]) && !(fw->watched >> fw->table[i].port & 1u))
			return "a foreign entry at a port that holds nothing";
		if (state != RF_STATE_EMPTY && !entry(fw, fw->table[i].ip, fw->table[i].key))
			return "an entry in a place that its key does not have, or twice";
	}
	for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
		const struct rf_fw_group *g = &fw->group[i];

		if (!rf_fw_group_active(g))
			continue;
		if (g->uplink != RF_FW_NONE && fw->uplink[g->uplink].entry) {
			const struct rf_fw_uplink *u = &fw->uplink[g->uplink];

			expect++;
			if (!is(entry(fw, u->port_ip, rf_fw_key(RF_FW_ROLE_MIRROR, u->qpn)),
				RF_FW_CID(g->hw, u->lane, u->port), RF_STATE_LIVE, g->job))
				return "an uplink without its entry";
		}
		for (uint16_t k = g->first; k != RF_FW_NO_MEMBER; k = fw->member[k].next) {
			const struct rf_fw_member *m = &fw->member[k];
			uint32_t cid = RF_FW_CID(g->hw, m->lane, m->port);
			const struct rf_fw_entry *data =
				entry(fw, m->peer_ip, rf_fw_key(0, m->peer_qpn));
			const struct rf_fw_entry *ack = entry(fw, m->src_ip, rf_fw_key(1, m->qpn));
			bool plain = !(g->flags & RF_CTL_J_SHIFTED);
			bool acks = g->live && !(g->flags & RF_CTL_J_OPEN_LOOP);

			if (has(m, RF_FW_PUT_MIRROR) != (m->mirror && g->live))
				return "a mirror connection claimed too early or too late";
			if (m->mirror) {
				const struct rf_fw_entry *own =
					entry(fw, m->src_ip, rf_fw_key(RF_FW_ROLE_MIRROR, m->qpn));

				expect += has(m, RF_FW_PUT_MIRROR);
				if (has(m, RF_FW_PUT_DATA | RF_FW_PUT_ACK))
					return "a mirror connection with a second entry";
				if (g->live && !is(own, cid, RF_STATE_LIVE, g->job))
					return "a mirror connection without its entry";
				if (!m->arrived && g->live)
					return "a live group with a rank that has only asked";
				continue;
			}
			if (has(m, RF_FW_PUT_DATA) !=
			    (g->live || (plain && joined_from(fw, g, m->peer_ip))))
				return "a data role claimed too early or too late";
			if (has(m, RF_FW_PUT_ACK) != acks)
				return "an ACK role claimed too early or too late";
			expect += has(m, RF_FW_PUT_DATA);
			expect += has(m, RF_FW_PUT_ACK);
			if (has(m, RF_FW_PUT_DATA) &&
			    !is(data, cid, g->live ? RF_STATE_LIVE : RF_STATE_JOINING, g->job))
				return "a data role without its entry";
			if (has(m, RF_FW_PUT_ACK) && !is(ack, cid, RF_STATE_LIVE, g->job))
				return "an ACK role without its entry";
		}
	}
	if (entries != fw->entries || tombs != fw->tombstones || foreigns != fw->foreigns)
		return "entries of the connection table counted wrong";
	return entries - tombs - foreigns == expect ? NULL : "an orphan in the connection table";
}

/* Recounts the ranks that need two entries: members, and those that have not asked yet. */
static uint32_t doubles(const struct rf_fw *fw, const struct rf_fw_group *g)
{
	uint32_t rings = 0, all = 0;

	if (g->flags & RF_CTL_J_OPEN_LOOP)
		return 0;
	for (uint16_t k = g->first; k != RF_FW_NO_MEMBER; k = fw->member[k].next) {
		rings += !fw->member[k].mirror;
		all++;
	}
	return rings + (g->ring_first ? g->ranks - all : 0u);
}

/* Addresses of ports are different, and no port takes mirror ranks at one that it has not probed.
 */
static const char *check_addresses(const struct rf_fw *fw)
{
	for (unsigned int p = 0; p < fw->ports; p++) {
		const struct rf_fw_address *a = &fw->address[p];

		if (!fw->mirror && a->ip != 0)
			return "an address of a port on a box without mirror connections";
		if (a->ip != 0 && a->ip == fw->cfg.ip)
			return "a port with the box's address";
		for (unsigned int q = 0; q < p; q++)
			if (a->ip != 0 && a->ip == fw->address[q].ip)
				return "an address that two ports have";
		if (rf_fw_address_usable(fw, p) && (a->claimed || !a->used))
			return "a port that uses an address too early";
	}
	return NULL;
}

/* Recounts what each job with a key holds, and checks it against the job's limits. */
static const char *check_quota(const struct rf_fw *fw)
{
	for (unsigned int k = 0; k < fw->cfg.nkeys; k++) {
		uint64_t job = fw->cfg.keys[k].job;
		struct rf_ctl_share most, held, sum = {0};
		uint32_t entries = 0;

		for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
			const struct rf_fw_group *g = &fw->group[i];
			if (g->hw == RF_FW_NONE || g->job != job)
				continue;
			sum.groups++;
			sum.slots += 1u << g->slots_log2;
			sum.bytes += 1u << g->slots_log2 << g->mtu_log2;
			sum.ranks += g->ranks;
			sum.entries += rf_fw_group_active(g) ? g->ranks + doubles(fw, g) +
								       (g->uplink != RF_FW_NONE)
							     : 0u;
		}
		for (unsigned int i = 0; i < 2u << fw->hash_bits; i++) {
			unsigned int state = rf_fw_state(&fw->table[i]);

			entries += state != RF_STATE_EMPTY && fw->table[i].job == job;
			sum.entries += state == RF_STATE_TOMBSTONE && fw->table[i].job == job;
		}
		rf_fw_keys_most(fw, job, &most);
		rf_fw_keys_held(fw, job, &held);
		if (held.groups != sum.groups || held.slots != sum.slots ||
		    held.ranks != sum.ranks || held.entries != sum.entries ||
		    held.bytes != sum.bytes)
			return "what a job holds is summed wrong";
		/* Entries that belong to no job do not count as the operator's. */
		if (sum.groups > most.groups || sum.slots > most.slots || sum.ranks > most.ranks ||
		    sum.bytes > most.bytes ||
		    (job != RF_FW_NO_JOB && (sum.entries > most.entries || entries > sum.entries)))
			return "a job holds more than its key allows";
	}
	return NULL;
}

/* Each uplink belongs to one group, and its state fits that of the group. */
static const char *check_uplinks(const struct rf_fw *fw)
{
	uint32_t owned = 0;

	for (unsigned int i = 0; i < RF_FW_RECORDS; i++) {
		const struct rf_fw_group *g = &fw->group[i];
		const struct rf_fw_uplink *u = &fw->uplink[g->uplink % RF_FW_UPLINKS];

		if (g->uplink == RF_FW_NONE) {
			if (rf_fw_group_active(g) && (g->flags & RF_CTL_J_UPLINK))
				return "a group without the uplink that it needs";
			continue;
		}
		if (g->uplink >= RF_FW_UPLINKS || owned >> g->uplink & 1u)
			return "an uplink owned twice";
		owned |= 1u << g->uplink;
		if (u->state == RF_FW_UP_FREE)
			return "a free uplink in a group";
		if (u->entry != (g->live != 0))
			return "an uplink's connection claimed too early or too late";
		if (g->live != (u->state == RF_FW_UP_READY || u->state == RF_FW_UP_LEAVE))
			return "an uplink in a state that does not fit its group";
	}
	for (unsigned int i = 0; i < RF_FW_UPLINKS; i++)
		if (fw->uplink[i].state != RF_FW_UP_FREE && !(owned >> i & 1u))
			return "a lost uplink";
	return NULL;
}

const char *rf_fw_check(const struct rf_fw *fw)
{
	const char *what = check_slots(fw);

	if (!what)
		what = check_members(fw);
	if (!what)
		what = check_table(fw);
	if (!what)
		what = check_quota(fw);
	if (!what)
		what = check_addresses(fw);
	if (!what)
		what = check_uplinks(fw);
	return what;
}
