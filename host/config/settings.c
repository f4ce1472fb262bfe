/*
 * Settings from the environment.
 */
#include "host/config/settings.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/near.h"
#include "base/rf_number.h"
#include "ringfold/ringfold.h"

#define PREFIX "RF_"

const struct rf_setting rf_settings[] = {
	{"RF_RANK", "", "own rank, from 0; see below for the variables of other launchers"},
	{"RF_SIZE", "", "number of ranks"},
	{"RF_ROOT", "127.0.0.1", "host name or address at which rank 0 can be reached by TCP"},
	{"RF_PORT", "4792", "TCP port of the store that rank 0 serves"},
	{"RF_BACKEND", "auto",
	 "auto, verbs or dpdk; auto: the device in RF_DEVICE, else verbs if there is an RDMA "
	 "device"},
	{"RF_DEVICE", "",
	 "DPDK device, such as net_af_packet0,iface=eth1, or verbs:mlx5_0; %r is replaced by the "
	 "rank"},
	{"RF_DPDK_ARGS", "", "more arguments for DPDK, separated by blanks"},
	{"RF_DPDK_LOG", "0", "1: DPDK's own messages on stderr"},
	{"RF_IP", "", "own IPv4 address; default: the interface's, else 10.0.0.<rank + 1>"},
	{"RF_BOX_IP", "10.0.0.254", "IPv4 address of the box"},
	{"RF_GATEWAY", "",
	 "router on the way to the box, an IPv4 address; default: none, the box is in the own "
	 "subnet; not over verbs"},
	{"RF_MTU", "1024", "payload bytes per packet: 256, 512, 1024, 2048 or 4096"},
	{"RF_SCHEDULE", "box", "who adds: box or ring"},
	{"RF_STEERING", "mirror",
	 "how packets reach the box: mirror (its own addresses) or ring (a rule at each switch "
	 "port)"},
	{"RF_SLOTS", "64", "slots requested from the box, a power of two from 16"},
	{"RF_SLOTS_LARGE", "256",
	 "slots of the second group that large calls get, a power of two; not more than RF_SLOTS: "
	 "there is none"},
	{"RF_SELECTIVE", "0", "1: only lost packets are sent again; not over verbs"},
	{"RF_STRAGGLER", "0",
	 "RNR timer code, 1 to 31, with which the box answers repeats while other ranks are late; "
	 "0: no answer"},
	{"RF_FALLBACK", "none",
	 "when the box fails: none (an error), exact (ring, same bits) or ring (other bits)"},
	{"RF_WINDOW", "128", "packets in flight on a connection without the box"},
	{"RF_TIMEOUT", "30000", "milliseconds without any progress after which a call fails"},
	{"RF_BOX_TIMEOUT", "5000",
	 "milliseconds without an answer from the box after which it counts as lost"},
	{"RF_RETRY", "4", "milliseconds without acknowledgement until a packet is sent again"},
	{"RF_VERBS_TIMEOUT", "18",
	 "verbs: the NIC repeats a packet after 4.096 us x 2^this, 1 to 31"},
	{"RF_VERBS_RETRY", "7", "verbs: how often the NIC repeats a packet, 0 to 7"},
	{"RF_TCLASS", "0", "verbs: traffic class, DSCP x 4 + ECN"},
	{"RF_UDP_SPORT", "", "verbs: UDP source port from 49152 on, if the NIC supports it"},
	{"RF_REG_CACHE", "0",
	 "verbs: bytes of buffers that stay registered after calls; only for programs that call "
	 "rf_mem_forget()"},
	{"RF_COMPLETION", "event", "verbs: event or poll, how the NIC's completions are detected"},
	{"RF_SPIN", "20", "microseconds without work until the progress thread sleeps"},
	{"RF_PROGRESS", "thread", "who sends and receives packets: thread or manual"},
	{"RF_JOB", "", "job number; default: chosen at random by rank 0"},
	{"RF_KEY", "00000000000000000000000000000000",
	 "the job's key, 32 hex digits: at the box and at RF_PORT"},
	{"RF_PCAP", "",
	 "pcapng file for every frame sent and received; %r is replaced by the rank"},
	{"RF_DEBUG", "warn", "what is logged: warn, info or trace"},
	{"RF_DEBUG_FILE", "",
	 "file for the log, instead of stderr; %r, %h and %p become rank, host name and process "
	 "number"},
	{NULL, NULL, NULL},
};

