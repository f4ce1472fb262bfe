// rf_delay_parity: rf_delay with parity bits on each word, for delay lines that are stored in a memory.
//
// Latency     N cycles; out_bad is valid with out_valid and is combinational from the word.
// Throughput  one word per cycle.
// Capacity    N words.
// Handshake   valid only.
// Reset       clears the valid bits; data is not reset.
// Proved      tests/rtl/unit_delay_parity.cpp; the rf_delay inside it is formally proved.

`default_nettype none

module rf_delay_parity #(
  // Bits of a word.
  parameter WIDTH = 8,
  // Cycles. Delays of up to 2 cycles are registers and need no parity.
  parameter N = 4,
  // Bits that share a parity bit.
  parameter PART = 64,
  // 0: the delay line without parity.
  parameter PARITY = 1
) (
  input  wire             clk,
  input  wire             rst,
  input  wire             in_valid,
  input  wire [WIDTH-1:0] in_data,
  output wire             out_valid,
  output wire [WIDTH-1:0] out_data,
  output wire             out_bad
);

  localparam PARTS = (WIDTH + PART - 1) / PART;

  generate
    if (PARITY != 0 && N > 2) begin : g_parity
      wire [PARTS-1:0] in_sums;
      wire [PARTS-1:0] out_sums;
      wire [PARTS-1:0] kept;

      rf_parity #(.WIDTH(WIDTH), .PART(PART)) make (.data(in_data), .sums(in_sums));
      rf_parity #(.WIDTH(WIDTH), .PART(PART)) check (.data(out_data), .sums(out_sums));

      rf_delay #(
        .WIDTH(WIDTH + PARTS),
        .N    (N)
      ) line (
        .clk      (clk),
        .rst      (rst),
        .in_valid (in_valid),
        .in_data  ({in_sums, in_data}),
        .out_valid(out_valid),
        .out_data ({kept, out_data})
      );

      assign out_bad = out_valid && kept != out_sums;
    end else begin : g_plain
      rf_delay #(
        .WIDTH(WIDTH),
        .N    (N)
      ) line (
        .clk      (clk),
        .rst      (rst),
        .in_valid (in_valid),
        .in_data  (in_data),
        .out_valid(out_valid),
        .out_data (out_data)
      );

      assign out_bad = 1'b0;
    end
  endgenerate

endmodule

`default_nettype wire
