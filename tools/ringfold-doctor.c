/*
 * ringfold doctor: does the box answer, does the rule redirect? Runs one check after another, up to
 * the first that fails, and prints the remedy.
 */
#include "tools/doctor.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/settings.h"
#include "base/opt.h"

#define NS_PER_MS UINT64_C(1000000)
/* Number of round trips to wait for a packet, limited by these and by the answer timeout. */
#define PATIENCE_TRIPS 20u
#define PATIENCE_MIN (50 * NS_PER_MS)

static const char *const result_names[] = {"ok", "note", "skipped", "FAILED"};

bool doctor_say(struct doctor *d, const char *name, enum doctor_result result, const char *fix,
		const char *format, ...)
{
	struct doctor_check *c = &d->check[d->checks];
	va_list args;

	if (d->checks == DOCTOR_CHECKS_MAX)
		return result != DOCTOR_FAILED;
	d->checks++;
	c->name = name;
	c->result = result;
	va_start(args, format);
	vsnprintf(c->text, sizeof(c->text), format, args);
	va_end(args);
	snprintf(c->fix, sizeof(c->fix), "%s", fix ? fix : "");
	if (!d->json) {
		printf("%-8s %-8s %s\n", result_names[result], name, c->text);
		if (*c->fix)
			printf("%17s fix: %s\n", "", c->fix);
		fflush(stdout);
	}
	return result != DOCTOR_FAILED;
}

/* ---- frames ---- */

static void hear_arp(struct doctor_heard *h, const struct roce_arp *a)
{
	if (a->sender_ip != h->arp_ip || h->macs == DOCTOR_MACS_MAX)
		return;
	for (unsigned int i = 0; i < h->macs; i++) {
		if (memcmp(h->mac[i], a->sender_mac, 6) == 0)
			return;
	}
	memcpy(h->mac[h->macs++], a->sender_mac, 6);
}

/* Called for every frame that is not an answer to a question. */
static void stray(void *arg, const uint8_t *frame, uint32_t len)
{
	struct doctor *d = arg;
	struct doctor_heard *h = &d->heard;
	struct roce_packet p;
	struct roce_arp a;

	h->frames++;
	if (roce_arp_parse(frame, len, &a) == 0) {
		hear_arp(h, &a);
		return;
	}
	if (len > sizeof(h->frame[0]) || roce_parse(frame, len, &p) != ROCE_WIRE_OK)
		return;
	for (unsigned int i = 0; i < 2; i++) {
		if (p.qpn != h->qpn[i])
			continue;
		h->kept[i]++;
		h->len[i] = len;
		memcpy(h->frame[i], frame, len);
	}
}

void doctor_listen(struct doctor *d)
{
	memset(&d->heard, 0, sizeof(d->heard));
}

bool doctor_hear(struct doctor *d, uint64_t ns, bool (*cond)(const struct doctor *))
{
	uint64_t until = boxlink_now() + ns;

	while (boxlink_now() < until) {
		if (cond && cond(d))
			return true;
		boxlink_run(&d->link, NULL, 0, NULL, 0);
		d->link.io->ops->wait(d->link.io, 200);
	}
	return cond && cond(d);
}

uint64_t doctor_random(struct doctor *d)
{
	d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return d->state >> 16;
}

uint64_t doctor_patience(const struct doctor *d)
{
	uint64_t ns = d->round_trip * PATIENCE_TRIPS;

	ns = ns < PATIENCE_MIN ? PATIENCE_MIN : ns;
	return ns < d->timeout ? ns : d->timeout;
}

bool doctor_counters(struct doctor *d, const char *name, struct rf_ctl_counters_page *page)
{
	struct rf_ctl_status_req req = {.page = RF_CTL_PAGE_PORT, .index = (uint16_t)d->port};
	const struct rf_ctl_reply *a = NULL;

	if (rf_client_status(&d->asker, &req, boxlink_now()) == 0)
		a = boxlink_answer(&d->link, &d->asker);
	if (!a)
		return doctor_say(d, name, DOCTOR_FAILED,
				  "run it again; is the box overloaded, is the network lossy?",
				  "the box has stopped answering control packets");
	*page = a->u.counters;
	return true;
}

