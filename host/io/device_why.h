/* Why a device cannot be opened, if that can be seen before DPDK tries: its own reasons are
 * numbers. */
#ifndef RF_IO_DEVICE_WHY_H
#define RF_IO_DEVICE_WHY_H

#include <stdbool.h>
#include <stddef.h>

/* Returns 0 with a text in why[room], or -1 if nothing speaks against the device. */
int rf_device_why(const char *device, char *why, size_t room);

/* Whether this machine has reserved hugepages, which DPDK needs for a NIC. */
bool rf_hugepages(void);

#endif
