/*
 * Settings of ringfoldd: one table defines the parser, the help and the commented file that is part
 * of the package.
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
	char port_ips[160]; /* as in the file; fw.port_list and fw.port_ip have the meaning */
	uint32_t poll_us;
	struct rf_fw_cfg fw; /* without keys, epoch and salt */
	uint32_t in_file;    /* a bit for each setting that was read from the file */
};

void rfd_config_default(struct rfd_config *c);

/*
 * Reads an INI file over the defaults. Returns 0, or -1 with a reason in why: "FILE:LINE: ...". A
 * section or key that is not in the table is an error.
 */
int rfd_config_load(struct rfd_config *c, const char *path, char *why, size_t room);

/* Checks mandatory settings and combinations; as above but without a line number. */
int rfd_config_check(const struct rfd_config *c, char *why, size_t room);

/* Prints the commented file with all defaults to stdout. */
void rfd_config_print(void);

/* Prints every setting in force and where it comes from: the file or the default. */
void rfd_config_show(const struct rfd_config *c, const char *path);

#endif
