#include "host/io/device_why.h"

#include <errno.h>
#include <glob.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/io/device_value.h"

/* In the network namespace of this process: /sys may show another one. */
static bool is_interface(const char *name)
{
	return strlen(name) < IF_NAMESIZE && if_nametoindex(name) != 0;
}

static int af_packet_why(const char *device, char *why, size_t room)
{
	char name[80];
	int fd;

	rf_device_value(device, "iface", name, sizeof(name));
	if (!*name) {
		snprintf(why, room, "%s: expected net_af_packet0,iface=INTERFACE", device);
		return 0;
	}
	if (!is_interface(name)) {
		snprintf(why, room,
			 "%s: this machine has no interface \"%s\"; `ringfold info` lists them",
			 device, name);
		return 0;
	}
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0 && errno == EPERM) {
		snprintf(why, room, "%s: AF_PACKET requires root (CAP_NET_RAW)", device);
		return 0;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static int memif_why(const char *device, char *why, size_t room)
{
	char abstract[8];
	char role[16];
	char path[256];
	char *slash;

	rf_device_value(device, "socket-abstract", abstract, sizeof(abstract));
	rf_device_value(device, "socket", path, sizeof(path));
	rf_device_value(device, "role", role, sizeof(role));
	if (strcmp(abstract, "no") != 0 || strcmp(role, "client") != 0 || !*path ||
	    access(path, F_OK) == 0 || errno != ENOENT)
		return -1;
	snprintf(why, room, "no process serves the socket %s: is `ringfold box` running?", path);
	slash = strrchr(path, '/');
	if (slash && slash != path) {
		*slash = '\0';
		if (access(path, F_OK) != 0)
			snprintf(why, room, "the folder %s of the memif socket does not exist",
				 path);
	}
	return 0;
}

int rf_device_why(const char *device, char *why, size_t room)
{
	if (strncmp(device, "net_af_packet", strlen("net_af_packet")) == 0)
		return af_packet_why(device, why, room);
	if (strncmp(device, "net_memif", strlen("net_memif")) == 0)
		return memif_why(device, why, room);
	if (strcmp(device, "verbs") == 0 || strncmp(device, "verbs:", strlen("verbs:")) == 0) {
		snprintf(why, room,
			 "%s is the RDMA device of a NIC, and a DPDK device is needed here: for "
			 "the same NIC net_af_packet0,iface=INTERFACE",
			 device);
		return 0;
	}
	if (!is_interface(device))
		return -1;
	snprintf(why, room,
		 "\"%s\" is an interface of the kernel, not a DPDK device: use "
		 "net_af_packet0,iface=%s",
		 device, device);
	return 0;
}

bool rf_hugepages(void)
{
	unsigned long pages = 0;
	glob_t found;

	if (glob("/sys/kernel/mm/hugepages/hugepages-*/nr_hugepages", 0, NULL, &found) != 0)
		return false;
	for (size_t k = 0; k < found.gl_pathc && !pages; k++) {
		FILE *f = fopen(found.gl_pathv[k], "r");

		if (f && fscanf(f, "%lu", &pages) != 1)
			pages = 0;
		if (f)
			fclose(f);
	}
	globfree(&found);
	return pages > 0;
}
