#include "host/io/device_why.h"
#include "host/io/dpdk.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/self.h"

/* How long to wait for the socket of a memif. */
#define SOCKET_WAIT_MS 2000
#define SOCKET_STEP_MS 5

static const struct rf_io_dpdk *plugin;
static char failure[480];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The folder of the library that contains this function; false if it is part of a program. */
static bool library_folder(char folder[PATH_MAX])
{
	Dl_info info;
	char *slash;

	if (dladdr(&plugin, &info) == 0 || !info.dli_fname || !strstr(info.dli_fname, ".so") ||
	    !realpath(info.dli_fname, folder))
		return false;
	slash = strrchr(folder, '/');
	*slash = '\0';
	return true;
}

/* The plug-in's path; without the file, the path where it should be. */
static void find(char *path, size_t room)
{
	char folder[PATH_MAX];

	if (library_folder(folder))
		snprintf(path, room, "%s/ringfold/" RF_IO_DPDK_FILE, folder);
	else if (rf_self_folder(folder, sizeof(folder)) == 0)
		snprintf(path, room, "%s/../lib/ringfold/" RF_IO_DPDK_FILE, folder);
	else
		snprintf(path, room, RF_IO_DPDK_FILE);
}

static void load(void)
{
	char path[PATH_MAX + 40];
	const struct rf_io_dpdk *found;
	void *handle;

	find(path, sizeof(path));
	if (access(path, F_OK) != 0) {
		snprintf(failure, sizeof(failure),
			 "the plug-in for DPDK, %.300s, is missing: install libdpdk-dev, build "
			 "ringfold again and install it",
			 path);
		return;
	}
	/* Never closed: DPDK cannot be stopped and has threads of its own. */
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		const char *text = dlerror();

		snprintf(failure, sizeof(failure),
			 "DPDK cannot be loaded: %.300s; install DPDK (on Debian: libdpdk-dev)",
			 text ? text : path);
		return;
	}
	found = dlsym(handle, RF_IO_DPDK_SYMBOL);
	if (!found || found->version != RF_IO_DPDK_VERSION ||
	    found->io_size != sizeof(struct rf_io)) {
		snprintf(failure, sizeof(failure),
			 "the plug-in for DPDK, %.300s, is of another version of ringfold: install "
			 "library and plug-in from one build",
			 path);
		return;
	}
	plugin = found;
}

int rf_io_dpdk_open(const struct rf_io_dpdk_cfg *cfg, struct rf_io **io, char *why, size_t room)
{
	const struct timespec step = {.tv_nsec = SOCKET_STEP_MS * 1000000};

	pthread_once(&once, load);
	if (!plugin) {
		snprintf(why, room, "device \"%s\" (RF_DEVICE): %s", cfg->device, failure);
		return RF_ERR_DEVICE;
	}
	/* A box that was started just before this serves its socket soon. */
	for (unsigned int k = 0; rf_device_why(cfg->device, why, room) == 0; k++) {
		if (k == SOCKET_WAIT_MS / SOCKET_STEP_MS ||
		    strncmp(cfg->device, "net_memif", strlen("net_memif")) != 0)
			return RF_ERR_DEVICE;
		nanosleep(&step, NULL);
	}
	return plugin->open(cfg, io, why, room);
}
