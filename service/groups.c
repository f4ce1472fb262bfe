/* Groups and their ranks, as the firmware's memory and the registers show them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "service/json.h"
#include "service/read.h"
#include "service/texts.h"

static json_t *rank(const struct rf_view *v, const struct rf_fw_group *g,
		    const struct rf_fw_member *m)
{
	uint32_t cid = RF_FW_CID(g->hw, m->lane, m->port);
	const char *host = v->host_of ? v->host_of(v->arg, m->src_mac) : NULL;
	struct rf_json o = rf_json_object();
	struct rf_fw *fw = v->fw;
	char ip[16];

	snprintf(ip, sizeof(ip), "%u.%u.%u.%u", (unsigned int)(m->src_ip >> 24),
		 (unsigned int)(m->src_ip >> 16 & 255u), (unsigned int)(m->src_ip >> 8 & 255u),
		 (unsigned int)(m->src_ip & 255u));
	rf_json_number(&o, "rank", m->rank);
	rf_json_text(&o, "ip", ip);
	if (host)
		rf_json_text(&o, "host", host);
	rf_json_number(&o, "port", m->port);
	rf_json_number(&o, "lane", m->lane);
	rf_json_bool(&o, "left", m->flags & RF_CTL_RANK_LEFT);
	rf_json_number(&o, "silent_ms", fw->now_ms - m->life_ms);
	rf_json_number(&o, "last", m->lag.times);
	rf_json_number(&o, "last_most_us", m->lag.most_us);
	if (g->live) {
		rf_json_number(&o, "next", rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_NEXT)));
		rf_json_number(&o, "sent", rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_SENT)));
		rf_json_number(&o, "una", rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_UNA)));
	}
	return rf_json_finish(&o);
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

/* The rank that has not acknowledged the oldest result; -1: all results are acknowledged. */
static int unacknowledged_by(struct rf_fw *fw, const struct rf_fw_group *g)
{
	uint32_t tail = rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_TAIL));
	const struct rf_fw_member *m, *receiver;

	if (tail == rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_HEAD)))
		return -1;
	for (m = rf_fw_first(fw, g); m; m = rf_fw_next(fw, m)) {
		uint32_t cid = RF_FW_CID(g->hw, m->lane, m->port);

		receiver = rf_fw_member_get(fw, m->peer);
		if (receiver && rf_fw_read(fw, rf_fw_conn_reg(cid, RF_CONN_UNA)) == tail)
			return receiver->rank;
	}
	return -1;
}

static json_t *lag(const struct rf_fw_group *g)
{
	uint32_t all = rf_view_measurements(g);
	double mean = all ? (double)g->lag_us / (double)all : 0.0;
	json_t *bins = json_array();
	struct rf_json o = rf_json_object();
	bool good = bins != NULL;

	for (unsigned int i = 0; i < RF_CTL_LAG_BINS; i++)
		good = rf_json_append(bins, json_integer(g->lag[i])) && good;
	rf_json_number(&o, "measurements", all);
	rf_json_put(&o, "mean_us", json_real(round(mean * 10.0) / 10.0));
	rf_json_put(&o, "bins", rf_json_finish_array(bins, good));
	return rf_json_finish(&o);
}

static json_t *members(const struct rf_view *v, const struct rf_fw_group *g)
{
	json_t *array = json_array();
	bool good = array != NULL;

	for (const struct rf_fw_member *m = rf_fw_first(v->fw, g); m; m = rf_fw_next(v->fw, m))
		good = rf_json_append(array, rank(v, g, m)) && good;
	return rf_json_finish_array(array, good);
}

static json_t *group(const struct rf_view *v, const struct rf_fw_group *g)
{
	struct rf_fw *fw = v->fw;
	struct rf_json o = rf_json_object();
	char job[24];

	/* A text: a job's number has 64 bits, more than the numbers of a browser hold. */
	snprintf(job, sizeof(job), "%" PRIu64, g->job);
	rf_json_text(&o, "job", job);
	rf_json_number(&o, "group", g->number);
	rf_json_text(&o, "state", rf_ctl_state_text(g->state));
	rf_json_text(&o, "reason", rf_ctl_reason_name(g->reason));
	if (g->reason)
		rf_json_text(&o, "reason_text", rf_ctl_reason_text(g->reason));
	if (g->state == RF_CTL_S_FAILED && g->fail_rank != RF_CTL_NO_RANK)
		rf_json_number(&o, "failed_rank", g->fail_rank);
	rf_json_number(&o, "mtu", 1u << g->mtu_log2);
	rf_json_number(&o, "ranks", g->ranks);
	rf_json_number(&o, "joined", g->joined);
	rf_json_number(&o, "left", g->left);
	if (g->hw != RF_FW_NONE) {
		rf_json_number(&o, "hardware", g->hw);
		rf_json_number(&o, "slots", 1u << g->slots_log2);
		rf_json_number(&o, "first_slot", g->hbase);
		rf_json_number(&o, "first_beat", g->dbase);
	}
	if (g->live) {
		rf_json_number(&o, "head", rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_HEAD)));
		rf_json_number(&o, "tail", rf_fw_read(fw, rf_fw_group_reg(g->hw, RF_GROUP_TAIL)));
		rf_json_put(&o, "straggler", json_integer(straggler(fw, g)));
		rf_json_put(&o, "unacknowledged_by", json_integer(unacknowledged_by(fw, g)));
		rf_json_number(&o, "awaited_ms",
			       g->awaited != RF_FW_NO_MEMBER ? (uint32_t)fw->now_ms - g->head_ms
							     : 0u);
	}
	rf_json_put(&o, "lag", lag(g));
	rf_json_put(&o, "members", members(v, g));
	return rf_json_finish(&o);
}

json_t *rf_view_groups(const struct rf_view *v)
{
	json_t *array = json_array();
	bool good = array != NULL;

	for (unsigned int i = 0; i < RF_FW_RECORDS; i++)
		if (v->fw->group[i].state != RF_CTL_S_FREE)
			good = rf_json_append(array, group(v, &v->fw->group[i])) && good;
	return rf_json_finish_array(array, good);
}
