/*
 * Finds the line of an element of a JSON text, because the JSON library reports lines for syntax
 * errors only. Builds error messages that name the file and the line.
 */
#ifndef RF_PLAN_TEXT_H
#define RF_PLAN_TEXT_H

#include <jansson.h>
#include <stddef.h>

#include "plan/topology.h"

/* A text that is being read. The struct owns nothing. */
struct text_source {
	const char *text;
	size_t len;
	const char *file; /* name of the file in messages */
	struct topo_error *e;
};

/*
 * The line, from 1, on which element `index` of the array under the key `key` of the outermost
 * object begins; index -1: the line of the key. 1 if the text has no such element. The text must be
 * valid JSON.
 */
int text_line(const char *text, size_t len, const char *key, int index);

/*
 * Reports an error in element `index` of the array under `key`, or in the key itself with index -1:
 * fills s->e. Returns -1.
 */
int text_refuse(struct text_source *s, const char *key, int index, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Reports an error if the object has a key that is not in the list `known`, which NULL ends. The
 * object is element `index` of the array under `array`, or, with array NULL and index -1, the
 * outermost object. Returns 0 or -1.
 */
int text_check_keys(struct text_source *s, const char *array, int index, json_t *object,
		    const char *const *known);

/* Parses the text; the caller owns the result. NULL: s->e names the line of the error. */
json_t *text_json(const struct text_source *s);

/*
 * Reads the whole file and appends a zero byte, which *len does not count. NULL with errno. The
 * caller frees.
 */
char *text_file(const char *path, size_t *len);

#endif
