/* Ports that the kernel provides: unix datagram sockets, tap, AF_PACKET. See rf_rt_port_open(). */
#ifndef RF_SIM_REALTIME_PORT_KERNEL_H
#define RF_SIM_REALTIME_PORT_KERNEL_H

#include "sim/realtime/port.h"

/* A parsed specification. */
struct rf_rt_spec {
	const char *name;  /* of the port */
	const char *what;  /* after the kind: a path, an interface */
	const char *value; /* value of the option specific to the kind; NULL if absent */
};

/*
 * All return what rf_rt_port_open() returns.
 *
 * dgram: one frame is one datagram. Bound to the path `what`; frames go to the socket at `value`,
 * whether or not it exists already. An abandoned socket at `what` is replaced.
 */
int rf_rt_open_dgram(const struct rf_rt_spec *s, struct rf_rt_port **out, char *why, size_t room);
/* The tap interface `what`, created if it does not exist; a created one disappears with the box. */
int rf_rt_open_tap(const struct rf_rt_spec *s, struct rf_rt_port **out, char *why, size_t room);
/*
 * All frames of the interface `what`, in promiscuous mode. A frame whose checksum the sender left
 * to the hardware is completed; one that still needs segmentation is dropped and logged.
 */
int rf_rt_open_packet(const struct rf_rt_spec *s, struct rf_rt_port **out, char *why, size_t room);

#endif
