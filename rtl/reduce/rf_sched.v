// rf_sched: starts the passes: checks one group or one repeat per cycle and starts it if all its resources are free.
//
// Latency     pending to launch: 2 cycles: the candidate is selected, checked, and the outputs are registered.
// Throughput  one candidate per cycle; a block of ports gets at most one pass every 3 cycles.
// Capacity    one pass in preparation and one being read per port (rf_reader).
// Handshake   launch_* are pulses of one cycle; every reader of the block accepts its part in the same cycle. A launch
//             rests on the inputs of the cycle before it.
// Reset       no pass in progress.
// Proved      tests/rtl/unit_sched.cpp; tests/formal/sched.proof; tests/rtl/core.
//
// A pass is one lane of one packet. The lanes of a packet follow one another on the block's ports, which are locked for
// other packets meanwhile. Groups take turns; a turn is one packet. Of the groups that may start, the least recently
// checked one is next. In its turn a group sends its entries in the queues of the ports, round-robin over the ports:
// repeats, and first sendings queued after them. It sends its next first sending if there is no entry, or if it has
// sent QUEUED entries since the last first sending (owed). So the losses of a group cost only its own passes, and a
// queue that first sendings join empties soon. If the block of a group is never free as a whole in its turn, the group
// starves. It counts as `starved` when PASSED_MAX packets of other groups have passed it on one of its ports: then its
// ports are reserved, and no other group starts there.

`include "rf_regs.vh"

`default_nettype none

