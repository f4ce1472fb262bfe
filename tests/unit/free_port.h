/* A port for the server of a test. */
#ifndef TESTS_UNIT_FREE_PORT_H
#define TESTS_UNIT_FREE_PORT_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* A TCP port of the loopback interface that is free now; 0 if there is none. */
static inline unsigned int free_port(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	unsigned int port = 0;

	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&a, &size) == 0)
		port = ntohs(a.sin_port);
	close(fd);
	return port;
}

#endif
