/*
 * The key file: the keys of all jobs, for the simulated box and for ringfoldd.
 *
 *	# job  key (32 hexadecimal digits)      what it may hold at a time
 *	0      000102030405060708090a0b0c0d0e0f
 *	42     f0e0d0c0b0a090807060504030201000 groups=2 ranks=16 entries=64 bytes=256K
 *	43     102030405060708090a0b0c0d0e0f000 ips=10.0.3.0/24,10.0.4.1 ports=0,2-3
 *
 * Job 0 is the operator's. Numbers are decimal or 0x...; bytes= takes K, M, G. slots=N limits the
 * number of slots, whatever their size. ips= and ports= list the source addresses and the ports of
 * the box that the key may register; without them it may register only the address and port of its
 * own packets. Limits and defaults: docs/control-protocol.md. A file that all users can read or
 * write is refused.
 */
#ifndef RF_FW_TARGET_LINUX_KEYS_H
#define RF_FW_TARGET_LINUX_KEYS_H

#include "firmware/core/fw.h"

/*
 * Reads at most max keys. Returns their number, or -1 with an error message in why. The message
 * names file and line but never contains a key.
 */
int rf_keys_load(const char *path, struct rf_fw_key *keys, unsigned int max, char *why,
		 size_t room);

#endif
