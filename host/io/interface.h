/* Kernel interfaces of net_af_packet devices, for what DPDK does not say about them. */
#ifndef RF_IO_INTERFACE_H
#define RF_IO_INTERFACE_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

/* The interface named by a net_af_packet device (",iface=NAME"); "" for every other device. */
void rf_interface_of_device(const char *device, char name[IFNAMSIZ]);
/* Whether it has a carrier: DPDK always reports its link as up. True if that is not known. */
bool rf_interface_carrier(const char name[IFNAMSIZ]);
/* Its IPv4 address in host order; 0: none. */
uint32_t rf_interface_ip(const char name[IFNAMSIZ]);
/* Whether it has an IPv6 address that is not link-local, and no IPv4 address. */
bool rf_interface_only_ipv6(const char name[IFNAMSIZ]);
/* Its MTU, or -1. */
int rf_interface_mtu(const char name[IFNAMSIZ]);
/* Returns 0 or a negative errno. */
int rf_interface_set_mtu(const char name[IFNAMSIZ], int mtu);

#endif
