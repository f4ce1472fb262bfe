/* JSON objects whose parts may fail for lack of memory; one check at the end. */
#ifndef RF_SERVICE_JSON_H
#define RF_SERVICE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* An object under construction; bad: out of memory, the object is incomplete. */
struct rf_json {
	json_t *json;
	bool bad;
};

static inline struct rf_json rf_json_object(void)
{
	json_t *json = json_object();

	return (struct rf_json){.json = json, .bad = !json};
}

/* Takes the value; NULL: there was no memory for it. */
static inline void rf_json_put(struct rf_json *o, const char *name, json_t *value)
{
	if (json_object_set_new(o->json, name, value) != 0)
		o->bad = true;
}

static inline void rf_json_number(struct rf_json *o, const char *name, uint64_t value)
{
	rf_json_put(o, name, json_integer((json_int_t)value));
}

static inline void rf_json_bool(struct rf_json *o, const char *name, bool value)
{
	rf_json_put(o, name, json_boolean(value));
}

static inline void rf_json_text(struct rf_json *o, const char *name, const char *text)
{
	rf_json_put(o, name, json_string(text));
}

/* The object, or NULL if a part of it is missing. */
static inline json_t *rf_json_finish(struct rf_json *o)
{
	if (o->bad) {
		json_decref(o->json);
		return NULL;
	}
	return o->json;
}

/* Appends and takes a value. False: out of memory. */
static inline bool rf_json_append(json_t *array, json_t *value)
{
	return json_array_append_new(array, value) == 0;
}

/* The array, or NULL if !good. */
static inline json_t *rf_json_finish_array(json_t *array, bool good)
{
	if (!good) {
		json_decref(array);
		return NULL;
	}
	return array;
}

#endif
