/* The TCP address at which rank 0 serves the store. */
#ifndef RF_STORE_ADDRESS_H
#define RF_STORE_ADDRESS_H

#include <netinet/in.h>
#include <stddef.h>

/* Resolves a host name or IPv4 address. Returns 0, or RF_ERR_BOOTSTRAP with a text of `room` bytes.
 */
int store_address(const char *host, unsigned int port, struct sockaddr_in *to, char *why,
		  size_t room);

#endif
