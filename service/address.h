/* ADDRESS:PORT. */
#ifndef RF_SERVICE_ADDRESS_H
#define RF_SERVICE_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>

/* Returns 0, or -1 if the text is not an IPv4 address and a port. */
/*
 * Whether a request with this Host header (NAME, or NAME:PORT) may be answered: an address,
 * localhost, or this machine's own name. Any other name may be that of a web page whose owner lets
 * the name point to this machine, so that scripts of the page could read the answer (DNS
 * rebinding). An address cannot be redirected in this way.
 */
bool rf_web_host_ok(const char *host);

int rf_web_parse(const char *listen, struct sockaddr_in *to);

#endif
