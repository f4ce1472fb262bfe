// rf_fp_vec: a vector of rf_fp_alu with common control.
//
// Latency     5 cycles.
// Throughput  1 vector per cycle.
// Capacity    none beyond the pipeline.
// Handshake   valid only, no back-pressure. out_data is defined only while out_valid, its upper half only for 16-bit
//             types.
// Reset       clears the valid bits; data is not reset.
// Proved      tests/rtl/fp_alu.cpp (arithmetic), tests/rtl/reduce.cpp (inside rf_reduce).
//
// Vectors are {upper half, lower half}, WORDS x 32 bits each. The lower half is always used. The upper half (present if
// FP16) is used only while in_half is high: a 16-bit type, two elements per word. Otherwise its units are not clocked.

`default_nettype none

module rf_fp_vec #(
  // Words of 32 bits in a half.
  parameter WORDS = 16,
  // 1: the upper half exists.
  parameter FP16 = 1
) (
  input  wire                         clk,
  input  wire                         rst,
  input  wire                         in_valid,
  // Type: int32, or a 16-bit type unpacked to fp32; else fp32.
  input  wire                         in_int,
  input  wire                         in_half,
  // 0 sum, 1 min, 2 max.
  input  wire [1:0]                   in_op,
  // Operands that are present (at least one).
  input  wire                         in_a_on,
  input  wire                         in_b_on,
  input  wire [WORDS*32*(1+FP16)-1:0] in_a,
  input  wire [WORDS*32*(1+FP16)-1:0] in_b,
  output wire                         out_valid,
  output wire [WORDS*32*(1+FP16)-1:0] out_data
);

  // Bit k of the enables belongs to stage p<k+1>.
  reg [4:0] low_en_q;
  reg [3:0] high_en_q;
  reg       p1_int_q;
  reg [1:0] p1_op_q;
  reg       p1_single_q;
  reg       p1_add_q;

  always @(posedge clk)
    if (rst) low_en_q <= 5'd0;
    else low_en_q <= {low_en_q[3:0], in_valid};

  always @(posedge clk)
    if (rst) high_en_q <= 4'd0;
    else high_en_q <= {high_en_q[2:0], in_valid && in_half};

  always @(posedge clk)
    if (in_valid) begin
      p1_int_q    <= in_int;
      p1_op_q     <= in_op;
      p1_single_q <= !in_a_on || !in_b_on;
      p1_add_q    <= in_a_on && in_b_on && !in_int && in_op == 2'd0;
    end

  genvar i;
  generate
    for (i = 0; i < WORDS * (1 + FP16); i = i + 1) begin : g_alu
      rf_fp_alu alu (
        .clk      (clk),
        .in_en    ((i < WORDS) ? in_valid : in_valid && in_half),
        .in_int   (in_int),
        .in_a_on  (in_a_on),
        .in_b_on  (in_b_on),
        .in_a     (in_a[i*32 +: 32]),
        .in_b     (in_b[i*32 +: 32]),
        .p1_en    ((i < WORDS) ? low_en_q[0] : high_en_q[0]),
        .p1_int   (p1_int_q),
        .p1_op    (p1_op_q),
        .p1_single(p1_single_q),
        .p1_add   (p1_add_q),
        .p2_en    ((i < WORDS) ? low_en_q[1] : high_en_q[1]),
        .p3_en    ((i < WORDS) ? low_en_q[2] : high_en_q[2]),
        .p4_en    ((i < WORDS) ? low_en_q[3] : high_en_q[3]),
        .p5_y     (out_data[i*32 +: 32])
      );
    end

    if (FP16 == 0) begin : g_no_half
      wire unused_half = &{1'b0, in_half, high_en_q};
    end
  endgenerate

  assign out_valid = low_en_q[4];

endmodule

`default_nettype wire
