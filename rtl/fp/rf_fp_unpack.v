// rf_fp_unpack: unpacks a 32-bit word of a payload to one 32-bit element, or to two 16-bit elements widened to fp32.
//
// Latency     1 cycle.
// Throughput  1 word per cycle.
// Capacity    1 word.
// Handshake   none: loads while in_en is high.
// Reset       none: data only.
// Proved      tests/rtl/fp_convert.cpp: all 65,536 values of both types.
//
// Exact, subnormals included; a NaN of a 16-bit type becomes 7fc00000.

`default_nettype none

module rf_fp_unpack (
  input  wire        clk,
  input  wire        in_en,
  // 16-bit type: fp16 (else bf16).
  input  wire        in_half,
  input  wire        in_fp16,
  input  wire [31:0] in_word,
  // The 32-bit element, or the first of the two.
  output wire [31:0] low,
  // The second element; unchanged if there is none.
  output wire [31:0] high
);

  localparam [31:0] NAN = 32'h7fc0_0000;

  function [31:0] widen;
    input        f_half;
    input        f_fp16;
    input [15:0] f_x;
    input [31:0] f_word;
    reg [9:0] f_frac;
    reg [3:0] f_n;
    if (!f_half) begin
      widen = f_word;
    end else if (!f_fp16) begin
      widen = (f_x[14:7] == 8'hff && f_x[6:0] != 7'd0) ? NAN : {f_x, 16'd0};
    end else begin
      f_frac = f_x[9:0];
      f_n    = 4'd0;
      // For subnormals: shift the leading one to the top.
      if (f_frac[9:2] == 8'd0) begin
        f_frac = f_frac << 8;
        f_n    = f_n + 4'd8;
      end
      if (f_frac[9:6] == 4'd0) begin
        f_frac = f_frac << 4;
        f_n    = f_n + 4'd4;
      end
      if (f_frac[9:8] == 2'd0) begin
        f_frac = f_frac << 2;
        f_n    = f_n + 4'd2;
      end
      if (!f_frac[9]) begin
        f_frac = f_frac << 1;
        f_n    = f_n + 4'd1;
      end
      if (f_x[14:10] == 5'd31) widen = (f_x[9:0] != 10'd0) ? NAN : {f_x[15], 31'h7f80_0000};
      else if (f_x[14:10] != 5'd0) widen = {f_x[15], {3'd0, f_x[14:10]} + 8'd112, f_x[9:0], 13'd0};
      else if (f_x[9:0] != 10'd0) widen = {f_x[15], 8'd112 - {4'd0, f_n}, f_frac[8:0], 14'd0};
      else widen = {f_x[15], 31'd0};
    end
  endfunction

  reg [31:0] low_q;
  reg [31:0] high_q;

  always @(posedge clk)
    if (in_en) low_q <= widen(in_half, in_fp16, in_word[15:0], in_word);

  always @(posedge clk)
    if (in_en && in_half) high_q <= widen(1'b1, in_fp16, in_word[31:16], 32'd0);

  assign low  = low_q;
  assign high = high_q;

endmodule

`default_nettype wire
