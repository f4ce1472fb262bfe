/*
 * Settings of mirror connections and directed groups: docs/box.md, the sections of these names. The
 * registers do not have them until the RTL does.
 */
#include "sim/model/internal.h"

void rf_model_set_address(struct rf_engine *e, unsigned int port, uint32_t ip)
{
	e->port_ip[port] = ip;
}

bool rf_model_set_mirror(struct rf_engine *e, unsigned int cid, uint64_t mac)
{
	struct model_conn *c = &e->conns[cid];

	c->mirror = true;
	c->mac = mac;
	if (model_lookup(e, MODEL_ROLE_MIRROR, c->src_ip, c->qpn))
		return true;
	return model_table_add(e, MODEL_ROLE_MIRROR, c->src_ip, c->qpn,
			       cid | RF_STATE_LIVE << RF_HASH_VALUE_STATE_LSB);
}

void rf_model_set_kind(struct rf_engine *e, unsigned int group, const struct rf_model_kind *kind)
{
	e->groups[group].kind = *kind;
}

void rf_model_error_difference(const struct rf_engine *e, unsigned int group,
			       struct rf_model_difference *d)
{
	*d = e->groups[group].difference;
}

uint32_t rf_model_counter(const struct rf_engine *e, unsigned int port, unsigned int counter)
{
	return counter < MODEL_CNT_COUNT ? e->ports[port].counters[counter] : 0;
}
