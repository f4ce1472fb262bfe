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

static bool examine(struct doctor *d)
{
	static const struct {
		bool (*check)(struct doctor *);
		bool ring; /* needs the rule */
	} steps[] = {{doctor_device, false},  {doctor_address, false}, {doctor_arp, false},
		     {doctor_control, false}, {doctor_clock, false},   {doctor_rule, true},
		     {doctor_return, true},   {doctor_mtu, true},      {doctor_group, true},
		     {doctor_mirror, false},  {doctor_damage, false}};
	bool ring = strcmp(d->steering, "mirror") != 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if ((ring || !steps[i].ring) && !steps[i].check(d))
			return false;
	}
	boxlink_close(&d->link);
	return doctor_ranks(d);
}

static void misspelt(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "ringfold doctor: warning: %s\n", text);
}

static int parse_values(struct doctor *d)
{
	char why[256];

	rf_settings_warn(misspelt, NULL);
	if (rf_env_read(&d->env, why, sizeof(why)) != 0 ||
	    rf_ip_parse("--box-ip", d->box_text, &d->link.box_ip, why, sizeof(why)) != 0 ||
	    (*d->gateway_text &&
	     rf_ip_parse("--gateway", d->gateway_text, &d->link.via_ip, why, sizeof(why)) != 0) ||
	    (*d->ip_text && rf_ip_parse("--ip", d->ip_text, &d->link.ip, why, sizeof(why)) != 0) ||
	    (*d->job_text && rf_number_parse("--job", d->job_text, 1, UINT64_MAX, &d->link.job, why,
					     sizeof(why)) != 0) ||
	    rf_hex_parse("--key", d->key_text, d->link.key, RF_CTL_KEY_BYTES, why, sizeof(why)) !=
		    0) {
		fprintf(stderr, "ringfold doctor: %s\n", why);
		return -1;
	}
	if (strcmp(d->steering, "both") != 0 && strcmp(d->steering, "mirror") != 0 &&
	    strcmp(d->steering, "ring") != 0) {
		fprintf(stderr, "ringfold doctor: RF_STEERING: \"%s\" is neither mirror nor ring\n",
			d->steering);
		return -1;
	}
	if (d->link.via_ip && strcmp(d->steering, "mirror") != 0) {
		fprintf(stderr, "ringfold doctor: --gateway: behind a router the box needs mirror "
				"connections (--steering mirror)\n");
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
	d->gateway_text = setting(d->gateway_text, "RF_GATEWAY");
	d->key_text = setting(rf_opt_secret(d->key_text), "RF_KEY");
	d->job_text = setting(d->job_text, "RF_JOB");
	d->steering = setting(d->steering, "RF_STEERING");
	d->state = boxlink_now();
	d->link.job = 0x646f63746f72u; /* any job is accepted if the box has no keys */
	d->link.answer_ns = d->timeout;
	d->link.stray = doctor_take;
	d->link.arg = d;
	return parse_values(d);
}

static const char intro[] =
	"Runs these checks, stops at the first that fails, and prints the remedy:\n"
	"  device   the device opens and has a link\n"
	"  address  no other host uses this host's address\n"
	"  arp      the box answers for its address\n"
	"  control  the box answers control packets; version and key match\n"
	"  mirror   packets to the addresses of the box's ports come back with a sum; nobody else\n"
	"           has these addresses\n"
	"instead of it with RF_STEERING=ring or --steering ring, before it with --steering both:\n"
	"  rule     this switch port redirects UDP port 4791 to the box, whatever the destination\n"
	"  return   a packet comes back from the box, unchanged except for its source MAC\n"
	"  mtu      frames of the path MTU fit, in both directions\n"
	"  port     a group at the box learns this host's port\n"
	"  icrc     a packet with a correct ICRC is accepted, one with a wrong ICRC is not\n"
	"  sum      the sum of two packets comes back (if the box has two lanes or more)\n"
	"and at last:\n"
	"  damage   frames that arrived damaged at the box's port, or were dropped for lack of "
	"room\n"
	"  ranks    with --ranks on all hosts at once (RF_RANK and RF_SIZE, mpirun, ...): all "
	"ranks\n"
	"           of the job join and sum\n"
	"\nSettings are those of a job: RF_DEVICE, RF_IP, RF_BOX_IP, RF_GATEWAY, RF_STEERING,\n"
	"RF_MTU, RF_JOB, RF_KEY. Run it on each host, with no other ringfold program on the same "
	"device.";

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
		{RF_OPT_STRING, "gateway", 0, &d.gateway_text, "ADDRESS",
		 "router on the way to the box; default: RF_GATEWAY, else none", NULL},
		{RF_OPT_CHOICE, "steering", 0, &d.steering, "both|mirror|ring",
		 "what the job uses: the addresses of the box's ports, the rule, or both; default: "
		 "RF_STEERING, else mirror",
		 NULL},
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
		doctor_print_json(&d, good);
	return good ? RF_EXIT_GOOD : RF_EXIT_FAILED;
}