module rf_sched #(
  parameter PORTS = 4,
  parameter LANES = 1,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2,
  parameter BYTES_LOG2 = 6,
  parameter BANK_AW = 13,
  parameter HDR_AW = 9,
  // Width of the credit counters.
  parameter CREDIT_W = 10,
  // Entries from the queues before a first sending that is ready: one in QUEUED + 1 packets of a group is a first
  // sending.
  parameter QUEUED = 31,
  // Packets of other groups that may pass a group on one of its ports.
  parameter PASSED_MAX = 7
) (
  input  wire                          clk,
  input  wire                          rst,

  // Groups.
  input  wire [GROUPS-1:0]             g_live,
  input  wire [GROUPS-1:0]             g_error,
  input  wire [GROUPS-1:0]             g_life,
  input  wire [GROUPS*32-1:0]          g_cfg,
  input  wire [GROUPS*32-1:0]          g_dbase,
  input  wire [GROUPS*32-1:0]          g_hbase,
  input  wire [GROUPS*LANES*PORTS-1:0] g_members,
  input  wire [GROUPS*PORTS-1:0]       g_ports,
  input  wire [GROUPS*PORTS-1:0]       g_block,
  input  wire [GROUPS*PW-1:0]          g_ref,

  // Ledger.
  input  wire [GROUPS-1:0]             g_pending,
  input  wire [GROUPS*24-1:0]          g_issued,
  input  wire [GROUPS-1:0]             pass_room,
  output wire                          pass_begin,
  output wire                          pass_first,
  output wire [PORTS-1:0]              s_valid,
  input  wire [PORTS*24-1:0]           r_sent,
  input  wire [PORTS*24-1:0]           r_una,

  // Repeats.
  input  wire [PORTS-1:0]              q_valid,
  input  wire [PORTS*(GW+LW)-1:0]      q_addr,
  input  wire [PORTS*24-1:0]           q_index,
  input  wire [PORTS-1:0]              q_first,
  input  wire [PORTS-1:0]              q_life,
  output wire [PORTS-1:0]              q_pop,
  output wire [PORTS-1:0]              q_stale,
  input  wire [PORTS-1:0]              q_room,
  output wire [PORTS-1:0]              q_push,
  // Whether a connection has an entry in the queue of its port: its {group, lane}, and the answers of all ports in the same
  // cycle.
  output wire [GW+LW-1:0]              l_addr,
  input  wire [PORTS-1:0]              l_queued,

  // Room for results: beats, headers.
  input  wire [PORTS*CREDIT_W-1:0]     free_beats,
  input  wire [PORTS*CREDIT_W-1:0]     free_hdrs,

  // A pass is in preparation at a port, and when it begins is not known yet. Rises only in the cycle after a launch; low in
  // the cycle of a launch and in the two before it.
  input  wire [PORTS-1:0]              prep_busy,

  // Launch: to the readers of these ports.
  output wire [PORTS-1:0]              launch_valid,
  output wire [PORTS-1:0]              launch_member,
  // A copy of the result goes to this lane of the port.
  output wire [PORTS-1:0]              launch_copy,
  // Room was reserved at the port (with the first lane).
  output wire [PORTS-1:0]              launch_room,
  output wire [PORTS-1:0]              launch_block,
  output wire [GW-1:0]                 launch_group,
  output wire [LW-1:0]                 launch_lane,
  output wire [23:0]                   launch_index,
  output wire                          launch_first,
  output wire                          launch_final,
  output wire                          launch_repeat,
  output wire                          launch_queued,
  output wire                          launch_ackreq,
  output wire [1:0]                    launch_level,
  output wire [3:0]                    launch_dtype,
  output wire [2:0]                    launch_op,
  output wire [PW-1:0]                 launch_ref,
  output wire [4:0]                    launch_lanes,
  output wire [CREDIT_W-1:0]           launch_beats,
  output wire [BANK_AW-1:0]            launch_beat,
  output wire [HDR_AW-1:0]             launch_slot,

  output wire                          idle
);

  function [GW-1:0] encode_group;
    input [GROUPS-1:0] onehot;
    integer n;
    begin
      encode_group = {GW{1'b0}};
      for (n = 0; n < GROUPS; n = n + 1)
        if (onehot[n]) encode_group = encode_group | n[GW-1:0];
    end
  endfunction

  function [PW-1:0] encode_port;
    input [PORTS-1:0] onehot;
    integer n;
    begin
      encode_port = {PW{1'b0}};
      for (n = 0; n < PORTS; n = n + 1)
        if (onehot[n]) encode_port = encode_port | n[PW-1:0];
    end
  endfunction

  // Packets in flight (rf_sched_flight); what is due, and the ports of the starved group (rf_sched_fair).
  wire [GROUPS-1:0] midway;
  wire [PORTS-1:0]  lock;
  wire [GROUPS-1:0] owed;
  wire [GROUPS-1:0] reserved;
  wire [PORTS-1:0]  reserved_ports;
  wire              fair_idle;

  // Groups with a first sending; those that may start it.
  wire [GROUPS-1:0] waits = g_live & ~g_error & g_pending;
  wire [GROUPS-1:0] ready = waits & ~midway;

  // The candidate in s1, and the decision about it (rf_sched_start).
  reg               s1_first_q;
  reg               s1_queued_q;
  reg  [GW-1:0]     s1_group_q;
  reg  [PW-1:0]     s1_port_q;
  // The same: one bit for the group; the port of an entry; the ports of the group's ranks.
  reg  [GROUPS-1:0] s1_turn_q;
  reg  [PORTS-1:0]  s1_from_q;
  reg  [PORTS-1:0]  s1_members_q;
  reg  [3:0]        s1_mtu_log2_q;
  reg  [4:0]        s1_lanes_q;
  wire              go_first;
  wire              go_queued;
  wire              go_on;
  wire              forget;
  wire              dead;
  wire              first_stuck;
  wire              queued_stuck;
  wire              not_reserved;
  // Its block: that of the candidate.
  reg  [PORTS-1:0]  taken_q;
  wire [PORTS-1:0]  block   = taken_q;

  wire              start   = go_first || go_queued;
  wire              go      = start || go_on;
  wire              check   = s1_queued_q || (s1_first_q && !midway[s1_group_q]);

  // s0: select a candidate. The entry whose turn it is, of each group's entries at the outputs of the queues, as of the
  // previous cycle.
  wire [GROUPS*PORTS-1:0] fronts;
  wire [GROUPS*PORTS-1:0] pick;
  wire [GROUPS-1:0]       from_queue;
  // A reservation may begin after the selection.
  wire [GROUPS-1:0]       refused = (s1_queued_q && !not_reserved) ? s1_turn_q : {GROUPS{1'b0}};
  reg  [PORTS-1:0]        popped_q;

  always @(posedge clk)
    if (rst) popped_q <= {PORTS{1'b0}};
    else popped_q <= q_pop;

  rf_sched_pick #(.PORTS(PORTS), .GROUPS(GROUPS), .GW(GW), .LW(LW)) picks (
    .clk(clk), .rst(rst), .q_valid(q_valid), .q_addr(q_addr), .taken(from_queue), .refused(refused),
    .refused_port(s1_from_q), .fronts(fronts), .pick(pick));

  // The candidate in s1 blocks its ports: a group that needs them too is checked later, when the lock is visible.
  // Otherwise its turn would be wasted. If the candidate cannot start, the other groups lose a cycle.
  reg  [GROUPS-1:0] ask;
  reg  [GROUPS-1:0] want;
  reg  [PORTS-1:0]  closed;
  reg               blind;

  integer i;
  always @(*) begin
    for (i = 0; i < GROUPS; i = i + 1) begin
      closed  = lock | (reserved[i] ? {PORTS{1'b0}} : reserved_ports);
      ask[i]  = pick[i*PORTS +: PORTS] != {PORTS{1'b0}};
      // An entry that has left, or that s1 is checking, may have been replaced by another one when its turn comes.
      blind   = (pick[i*PORTS +: PORTS] & (s1_from_q | q_pop | popped_q)) != {PORTS{1'b0}};
      want[i] = (midway[i] || ((ready[i] || ask[i]) && !blind && (closed & g_block[i*PORTS +: PORTS]) == {PORTS{1'b0}})) &&
                ((prep_busy | taken_q | launch_valid) & g_block[i*PORTS +: PORTS]) == {PORTS{1'b0}};
    end
  end

  wire [GROUPS-1:0] turn;

  rf_sched_turn #(.GROUPS(GROUPS)) turns (.clk(clk), .rst(rst), .want(want), .turn(turn));

  assign from_queue = turn & ask & ~midway & ~(ready & owed);

  wire              take_ask   = from_queue != {GROUPS{1'b0}};
  wire              take_want  = (turn & ~from_queue) != {GROUPS{1'b0}};
  reg  [PORTS-1:0]  turn_port;
  reg  [PORTS-1:0]  turn_from;
  reg  [PORTS-1:0]  turn_block;
  reg  [PORTS-1:0]  turn_members;
  reg  [3:0]        turn_mtu_log2;
  reg  [4:0]        turn_lanes;
  integer           c;
  always @(*) begin
    turn_port     = {PORTS{1'b0}};
    turn_from     = {PORTS{1'b0}};
    turn_block    = {PORTS{1'b0}};
    turn_members  = {PORTS{1'b0}};
    turn_mtu_log2 = 4'd0;
    turn_lanes    = 5'd0;
    for (c = 0; c < GROUPS; c = c + 1)
      if (turn[c]) begin
        turn_port     = turn_port | pick[c*PORTS +: PORTS];
        turn_block    = turn_block | g_block[c*PORTS +: PORTS];
        turn_members  = turn_members | g_ports[c*PORTS +: PORTS];
        turn_mtu_log2 = turn_mtu_log2 | g_cfg[c*32 + `RF_GROUP_CFG_MTU_LOG2_LSB +: `RF_GROUP_CFG_MTU_LOG2_BITS];
        turn_lanes    = turn_lanes | g_cfg[c*32 + `RF_GROUP_CFG_LANES_LSB +: `RF_GROUP_CFG_LANES_BITS];
      end
    for (c = 0; c < GROUPS; c = c + 1)
      if (from_queue[c]) turn_from = turn_from | pick[c*PORTS +: PORTS];
  end

  always @(posedge clk)
    if (rst) begin
      s1_first_q  <= 1'b0;
      s1_queued_q <= 1'b0;
      s1_from_q   <= {PORTS{1'b0}};
    end else begin
      s1_first_q  <= take_want;
      s1_queued_q <= take_ask;
      s1_from_q   <= turn_from;
    end

  always @(posedge clk) begin
    s1_group_q    <= encode_group(turn);
    s1_turn_q     <= turn;
    s1_port_q     <= encode_port(turn_port);
    // Selected here and not by group in s1, where the comparison with the room follows. They do not change while the group
    // is live.
    s1_members_q  <= turn_members;
    s1_mtu_log2_q <= turn_mtu_log2;
    s1_lanes_q    <= turn_lanes;
  end

  always @(posedge clk)
    if (rst) taken_q <= {PORTS{1'b0}};
    else taken_q <= turn_block;

  // s1: check the candidate.
  wire [LW-1:0]     lane;
  wire [23:0]       index;
  wire              final_lane;
  wire              is_queued;
  wire              is_late;
  wire [PW-1:0]     copy_port;
  wire [LW-1:0]     copy_lane;
  wire [LW-1:0]     next_lane;
  wire [23:0]       m_index;
  wire              m_queued;
  wire              m_late;
  wire [PW-1:0]     m_port;
  wire [LW-1:0]     m_copy_lane;
  wire [PORTS-1:0]  member;
  wire [PORTS-1:0]  copy;
  wire [PORTS-1:0]  send;
  wire [PORTS-1:0]  push;
  wire [PORTS-1:0]  room_at;
  wire              repeated;
  wire              ackreq;
  wire [1:0]        level;
  wire [3:0]        dtype;
  wire [2:0]        op;
  wire [PW-1:0]     ref_port;
  wire [4:0]        lanes;
  wire [CREDIT_W-1:0] beats;
  wire [BANK_AW-1:0] beat;
  wire [HDR_AW-1:0] slot;

  rf_sched_start #(
    .PORTS(PORTS), .LANES(LANES), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW), .BYTES_LOG2(BYTES_LOG2), .BANK_AW(BANK_AW),
    .HDR_AW(HDR_AW), .CREDIT_W(CREDIT_W)
  ) starts (
    // Candidate.
    .first(s1_first_q), .queued(s1_queued_q), .group(s1_group_q), .port(s1_port_q),
    .turn(s1_turn_q), .from(s1_from_q), .block(block), .members(s1_members_q), .mtu_log2(s1_mtu_log2_q),
    .group_lanes(s1_lanes_q),
    // Groups.
    .g_live(g_live), .g_error(g_error), .g_life(g_life), .g_cfg(g_cfg), .g_dbase(g_dbase), .g_hbase(g_hbase),
    .g_members(g_members), .g_ref(g_ref), .ready(ready), .reserved(reserved), .reserved_ports(reserved_ports),
    // Packet in flight.
    .midway(midway), .next_lane(next_lane), .m_index(m_index), .m_queued(m_queued), .m_late(m_late), .m_port(m_port),
    .m_copy_lane(m_copy_lane),
    // Ledger, queues, room.
    .g_issued(g_issued), .pass_room(pass_room), .r_sent(r_sent), .r_una(r_una), .q_addr(q_addr), .q_index(q_index),
    .q_first(q_first), .q_life(q_life), .q_room(q_room), .l_queued(l_queued), .free_beats(free_beats),
    .free_hdrs(free_hdrs),
    // Verdict.
    .go_first(go_first), .go_queued(go_queued), .go_on(go_on), .forget(forget), .dead(dead), .first_stuck(first_stuck),
    .queued_stuck(queued_stuck), .not_reserved(not_reserved),
    // Packet.
    .lane(lane), .index(index), .final_lane(final_lane), .is_queued(is_queued), .is_late(is_late),
    .copy_port(copy_port), .copy_lane(copy_lane), .copy(copy), .send(send), .push(push),
    // Launch.
    .member(member), .room_at(room_at), .repeated(repeated), .ackreq(ackreq), .level(level), .dtype(dtype),
    .op(op), .ref_port(ref_port), .lanes(lanes), .beats(beats), .beat(beat), .slot(slot));

  assign l_addr = {s1_group_q, lane};

  // Launch. The ledger and all ports receive it from these registers.
  localparam LAUNCH_W = 4*PORTS + GW + LW + 24 + 5 + 9 + PW + 5 + CREDIT_W + BANK_AW + HDR_AW;

  reg                begin_q;
  reg                first_q;
  reg [PORTS-1:0]    valid_q;
  reg [PORTS-1:0]    send_q;
  reg [PORTS-1:0]    push_q;
  reg [PORTS-1:0]    pop_q;
  reg [PORTS-1:0]    stale_q;
  reg [LAUNCH_W-1:0] launch_q;

  always @(posedge clk)
    if (rst) begin
      begin_q <= 1'b0;
      first_q <= 1'b0;
      valid_q <= {PORTS{1'b0}};
      send_q  <= {PORTS{1'b0}};
      push_q  <= {PORTS{1'b0}};
      pop_q   <= {PORTS{1'b0}};
      stale_q <= {PORTS{1'b0}};
    end else begin
      begin_q <= start;
      first_q <= go_first;
      // A mask, not a choice: Yosys would make that a reset, which comes later.
      valid_q <= {PORTS{go}} & block;
      send_q  <= send;
      push_q  <= push;
      pop_q   <= {PORTS{forget || go_queued}} & s1_from_q;
      stale_q <= {PORTS{forget && !dead}} & s1_from_q;
    end

  always @(posedge clk)
    if (s1_first_q || s1_queued_q)
      launch_q <= {member, copy, room_at, block, s1_group_q, lane, index, !go_on, final_lane, repeated, is_queued, ackreq, level,
                   dtype, op, ref_port, lanes, beats, beat, slot};

  assign pass_begin   = begin_q;
  assign pass_first   = first_q;
  assign s_valid      = send_q;
  assign q_push       = push_q;
  assign q_pop        = pop_q;
  assign q_stale      = stale_q;
  assign launch_valid = valid_q;
  assign {launch_member, launch_copy, launch_room, launch_block, launch_group, launch_lane, launch_index, launch_first,
          launch_final, launch_repeat, launch_queued, launch_ackreq, launch_level, launch_dtype, launch_op, launch_ref,
          launch_lanes, launch_beats, launch_beat, launch_slot} = launch_q;

`ifdef FORMAL
  wire [GROUPS*LW-1:0] f_m_lane;
  wire [GROUPS*24-1:0] f_m_index;
  wire [GROUPS-1:0]    f_m_queued;
  wire [GROUPS-1:0]    f_m_late;
  wire [GROUPS*PW-1:0] f_m_port;
  wire [GROUPS*LW-1:0] f_m_copy_lane;
`endif

  rf_sched_flight #(.PORTS(PORTS), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW)) flight (
    .clk(clk), .rst(rst), .group(s1_group_q), .block(block), .go(go), .check(check), .final_lane(final_lane),
    .lane(lane), .index(index), .queued(is_queued), .late(is_late), .port(copy_port), .copy_lane(copy_lane),
    .midway(midway), .lock(lock), .next_lane(next_lane), .m_index(m_index), .m_queued(m_queued), .m_late(m_late),
    .m_port(m_port), .m_copy_lane(m_copy_lane)
`ifdef FORMAL
    ,
    .f_lane(f_m_lane), .f_index(f_m_index), .f_queued(f_m_queued), .f_late(f_m_late), .f_port(f_m_port),
    .f_copy_lane(f_m_copy_lane)
`endif
  );

  rf_sched_fair #(
    .PORTS(PORTS), .GROUPS(GROUPS), .GW(GW), .PW(PW), .QUEUED(QUEUED), .PASSED_MAX(PASSED_MAX)
  ) fair (
    .clk(clk), .rst(rst), .g_block(g_block), .waits(waits), .midway(midway), .fronts(fronts), .first(s1_first_q),
    .queued(s1_queued_q), .group(s1_group_q), .port(s1_port_q), .block(block), .go_first(go_first),
    .go_queued(go_queued), .first_stuck(first_stuck), .queued_stuck(queued_stuck), .owed(owed), .reserved(reserved),
    .reserved_ports(reserved_ports), .idle(fair_idle));

  assign idle = !s1_first_q && !s1_queued_q && fair_idle && midway == {GROUPS{1'b0}} && ready == {GROUPS{1'b0}} &&
                launch_valid == {PORTS{1'b0}} && q_valid == {PORTS{1'b0}};

`ifdef FORMAL
`include "sched.vh"
`endif

endmodule

`default_nettype wire
