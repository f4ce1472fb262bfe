/* JOIN: whether its fields are allowed, and fit the group that it names. */
#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"

/* Offsets in the body of JOIN, for the detail of FIELD. */
#define AT_DTYPE 2u
#define AT_OP 3u
#define AT_MTU 4u
#define AT_SLOTS 5u
#define AT_SLOTS_MIN 6u
#define AT_PORT 7u
#define AT_FLAGS 8u
#define AT_FAMILY 10u
#define AT_SRC_IP 12u
#define AT_PEER_IP 20u
#define AT_PEER_QPN 24u
#define AT_SHIFT 32u
#define AT_LEASE 36u
#define AT_DEADLINE 40u

/* Highest numbers of types and operations that the protocol has. */
#define TYPE_MAX 9u
#define OP_LAST 6u
#define OP_COPY OP_LAST
/* fp32, bf16, fp16, fp64: they have no and, or, xor. */
#define FLOATING 0x87u

static bool op_ok(const struct rf_ctl_join *j)
{
	if (j->op <= RF_OP_MAX)
		return true;
	if (j->op == OP_COPY)
		return (j->flags & RF_CTL_J_DIRECTED) != 0;
	return j->op < OP_LAST && !(FLOATING >> j->dtype & 1u);
}

/* Whether these flags go together. */
static bool flags_ok(unsigned int flags)
{
	const unsigned int not_strict = RF_CTL_J_OPEN_LOOP | RF_CTL_J_SHIFTED | RF_CTL_J_SELECTIVE;
	const unsigned int not_mirror = RF_CTL_J_SHIFTED | RF_CTL_J_STRICT | RF_CTL_J_OTHERS;
	const unsigned int not_directed =
		RF_CTL_J_OPEN_LOOP | RF_CTL_J_TRANSPARENT | RF_CTL_J_STRICT | RF_CTL_J_OTHERS;
	const unsigned int known = RF_CTL_J_OPEN_LOOP | RF_CTL_J_TRANSPARENT | RF_CTL_J_SHIFTED |
				   RF_CTL_J_SELECTIVE | RF_CTL_J_STRICT | RF_CTL_J_OTHERS |
				   RF_CTL_J_MIRROR | RF_CTL_J_DIRECTED | RF_CTL_J_STRAGGLER |
				   RF_CTL_J_UPLINK | RF_CTL_J_LEAF;

	if ((flags & RF_CTL_J_LEAF) && !(flags & RF_CTL_J_MIRROR))
		return false;
	if (((flags & RF_CTL_J_STRICT) && (flags & not_strict)) ||
	    ((flags & RF_CTL_J_MIRROR) && (flags & not_mirror)) ||
	    ((flags & RF_CTL_J_DIRECTED) && (flags & not_directed)))
		return false;
	return !(flags & ~known) && (!(flags & RF_CTL_J_OTHERS) || (flags & RF_CTL_J_STRICT));
}

/* The offset of the successor's address or QPN, if it is not allowed; otherwise 0. */
static uint32_t bad_peer(const struct rf_fw *fw, const struct rf_ctl_join *j)
{
	uint32_t own = rf_get_be32(fw->cfg.mac);

	if (!rf_fw_is_mirror(j))
		return j->peer_ip == 0 || rf_fw_address_any(fw, j->peer_ip) ? AT_PEER_IP : 0;
	if (rf_fw_is_leaf(j) && j->peer_ip == 0)
		return AT_PEER_IP;
	if (rf_fw_is_leaf(j))
		return j->peer_qpn != 0 ? AT_PEER_QPN : 0;
	/* Not a group address, and not a MAC of the box. */
	if (j->peer_ip >> 24 & 1u)
		return AT_PEER_IP;
	if (j->peer_qpn > 0xffffu ||
	    (j->peer_ip == own && j->peer_qpn - rf_get_be16(fw->cfg.mac + 4) < fw->ports))
		return AT_PEER_QPN;
	return 0;
}

