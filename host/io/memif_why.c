#include "host/io/memif_why.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/io/device_value.h"
#include "host/io/memif.h"

static int receive(int fd, struct memif_message *m)
{
	return recv(fd, m->bytes, sizeof(m->bytes), 0) == (ssize_t)sizeof(m->bytes) ? 0 : -1;
}

/* Sends hello and the requested end, and reads the server's answer. */
static int ask(int fd, uint32_t id, struct memif_message *m)
{
	struct timeval patience = {.tv_usec = 500000};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (receive(fd, m) != 0 || memif_get16(m, MEMIF_TYPE) != MEMIF_HELLO)
		return -1;
	memset(m, 0, sizeof(*m));
	memif_put16(m, MEMIF_TYPE, MEMIF_INIT);
	memif_put16(m, MEMIF_INIT_VERSION, MEMIF_VERSION);
	memcpy(m->bytes + MEMIF_INIT_ID, &id, sizeof(id));
	if (send(fd, m->bytes, sizeof(m->bytes), MSG_NOSIGNAL) != (ssize_t)sizeof(m->bytes))
		return -1;
	return receive(fd, m);
}

static int by_answer(int fd, const char *path, uint32_t id, char *why, size_t room)
{
	struct memif_message m;

	if (ask(fd, id, &m) != 0) {
		snprintf(why, room, "a server owns socket %.108s but does not reply", path);
		return 0;
	}
	if (memif_get16(&m, MEMIF_TYPE) != MEMIF_DISCONNECT)
		return -1;
	m.bytes[MEMIF_DISCONNECT_TEXT + 95] = '\0';
	snprintf(why, room, "the other end of the socket %.108s refuses a host at its id %u: %s",
		 path, id, (const char *)m.bytes + MEMIF_DISCONNECT_TEXT);
	return 0;
}

int rf_memif_why(const char *device, char *why, size_t room)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char path[sizeof(address.sun_path)];
	char text[16];
	uint32_t id = 0;
	int ret = -1;
	int fd;

	if (strncmp(device, "net_memif", 9) != 0 ||
	    !rf_device_value(device, "socket-abstract", text, sizeof(text)) ||
	    strcmp(text, "no") != 0 || !rf_device_value(device, "socket", path, sizeof(path)))
		return -1;
	if (rf_device_value(device, "id", text, sizeof(text)))
		id = (uint32_t)strtoul(text, NULL, 10);
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0) {
		ret = by_answer(fd, path, id, why, room);
	} else if (errno == ENOENT || errno == ECONNREFUSED) {
		snprintf(why, room, "no process serves the socket %s: is `ringfold box` running?",
			 path);
		ret = 0;
	}
	close(fd);
	return ret;
}
