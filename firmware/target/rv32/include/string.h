/* All of the C library that the firmware has: firmware/target/rv32/memory.c. */
#ifndef RF_RV32_STRING_H
#define RF_RV32_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);

#endif
