/* An in-process Ethernet for tests. */
#ifndef TESTS_IO_HUB_H
#define TESTS_IO_HUB_H

#include "base/guard.h"
#include "host/io/io.h"

/*
 * An Ethernet switch without a box in one process: `ports` ends, frames go by destination MAC of
 * the ends, which are 02:00:00:00:00:<port + 1>. Each end is used by one thread at a
 * time; the hub lives until destroyed, after its ends are closed.
 */
struct rf_io_hub;
RF_LOCK_CLASS(rf_hub_class); /* the lock of a hub */
struct rf_io_hub *rf_io_hub_create(unsigned int ports, uint32_t frame_max);
void rf_io_hub_destroy(struct rf_io_hub *hub);
/* Opens an end; NULL if it is already open or memory is exhausted. */
struct rf_io *rf_io_hub_open(struct rf_io_hub *hub, unsigned int port);
/*
 * A hook in the middle: called under the hub's lock for each frame that an end sends, instead of
 * forwarding by MAC. It calls rf_io_hub_deliver() for each frame that should arrive. NULL:
 * forwarding by MAC.
 */
typedef void rf_io_hub_box(void *arg, unsigned int from, const uint8_t *frame, uint32_t len);
void rf_io_hub_set_box(struct rf_io_hub *hub, rf_io_hub_box *box, void *arg);
/* Puts a copy of a frame into an end's queue; false if it was full (the frame is lost). */
bool rf_io_hub_deliver(struct rf_io_hub *hub, unsigned int to, const uint8_t *frame, uint32_t len)
	RF_REQUIRES(rf_hub_class);
/* The end with this MAC, or -1. */
int rf_io_hub_find(const struct rf_io_hub *hub, const uint8_t mac[6]);

#endif
