/* ringfold info: versions, engines, devices, and the settings in force with their sources. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <net/if.h>
#include <ringfold/ringfold.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/first_line.h"
#include "base/opt.h"
#include "base/self.h"
#include "host/config/env.h"
#include "host/config/settings.h"
#include "host/io/dpdk.h"
#include "host/io/interface.h"
#include "rf_version.h"
#include "sim/cosim/load.h"

#define SERVICE_FILE "/etc/ringfold/ringfoldd.ini"
#define HIDDEN "(set; not shown)"

/* ---- collecting: everything becomes one JSON object ---- */

static void add(json_t *o, const char *name, const char *value)
{
	json_object_set_new(o, name, value ? json_string(value) : json_null());
}

/* The version of the DPDK with which the plug-in is linked, or what is missing. */
static void dpdk_version(char *to, size_t room)
{
	char folder[PATH_MAX];
	char path[PATH_MAX + 64];
	const char *(*version)(void);
	void *plugin;
	void *symbol;

	if (rf_self_folder(folder, sizeof(folder)) != 0)
		snprintf(folder, sizeof(folder), ".");
	snprintf(path, sizeof(path), "%s/../lib/ringfold/" RF_IO_DPDK_FILE, folder);
	plugin = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	symbol = plugin ? dlsym(plugin, "rte_version") : NULL;
	if (!symbol) {
		snprintf(to, room, "not available: %s", dlerror());
		return;
	}
	/* C has no conversion from a void pointer to a function pointer. */
	memcpy(&version, &symbol, sizeof(version));
	snprintf(to, room, "%s", version());
}

static json_t *versions(void)
{
	json_t *o = json_object();
	void *verbs = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_LOCAL);
	struct utsname u;
	char text[PATH_MAX + 200];

	add(o, "ringfold", RF_VERSION_TEXT);
	add(o, "library", rf_version());
	dpdk_version(text, sizeof(text));
	add(o, "DPDK", text);
	add(o, "libibverbs", verbs ? "installed" : "not installed: no verbs back end");
	if (verbs)
		dlclose(verbs);
	if (uname(&u) == 0) {
		snprintf(text, sizeof(text), "%s %s %s", u.sysname, u.release, u.machine);
		add(o, "system", text);
	}
	return o;
}

static void take_engine(void *arg, const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned ports, lanes, width;
	char rest[16] = "";
	char text[PATH_MAX + 100];

	if (!name || sscanf(name, "/box-p%u-l%u-w%u%15s", &ports, &lanes, &width, rest) != 4)
		return;
	snprintf(text, sizeof(text), "%u ports, %u lanes, %u bits%s: %s", ports, lanes, width,
		 strncmp(rest, "-trace", 6) == 0   ? ", writes waveforms"
		 : strncmp(rest, "-deep", 5) == 0  ? ", deep memory"
		 : strncmp(rest, "-wide", 5) == 0  ? ", 64 groups"
		 : strncmp(rest, "-plain", 6) == 0 ? ", no options"
						   : "",
		 path);
	json_array_append_new(arg, json_string(text));
}

static json_t *engines(void)
{
	json_t *o = json_object();
	json_t *rtl = json_array();
	char folder[PATH_MAX];
	char path[PATH_MAX + 64];
	const char *places[] = {"../firmware", "../lib/ringfold"};
	const char *image = NULL;

	add(o, "model", "any shape");
	add(o, "soft", "any shape");
	rf_engine_each(take_engine, rtl);
	if (json_array_size(rtl) == 0)
		json_array_append_new(
			rtl, json_string("none found; build one with `make "
					 "build/vl/box-p4-l1-w512.so`, or set RF_ENGINE_DIR"));
	json_object_set_new(o, "rtl", rtl);
	if (rf_self_folder(folder, sizeof(folder)) != 0)
		snprintf(folder, sizeof(folder), ".");
	for (size_t i = 0; i < 2 && !image; i++) {
		snprintf(path, sizeof(path), "%s/%s/ringfold-rv32.elf", folder, places[i]);
		image = access(path, R_OK) == 0 ? path : NULL;
	}
	add(o, "firmware image", image ? image : "not built: --firmware rv32 is not available");
	return o;
}

