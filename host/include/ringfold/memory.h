/*
 * Registered memory: a part of <ringfold/ringfold.h>, which includes it.
 *
 * With verbs a NIC reads and writes the buffers of calls itself, and must know them. A buffer that
 * lies in registered memory, all of it, costs nothing more; any other one is registered for its
 * call, by system calls that take longer for larger buffers. Over a DPDK device registration is
 * accepted and does nothing.
 */
#ifndef RINGFOLD_MEMORY_H
#define RINGFOLD_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_context;
struct rf_mem;

/*
 * Registers `bytes` bytes at addr for the calls of this context. The memory must be writable, and
 * stay mapped until it is deregistered. It may overlap other registered memory. Do not fork()
 * meanwhile on kernels before 5.12: the parent could lose the pages that the NIC writes. Errors:
 * RF_ERR_INVALID (also if the first or last byte is not memory that this process can read, such as
 * a device's), RF_ERR_NO_MEMORY (also the limit of locked memory), RF_ERR_SYSTEM.
 */
int rf_mem_register(struct rf_context *ctx, void *addr, size_t bytes, struct rf_mem **mem);

/*
 * Registers `bytes` bytes of a dma-buf from `offset` on: memory of a device, such as a GPU. Calls
 * name its first byte by addr, the device's address of it. The descriptor stays the caller's and
 * may be closed afterwards; the memory must stay until it is deregistered.
 *
 * Memory that the processor cannot read is allowed in calls over verbs and with the box only:
 * RF_ERR_INVALID in others, in which processors add (ring) or copy (one rank, RF_FALLBACK, DPDK).
 * The device must have finished its own work on it before the call, and must see what the NIC
 * wrote after it: that is up to the program.
 *
 * Errors: RF_ERR_INVALID (with verbs also a descriptor that is no dma-buf; without verbs, where the
 * descriptor is not used, memory that the processor cannot read), RF_ERR_DEVICE (libibverbs, driver or kernel do not support it),
 * RF_ERR_NO_MEMORY, RF_ERR_SYSTEM.
 */
int rf_mem_register_dmabuf(struct rf_context *ctx, int fd, uint64_t offset, size_t bytes,
			   void *addr, struct rf_mem **mem);

/*
 * Ends a registration. Returns RF_ERR_BUSY while a request with a buffer in it is outstanding, and
 * then changes nothing. rf_context_destroy() returns RF_ERR_BUSY as long as memory is registered.
 * NULL is allowed.
 */
int rf_mem_deregister(struct rf_mem *mem);

/*
 * Drops what the context keeps of these bytes. With RF_REG_CACHE the NIC goes on knowing the
 * buffers of earlier calls. If such memory is unmapped (a free() may do it) and something else is
 * mapped there, a later call at that address would send and receive at the old pages: wrong
 * results, and no error. The library cannot see that. So a program that sets RF_REG_CACHE promises
 * to call this function before memory that was a buffer is given back. Errors: RF_ERR_INVALID;
 * RF_ERR_BUSY if a request with a buffer in them is outstanding.
 */
int rf_mem_forget(struct rf_context *ctx, const void *addr, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
