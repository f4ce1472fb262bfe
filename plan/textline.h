/*
 * Where in a JSON text something stands: the JSON library knows it for syntax errors only. Refusals
 * that name the file and the line.
 */
#ifndef RF_PLANNER_TEXTLINE_H
#define RF_PLANNER_TEXTLINE_H

#include <jansson.h>
#include <stddef.h>

#include "plan/topology.h"

/* A text that is being read. Nothing here is owned. */
struct text_source {
	const char *text;
	size_t len;
	const char *file; /* as messages name it */
	struct topo_error *e;
};

/*
 * The line, from 1, on which element `index` of the array under the key `key` of the outermost
 * object begins; index -1: the line of the key. 1 where there is no such place. The text must be
 * valid JSON.
 */
int text_line(const char *text, size_t len, const char *key, int index);

/* Refuses element `index` of the array under `key`, or the key itself with index -1: fills s->e.
 * Returns -1. */
int text_refuse(struct text_source *s, const char *key, int index, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Refuses a key of the object that is not in the list, which NULL ends. The object is element
 * `index` of the array under `array`, or with NULL the outermost one (index -1). 0 or -1. */
int text_check_keys(struct text_source *s, const char *array, int index, json_t *object,
		    const char *const *known);

/* The text as JSON, or NULL and s->e names the line. The caller owns it. */
json_t *text_json(const struct text_source *s);

/* The whole file, with a zero byte behind it that *len does not count; NULL with errno. The caller
 * frees. */
char *text_file(const char *path, size_t *len);

#endif