static void add_rdma(json_t *list)
{
	const char *folder = "/sys/class/infiniband";
	DIR *d = opendir(folder);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)) != NULL) {
		char path[PATH_MAX], state[64], text[PATH_MAX];

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/ports/1/state", folder, e->d_name);
		rf_first_line(state, sizeof(state), path);
		snprintf(text, sizeof(text), "%s: RDMA, port 1 %s; RF_DEVICE=verbs:%s", e->d_name,
			 state, e->d_name);
		json_array_append_new(list, json_string(text));
	}
	closedir(d);
}

/* The interfaces of this process's network namespace: /sys may show those of another one. */
static void add_interfaces(json_t *list)
{
	struct if_nameindex *all = if_nameindex();

	for (struct if_nameindex *i = all; i && i->if_name; i++) {
		char name[IFNAMSIZ], text[256];
		int mtu;

		snprintf(name, sizeof(name), "%s", i->if_name);
		mtu = rf_interface_mtu(name);
		/* One that has gone since is left out. */
		if (mtu < 0 || strcmp(name, "lo") == 0)
			continue;
		snprintf(text, sizeof(text),
			 "%s: interface, %s, MTU %d; RF_DEVICE=net_af_packet0,iface=%s", i->if_name,
			 rf_interface_carrier(name) ? "up" : "down", mtu, i->if_name);
		json_array_append_new(list, json_string(text));
	}
	if (all)
		if_freenameindex(all);
}

static json_t *devices(void)
{
	json_t *list = json_array();

	add_rdma(list);
	add_interfaces(list);
	return list;
}

static bool is_secret(const char *name)
{
	return strstr(name, "KEY") != NULL;
}

/* The variable of another launcher that takes the place of an absent one, or NULL. */
static const char *launcher_value(const char *name, const struct rf_env *env, char *value,
				  size_t room)
{
	bool rank = strcmp(name, "RF_RANK") == 0;

	if ((rank || strcmp(name, "RF_SIZE") == 0) && *env->source) {
		snprintf(value, room, "%u", rank ? env->rank : env->ranks);
		return env->source;
	}
	if (strcmp(name, "RF_ROOT") == 0 && getenv("MASTER_ADDR")) {
		snprintf(value, room, "%s", env->root);
		return "MASTER_ADDR";
	}
	return NULL;
}

static json_t *settings(const struct rf_env *env)
{
	json_t *list = json_array();

	for (const struct rf_setting *s = rf_settings; s->name; s++) {
		const char *set = getenv(s->name);
		const char *source = set && *set ? "environment" : NULL;
		char value[300];

		snprintf(value, sizeof(value), "%s",
			 source && is_secret(s->name) ? HIDDEN : rf_setting_text(s->name));
		if (!source)
			source = launcher_value(s->name, env, value, sizeof(value));
		json_array_append_new(list, json_pack("{ss ss ss}", "name", s->name, "value", value,
						      "source", source ? source : "default"));
	}
	return list;
}

