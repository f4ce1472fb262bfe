/* The layers below the BTH, shared by the sources of this folder. Offsets are those on the wire. */
#ifndef ROCE_FRAME_H
#define ROCE_FRAME_H

#include "host/roce/wire.h"

#define ROCE_BTH_BYTES 12u
#define ROCE_RETH_BYTES 16u
#define ROCE_AETH_BYTES 4u
#define ROCE_IMM_BYTES 4u
#define ROCE_ICRC_BYTES 4u

/* Parses Ethernet and IPv4 up to the first cause for rejection; see roce_parse(). */
int roce_frame_parse_ip(const uint8_t *frame, size_t len, struct roce_packet *p);
/* Then UDP: ROCE_WIRE_NOT_UDP or ROCE_WIRE_UDP_LENGTH (not the IP length less 20). */
int roce_frame_parse_udp(const uint8_t *frame, struct roce_packet *p);

#endif
