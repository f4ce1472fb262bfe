/* Writes one line that names cause and remedy. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/control/client.h"
#include "proto/rf_imm.h"

/* Number of ranks listed one by one; the rest is only counted. */
#define RANKS_NAMED 16u

struct line {
	char *text;
	size_t room, used;
};

static void add(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct line *l, const char *format, ...)
{
	va_list ap;
	int n;

	if (l->used + 1u >= l->room)
		return;
	va_start(ap, format);
	n = vsnprintf(l->text + l->used, l->room - l->used, format, ap);
	va_end(ap);
	if (n > 0)
		l->used += (size_t)n < l->room - l->used ? (size_t)n : l->room - l->used - 1u;
}

static void add_ip(struct line *l, uint32_t ip)
{
	add(l, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255u, ip >> 8 & 255u, ip & 255u);
}

/* "rank 2" or "ranks 2, 5 and 3 more" */
static void add_ranks(struct line *l, const uint8_t *mask)
{
	unsigned int total = 0, named = 0;

	for (unsigned int r = 0; r < RF_CTL_RANKS_MAX; r++)
		total += rf_ctl_mask_get(mask, r);
	add(l, total == 1 ? "rank" : "ranks");
	for (unsigned int r = 0; r < RF_CTL_RANKS_MAX && named < RANKS_NAMED; r++)
		if (rf_ctl_mask_get(mask, r))
			add(l, "%s %u", named++ ? "," : "", r);
	if (total > named)
		add(l, " and %u more", total - named);
}

/* Which ports of a box that has no address for a mirror rank still probe theirs: bits 8 to 15. */
static bool still_probing(const struct rf_ctl_failed *f)
{
	return f->reason == RF_CTL_R_NO_ADDRESS && f->detail >> 8 != 0;
}

