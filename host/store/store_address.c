#include "host/store/store_address.h"

#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "ringfold/ringfold.h"

int store_address(const char *host, unsigned int port, struct sockaddr_in *to, char *why,
		  size_t room)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found;

	if (getaddrinfo(host, NULL, &hints, &found) != 0) {
		snprintf(why, room, "the host name %s (RF_ROOT) is unknown", host);
		return RF_ERR_BOOTSTRAP;
	}
	memcpy(to, found->ai_addr, sizeof(*to));
	freeaddrinfo(found);
	to->sin_port = htons((uint16_t)port);
	return RF_OK;
}
