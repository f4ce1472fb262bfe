// rf_reduce_out: final form of a block's result (16-bit types rounded, NaN canonical), from one of two sources.
//
// Latency     2 cycles.
// Throughput  1 beat per cycle.
// Capacity    none beyond the pipeline.
// Handshake   valid only, no back-pressure; at most one source in a cycle.
// Reset       clears the valid bits; data is not reset.
// Proved      tests/rtl/reduce.cpp; tests/formal/pass_reduce.proof, inside rf_reduce.

`include "rf_reduce.vh"

`default_nettype none

module rf_reduce_out #(
  // Bits of a port's beat.
  parameter WIDTH = 512,
  // Types that are supported.
  parameter TYPES = 1023,
  // 1: one of them has 16 bits. Follows from TYPES.
  parameter HALF = ((TYPES & `RF_TYPES_HALF) != 0) ? 1 : 0
) (
  input  wire                      clk,
  input  wire                      rst,
  // Packets of one lane, from the tree.
  input  wire                      a_valid,
  input  wire                      a_last,
  input  wire [1:0]                a_level,
  input  wire [3:0]                a_dtype,
  input  wire [WIDTH*(1+HALF)-1:0] a_data,
  // A beat that is known to be wrong.
  input  wire                      a_bad,
  // From the accumulator.
  input  wire                      b_valid,
  input  wire                      b_last,
  input  wire [1:0]                b_level,
  input  wire [3:0]                b_dtype,
  input  wire [WIDTH*(1+HALF)-1:0] b_data,
  input  wire                      b_bad,
  output wire                      out_valid,
  output wire                      out_last,
  output wire [1:0]                out_level,
  output wire [WIDTH-1:0]          out_data,
  output wire                      out_bad
);

`include "rf_types.vh"

  reg       p1_valid_q;
  reg       p1_last_q;
  reg       p1_bad_q;
  reg [1:0] p1_level_q;
  reg [3:0] p1_dtype_q;
  reg       p2_valid_q;
  reg       p2_last_q;
  reg       p2_bad_q;
  reg [1:0] p2_level_q;

  wire [3:0] in_dtype = b_valid ? b_dtype : a_dtype;

  always @(posedge clk)
    if (rst) p1_valid_q <= 1'b0;
    else p1_valid_q <= a_valid || b_valid;

  always @(posedge clk)
    if (a_valid || b_valid) begin
      p1_last_q  <= b_valid ? b_last : a_last;
      p1_bad_q   <= b_valid ? b_bad : a_bad;
      p1_level_q <= b_valid ? b_level : a_level;
      p1_dtype_q <= in_dtype;
    end

  always @(posedge clk)
    if (rst) p2_valid_q <= 1'b0;
    else p2_valid_q <= p1_valid_q;

  always @(posedge clk)
    if (p1_valid_q) begin
      p2_last_q  <= p1_last_q;
      p2_bad_q   <= p1_bad_q;
      p2_level_q <= p1_level_q;
    end

  // NaNs of 64 bits, which are two words.
  localparam FP64 = (TYPES & `RF_TYPES_FP64) != 0;

  wire [WIDTH-1:0] p1_low;

  genvar w;
  generate
    if (!FP64) begin : g_no_wide
      wire unused_low = &{1'b0, p1_low};
    end

    for (w = 0; w < WIDTH / 32; w = w + 1) begin : g_word
      wire [63:0] a;
      wire [63:0] b;
      wire        nan64;

      if (FP64) begin : g_wide
        // The element of which this word is a half; without its sign.
        wire [62:0] whole       = p1_low[(w - w % 2)*32 +: 63];
        wire        unused_sign = p1_low[w*32+31];

        assign nan64 = p1_dtype_q == `RF_TYPE_FP64 && whole[62:52] == 11'h7ff && whole[51:0] != 52'd0;
      end else begin : g_no_nan
        assign nan64 = 1'b0;
      end

      if (HALF != 0) begin : g_half
        assign a = {a_data[WIDTH+w*32 +: 32], a_data[w*32 +: 32]};
        assign b = {b_data[WIDTH+w*32 +: 32], b_data[w*32 +: 32]};
      end else begin : g_word_only
        assign a = {32'd0, a_data[w*32 +: 32]};
        assign b = {32'd0, b_data[w*32 +: 32]};
      end

      rf_fp_pack #(
        .TYPES(TYPES),
        .ODD  (w % 2)
      ) pack (
        .clk     (clk),
        .in_a_en (a_valid),
        .in_b_en (b_valid),
        .in_half (is_half(in_dtype)),
        .in_a    (a),
        .in_b    (b),
        .p1_en   (p1_valid_q),
        .p1_half (is_half(p1_dtype_q)),
        .p1_fp16 (p1_dtype_q == `RF_TYPE_FP16),
        .p1_fp32 (p1_dtype_q == `RF_TYPE_FP32),
        .p1_nan64(nan64),
        .p1_low  (p1_low[w*32 +: 32]),
        .p2_word (out_data[w*32 +: 32])
      );
    end
  endgenerate

  assign out_valid = p2_valid_q;
  assign out_last  = p2_last_q;
  assign out_bad   = p2_bad_q;
  assign out_level = p2_level_q;

endmodule

`default_nettype wire
