/* What must be new at each start of the box: epoch and salt, from the system's random numbers. */
#ifndef RF_FW_TARGET_LINUX_FRESH_H
#define RF_FW_TARGET_LINUX_FRESH_H

#include "firmware/core/fw.h"

/* Fills cfg->epoch and cfg->salt. 0, or -1 with errno: the system has no random numbers. */
int rf_fresh(struct rf_fw_cfg *cfg);

#endif
