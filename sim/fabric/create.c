/* Creates a fabric from its configuration, and destroys it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fabric/host.h"

void rf_fabric_cfg_init(struct rf_fabric_cfg *cfg)
{
	*cfg = (struct rf_fabric_cfg){
		.ports = 4,
		.lanes = 1,
		.width = 512,
		.bus_ns = 40,
		.cpu_khz = 100000,
		.hold_ms = 0,
		.ranks = 4,
		.rate = UINT64_C(100000000000),
		.delay_ns = 1000,
		.switch_buffer = 16u << 20,
		.mac_fifo = 4096,
		.schedule = RF_RUN_BOX,
		.type = RF_ARITH_FP32,
		.op = RF_ARITH_SUM,
		.mtu = 1024,
		.slots = 512,
		.max_ops = 4,
		.start_psn = RF_FABRIC_RANDOM_PSN,
		.ack_timeout_ns = 4 * RF_MSEC,
		.ack_timeout_max_ns = 256 * RF_MSEC,
		.retry_cnt = 7,
		.lease_ms = 10000,
		.join_deadline_ms = 10000,
		.timeout_ns = 1000 * RF_SEC,
		.store_ns = 100 * RF_USEC,
		.lost_ns = RF_SEC,
		.fallback = RF_FALLBACK_NONE,
		.seed = 1,
	};
	cfg->host_links.reorder_ns = cfg->box_links.reorder_ns = 5000;
	for (unsigned r = 0; r < RF_FABRIC_RANKS; r++) {
		cfg->port_of_rank[r] = 0xff;
		/* Processes do not start in the same nanosecond. */
		cfg->join_at[r] = 100 * RF_USEC * r;
	}
}

static const char *refuse(const struct rf_fabric_cfg *c)
{
	bool box = c->schedule != RF_RUN_RING;

	if (c->ranks < 1 || c->ranks > RF_FABRIC_RANKS)
		return "ranks: expected 1 to 512";
	if (c->ranks / (c->groups > 1 ? c->groups : 1) > RF_FABRIC_GROUP_RANKS)
		return "ranks: expected at most 128 in a group";
	if (c->groups > 1 && c->ranks % c->groups != 0)
		return "groups: all must have the same number of ranks";
	if (box && !c->engine)
		return "no engine for the box";
	if (box && (c->ports < 2 || c->ports > RF_FABRIC_PORTS))
		return "ports: expected 2 to 8";
	if (c->processing && (!box || strcmp(c->engine->name, "model") != 0))
		return "a limit on what a box takes in: expected the model";
	if (c->rate < 1000000 || c->rate > UINT64_C(10000000000000))
		return "rate: expected 1M to 10T";
	if (c->mtu < 256 || c->mtu > 4096 || (c->mtu & (c->mtu - 1)) != 0)
		return "path MTU: expected 256, 512, 1024, 2048 or 4096";
	if (c->slots < 16 || c->slots > 32768 || (c->slots & (c->slots - 1)) != 0)
		return "slots: expected a power of two from 16 to 32768";
	if (rf_arith_size(c->type) == 0)
		return "unknown data type";
	if (c->max_ops < 1 || c->max_ops > RF_REQUESTS_MAX)
		return "operations outstanding: expected 1 to 64";
	if (c->fallback > RF_FALLBACK_NONE && (!c->store || c->max_ops != 1))
		return "a fallback: expected a store and one operation at a time";
	if (c->fallback == RF_FALLBACK_RING && c->type != RF_ARITH_INT32 && c->op == RF_ARITH_SUM)
		return "a fallback to another order of additions: expected integers";
	if (c->mirror && c->schedule != RF_RUN_BOX)
		return "mirror connections: expected a group at the box";
	if ((c->mirror || c->directed) &&
	    (c->plain || c->transparent || c->fallback != RF_FALLBACK_NONE))
		return "mirror connections and directed groups: expected no foreign endpoints, not "
		       "transparent, no fallback";
	if (rf_tree_refuse(c))
		return rf_tree_refuse(c);
	if (c->router && !c->mirror)
		return "a router: expected mirror connections";
	for (unsigned r = 0; r < c->ranks; r++)
		if (!rf_fabric_is_directed(c, r) &&
		    (c->type > RF_ARITH_INT32 || c->op > RF_ARITH_MAX))
			return "this type or operation: expected a directed group";
	for (unsigned r = 0; r < c->ranks; r++) {
		if (c->store && rf_fabric_is_mixed(c, r))
			return "ring and mirror ranks in a group: expected no store";
		if (rf_fabric_is_mixed(c, r) && !rf_fabric_is_mirror(c, r) &&
		    rf_fabric_neighbour(c, r, true) == r)
			return "ring and mirror ranks in a group: a ring of one rank";
		if (c->message_packets[r] > 1 && c->selective)
			return "messages of several packets: expected a group that is not "
			       "selective";
	}
	if (c->store && c->plain)
		return "foreign endpoints have no store";
	return NULL;
}