static const char *remedy(unsigned int reason)
{
	switch (reason) {
	case RF_CTL_R_OTHER_PORT:
		return "this host's switch port lacks the rule that sends UDP port 4791 to its own "
		       "port of the box, or the rule has changed since: check with `ringfold "
		       "doctor`";
	case RF_CTL_R_VERSION:
		return "install the same release of ringfold on host and box";
	case RF_CTL_R_KEY_UNKNOWN:
		return "add the job's key to the box's key file, or use a job that has one";
	case RF_CTL_R_TAG:
		return "give host and box the same key for this job";
	case RF_CTL_R_RANK_TAKEN:
		return "give each process its own rank, and each job its own number (RF_JOB); or "
		       "wait until the other one's lease has expired";
	case RF_CTL_R_RANKS:
	case RF_CTL_R_RANK_RANGE:
	case RF_CTL_R_RANKS_DIFFER:
		return "start all processes with the same number of ranks, each with its own rank";
	case RF_CTL_R_TYPES_DIFFER:
	case RF_CTL_R_SETTINGS_DIFFER:
		return "make the same call with the same settings on every rank";
	case RF_CTL_R_MTU_DIFFERS:
		return "set the same path MTU on every rank";
	case RF_CTL_R_TYPE_UNSUPPORTED:
		return "use a type that the box has (`ringfold ctl status` lists them), or another "
		       "box";
	case RF_CTL_R_SELECTIVE_UNSUPPORTED:
		return "choose a plain group, or a box with selective groups";
	case RF_CTL_R_MIRROR_UNSUPPORTED:
		return "use ring connections (RF_STEERING=ring), or another box";
	case RF_CTL_R_DIRECTED_UNSUPPORTED:
		return "use a plain group, or another box";
	case RF_CTL_R_NO_ADDRESS:
		return "give the ports of the box addresses that no other host has "
		       "(`ringfold ctl status` lists them)";
	case RF_CTL_R_IPV6:
		return "give the interface an IPv4 address";
	case RF_CTL_R_MTU_UNSUPPORTED:
		return "choose a smaller path MTU";
	case RF_CTL_R_ADDRESS_TWICE:
		return "order the ranks so that neighbours are on different hosts";
	case RF_CTL_R_CONNECTION_TAKEN:
		return "is a second job using the same queue pair, or was it used within the last "
		       "minute?";
	case RF_CTL_R_SUCCESSOR_UNKNOWN:
		return "check the addresses that the ranks exchanged: one is not that of its "
		       "interface, or another job has the same number (RF_JOB)";
	case RF_CTL_R_NO_GROUPS:
		return "end another job or wait for it";
	case RF_CTL_R_NO_SLOTS:
		return "ask for fewer slots or a smaller MTU, or end another job";
	case RF_CTL_R_NO_CONNECTIONS:
	case RF_CTL_R_NO_RANKS:
		return "use fewer ranks or end another job";
	case RF_CTL_R_QUOTA:
	case RF_CTL_R_QUOTA_RANKS:
	case RF_CTL_R_QUOTA_BYTES:
		return "end another group of this job, or raise its limits in the box's key file";
	case RF_CTL_R_QUOTA_ENTRIES:
		return "raise its limit in the box's key file (entries=), or wait until the "
		       "tombstones of its former queue pairs have expired";
	case RF_CTL_R_UPLINK_LOOP:
	case RF_CTL_R_UPLINK_DEPTH:
	case RF_CTL_R_UPLINK_DIFFERS:
		return "give all ranks of a box the same way to the root, over at most four boxes";
	case RF_CTL_R_UPLINK_UNSUPPORTED:
		return "use a box with uplinks and a directed group, or a group of one box";
	case RF_CTL_R_UPLINK_VERSION:
		return "install the same release of ringfold on both boxes";
	case RF_CTL_R_UPLINK_MTU:
	case RF_CTL_R_UPLINK_TYPE:
		return "make the same call with the same settings at every box of the tree, with "
		       "what each box has";
	case RF_CTL_R_UPLINK_SLOTS:
		return "ask for fewer slots or a smaller MTU, or end another job at that box";
	case RF_CTL_R_UPLINK_QUOTA:
		return "end another group of this job, or raise its limits in that box's key file";
	case RF_CTL_R_UPLINK_SILENT:
		return "is it running, and is there a way from one box to the other?";
	case RF_CTL_R_ADDRESS_DENIED:
		return "let each rank join from its own address, or list the addresses in the "
		       "box's key file (ips=)";
	case RF_CTL_R_PORT_DENIED:
		return "let each rank join through its own port, or list the ports in the box's "
		       "key file (ports=)";
	case RF_CTL_R_NO_PASSES:
		return "move the job to other ports of the box or end another one";
	case RF_CTL_R_GROUP_UNKNOWN:
		return "it has ended or the box was restarted: join again";
	case RF_CTL_R_MISSING_RANKS:
		return "start them, or allow more time";
	case RF_CTL_R_LEASE:
		return "check that its process still runs and its path to the box is up";
	case RF_CTL_R_DISAGREE:
		return "all ranks must make the same calls with the same arguments in the same "
		       "order";
	case RF_CTL_R_LENGTH:
	case RF_CTL_R_ELEMENT:
		return "check path MTU and element type of the queue pair against those of the "
		       "group";
	case RF_CTL_R_OPCODE:
		return "use only SEND on queue pairs of a group; WRITE too if it is not directed";
	case RF_CTL_R_IMMEDIATE:
		return "send only immediates of a directed group on its queue pairs";
	case RF_CTL_R_ORDER:
		return "this endpoint has slipped by a packet: update its driver, or send no empty "
		       "messages";
	case RF_CTL_R_BEFORE_START:
		return "register the correct first PSN, before the rank sends anything";
	case RF_CTL_R_WRONG_QPN:
		return "the rank at that address has another recv= (or send= and recv= are "
		       "exchanged), or was not registered; if another program sends there, "
		       "register "
		       "with --others pass";
	case RF_CTL_R_NAK:
		return "the receiver's log shows why it refused the data";
	case RF_CTL_R_NOT_OPERATOR:
		return "use the operator's key";
	case RF_CTL_R_PARITY:
		return "no wrong sum was delivered: join again; if it happens again check the "
		       "board";
	case RF_CTL_R_RESET:
	case RF_CTL_R_ENDED:
		return "join again";
	default:
		return NULL;
	}
}

