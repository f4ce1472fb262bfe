// rf_sched_turn: selects, of the groups that ask, the one that was checked least recently.
//
// Latency     none: turn is combinational from want.
// Throughput  one turn per cycle.
// Capacity    none: a bit for each ordered pair of groups.
// Handshake   none: a turn that is given is used.
// Reset       groups are in the order of their numbers.
// Proved      tests/rtl/unit_sched.cpp; tests/formal/sched_turn.vh, as part of rf_sched.

`default_nettype none

module rf_sched_turn #(
  parameter GROUPS = 8
) (
  input  wire              clk,
  input  wire              rst,

  input  wire [GROUPS-1:0] want,
  // At most one of the bits of want; exactly one if any is set.
  output reg  [GROUPS-1:0] turn
);

  // Bit i * GROUPS + j is set if group i was checked before group j.
  reg [GROUPS*GROUPS-1:0] before_q;
  reg [GROUPS-1:0]        later;
  integer                 a;
  integer                 b;

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

`ifdef FORMAL
`include "sched_turn.vh"
`endif

endmodule

`default_nettype wire