static int open_traces(struct rf_fabric *f, char *why, size_t room)
{
	char path[512];
	char name[32];
	int err;

	if (f->cfg.timeline) {
		err = rf_timeline_open(f->cfg.timeline, f->cfg.ranks,
				       f->cfg.schedule == RF_RUN_RING ? 0 : f->cfg.ports,
				       &f->timeline);
		if (err) {
			snprintf(why, room, "%s: %s", f->cfg.timeline, strerror(-err));
			return err;
		}
	}
	if (!f->cfg.pcapng_dir)
		return 0;
	err = rf_pcapng_folder(f->cfg.pcapng_dir);
	f->notes_hosts = rf_notes_new(rf_fabric_box_mac);
	f->notes_box = rf_notes_new(rf_fabric_box_mac);
	if (!err && (!f->notes_hosts || !f->notes_box))
		err = -ENOMEM;
	if (err) {
		snprintf(why, room, "%s: %s", f->cfg.pcapng_dir, strerror(-err));
		return err;
	}
	snprintf(path, sizeof(path), "%s/hosts.pcapng", f->cfg.pcapng_dir);
	err = rf_pcapng_open(path, f->cfg.command, &f->trace_hosts);
	for (unsigned r = 0; !err && r < f->cfg.ranks; r++) {
		snprintf(name, sizeof(name), "host%u", r);
		err = rf_pcapng_interface(f->trace_hosts, name, f->cfg.rate);
	}
	if (!err && f->cfg.schedule != RF_RUN_RING) {
		snprintf(path, sizeof(path), "%s/box.pcapng", f->cfg.pcapng_dir);
		err = rf_pcapng_open(path, f->cfg.command, &f->trace_box);
		for (unsigned p = 0; !err && p < f->cfg.ports; p++) {
			snprintf(name, sizeof(name), "box%u", p);
			err = rf_pcapng_interface(f->trace_box, name, f->cfg.rate);
		}
	}
	if (err)
		snprintf(why, room, "%s: %s", path, strerror(-err));
	return err;
}

static int make_links(struct rf_fabric *f)
{
	unsigned ports = rf_fabric_box_ports(f);
	unsigned n = 2 * (f->cfg.ranks + ports);

	f->links = calloc(n, sizeof(*f->links));
	if (!f->links)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		struct rf_link *l = &f->links[i];
		unsigned k = i;

		l->box = i >= 2 * f->cfg.ranks;
		if (l->box)
			k -= 2 * f->cfg.ranks;
		l->up = k < (l->box ? ports : f->cfg.ranks);
		l->port = k % (l->box ? ports : f->cfg.ranks);
		l->faults = l->box ? f->cfg.box_links : f->cfg.host_links;
		l->rate = !l->box && f->cfg.host_rate ? f->cfg.host_rate : f->cfg.rate;
		l->rng = rf_rng_make(f->cfg.seed, UINT64_C(1) << 32 | i);
	}
	return 0;
}

