/*
 * rf_crc32_update() for the host: the same function, by carry-less multiplication where the
 * processor has it (x86-64 with PCLMULQDQ), else by the tables of proto/rf_crc32.c.
 */
#ifndef ROCE_CRC_H
#define ROCE_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t roce_crc32_update(uint32_t state, const void *data, size_t len);

#endif
