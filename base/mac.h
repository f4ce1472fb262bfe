/* Ethernet addresses in options and settings. */
#ifndef RF_BASE_MAC_H
#define RF_BASE_MAC_H

#include <stdbool.h>
#include <stdint.h>

/* The value of a hexadecimal digit, or -1. */
static inline int rf_mac_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads "02:52:46:00:00:10": six times two digits, and nothing else. False: it is not that. */
static inline bool rf_mac_read(const char *text, uint8_t mac[6])
{
	for (unsigned int i = 0; i < 6; i++) {
		int high = rf_mac_digit(text[0]);
		int low = high < 0 ? -1 : rf_mac_digit(text[1]);

		if (low < 0 || text[2] != (i < 5 ? ':' : '\0'))
			return false;
		mac[i] = (uint8_t)(high << 4 | low);
		text += 3;
	}
	return true;
}

/* Whether one interface can have the address: it is not zero, and no group's. */
static inline bool rf_mac_is_host(const uint8_t mac[6])
{
	return (mac[0] & 1u) == 0 && (mac[0] | mac[1] | mac[2] | mac[3] | mac[4] | mac[5]) != 0;
}

#endif
