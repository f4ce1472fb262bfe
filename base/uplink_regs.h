/*
 * Registers of a group's uplink: docs/box.md, "Groups with an uplink". They are apart from
 * rtl/control/registers.txt as long as only the reference model has them. A box has them if
 * SHAPE.UPLINK is set.
 */
#ifndef RF_BASE_UPLINK_REGS_H
#define RF_BASE_UPLINK_REGS_H

/* A field of SHAPE. */
#define RF_SHAPE_UPLINK_MASK 0x40000000u
/* A field of PEER_MAC_HI: packets of this connection are accepted in any order. */
#define RF_CONN_PEER_MAC_HI_SELECTIVE_MASK 0x00020000u

/* One for each group, written while LIVE is 0. */
#define RF_UPLINK_BASE 0x005000u
#define RF_UPLINK_COUNT 64u
#define RF_UPLINK_STRIDE 0x20u
/* Its place, which is not in MEMBERS. ON 0: the group has no uplink. */
#define RF_UPLINK_PLACE 0x00u
#define RF_UPLINK_PLACE_PORT_MASK 0x00000007u
#define RF_UPLINK_PLACE_LANE_LSB 8
#define RF_UPLINK_PLACE_LANE_MASK 0x00000f00u
#define RF_UPLINK_PLACE_ON_MASK 0x80000000u
/* Indexes beyond got that may be sent: W of the parent. */
#define RF_UPLINK_WINDOW 0x04u
#define RF_UPLINK_WINDOW_MASK 0x00ffffffu
/* Of the packets that go up: UDP source port, DSCP. */
#define RF_UPLINK_HEADER 0x08u
#define RF_UPLINK_HEADER_SPORT_MASK 0x0000ffffu
#define RF_UPLINK_HEADER_DSCP_LSB 16
#define RF_UPLINK_HEADER_DSCP_MASK 0x003f0000u
/* Read only. */
#define RF_UPLINK_UP 0x10u
#define RF_UPLINK_GOT 0x14u
#define RF_UPLINK_SEEN 0x18u
#define RF_UPLINK_ACKED 0x1cu

#endif