/* What to do for this rank. A rule of the switch means nothing to a mirror rank. */
static const char *remedy_of(const struct rf_client *c)
{
	const struct rf_ctl_failed *f = &c->failed;

	if (still_probing(f))
		return "the box has just started, and still asks whether another host has its "
		       "addresses: try again in some seconds";
	if (f->reason == RF_CTL_R_OTHER_PORT && c->join.flags & RF_CTL_J_MIRROR)
		return "it has joined with another port of the box: name the same one, or end its "
		       "group first";
	return remedy(f->reason);
}

/*
 * Without the rule a host's control packets still reach the box: the switch forwards them by the
 * box's MAC, to whichever port it has learned that address on. Such a host then seems to share the
 * port of another host.
 */
static void add_no_lanes(struct line *l, const struct rf_client *c)
{
	const struct rf_ctl_failed *f = &c->failed;

	add_ranks(l, f->missing);
	add(l, " come in by the same port of the box, which has %u lane%s; ", f->detail,
	    f->detail == 1 ? "" : "s");
	if (c->join.flags & RF_CTL_J_MIRROR) {
		add(l, "spread them over more ports, or use a box with more lanes");
		return;
	}
	add(l,
	    "most likely the switch port of one of these hosts lacks the rule that sends UDP port "
	    "4791 to its port of the box (run `ringfold doctor` on each); otherwise spread them "
	    "over more ports");
}

static bool has_index(unsigned int reason)
{
	return (reason >= RF_CTL_R_DISAGREE && reason <= RF_CTL_R_NAK) ||
	       reason == RF_CTL_R_IMMEDIATE || reason == RF_CTL_R_ORDER;
}

static void add_value(struct line *l, unsigned int what, uint32_t value)
{
	char call[80];

	if (what == RF_CTL_WHAT_LENGTH) {
		add(l, "%u bytes", value);
		return;
	}
	rf_imm_text(value, call, sizeof(call));
	add(l, "%s (immediate %08x)", call, value);
}

/* Which box it was, and both sides of a disagreement. */
static void add_other(struct line *l, const struct rf_ctl_failed *f)
{
	const struct rf_ctl_other *o = &f->other;

	if (f->reason == RF_CTL_R_IMMEDIATE || f->reason == RF_CTL_R_ORDER)
		add(l, ": immediate %08x", f->detail);
	if (f->reason == RF_CTL_R_DISAGREE && *rf_ctl_what_text(o->what)) {
		add(l, " in %s: it has ", rf_ctl_what_text(o->what));
		add_value(l, o->what, f->detail);
		add(l, o->rank == RF_CTL_NO_RANK ? ", another rank " : ", rank %u ", o->rank);
		add_value(l, o->what, o->value);
		if (o->what == RF_CTL_WHAT_TAG)
			add(l, "%s", rf_imm_apart_text(f->detail, o->value));
	}
	if (o->box_ip) {
		add(l, ", at the box ");
		add_ip(l, o->box_ip);
	}
}

/* The ranks of this box are complete; those of a box above are not. */
static void add_waiting_above(struct line *l, const struct rf_ctl_waiting *w)
{
	unsigned int any = 0;

	for (unsigned int i = 0; i < RF_CTL_MASK_BYTES; i++)
		any |= w->missing[i];
	add(l, "waiting for ");
	if (any) {
		add_ranks(l, w->missing);
		add(l, " at ");
	}
	add(l, "the box ");
	add_ip(l, w->box_ip);
	add(l, any ? "" : " above this one");
}

