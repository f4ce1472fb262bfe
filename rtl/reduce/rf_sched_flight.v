// rf_sched_flight: the packets in flight: those of which lanes are still to be launched, one per group at most.
//
// Latency     go to midway and lock: 1 cycle. Read of the group's packet: none.
// Throughput  one launch per cycle.
// Capacity    one packet per group.
// Handshake   none: go is a launch that takes effect.
// Reset       no packet.
// Proved      tests/rtl/unit_sched.cpp; tests/formal/sched.proof.

`default_nettype none

module rf_sched_flight #(
  parameter PORTS = 4,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2
) (
  input  wire              clk,
  input  wire              rst,

  // A lane of a packet of this group is launched on the ports of its block (go). check: the group has no packet here,
  // and its next one is checked: it is written whether it starts or not, because go is known late in the cycle.
  input  wire [GW-1:0]     group,
  input  wire [PORTS-1:0]  block,
  input  wire              go,
  input  wire              check,
  input  wire              final_lane,
  input  wire [LW-1:0]     lane,
  input  wire [23:0]       index,
  // The packet comes from a queue; it is a first sending; the connection whose copy it is.
  input  wire              queued,
  input  wire              late,
  input  wire [PW-1:0]     port,
  input  wire [LW-1:0]     copy_lane,

  // Groups whose packet has lanes to come; ports that such packets use.
  output wire [GROUPS-1:0] midway,
  output wire [PORTS-1:0]  lock,
  // The packet of `group`: its next lane, and the values with which it was started.
  output wire [LW-1:0]     next_lane,
  output wire [23:0]       m_index,
  output wire              m_queued,
  output wire              m_late,
  output wire [PW-1:0]     m_port,
  output wire [LW-1:0]     m_copy_lane
`ifdef FORMAL
  ,
  output reg  [GROUPS*LW-1:0] f_lane,
  output reg  [GROUPS*24-1:0] f_index,
  output reg  [GROUPS-1:0]    f_queued,
  output reg  [GROUPS-1:0]    f_late,
  output reg  [GROUPS*PW-1:0] f_port,
  output reg  [GROUPS*LW-1:0] f_copy_lane
`endif
);

  reg  [GROUPS-1:0] midway_q;
  reg  [PORTS-1:0]  lock_q;
  reg  [LW-1:0]     lane_q      [0:GROUPS-1];
  reg  [23:0]       index_q     [0:GROUPS-1];
  reg  [GROUPS-1:0] queued_q;
  reg  [GROUPS-1:0] late_q;
  reg  [PW-1:0]     port_q      [0:GROUPS-1];
  reg  [LW-1:0]     copy_lane_q [0:GROUPS-1];

  // Selection by comparison: an index on the left side becomes a subtraction.
  integer n;
  always @(posedge clk)
    for (n = 0; n < GROUPS; n = n + 1)
      if (rst) midway_q[n] <= 1'b0;
      else if (go && group == n[GW-1:0]) midway_q[n] <= !final_lane;

  always @(posedge clk)
    if (rst) lock_q <= {PORTS{1'b0}};
    else if (go) lock_q <= final_lane ? lock_q & ~block : lock_q | block;

  always @(posedge clk)
    if (go) lane_q[group] <= lane + 1'b1;

  integer m;
  always @(posedge clk)
    for (m = 0; m < GROUPS; m = m + 1)
      if (check && group == m[GW-1:0]) begin
        queued_q[m] <= queued;
        late_q[m]   <= late;
      end

  always @(posedge clk)
    if (check) begin
      index_q[group]     <= index;
      port_q[group]      <= port;
      copy_lane_q[group] <= copy_lane;
    end

  assign midway      = midway_q;
  assign lock        = lock_q;
  assign next_lane   = lane_q[group];
  assign m_index     = index_q[group];
  assign m_queued    = queued_q[group];
  assign m_late      = late_q[group];
  assign m_port      = port_q[group];
  assign m_copy_lane = copy_lane_q[group];

`ifdef FORMAL
  integer f_i;
  always @* begin
    f_queued = queued_q;
    f_late   = late_q;
    for (f_i = 0; f_i < GROUPS; f_i = f_i + 1) begin
      f_lane[f_i*LW +: LW]      = lane_q[f_i];
      f_index[f_i*24 +: 24]     = index_q[f_i];
      f_port[f_i*PW +: PW]      = port_q[f_i];
      f_copy_lane[f_i*LW +: LW] = copy_lane_q[f_i];
    end
  end
`endif

endmodule

`default_nettype wire
