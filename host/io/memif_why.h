/* Finds out why a memif client has no link. */
#ifndef RF_HOST_MEMIF_WHY_H
#define RF_HOST_MEMIF_WHY_H

#include <stddef.h>

/*
 * Connects to the other end of a DPDK device
 * "net_memif0,role=client,id=N,socket=PATH,socket-abstract=no" as another client, and writes the
 * cause into why as part of a sentence. Takes a second at most. Returns 0, or -1 if the device is
 * not of this form or the cause is unknown.
 */
int rf_memif_why(const char *device, char *why, size_t room);

#endif
