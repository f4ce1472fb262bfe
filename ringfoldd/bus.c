#include "base/clock.h"
#include "ringfoldd/bus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rf_regs.h"

/* One past the last register that firmware uses. */
#define BYTES_MIN (RF_CONN_BASE + RF_CONN_COUNT * RF_CONN_STRIDE)

static uint32_t bus_read(void *arg, uint32_t addr)
{
	struct rfd_bus *b = arg;

	if (b->host_clock && addr == RF_CYCLE_LO) {
		uint64_t cycle = (rf_now_ns() - b->start_ns) / 1000u * b->khz / 1000u;

		b->high = (uint32_t)(cycle >> 32);
		return (uint32_t)cycle;
	}
	if (b->host_clock && addr == RF_CYCLE_HI)
		return b->high;
	return b->map[addr / 4u];
}

static void bus_write(void *arg, uint32_t addr, uint32_t value)
{
	struct rfd_bus *b = arg;

	b->map[addr / 4u] = value;
}

/* Size of map 0 as reported by the kernel, 0: unknown. */
static size_t uio_size(const char *path)
{
	const char *name = strrchr(path, '/');
	char file[300];
	unsigned long size = 0;
	FILE *f;

	snprintf(file, sizeof(file), "/sys/class/uio/%s/maps/map0/size", name ? name + 1 : path);
	f = fopen(file, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%lx", &size) != 1)
		size = 0;
	fclose(f);
	return size;
}

int rfd_bus_open(struct rfd_bus *b, const char *path, bool host_clock, char *why, size_t room)
{
	struct stat st;
	void *map;

	memset(b, 0, sizeof(*b));
	b->fd = open(path, O_RDWR | O_CLOEXEC);
	if (b->fd < 0 || fstat(b->fd, &st) != 0) {
		snprintf(why, room, "%s: %s", path, strerror(errno));
		return -1;
	}
	/* Lock before anything is written: a second service must not touch the box of the first. */
	if (flock(b->fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EWOULDBLOCK)
			snprintf(why, room,
				 "%s: another ringfoldd runs this box: stop it first "
				 "(`fuser %s` names it)",
				 path, path);
		else
			snprintf(why, room, "%s: cannot lock: %s", path, strerror(errno));
		close(b->fd);
		return -1;
	}
	b->uio = S_ISCHR(st.st_mode);
	b->bytes = b->uio ? uio_size(path) : (size_t)st.st_size;
	if (b->bytes < BYTES_MIN) {
		snprintf(why, room, "%s: %zu bytes, but the registers need %u", path, b->bytes,
			 (unsigned int)BYTES_MIN);
		close(b->fd);
		return -1;
	}
	map = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
	if (map == MAP_FAILED) {
		snprintf(why, room, "%s: %s", path, strerror(errno));
		close(b->fd);
		return -1;
	}
	b->map = map;
	b->host_clock = host_clock;
	b->khz = b->map[RF_CLOCK_KHZ / 4u];
	b->start_ns = rf_now_ns();
	b->hal = (struct rf_hal){.arg = b, .read = bus_read, .write = bus_write};
	return 0;
}

void rfd_bus_close(struct rfd_bus *b)
{
	munmap((void *)(uintptr_t)b->map, b->bytes);
	close(b->fd);
}

void rfd_bus_arm(struct rfd_bus *b)
{
	const uint32_t on = 1;

	/* A device without interrupt control interrupts anyway. */
	if (b->uio && write(b->fd, &on, sizeof(on)) < 0)
		return;
}

void rfd_bus_take(struct rfd_bus *b)
{
	uint32_t count;

	if (b->uio && read(b->fd, &count, sizeof(count)) < 0)
		return;
}

uint64_t rfd_bus_cycle(struct rfd_bus *b)
{
	uint32_t low = bus_read(b, RF_CYCLE_LO);

	return (uint64_t)bus_read(b, RF_CYCLE_HI) << 32 | low;
}
