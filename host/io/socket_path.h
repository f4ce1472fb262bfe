/* Paths of unix sockets: handles files left over from a process that has ended. */
#ifndef RF_IO_SOCKET_PATH_H
#define RF_IO_SOCKET_PATH_H

#include <stddef.h>
#include <sys/un.h>

/*
 * Makes room for a socket at `path` (shorter than sun_path): removes an abandoned socket, and
 * nothing else. `type` is SOCK_SEQPACKET or SOCK_DGRAM. Returns 0 if bind() may be tried, else -1
 * with a reason in why: the file is not a socket, or another process serves it.
 */
int rf_socket_path_clear(const char *path, int type, char *why, size_t room);

/*
 * bind() with file mode 0600, whatever the umask is: who may connect may send frames as a host.
 * Returns 0, or -1 with errno.
 */
int rf_socket_bind(int fd, const struct sockaddr_un *address);

#endif
