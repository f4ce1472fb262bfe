/* Why a memif client has no link. */
#ifndef RF_HOST_MEMIF_WHY_H
#define RF_HOST_MEMIF_WHY_H

#include <stddef.h>

/*
 * Asks the other end of a DPDK device "net_memif0,role=client,id=N,socket=PATH,socket-abstract=no"
 * as one more client would, and writes half a sentence into why. Takes a second at most. 0, or -1
 * where the device is none of these or nothing can be said.
 */
int rf_memif_why(const char *device, char *why, size_t room);

#endif
