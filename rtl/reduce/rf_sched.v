// rf_sched: starts the passes: looks at one group or one repeat per cycle and starts it if everything it needs is free.
//
// Latency     pending to launch: 1 cycle. Launch is combinational from the candidate's register (s1).
// Throughput  one candidate per cycle; a block of ports gets a pass every 3 cycles at most.
// Capacity    one pass in preparation and one being read per port (rf_reader).
// Handshake   launch_* are pulses of one cycle; every reader of the block takes its part in the same cycle.
// Reset       no pass under way.
// Proved      tests/rtl/core.
//
// A pass is one lane of one packet; the lanes of a packet follow one another on the block's ports, which are locked for the
// others meanwhile. Repeats go before first sendings: a group starts where no repeat that could start wants a port of its block,
// or when REPEATS repeats have gone past it (urgent): then the block is kept free for it.

`include "rf_regs.vh"

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
  // Repeats that may pass a group that waits: one pass in REPEATS + 1 is its first sending.
  parameter REPEATS = 31
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

  // A pass is prepared at a port.
  input  wire [PORTS-1:0]              prep_busy,

  // Launch: to the readers of these ports.
  output wire [PORTS-1:0]              launch_valid,
  output wire [PORTS-1:0]              launch_member,
  // A copy of the result goes to this lane of the port.
  output wire [PORTS-1:0]              launch_copy,
  // Room was taken at the port (with the first lane).
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

  // Packets under way: lanes that are still to be launched.
  reg  [GROUPS-1:0]  midway_q;
  reg  [PORTS-1:0]   lock_q;
  reg  [LW-1:0]      lane_q  [0:GROUPS-1];
  reg  [23:0]        index_q [0:GROUPS-1];
  reg  [GROUPS-1:0]  repeat_q;
  reg  [GROUPS-1:0]  late_q;
  reg  [PW-1:0]      port_q  [0:GROUPS-1];
  reg  [LW-1:0]      wanted_q [0:GROUPS-1];

  // A group was looked at and lacked room somewhere; a repeat lacked room at its port, or is too early.
  reg  [GROUPS-1:0]  stuck_q;
  reg  [PORTS-1:0]   q_stuck_q;

  // s0: choose a candidate.
  reg  [GROUPS-1:0] ready;
  reg  [GROUPS-1:0] want;

  integer i;
  always @(*) begin
    ready = g_live & ~g_error & g_pending & ~midway_q;
    for (i = 0; i < GROUPS; i = i + 1)
      want[i] = (midway_q[i] || (ready[i] && (lock_q & g_block[i*PORTS +: PORTS]) == {PORTS{1'b0}})) &&
                (prep_busy & g_block[i*PORTS +: PORTS]) == {PORTS{1'b0}};
  end

  reg               s1_first_q;
  reg               s1_repeat_q;
  reg  [GW-1:0]     s1_group_q;
  reg  [PW-1:0]     s1_port_q;
  reg               turn_q;

  wire [PORTS-1:0]  s1_port   = s1_repeat_q ? {{PORTS-1{1'b0}}, 1'b1} << s1_port_q : {PORTS{1'b0}};
  wire [PORTS-1:0]  ask       = q_valid & ~s1_port;
  wire              any_want  = want != {GROUPS{1'b0}};
  wire              any_ask   = ask != {PORTS{1'b0}};
  wire              take_ask  = any_ask && (turn_q || !any_want);
  wire              take_want = any_want && !take_ask;
  wire [GROUPS-1:0] grant_group;
  wire [PORTS-1:0]  grant_port;
  wire [PW-1:0]     ask_port  = encode_port(grant_port);

  rf_rr_arb #(.N(GROUPS)) arb_group (
    .clk(clk), .rst(rst), .req(want), .take(take_want), .grant(grant_group));
  rf_rr_arb #(.N(PORTS)) arb_port (
    .clk(clk), .rst(rst), .req(ask), .take(take_ask), .grant(grant_port));

  always @(posedge clk)
    if (rst) begin
      s1_first_q  <= 1'b0;
      s1_repeat_q <= 1'b0;
    end else begin
      s1_first_q  <= take_want;
      s1_repeat_q <= take_ask;
    end

  always @(posedge clk)
    if (take_want) begin
      s1_group_q <= encode_group(grant_group);
    end else if (take_ask) begin
      s1_group_q <= q_addr[ask_port*AW+LW +: GW];
      s1_port_q  <= ask_port;
    end

  always @(posedge clk)
    if (rst) turn_q <= 1'b0;
    else if (any_want && any_ask) turn_q <= !turn_q;

  // s1: look at the candidate. Everything it depends on is read now.
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

  // The repeat at the front.
  wire [LW-1:0]       e_lane   = q_addr[s1_port_q*AW +: LW];
  wire [23:0]         e_index  = q_index[s1_port_q*24 +: 24];
  wire                e_first  = q_first[s1_port_q];
  wire [23:0]         e_sent   = r_sent[s1_port_q*24 +: 24];
  wire [23:0]         e_una    = r_una[s1_port_q*24 +: 24];
  wire                e_dead   = !g_live[g] || g_error[g] || g_life[g] != q_life[s1_port_q];
  // A first sending waits for the one before it, of which a later lane may still have to be launched.
  wire                e_stale  = !e_first && (less(e_index, e_una) || !less(e_index, e_sent));
  wire                e_early  = e_first && e_index != e_sent;

  // Which lane of what.
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

  // Ports that repeats want, and those that are kept free for a group that has waited long; one cycle late.
  reg  [PORTS-1:0]  asked_q;
  reg  [PORTS-1:0]  asked;
  reg  [PORTS-1:0]  kept_q;
  reg  [PORTS-1:0]  kept;
  reg  [GROUPS-1:0] urgent_q;
  integer k;
  integer m;
  always @(*) begin
    asked = {PORTS{1'b0}};
    kept  = {PORTS{1'b0}};
    for (k = 0; k < PORTS; k = k + 1)
      if (q_valid[k] && !q_stuck_q[k]) asked = asked | g_block[q_addr[k*AW+LW +: GW]*PORTS +: PORTS];
    for (m = 0; m < GROUPS; m = m + 1)
      if (urgent_q[m] && ready[m] && !stuck_q[m]) kept = kept | g_block[m*PORTS +: PORTS];
  end

  always @(posedge clk)
    if (rst) {asked_q, kept_q} <= {2*PORTS{1'b0}};
    else {asked_q, kept_q} <= {asked, kept};

  wire free_preps = (prep_busy & block) == {PORTS{1'b0}};
  wire free_locks = (lock_q & block) == {PORTS{1'b0}};
  wire room       = ((is_rep ? rep_onehot : members) & ~enough) == {PORTS{1'b0}};
  wire queues     = (members & ~q_room) == {PORTS{1'b0}};
  wire start_ok   = free_preps && free_locks && pass_room[g];

  wire forget     = s1_repeat_q && (e_dead || e_stale);
  wire go_first   = s1_first_q && !midway && ready[g] && start_ok && room && queues &&
                    ((asked_q & block) == {PORTS{1'b0}} || urgent_q[g]);
  wire go_repeat  = s1_repeat_q && !forget && !e_early && start_ok && room && (kept_q & block) == {PORTS{1'b0}};
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

  // State of the packets under way.
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

  always @(posedge clk)
    if (rst) stuck_q <= {GROUPS{1'b0}};
    else if (s1_first_q && !midway) stuck_q[g] <= !(room && queues);

  always @(posedge clk)
    if (rst) q_stuck_q <= {PORTS{1'b0}};
    else if (s1_repeat_q) q_stuck_q[s1_port_q] <= !forget && (!room || e_early);

  // Repeats that went past each group that waits.
  genvar n;
  generate
    for (n = 0; n < GROUPS; n = n + 1) begin : g_urgent
      localparam [31:0] NUMBER = n;
      reg  [5:0] passed_q;
      wire       served = go_first && g == NUMBER[GW-1:0];

      always @(posedge clk)
        if (rst || served || !ready[n]) begin
          passed_q    <= 6'd0;
          urgent_q[n] <= 1'b0;
        end else if (go_repeat && (block & g_block[n*PORTS +: PORTS]) != {PORTS{1'b0}} && !urgent_q[n]) begin
          passed_q    <= passed_q + 6'd1;
          urgent_q[n] <= {26'd0, passed_q} + 32'd1 >= REPEATS;
        end
    end
  endgenerate

  assign idle = !s1_first_q && !s1_repeat_q && midway_q == {GROUPS{1'b0}} && ready == {GROUPS{1'b0}} &&
                q_valid == {PORTS{1'b0}};

  wire unused_bits = &{1'b0, cfg, slot_beat, slot_hdr, mtu_beats};

endmodule
