#include "firmware/target/linux/hal.h"

uint32_t rf_hal_read(struct rf_hal *hal, uint32_t addr)
{
	return hal->read(hal->arg, addr);
}

void rf_hal_write(struct rf_hal *hal, uint32_t addr, uint32_t value)
{
	hal->write(hal->arg, addr, value);
}