static void add_version(struct line *l, uint32_t its)
{
	if (its != 0 && its != RF_CTL_VERSION)
		add(l, ": the box has version %u and this host version %u, so the %s is older", its,
		    RF_CTL_VERSION, its < RF_CTL_VERSION ? "box" : "host");
}

static bool slots_left(unsigned int reason)
{
	return reason == RF_CTL_R_NO_SLOTS || reason == RF_CTL_R_QUOTA ||
	       reason == RF_CTL_R_QUOTA_BYTES;
}

static void add_failed(struct line *l, const struct rf_client *c)
{
	const struct rf_ctl_failed *f = &c->failed;
	const char *how = remedy_of(c);

	add(l, "%s: ", c->error == RF_CLIENT_E_REFUSED ? "the box refused" : "the group failed");
	if (f->reason == RF_CTL_R_MISSING_RANKS) {
		add_ranks(l, f->missing);
		add(l, " did not join within %u ms", c->join.deadline_ms);
	} else if (f->reason == RF_CTL_R_ABORTED && f->rank != RF_CTL_NO_RANK) {
		add(l, "rank %u aborted it: %s (code %u)", f->rank, rf_ctl_abort_text(f->detail),
		    f->detail);
	} else if (f->reason == RF_CTL_R_NO_LANES && f->rank != RF_CTL_NO_RANK) {
		add_no_lanes(l, c);
	} else {
		add(l, "%s", rf_ctl_reason_text(f->reason));
		if (f->rank != RF_CTL_NO_RANK)
			add(l, " (rank %u", f->rank);
		if (f->rank != RF_CTL_NO_RANK && has_index(f->reason))
			add(l, ", index %u", f->index);
		if (f->rank != RF_CTL_NO_RANK)
			add(l, ")");
	}
	add_other(l, f);
	if (f->reason == RF_CTL_R_VERSION)
		add_version(l, f->detail);
	if (f->reason == RF_CTL_R_FIELD)
		add(l, ": %s", rf_ctl_join_field(f->detail));
	if (f->reason == RF_CTL_R_BEFORE_START)
		add(l, ": it sends PSN %u", f->detail);
	if (f->reason == RF_CTL_R_WRONG_QPN)
		add(l, ": it sends to %u.%u.%u.%u, queue pair %u", f->index >> 24,
		    f->index >> 16 & 0xffu, f->index >> 8 & 0xffu, f->index & 0xffu, f->detail);
	if (slots_left(f->reason) && f->detail > 0)
		add(l, ", %u slots are available", 1u << (f->detail & 31u));
	if (f->reason == RF_CTL_R_QUOTA_RANKS || f->reason == RF_CTL_R_QUOTA_ENTRIES)
		add(l, ", %u are left", f->detail);
	if (f->reason == RF_CTL_R_RANKS)
		add(l, ", 2 to %u are possible", f->detail);
	if (how)
		add(l, "; %s", how);
}

static void add_busy(struct line *l, const struct rf_client *c)
{
	if (c->cfg.answer_name)
		add(l, " Or this machine is too busy: raise %s (%u ms)", c->cfg.answer_name,
		    (unsigned int)(c->cfg.answer_ns / 1000000u));
}

/* What to ask about the switch. With mirror connections no rule is needed, and one can harm. */
static void add_rule(struct line *l, const struct rf_client *c, const char *ring)
{
	if (c->join.flags & RF_CTL_J_MIRROR)
		add(l, " Does a rule of the switch redirect UDP port 4791? Remove it, or set "
		       "RF_STEERING=ring.");
	else
		add(l, "%s", ring);
}

