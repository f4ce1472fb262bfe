#include "ringfoldd/config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mac.h"
#include "base/rf_number.h"
#include "service/web.h"

enum kind {
	TEXT,  /* maximum length in size */
	WORD,  /* one of the words in choice */
	NUM32, /* min .. max */
	NUM8,
	ADDR,  /* IPv4 */
	PORTS, /* addresses of the ports, kept as text */
	MAC,
};

struct entry {
	const char *section, *key;
	enum kind kind;
	size_t at, size;
	uint32_t min, max;
	const char *choice;
	const char *text; /* comment in the generated file */
};

#define AT(member) offsetof(struct rfd_config, member), sizeof(((struct rfd_config *)0)->member)

static const struct entry entries[] = {
	{"box", "registers", TEXT, AT(registers), 0, 0, NULL,
	 "The register bus: /dev/uioN, or a file used in its place (tests). Must be set."},
	{"box", "interrupt", WORD, AT(interrupt), 0, 0, "uio|poll",
	 "uio: sleep until the device interrupts; poll: check every poll_us."},
	{"box", "poll_us", NUM32, AT(poll_us), 10, 1000000, NULL,
	 "Microseconds between two checks with interrupt = poll."},
	{"box", "clock", WORD, AT(clock), 0, 0, "box|host",
	 "box: time from the box's cycle counter; host: time from this machine (for a file, where "
	 "the counter "
	 "does not advance)."},
	{"box", "ip", ADDR, AT(fw.ip), 0, 0, NULL, "The box's own IPv4 address. Must be set."},
	{"box", "mac", MAC, AT(fw.mac), 0, 0, NULL,
	 "Base MAC: port p uses base + p; last byte at most f8. Must be set."},
	{"box", "port_ips", PORTS, AT(port_ips), 0, 0, NULL,
	 "Addresses of the box's ports, to which mirror connections send. next: port p has ip + 1 "
	 "+ p; "
	 "none; or a list in the order of the ports, with - for a port without one."},
	{"box", "prefix", NUM8, AT(fw.prefix), 0, 32, NULL,
	 "Length of the network prefix of these addresses; 0: not known, and not checked."},
	{"box", "gateway", ADDR, AT(fw.gateway), 0, 0, NULL,
	 "Router of that network. The box counts when it is silent; it needs no route itself."},
	{"box", "probe_ms", NUM32, AT(fw.probe_ms), 0, 60000, NULL,
	 "Time between two of the three ARP probes for a port's address; 0: it is used at once."},
	{"box", "announce_ms", NUM32, AT(fw.announce_ms), 0, RF_CTL_TIME_MAX_MS, NULL,
	 "Time between two announcements of a port's address; 0: none."},
	{"box", "hold_ms", NUM32, AT(fw.hold_ms), 0, RF_CTL_TIME_MAX_MS, NULL,
	 "After a start and a RESET, RC data that belongs to no group is dropped for this long. A "
	 "connection seen "
	 "in that time stays blocked until it has been silent for as long. 0: nothing is dropped."},
	{"box", "tombstone_ms", NUM32, AT(fw.tomb_ms), 0, RF_CTL_TIME_MAX_MS, NULL,
	 "After the end of a group of plain endpoints, their data is dropped until none has "
	 "arrived "
	 "for this long; 0: nothing is dropped."},
	{"box", "settle_ms", NUM32, AT(fw.settle_ms), 1, 10000, NULL,
	 "From a group's end until its slots are free: covers transfers in flight."},
	{"jobs", "keys", TEXT, AT(keys_file), 0, 0, NULL,
	 "File of the jobs' keys, with quotas and permitted addresses and ports "
	 "(docs/ringfoldd.md); "
	 "read again on SIGHUP. Empty: an open lab, anyone may command the box."},
	{"jobs", "lease_ms", NUM32, AT(fw.lease_ms), RF_CTL_TIME_MIN_MS, RF_CTL_TIME_MAX_MS, NULL,
	 "Lease of a rank that requests the default."},
	{"jobs", "linger_ms", NUM32, AT(fw.linger_ms), 0, RF_CTL_TIME_MAX_MS, NULL,
	 "How long a group that has ended is remembered, to answer late requests."},
	{"jobs", "nonce_ms", NUM32, AT(fw.nonce_ms), 100, RF_FW_NONCE_MS_MAX, NULL,
	 "Time for which a nonce is current; it is accepted for the same time again."},
	{"jobs", "share_max", NUM32, AT(fw.share_max), 0, 1024, NULL,
	 "Maximum number of lanes used by groups whose blocks of ports overlap; 0: no limit."},
	{"http", "listen", TEXT, AT(listen), 0, 0, NULL,
	 "ADDRESS:PORT of /metrics and the status page; \"off\": none."},
};

