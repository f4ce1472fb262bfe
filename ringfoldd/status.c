/* The state of the box as JSON: registers, ports, groups and their ranks. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "ringfoldd/http.h"
#include "ringfoldd/read.h"

/* An object under construction; bad: out of memory, the object is incomplete. */
struct object {
	json_t *json;
	bool bad;
};

static struct object object(void)
{
	json_t *json = json_object();

	return (struct object){.json = json, .bad = !json};
}

/* Takes the value; NULL: there was no memory for it. */
static void put(struct object *o, const char *name, json_t *value)
{
	if (json_object_set_new(o->json, name, value) != 0)
		o->bad = true;
}

static void put_number(struct object *o, const char *name, uint64_t value)
{
	put(o, name, json_integer((json_int_t)value));
}

static void put_bool(struct object *o, const char *name, bool value)
{
	put(o, name, json_boolean(value));
}

static void put_text(struct object *o, const char *name, const char *text)
{
	put(o, name, json_string(text));
}

/* The object, or NULL if a part of it is missing. */
static json_t *finish(struct object *o)
{
	if (o->bad) {
		json_decref(o->json);
		return NULL;
	}
	return o->json;
}

/* Appends and takes a value. False: out of memory. */
static bool append(json_t *array, json_t *value)
{
	return json_array_append_new(array, value) == 0;
}

/* The array, or NULL if !good. */
static json_t *finish_array(json_t *array, bool good)
{
	if (!good) {
		json_decref(array);
		return NULL;
	}
	return array;
}

static json_t *rank(struct rf_fw *fw, const struct rf_fw_group *g, const struct rf_fw_member *m)
{
	uint32_t cid = RF_FW_CID(g->hw, m->lane, m->port);
	struct object o = object();
	char ip[16];

	snprintf(ip, sizeof(ip), "%u.%u.%u.%u", (unsigned int)(m->src_ip >> 24),
		 (unsigned int)(m->src_ip >> 16 & 255u), (unsigned int)(m->src_ip >> 8 & 255u),
		 (unsigned int)(m->src_ip & 255u));
	put_number(&o, "rank", m->rank);
	put_text(&o, "ip", ip);
	put_number(&o, "port", m->port);
	put_number(&o, "lane", m->lane);
	put_bool(&o, "left", m->flags & RF_CTL_RANK_LEFT);
	put_number(&o, "silent_ms", fw->now_ms - m->life_ms);
	put_number(&o, "last", m->lag.times);
	put_number(&o, "last_most_us", m->lag.most_us);
	if (g->live) {
		put_number(&o, "next", rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_NEXT)));
		put_number(&o, "sent", rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_SENT)));
		put_number(&o, "una", rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_UNA)));
	}
	return finish(&o);
}

/* The rank that the others wait for: the least advanced; -1 if all are level. */
static int straggler(struct rf_fw *fw, const struct rf_fw_group *g)
{
	const struct rf_fw_member *m;
	uint32_t head_index, most = 0;
	int last = -1;

	if (!g->live)
		return -1;
	head_index = rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_HEAD));
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
		uint32_t cid = RF_FW_CID(g->hw, m->lane, m->port);
		uint32_t ahead = (rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_NEXT)) - head_index) &
				 0xffffffu;

		if (ahead == 0)
			last = m->rank;
		most = ahead > most ? ahead : most;
	}
	return most > 0 ? last : -1;
}

static json_t *lag(const struct rf_fw_group *g)
{
	uint32_t all = rfd_measurements(g);
	double mean = all ? (double)g->lag_us / (double)all : 0.0;
	json_t *bins = json_array();
	struct object o = object();
	bool good = bins != NULL;

	for (unsigned int i = 0; i < RF_CTL_LAG_BINS; i++)
		good = append(bins, json_integer(g->lag[i])) && good;
	put_number(&o, "measurements", all);
	put(&o, "mean_us", json_real(round(mean * 10.0) / 10.0));
	put(&o, "bins", finish_array(bins, good));
	return finish(&o);
}

