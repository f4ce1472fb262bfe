/*
 * Finding rank 0 by the program's own means: an allgather() of bytes shows where the store is.
 */
#include "host/api/api.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/config/settings.h"
#include "proto/rf_bytes.h"

/* What each process publishes first: on which machine, and in which network namespace of it, it
 * runs.
 */
#define PLACE 64u
/* What rank 0 publishes then: a status, the port, the address. */
#define ADDRESS (8u + RF_ROOT_ROOM)

static void own_place(char place[PLACE])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	struct stat st = {0};
	char id[40] = "";

	memset(place, 0, PLACE);
	if (file && !fgets(id, sizeof(id), file))
		id[0] = '\0';
	if (file)
		fclose(file);
	stat("/proc/self/ns/net", &st);
	snprintf(place, PLACE, "%.36s %lu", id, (unsigned long)st.st_ino);
}

uint32_t rf_outward_address(void)
{
	struct ifaddrs *all = NULL;
	uint32_t found = 0;

	if (getifaddrs(&all) != 0)
		return 0;
	for (struct ifaddrs *a = all; a && !found; a = a->ifa_next) {
		struct sockaddr_in in;

		if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || !(a->ifa_flags & IFF_UP) ||
		    a->ifa_flags & IFF_LOOPBACK)
			continue;
		memcpy(&in, a->ifa_addr, sizeof(in));
		found = ntohl(in.sin_addr.s_addr);
	}
	freeifaddrs(all);
	return found;
}

static int gather(const struct rf_comm_config *config, const void *own, void *all, size_t bytes,
		  char *why, size_t room)
{
	int ret = config->allgather(config->allgather_arg, own, all, bytes);

	if (!ret)
		return RF_OK;
	snprintf(why, room, "allgather() of the program returned %d", ret);
	return RF_ERR_BOOTSTRAP;
}

/* At rank 0: the address for the store, if none is set. */
static int choose_root(const struct rf_job *job, const char *places, char root[RF_ROOT_ROOM],
		       char *why, size_t room)
{
	char ip[16] = "127.0.0.1";
	uint32_t address;

	for (unsigned int r = 1; r < job->ranks; r++) {
		if (memcmp(places, places + r * PLACE, PLACE) == 0)
			continue;
		address = rf_outward_address();
		if (!address) {
			snprintf(
				why, room,
				"rank 0 has no IPv4 address for rank %u, which runs elsewhere: set "
				"RF_ROOT",
				r);
			return RF_ERR_BOOTSTRAP;
		}
		rf_ip_text(address, ip);
		break;
	}
	snprintf(root, RF_ROOT_ROOM, "%s", ip);
	return RF_OK;
}

static int serve(struct rf_job *job, const char *places, char root[RF_ROOT_ROOM], uint64_t *port,
		 char *why, size_t room)
{
	int ret = *root ? RF_OK : choose_root(job, places, root, why, room);

	if (!ret)
		ret = rf_store_serve(root, (unsigned int)*port, job->ranks, job->number, job->key,
				     &job->server, why, room);
	if (!ret)
		*port = rf_store_server_port(job->server);
	return ret;
}

/* Rank 0 publishes the address, the others read it. */
static int publish(struct rf_job *job, const struct rf_comm_config *config, int status, char *all,
		   char root[RF_ROOT_ROOM], uint64_t *port, char *why, size_t room)
{
	uint8_t own[ADDRESS] = {0};
	const uint8_t *first = (const uint8_t *)all;
	char text[128];
	int ret;

	rf_put_be32(own, (uint32_t)status);
	rf_put_be16(own + 4, (uint16_t)*port);
	if (job->rank == 0)
		memcpy(own + 8, root, RF_ROOT_ROOM);
	ret = gather(config, own, all, ADDRESS, text, sizeof(text));
	if (status)
		return status; /* with its own text */
	if (ret) {
		snprintf(why, room, "%s", text);
		return ret;
	}
	if (job->rank == 0)
		return RF_OK;
	if (rf_get_be32(first) || !rf_get_be16(first + 4) || !first[8] ||
	    !memchr(first + 8, 0, RF_ROOT_ROOM)) {
		snprintf(why, room,
			 "rank 0 cannot serve the store; its own error gives the reason");
		return RF_ERR_BOOTSTRAP;
	}
	*port = rf_get_be16(first + 4);
	memcpy(root, first + 8, RF_ROOT_ROOM);
	return RF_OK;
}

int rf_bootstrap(struct rf_job *job, const struct rf_comm_config *config, char root[RF_ROOT_ROOM],
		 uint64_t *port, char *why, size_t room)
{
	char *all = calloc(job->ranks, ADDRESS > PLACE ? ADDRESS : PLACE);
	char place[PLACE];
	int ret = RF_OK;

	if (!all) {
		snprintf(why, room, "no memory for the ranks' messages");
		return RF_ERR_NO_MEMORY;
	}
	own_place(place);
	ret = gather(config, place, all, PLACE, why, room);
	if (!ret && job->rank == 0)
		ret = serve(job, all, root, port, why, room);
	/* also if this rank has failed: the others wait for it */
	ret = publish(job, config, ret, all, root, port, why, room);
	free(all);
	return ret;
}
