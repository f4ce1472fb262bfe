// rf_fp_vec: a vector of rf_fp_alu with common control.
//
// Latency     5 cycles, for every type.
// Throughput  1 vector per cycle.
// Capacity    none beyond the pipeline.
// Handshake   valid only, no back-pressure. out_data is defined only while out_valid, its upper half only for 16-bit
//             types.
// Reset       clears the valid bits; data is not reset.
// Proved      tests/rtl/fp_alu.cpp (arithmetic), tests/rtl/reduce.cpp (inside rf_reduce).
//
// Vectors are {upper half, lower half}, WORDS x 32 bits each. The upper half (present if TYPES has one of 16 bits) is
// used only for these: two elements per word, unpacked to fp32. Elements of 64 bits are two words each. There are units
// for words of the lower half, for words of the upper half, and for elements of 64 bits; those that a beat does not use
// are not clocked.

`include "rf_reduce.vh"

`default_nettype none

module rf_fp_vec #(
  // Words of 32 bits in a half; even if TYPES has one of 64 bits.
  parameter WORDS = 16,
  // Types that are supported.
  parameter TYPES = 1023,
  // 1: one of them has 16 bits. Follows from TYPES.
  parameter HALF = ((TYPES & `RF_TYPES_HALF) != 0) ? 1 : 0
) (
  input  wire                              clk,
  input  wire                              rst,
  input  wire                              in_valid,
  // Type; 0 sum, 1 min, 2 max, 3 and, 4 or, 5 xor.
  input  wire [3:0]                        in_dtype,
  input  wire [2:0]                        in_op,
  // Operands that are present (at least one).
  input  wire                              in_a_on,
  input  wire                              in_b_on,
  input  wire [WORDS*32*(1+HALF)-1:0]      in_a,
  input  wire [WORDS*32*(1+HALF)-1:0]      in_b,
  output wire                              out_valid,
  output wire [WORDS*32*(1+HALF)-1:0]      out_data
);

`include "rf_types.vh"

  localparam WIDE = (TYPES & `RF_TYPES_WIDE) != 0;

  wire half     = HALF != 0 && is_half(in_dtype);
  wire wide     = WIDE && is_wide(in_dtype);
  wire bytes    = is_byte(in_dtype);
  wire floating = is_float(in_dtype);
  wire signs    = !is_unsigned(in_dtype);
  wire both     = in_a_on && in_b_on;

  // Bit k of the enables belongs to stage p<k+1>.
  reg [4:0] word_en_q;
  reg [3:0] half_en_q;
  reg       p1_float_q;
  reg       p1_add_q;
  reg       p1_min_q;
  reg [2:0] p1_sel_q;

  always @(posedge clk)
    if (rst) word_en_q <= 5'd0;
    else word_en_q <= {word_en_q[3:0], in_valid && !wide};

  always @(posedge clk)
    if (rst) half_en_q <= 4'd0;
    else half_en_q <= {half_en_q[2:0], in_valid && half};

  always @(posedge clk)
    if (in_valid) begin
      p1_float_q <= both && floating;
      p1_add_q   <= both && floating && in_op == `RF_DO_SUM;
      p1_min_q   <= in_op == `RF_DO_MIN;
      p1_sel_q   <= `RF_FP_BIG;
      if (both && !floating)
        case (in_op)
          `RF_DO_SUM: p1_sel_q <= bytes ? `RF_FP_BYTES : `RF_FP_SUM;
          `RF_DO_MIN: p1_sel_q <= `RF_FP_LOW;
          `RF_DO_AND: p1_sel_q <= `RF_FP_AND;
          `RF_DO_OR:  p1_sel_q <= `RF_FP_OR;
          `RF_DO_XOR: p1_sel_q <= `RF_FP_XOR;
          default:    p1_sel_q <= `RF_FP_BIG;
        endcase
    end

  wire [WORDS*32*(1+HALF)-1:0] word_data;

  genvar i;
  generate
    for (i = 0; i < WORDS * (1 + HALF); i = i + 1) begin : g_alu
      rf_fp_alu #(
        .WIDE (0),
        .TYPES((i < WORDS) ? TYPES : TYPES & `RF_TYPES_HALF)
      ) alu (
        .clk      (clk),
        .in_en    (in_valid && ((i < WORDS) ? !wide : half)),
        .in_a_on  (in_a_on),
        .in_b_on  (in_b_on),
        .in_int   (!floating),
        .in_signed(signs),
        .in_byte  (bytes),
        .in_a     (in_a[i*32 +: 32]),
        .in_b     (in_b[i*32 +: 32]),
        .p1_en    ((i < WORDS) ? word_en_q[0] : half_en_q[0]),
        .p1_float (p1_float_q),
        .p1_add   (p1_add_q),
        .p1_min   (p1_min_q),
        .p1_sel   (p1_sel_q),
        .p2_en    ((i < WORDS) ? word_en_q[1] : half_en_q[1]),
        .p3_en    ((i < WORDS) ? word_en_q[2] : half_en_q[2]),
        .p4_en    ((i < WORDS) ? word_en_q[3] : half_en_q[3]),
        .p5_y     (word_data[i*32 +: 32])
      );
    end

    if (HALF == 0) begin : g_no_half
      wire unused_half = &{1'b0, half, half_en_q};
    end else begin : g_half
      assign out_data[WORDS*64-1:WORDS*32] = word_data[WORDS*64-1:WORDS*32];
    end

    if (WIDE) begin : g_wide
      reg  [4:0]          en_q;
      wire [WORDS*32-1:0] data;

      always @(posedge clk)
        if (rst) en_q <= 5'd0;
        else en_q <= {en_q[3:0], in_valid && wide};

      for (i = 0; i < WORDS / 2; i = i + 1) begin : g_alu
        rf_fp_alu #(
          .WIDE (1),
          .TYPES(TYPES)
        ) alu (
          .clk      (clk),
          .in_en    (in_valid && wide),
          .in_a_on  (in_a_on),
          .in_b_on  (in_b_on),
          .in_int   (!floating),
          .in_signed(signs),
          .in_byte  (1'b0),
          .in_a     (in_a[i*64 +: 64]),
          .in_b     (in_b[i*64 +: 64]),
          .p1_en    (en_q[0]),
          .p1_float (p1_float_q),
          .p1_add   (p1_add_q),
          .p1_min   (p1_min_q),
          .p1_sel   (p1_sel_q),
          .p2_en    (en_q[1]),
          .p3_en    (en_q[2]),
          .p4_en    (en_q[3]),
          .p5_y     (data[i*64 +: 64])
        );
      end

      assign out_valid                = word_en_q[4] || en_q[4];
      assign out_data[WORDS*32-1:0] = en_q[4] ? data : word_data[WORDS*32-1:0];
    end else begin : g_no_wide
      assign out_valid                = word_en_q[4];
      assign out_data[WORDS*32-1:0] = word_data[WORDS*32-1:0];
    end
  endgenerate

endmodule

`default_nettype wire
