/*
 * The only two functions through which the firmware touches hardware.
 *
 * Each target supplies them, and the struct that the pointer refers to: mapped registers on a
 * board, callbacks in the simulator (firmware/target/linux/hal.h), a queue of expected accesses in
 * unit tests. Addresses are byte addresses of rtl/control/registers.txt (multiples of 4); values
 * are plain numbers.
 */
#ifndef RF_FW_MMIO_H
#define RF_FW_MMIO_H

#include <stdint.h>

struct rf_hal;

uint32_t rf_hal_read(struct rf_hal *hal, uint32_t addr);
void rf_hal_write(struct rf_hal *hal, uint32_t addr, uint32_t value);

#endif
