/*
 * Where in a JSON text something stands: the JSON library knows it for syntax errors only.
 */
#ifndef RF_PLANNER_TEXTLINE_H
#define RF_PLANNER_TEXTLINE_H

#include <stddef.h>

/*
 * The line, from 1, on which element `index` of the array under the key `key` of the outermost
 * object begins; index -1: the line of the key. 1 where there is no such place. The text must be
 * valid JSON.
 */
int text_line(const char *text, size_t len, const char *key, int index);

/* The whole file, with a zero byte behind it that *len does not count; NULL with errno. The caller
 * frees. */
char *text_file(const char *path, size_t *len);

#endif
