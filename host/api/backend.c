/*
 * Chooses the back end for the connections: a NIC's own by verbs, or our transport over DPDK.
 * Chosen at run time and logged.
 */
#include <stdio.h>
#include <string.h>

#include "host/api/api.h"
#include "host/config/settings.h"

#define PREFIX "verbs"

/* For "verbs" or "verbs:NAME...": the text after the prefix; NULL for any other device. */
static const char *verbs_name(const char *device)
{
	size_t len = strlen(PREFIX);

	if (strncmp(device, PREFIX, len) != 0 || (device[len] && device[len] != ':'))
		return NULL;
	return device[len] ? device + len + 1 : "";
}

static int number(const char *name, uint64_t min, uint64_t max, uint64_t *value, char *why,
		  size_t room)
{
	*value = 0;
	if (!*rf_setting_text(name))
		return RF_OK;
	return rf_setting_number(name, min, max, value, why, room);
}

static int settings(struct rf_verbs_cfg *cfg, const char *ip_text, char *why, size_t room)
{
	const char *completion = rf_setting_text("RF_COMPLETION");
	uint64_t timeout, retry, tclass, sport;
	int ret = number("RF_VERBS_TIMEOUT", 1, 31, &timeout, why, room);

	if (!ret)
		ret = number("RF_VERBS_RETRY", 0, 7, &retry, why, room);
	if (!ret)
		ret = number("RF_TCLASS", 0, 255, &tclass, why, room);
	if (!ret)
		ret = number("RF_UDP_SPORT", 49152, 65535, &sport, why, room);
	if (!ret && *ip_text)
		ret = rf_ip_parse("own address (RF_IP)", ip_text, &cfg->ip, why, room);
	if (!ret && strcmp(completion, "event") != 0 && strcmp(completion, "poll") != 0) {
		snprintf(why, room, "RF_COMPLETION=%s: expected event or poll", completion);
		ret = RF_ERR_INVALID;
	}
	if (ret)
		return ret;
	cfg->timeout = (uint8_t)timeout;
	cfg->retry_cnt = (uint8_t)retry;
	cfg->tclass = (uint8_t)tclass;
	cfg->udp_sport = (uint16_t)sport;
	cfg->polling = completion[0] == 'p';
	return RF_OK;
}

static int open_verbs(struct rf_log *log, const char *name, const char *ip_text, unsigned int mtu,
		      struct rf_verbs **verbs, struct rf_io **io, char *why, size_t room)
{
	struct rf_verbs_cfg cfg = {.device = name, .mtu = mtu};
	struct rf_verbs *v = NULL;
	int ret = settings(&cfg, ip_text, why, room);

	if (!ret)
		ret = rf_verbs_open(&cfg, &v, why, room);
	if (!ret)
		ret = rf_verbs_io(v, io, why, room);
	if (ret) {
		rf_verbs_close(v);
		return ret;
	}
	rf_log_line(log, RF_LOG_INFO, "%s", rf_verbs_text(v));
	*verbs = v;
	return 1;
}

int rf_backend_open(struct rf_log *log, const char *device, const char *ip_text, unsigned int mtu,
		    struct rf_verbs **verbs, struct rf_io **io, char *why, size_t room)
{
	const char *backend = rf_setting_text("RF_BACKEND");
	const char *name = verbs_name(device);
	char absent[RF_TEXT_MAX];
	int ret;

	if (strcmp(backend, "auto") != 0 && strcmp(backend, "verbs") != 0 &&
	    strcmp(backend, "dpdk") != 0) {
		snprintf(why, room, "RF_BACKEND=%s: expected auto, verbs or dpdk", backend);
		return RF_ERR_INVALID;
	}
	if (backend[0] == 'v' && *device && !name) {
		snprintf(why, room,
			 "RF_BACKEND=verbs, but RF_DEVICE=%.80s is a DPDK device: leave it out, or "
			 "name verbs:DEVICE",
			 device);
		return RF_ERR_INVALID;
	}
	if (backend[0] == 'd' && name) {
		snprintf(why, room, "RF_BACKEND=dpdk, but RF_DEVICE=%.80s names verbs", device);
		return RF_ERR_INVALID;
	}
	if (name || backend[0] == 'v')
		return open_verbs(log, name ? name : "", ip_text, mtu, verbs, io, why, room);
	if (*device || backend[0] == 'd' || !rf_verbs_present(absent, sizeof(absent)))
		return 0;
	ret = open_verbs(log, "", ip_text, mtu, verbs, io, absent, sizeof(absent));
	if (ret >= 0)
		return ret;
	/* no device was requested by name, and one rank alone needs none */
	rf_log_line(log, RF_LOG_WARN, "an RDMA device is not used: %s", absent);
	return 0;
}
