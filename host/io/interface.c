#include "host/io/interface.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/io/device_value.h"

void rf_interface_of_device(const char *device, char name[IFNAMSIZ])
{
	name[0] = '\0';
	if (strncmp(device, "net_af_packet", strlen("net_af_packet")) == 0)
		rf_device_value(device, "iface", name, IFNAMSIZ);
}

/* An ioctl of an interface. Returns 0 or a negative errno. */
static int request(const char name[IFNAMSIZ], unsigned long what, struct ifreq *req)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret = 0;

	if (fd < 0)
		return -errno;
	memcpy(req->ifr_name, name, sizeof(req->ifr_name));
	if (ioctl(fd, what, req) != 0)
		ret = -errno;
	close(fd);
	return ret;
}

bool rf_interface_carrier(const char name[IFNAMSIZ])
{
	struct ifreq req = {0};

	return request(name, SIOCGIFFLAGS, &req) != 0 || (req.ifr_flags & IFF_RUNNING) != 0;
}

uint32_t rf_interface_ip(const char name[IFNAMSIZ])
{
	struct ifreq req = {0};
	struct sockaddr_in address;

	if (request(name, SIOCGIFADDR, &req) != 0)
		return 0;
	memcpy(&address, &req.ifr_addr, sizeof(address));
	return ntohl(address.sin_addr.s_addr);
}

bool rf_interface_only_ipv6(const char name[IFNAMSIZ])
{
	struct ifaddrs *list;
	bool found = false;
	bool ipv4 = false;

	if (getifaddrs(&list) != 0)
		return false;
	for (const struct ifaddrs *a = list; a; a = a->ifa_next) {
		struct sockaddr_in6 six;

		if (!a->ifa_addr || strcmp(a->ifa_name, name) != 0)
			continue;
		ipv4 |= a->ifa_addr->sa_family == AF_INET;
		if (a->ifa_addr->sa_family != AF_INET6)
			continue;
		memcpy(&six, a->ifa_addr, sizeof(six));
		found |= !IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr);
	}
	freeifaddrs(list);
	return found && !ipv4;
}

int rf_interface_mtu(const char name[IFNAMSIZ])
{
	struct ifreq req = {0};

	return request(name, SIOCGIFMTU, &req) == 0 ? req.ifr_mtu : -1;
}

int rf_interface_set_mtu(const char name[IFNAMSIZ], int mtu)
{
	struct ifreq req = {.ifr_mtu = mtu};

	return request(name, SIOCSIFMTU, &req);
}
