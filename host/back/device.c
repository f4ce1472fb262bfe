/* Chooses device, port and GID by a rule, and reports the choice. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/first_line.h"
#include "host/back/internal.h"
#include "proto/rf_bytes.h"
#include "ringfold/ringfold.h"

#define GIDS_MAX 256u
#define PORTS_MAX 8u

static void gid_file(char *to, size_t room, const char *device, unsigned int port, const char *what,
		     unsigned int index)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%.64s/ports/%u/%s/%u", device, port,
		 what, index);
	rf_first_line(to, room, path);
}

/* Parses "0000:0000:0000:0000:0000:ffff:0a00:0001" into 16 bytes. */
static bool gid_parse(const char *text, uint8_t raw[16])
{
	for (unsigned int i = 0; i < 8; i++) {
		unsigned int word;

		if (sscanf(text + 5 * i, "%4x", &word) != 1 || (i < 7 && text[5 * i + 4] != ':'))
			return false;
		rf_put_be16(raw + 2 * i, (uint16_t)word);
	}
	return true;
}

/* The IPv4 address in a RoCE v2 GID, or 0. */
static uint32_t gid_ip(const char *device, unsigned int port, unsigned int index,
		       union ibv_gid *gid)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	char text[64];

	gid_file(text, sizeof(text), device, port, "gid_attrs/types", index);
	if (strcmp(text, "RoCE v2") != 0)
		return 0;
	gid_file(text, sizeof(text), device, port, "gids", index);
	if (strlen(text) < 39 || !gid_parse(text, gid->raw) ||
	    memcmp(gid->raw, mapped, sizeof(mapped)) != 0)
		return 0;
	return rf_get_be32(gid->raw + 12);
}

struct wish {
	char device[64];
	unsigned int port; /* 0: any */
	int gid;           /* -1: any */
};

static int wish_parse(const char *text, struct wish *w, char *why, size_t room)
{
	unsigned int gid = 0;
	int fields;

	*w = (struct wish){.gid = -1};
	if (!*text)
		return RF_OK;
	fields = sscanf(text, "%63[^:]:%u:%u", w->device, &w->port, &gid);
	if (fields == 3)
		w->gid = (int)gid;
	if (fields >= 1 && gid < GIDS_MAX && w->port <= PORTS_MAX)
		return RF_OK;
	snprintf(why, room, "RDMA device %.80s: expected NAME, NAME:PORT or NAME:PORT:GID", text);
	return RF_ERR_INVALID;
}

static bool port_up(const char *device, unsigned int port)
{
	char path[256], text[64];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%.64s/ports/%u/state", device, port);
	rf_first_line(text, sizeof(text), path);
	return strstr(text, "ACTIVE") != NULL;
}

/* Searches one device for a matching GID; fills port, GID and address. */
static bool fits(struct rf_verbs *v, const char *device, const struct wish *w)
{
	for (unsigned int p = 1; p <= PORTS_MAX; p++) {
		if ((w->port && w->port != p) || !port_up(device, p))
			continue;
		for (unsigned int i = 0; i < GIDS_MAX; i++) {
			union ibv_gid gid;
			uint32_t ip;

			if (w->gid >= 0 && (unsigned int)w->gid != i)
				continue;
			ip = gid_ip(device, p, i, &gid);
			if (ip == 0 || (v->cfg.ip && v->cfg.ip != ip))
				continue;
			v->port = (uint8_t)p;
			v->gid_index = (uint8_t)i;
			v->gid = gid;
			v->ip = ip;
			gid_file(v->netdev, sizeof(v->netdev), device, p, "gid_attrs/ndevs", i);
			return true;
		}
	}
	return false;
}

/* The interface's own MAC: needed for control messages and by DPDK peers. */
static bool find_mac(struct rf_verbs *v)
{
	char path[128], text[32];
	unsigned int b[6];

	snprintf(path, sizeof(path), "/sys/class/net/%s/address", v->netdev);
	rf_first_line(text, sizeof(text), path);
	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) != 6)
		return false;
	for (int i = 0; i < 6; i++)
		v->mac[i] = (uint8_t)b[i];
	return true;
}

static int choose(struct rf_verbs *v, struct ibv_device **list, const struct wish *w, char *why,
		  size_t room)
{
	const char *name = NULL;

	for (int i = 0; list[i]; i++) {
		name = v->f->get_device_name(list[i]);
		if ((w->device[0] && strcmp(w->device, name) != 0) || !fits(v, name, w))
			continue;
		v->context = v->f->open_device(list[i]);
		if (v->context)
			return RF_OK;
		snprintf(why, room, "RDMA device %.40s cannot be opened: %s", name,
			 strerror(errno));
		return RF_ERR_DEVICE;
	}
	if (!name)
		snprintf(why, room, "there is no RDMA device");
	else
		snprintf(why, room,
			 "no RDMA device%s%s has a port that is up with a RoCE v2 GID of %s: give "
			 "its "
			 "interface that address, or name DEVICE:PORT:GID (`rdma link`, "
			 "`ibv_devinfo -v`)",
			 w->device[0] ? " " : "", w->device,
			 v->cfg.ip ? "the own address (RF_IP)" : "an IPv4 address");
	return RF_ERR_DEVICE;
}

