/*
 * Memory of the planner. If memory runs out, the process prints a message to stderr and ends with
 * exit code 1. The planning commands have written no file at that point. A program that must
 * survive a shortage of memory has to plan in a separate process.
 */
#ifndef RF_PLANNER_MEM_H
#define RF_PLANNER_MEM_H

#include <stddef.h>

/* n zeroed elements of `size` bytes; never NULL, also for n = 0. The caller frees them. */
void *mem_new(size_t n, size_t size);
/* Resizes p, which may be NULL, to n elements. New elements are not initialised. */
void *mem_more(void *p, size_t n, size_t size);
/* Prints the message and ends the process. bytes: the size of the failed request, 0 if unknown. */
_Noreturn void mem_out(size_t bytes);

#endif