#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

void rfd_config_default(struct rfd_config *c)
{
	memset(c, 0, sizeof(*c));
	rf_fw_cfg_default(&c->fw);
	strcpy(c->interrupt, "uio");
	strcpy(c->port_ips, "next");
	strcpy(c->clock, "box");
	strcpy(c->listen, "127.0.0.1:9477");
	c->poll_us = 200;
}

static bool in_choice(const char *choice, const char *word)
{
	size_t len = strlen(word);

	while (choice) {
		if (strncmp(choice, word, len) == 0 && (choice[len] == '|' || !choice[len]))
			return len > 0;
		choice = strchr(choice, '|');
		choice = choice ? choice + 1 : NULL;
	}
	return false;
}

static bool set_number(const struct entry *e, uint32_t *to, const char *value)
{
	uint64_t n;
	const char *end = rf_number_read(value, &n);

	if (!end || *end != '\0' || n < e->min || n > e->max)
		return false;
	*to = (uint32_t)n;
	return true;
}

static bool set_mac(uint8_t *to, const char *value)
{
	uint8_t mac[6];

	if (!rf_mac_read(value, mac))
		return false;
	memcpy(to, mac, sizeof(mac));
	return true;
}

static bool set_ip(uint32_t *to, const char *value)
{
	struct in_addr ip;

	if (inet_pton(AF_INET, value, &ip) != 1)
		return false;
	*to = ntohl(ip.s_addr);
	/* 0.x, 127.x and addresses from multicast on do not belong to a host. */
	return *to >> 24 != 0 && *to >> 24 != 127 && *to >> 24 < 224;
}

/* "next", "none", or addresses and dashes with commas between them. */
static bool set_ports(struct rfd_config *c, const char *value)
{
	struct rf_fw_cfg *fw = &c->fw;
	bool next = strcmp(value, "next") == 0;
	unsigned int n = 0;

	if (strlen(value) >= sizeof(c->port_ips) || value[0] == '\0')
		return false;
	strcpy(c->port_ips, value);
	fw->port_list = !next;
	memset(fw->port_ip, 0, sizeof(fw->port_ip));
	if (next || strcmp(value, "none") == 0)
		return true;
	for (const char *p = value; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		char word[sizeof(c->port_ips)];
		size_t len;

		p += strspn(p, " ");
		len = strcspn(p, ", ");
		memcpy(word, p, len);
		word[len] = '\0';
		p += len + strspn(p + len, " ");
		if (n == RF_CTL_PORTS_MAX || len == 0 || (*p != '\0' && *p != ','))
			return false;
		if (strcmp(word, "-") != 0 && !set_ip(&fw->port_ip[n], word))
			return false;
		n++;
	}
	return true;
}

static bool set(const struct entry *e, struct rfd_config *c, const char *value)
{
	char *to = (char *)c + e->at;
	uint32_t number;

	switch (e->kind) {
	case TEXT:
	case WORD:
		if (strlen(value) >= e->size || (e->kind == WORD && !in_choice(e->choice, value)))
			return false;
		strcpy(to, value);
		return true;
	case NUM32:
		if (!set_number(e, &number, value))
			return false;
		memcpy(to, &number, sizeof(number));
		return true;
	case NUM8:
		if (!set_number(e, &number, value))
			return false;
		*(uint8_t *)to = (uint8_t)number;
		return true;
	case PORTS:
		return set_ports(c, value);
	case ADDR:
		if (!set_ip(&number, value))
			return false;
		memcpy(to, &number, sizeof(number));
		return true;
	default:
		return set_mac((uint8_t *)to, value);
	}
}

/* Describes the expected value. */
static void say_wrong(const struct entry *e, const char *value, char *why, size_t room)
{
	int n = snprintf(why, room, "%s = %.60s is not allowed: ", e->key, value);
	char *to = why + n;

	room -= (size_t)n;
	switch (e->kind) {
	case TEXT:
		snprintf(to, room, "expected at most %zu bytes", e->size - 1);
		break;
	case WORD:
		snprintf(to, room, "expected one of %s", e->choice);
		break;
	case NUM32:
	case NUM8:
		snprintf(to, room, "expected a whole number from %u to %u", (unsigned int)e->min,
			 (unsigned int)e->max);
		break;
	case PORTS:
		snprintf(to, room,
			 "expected next, none, or at most 8 dotted IPv4 addresses of hosts%s",
			 strchr(value, ':') ? "; ringfold has no IPv6" : "");
		break;
	case ADDR:
		snprintf(to, room, "expected a dotted IPv4 address of a host%s",
			 strchr(value, ':') ? "; ringfold has no IPv6" : "");
		break;
	default:
		snprintf(to, room, "expected six bytes, such as 02:00:00:00:00:10");
	}
}