/* Offset of the first field whose value is not allowed; 0: all are allowed. */
static uint32_t bad_field(const struct rf_fw *fw, const struct rf_ctl_join *j)
{
	bool shifted = (j->flags & RF_CTL_J_SHIFTED) != 0;

	if (j->dtype > TYPE_MAX)
		return AT_DTYPE;
	if (!op_ok(j))
		return AT_OP;
	if (j->mtu_log2 < 8 || j->mtu_log2 > 12)
		return AT_MTU;
	if (j->slots_log2 < 4 || j->slots_log2 > 15)
		return AT_SLOTS;
	if (j->slots_min_log2 < 4 || j->slots_min_log2 > j->slots_log2)
		return AT_SLOTS_MIN;
	if (j->port >= fw->ports && !(rf_fw_is_mirror(j) && j->port == RF_CTL_NO_PORT))
		return AT_PORT;
	if (!flags_ok(j->flags))
		return AT_FLAGS;
	if (j->family != RF_CTL_FAMILY_DEFAULT && j->family != RF_CTL_FAMILY_IPV4)
		return AT_FAMILY;
	if (j->src_ip == 0 || rf_fw_address_any(fw, j->src_ip))
		return AT_SRC_IP;
	if (bad_peer(fw, j))
		return bad_peer(fw, j);
	if (shifted != (j->shift != 0))
		return AT_SHIFT;
	if (j->lease_ms != RF_CTL_LEASE_NONE &&
	    (j->lease_ms < RF_CTL_TIME_MIN_MS || j->lease_ms > RF_CTL_TIME_MAX_MS))
		return AT_LEASE;
	if (j->deadline_ms == 0 || j->deadline_ms > RF_CTL_TIME_MAX_MS)
		return AT_DEADLINE;
	return 0;
}

/* What this build of the box lacks. */
static enum rf_ctl_reason judge_build(const struct rf_fw *fw, const struct rf_ctl_join *j,
				      uint32_t *detail)
{
	*detail = j->dtype;
	if (!(fw->types >> j->dtype & 1u))
		return RF_CTL_R_TYPE_UNSUPPORTED;
	*detail = fw->mtu_log2;
	if (j->mtu_log2 > fw->mtu_log2)
		return RF_CTL_R_MTU_UNSUPPORTED;
	*detail = 0;
	if (!fw->selective && (j->flags & RF_CTL_J_SELECTIVE))
		return RF_CTL_R_SELECTIVE_UNSUPPORTED;
	if (!fw->mirror && rf_fw_is_mirror(j))
		return RF_CTL_R_MIRROR_UNSUPPORTED;
	if (!fw->directed && (j->flags & RF_CTL_J_DIRECTED))
		return RF_CTL_R_DIRECTED_UNSUPPORTED;
	return RF_CTL_R_NONE;
}

/* Reasons to refuse a JOIN that do not depend on a group. */
enum rf_ctl_reason rf_fw_judge_alone(const struct rf_fw *fw, const struct rf_ctl_header *h,
				     const struct rf_ctl_join *j, uint32_t *detail)
{
	enum rf_ctl_reason why;

	*detail = 0;
	if (j->family == RF_CTL_FAMILY_IPV6)
		return RF_CTL_R_IPV6;
	*detail = bad_field(fw, j);
	if (*detail != 0 || h->token == 0)
		return RF_CTL_R_FIELD;
	*detail = RF_FW_RANKS_MAX;
	/* One rank is enough beside an uplink. */
	if (j->ranks < (j->flags & RF_CTL_J_UPLINK ? 1u : 2u) || j->ranks > RF_FW_RANKS_MAX)
		return RF_CTL_R_RANKS;
	*detail = 0;
	if (h->rank >= j->ranks)
		return RF_CTL_R_RANK_RANGE;
	if (j->src_ip == j->peer_ip && !rf_fw_is_leaf(j))
		return RF_CTL_R_ADDRESS_TWICE;
	why = judge_build(fw, j, detail);
	return why == RF_CTL_R_NONE ? rf_fw_uplink_judge(fw, j, detail) : why;
}

