// rf_sched_pick: the entries at the outputs of the queues of all ports, by group; and of each group's entries the one
// whose turn it is, round-robin over the ports.
//
// Latency     queue output to fronts: none; to pick: 1 cycle.
// Throughput  an entry of each group per cycle.
// Capacity    none.
// Handshake   none. An entry may have left when pick shows it: the user compares.
// Reset       no entry.
// Proved      tests/rtl/unit_sched.cpp; tests/formal/sched.proof.

`default_nettype none

module rf_sched_pick #(
  parameter PORTS = 4,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1
) (
  input  wire                     clk,
  input  wire                     rst,

  // The queues' outputs.
  input  wire [PORTS-1:0]         q_valid,
  input  wire [PORTS*(GW+LW)-1:0] q_addr,

  // Groups whose picked entry is checked: their next one is of another port.
  input  wire [GROUPS-1:0]        taken,
  // A group whose entry was refused because others have the ports reserved, and the entry's port: it keeps its turn.
  input  wire [GROUPS-1:0]        refused,
  input  wire [PORTS-1:0]         refused_port,
  // Bit group * PORTS + port.
  output reg  [GROUPS*PORTS-1:0]  fronts,
  output wire [GROUPS*PORTS-1:0]  pick
);

  localparam AW = GW + LW;

  reg [GROUPS*PORTS-1:0] pick_q;

  integer d;
  always @(*) begin
    fronts = {GROUPS*PORTS{1'b0}};
    for (d = 0; d < PORTS; d = d + 1)
      if (q_valid[d]) fronts[{{32-GW{1'b0}}, q_addr[d*AW+LW +: GW]}*PORTS + d] = 1'b1;
  end

  genvar t;
  generate
    for (t = 0; t < GROUPS; t = t + 1) begin : g_pick
      // Ports above the one that was checked last; with it, if it was refused.
      reg  [PORTS-1:0] above_q;
      wire [PORTS-1:0] mine  = fronts[t*PORTS +: PORTS];
      wire [PORTS-1:0] above = mine & above_q;
      wire [PORTS-1:0] from  = above != {PORTS{1'b0}} ? above : mine;
      wire [PORTS-1:0] last  = pick_q[t*PORTS +: PORTS];

      always @(posedge clk)
        if (rst) pick_q[t*PORTS +: PORTS] <= {PORTS{1'b0}};
        else pick_q[t*PORTS +: PORTS] <= from & (~from + 1'b1);

      always @(posedge clk)
        if (rst) above_q <= {PORTS{1'b0}};
        else if (refused[t]) above_q <= ~(refused_port - 1'b1);
        else if (taken[t]) above_q <= ~(last | (last - 1'b1));
    end
  endgenerate

  assign pick = pick_q;

  // The lane is not needed here.
  wire unused_lanes = &{1'b0, q_addr};

endmodule

`default_nettype wire
