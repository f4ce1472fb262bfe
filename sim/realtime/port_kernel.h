/* Ports that the kernel provides: unix datagram sockets, tap, AF_PACKET. See rf_rt_port_open(). */
#ifndef RF_SIM_REALTIME_PORT_KERNEL_H
#define RF_SIM_REALTIME_PORT_KERNEL_H

#include "sim/realtime/port.h"

/* A specification, taken apart. */
struct rf_rt_spec {
	const char *name;  /* of the port */
	const char *what;  /* behind the kind: a path, an interface */
	const char *value; /* of the option that is the kind's own; NULL where it is not given */
};

/*
 * Each gives what rf_rt_port_open() gives.
 *
 * dgram: one frame is one datagram. Bound to the path `what`; frames go to the socket at `value`,
 * whether it is there already or not. An abandoned socket at `what` is replaced.
 */
int rf_rt_open_dgram(const struct rf_rt_spec *s, struct rf_rt_port **out, char *why, size_t room);
/* The tap interface `what`, made where it does not exist, and then gone with the box. */
int rf_rt_open_tap(const struct rf_rt_spec *s, struct rf_rt_port **out, char *why, size_t room);
/*
 * All frames of the interface `what`, promiscuously. A frame of which the sender left the checksum
 * to the hardware is completed; one that it left to be cut into segments is dropped and told.
 */
int rf_rt_open_packet(const struct rf_rt_spec *s, struct rf_rt_port **out, char *why, size_t room);

#endif
