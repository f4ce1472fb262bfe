/* A fake box whose ports have addresses, and requests of mirror ranks to it. */
#ifndef FW_MIRROR_H
#define FW_MIRROR_H

#include "tests/unit/fw_ask.h"

/* Address of a port in fw_mirror_box(). */
#define FW_MIRROR_IP(port) (0x0a000100u + (port))

/* Gives a new box that shape, but does not start it. */
void fw_mirror_shape(struct fw_box *b, const struct rf_fw_key *keys, unsigned int nkeys);
/* The shape that has everything, in a /16, with these keys or none; not probed, not announced. */
struct fw_box *fw_mirror_box_keys(const struct rf_fw_key *keys, unsigned int nkeys);
struct fw_box *fw_mirror_box(void);
/* A valid JOIN of mirror rank r of n, from 10.0.0.1 + r on port 0, to the box's address. */
struct fw_ask fw_mirror_join(unsigned int r, unsigned int n);
/*
 * Turns a JOIN into that of a mirror rank which wants the address of port r mod 4, and sends it
 * there. first: the address of port 0.
 */
void fw_mirror_form(struct fw_ask *a, uint32_t first, unsigned int r);
/* From now on its requests go to this address of a port, and come in there. */
void fw_mirror_at(struct fw_ask *a, uint32_t port_ip);
/* Sends a request, to which no answer need come. */
void fw_mirror_send(struct fw_box *b, const struct fw_ask *a);

#endif