static bool is_setting(const char *name)
{
	for (const struct rf_setting *s = rf_settings; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return true;
	return strcmp(name, "RF_ENGINE_DIR") == 0;
}

/* Variables that begin like settings and are none; their values are not shown. */
static json_t *strangers(void)
{
	json_t *list = json_array();

	for (char **v = environ; v && *v; v++) {
		char name[64], text[200];
		size_t len = strcspn(*v, "=");
		const char *meant;

		if (strncmp(*v, "RF_", 3) != 0 || len >= sizeof(name))
			continue;
		memcpy(name, *v, len);
		name[len] = '\0';
		if (is_setting(name))
			continue;
		meant = rf_setting_meant(name);
		snprintf(text, sizeof(text), "%s is not a setting%s%s%s", name,
			 meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
		json_array_append_new(list, json_string(text));
	}
	return list;
}

/* ---- the service has its own settings: it shows them itself ---- */

/* Runs `ringfoldd --config FILE --show`. Returns its exit code. */
static int show_service(const char *file)
{
	char folder[PATH_MAX];
	char program[PATH_MAX + 16];
	int status;
	pid_t pid;

	if (rf_self_folder(folder, sizeof(folder)) != 0)
		snprintf(folder, sizeof(folder), ".");
	snprintf(program, sizeof(program), "%s/ringfoldd", folder);
	printf("\nsettings of ringfoldd:\n");
	if (access(program, X_OK) != 0) {
		printf("  ringfoldd is not installed beside this program\n");
		return RF_EXIT_GOOD;
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execl(program, program, "--config", file, "--show", (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		fprintf(stderr, "ringfold info: cannot run %s: %s\n", program, strerror(errno));
		return RF_EXIT_FAILED;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : RF_EXIT_FAILED;
}

/* ---- printing ---- */

static void print_list(const json_t *list)
{
	size_t i;
	const json_t *v;

	json_array_foreach(list, i, v)
	{
		printf("  %s\n", json_string_value(v));
	}
}

static void print_object(json_t *o)
{
	const char *name;
	json_t *v;

	json_object_foreach(o, name, v)
	{
		if (json_is_string(v)) {
			printf("  %-15s %s\n", name, json_string_value(v));
			continue;
		}
		for (size_t i = 0; i < json_array_size(v); i++)
			printf("  %-15s %s\n", i ? "" : name,
			       json_string_value(json_array_get(v, i)));
	}
}

static void print_text(const json_t *o)
{
	const json_t *list = json_object_get(o, "settings");
	size_t i;
	json_t *v;

	printf("versions:\n");
	print_object(json_object_get(o, "versions"));
	printf("\nengines of a simulated box:\n");
	print_object(json_object_get(o, "engines"));
	printf("\ndevices:\n");
	print_list(json_object_get(o, "devices"));
	printf("\nsettings:\n");
	json_array_foreach(list, i, v)
	{
		printf("  %-18s %-33s %s\n", json_string_value(json_object_get(v, "name")),
		       json_string_value(json_object_get(v, "value")),
		       json_string_value(json_object_get(v, "source")));
	}
	if (json_array_size(json_object_get(o, "unknown")) != 0)
		printf("\nignored variables:\n");
	print_list(json_object_get(o, "unknown"));
}

int main(int argc, char **argv)
{
	bool json = false;
	const char *file = NULL;
	const struct rf_opt table[] = {
		{RF_OPT_FLAG, "json", 'j', &json, NULL, "print one JSON object", NULL},
		{RF_OPT_STRING, "config", 0, &file, "FILE",
		 "also show the settings of ringfoldd in this file;\ndefault: " SERVICE_FILE
		 ", if it exists",
		 NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		"ringfold info [options]",
		"Shows the versions in use, the engines and devices that were found, and each "
		"setting of the\nhost library with its value and its source: the environment or "
		"the default. Keys are never\nshown. Variables that begin with RF_ and are not "
		"settings are listed.",
		"  ringfold info\n"
		"  RF_RANK=0 RF_SIZE=2 ringfold info --json\n\n"
		"exit codes: 0 good, 1 failed, 2 usage, or a setting that is wrong",
		table};
	int n = rf_opt_parse(&page, argc, argv);
	struct rf_env env = {.source = "", .root = ""};
	char why[256];
	int code = RF_EXIT_GOOD;
	json_t *o;

	if (n < 0 || n < argc) {
		if (n >= 0)
			fprintf(stderr, "ringfold info takes no argument \"%s\"\n", argv[n]);
		return n == -1 ? RF_EXIT_GOOD : RF_EXIT_USAGE;
	}
	if (rf_env_read(&env, why, sizeof(why)) != 0) {
		fprintf(stderr, "ringfold info: %s\n", why);
		env = (struct rf_env){.source = "", .root = ""};
		code = RF_EXIT_USAGE;
	}
	o = json_pack("{so so so so so}", "versions", versions(), "engines", engines(), "devices",
		      devices(), "settings", settings(&env), "unknown", strangers());
	if (!o) {
		fprintf(stderr, "ringfold info: out of memory\n");
		return RF_EXIT_FAILED;
	}
	if (json) {
		json_dumpf(o, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		print_text(o);
	}
	json_decref(o);
	if (!json && (file || access(SERVICE_FILE, R_OK) == 0)) {
		n = show_service(file ? file : SERVICE_FILE);
		code = code ? code : n;
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "ringfold info: cannot write the output: %s\n", strerror(errno));
		return RF_EXIT_FAILED;
	}
	return code;
}
