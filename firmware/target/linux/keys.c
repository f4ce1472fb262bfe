#include "firmware/target/linux/keys.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/rf_number.h"

#define LINE_ROOM 512u

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static const char *parse_key(const char *word, uint8_t *key)
{
	if (strlen(word) != 2u * RF_CTL_KEY_BYTES)
		return "the key does not have 32 digits";
	for (unsigned int i = 0; i < RF_CTL_KEY_BYTES; i++) {
		int high = digit(word[2u * i]), low = digit(word[2u * i + 1u]);

		if (high < 0 || low < 0)
			return "the key is not hexadecimal";
		key[i] = (uint8_t)(high << 4 | low);
	}
	return NULL;
}

static const char *parse_number(const char *word, uint64_t max, uint64_t *value)
{
	const char *end = rf_number_read(word, value);

	if (!end || *end != '\0' || *value > max)
		return "a number is out of range or malformed";
	return NULL;
}

/* A number of bytes; K, M and G are powers of 1024. */
static const char *parse_bytes(const char *word, uint64_t *value)
{
	static const char letters[] = "KMG";
	const char *end = rf_number_read(word, value);
	const char *letter = end && *end ? strchr(letters, *end) : NULL;

	if (!letter)
		return parse_number(word, UINT32_MAX - 1u, value);
	if (end[1] != '\0' || *value > UINT32_MAX)
		return "a number is out of range or malformed";
	*value <<= 10 * (letter - letters + 1);
	return *value < UINT32_MAX ? NULL : "a number is out of range or malformed";
}

/* "0,2-3": a bit per port. */
static const char *parse_ports(const char *word, uint8_t *ports)
{
	static const char bad[] = "ports=: numbers from 0 to 7 or ranges of them, with commas";
	uint64_t first, last;

	if (*ports != 0)
		return "a second ports=";
	for (;; word++) {
		word = rf_number_read(word, &first);
		last = first;
		if (word && *word == '-')
			word = rf_number_read(word + 1, &last);
		if (!word || last < first || last >= RF_CTL_PORTS_MAX)
			return bad;
		for (; first <= last; first++)
			*ports |= (uint8_t)(1u << first);
		if (*word == '\0')
			return NULL;
		if (*word != ',')
			return bad;
	}
}

/* "10.0.0.0/24,10.0.1.7" */
static const char *parse_ips(char *list, struct rf_fw_key *k)
{
	static const char bad[] = "ips=: addresses or prefixes (10.0.0.0/24) with commas";
	char *rest, *word = strtok_r(list, ",", &rest);

	if (k->ips != 0)
		return "a second ips=";
	if (!word)
		return bad;
	for (; word; word = strtok_r(NULL, ",", &rest)) {
		char *slash = strchr(word, '/');
		uint64_t bits = 32;
		struct in_addr ip;

		if (slash)
			*slash = '\0';
		if (inet_pton(AF_INET, word, &ip) != 1 ||
		    (slash && parse_number(slash + 1, 32, &bits)))
			return bad;
		if (ntohl(ip.s_addr) & ~rf_fw_prefix_mask((unsigned int)bits))
			return "ips=: a prefix has bits set after its length";
		if (k->ips == RF_FW_KEY_IPS)
			return "ips=: more than 8";
		k->ip[k->ips].ip = ntohl(ip.s_addr);
		k->ip[k->ips++].bits = (uint8_t)bits;
	}
	return NULL;
}

static const char *parse_word(char *word, struct rf_fw_key *k)
{
	const struct {
		const char *name;
		uint32_t *limit;
	} limits[] = {{"groups=", &k->most.groups},
		      {"slots=", &k->most.slots},
		      {"ranks=", &k->most.ranks},
		      {"entries=", &k->most.entries},
		      {"bytes=", &k->most.bytes}};
	uint64_t value = 0;
	const char *bad;

	if (strncmp(word, "ips=", 4) == 0)
		return parse_ips(word + 4, k);
	if (strncmp(word, "ports=", 6) == 0)
		return parse_ports(word + 6, &k->ports);
	for (unsigned int i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		size_t len = strlen(limits[i].name);

		if (strncmp(word, limits[i].name, len) != 0)
			continue;
		if (*limits[i].limit != 0)
			return "a limit twice";
		bad = limits[i].limit == &k->most.bytes
			      ? parse_bytes(word + len, &value)
			      : parse_number(word + len, UINT32_MAX - 1u, &value);
		*limits[i].limit = (uint32_t)value;
		return bad ? bad : value == 0 ? "a limit of 0" : NULL;
	}
	return "unknown word after the key (groups=N, slots=N, ranks=N, entries=N, bytes=N, "
	       "ips=LIST, ports=LIST)";
}

/* Parses one line that holds a key. Returns NULL, or a description of the error. */
static const char *parse_line(char *line, struct rf_fw_key *k)
{
	static const char blank[] = " \t\r\n";
	char *rest, *word = strtok_r(line, blank, &rest);
	const char *bad = parse_number(word, UINT64_MAX, &k->job);

	if (bad)
		return bad;
	word = strtok_r(NULL, blank, &rest);
	if (!word)
		return "a job without a key";
	bad = parse_key(word, k->key);
	while (!bad && (word = strtok_r(NULL, blank, &rest)) != NULL)
		bad = parse_word(word, k);
	return bad;
}

static const char *add(struct rf_fw_key *keys, unsigned int n, unsigned int max, char *line)
{
	struct rf_fw_key k = {0};
	const char *bad = n < max ? parse_line(line, &k) : "more keys than the box has room for";

	for (unsigned int i = 0; !bad && i < n; i++)
		if (keys[i].job == k.job)
			bad = "a second key for this job";
	if (!bad)
		keys[n] = k;
	return bad;
}

static int read_all(FILE *f, const char *path, struct rf_fw_key *keys, unsigned int max, char *why,
		    size_t room)
{
	char line[LINE_ROOM];
	unsigned int n = 0, number = 0;

	while (fgets(line, sizeof(line), f)) {
		const char *bad = NULL;
		char *text = line + strspn(line, " \t\r\n");

		number++;
		if (!strchr(line, '\n') && !feof(f))
			bad = "the line is too long";
		else if (*text != '\0' && *text != '#')
			bad = add(keys, n++, max, text);
		if (bad) {
			snprintf(why, room, "%s:%u: %s", path, number, bad);
			return -1;
		}
	}
	if (ferror(f) || n == 0) {
		snprintf(why, room, "%s: %s", path,
			 ferror(f) ? strerror(errno) : "the file contains no key");
		return -1;
	}
	return (int)n;
}

int rf_keys_load(const char *path, struct rf_fw_key *keys, unsigned int max, char *why, size_t room)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	int n;

	if (!f) {
		snprintf(why, room, "%s: %s", path, strerror(errno));
		return -1;
	}
	if (fstat(fileno(f), &st) == 0 && (st.st_mode & 07) != 0) {
		snprintf(why, room, "%s: all users can read or write it (chmod o= %s)", path, path);
		n = -1;
	} else {
		n = read_all(f, path, keys, max, why, room);
	}
	fclose(f);
	return n;
}