/* ---- report ---- */

static void print_json(const struct doctor *d, bool good)
{
	json_t *list = json_array();
	json_t *root;

	for (unsigned int i = 0; i < d->checks; i++) {
		const struct doctor_check *c = &d->check[i];
		json_t *o =
			json_pack("{ss ss ss}", "check", c->name, "result",
				  c->result == DOCTOR_FAILED ? "failed" : result_names[c->result],
				  "text", c->text);

		if (*c->fix)
			json_object_set_new(o, "fix", json_string(c->fix));
		json_array_append_new(list, o);
	}
	root = json_pack("{sb so}", "ok", good, "checks", list);
	if (!good)
		json_object_set_new(root, "failed", json_string(d->check[d->checks - 1].name));
	json_dumpf(root, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(root);
}

static bool examine(struct doctor *d)
{
	static bool (*const steps[])(struct doctor *) = {
		doctor_device, doctor_address, doctor_arp, doctor_control, doctor_clock,
		doctor_rule,   doctor_return,  doctor_mtu, doctor_group,   doctor_damage};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (!steps[i](d))
			return false;
	}
	boxlink_close(&d->link);
	return doctor_ranks(d);
}

static int parse_values(struct doctor *d)
{
	char why[256];

	if (rf_env_read(&d->env, why, sizeof(why)) != 0 ||
	    rf_ip_parse("--box-ip", d->box_text, &d->link.box_ip, why, sizeof(why)) != 0 ||
	    (*d->ip_text && rf_ip_parse("--ip", d->ip_text, &d->link.ip, why, sizeof(why)) != 0) ||
	    (*d->job_text && rf_number_parse("--job", d->job_text, 1, UINT64_MAX, &d->link.job, why,
					     sizeof(why)) != 0) ||
	    rf_hex_parse("--key", d->key_text, d->link.key, RF_CTL_KEY_BYTES, why, sizeof(why)) !=
		    0) {
		fprintf(stderr, "ringfold doctor: %s\n", why);
		return -1;
	}
	if (d->mtu < ROCE_MTU_MIN || d->mtu > ROCE_MTU_MAX || (d->mtu & (d->mtu - 1)) != 0) {
		fprintf(stderr, "ringfold doctor: --mtu: expected 256, 512, 1024, 2048 or 4096\n");
		return -1;
	}
	if (d->ranks && d->env.ranks < 2) {
		fprintf(stderr, "ringfold doctor: --ranks: the rank is unknown. Set RF_RANK and "
				"RF_SIZE, or use "
				"a launcher\n");
		return -1;
	}
	if (d->timeout < 10 * NS_PER_MS) {
		fprintf(stderr, "ringfold doctor: --timeout: expected 10ms or more\n");
		return -1;
	}
	return 0;
}

static const char *setting(const char *option, const char *name)
{
	return option ? option : rf_setting_text(name);
}

static int path_mtu(unsigned int *mtu)
{
	uint64_t value;
	char why[256];

	if (rf_setting_number("RF_MTU", ROCE_MTU_MIN, ROCE_MTU_MAX, &value, why, sizeof(why)) !=
	    0) {
		fprintf(stderr, "ringfold doctor: %s\n", why);
		return -1;
	}
	*mtu = (unsigned int)value;
	return 0;
}

static int defaults(struct doctor *d)
{
	d->device = setting(d->device, "RF_DEVICE");
	d->dpdk_args = setting(d->dpdk_args, "RF_DPDK_ARGS");
	d->ip_text = setting(d->ip_text, "RF_IP");
	d->box_text = setting(d->box_text, "RF_BOX_IP");
	d->key_text = setting(rf_opt_secret(d->key_text), "RF_KEY");
	d->job_text = setting(d->job_text, "RF_JOB");
	d->state = boxlink_now();
	d->link.job = 0x646f63746f72u; /* any job is accepted if the box has no keys */
	d->link.answer_ns = d->timeout;
	d->link.stray = stray;
	d->link.arg = d;
	return parse_values(d);
}

