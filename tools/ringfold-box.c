/* ringfold box: the switch and the box in real time. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/target/linux/keys.h"
#include "firmware/target/settings.h"
#include "base/hangup.h"
#include "base/opt.h"
#include "sim/cosim/load.h"
#include "service/web.h"
#include "sim/realtime/box.h"
#include "sim/realtime/view.h"
#include "tools/box_addresses.h"

static volatile sig_atomic_t stopped;

struct settings {
	const char *engine;
	const char *firmware;
	const char *keys;
	const char *wave;
	const char *pcapng;
	const char *http;
	bool json;
	bool quiet;
	struct rf_rt_cfg cfg;
	struct box_addresses addresses;
};

struct page {
	struct rf_view view;
	struct rf_web *web; /* NULL: none */
	char about[160];
};

static void run_page(void *web)
{
	rf_web_run(web);
}

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

static const char intro[] =
	"An Ethernet switch and the box beside it (Verilog pipeline, reference model or software "
	"box, with its\n"
	"real firmware), in one process. Frames are forwarded by MAC; those to UDP port 4791 are "
	"redirected to a port of "
	"the box if they enter\n"
	"a switch port that has the rule. Ranks need it with RF_STEERING=ring alone. Sleeps while "
	"idle. Prints a line\n"
	"when a host connects, and when a group of a job is ready, fails or ends. Ctrl-C ends it "
	"and prints the\n"
	"counters.\n"
	"\n"
	"A port is NAME=KIND, where KIND is one of\n"
	"  memif:SOCKET[,id=N]      DPDK memif, this end is the server: a host connects with\n"
	"                           net_memif0,role=client,id=N,socket=SOCKET,socket-abstract=no\n"
	"  dgram:SOCKET,to=SOCKET   unix datagram sockets, one frame in each datagram, for QEMU's "
	"with\n"
	"                           -netdev dgram,local.type=unix,local.path=TO,remote.type=unix,"
	"remote.path=SOCKET\n"
	"  tap:NAME                 tap interface, created if it does not exist (root)\n"
	"  packet:IFACE             an interface of the kernel, AF_PACKET (root)\n"
	"  dpdk:DEVICE              any DPDK device: dpdk:net_af_packet0,iface=eth1  "
	"dpdk:0000:03:00.0\n"
	"  pcap:FILE[,out=FILE]     plays a capture as fast as the box accepts it; received frames "
	"go "
	"to out (pcapng)\n"
	"followed, after a comma, by\n"
	"  rule                     this switch port redirects UDP port 4791 to a port of the box\n"
	"  box=N                    the rule's port of the box (default: the ports in turn)\n"
	"  loss=PERCENT             a cable that loses this share of frames, in each direction\n"
	"  paced                    a packet generator: held back according to the box's room "
	"(pcap always is)";

static const char examples[] =
	"  ringfold box --port a=memif:/tmp/a.sock --port b=memif:/tmp/b.sock\n"
	"  ringfold box --engine rtl --box-ports 4 --port h0=dpdk:net_af_packet0,iface=veth0 ... "
	"--pcapng /tmp/seen\n"
	"  ringfold box --port g=pcap:port0.pcap,out=back0.pcapng --port ctl=memif:/tmp/c.sock "
	"--wait-groups 1\n"
	"  ringfold box --port vm=dgram:/tmp/b.sock,to=/tmp/v.sock --port t=tap:rf0 --port "
	"n=packet:eth1\n"
	"  ringfold box --engine rtl --direct 0=dpdk:0000:03:00.0 --direct 1=dpdk:0000:03:00.1   "
	"no switch: bare box\n"
	"\n"
	"It ends by itself if all ports are capture files and all have been played.\n"
	"exit codes: 0 good, 1 failed, 2 usage";

