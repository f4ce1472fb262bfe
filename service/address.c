#include "service/address.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "service/web.h"

int rf_web_parse(const char *listen, struct sockaddr_in *to)
{
	const char *colon = strrchr(listen, ':');
	char address[64], *end;
	unsigned long port;

	if (!colon || (size_t)(colon - listen) >= sizeof(address))
		return -1;
	memcpy(address, listen, (size_t)(colon - listen));
	address[colon - listen] = '\0';
	memset(to, 0, sizeof(*to));
	to->sin_family = AF_INET;
	port = strtoul(colon + 1, &end, 10);
	if (colon[1] < '0' || colon[1] > '9' || *end || port > 65535 ||
	    inet_pton(AF_INET, address, &to->sin_addr) != 1)
		return -1;
	to->sin_port = htons((uint16_t)port);
	return 0;
}

bool rf_web_valid(const char *listen)
{
	struct sockaddr_in sa;

	return rf_web_parse(listen, &sa) == 0;
}

bool rf_web_is_local(const char *listen)
{
	struct sockaddr_in sa;

	return rf_web_parse(listen, &sa) == 0 && ntohl(sa.sin_addr.s_addr) >> 24 == 127;
}

/* Whether a text is `name`, whatever its case. */
static bool same_name(const char *text, const char *name)
{
	return name[0] && strcasecmp(text, name) == 0;
}

bool rf_web_host_ok(const char *host)
{
	char name[256], own[256] = "";
	struct in_addr v4;
	struct in6_addr v6;
	size_t len;

	if (host[0] == '[') {
		len = strcspn(++host, "]");
		if (host[len] != ']' || len >= sizeof(name))
			return false;
		memcpy(name, host, len);
		name[len] = '\0';
		return inet_pton(AF_INET6, name, &v6) == 1;
	}
	len = strcspn(host, ":");
	if (len >= sizeof(name) || host[len + strspn(host + len, ":0123456789")])
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	gethostname(own, sizeof(own) - 1u);
	return inet_pton(AF_INET, name, &v4) == 1 || same_name(name, "localhost") ||
	       same_name(name, own);
}
