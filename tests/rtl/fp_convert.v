// Bench top: rf_fp_unpack and rf_fp_pack side by side.

module fp_convert (
  input  wire        clk,
  input  wire        rst,
  input  wire        in_half,
  input  wire        in_fp16,
  input  wire        in_fp32,
  input  wire        in_nan64,
  input  wire [31:0] in_word,
  output wire [31:0] out_low,
  output wire [31:0] out_high,
  // 1: source a, 2: source b.
  input  wire [1:0]  in_en,
  input  wire [63:0] in_a,
  input  wire [63:0] in_b,
  output wire [31:0] out_before,
  output wire [31:0] out_word
);

  reg p1_en_q;
  reg p1_half_q;
  reg p1_fp16_q;
  reg p1_fp32_q;
  reg p1_nan64_q;

  always @(posedge clk)
    if (rst) p1_en_q <= 1'b0;
    else p1_en_q <= in_en != 2'd0;

  always @(posedge clk) begin
    p1_half_q <= in_half;
    p1_fp16_q <= in_fp16;
    p1_fp32_q <= in_fp32;
    p1_nan64_q <= in_nan64;
  end

  rf_fp_unpack unpack (
    .clk    (clk),
    .in_en  (1'b1),
    .in_half(in_half),
    .in_fp16(in_fp16),
    .in_word(in_word),
    .low    (out_low),
    .high   (out_high)
  );

  rf_fp_pack pack (
    .clk    (clk),
    .in_a_en(in_en[0]),
    .in_b_en(in_en[1]),
    .in_half(in_half),
    .in_a   (in_a),
    .in_b   (in_b),
    .p1_en  (p1_en_q),
    .p1_half(p1_half_q),
    .p1_fp16(p1_fp16_q),
    .p1_fp32(p1_fp32_q),
    .p1_nan64(p1_nan64_q),
    .p1_low (out_before),
    .p2_word(out_word)
  );

endmodule