static int make_parts(struct rf_fabric *f, char *why, size_t room)
{
	struct rf_fabric_cfg *cfg = &f->cfg;
	bool box = cfg->schedule != RF_RUN_RING;

	snprintf(why, room, "out of memory");
	if (!box)
		cfg->ports = 0;
	if (rf_switch_init(&f->sw, cfg->ranks, rf_fabric_box_ports(f)) != 0 || make_links(f) != 0)
		return -1;
	if (cfg->router)
		rf_router_start(f);
	f->hosts = calloc(cfg->ranks, sizeof(struct rf_host *));
	f->peers = calloc(cfg->ranks, sizeof(*f->peers));
	f->mirrors = calloc(cfg->ranks, sizeof(*f->mirrors));
	f->check = rf_check_create(cfg);
	for (unsigned r = 0; f->peers && f->mirrors && r < cfg->ranks; r++) {
		f->mirrors[r] = rf_fabric_is_mirror(cfg, r);
		rf_host_mac(r, f->peers[r].mac);
		f->peers[r].ip = rf_fabric_ip(r);
	}
	if (!f->hosts || !f->peers || !f->mirrors || !f->check || rf_stores_create(f) != 0 ||
	    open_traces(f, why, room) != 0)
		return -1;
	while (box && f->box_count < rf_fabric_boxes(cfg)) {
		struct rf_box *b = rf_box_create(f, f->box_count, why, room);

		if (!b)
			return -1;
		f->boxes[f->box_count++] = b;
		f->box = f->boxes[0];
	}
	if (cfg->leaves) {
		rf_tree_describe(cfg, &f->tree);
		rf_check_tree(f->check, f);
	}
	for (unsigned r = 0; r < cfg->ranks; r++) {
		if (box && cfg->port_of_rank[r] >= cfg->ports)
			cfg->port_of_rank[r] = (uint8_t)(r % cfg->ports);
		if (box)
			rf_switch_rule(&f->sw, r,
				       rf_fabric_is_mirror(cfg, r) ? RF_SWITCH_NO_RULE
								   : cfg->port_of_rank[r]);
		f->hosts[r] = rf_host_create(f, r);
		if (!f->hosts[r] || rf_host_step(f->hosts[r], RF_STEP_JOIN, 0) != 0) {
			snprintf(why, room, "cannot create host %u", r);
			return -1;
		}
	}
	return 0;
}

int rf_fabric_create(const struct rf_fabric_cfg *cfg, struct rf_fabric **out, char *why,
		     size_t room)
{
	const char *no = refuse(cfg);
	struct rf_fabric *f;

	if (no) {
		snprintf(why, room, "%s", no);
		return -1;
	}
	f = calloc(1, sizeof(*f));
	if (!f) {
		snprintf(why, room, "out of memory");
		return -1;
	}
	f->cfg = *cfg;
	if (!f->cfg.who)
		f->cfg.who = "ringfold";
	f->pass_time = rf_fabric_pass_time;
	rf_events_init(&f->events);
	if (make_parts(f, why, room) != 0) {
		rf_fabric_destroy(f);
		return -1;
	}
	*out = f;
	return 0;
}

void rf_fabric_destroy(struct rf_fabric *f)
{
	struct rf_event e;

	if (!f)
		return;
	while (rf_events_take(&f->events, &e))
		rf_frame_free(f, e.what);
	rf_events_free(&f->events);
	for (unsigned r = 0; f->hosts && r < f->cfg.ranks; r++)
		rf_host_destroy(f->hosts[r]);
	free(f->hosts);
	free(f->peers);
	free(f->mirrors);
	rf_stores_destroy(f);
	for (unsigned i = 0; i < f->box_count; i++)
		rf_box_destroy(f->boxes[i]);
	rf_check_destroy(f->check);
	free(f->links);
	rf_timeline_finish(&f->timeline, f->cfg.who);
	rf_pcapng_close(f->trace_hosts);
	rf_pcapng_close(f->trace_box);
	rf_notes_free(f->notes_hosts);
	rf_notes_free(f->notes_box);
	free(f);
}
