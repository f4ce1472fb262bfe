/*
 * Draws epoch and salt, which must be new at each start of the box, from the system's random
 * numbers.
 */
#ifndef RF_FW_TARGET_LINUX_FRESH_H
#define RF_FW_TARGET_LINUX_FRESH_H

#include "firmware/core/fw.h"

/*
 * Fills cfg->epoch and cfg->salt. Returns 0, or -1 with errno if the system has no random numbers.
 */
int rf_fresh(struct rf_fw_cfg *cfg);

#endif
