#include "firmware/target/linux/keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "proto/rf_number.h"

#define LINE_ROOM 256u

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
		return "the key has not 32 digits";
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
		return "a number is not allowed";
	return NULL;
}

static const char *parse_limit(const char *word, struct rf_fw_key *k)
{
	uint64_t value = 0;
	const char *bad;

	if (strncmp(word, "groups=", 7) == 0) {
		bad = parse_number(word + 7, UINT32_MAX, &value);
		k->groups = (uint32_t)value;
	} else if (strncmp(word, "slots=", 6) == 0) {
		bad = parse_number(word + 6, UINT32_MAX, &value);
		k->slots = (uint32_t)value;
	} else {
		return "unknown word behind the key (groups=N, slots=N)";
	}
	return bad ? bad : value == 0 ? "a limit of 0" : NULL;
}

/* One line that holds a key. NULL or what is wrong with it. */
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
		bad = parse_limit(word, k);
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
		snprintf(why, room, "%s: %s", path, ferror(f) ? strerror(errno) : "no key in it");
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
		snprintf(why, room, "%s: everybody can read or write it (chmod o= %s)", path, path);
		n = -1;
	} else {
		n = read_all(f, path, keys, max, why, room);
	}
	fclose(f);
	return n;
}