/* Removes ",word" or ",word=N" from a copy of the text. True if it was present. */
static bool take_word(char *text, const char *word, unsigned *value)
{
	size_t len = strlen(word);

	for (char *p = strchr(text, ','); p; p = strchr(p + 1, ',')) {
		char *end = strchrnul(p + 1, ',');
		char digits[16];

		if (strncmp(p + 1, word, len) != 0)
			continue;
		if (value) {
			if (p[1 + len] != '=' ||
			    end - p - 2 - (ptrdiff_t)len >= (ptrdiff_t)sizeof(digits))
				continue;
			snprintf(digits, sizeof(digits), "%.*s",
				 (int)(end - p - 2 - (ptrdiff_t)len), p + 2 + len);
			if (rf_opt_uint(digits, value) != 0)
				continue;
		} else if (p + 1 + len != end) {
			continue;
		}
		memmove(p, end, strlen(end) + 1);
		return true;
	}
	return false;
}

static int split(const char *what, const char *value, char **name, char **spec)
{
	const char *equals = strchr(value, '=');

	if (!equals || equals == value || equals - value > 24) {
		fprintf(stderr, "--%s: \"%s\" is not NAME=KIND\n", what, value);
		return -1;
	}
	*name = strndup(value, (size_t)(equals - value));
	*spec = strdup(equals + 1);
	return *name && *spec ? 0 : -1;
}

/* Captures and counters use port names, so names must be unique. */
static int name_is_new(const struct rf_rt_cfg *c, const char *what, const char *name)
{
	for (unsigned h = 0; h < c->hosts; h++) {
		if (strcmp(c->host[h].name, name) != 0)
			continue;
		fprintf(stderr, "--%s: two ports named \"%s\"\n", what, name);
		return -1;
	}
	return 0;
}

static int add_port(void *to, const char *value)
{
	struct rf_rt_cfg *c = to;
	struct rf_rt_attach *a = &c->host[c->hosts];
	char *name;
	char *spec;

	if (c->hosts == RF_RT_PORTS) {
		fprintf(stderr, "--port: expected at most %u\n", RF_RT_PORTS);
		return -1;
	}
	if (split("port", value, &name, &spec) != 0)
		return -1;
	if (name_is_new(c, "port", name) != 0) {
		free(name);
		free(spec);
		return -1;
	}
	a->box = RF_RT_PORTS; /* set when the number of box ports is known */
	take_word(spec, "box", &a->box);
	a->rule = take_word(spec, "rule", NULL);
	a->name = name;
	a->spec = spec;
	c->hosts++;
	return 0;
}

static int add_direct(void *to, const char *value)
{
	struct rf_rt_cfg *c = to;
	struct rf_rt_attach *a = &c->direct[c->directs];
	char *name;
	char *spec;

	if (c->directs == 8 || split("direct", value, &name, &spec) != 0)
		return -1;
	if (rf_opt_uint(name, &a->box) != 0 || a->box >= 8) {
		fprintf(stderr, "--direct: \"%s\" is not a port of the box\n", name);
		return -1;
	}
	a->name = name;
	a->spec = spec;
	c->directs++;
	return 0;
}