struct load {
	FILE *file;
	struct rfd_config *c;
	int line;       /* the line last read */
	int wrong;      /* the line that text is about */
	char text[200]; /* what is wrong; empty: no error yet */
	bool seen[ENTRIES];
};

/*
 * Reads one line with its end. Returns its length, 0 at the end of the file; -1 with a text if the
 * line has no room or contains a NUL, which inih would take for another line or for its end.
 */
static int read_line(struct load *l, char *line, int room)
{
	int n = 0;
	int c;

	while ((c = getc(l->file)) != EOF) {
		if (c == '\0' || n == room - 1) {
			if (c == '\0')
				snprintf(l->text, sizeof(l->text), "a NUL byte");
			else
				snprintf(l->text, sizeof(l->text),
					 "the line is longer than %d bytes", room - 2);
			return -1;
		}
		line[n++] = (char)c;
		if (c == '\n')
			break;
	}
	line[n] = '\0';
	return n;
}

/* inih takes " ;" within a value for a comment. Whoever meant it as part of the value must know. */
static bool has_comment_inside(const char *line)
{
	const char *at = line + strspn(line, " \t");

	if (*at == ';' || *at == '#')
		return false;
	for (; *at; at++)
		if (*at == ';' && (at[-1] == ' ' || at[-1] == '\t'))
			return true;
	return false;
}

/*
 * A section name without keys causes no callback, so it is checked here, as are lines that inih
 * would cut. Reads no further line after a wrong one.
 */
static char *next_line(char *line, int room, void *arg)
{
	struct load *l = arg;
	const char *name;
	size_t len;
	int n;

	if (l->text[0])
		return NULL;
	n = read_line(l, line, room);
	if (n == 0)
		return NULL;
	l->line++;
	if (n > 0 && has_comment_inside(line))
		snprintf(
			l->text, sizeof(l->text),
			"\";\" after a space begins a comment: give the comment a line of its own");
	if (l->text[0]) {
		l->wrong = l->line;
		return NULL;
	}
	name = line + strspn(line, " \t");
	len = strcspn(name, "]");
	if (*name++ != '[' || name[len - 1] != ']')
		return line;
	len--;
	for (size_t i = 0; i < ENTRIES; i++)
		if (strlen(entries[i].section) == len && memcmp(entries[i].section, name, len) == 0)
			return line;
	snprintf(l->text, sizeof(l->text), "no such section: [%.*s]", len < 60 ? (int)len : 60,
		 name);
	l->wrong = l->line;
	return NULL;
}

/* Called for each key; returns 0 if it is wrong. */
static int on_key(void *arg, const char *section, const char *key, const char *value)
{
	struct load *l = arg;

	if (l->text[0])
		return 0;
	l->wrong = l->line;
	for (size_t i = 0; i < ENTRIES; i++) {
		const struct entry *e = &entries[i];

		if (strcmp(e->section, section) != 0 || strcmp(e->key, key) != 0)
			continue;
		if (l->seen[i]) {
			snprintf(l->text, sizeof(l->text), "%s is set twice", key);
			return 0;
		}
		l->seen[i] = true;
		l->c->in_file |= UINT32_C(1) << i;
		if (set(e, l->c, value))
			return 1;
		say_wrong(e, value, l->text, sizeof(l->text));
		return 0;
	}
	snprintf(l->text, sizeof(l->text), "no such key in [%.40s]: %.60s", section, key);
	return 0;
}

