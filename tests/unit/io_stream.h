/* Frames from one end of a link to the other, for tests of devices. Failures are cmocka's. */
#ifndef IO_STREAM_H
#define IO_STREAM_H

#include <stdint.h>

#include "host/io/io.h"

#define IO_FRAME_MAX 4196u

uint64_t io_now_us(void);
/* Frames of many lengths, in bursts; every byte compared at the other end, within 20 s. */
void io_stream(struct rf_io *from, struct rf_io *to, unsigned int count);

#endif
