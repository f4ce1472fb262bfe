/*
 * What is shown of a box: the registers, the firmware if its memory is at hand, and what a
 * simulated box knows in addition. The program that serves the page fills it in.
 */
#ifndef RF_SERVICE_VIEW_H
#define RF_SERVICE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/core/fw.h"
#include "firmware/target/linux/hal.h"

#define RF_VIEW_EVENTS 50u

/* A device attached to a simulated switch, or directly to a port of the box. */
struct rf_view_host {
	char name[32]; /* printable ASCII */
	unsigned box;  /* the port of the box to which it leads */
	bool direct;   /* it is at that port, without the switch */
	bool rule;     /* the switch port has the rule */
	int link;      /* 1: a host is connected, 0: none is, -1: the device does not know */
	uint64_t rx_frames, rx_bytes; /* from it */
	uint64_t tx_frames, tx_bytes; /* to it */
	uint64_t lost;                /* frames to it for which it had no room */
	uint64_t too_long;            /* frames from it longer than the box allows, dropped */
};

struct rf_view_event {
	uint32_t number; /* counts up */
	uint64_t ms;     /* since the start */
	bool bad;
	bool host;      /* about a host; false: about a group, which the firmware logs too */
	char text[200]; /* printable ASCII */
};

struct rf_view {
	const char *program; /* "ringfoldd", "ringfold box" */
	const char *about;   /* one line about the box, or NULL */
	struct rf_hal *hal;
	struct rf_fw *fw;    /* NULL: its memory is in another processor */
	unsigned ports;      /* fw NULL: how many */
	uint64_t started_ns; /* rf_now_ns() of the start */
	/* Counter n of page FIRMWARE; NULL: rf_fw_counter(). */
	uint32_t (*counter)(void *arg, unsigned n);
	/*
	 * What only a simulated box knows; NULL otherwise. Each writes at most room entries and
	 * returns how many.
	 */
	size_t (*hosts)(void *arg, struct rf_view_host *to, size_t room);
	size_t (*events)(void *arg, struct rf_view_event *to, size_t room);
	/* The name of the host with a MAC address; NULL: unknown. */
	const char *(*host_of)(void *arg, const uint8_t *mac);
	/* Bytes into and out of a port of the box. */
	void (*bytes)(void *arg, unsigned port, uint64_t *in, uint64_t *out);
	void *arg;
};

/* Replaces all but printable ASCII by '?'. */
static inline void rf_view_clean(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

#endif
