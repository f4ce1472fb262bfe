/*
 * rf_crc32_update() for the host: the same function, by ISA-L if the build found that library, else
 * by the tables of proto/rf_crc32.c (the portable path).
 */
#ifndef ROCE_CRC_H
#define ROCE_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t roce_crc32_update(uint32_t state, const void *data, size_t len);

/* "ISA-L" or "portable": the path that this build uses. */
const char *roce_crc32_source(void);

#endif