int rfd_config_load(struct rfd_config *c, const char *path, char *why, size_t room)
{
	struct load l = {.c = c, .file = fopen(path, "r")};
	struct stat st;
	int line;

	if (!l.file) {
		snprintf(why, room, "%s: %s", path, strerror(errno));
		return -1;
	}
	/* fopen() succeeds for a folder, which then reads as an empty file. */
	if (fstat(fileno(l.file), &st) == 0 && S_ISDIR(st.st_mode)) {
		snprintf(why, room, "%s: %s", path, strerror(EISDIR));
		fclose(l.file);
		return -1;
	}
	line = ini_parse_stream(next_line, &l, on_key, &l);
	if (line == 0 && !l.text[0] && ferror(l.file))
		line = -1;
	fclose(l.file);
	if (line == 0 && !l.text[0])
		return 0;
	if (line < 0)
		snprintf(why, room, "%s: cannot be read, or out of memory", path);
	else if (l.text[0] && (line == 0 || l.wrong <= line))
		snprintf(why, room, "%s:%d: %s", path, l.wrong, l.text);
	else
		snprintf(why, room, "%s:%d: expected [section], key = value or a comment", path,
			 line);
	return -1;
}

int rfd_config_check(const struct rfd_config *c, char *why, size_t room)
{
	static const uint8_t none[6];
	/* How many ports the box has is known when it is there. */
	unsigned int listed = c->fw.port_list ? RF_FW_PORTS : 0;

	why[0] = '\0';
	if (!c->registers[0])
		snprintf(why, room, "[box] registers is not set");
	else if (c->fw.ip == 0)
		snprintf(why, room, "[box] ip is not set");
	else if (memcmp(c->fw.mac, none, sizeof(none)) == 0)
		snprintf(why, room, "[box] mac is not set");
	else if ((c->fw.mac[0] & 1u) != 0 || c->fw.mac[5] > 0xf8)
		snprintf(why, room,
			 "[box] mac: not a valid base address (group bit set, or last byte above "
			 "f8)");
	else if (rf_fw_cfg_addresses(&c->fw, listed) != RF_FW_OK)
		snprintf(why, room, "[box] %s",
			 rf_fw_error_text(rf_fw_cfg_addresses(&c->fw, listed)));
	else if (strcmp(c->listen, "off") != 0 && !rf_web_valid(c->listen))
		snprintf(why, room, "[http] listen: \"%s\": expected ADDRESS:PORT or off",
			 c->listen);
	return why[0] ? -1 : 0;
}

static void print_value(const struct entry *e, const struct rfd_config *c)
{
	const char *at = (const char *)c + e->at;
	uint32_t number;

	if (e->kind == TEXT || e->kind == WORD || e->kind == PORTS) {
		printf("%s", at);
	} else if (e->kind == NUM32) {
		memcpy(&number, at, sizeof(number));
		printf("%u", (unsigned int)number);
	} else if (e->kind == NUM8) {
		printf("%u", (unsigned int)*(const uint8_t *)at);
	}
}

/* As print_value(), and addresses too, which have no default. */
static void show_value(const struct entry *e, const struct rfd_config *c)
{
	const uint8_t *at = (const uint8_t *)c + e->at;
	uint32_t ip;

	if (e->kind == ADDR) {
		memcpy(&ip, at, sizeof(ip));
		printf("%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
	} else if (e->kind == MAC) {
		printf("%02x:%02x:%02x:%02x:%02x:%02x", at[0], at[1], at[2], at[3], at[4], at[5]);
	} else {
		print_value(e, c);
	}
}

void rfd_config_show(const struct rfd_config *c, const char *path)
{
	_Static_assert(ENTRIES <= 32, "in_file has a bit for each setting");

	for (size_t i = 0; i < ENTRIES; i++) {
		const struct entry *e = &entries[i];
		bool is_set = (c->in_file >> i & 1u) != 0;

		printf("[%s] %-13s = ", e->section, e->key);
		if (is_set || (e->kind != ADDR && e->kind != MAC))
			show_value(e, c);
		printf("  (%s)\n", is_set ? path : "default");
	}
}

void rfd_config_print(void)
{
	struct rfd_config c;
	const char *section = "";

	rfd_config_default(&c);
	printf("# ringfoldd: all settings with their defaults. An unknown key is an error.\n");
	for (size_t i = 0; i < ENTRIES; i++) {
		const struct entry *e = &entries[i];
		const char *at = (const char *)&c + e->at;
		bool unset = e->kind == ADDR || e->kind == MAC || (e->kind == TEXT && !*at);

		if (strcmp(section, e->section) != 0)
			printf("\n[%s]\n", e->section);
		section = e->section;
		printf("# %s%s%s\n", e->text, e->choice ? " One of: " : "",
		       e->choice ? e->choice : "");
		/* A mandatory setting has no default to show. */
		printf("%s%s = ", unset ? "#" : "", e->key);
		print_value(e, &c);
		printf("\n");
	}
}
