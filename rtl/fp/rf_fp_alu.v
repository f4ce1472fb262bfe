// rf_fp_alu: adds two 32-bit elements (IEEE 754 fp32, or int32 that wraps) or gives the smaller or greater one.
//
// Latency     5 cycles (rf_fp_vec drives the stage enables).
// Throughput  1 operation per cycle.
// Capacity    none beyond the pipeline.
// Handshake   none: stage k takes over while its enable is high; a stage that is not enabled is not evaluated.
// Reset       none: data only.
// Proved      tests/rtl/fp_alu.cpp compares with an independent reference, bit by bit.
//
// fp32 sum: round to nearest, ties to even; subnormals and infinities; every NaN result is 7fc00000; x + -x = +0.
// min, max: minimumNumber and maximumNumber of IEEE 754-2019, -0 < +0; a number beats a NaN, quiet or signaling; two NaNs
// give 7fc00000. An operand that is not there (in_a_on, in_b_on) is no operand: the other comes out bit by bit.
//
// Stages
//   p1  order the operands by magnitude (int32: by value), distance of the exponents       compare, swap
//   p2  align the smaller operand; result of everything that is not an fp32 sum            shift, select
//   p3  add or subtract                                                                    28-bit add
//   p4  normalise, not below the exponent of the subnormals                                count, shift
//   p5  round, exponent                                                                    increment