static json_t *members(struct rf_fw *fw, const struct rf_fw_group *g)
{
	json_t *array = json_array();
	bool good = array != NULL;

	for (const struct rf_fw_member *m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m))
		good = append(array, rank(fw, g, m)) && good;
	return finish_array(array, good);
}

static json_t *group(struct rf_fw *fw, const struct rf_fw_group *g)
{
	struct object o = object();
	char job[24];

	/* A text: a job's number has 64 bits, more than the numbers of a browser hold. */
	snprintf(job, sizeof(job), "%" PRIu64, g->job);
	put_text(&o, "job", job);
	put_number(&o, "group", g->number);
	put_text(&o, "state", rf_ctl_state_text(g->state));
	put_text(&o, "reason", rf_ctl_reason_name(g->reason));
	put_number(&o, "ranks", g->ranks);
	put_number(&o, "joined", g->joined);
	put_number(&o, "left", g->left);
	if (g->hw != RF_FW_NONE) {
		put_number(&o, "hardware", g->hw);
		put_number(&o, "slots", 1u << g->slots_log2);
		put_number(&o, "first_slot", g->hbase);
		put_number(&o, "first_beat", g->dbase);
	}
	if (g->live) {
		put_number(&o, "head", rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_HEAD)));
		put_number(&o, "tail", rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_TAIL)));
		put(&o, "straggler", json_integer(straggler(fw, g)));
		put_number(&o, "awaited_ms",
			   g->awaited != RF_FW_NONE ? (uint32_t)fw->now_ms - g->head_ms : 0u);
	}
	put(&o, "lag", lag(g));
	put(&o, "members", members(fw, g));
	return finish(&o);
}

static json_t *groups(struct rf_fw *fw)
{
	json_t *array = json_array();
	bool good = array != NULL;

	for (unsigned int i = 0; i < RF_FW_RECORDS; i++)
		if (fw->group[i].state != RF_CTL_S_FREE)
			good = append(array, group(fw, &fw->group[i])) && good;
	return finish_array(array, good);
}

static json_t *port(struct rf_fw *fw, uint32_t p)
{
	static const char *const names[] = {
#define RFD_X(name, text) #name,
		RF_COUNTERS(RFD_X)
#undef RFD_X
	};
	struct object o = object();

	put_number(&o, "port", p);
	for (uint32_t n = 0; n < RF_CNT_COUNT; n++)
		put_number(&o, names[n], rfd_port_counter(fw, p, n));
	return finish(&o);
}

static json_t *ports(struct rf_fw *fw)
{
	json_t *array = json_array();
	bool good = array != NULL;

	for (uint32_t p = 0; p < fw->ports; p++)
		good = append(array, port(fw, p)) && good;
	return finish_array(array, good);
}

char *rfd_status(struct rf_fw *fw)
{
	struct object o = object();
	char *text = NULL;
	json_t *root;

	put_number(&o, "epoch", fw->epoch);
	put_number(&o, "uptime_ms", fw->now_ms);
	put_bool(&o, "open_lab", fw->cfg.nkeys == 0);
	put_bool(&o, "hold", fw->hold_until != RF_FW_NEVER);
	put_number(&o, "slots", 1u << fw->hdr_log2);
	put_number(&o, "slots_free", rf_fw_buddy_room(&fw->hslots));
	put_number(&o, "beats", 1u << fw->bank_log2);
	put_number(&o, "beats_free", rf_fw_buddy_room(&fw->beats));
	put_number(&o, "connections", fw->entries);
	put_number(&o, "tombstones", fw->tombstones);
	put_number(&o, "places", 2u << fw->hash_bits);
	put(&o, "ports", ports(fw));
	put(&o, "groups", groups(fw));
	root = finish(&o);
	if (root)
		text = json_dumps(root, JSON_REAL_PRECISION(15));
	json_decref(root);
	return text;
}
