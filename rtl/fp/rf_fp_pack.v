// rf_fp_pack: final form of a result word: 16-bit types rounded once from fp32, NaN made canonical.
//
// Latency     2 cycles.
// Throughput  1 word per cycle.
// Capacity    none beyond the pipeline.
// Handshake   none: stage k loads while its enable is high. At most one of the two sources is enabled.
// Reset       none: data only.
// Proved      tests/rtl/fp_convert.cpp compares with an independent reference, bit-exact.
//
// Round to nearest, ties to even, overflow to infinity, subnormals. NaN becomes 7fc00000, 7fc0 (bf16),
// 7e00 (fp16) or 7ff8000000000000 (fp64, two words).
//
// Stages
//   p1  select the source; shift distance of an fp16 subnormal           8-bit subtract
//   p2  shift, round, select                                             shift, increment

`include "rf_reduce.vh"

`default_nettype none

module rf_fp_pack #(
  // Types that are supported. Without one of 16 bits in_half and p1_half are ignored.
  parameter TYPES = 1023,
  // 1: the upper word of elements of 64 bits; 0: the lower one.
  parameter ODD = 0
) (
  input  wire        clk,
  // One of two sources, each {second, first element} as fp32, or the one 32-bit element in the lower half.
  input  wire        in_a_en,
  input  wire        in_b_en,
  input  wire        in_half,
  input  wire [63:0] in_a,
  input  wire [63:0] in_b,
  // One cycle later: 16-bit type, fp16, fp32, this word belongs to an fp64 that is a NaN. Anything else stays as it is.
  input  wire        p1_en,
  input  wire        p1_half,
  input  wire        p1_fp16,
  input  wire        p1_fp32,
  input  wire        p1_nan64,
  output wire [31:0] p1_low,
  // Two cycles later.
  output wire [31:0] p2_word
);

  localparam        HALF  = (TYPES & `RF_TYPES_HALF) != 0;
  localparam        FP64  = (TYPES & `RF_TYPES_FP64) != 0;
  localparam [31:0] NAN   = 32'h7fc0_0000;
  localparam [31:0] NAN64 = (ODD != 0) ? 32'h7ff8_0000 : 32'd0;

  // Right shift of the significand of an fp16 result: from 12 on nothing is left of it.
  function [3:0] fp16_shift;
    input [7:0] f_exp;
    reg [7:0] f_n;
    begin
      f_n          = 8'd113 - f_exp;
      fp16_shift = (f_exp >= 8'd113) ? 4'd0 : (f_n[7:2] >= 6'd3) ? 4'd12 : f_n[3:0];
    end
  endfunction

  function [15:0] narrow;
    input        f_fp16;
    input [31:0] f_x;
    input [3:0]  f_shift;
    reg [23:0] f_sig;
    reg [23:0] f_lost;
    reg [4:0]  f_base;
    reg        f_nan;
    reg        f_up;
    begin
      f_nan = f_x[30:23] == 8'd255 && f_x[22:0] != 23'd0;
      if (!f_fp16) begin
        f_up     = f_x[15] && (f_x[16] || f_x[14:0] != 15'd0);
        narrow = f_nan ? 16'h7fc0 : f_x[31:16] + {15'd0, f_up};
      end else begin
        f_sig  = {f_x[30:23] != 8'd0, f_x[22:0]};
        f_lost = f_sig & ~(24'hff_ffff << f_shift);
        f_sig  = f_sig >> f_shift;
        f_up   = f_sig[12] && (f_sig[13] || f_sig[11:0] != 12'd0 || f_lost != 24'd0);
        // The leading one of a normal significand adds one to the exponent.
        f_base = (f_x[30:23] >= 8'd113) ? f_x[27:23] - 5'd17 : 5'd0;
        if (f_nan) narrow = 16'h7e00;
        else if (f_x[30:23] >= 8'd143) narrow = {f_x[31], 15'h7c00};
        else narrow = {f_x[31], {f_base, 10'd0} + {4'd0, f_sig[23:13]} + {14'd0, f_up}};
      end
    end
  endfunction

  function [31:0] finish;
    input        f_half;
    input        f_fp16;
    input        f_fp32;
    input        f_nan64;
    input [31:0] f_low;
    input [31:0] f_high;
    input [3:0]  f_low_shift;
    input [3:0]  f_high_shift;
    if (HALF && f_half) begin
      finish[15:0]  = narrow(f_fp16, f_low, f_low_shift);
      finish[31:16] = narrow(f_fp16, f_high, f_high_shift);
    end else if (FP64 && f_nan64) begin
      finish = NAN64;
    end else begin
      finish = (f_fp32 && f_low[30:23] == 8'd255 && f_low[22:0] != 23'd0) ? NAN : f_low;
    end
  endfunction

  reg  [31:0] p1_low_q;
  wire [31:0] p1_high;
  wire [3:0]  p1_low_shift;
  wire [3:0]  p1_high_shift;

  always @(posedge clk)
    if (in_a_en || in_b_en) p1_low_q <= in_b_en ? in_b[31:0] : in_a[31:0];

  generate
    if (HALF) begin : g_half
      reg [31:0] high_q;
      reg [3:0]  low_shift_q;
      reg [3:0]  high_shift_q;

      always @(posedge clk)
        if ((in_a_en || in_b_en) && in_half) begin
          high_q       <= in_b_en ? in_b[63:32] : in_a[63:32];
          low_shift_q  <= fp16_shift(in_b_en ? in_b[30:23] : in_a[30:23]);
          high_shift_q <= fp16_shift(in_b_en ? in_b[62:55] : in_a[62:55]);
        end

      assign p1_high       = high_q;
      assign p1_low_shift  = low_shift_q;
      assign p1_high_shift = high_shift_q;
    end else begin : g_word
      assign p1_high       = 32'd0;
      assign p1_low_shift  = 4'd0;
      assign p1_high_shift = 4'd0;

      wire unused_half = &{1'b0, in_half, in_a[63:32], in_b[63:32]};
    end
  endgenerate

  reg [31:0] p2_word_q;

  always @(posedge clk)
    if (p1_en) p2_word_q <= finish(p1_half, p1_fp16, p1_fp32, p1_nan64, p1_low_q, p1_high, p1_low_shift, p1_high_shift);

  assign p1_low  = p1_low_q;
  assign p2_word = p2_word_q;

endmodule

`default_nettype wire
