// rf_sched: starts the passes: checks one group or one repeat per cycle and starts it if all its resources are free.
//
// Latency     pending to launch: 1 cycle. Launch is combinational from the candidate's register (s1).
// Throughput  one candidate per cycle; a block of ports gets at most one pass every 3 cycles.
// Capacity    one pass in preparation and one being read per port (rf_reader).
// Handshake   launch_* are pulses of one cycle; every reader of the block accepts its part in the same cycle.
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
  input  wire [PORTS-1:0]              l_queued,

  // Room for results: beats, headers.
  input  wire [PORTS*CREDIT_W-1:0]     free_beats,
  input  wire [PORTS*CREDIT_W-1:0]     free_hdrs,

  // A pass is in preparation at a port.
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
  output wire                          launch_ackreq,
  output wire [1:0]                    launch_level,
  output wire [1:0]                    launch_dtype,
  output wire [1:0]                    launch_op,
  output wire [PW-1:0]                 launch_ref,
  output wire [4:0]                    launch_lanes,
  output wire [CREDIT_W-1:0]           launch_beats,
  output wire [BANK_AW-1:0]            launch_beat,
  output wire [HDR_AW-1:0]             launch_slot,

  output wire                          idle
);

  localparam AW = GW + LW;

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

  function less;
    input [23:0] a;
    input [23:0] b;
    reg   [23:0] d;
    begin
      d    = b - a;
      less = d != 24'd0 && !d[23];
    end
  endfunction

  // Packets in progress: lanes that have not been launched yet.
  reg  [GROUPS-1:0]  midway_q;
  reg  [PORTS-1:0]   lock_q;
  reg  [LW-1:0]      lane_q  [0:GROUPS-1];
  reg  [23:0]        index_q [0:GROUPS-1];
  reg  [GROUPS-1:0]  repeat_q;
  reg  [GROUPS-1:0]  late_q;
  reg  [PW-1:0]      port_q  [0:GROUPS-1];
  reg  [LW-1:0]      wanted_q [0:GROUPS-1];

  // A group was checked and lacked room at a port; a repeat lacked room at its port.
  reg  [GROUPS-1:0]  stuck_q;
  reg  [PORTS-1:0]   q_stuck_q;

  // The entry whose turn it is, of each group's entries at the outputs of the queues, as of the previous cycle.
  reg  [GROUPS*PORTS-1:0] pick_q;
  reg  [PORTS-1:0]        popped_q;
  // The group has sent QUEUED entries: a first sending is due.
  reg  [GROUPS-1:0]       owed_q;

  // s0: select a candidate.
  reg  [GROUPS-1:0] ready;
  reg  [GROUPS-1:0] ask;
  reg  [GROUPS-1:0] want;

  reg               s1_first_q;
  reg               s1_repeat_q;
  reg  [GW-1:0]     s1_group_q;

  // Ports reserved for the starved group in reserved_q.
  reg  [PORTS-1:0]  reserved_ports_q;
  reg  [GROUPS-1:0] reserved_q;

  reg  [PW-1:0]     s1_port_q;
  wire [PORTS-1:0]  s1_port = s1_repeat_q ? {{PORTS-1{1'b0}}, 1'b1} << s1_port_q : {PORTS{1'b0}};

  // The candidate in s1 blocks its ports: a group that needs them too is checked later, when the lock is visible.
  // Otherwise its turn would be wasted. If the candidate cannot start, the other groups lose a cycle.
  reg  [PORTS-1:0]  taken_q;
  reg  [PORTS-1:0]  closed;
  reg               blind;

  integer i;
  always @(*) begin
    ready = g_live & ~g_error & g_pending & ~midway_q;
    for (i = 0; i < GROUPS; i = i + 1) begin
      closed  = lock_q | (reserved_q[i] ? {PORTS{1'b0}} : reserved_ports_q);
      ask[i]  = pick_q[i*PORTS +: PORTS] != {PORTS{1'b0}};
      // An entry that has left, or that s1 is checking, may have been replaced by another one when its turn comes.
      blind   = (pick_q[i*PORTS +: PORTS] & (s1_port | popped_q)) != {PORTS{1'b0}};
      want[i] = (midway_q[i] || ((ready[i] || ask[i]) && !blind && (closed & g_block[i*PORTS +: PORTS]) == {PORTS{1'b0}})) &&
                ((prep_busy | taken_q) & g_block[i*PORTS +: PORTS]) == {PORTS{1'b0}};
    end
  end

  // Turns: bit i * GROUPS + j is set if group i was checked before group j.
  reg  [GROUPS*GROUPS-1:0] before_q;
  reg  [GROUPS-1:0]        turn;
  reg  [GROUPS-1:0]        later;
  integer a;
  integer b;
  always @(*) begin
    for (a = 0; a < GROUPS; a = a + 1) begin
      for (b = 0; b < GROUPS; b = b + 1) later[b] = before_q[b*GROUPS + a];
      turn[a] = want[a] && (want & later) == {GROUPS{1'b0}};
    end
  end

  genvar t;
  genvar u;
  generate
    for (t = 0; t < GROUPS; t = t + 1) begin : g_turn
      for (u = 0; u < GROUPS; u = u + 1) begin : g_other
        always @(posedge clk)
          if (rst) before_q[t*GROUPS + u] <= t < u;
          else if (turn[t]) before_q[t*GROUPS + u] <= 1'b0;
          else if (turn[u]) before_q[t*GROUPS + u] <= 1'b1;
      end
    end
  endgenerate

  wire [GROUPS-1:0] from_queue = turn & ask & ~midway_q & ~(ready & owed_q & ~stuck_q);
  wire              take_ask   = from_queue != {GROUPS{1'b0}};
  wire              take_want  = (turn & ~from_queue) != {GROUPS{1'b0}};
  reg  [PORTS-1:0]  turn_port;
  reg  [PORTS-1:0]  turn_block;
  integer c;
  always @(*) begin
    turn_port  = {PORTS{1'b0}};
    turn_block = {PORTS{1'b0}};
    for (c = 0; c < GROUPS; c = c + 1)
      if (turn[c]) begin
        turn_port  = turn_port | pick_q[c*PORTS +: PORTS];
        turn_block = turn_block | g_block[c*PORTS +: PORTS];
      end
  end

  // The entries at the queue outputs, by group; and for each group the next port after the one that was checked last.
  reg  [GROUPS*PORTS-1:0] fronts;
  integer d;
  always @(*) begin
    fronts = {GROUPS*PORTS{1'b0}};
    for (d = 0; d < PORTS; d = d + 1)
      if (q_valid[d]) fronts[{{32-GW{1'b0}}, q_addr[d*AW+LW +: GW]}*PORTS + d] = 1'b1;
  end

  always @(posedge clk)
    if (rst) popped_q <= {PORTS{1'b0}};
    else popped_q <= q_pop;

  generate
    for (t = 0; t < GROUPS; t = t + 1) begin : g_pick
      reg  [PORTS-1:0] behind_q;
      wire [PORTS-1:0] mine   = fronts[t*PORTS +: PORTS];
      wire [PORTS-1:0] behind = mine & behind_q;
      wire [PORTS-1:0] from   = behind != {PORTS{1'b0}} ? behind : mine;
      wire [PORTS-1:0] pick   = pick_q[t*PORTS +: PORTS];

      always @(posedge clk)
        if (rst) pick_q[t*PORTS +: PORTS] <= {PORTS{1'b0}};
        else pick_q[t*PORTS +: PORTS] <= from & (~from + 1'b1);

      always @(posedge clk)
        if (rst) behind_q <= {PORTS{1'b0}};
        else if (from_queue[t]) behind_q <= ~(pick | (pick - 1'b1));
    end
  endgenerate

  always @(posedge clk)
    if (rst) begin
      s1_first_q  <= 1'b0;
      s1_repeat_q <= 1'b0;
    end else begin
      s1_first_q  <= take_want;
      s1_repeat_q <= take_ask;
    end

  always @(posedge clk)
    if (take_want || take_ask) begin
      s1_group_q <= encode_group(turn);
      s1_port_q  <= encode_port(turn_port);
    end

  always @(posedge clk)
    if (rst) taken_q <= {PORTS{1'b0}};
    else taken_q <= turn_block;

  // The entries at the outputs of all ports, compared with the ledger. Stale: repeats that must no longer be sent.
  // Early:
  // first sendings whose predecessor may still have a lane to launch. Compared at each port first, then selected.
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

  // s1: check the candidate. All its inputs are read now.
  wire [GW-1:0]       g        = s1_group_q;
  wire [31:0]         cfg      = g_cfg[g*32 +: 32];
  wire [PORTS-1:0]    block    = g_block[g*PORTS +: PORTS];
  wire [PORTS-1:0]    members  = g_ports[g*PORTS +: PORTS];
  wire [4:0]          lanes    = cfg[`RF_GROUP_CFG_LANES_LSB +: `RF_GROUP_CFG_LANES_BITS];
  wire [3:0]          mtu_log2 = cfg[`RF_GROUP_CFG_MTU_LOG2_LSB +: `RF_GROUP_CFG_MTU_LOG2_BITS];
  wire [3:0]          size_log2 = cfg[`RF_GROUP_CFG_S_LOG2_LSB +: `RF_GROUP_CFG_S_LOG2_BITS];
  wire [31:0]         mtu_beats = (32'd1 << mtu_log2) >> BYTES_LOG2;
  wire [CREDIT_W-1:0] beats    = mtu_beats[CREDIT_W-1:0];
  wire [CREDIT_W-1:0] hdrs     = {{CREDIT_W-5{1'b0}}, lanes};
  wire                midway   = midway_q[g];
  wire                again    = s1_first_q && midway && repeat_q[g];

  // The repeat at the queue output.
  wire [LW-1:0]       e_lane   = q_addr[s1_port_q*AW +: LW];
  wire [23:0]         e_index  = q_index[s1_port_q*24 +: 24];
  wire                e_first  = q_first[s1_port_q];
  wire                e_dead   = !g_live[g] || g_error[g] || g_life[g] != q_life[s1_port_q];
  wire                e_stale  = stale[s1_port_q];
  wire                e_early  = early[s1_port_q];

  // The lane and the packet.
  wire [LW-1:0]       lane     = (s1_first_q && midway) ? lane_q[g] : {LW{1'b0}};
  wire [23:0]         index    = s1_repeat_q ? e_index : midway ? index_q[g] : g_issued[g*24 +: 24];
  wire                is_rep   = s1_repeat_q || again;
  wire [PW-1:0]       rep_port = s1_repeat_q ? s1_port_q : port_q[g];
  wire [LW-1:0]       rep_lane = s1_repeat_q ? e_lane : wanted_q[g];
  wire                rep_late = s1_repeat_q ? e_first : late_q[g];
  wire                final_lane = {{32-LW{1'b0}}, lane} + 32'd1 >= {27'd0, lanes};
  wire [PORTS-1:0]    rep_onehot = {{PORTS-1{1'b0}}, 1'b1} << rep_port;

  // Room at the ports.
  reg  [PORTS-1:0] enough;
  integer j;
  always @(*) begin
    for (j = 0; j < PORTS; j = j + 1)
      enough[j] = free_beats[j*CREDIT_W +: CREDIT_W] >= beats && free_hdrs[j*CREDIT_W +: CREDIT_W] >= hdrs;
  end

  // The starved group with the lowest number has its ports reserved.
  reg  [GROUPS-1:0] passed_over_q;
  reg  [GROUPS-1:0] starved;
  wire [GROUPS-1:0] reserved = starved & (~starved + 1'b1);
  reg  [PORTS-1:0]  reserved_ports;
  integer h;
  integer o;
  always @(*) begin
    for (h = 0; h < GROUPS; h = h + 1)
      starved[h] = passed_over_q[h] && !midway_q[h] &&
                  ((ready[h] && !stuck_q[h]) || (fronts[h*PORTS +: PORTS] & ~q_stuck_q) != {PORTS{1'b0}});
    reserved_ports = {PORTS{1'b0}};
    for (o = 0; o < GROUPS; o = o + 1)
      if (reserved[o]) reserved_ports = reserved_ports | g_block[o*PORTS +: PORTS];
  end

  always @(posedge clk)
    if (rst) begin
      reserved_q  <= {GROUPS{1'b0}};
      reserved_ports_q <= {PORTS{1'b0}};
    end else begin
      reserved_q  <= reserved;
      reserved_ports_q <= reserved_ports;
    end

  wire free_preps = (prep_busy & block) == {PORTS{1'b0}};
  wire room       = ((is_rep ? rep_onehot : members) & ~enough) == {PORTS{1'b0}};
  wire queues     = (members & ~q_room) == {PORTS{1'b0}};
  wire start_ok   = free_preps && pass_room[g];

  wire forget     = s1_repeat_q && (e_dead || e_stale);
  wire not_reserved = (reserved_ports_q & block) == {PORTS{1'b0}} || reserved_q[g];
  wire go_first   = s1_first_q && !midway && ready[g] && start_ok && not_reserved && room && queues;
  wire go_repeat  = s1_repeat_q && !forget && !e_early && start_ok && not_reserved && room;
  wire go_on      = s1_first_q && midway && free_preps;
  wire start      = go_first || go_repeat;
  wire go         = start || go_on;

  // Copies.
  wire [PORTS-1:0] lane_members =
    g_members[({{32-GW{1'b0}}, g} * LANES + {{32-LW{1'b0}}, lane}) * PORTS +: PORTS];
  wire             rep_here = is_rep && lane == rep_lane;
  wire [PORTS-1:0] copy     = is_rep ? (rep_here ? rep_onehot : {PORTS{1'b0}}) : lane_members & ~l_queued;

  assign pass_begin   = start;
  assign pass_first   = go_first;
  assign s_valid      = (go && (!is_rep || rep_late)) ? copy : {PORTS{1'b0}};
  assign q_push       = (go && !is_rep) ? lane_members & l_queued : {PORTS{1'b0}};
  assign q_pop        = (forget || go_repeat) ? s1_port : {PORTS{1'b0}};
  assign q_stale      = (forget && !e_dead) ? s1_port : {PORTS{1'b0}};

  wire [15:0] size_mask = ~(16'hffff << size_log2);
  wire [15:0] slot      = index[15:0] & size_mask;
  wire [31:0] slot_beat = g_dbase[g*32 +: 32] + (({16'd0, slot} << mtu_log2) >> BYTES_LOG2);
  wire [31:0] slot_hdr  = g_hbase[g*32 +: 32] + {16'd0, slot};

  assign launch_valid  = go ? block : {PORTS{1'b0}};
  assign launch_member = lane_members;
  assign launch_copy   = copy;
  assign launch_room   = is_rep ? rep_onehot : members;
  assign launch_block  = block;
  assign launch_group  = g;
  assign launch_lane   = lane;
  assign launch_index  = index;
  assign launch_first  = !go_on;
  assign launch_final  = final_lane;
  assign launch_repeat = is_rep && !rep_late;
  assign launch_ackreq = (is_rep && !rep_late) || (slot & (size_mask >> 3)) == 16'd0;
  assign launch_level  = cfg[`RF_GROUP_CFG_LEVEL_LSB +: `RF_GROUP_CFG_LEVEL_BITS];
  assign launch_dtype  = cfg[`RF_GROUP_CFG_DTYPE_LSB +: `RF_GROUP_CFG_DTYPE_BITS];
  assign launch_op     = cfg[`RF_GROUP_CFG_OP_LSB +: `RF_GROUP_CFG_OP_BITS];
  assign launch_ref    = g_ref[g*PW +: PW];
  assign launch_lanes  = lanes;
  assign launch_beats  = beats;
  assign launch_beat   = slot_beat[BANK_AW-1:0];
  assign launch_slot   = slot_hdr[HDR_AW-1:0];

  // State of the packets in progress.
  always @(posedge clk)
    if (rst) begin
      midway_q <= {GROUPS{1'b0}};
      lock_q   <= {PORTS{1'b0}};
    end else if (go) begin
      midway_q[g] <= !final_lane;
      lock_q      <= final_lane ? lock_q & ~block : lock_q | block;
    end

  always @(posedge clk)
    if (go) lane_q[g] <= lane + 1'b1;

  always @(posedge clk)
    if (start) begin
      index_q[g]  <= index;
      repeat_q[g] <= is_rep;
      late_q[g]   <= rep_late;
      port_q[g]   <= rep_port;
      wanted_q[g] <= rep_lane;
    end

  // A group may be checked too rarely for its `stuck` bit to be updated, so all these bits are cleared from time to
  // time.
  reg  [7:0] stuck_age_q;

  always @(posedge clk)
    if (rst) stuck_age_q <= 8'd0;
    else stuck_age_q <= stuck_age_q + 8'd1;

  always @(posedge clk)
    if (rst || stuck_age_q == 8'd0) stuck_q <= {GROUPS{1'b0}};
    else if (s1_first_q && !midway) stuck_q[g] <= !(room && queues);

  always @(posedge clk)
    if (rst) q_stuck_q <= {PORTS{1'b0}};
    else if (s1_repeat_q) q_stuck_q[s1_port_q] <= !forget && !room;

  // The start in s1, one cycle later. The counts below may lag, because no group of the block is checked in the next
  // cycle.
  reg              begun_first_q;
  reg              begun_repeat_q;
  reg  [GW-1:0]    begun_group_q;
  reg  [PORTS-1:0] begun_block_q;

  always @(posedge clk)
    if (rst) begin
      begun_first_q  <= 1'b0;
      begun_repeat_q <= 1'b0;
    end else begin
      begun_first_q  <= go_first;
      begun_repeat_q <= go_repeat;
    end

  always @(posedge clk)
    if (s1_first_q || s1_repeat_q) begin
      begun_group_q <= g;
      begun_block_q <= block;
    end

  // Entries of each group sent from the queues since its last first sending, while a first sending was ready.
  generate
    for (t = 0; t < GROUPS; t = t + 1) begin : g_owed
      localparam [31:0] NUMBER = t;
      reg  [5:0] sent_q;
      wire       mine = begun_group_q == NUMBER[GW-1:0];

      always @(posedge clk)
        if (rst || !g_live[t] || g_error[t] || !g_pending[t] || (begun_first_q && mine)) begin
          sent_q    <= 6'd0;
          owed_q[t] <= 1'b0;
        end else if (begun_repeat_q && mine && !owed_q[t]) begin
          sent_q    <= sent_q + 6'd1;
          owed_q[t] <= {26'd0, sent_q} + 32'd1 >= QUEUED;
        end
    end
  endgenerate

  // Packets of other groups that passed each group on one of its ports.
  generate
    for (t = 0; t < GROUPS; t = t + 1) begin : g_passed
      localparam [31:0] NUMBER = t;
      reg  [5:0] passed_q;
      wire       begun = begun_first_q || begun_repeat_q;
      wire       mine  = begun_group_q == NUMBER[GW-1:0];
      wire       waits = ready[t] || fronts[t*PORTS +: PORTS] != {PORTS{1'b0}};

      always @(posedge clk)
        if (rst || !waits || (begun && mine)) begin
          passed_q    <= 6'd0;
          passed_over_q[t] <= 1'b0;
        end else if (begun && (g_block[t*PORTS +: PORTS] & begun_block_q) != {PORTS{1'b0}} && !passed_over_q[t]) begin
          passed_q    <= passed_q + 6'd1;
          passed_over_q[t] <= {26'd0, passed_q} + 32'd1 >= PASSED_MAX;
        end
    end
  endgenerate

  assign idle = !s1_first_q && !s1_repeat_q && !begun_first_q && !begun_repeat_q && midway_q == {GROUPS{1'b0}} &&
                ready == {GROUPS{1'b0}} && q_valid == {PORTS{1'b0}};

  wire unused_bits = &{1'b0, cfg, slot_beat, slot_hdr, mtu_beats};

`ifdef FORMAL
`include "sched.vh"
`endif

endmodule

`default_nettype wire
