// rf_sched_start: checks whether the candidate of rf_sched, or its next lane, may start; gives data to its readers.
//
// Latency     none: combinational.
// Throughput  one candidate per cycle.
// Capacity    none.
// Handshake   none. All inputs are read now: what was seen when the candidate was selected may be outdated.
// Reset       none.
// Proved      tests/rtl/unit_sched.cpp; tests/formal/sched.proof.

`include "rf_regs.vh"

`default_nettype none

module rf_sched_start #(
  parameter PORTS = 4,
  parameter LANES = 1,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2,
  parameter BYTES_LOG2 = 6,
  parameter BANK_AW = 13,
  parameter HDR_AW = 9,
  parameter CREDIT_W = 10
) (
  // The candidate: the next first sending of a group or the next lane of its packet; or the entry at a port's queue.
  input  wire                          first,
  input  wire                          queued,
  input  wire [GW-1:0]                 group,
  input  wire [PW-1:0]                 port,
  // The same as one bit: the group; the port of the entry, none for a first sending. Of the group: its block, the ports of its
  // ranks, and two fields of its CFG, on which the room that it needs depends.
  input  wire [GROUPS-1:0]             turn,
  input  wire [PORTS-1:0]              from,
  input  wire [PORTS-1:0]              block,
  input  wire [PORTS-1:0]              members,
  input  wire [3:0]                    mtu_log2,
  input  wire [4:0]                    group_lanes,

  // Groups (rf_group_regs).
  input  wire [GROUPS-1:0]             g_live,
  input  wire [GROUPS-1:0]             g_error,
  input  wire [GROUPS-1:0]             g_life,
  input  wire [GROUPS*32-1:0]          g_cfg,
  input  wire [GROUPS*32-1:0]          g_dbase,
  input  wire [GROUPS*32-1:0]          g_hbase,
  input  wire [GROUPS*LANES*PORTS-1:0] g_members,
  input  wire [GROUPS*PW-1:0]          g_ref,

  // Groups with a first sending to start; ports reserved for a starved group (rf_sched_fair).
  input  wire [GROUPS-1:0]             ready,
  input  wire [GROUPS-1:0]             reserved,
  input  wire [PORTS-1:0]              reserved_ports,

  // The group's packet in flight (rf_sched_flight).
  input  wire [GROUPS-1:0]             midway,
  input  wire [LW-1:0]                 next_lane,
  input  wire [23:0]                   m_index,
  input  wire                          m_queued,
  input  wire                          m_late,
  input  wire [PW-1:0]                 m_port,
  input  wire [LW-1:0]                 m_copy_lane,

  // Ledger.
  input  wire [GROUPS*24-1:0]          g_issued,
  input  wire [GROUPS-1:0]             pass_room,
  input  wire [PORTS*24-1:0]           r_sent,
  input  wire [PORTS*24-1:0]           r_una,

  // Queues: the entries at their outputs; room for an entry; the connection has an entry.
  input  wire [PORTS*(GW+LW)-1:0]      q_addr,
  input  wire [PORTS*24-1:0]           q_index,
  input  wire [PORTS-1:0]              q_first,
  input  wire [PORTS-1:0]              q_life,
  input  wire [PORTS-1:0]              q_room,
  input  wire [PORTS-1:0]              l_queued,

  // Room for results.
  input  wire [PORTS*CREDIT_W-1:0]     free_beats,
  input  wire [PORTS*CREDIT_W-1:0]     free_hdrs,

  // What starts: a first sending, an entry, or a further lane. Or the entry is discarded (forget): it belongs to an
  // earlier use of the group (dead), or it is stale.
  output wire                          go_first,
  output wire                          go_queued,
  output wire                          go_on,
  output wire                          forget,
  output wire                          dead,
  // A first sending, an entry would lack room.
  output wire                          first_stuck,
  output wire                          queued_stuck,
  // Its ports are not reserved for another group.
  output wire                          not_reserved,

  // The packet, whether it starts or not: inputs of rf_sched_flight.
  output wire [LW-1:0]                 lane,
  output wire [23:0]                   index,
  output wire                          final_lane,
  output wire                          is_queued,
  output wire                          is_late,
  output wire [PW-1:0]                 copy_port,
  output wire [LW-1:0]                 copy_lane,

  // Ports of the lane: copies; first sendings sent now; first sendings that join their queue.
  output wire [PORTS-1:0]              copy,
  output wire [PORTS-1:0]              send,
  output wire [PORTS-1:0]              push,

  // Inputs of the readers (see rf_sched).
  output wire [PORTS-1:0]              member,
  output wire [PORTS-1:0]              room_at,
  output wire                          repeated,
  output wire                          ackreq,
  output wire [1:0]                    level,
  output wire [3:0]                    dtype,
  output wire [2:0]                    op,
  output wire [PW-1:0]                 ref_port,
  output wire [4:0]                    lanes,
  output wire [CREDIT_W-1:0]           beats,
  output wire [BANK_AW-1:0]            beat,
  output wire [HDR_AW-1:0]             slot
);

  localparam AW = GW + LW;

  function less;
    input [23:0] a;
    input [23:0] b;
    reg   [23:0] d;
    begin
      d    = b - a;
      less = d != 24'd0 && !d[23];
    end
  endfunction

  // The entries at the outputs of all ports, compared with the ledger. Stale: repeats that must no longer be sent.
  // Early: first sendings whose predecessor may still have a lane to launch. Compared at each port first, then
  // selected.
  reg  [PORTS-1:0] stale;
  reg  [PORTS-1:0] early;
  integer          e;

  always @(*) begin
    for (e = 0; e < PORTS; e = e + 1) begin
      stale[e] = !q_first[e] && (less(q_index[e*24 +: 24], r_una[e*24 +: 24]) ||
                                 !less(q_index[e*24 +: 24], r_sent[e*24 +: 24]));
      early[e] = q_first[e] && q_index[e*24 +: 24] != r_sent[e*24 +: 24];
    end
  end

  // The group.
  wire [31:0]         cfg       = g_cfg[group*32 +: 32];
  wire [3:0]          size_log2 = cfg[`RF_GROUP_CFG_S_LOG2_LSB +: `RF_GROUP_CFG_S_LOG2_BITS];
  wire [31:0]         mtu_beats = (32'd1 << mtu_log2) >> BYTES_LOG2;
  wire [CREDIT_W-1:0] hdrs      = {{CREDIT_W-5{1'b0}}, lanes};
  wire                underway  = (midway & turn) != {GROUPS{1'b0}};

  assign lanes    = group_lanes;
  assign level    = cfg[`RF_GROUP_CFG_LEVEL_LSB +: `RF_GROUP_CFG_LEVEL_BITS];
  assign dtype    = cfg[`RF_GROUP_CFG_DTYPE_LSB +: `RF_GROUP_CFG_DTYPE_BITS];
  assign op       = cfg[`RF_GROUP_CFG_OP_LSB +: `RF_GROUP_CFG_OP_BITS];
  assign ref_port = g_ref[group*PW +: PW];
  assign beats    = mtu_beats[CREDIT_W-1:0];

  // The entry at the queue's output.
  wire [LW-1:0] e_lane  = q_addr[port*AW +: LW];
  wire [23:0]   e_index = q_index[port*24 +: 24];
  wire          e_first = q_first[port];
  wire          e_stale = stale[port];
  wire          e_early = early[port];

  // The lane and the packet.
  wire [PORTS-1:0] copy_onehot = {{PORTS-1{1'b0}}, 1'b1} << copy_port;

  assign lane       = (first && underway) ? next_lane : {LW{1'b0}};
  assign index      = queued ? e_index : underway ? m_index : g_issued[group*24 +: 24];
  assign is_queued  = queued || (first && underway && m_queued);
  assign is_late    = queued ? e_first : m_late;
  assign copy_port  = queued ? port : m_port;
  assign copy_lane  = queued ? e_lane : m_copy_lane;
  assign final_lane = {{32-LW{1'b0}}, lane} + 32'd1 >= {27'd0, lanes};

  // Room at the ports.
  reg  [PORTS-1:0] enough;
  integer          j;
  always @(*) begin
    for (j = 0; j < PORTS; j = j + 1)
      enough[j] = free_beats[j*CREDIT_W +: CREDIT_W] >= beats && free_hdrs[j*CREDIT_W +: CREDIT_W] >= hdrs;
  end

  assign room_at = is_queued ? copy_onehot : members;

  // A further lane has its room.
  wire room         = ((queued ? from : members) & ~enough) == {PORTS{1'b0}};
  wire queues       = (members & ~q_room) == {PORTS{1'b0}};
  wire start_ok     = (pass_room & turn) != {GROUPS{1'b0}};
  assign not_reserved = (reserved_ports & block) == {PORTS{1'b0}} || (reserved & turn) != {GROUPS{1'b0}};

  assign dead         = !g_live[group] || g_error[group] || g_life[group] != q_life[port];
  assign forget       = queued && (dead || e_stale);
  assign go_first     = first && !underway && (ready & turn) != {GROUPS{1'b0}} && start_ok && not_reserved && room && queues;
  assign go_queued    = queued && !forget && !e_early && start_ok && not_reserved && room;
  assign go_on        = first && underway;
  assign first_stuck  = !(room && queues);
  assign queued_stuck = !forget && !room;

  // Copies.
  wire go        = go_first || go_queued || go_on;
  wire copy_here = is_queued && lane == copy_lane;

  assign member = g_members[({{32-GW{1'b0}}, group} * LANES + {{32-LW{1'b0}}, lane}) * PORTS +: PORTS];
  assign copy   = is_queued ? (copy_here ? copy_onehot : {PORTS{1'b0}}) : member & ~l_queued;
  assign send   = {PORTS{go && (!is_queued || is_late)}} & copy;
  assign push   = {PORTS{go && !is_queued}} & member & l_queued;

  // Where the packet lies.
  wire [15:0] size_mask = ~(16'hffff << size_log2);
  wire [15:0] number    = index[15:0] & size_mask;
  wire [31:0] slot_beat = g_dbase[group*32 +: 32] + (({16'd0, number} << mtu_log2) >> BYTES_LOG2);
  wire [31:0] slot_hdr  = g_hbase[group*32 +: 32] + {16'd0, number};

  assign repeated = is_queued && !is_late;
  assign ackreq   = repeated || (number & (size_mask >> 3)) == 16'd0;
  assign beat     = slot_beat[BANK_AW-1:0];
  assign slot     = slot_hdr[HDR_AW-1:0];

  wire unused_bits = &{1'b0, cfg, slot_beat, slot_hdr, mtu_beats, q_addr};

endmodule

`default_nettype wire