/* These flags belong to a rank, not to its group. */
#define OWN_FLAGS (RF_CTL_J_MIRROR | RF_CTL_J_SHIFTED | RF_CTL_J_LEAF | RF_CTL_J_SELECTIVE)

/* All ring ranks of a group are shifted, or none is. */
static bool shift_fits(struct rf_fw *fw, const struct rf_fw_group *g, const struct rf_ctl_join *j)
{
	for (const struct rf_fw_member *m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		if (!m->mirror && !rf_fw_is_mirror(j))
			return ((j->flags ^ g->flags) & RF_CTL_J_SHIFTED) == 0;
	return true;
}

/* The same for selective, among ranks that are not uplinks. */
static bool selective_fits(struct rf_fw *fw, const struct rf_fw_group *g,
			   const struct rf_ctl_join *j)
{
	for (const struct rf_fw_member *m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		if (!(m->flags & RF_CTL_RANK_LEAF) && !rf_fw_is_leaf(j))
			return ((j->flags ^ g->flags) & RF_CTL_J_SELECTIVE) == 0;
	return true;
}

/* Reasons to refuse a JOIN that depend on the group that it names. */
enum rf_ctl_reason rf_fw_judge_group(struct rf_fw *fw, const struct rf_fw_group *g,
				     const struct rf_ctl_header *h, const struct rf_ctl_join *j)
{
	if (j->ranks != g->ranks)
		return RF_CTL_R_RANKS_DIFFER;
	if (rf_fw_member_find(fw, g, h->rank))
		return RF_CTL_R_RANK_TAKEN;
	if (!rf_fw_uplink_same(fw, g, j))
		return RF_CTL_R_UPLINK_DIFFERS;
	if (j->dtype != g->dtype || j->op != g->op)
		return RF_CTL_R_TYPES_DIFFER;
	if (j->mtu_log2 != g->mtu_log2)
		return RF_CTL_R_MTU_DIFFERS;
	if (((j->flags ^ g->flags) & ~OWN_FLAGS) || !shift_fits(fw, g, j) ||
	    !selective_fits(fw, g, j) || j->slots_log2 != g->want_log2 ||
	    j->slots_min_log2 != g->min_log2)
		return RF_CTL_R_SETTINGS_DIFFER;
	return RF_CTL_R_NONE;
}

/* Addresses that no host has (RFC 5737, TEST-NET-2): every key may register one. */
#define DOCUMENTATION_NET 0xc63364u

/*
 * Whether the key of a job may register source address and port of a JOIN. It may if they are those
 * of the packet, or if the job's entry in the key table lists them. The operator may register all;
 * in an open lab every host is an operator. A strict group affects unknown connections at its
 * ports, so only a key that lists addresses may register one.
 */
enum rf_ctl_reason rf_fw_speaks_for(const struct rf_fw *fw, const struct rf_fw_request *q,
				    const struct rf_ctl_join *j)
{
	const struct rf_fw_key *k = rf_fw_keys_find(fw, q->h.job);
	bool strict = (j->flags & RF_CTL_J_STRICT) != 0;
	bool all = !k || k->job == RF_CTL_JOB_OPERATOR ||
		   (j->src_ip >> 8 == DOCUMENTATION_NET && !strict);
	bool ip = k && k->ips == 0 && !strict ? j->src_ip == q->addr.src_ip : false;

	for (unsigned int i = 0; k && i < k->ips; i++)
		if (((j->src_ip ^ k->ip[i].ip) & rf_fw_prefix_mask(k->ip[i].bits)) == 0)
			ip = true;
	if (!all && !ip)
		return RF_CTL_R_ADDRESS_DENIED;
	/* The port of a mirror rank is judged with the addresses: its JOIN must arrive there. */
	if (!all && !rf_fw_is_mirror(j) &&
	    (k->ports ? !(k->ports >> j->port & 1u) : j->port != q->port))
		return RF_CTL_R_PORT_DENIED;
	return RF_CTL_R_NONE;
}