const char *rf_setting_text(const char *name)
{
	const char *value = getenv(name);
	const struct rf_setting *s;

	if (value && *value)
		return value;
	for (s = rf_settings; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s->value;
	return "";
}

const char *rf_setting_meant(const char *name)
{
	const char *names[64];
	const char *near;
	size_t n = 0;

	/* without the prefix, which would make all names alike */
	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return NULL;
	for (const struct rf_setting *s = rf_settings; s->name && n < 64; s++)
		names[n++] = s->name + strlen(PREFIX);
	near = rf_near(name + strlen(PREFIX), names, n);
	if (!near || strcmp(near, name + strlen(PREFIX)) == 0)
		return NULL;
	return near - strlen(PREFIX);
}

void rf_settings_warn(void (*warn)(void *arg, const char *text), void *arg)
{
	static atomic_flag warned = ATOMIC_FLAG_INIT;

	if (atomic_flag_test_and_set(&warned))
		return;
	for (char **v = environ; v && *v; v++) {
		char name[64];
		const char *meant;
		char text[160];
		size_t len = strcspn(*v, "=");

		if (len >= sizeof(name))
			continue;
		memcpy(name, *v, len);
		name[len] = '\0';
		meant = rf_setting_meant(name);
		if (!meant)
			continue;
		snprintf(text, sizeof(text), "%s is not a setting; did you mean %s?", name, meant);
		warn(arg, text);
	}
}

int rf_number_parse(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *value,
		    char *why, size_t room)
{
	uint64_t n = 0;
	const char *end = rf_number_read(text, &n);
	unsigned int shift = 0;

	if (end && (*end == 'K' || *end == 'M' || *end == 'G')) {
		shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
		end++;
	}
	if (!end || *end || n > (UINT64_MAX >> shift) || (n << shift) < min || (n << shift) > max) {
		snprintf(why, room, "%s=%s: expected a whole number from %llu to %llu%s", what,
			 text, (unsigned long long)min, (unsigned long long)max,
			 max < 1024 ? "" : "; K, M or G may follow");
		return RF_ERR_INVALID;
	}
	*value = n << shift;
	return RF_OK;
}

int rf_setting_number(const char *name, uint64_t min, uint64_t max, uint64_t *value, char *why,
		      size_t room)
{
	return rf_number_parse(name, rf_setting_text(name), min, max, value, why, room);
}

int rf_ip_parse(const char *what, const char *text, uint32_t *ip, char *why, size_t room)
{
	const char *p = text;
	uint32_t address = 0;
	int parts;

	for (parts = 0; parts < 4; parts++) {
		unsigned int n = 0;
		int digits = 0;

		while (isdigit((unsigned char)*p) && digits < 3) {
			n = n * 10 + (unsigned int)(*p++ - '0');
			digits++;
		}
		if (!digits || n > 255 || *p != (parts < 3 ? '.' : '\0'))
			break;
		address = address << 8 | n;
		if (parts < 3)
			p++;
	}
	/* 0.x, 127.x and classes D and E are not valid host addresses */
	if (strchr(text, ':')) {
		snprintf(why, room, "%s=%s: ringfold has no IPv6: expected a dotted IPv4 address",
			 what, text);
		return RF_ERR_INVALID;
	}
	if (parts < 4 || address >> 24 == 0 || address >> 24 == 127 || address >> 24 >= 224) {
		snprintf(why, room, "%s=%s: expected a dotted IPv4 address of a host", what, text);
		return RF_ERR_INVALID;
	}
	*ip = address;
	return RF_OK;
}

int rf_hex_parse(const char *what, const char *text, uint8_t *bytes, size_t n, char *why,
		 size_t room)
{
	static const char digits[] = "0123456789abcdef";
	size_t k;

	for (k = 0; k < 2 * n && text[k]; k++) {
		const char *d = strchr(digits, tolower((unsigned char)text[k]));

		if (!d)
			break;
		bytes[k / 2] = (uint8_t)((k & 1 ? bytes[k / 2] << 4 : 0) | (int)(d - digits));
	}
	if (k == 2 * n && !text[k])
		return RF_OK;
	snprintf(why, room, "%s: expected exactly %zu hex digits", what, 2 * n);
	return RF_ERR_INVALID;
}

char *rf_ip_text(uint32_t ip, char buf[16])
{
	snprintf(buf, 16, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
	return buf;
}

void rf_rank_text(const char *text, unsigned int rank, char *to, size_t room)
{
	const char *mark = strstr(text, "%r");

	if (mark)
		snprintf(to, room, "%.*s%u%s", (int)(mark - text), text, rank, mark + 2);
	else
		snprintf(to, room, "%s", text);
}
