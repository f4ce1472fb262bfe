/*
 * ringfoldd: the box's firmware as a service of Linux, over registers that a driver has mapped.
 *
 * One thread, one loop: interrupts, the firmware's own timer, HTTP, signals.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/opt.h"
#include "firmware/target/linux/fresh.h"
#include "firmware/target/linux/keys.h"
#include "rf_regs.h"
#include "ringfoldd/bus.h"
#include "ringfoldd/config.h"
#include "service/web.h"

#define STOP_MS 200 /* time to notify all ranks that the box stops */

struct service {
	struct rfd_config cfg;
	struct rfd_bus bus;
	struct rf_fw fw;
	struct rf_fw_key keys[RFD_KEYS_MAX];
	struct rf_view view;
	struct rf_web *http;
	int signals;
	uint64_t next; /* cycle of the firmware's next run */
};

static struct service service;

static int say(const char *what)
{
	fprintf(stderr, "ringfoldd: %s\n", what);
	return -1;
}

/* The old keys stay in use if the new ones cannot be read. */
static int load_keys(struct service *s)
{
	static struct rf_fw_key fresh[RFD_KEYS_MAX];
	char why[400];
	int n;

	if (!s->cfg.keys_file[0])
		return 0;
	n = rf_keys_load(s->cfg.keys_file, fresh, RFD_KEYS_MAX, why, sizeof(why));
	if (n < 0)
		return say(why);
	memcpy(s->keys, fresh, sizeof(fresh));
	s->cfg.fw.keys = s->keys;
	s->cfg.fw.nkeys = (unsigned int)n;
	return 0;
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The keys must not reach a core dump, nor another process of the same user. */
static void keep_keys_private(void)
{
	const struct rlimit none = {0, 0};

	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || setrlimit(RLIMIT_CORE, &none) != 0)
		fprintf(stderr, "ringfoldd: warning: core dumps cannot be switched off\n");
}

static int start(struct service *s)
{
	char why[400];
	int err;

	if (load_keys(s) != 0)
		return -1;
	if (rfd_bus_open(&s->bus, s->cfg.registers, strcmp(s->cfg.clock, "host") == 0, why,
			 sizeof(why)) != 0)
		return say(why);
	if (rf_fresh(&s->cfg.fw) != 0)
		return say("cannot get random numbers (getrandom)");
	/*
	 * The box is initialised last: if anything else fails it stays as it was. No request is
	 * served before run().
	 */
	s->view = (struct rf_view){.program = "ringfoldd",
				   .hal = &s->bus.hal,
				   .fw = &s->fw,
				   .started_ns = rf_now_ns()};
	if (strcmp(s->cfg.listen, "off") != 0 &&
	    rf_web_start(s->cfg.listen, &s->view, &s->http, why, sizeof(why)) != 0) {
		fprintf(stderr, "ringfoldd: [http] listen: %s\n", why);
		return -1;
	}
	err = rf_fw_init(&s->fw, &s->bus.hal, &s->cfg.fw);
	if (err)
		return say(rf_fw_error_text(err));
	if (s->cfg.fw.hold_ms == 0)
		fprintf(stderr,
			"ringfoldd: warning: hold_ms = 0: raw data of plain ranks that were in a "
			"group before this start passes\n");
	if (s->http && !rf_web_is_local(s->cfg.listen))
		fprintf(stderr,
			"ringfoldd: warning: [http] listen = %s: anyone who can reach this address "
			"sees the page, there is no authentication\n",
			s->cfg.listen);
	fprintf(stderr, "ringfoldd: %u ports, %u lanes, %s", s->fw.ports, s->fw.lanes,
		s->cfg.fw.nkeys ? "" : "no keys: anyone may command the box, ");
	if (s->http)
		fprintf(stderr, "http port %u\n", rf_web_port(s->http));
	else
		fprintf(stderr, "no http\n");
	return 0;
}

/* Timeout for poll(): until the firmware's next run, at most this many microseconds. */
static struct timespec pause_for(struct service *s)
{
	uint64_t now = rfd_bus_cycle(&s->bus), us = 1000000;