static const char intro[] =
	"Runs these checks, stops at the first that fails, and prints the remedy:\n"
	"  device   the device opens and has a link\n"
	"  address  no other host uses this host's address\n"
	"  arp      the box answers for its address\n"
	"  control  the box answers control packets; version and key match\n"
	"  rule     this switch port redirects UDP port 4791 to the box, whatever the destination\n"
	"  return   a packet comes back from the box, unchanged except for its source MAC\n"
	"  mtu      frames of the path MTU fit, in both directions\n"
	"  port     a group at the box learns this host's port\n"
	"  icrc     a packet with a correct ICRC is accepted, one with a wrong ICRC is not\n"
	"  sum      the sum of two packets comes back (if the box has two lanes or more)\n"
	"  damage   frames that arrived damaged at the box's port, or were dropped for lack of "
	"room\n"
	"  ranks    with --ranks on all hosts at once (RF_RANK and RF_SIZE, mpirun, ...): all "
	"ranks\n"
	"           of the job join and sum\n"
	"Settings are those of a job: RF_DEVICE, RF_IP, RF_BOX_IP, RF_MTU, RF_JOB, RF_KEY. Run it "
	"on\n"
	"each host, with no other ringfold program on the same device.";

int main(int argc, char **argv)
{
	static struct doctor d = {.timeout = 3000 * NS_PER_MS};
	const struct rf_opt opts[] = {
		{RF_OPT_STRING, "device", 'd', &d.device, "DEVICE",
		 "DPDK device connected to the switch; default: RF_DEVICE", NULL},
		{RF_OPT_STRING, "dpdk-args", 0, &d.dpdk_args, "ARGS",
		 "more arguments for DPDK; default: RF_DPDK_ARGS", NULL},
		{RF_OPT_STRING, "ip", 0, &d.ip_text, "ADDRESS",
		 "own address; default: RF_IP, else the interface's, else 10.0.0.<rank + 1>", NULL},
		{RF_OPT_STRING, "box-ip", 0, &d.box_text, "ADDRESS",
		 "the box's address; default: RF_BOX_IP", NULL},
		{RF_OPT_UINT, "mtu", 'm', &d.mtu, "BYTES", "path MTU to check; default: RF_MTU",
		 NULL},
		{RF_OPT_STRING, "job", 0, &d.job_text, "N",
		 "a job for which the box has a key; default: RF_JOB", NULL},
		{RF_OPT_STRING, "key", 'k', &d.key_text, "HEX", "that key; default: RF_KEY", NULL},
		{RF_OPT_TIME, "timeout", 0, &d.timeout, "TIME",
		 "time limit for an answer of the box", NULL},
		{RF_OPT_FLAG, "ranks", 'n', &d.ranks, NULL, "run with all ranks of the job at once",
		 NULL},
		{RF_OPT_FLAG, "json", 'j', &d.json, NULL, "print the findings as JSON", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		.usage = "ringfold doctor [options]",
		.intro = intro,
		.examples = "  ringfold doctor --device net_af_packet0,iface=eth1\n"
			    "  RF_RANK=0 RF_SIZE=2 RF_ROOT=192.0.2.1 "
			    "RF_DEVICE=net_af_packet0,iface=eth1 ringfold doctor --ranks\n\n"
			    "exit codes: 0 no error found, 1 a check failed, 2 usage",
		.opts = opts,
	};
	bool good;
	int n;

	if (path_mtu(&d.mtu) != 0)
		return RF_EXIT_USAGE;
	n = rf_opt_parse(&page, argc, argv);
	if (n == -1)
		return RF_EXIT_GOOD;
	if (n < 0)
		return RF_EXIT_USAGE;
	if (defaults(&d) != 0)
		return RF_EXIT_USAGE;
	if (n != argc || !*d.device) {
		fprintf(stderr, "ringfold doctor: %s, see --help\n",
			n != argc ? "no argument expected"
				  : "no device given (--device, RF_DEVICE)");
		return RF_EXIT_USAGE;
	}
	good = examine(&d);
	boxlink_close(&d.link);
	if (d.json)
		print_json(&d, good);
	return good ? RF_EXIT_GOOD : RF_EXIT_FAILED;
}
