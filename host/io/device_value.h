/* The text that names a DPDK device: "net_memif0,role=client,id=0,...". */
#ifndef RF_IO_DEVICE_VALUE_H
#define RF_IO_DEVICE_VALUE_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the value of ",key=value". False, and "", if it is absent or too long for value[room]. */
bool rf_device_value(const char *device, const char *key, char *value, size_t room);

#endif