	if (s->next <= now)
		us = 0;
	else if (s->next - now < 1000u * (uint64_t)s->fw.khz)
		us = (s->next - now) * 1000u / s->fw.khz + 1u;
	if (strcmp(s->cfg.interrupt, "poll") == 0 && us > s->cfg.poll_us)
		us = s->cfg.poll_us;
	return (struct timespec){(time_t)(us / 1000000u), (long)(us % 1000000u) * 1000};
}

/* Returns false if the service must end. */
static bool on_signal(struct service *s)
{
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof(info)) != sizeof(info))
		return true;
	if (info.ssi_signo != SIGHUP)
		return false;
	if (load_keys(s) == 0) {
		s->fw.cfg.nkeys = s->cfg.fw.nkeys;
		s->fw.cfg.keys = s->cfg.fw.keys;
		fprintf(stderr, "ringfoldd: %u keys read\n", s->fw.cfg.nkeys);
	}
	return true;
}

static void run(struct service *s)
{
	struct pollfd fds[3] = {{.fd = s->signals, .events = POLLIN},
				{.fd = s->bus.uio ? s->bus.fd : -1, .events = POLLIN},
				{.fd = s->http ? rf_web_fd(s->http) : -1, .events = POLLIN}};

	for (;;) {
		struct timespec t;

		s->next = rf_fw_poll(&s->fw);
		rfd_bus_arm(&s->bus);
		t = pause_for(s);
		if (ppoll(fds, 3, &t, NULL) < 0 && errno != EINTR)
			return;
		if (fds[0].revents && !on_signal(s))
			return;
		if (fds[1].revents)
			rfd_bus_take(&s->bus);
		/* Always called: connections also time out. */
		if (s->http)
			rf_web_run(s->http);
	}
}

static void stop(struct service *s)
{
	const struct timespec ms = {0, 1000000};

	rf_web_stop(s->http);
	for (unsigned int i = 0; i < STOP_MS && !rf_fw_stop(&s->fw); i++)
		nanosleep(&ms, NULL);
	/* Also if some rank could not be notified. */
	rf_hal_write(&s->bus.hal, RF_CTRL, RF_CTRL_HOLD_MASK);
	fprintf(stderr, "ringfoldd: stopped, the box forwards nothing\n");
}

int main(int argc, char **argv)
{
	struct service *s = &service;
	const char *file = NULL;
	bool check = false;
	bool defaults = false;
	bool show = false;
	const struct rf_opt table[] = {
		{RF_OPT_STRING, "config", 0, &file, "FILE", "the settings, an INI file", NULL},
		{RF_OPT_FLAG, "check", 0, &check, NULL, "read the file and the keys only", NULL},
		{RF_OPT_FLAG, "show", 0, &show, NULL,
		 "print every setting, and whether it comes from the file", NULL},
		{RF_OPT_FLAG, "defaults", 0, &defaults, NULL,
		 "print a commented file with all settings", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		"ringfoldd --config FILE [--check | --show]\n"
		"       ringfoldd --defaults",
		"The firmware of a box as a Linux service, over registers that a driver has "
		"mapped.\nSignals: TERM and INT end it (all groups fail, the box forwards "
		"nothing), HUP rereads the keys.",
		NULL, table};
	char why[400];
	int n;

	n = rf_opt_parse(&page, argc, argv);
	if (n == -1)
		return RF_EXIT_GOOD;
	if (n < 0)
		return RF_EXIT_USAGE;
	if (defaults) {
		rfd_config_print();
		return RF_EXIT_GOOD;
	}
	if (!file || n < argc) {
		fprintf(stderr, "usage: %s\n", page.usage);
		return RF_EXIT_USAGE;
	}
	rfd_config_default(&s->cfg);
	n = rfd_config_load(&s->cfg, file, why, sizeof(why));
	if (n == 0 && show) {
		rfd_config_show(&s->cfg, file);
		return RF_EXIT_GOOD;
	}
	if (n != 0 || rfd_config_check(&s->cfg, why, sizeof(why)) != 0) {
		say(why);
		return RF_EXIT_USAGE;
	}
	if (check)
		return load_keys(s) == 0 ? 0 : 2;
	keep_keys_private();
	s->signals = open_signals();
	if (s->signals < 0 || start(s) != 0)
		return 1;
	run(s);
	stop(s);
	rfd_bus_close(&s->bus);
	return 0;
}
