#include "host/roce/crc.h"

#include "proto/rf_crc32.h"

#ifdef ROCE_ISAL

#include <isa-l/crc.h>

/* ISA-L takes and returns the inverted register. It chooses the instructions by the processor. */
uint32_t roce_crc32_update(uint32_t state, const void *data, size_t len)
{
	return ~crc32_gzip_refl(~state, data, len);
}

const char *roce_crc32_source(void)
{
	return "ISA-L";
}

#else

uint32_t roce_crc32_update(uint32_t state, const void *data, size_t len)
{
	return rf_crc32_update(state, data, len);
}

const char *roce_crc32_source(void)
{
	return "portable";
}

#endif