module rf_fp_alu (
  input  wire        clk,
  // Operands and, with them: int32 (else float), which of them are there.
  input  wire        in_en,
  input  wire        in_int,
  input  wire        in_a_on,
  input  wire        in_b_on,
  input  wire [31:0] in_a,
  input  wire [31:0] in_b,
  // The same operation, one cycle later: int32, 0 sum, 1 min, 2 max, only one operand.
  input  wire        p1_en,
  input  wire        p1_int,
  input  wire [1:0]  p1_op,
  input  wire        p1_single,
  // Two, three and four cycles later.
  input  wire        p2_en,
  input  wire        p3_en,
  input  wire        p4_en,
  // Five cycles later.
  output wire [31:0] p5_y
);

  localparam [31:0] NAN     = 32'h7fc0_0000;
  localparam [1:0]  OP_SUM  = 2'd0;
  localparam [1:0]  OP_MIN  = 2'd1;
  localparam [1:0]  SEL_INT = 2'd0;
  localparam [1:0]  SEL_BIG = 2'd1;
  localparam [1:0]  SEL_LOW = 2'd2;
  localparam [1:0]  SEL_NAN = 2'd3;

  // p1: big is the operand of greater magnitude (int32: of greater value), or the only one.

  reg [31:0] p1_big_q;
  reg [31:0] p1_low_q;
  reg [7:0]  p1_dist_q;

  always @(posedge clk)
    if (in_en) begin : stage1
      reg       swap;
      reg [7:0] exp_a;
      reg [7:0] exp_b;

      swap = in_b_on && (!in_a_on || {in_int && !in_a[31], in_a[30:0]} < {in_int && !in_b[31], in_b[30:0]});
      // Subnormals have the exponent of the smallest normal numbers.
      exp_a     = {in_a[30:24], in_a[23] || in_a[30:23] == 8'd0};
      exp_b     = {in_b[30:24], in_b[23] || in_b[30:23] == 8'd0};
      p1_big_q  <= swap ? in_b : in_a;
      p1_low_q  <= swap ? in_a : in_b;
      p1_dist_q <= swap ? exp_b - exp_a : exp_a - exp_b;
    end

  // p2: significands with three bits below (guard, round, sticky); a subtrahend is inverted.

  reg        p2_direct_q;
  reg [31:0] p2_value_q;
  reg        p2_sub_q;
  reg [23:0] p2_big_q;
  reg [26:0] p2_low_q;

  always @(posedge clk)
    if (p1_en) begin : stage2
      reg        big_max;
      reg        low_max;
      reg        big_nan;
      reg        low_nan;
      reg        sub;
      reg [1:0]  sel;
      reg [26:0] low;
      reg [26:0] keep;
      reg        sticky;

      big_max = p1_big_q[30:23] == 8'hff;
      low_max = p1_low_q[30:23] == 8'hff;
      big_nan = big_max && p1_big_q[22:0] != 23'd0;
      low_nan = low_max && p1_low_q[22:0] != 23'd0;
      sub     = p1_big_q[31] != p1_low_q[31];

      // A NaN is greater in magnitude than every number, so big is one if any is.
      if (p1_single) sel = SEL_BIG;
      else if (p1_int) sel = (p1_op == OP_SUM) ? SEL_INT : (p1_op == OP_MIN) ? SEL_LOW : SEL_BIG;
      else if (p1_op == OP_SUM) sel = (big_nan || (low_max && sub)) ? SEL_NAN : SEL_BIG;
      else if (big_nan) sel = low_nan ? SEL_NAN : SEL_LOW;
      else sel = (p1_big_q[31] == (p1_op == OP_MIN)) ? SEL_BIG : SEL_LOW;

      p2_direct_q <= p1_single || p1_int || p1_op != OP_SUM || big_max;
      p2_sub_q    <= sub;
      // Of a sum that goes the long way, sign and exponent of the greater operand travel here.
      case (sel)
        SEL_INT: p2_value_q <= p1_big_q + p1_low_q;
        SEL_BIG: p2_value_q <= p1_big_q;
        SEL_LOW: p2_value_q <= p1_low_q;
        default: p2_value_q <= NAN;
      endcase

      if (!p1_int && p1_op == OP_SUM) begin
        low        = {p1_low_q[30:23] != 8'd0, p1_low_q[22:0], 3'b000};
        keep       = 27'h7ff_ffff << p1_dist_q[4:0];
        sticky     = (low & ~keep) != 27'd0 || (p1_dist_q[7:5] != 3'd0 && low != 27'd0);
        low        = (p1_dist_q[7:5] != 3'd0) ? 27'd0 : low >> p1_dist_q[4:0];
        low[0]     = low[0] || sticky;
        p2_big_q   <= {p1_big_q[30:23] != 8'd0, p1_big_q[22:0]};
        p2_low_q   <= sub ? ~low : low;
      end
    end

  // p3: the sum; at which group of four bits the normalisation of a subnormal result must stop.

  reg        p3_direct_q;
  reg [31:0] p3_value_q;
  reg        p3_sub_q;
  reg [27:0] p3_sum_q;
  reg [5:0]  p3_stop_q;

  always @(posedge clk)
    if (p2_en) begin : stage3
      p3_direct_q <= p2_direct_q;
      p3_value_q  <= p2_value_q;
      if (!p2_direct_q) begin
        p3_sub_q  <= p2_sub_q;
        p3_sum_q  <= {1'b0, p2_big_q, 3'b000} + {p2_sub_q, p2_low_q} + {27'd0, p2_sub_q};
        p3_stop_q <= (p2_value_q[30:28] == 3'd0) ? 6'd1 << p2_value_q[27:25] : 6'd0;
      end
    end

  // p4: shift left until the leading one is at the top, but at most by the exponent (0 counts as 1).

  reg        p4_sign_q;
  reg [7:0]  p4_exp_q;
  reg [4:0]  p4_shift_q;
  reg [27:0] p4_sum_q;

  always @(posedge clk)
    if (p3_en) begin : stage4
      reg [2:0]  groups;
      reg [1:0]  bits;
      reg [1:0]  limit;
      reg        limited;
      reg [27:0] sum;

      if (p3_direct_q) begin
        // Packed so that the last stage leaves it as it is.
        p4_sign_q  <= p3_value_q[31];
        p4_exp_q   <= p3_value_q[30:23];
        p4_shift_q <= 5'd1;
        p4_sum_q   <= {1'b1, p3_value_q[22:0], 4'b0000};
      end else begin
        if (p3_sum_q[27:24] != 4'd0 || p3_stop_q[0]) groups = 3'd0;
        else if (p3_sum_q[23:20] != 4'd0 || p3_stop_q[1]) groups = 3'd1;
        else if (p3_sum_q[19:16] != 4'd0 || p3_stop_q[2]) groups = 3'd2;
        else if (p3_sum_q[15:12] != 4'd0 || p3_stop_q[3]) groups = 3'd3;
        else if (p3_sum_q[11:8] != 4'd0 || p3_stop_q[4]) groups = 3'd4;
        else if (p3_sum_q[7:4] != 4'd0 || p3_stop_q[5]) groups = 3'd5;
        else groups = 3'd6;
        sum     = p3_sum_q << {groups, 2'b00};
        limited = p3_value_q[30:25] == {3'd0, groups};
        limit   = (p3_value_q[24:23] == 2'd0 && groups == 3'd0) ? 2'd1 : p3_value_q[24:23];
        bits    = sum[27] ? 2'd0 : sum[26] ? 2'd1 : sum[25] ? 2'd2 : 2'd3;
        if (limited && limit < bits) bits = limit;
        sum = sum << bits;

        p4_sign_q  <= p3_value_q[31] && !(p3_sub_q && p3_sum_q == 28'd0);
        p4_exp_q   <= {p3_value_q[30:24], p3_value_q[23] || p3_value_q[30:23] == 8'd0};
        p4_shift_q <= {groups, bits};
        // A carry out of the greatest exponent is an infinity.
        p4_sum_q   <= (p3_sum_q[27] && p3_value_q[30:23] == 8'd254) ? {1'b1, 27'd0} : sum;
      end
    end

  // p5: round to nearest even. The carry out of the fraction belongs into the exponent, also from 254 to infinity.

  reg [31:0] p5_y_q;

  always @(posedge clk)
    if (p4_en) begin : stage5
      reg [7:0] exp;
      reg       up;

      exp    = p4_sum_q[27] ? p4_exp_q + 8'd1 - {3'd0, p4_shift_q} : 8'd0;
      up     = p4_sum_q[3] && (p4_sum_q[4] || p4_sum_q[2:0] != 3'd0);
      p5_y_q <= {p4_sign_q, {exp, p4_sum_q[26:4]} + {30'd0, up}};
    end

  assign p5_y = p5_y_q;

endmodule
