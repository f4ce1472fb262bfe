/*
 * Register access by callbacks: the simulator's bus, or mapped registers of a device.
 *
 *	static uint32_t bus_read(void *arg, uint32_t addr) { ... }
 *	static void bus_write(void *arg, uint32_t addr, uint32_t value) { ... }
 *	struct rf_hal hal = {engine, bus_read, bus_write};
 *	rf_fw_init(&fw, &hal, &cfg);
 */
#ifndef RF_FW_TARGET_LINUX_HAL_H
#define RF_FW_TARGET_LINUX_HAL_H

#include <stdint.h>

#include "firmware/hal/mmio.h"

struct rf_hal {
	void *arg; /* given to both; not owned */
	uint32_t (*read)(void *arg, uint32_t addr);
	void (*write)(void *arg, uint32_t addr, uint32_t value);
};

#endif
