/* Ports that the kernel provides: unix datagram sockets, tap, AF_PACKET. See rf_rt_port_open(). */
#ifndef RF_SIM_REALTIME_PORT_KERNEL_H
#define RF_SIM_REALTIME_PORT_KERNEL_H

#include "sim/realtime/port.h"

/*
 * Each gives 0, or -1 with a reason in why.
 *
 * dgram: one frame is one datagram. Bound to `path`; frames go to the socket at `to`, whether it
 * is there already or not. An abandoned socket at `path` is replaced.
 */
int rf_rt_open_dgram(const char *path, const char *to, struct rf_rt_port **out, char *why,
		     size_t room);
/* The tap interface `name`, made where it does not exist, and then gone with the box. */
int rf_rt_open_tap(const char *name, struct rf_rt_port **out, char *why, size_t room);
/*
 * All frames of the interface `name`, promiscuously. A frame of which the sender left the checksum
 * to the hardware is completed; one that it left to be cut into segments is dropped and told.
 */
int rf_rt_open_packet(const char *name, struct rf_rt_port **out, char *why, size_t room);

#endif
