// rf_rr_arb: round-robin arbiter with a one-hot grant.
//
// Latency     grant: 0 cycles, combinational from req.
// Throughput  one grant per cycle.
// Capacity    none.
// Handshake   grant selects one of the requesters whenever there is one. `take` reports that the grant is used: from
//             the next cycle on that requester has the lowest priority. Without take the order does not change
//             (a later request may still be granted first).
// Reset       requester 0 has the highest priority.
// Proved      tests/formal/lib/rf_rr_arb.vh: one-hot, only to a requester, never idle; a request that is held is
//             granted within N takes.

`default_nettype none

module rf_rr_arb #(
  // Requesters, 1 or more.
  parameter N = 4
) (
  input  wire         clk,
  input  wire         rst,
  input  wire [N-1:0] req,
  input  wire         take,
  output wire [N-1:0] grant
);

  // Ones for the requesters after the one that was granted last.
  reg [N-1:0] behind_q;

  wire [N-1:0] req_behind = req & behind_q;
  wire         any_behind = req_behind != {N{1'b0}};

  // Bit i: some bit below i is set, in all requests and in those after the last grant. Masks avoid the carry chain of
  // a subtraction.
  wire [N-1:0] over;
  wire [N-1:0] over_behind;

  genvar i;

  generate
    for (i = 0; i < N; i = i + 1) begin : g_over
      localparam [N-1:0] BELOW = ~({N{1'b1}} << i);

      assign over[i]        = (req & BELOW) != {N{1'b0}};
      assign over_behind[i] = (req_behind & BELOW) != {N{1'b0}};
    end
  endgenerate

  // The lowest bit that is set.
  assign grant = any_behind ? req_behind & ~over_behind : req & ~over;

  always @(posedge clk)
    if (rst) behind_q <= {N{1'b0}};
    else if (take && req != {N{1'b0}}) behind_q <= any_behind ? over_behind : over;

`ifdef FORMAL
`include "rf_rr_arb.vh"
`endif

endmodule

`default_nettype wire