static unsigned int mtu_bytes(enum ibv_mtu mtu)
{
	return 128u << mtu;
}

static int check_port(struct rf_verbs *v, char *why, size_t room)
{
	struct ibv_port_attr attr;

	memset(&attr, 0, sizeof(attr));
	if (v->f->query_port(v->context, v->port, &attr) != 0) {
		snprintf(why, room, "the RDMA port cannot be queried: %s", strerror(errno));
		return RF_ERR_DEVICE;
	}
	if (v->cfg.mtu > mtu_bytes(attr.active_mtu)) {
		snprintf(why, room,
			 "path MTU %u (RF_MTU), but %s carries %u: raise the interface's MTU to %u "
			 "or more, here and at the switch",
			 v->cfg.mtu, v->netdev, mtu_bytes(attr.active_mtu), v->cfg.mtu + 104);
		return RF_ERR_DEVICE;
	}
	return RF_OK;
}

static int take_resources(struct rf_verbs *v, char *why, size_t room)
{
	int flags;

	v->pd = v->f->alloc_pd(v->context);
	v->channel = v->pd ? v->f->create_comp_channel(v->context) : NULL;
	flags = v->channel ? fcntl(v->channel->fd, F_GETFL) : -1;
	if (flags >= 0 && fcntl(v->channel->fd, F_SETFL, flags | O_NONBLOCK) == 0)
		return RF_OK;
	snprintf(why, room, "cannot allocate a PD or completion channel: %s", strerror(errno));
	return RF_ERR_DEVICE;
}

static void describe(struct rf_verbs *v, const char *device)
{
	const uint8_t *ip = v->gid.raw + 12;

	snprintf(v->text, sizeof(v->text),
		 "verbs, %.40s port %u, GID %u ::ffff:%u.%u.%u.%u (RoCE v2, %s), path MTU %u, "
		 "timeout %u, retry_cnt %u, traffic class %u, completions by %s",
		 device, v->port, v->gid_index, ip[0], ip[1], ip[2], ip[3], v->netdev, v->cfg.mtu,
		 v->cfg.timeout, v->cfg.retry_cnt, v->cfg.tclass,
		 v->cfg.polling ? "polling" : "event");
}

int rf_verbs_present(char *why, size_t room)
{
	const struct rf_ibv *f = rf_ibv(why, room);
	struct ibv_device **list = f ? f->get_device_list(NULL) : NULL;
	int found = list && list[0];

	if (list)
		f->free_device_list(list);
	if (f && !found)
		snprintf(why, room, "there is no RDMA device");
	return found;
}

int rf_verbs_open(const struct rf_verbs_cfg *cfg, struct rf_verbs **out, char *why, size_t room)
{
	const struct rf_ibv *f = rf_ibv(why, room);
	struct ibv_device **list;
	struct rf_verbs *v;
	struct wish w;
	int ret;

	if (!f)
		return RF_ERR_DEVICE;
	v = calloc(1, sizeof(*v));
	list = f->get_device_list(NULL);
	if (!v || !list) {
		snprintf(why, room, "RDMA devices cannot be listed: %s", strerror(errno));
		free(v);
		return RF_ERR_DEVICE;
	}
	v->f = f;
	v->cfg = *cfg;
	pthread_mutex_init(&v->lock, NULL);
	ret = wish_parse(cfg->device, &w, why, room);
	if (!ret)
		ret = choose(v, list, &w, why, room);
	if (!ret && !find_mac(v)) {
		snprintf(why, room, "no MAC address of interface \"%s\"", v->netdev);
		ret = RF_ERR_DEVICE;
	}
	if (!ret)
		ret = check_port(v, why, room);
	if (!ret)
		ret = take_resources(v, why, room);
	if (!ret)
		describe(v, f->get_device_name(v->context->device));
	f->free_device_list(list);
	if (ret) {
		rf_verbs_close(v);
		return ret;
	}
	*out = v;
	return RF_OK;
}

/* No other thread uses v any more. */
RF_UNSHARED void rf_verbs_close(struct rf_verbs *v)
{
	if (!v)
		return;
	while (v->qps)
		rf_verbs_qp_destroy(v->qps);
	rf_verbs_mem_end(v);
	if (v->channel)
		v->f->destroy_comp_channel(v->channel);
	if (v->pd)
		v->f->dealloc_pd(v->pd);
	if (v->context)
		v->f->close_device(v->context);
	pthread_mutex_destroy(&v->lock);
	free(v);
}

const char *rf_verbs_text(const struct rf_verbs *v)
{
	return v->text;
}
