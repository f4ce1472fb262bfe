// rf_tree_delay: delays a beat of the adder tree by N cycles; its upper half only if a 16-bit type uses it.
//
// Latency     N cycles.
// Throughput  1 beat per cycle.
// Capacity    N beats.
// Handshake   valid only, no back-pressure; the valid bit itself travels with the control word outside.
// Reset       clears the valid bits of the delay lines; data is not reset.
// Proved      the rf_delay inside it is formally proved; here by tests/rtl/reduce.cpp and
//             tests/formal/pass_reduce.proof.

`default_nettype none

module rf_tree_delay #(
  // Bits of a half.
  parameter WIDTH = 512,
  // 1: there is an upper half.
  parameter HALF = 1,
  // Cycles.
  parameter N = 5,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                      clk,
  input  wire                      rst,
  input  wire                      in_valid,
  input  wire                      in_half,
  input  wire [WIDTH*(1+HALF)-1:0] in_data,
  output wire [WIDTH*(1+HALF)-1:0] out_data,
  // The beat had a parity error in the delay line.
  output wire                      out_bad
);

  wire unused_low_valid;
  wire low_bad;
  wire high_bad;

  assign out_bad = low_bad || high_bad;

  rf_delay_parity #(
    .WIDTH (WIDTH),
    .N     (N),
    .PARITY(PARITY)
  ) low (
    .clk      (clk),
    .rst      (rst),
    .in_valid (in_valid),
    .in_data  (in_data[WIDTH-1:0]),
    .out_valid(unused_low_valid),
    .out_data (out_data[WIDTH-1:0]),
    .out_bad  (low_bad)
  );

  generate
    if (HALF != 0) begin : g_high
      wire unused_high_valid;

      rf_delay_parity #(
        .WIDTH (WIDTH),
        .N     (N),
        .PARITY(PARITY)
      ) high (
        .clk      (clk),
        .rst      (rst),
        .in_valid (in_valid && in_half),
        .in_data  (in_data[2*WIDTH-1:WIDTH]),
        .out_valid(unused_high_valid),
        .out_data (out_data[2*WIDTH-1:WIDTH]),
        .out_bad  (high_bad)
      );
    end else begin : g_low_only
      wire unused_half = in_half;

      assign high_bad = 1'b0;
    end
  endgenerate

endmodule

`default_nettype wire
