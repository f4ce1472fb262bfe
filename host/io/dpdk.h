/*
 * The plug-in for DPDK: the one object that needs DPDK's libraries. dpdk_load.c loads it when the
 * first DPDK device is opened, so programs that use an RDMA NIC need no DPDK.
 */
#ifndef RF_IO_DPDK_H
#define RF_IO_DPDK_H

#include "host/io/io.h"
#include "ringfold/ringfold.h"

/* The plug-in, in the folder "ringfold" beside the library, or "../lib/ringfold" of a program. */
#define RF_IO_DPDK_FILE "io_dpdk.so"
#define RF_IO_DPDK_SYMBOL "rf_io_dpdk_plugin"
/* Library and plug-in must be of one version, because they share struct rf_io. */
#define RF_IO_DPDK_VERSION                                                                         \
	((uint32_t)RF_VERSION_MAJOR << 16 | (uint32_t)RF_VERSION_MINOR << 8 | RF_VERSION_PATCH)

struct rf_io_dpdk {
	uint32_t version; /* RF_IO_DPDK_VERSION */
	uint32_t io_size; /* sizeof(struct rf_io) */
	/* As rf_io_dpdk_open(). */
	int (*open)(const struct rf_io_dpdk_cfg *cfg, struct rf_io **io, char *why, size_t room);
};

extern const struct rf_io_dpdk rf_io_dpdk_plugin;

#endif
