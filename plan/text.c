#include "plan/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)1 << 30)

/* The position after a string whose opening quote is at `at`. */
static size_t skip_string(const char *text, size_t len, size_t at)
{
	for (at++; at < len && text[at] != '"'; at++)
		if (text[at] == '\\')
			at++;
	return at < len ? at + 1 : len;
}

static bool is_key(const char *text, size_t len, size_t end)
{
	while (end < len && strchr(" \t\r\n", text[end]))
		end++;
	return end < len && text[end] == ':';
}

int text_line(const char *text, size_t len, const char *key, int index)
{
	size_t key_len = strlen(key);
	int line = 1;
	int depth = 0;
	int elements = -1;     /* index of the latest element of the array; -1: none yet */
	bool inside = false;   /* inside the value of the key */
	bool expected = false; /* the next value begins an element */

	for (size_t at = 0; at < len;) {
		char c = text[at];
		bool opens = c == '{' || c == '[';
		bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';

		if (inside && expected && depth == 2 && !blank && c != ']') {
			expected = false;
			if (++elements == index)
				return line;
		}
		if (c == '"') {
			size_t end = skip_string(text, len, at);

			if (depth == 1 && end - at == key_len + 2 &&
			    memcmp(text + at + 1, key, key_len) == 0 && is_key(text, len, end)) {
				inside = true;
				if (index < 0)
					return line;
			}
			at = end;
			continue;
		}
		line += c == '\n';
		depth += opens;
		expected = expected || (depth == 2 && (c == '[' || c == ','));
		depth -= c == '}' || c == ']';
		if (depth == 1 && (c == ',' || c == ']'))
			inside = false;
		at++;
	}
	return 1;
}

int text_refuse(struct text_source *s, const char *key, int index, const char *format, ...)
{
	char reason[256];
	va_list list;

	va_start(list, format);
	vsnprintf(reason, sizeof(reason), format, list);
	va_end(list);
	return topo_refuse(s->e, -1, -1, "%s:%d: %s", s->file,
			   text_line(s->text, s->len, key, index), reason);
}

int text_check_keys(struct text_source *s, const char *array, int index, json_t *object,
		    const char *const *known)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		size_t k = 0;

		while (known[k] && strcmp(known[k], key) != 0)
			k++;
		if (!known[k])
			return text_refuse(s, array ? array : key, index, "unknown key \"%s\"",
					   key);
	}
	return 0;
}

/* The latest key that begins before a position; with its quotes. "" if there is none. */
static void find_key(const struct text_source *s, size_t before, char *key, size_t room)
{
	*key = '\0';
	for (size_t at = 0; at < before && at < s->len; at++) {
		size_t end;

		if (s->text[at] != '"')
			continue;
		end = skip_string(s->text, s->len, at);
		if (is_key(s->text, s->len, end) && end - at < room)
			snprintf(key, room, "%.*s", (int)(end - at), s->text + at);
		at = end - 1;
	}
}

/* A number that does not fit; jansson names the number, but not its key. */
static void refuse_number(const struct text_source *s, const json_error_t *at)
{
	bool whole = strstr(at->text, "integer") != NULL;
	char key[80];

	find_key(s, at->position > 0 ? (size_t)at->position : 0, key, sizeof(key));
	topo_refuse(
		s->e, -1, -1, "%s:%d: %s: %s%s", s->file, at->line > 0 ? at->line : 1,
		*key ? key : "a number", at->text,
		whole ? "; a whole number above 9223372036854775807 needs an exponent, such as 1e30"
		      : "");
}

json_t *text_json(const struct text_source *s)
{
	json_error_t at;
	json_t *root = json_loadb(s->text, s->len, JSON_REJECT_DUPLICATES, &at);

	if (!root && json_error_code(&at) == json_error_numeric_overflow)
		refuse_number(s, &at);
	else if (!root)
		topo_refuse(s->e, -1, -1, "%s:%d: %s", s->file, at.line > 0 ? at.line : 1,
			    *at.text ? at.text : "out of memory");
	return root;
}

char *text_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	size_t room = 0;
	size_t have = 0;
	int saved;

	if (!f)
		return NULL;
	for (;;) {
		size_t n;

		if (room - have < 4096) {
			char *more = room < FILE_MAX ? realloc(text, room = room ? 2 * room : 65536)
						     : NULL;

			if (!more)
				goto failed;
			text = more;
		}
		n = fread(text + have, 1, room - have - 1, f);
		have += n;
		if (n == 0)
			break;
	}
	if (ferror(f))
		goto failed;
	fclose(f);
	text[have] = '\0';
	*len = have;
	return text;
failed:
	saved = errno ? errno : EFBIG;
	fclose(f);
	free(text);
	errno = saved;
	return NULL;
}
