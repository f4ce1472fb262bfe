/*
 * Settings of ringfoldd: one table makes the parser, the help and the commented file that comes
 * with the package.
 */
#ifndef RF_RINGFOLDD_CONFIG_H
#define RF_RINGFOLDD_CONFIG_H

#include "firmware/core/fw.h"

#define RFD_PATH_ROOM 256u
#define RFD_KEYS_MAX 256u

struct rfd_config {
	char registers[RFD_PATH_ROOM];
	char interrupt[16]; /* uio, poll */
	char clock[16];     /* box, host */
	char keys_file[RFD_PATH_ROOM];
	char listen[64];
	uint32_t poll_us;
	struct rf_fw_cfg fw; /* without keys, epoch and salt */
};

void rfd_config_default(struct rfd_config *c);

/*
 * Reads an INI file over the defaults. 0, or -1 with a reason in why: "FILE:LINE: ...". A section
 * or key that is not in the table is an error.
 */
int rfd_config_load(struct rfd_config *c, const char *path, char *why, size_t room);

/* What must be set and what must fit together; as above without a line. */
int rfd_config_check(const struct rfd_config *c, char *why, size_t room);

/* The commented file with all defaults, on stdout. */
void rfd_config_print(void);

#endif
