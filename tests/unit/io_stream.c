#include "base/clock.h"
#include "tests/unit/io_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

uint64_t io_now_us(void)
{
	return rf_now_ns() / 1000u;
}

static uint8_t pattern(unsigned int n, unsigned int k)
{
	return (uint8_t)(n * 7 + k * 13 + (k >> 8));
}

void io_stream(struct rf_io *from, struct rf_io *to, unsigned int count)
{
	struct rf_io_frame frames[RF_IO_BURST];
	unsigned int sent = 0, seen = 0, k, i, n;
	uint64_t until = io_now_us() + 20000000;

	while (seen < count && io_now_us() < until) {
		uint8_t *p;

		while (sent < count && sent - seen < 300 && (p = from->ops->tx_buffer(from))) {
			uint32_t len = 60 + sent * 37 % (IO_FRAME_MAX - 59);

			for (i = 0; i < len; i++)
				p[i] = pattern(sent, i);
			from->ops->tx_commit(from, len);
			sent++;
		}
		from->ops->tx_flush(from);
		n = to->ops->rx(to, frames, RF_IO_BURST);
		for (k = 0; k < n; k++, seen++) {
			assert_int_equal(frames[k].len, 60 + seen * 37 % (IO_FRAME_MAX - 59));
			for (i = 0; i < frames[k].len; i++)
				if (frames[k].data[i] != pattern(seen, i))
					fail_msg("frame %u byte %u", seen, i);
		}
	}
	assert_int_equal(seen, count);
}
