#include "host/io/socket_path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int rf_socket_path_clear(const char *path, int type, char *why, size_t room)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat st;
	int error = 0;
	int fd;

	/* connect() returns ECONNREFUSED for any kind of file: only a socket may be removed */
	if (lstat(path, &st) != 0)
		return 0;
	if (!S_ISSOCK(st.st_mode)) {
		snprintf(why, room, "%s already exists and is not a socket: choose another path",
			 path);
		return -1;
	}
	memcpy(address.sun_path, path, strnlen(path, sizeof(address.sun_path) - 1));
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		error = errno;
	else if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	if (error == ECONNREFUSED) {
		unlink(path);
		return 0;
	}
	/* served by some kind of socket, or not accessible to us */
	if (error == 0 || error == EAGAIN || error == EPROTOTYPE)
		snprintf(why, room, "another process already serves the socket %s", path);
	else
		snprintf(why, room, "the socket %s: %s", path, strerror(error));
	return -1;
}

int rf_socket_bind(int fd, const struct sockaddr_un *address)
{
	/* Linux gives the new file the mode of the socket, less the umask. */
	if (fchmod(fd, S_IRUSR | S_IWUSR) != 0)
		return -1;
	return bind(fd, (const struct sockaddr *)address, sizeof(*address));
}
