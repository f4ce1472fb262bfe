// rf_lag: measures which rank is last in one group, one index at a time: docs/box.md, "Who is last".
//
// Latency     a measurement ends 3 cycles after the head has passed its index. What the ports and the ledger say is
//             registered first; so is whether the head has passed, and the cycles counted are those between the events.
// Throughput  one group at a time.
// Capacity    one measurement.
// Handshake   none.
// Reset       no measurement is active.
// Proved      tests/rtl/unit_lag.cpp; tests/rtl/core.
//
// The index is chosen a whole window ahead, so that no rank can have sent it yet: the first packet observed is the
// first one sent.

`default_nettype none

module rf_lag #(
  parameter PORTS = 4,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2
) (
  input  wire                     clk,
  input  wire                     rst,

  input  wire                     arm_valid,
  input  wire [7:0]               arm_group,
  // LIVE of a group is written with 0.
  input  wire                     stop_valid,
  input  wire [GW-1:0]            stop_group,
  input  wire [GROUPS*4-1:0]      g_size_log2,

  // Packets accepted at the ports.
  input  wire [PORTS-1:0]         j_valid,
  input  wire [PORTS*(GW+LW)-1:0] j_addr,
  input  wire [PORTS*24-1:0]      j_index,
  // Connections that advanced in the measured group, and its head.
  input  wire [PORTS-1:0]         step_valid,
  input  wire [PORTS*(GW+LW)-1:0] step_addr,
  input  wire [PORTS*24-1:0]      step_index,
  output wire [GW-1:0]            group,
  input  wire [23:0]              head,

  output wire [31:0]              status,
  output wire [31:0]              cycles,
  output wire [31:0]              index
);

  localparam AW = GW + LW;

  localparam [2:0] NONE    = 3'd0;
  localparam [2:0] ARMED   = 3'd1;
  localparam [2:0] CHOSEN  = 3'd2;
  localparam [2:0] RUNNING = 3'd3;
  localparam [2:0] DONE    = 3'd4;

  reg  [2:0]    state_q;
  reg  [7:0]    group_q;
  reg  [23:0]   index_q;
  reg  [31:0]   cycles_q;
  reg  [PW-1:0] port_q;
  reg  [LW-1:0] lane_q;

  assign group = group_q[GW-1:0];

  wire        there = {24'd0, group_q} < GROUPS;
  wire [3:0]  log2  = g_size_log2[group*4 +: 4];

  // The events, one cycle later: they come late in their cycle.
  reg  [PORTS-1:0]         seen_q;
  reg  [PORTS*(GW+LW)-1:0] seen_addr_q;
  reg  [PORTS*24-1:0]      seen_index_q;
  reg  [PORTS-1:0]         step_q;
  reg  [PORTS*(GW+LW)-1:0] step_addr_q;
  reg  [PORTS*24-1:0]      step_index_q;

  always @(posedge clk)
    if (rst || arm_valid) {step_q, seen_q} <= {2*PORTS{1'b0}};
    else {step_q, seen_q} <= {step_valid, j_valid};

  always @(posedge clk)
    if (state_q != NONE) begin
      seen_addr_q  <= j_addr;
      seen_index_q <= j_index;
      step_addr_q  <= step_addr;
      step_index_q <= step_index;
    end

  // A packet accepted in this group; the packet with the chosen index; a step past the chosen index.
  reg         any;
  reg  [23:0] any_index;
  reg         first;
  reg         move;
  reg  [PW-1:0] move_port;
  reg  [LW-1:0] move_lane;
  integer     p;

  always @(*) begin
    any       = 1'b0;
    any_index = 24'd0;
    first     = 1'b0;
    move      = 1'b0;
    move_port = {PW{1'b0}};
    move_lane = {LW{1'b0}};
    for (p = PORTS - 1; p >= 0; p = p - 1) begin
      if (seen_q[p] && seen_addr_q[p*AW+LW +: GW] == group) begin
        any       = 1'b1;
        any_index = seen_index_q[p*24 +: 24];
        if (seen_index_q[p*24 +: 24] == index_q) first = 1'b1;
      end
      if (step_q[p] && step_addr_q[p*AW+LW +: GW] == group && step_index_q[p*24 +: 24] == index_q) begin
        move      = 1'b1;
        move_port = p[PW-1:0];
        move_lane = step_addr_q[p*AW +: LW];
      end
    end
  end

  wire [23:0] past = head - index_q;
  reg         past_q;
  reg         over_q;

  always @(posedge clk) begin
    past_q <= past != 24'd0 && !past[23];
    over_q <= past_q;
  end

  always @(posedge clk)
    if (rst) state_q <= NONE;
    else if (arm_valid) state_q <= ARMED;
    else if (!there || (stop_valid && stop_group == group)) state_q <= NONE;
    else if (state_q == ARMED && any) state_q <= CHOSEN;
    else if (state_q == CHOSEN && first) state_q <= RUNNING;
    else if (state_q == RUNNING && over_q) state_q <= DONE;

  always @(posedge clk)
    if (arm_valid) group_q <= arm_group;

  always @(posedge clk)
    if (state_q == ARMED && any) index_q <= any_index + (24'd1 << log2);

  always @(posedge clk)
    if (state_q == CHOSEN) cycles_q <= 32'd0;
    else if (state_q == RUNNING && !over_q && cycles_q != 32'hffffffff) cycles_q <= cycles_q + 32'd1;

  always @(posedge clk)
    if (move && (state_q == CHOSEN || state_q == RUNNING)) begin
      port_q <= move_port;
      lane_q <= move_lane;
    end

  wire done = state_q == DONE;

  assign status = done ? {1'b1, 7'd0, group_q, 4'd0, {4-LW{1'b0}}, lane_q, 5'd0, {3-PW{1'b0}}, port_q} : 32'd0;
  assign cycles = done ? cycles_q : 32'd0;
  assign index  = done ? {8'd0, index_q} : 32'd0;

endmodule

`default_nettype wire