static int parse(struct settings *s, int argc, char **argv)
{
	struct rf_rt_cfg *c = &s->cfg;
	const struct rf_opt table[] = {
		{RF_OPT_CALL, "port", 'p', c, "NAME=KIND", "adds a port to the switch", add_port},
		{RF_OPT_CALL, "direct", 0, c, "N=KIND",
		 "a device at port N of the box, without the switch", add_direct},
		{RF_OPT_UINT, "wait-groups", 0, &c->wait_groups, "N",
		 "generators begin when this many groups are ready", NULL},
		{RF_OPT_HEADING, NULL, 0, NULL, NULL, "the box:", NULL},
		{RF_OPT_CHOICE, "engine", 'e', &s->engine, "rtl|model|soft", "engine of the box",
		 NULL},
		{RF_OPT_CHOICE, "firmware", 0, &s->firmware, "native|rv32",
		 "firmware: the native build, or the image for the box's processor in libunicorn",
		 NULL},
		{RF_OPT_UINT, "box-ports", 0, &c->ports, "N", "ports of the box, 2..8", NULL},
		{RF_OPT_UINT, "lanes", 'l', &c->lanes, "N", "ranks per port", NULL},
		{RF_OPT_UINT, "width", 0, &c->width, "BITS",
		 "width of the data path: 64, 128, 256, 512", NULL},
		{RF_OPT_FLAG, "wide", 0, &c->wide, NULL,
		 "room for 64 groups of 16 slots, not with --engine rtl (default: 8 groups)", NULL},
		{RF_OPT_STRING, "box-ip", 0, &s->addresses.ip, "ADDRESS", "IPv4 address of the box",
		 NULL},
		{RF_OPT_CALL, "port-ips", 0, &s->addresses, "ADDRESS[,...]",
		 "addresses of the box's ports for mirror connections; one: that of\n"
		 "port 0, and the next ports follow (default: the box's address + 1,\n"
		 "or - 32 near the end of its /24)",
		 box_addresses_ports},
		{RF_OPT_UINT, "prefix", 0, &c->prefix, "BITS",
		 "length of the network prefix of these addresses; 0: not checked", NULL},
		{RF_OPT_CALL, "gateway", 0, &s->addresses, "ADDRESS",
		 "router of that network: the box reports it if it is silent",
		 box_addresses_gateway},
		{RF_OPT_CALL, "probe", 0, &s->addresses, "TIME",
		 "time between two of the three probes for a port's address; 0s: the\n"
		 "address is used at once (default: 1s if a port is packet: or dpdk:,\n"
		 "else 0s)",
		 box_addresses_probe},
		{RF_OPT_STRING, "keys", 0, &s->keys, "FILE",
		 "file with the keys of the jobs, \"JOB KEY [groups=N] [slots=N] [ranks=N] "
		 "[entries=N] "
		 "[bytes=N] [ips=LIST] [ports=LIST]\" per line; none: anyone may command the box",
		 NULL},
		{RF_OPT_TIME, "hold", 0, &c->hold_ns, "TIME",
		 "drop RC data of no group for this long after start; a connection seen then "
		 "stays blocked until it has been silent for as long; 0s: never, for labs only",
		 NULL},
		{RF_OPT_TIME, "tombstone", 0, &c->tomb_ns, "TIME",
		 "drop data of an ended plain group until none has arrived for this long", NULL},
		{RF_OPT_TIME, "tick", 0, &c->tick_ns, "TIME",
		 "least time between two NAKs, above the hosts' round trip; 0s: "
		 "the firmware's default, 1 ms",
		 NULL},
		{RF_OPT_TIME, "lease", 0, &c->lease_ns, "TIME",
		 "silence after which a rank counts as lost; 0s: the firmware's default", NULL},
		{RF_OPT_U64, "seed", 0, &c->seed, "N", "for state that reset does not set (rtl)",
		 NULL},
		{RF_OPT_HEADING, NULL, 0, NULL, NULL, "run:", NULL},
		{RF_OPT_TIME, "duration", 0, &c->duration_ns, "TIME",
		 "end after this time; 0s: never", NULL},
		{RF_OPT_TIME, "stats", 0, &c->stats_ns, "TIME",
		 "interval of a status line on stderr; 0s: never", NULL},
		{RF_OPT_STRING, "http", 0, &s->http, "ADDRESS:PORT",
		 "serve a live page, /status.json and /metrics there, for example 127.0.0.1:9477; "
		 "port 0: any",
		 NULL},
		{RF_OPT_STRING, "pcapng", 0, &s->pcapng, "DIR",
		 "write hosts.pcapng and box.pcapng to this folder; created if needed", NULL},
		{RF_OPT_STRING, "wave", 0, &s->wave, "FILE",
		 "write a waveform (FST), --engine rtl only: slow", NULL},
		{RF_OPT_FLAG, "json", 'j', &s->json, NULL, "counters at the end as one JSON object",
		 NULL},
		{RF_OPT_FLAG, "quiet", 'q', &s->quiet, NULL,
		 "print no event lines, and no counters at the end", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		"ringfold box --port NAME=KIND [--port NAME=KIND ...] [options]", intro, examples,
		table};
	int n = rf_opt_parse(&page, argc, argv);

	if (n >= 0 && n < argc) {
		fprintf(stderr, "ringfold box takes no argument \"%s\"\n", argv[n]);
		return -2;
	}
	return n;
}

/* Returns RF_EXIT_GOOD, or the exit code after a message. */
static int settle(struct settings *s)
{
	struct rf_rt_cfg *c = &s->cfg;
	char why[300];

	rf_sim_fw_kind(s->firmware, &c->firmware);
	c->wave = s->wave;
	c->pcapng_dir = s->pcapng;
	if (s->http && !rf_web_valid(s->http)) {
		fprintf(stderr, "--http: \"%s\" is not ADDRESS:PORT, for example 127.0.0.1:9477\n",
			s->http);
		return RF_EXIT_USAGE;
	}
	if (c->hosts == 0 && c->directs == 0) {
		fprintf(stderr,
			"ringfold box: no --port given, so no frame could arrive (--help shows "
			"examples)\n");
		return RF_EXIT_USAGE;
	}
	if (c->ports < 2 || c->ports > 8) {
		fprintf(stderr, "--box-ports: expected 2 to 8\n");
		return RF_EXIT_USAGE;
	}
	if (box_addresses_settle(&s->addresses) != 0)
		return RF_EXIT_USAGE;
	if (c->lanes < 1 || c->lanes > 16) {
		fprintf(stderr, "--lanes: expected 1 to 16\n");
		return RF_EXIT_USAGE;
	}
	if (c->width != 64 && c->width != 128 && c->width != 256 && c->width != 512) {
		fprintf(stderr, "--width: expected 64, 128, 256 or 512\n");
		return RF_EXIT_USAGE;
	}
	if (c->wide && strcmp(s->engine, "rtl") == 0) {
		fprintf(stderr, "--wide: expected --engine model or soft\n");
		return RF_EXIT_USAGE;
	}
	if (c->hold_ns < 1000000)
		fprintf(stderr,
			"ringfold box: warning: no hold time: raw data of plain ranks that were "
			"in a group of an earlier box is forwarded\n");
	if (s->keys) {
		static struct rf_fw_key keys[RF_SETTINGS_KEYS_MAX];
		int n = rf_keys_load(s->keys, keys, RF_SETTINGS_KEYS_MAX, why, sizeof(why));

		if (n < 0) {
			fprintf(stderr, "--keys: %s\n", why);
			return RF_EXIT_FAILED;
		}
		c->keys = keys;
		c->nkeys = (unsigned)n;
	}
	for (unsigned h = 0; h < c->hosts; h++) {
		if (c->host[h].box == RF_RT_PORTS)
			c->host[h].box = h % c->ports;
		if (c->host[h].box >= c->ports) {
			fprintf(stderr, "--port %s: the box does not have port %u\n",
				c->host[h].name, c->host[h].box);
			return RF_EXIT_USAGE;
		}
	}
	for (unsigned i = 0; i < c->directs; i++) {
		if (c->direct[i].box >= c->ports) {
			fprintf(stderr, "--direct: the box does not have port %u\n",
				c->direct[i].box);
			return RF_EXIT_USAGE;
		}
	}
	if (rf_engine_by_name(s->engine, c->ports, c->lanes, c->width, s->wave != NULL, &c->engine,
			      why, sizeof(why)) != 0) {
		fprintf(stderr, "ringfold box: %s\n", why);
		return RF_EXIT_USAGE;
	}
	return RF_EXIT_GOOD;
}

static void free_names(struct rf_rt_cfg *c)
{
	for (unsigned h = 0; h < c->hosts; h++) {
		free((void *)(uintptr_t)c->host[h].name);
		free((void *)(uintptr_t)c->host[h].spec);
	}
	for (unsigned i = 0; i < c->directs; i++) {
		free((void *)(uintptr_t)c->direct[i].name);
		free((void *)(uintptr_t)c->direct[i].spec);
	}
}

/* Returns 0, also if no page is wanted; -1 after a message. */
static int serve(const struct settings *s, struct rf_rt *b, struct page *page)
{
	char why[300];

	if (!s->http)
		return 0;
	snprintf(page->about, sizeof(page->about), "%s, firmware %s, %u ports, %u lanes, %u bits",
		 s->engine, s->firmware, s->cfg.ports, s->cfg.lanes, s->cfg.width);
	rf_rt_view(b, &page->view);
	page->view.program = "ringfold box";
	page->view.about = page->about;
	if (rf_web_start(s->http, &page->view, &page->web, why, sizeof(why)) != 0) {
		fprintf(stderr, "ringfold box: --http: %s\n", why);
		return -1;
	}
	if (!rf_web_is_local(s->http))
		fprintf(stderr,
			"ringfold box: warning: --http %s: anyone who can reach this address sees "
			"the page, there is no authentication\n",
			s->http);
	fprintf(stderr, "ringfold box: page at http://%.*s:%u/\n",
		(int)(strrchr(s->http, ':') - s->http), s->http, rf_web_port(page->web));
	rf_rt_each_round(b, run_page, page->web);
	return 0;
}

int main(int argc, char **argv)
{
	struct page page = {.web = NULL};
	struct settings s = {.engine = "model", .firmware = "native"};
	struct sigaction act = {.sa_handler = on_signal};
	struct rf_rt *b;
	char why[400];
	int code;
	int n;

	s.addresses = (struct box_addresses){.cfg = &s.cfg, .ip = "10.0.0.254"};
	rf_rt_cfg_init(&s.cfg);
	n = parse(&s, argc, argv);
	code = n >= 0 ? settle(&s) : n == -1 ? RF_EXIT_GOOD : RF_EXIT_USAGE;
	if (n < 0 || code != RF_EXIT_GOOD) {
		free_names(&s.cfg);
		return code;
	}
	s.cfg.command = "ringfold box";
	s.cfg.events = !s.quiet;
	s.cfg.keep_events = s.http != NULL;
	n = rf_rt_create(&s.cfg, &b, why, sizeof(why));
	if (n != 0) {
		fprintf(stderr, "ringfold box: %s\n", why);
		free_names(&s.cfg);
		return n == -EINVAL ? RF_EXIT_USAGE : RF_EXIT_FAILED;
	}
	if (serve(&s, b, &page) != 0) {
		rf_rt_destroy(b);
		free_names(&s.cfg);
		return RF_EXIT_FAILED;
	}
	/* DPDK's start does not change handlers, but must come first. */
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	rf_take_hangup(&act);
	signal(SIGPIPE, SIG_IGN);
	fprintf(stderr, "ringfold box: ready (%s, firmware %s, %u ports, %u lanes, %u bits, %s)\n",
		s.engine, s.firmware, s.cfg.ports, s.cfg.lanes, s.cfg.width, s.addresses.ip);
	n = rf_rt_run(b, &stopped);
	rf_web_stop(page.web);
	if (!s.quiet)
		rf_rt_report(b, s.json);
	rf_rt_destroy(b);
	if (!rf_engine_wave_end("ringfold box", s.wave) && n == 0)
		n = -EIO;
	free_names(&s.cfg);
	return n == 0 ? RF_EXIT_GOOD : RF_EXIT_FAILED;
}
