/* Paths of unix sockets: what is left over there from a process that has gone. */
#ifndef RF_IO_SOCKET_PATH_H
#define RF_IO_SOCKET_PATH_H

#include <stddef.h>

/*
 * Makes room for a socket at `path` (shorter than sun_path): takes away a socket that nobody serves
 * any more, and nothing else. `type` is SOCK_SEQPACKET or SOCK_DGRAM. 0 when bind() may be tried,
 * else -1 with a reason in why: something that is no socket is there, or another process serves it.
 */
int rf_socket_path_clear(const char *path, int type, char *why, size_t room);

#endif
