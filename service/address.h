/* ADDRESS:PORT. */
#ifndef RF_SERVICE_ADDRESS_H
#define RF_SERVICE_ADDRESS_H

#include <netinet/in.h>

/* Returns 0, or -1 if the text is not an IPv4 address and a port. */
int rf_web_parse(const char *listen, struct sockaddr_in *to);

#endif
