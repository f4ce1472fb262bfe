/* Settings from the environment: one table, which is also checked against docs/api.md. */
#ifndef RF_BOOTSTRAP_SETTINGS_H
#define RF_BOOTSTRAP_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

struct rf_setting {
	const char *name;
	const char *value; /* default as text; "" for none */
	const char *meaning;
};

/* Ends with name = NULL. */
extern const struct rf_setting rf_settings[];

/* The value of a setting, or its default if the variable is absent or empty. Never NULL. */
const char *rf_setting_text(const char *name);

/*
 * The setting that the variable `name` was probably meant to be; NULL if it is a setting, or like
 * none.
 */
const char *rf_setting_meant(const char *name);

/*
 * Calls warn(arg, text), once in a process, for each variable that is like a setting but is none:
 * it would be ignored without a word. Values are not in the text.
 */
void rf_settings_warn(void (*warn)(void *arg, const char *text), void *arg);

/*
 * Parses a whole number in [min, max]; K, M and G multiply by 2^10, 2^20 and 2^30. Returns 0, or
 * RF_ERR_INVALID with a text in why[room].
 */
int rf_setting_number(const char *name, uint64_t min, uint64_t max, uint64_t *value, char *why,
		      size_t room);

/* As rf_setting_number(), for a text that did not come from the environment. */
int rf_number_parse(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *value,
		    char *why, size_t room);

/* Converts a dotted IPv4 address to host order. Returns 0, or RF_ERR_INVALID with a text. */
int rf_ip_parse(const char *what, const char *text, uint32_t *ip, char *why, size_t room);

/* Parses exactly n bytes as 2n hex digits. Returns 0, or RF_ERR_INVALID with a text. */
int rf_hex_parse(const char *what, const char *text, uint8_t *bytes, size_t n, char *why,
		 size_t room);

/* Formats an address in host order as dotted text in buf[16]; returns buf. */
char *rf_ip_text(uint32_t ip, char buf[16]);

/* Copies a text and replaces the first %r by the rank. Cut at room. */
void rf_rank_text(const char *text, unsigned int rank, char *to, size_t room);

#endif