static void add_error(struct line *l, const struct rf_client *c)
{
	switch (c->error) {
	case RF_CLIENT_E_NO_ARP:
		if (c->cfg.via_ip) {
			add(l, "no ARP reply for ");
			add_ip(l, c->cfg.via_ip);
			add(l, ", the router on the way to the box: is that its address, in this "
			       "subnet and VLAN?");
			add_busy(l, c);
			break;
		}
		add(l, "no ARP reply for the box's address ");
		add_ip(l, c->cfg.box_ip);
		add(l, ": is the box on, its address right, and is it in this subnet and VLAN?");
		add_busy(l, c);
		break;
	case RF_CLIENT_E_NO_PORT_ARP:
		add(l, "no ARP reply for the address ");
		add_ip(l, c->port_ip);
		add(l, " of the box's port: is it in this subnet and VLAN, or is the router's "
		       "address missing (RF_GATEWAY)?");
		add_busy(l, c);
		break;
	case RF_CLIENT_E_NO_ANSWER:
		add(l, "the box at ");
		add_ip(l, c->cfg.box_ip);
		if (c->cfg.via_ip) {
			add(l, " does not answer by way of the router ");
			add_ip(l, c->cfg.via_ip);
			add(l, ": is the box on, is its address right, and has it the router at "
			       "its side as its gateway (`ringfold box --gateway`)?");
			add_busy(l, c);
			break;
		}
		add(l, " answers ARP but not control packets:");
		add_rule(l, c,
			 " does the switch have the rule that redirects UDP port 4791 of "
			 "this host's port to the box?");
		add_busy(l, c);
		break;
	case RF_CLIENT_E_SILENT:
		add(l, "the box at ");
		add_ip(l, c->cfg.box_ip);
		add(l, " has stopped answering: is it still on, and its link up?");
		add_rule(l, c, " Is the switch's rule for UDP port 4791 in place?");
		add_busy(l, c);
		break;
	case RF_CLIENT_E_RESET:
		add(l, "the box ");
		/* Another one of the tree. */
		if (c->have_failed && c->failed.other.box_ip) {
			add_ip(l, c->failed.other.box_ip);
			add(l, " ");
		}
		add(l, "was reset or restarted: the group no longer exists; join again");
		break;
	case RF_CLIENT_E_REFUSED:
	case RF_CLIENT_E_GROUP:
		add_failed(l, c);
		break;
	default:
		add(l, "failed");
		break;
	}
}

size_t rf_client_text(const struct rf_client *c, char *text, size_t room)
{
	struct line l = {text, room, 0};

	if (room == 0)
		return 0;
	text[0] = '\0';
	switch (c->state) {
	case RF_CLIENT_RESOLVING:
		add(&l, "asking for the MAC address of the box at ");
		add_ip(&l, c->cfg.box_ip);
		break;
	case RF_CLIENT_JOINING:
		if (c->have_waiting && c->waiting.box_ip) {
			add_waiting_above(&l, &c->waiting);
		} else if (c->have_waiting) {
			add(&l, "waiting for ");
			add_ranks(&l, c->waiting.missing);
			add(&l, " (%u of %u have joined)", c->waiting.joined, c->waiting.ranks);
		} else {
			add(&l, "JOIN sent to the box at ");
			add_ip(&l, c->cfg.box_ip);
			add(&l, ", no answer yet");
		}
		break;
	case RF_CLIENT_DRAINING:
		add(&l, "leaving");
		if (c->have_draining && c->left_acked) {
			add(&l, ", waiting for ");
			add_ranks(&l, c->draining.missing);
		}
		break;
	case RF_CLIENT_FAILED:
		add_error(&l, c);
		break;
	default:
		add(&l, "%s", c->state == RF_CLIENT_READY ? "ready" : "idle");
		break;
	}
	return l.used;
}

const char *rf_client_state_name(enum rf_client_state state)
{
	static const char *const names[] = {"IDLE",  "RESOLVING", "JOINING",
					    "READY", "DRAINING",  "FAILED"};

	return (unsigned int)state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}
