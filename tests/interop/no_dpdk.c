/* Stands in for host/io/io_dpdk.c in the guests' library: the image carries no DPDK. */
#include <stdio.h>

#include "host/io/io.h"
#include "ringfold/ringfold.h"

int rf_io_dpdk_open(const char *device, const char *args, uint32_t frame_max, struct rf_io **io,
		    char *why, size_t room)
{
	(void)args;
	(void)frame_max;
	(void)io;
	snprintf(why, room, "%s: this build has no DPDK", device);
	return RF_ERR_DEVICE;
}
