/*
 * Watches ranks of groups that an operator has registered, while they are silent, that is, have not
 * sent on their registered connection yet. A rank that was registered with wrong QPNs, or whose
 * successor is missing, sends on a connection that is not registered. So ports with silent ranks
 * hold unknown connections (HOLD_PORTS). A packet held there that comes from a silent rank's
 * address is a stray and fails the group. A packet from another address is foreign; its connection
 * gets an entry that lets it pass.
 */
#include "firmware/core/internal.h"

/* Time between two checks of which ranks have sent. */
#define LOOK_MS 10u
/* Number of stray packets that fail a group even if no two are of the same connection. */
#define STRAYS_MAX 4u

/*
 * If strays or wrong data have come, strays may come after the group's end too, whatever the reason
 * for that was.
 */
static bool watched(const struct rf_fw_group *g)
{
	if ((g->flags & (RF_CTL_J_STRICT | RF_CTL_J_OTHERS)) != RF_CTL_J_STRICT)
		return false;
	return g->live || (g->state == RF_CTL_S_FAILED && g->suspect);
}

static bool silent(struct rf_fw *fw, const struct rf_fw_group *g, struct rf_fw_member *m)
{
	uint32_t cid = RF_FW_CID(g->hw, m->lane, m->port);

	if (!m->spoke && g->live &&
	    (rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_SEEN)) & RF_CONN_SEEN_DATA_MASK))
		m->spoke = 1;
	return !m->spoke;
}

/* A bit for each port with a silent rank. */
static unsigned int silent_ports(struct rf_fw *fw)
{
	unsigned int ports = 0;

	for (unsigned int i = 0; i < fw->records; i++) {
		const struct rf_fw_group *g = &fw->group[i];
		struct rf_fw_member *m;

		if (!watched(g))
			continue;
		for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
			if (silent(fw, g, m))
				ports |= 1u << m->port;
	}
	return ports;
}

static void set_ports(struct rf_fw *fw, unsigned int ports)
{
	unsigned int over = fw->watched & ~ports;

	if (ports == fw->watched)
		return;
	rf_fw_write(fw, RF_HOLD_PORTS, ports);
	fw->watched = (uint8_t)ports;
	/* At a port that holds nothing, no entry is needed to pass. */
	if (over != 0 && fw->foreigns > 0)
		rf_fw_conn_forget_foreign(fw, over);
}

/* Makes exactly the ports with silent ranks hold unknown connections. */
static void update(struct rf_fw *fw)
{
	unsigned int ports = silent_ports(fw);

	fw->blind &= (uint8_t)ports;
	set_ports(fw, ports & ~(unsigned int)fw->blind);
	fw->watch_ms = fw->now_ms + LOOK_MS;
}

void rf_fw_watch_begin(struct rf_fw *fw)
{
	/* A connection that passed as foreign may belong to one of the new ranks. */
	if (fw->foreigns > 0)
		rf_fw_conn_forget_foreign(fw, fw->watched);
	fw->strict = 1;
	update(fw);
}

void rf_fw_watch_reset(struct rf_fw *fw)
{
	rf_fw_write(fw, RF_HOLD_PORTS, 0);
	if (fw->foreigns > 0)
		rf_fw_conn_forget_foreign(fw, fw->watched);
	fw->watched = 0;
	fw->blind = 0;
}

uint64_t rf_fw_watch_tick(struct rf_fw *fw)
{
	bool any = false;

	if (fw->now_ms >= fw->watch_ms) {
		update(fw);
		for (unsigned int i = 0; i < fw->records && !any; i++)
			any = watched(&fw->group[i]);
		fw->strict = any;
	}
	return fw->watched != 0 ? fw->watch_ms : RF_FW_NEVER;
}

void rf_fw_watch_registered(struct rf_fw *fw, const struct rf_fw_member *m)
{
	for (unsigned int i = 0; i < fw->records; i++) {
		const struct rf_fw_group *g = &fw->group[i];
		struct rf_fw_member *o;

		if (g->state != RF_CTL_S_FAILED || !watched(g))
			continue;
		for (o = rf_fw_first(fw, g); o; o = rf_fw_next(fw, o))
			if (o->src_ip == m->src_ip && o->port == m->port)
				o->spoke = 1;
	}
}

static bool has_address(struct rf_fw *fw, const struct rf_fw_group *g, uint32_t ip)
{
	for (const struct rf_fw_member *m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		if (m->src_ip == ip)
			return true;
	return false;
}

/*
 * The silent rank that has the frame's source address, or NULL: at the frame's port, or at another
 * one if the frame goes to a rank of the same group.
 */
static struct rf_fw_member *sender(struct rf_fw *fw, const struct rf_fw_shown *s, bool elsewhere,
				   struct rf_fw_group **of)
{
	for (unsigned int i = 0; i < fw->records; i++) {
		struct rf_fw_group *g = &fw->group[i];
		struct rf_fw_member *m;

		if (!watched(g) || (elsewhere && !has_address(fw, g, s->ip)))
			continue;
		*of = g;
		for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
			if (m->src_ip == s->src && (elsewhere || m->port == s->port) &&
			    silent(fw, g, m))
				return m;
	}
	return NULL;
}

/* A single packet proves nothing: any host at this port may have sent it. */
static bool convicted(struct rf_fw_member *m, const struct rf_fw_shown *s)
{
	uint32_t hash = rf_fw_conn_hash(s->ip, rf_fw_key(0, s->qpn));

	if (m->strays > 0 && m->stray == hash)
		return true;
	if (m->strays == 0)
		m->stray = hash;
	return ++m->strays >= STRAYS_MAX;
}

enum rf_fw_stray rf_fw_watch_stray(struct rf_fw *fw, const struct rf_fw_shown *s,
				   struct rf_fw_group **g, struct rf_fw_member **m)
{
	bool here;

	*m = sender(fw, s, false, g);
	here = *m != NULL;
	/*
	 * At the port of another rank it does not pass, because the port may be registered wrong.
	 * It fails no group either, because any host there may have sent it. For the same reason
	 * only connections between ranks are cut.
	 */
	if (!here)
		*m = sender(fw, s, true, g);
	if (!*m || rf_fw_conn_find(fw, s->ip, rf_fw_key(0, s->qpn)))
		return RF_FW_STRAY_NONE;
	fw->cnt.strays++;
	(*g)->suspect = 1;
	return (*g)->live && !(here && convicted(*m, s)) ? RF_FW_STRAY_OPEN : RF_FW_STRAY_PROVED;
}

void rf_fw_watch_pass(struct rf_fw *fw, const struct rf_fw_shown *s)
{
	unsigned int bit = 1u << s->port;

	/* The port no longer holds connections, or this one already has an entry. */
	if (!(fw->watched & bit) || rf_fw_conn_find(fw, s->ip, rf_fw_key(0, s->qpn)))
		return;
	if (fw->foreigns < 1u << fw->hash_bits >> 1 && rf_fw_conn_pass(fw, s))
		return;
	fw->cnt.unwatched++;
	fw->blind |= (uint8_t)bit;
	set_ports(fw, fw->watched & ~bit);
}
