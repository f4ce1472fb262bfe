// rf_fp_alu: adds two 32-bit elements (IEEE 754 fp32, or int32 with wrap-around), or returns their minimum or maximum.
//
// Latency     5 cycles (rf_fp_vec drives the stage enables).
// Throughput  1 operation per cycle.
// Capacity    none beyond the pipeline.
// Handshake   none: stage k loads while its enable is high; a stage that is not enabled is not evaluated.
// Reset       none: data only.
// Proved      tests/rtl/fp_alu.cpp compares with an independent reference, bit-exact.
//
// fp32 sum: round to nearest, ties to even; subnormals and infinities; every NaN result is 7fc00000; x + -x = +0.
// min, max: minimumNumber and maximumNumber of IEEE 754-2019, -0 < +0; a number beats a NaN, quiet or signaling; two
// NaNs give 7fc00000. If an operand is absent (in_a_on, in_b_on), the other one is returned bit-exact.
//
// The logic of each stage is in functions, so a simulator evaluates it only while the stage is enabled. Their names
// begin with f_, so that they do not hide a name of a module above.
//
// Stages
//   p1  order the operands by magnitude (int32: by value), distance of the exponents       compare, swap
//   p2  align the smaller operand; result of everything that is not an fp32 sum            shift, select
//   p3  add or subtract                                                                    28-bit add
//   p4  normalise, not below the exponent of the subnormals                                count, shift
//   p5  round, exponent                                                                    increment

`default_nettype none

module rf_fp_alu (
  input  wire        clk,
  // Operands, with: int32 (else float), which operands are present.
  input  wire        in_en,
  input  wire        in_int,
  input  wire        in_a_on,
  input  wire        in_b_on,
  input  wire [31:0] in_a,
  input  wire [31:0] in_b,
  // The same operation, one cycle later: int32; 0 sum, 1 min, 2 max; only one operand; sum of two floats.
  input  wire        p1_en,
  input  wire        p1_int,
  input  wire [1:0]  p1_op,
  input  wire        p1_single,
  input  wire        p1_add,
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
  // The result is the operand big or low, their integer sum, or NaN.
  localparam [1:0]  SEL_BIG = 2'd0;
  localparam [1:0]  SEL_LOW = 2'd1;
  localparam [1:0]  SEL_SUM = 2'd2;
  localparam [1:0]  SEL_NAN = 2'd3;

  // p1: {big, low}; big is the operand of greater magnitude (int32: of greater value), or the only one.

  function [63:0] order;
    input        f_is_int;
    input        f_a_on;
    input        f_b_on;
    input [31:0] f_a;
    input [31:0] f_b;
    reg [31:0] f_mask;
    reg        f_swap;
    begin
      // Floats without their sign; int32 as unsigned numbers in the same order.
      f_mask = {f_is_int, 31'h7fff_ffff};
      f_swap = f_b_on && (!f_a_on || ((f_a ^ 32'h8000_0000) & f_mask) < ((f_b ^ 32'h8000_0000) & f_mask));
      order  = f_swap ? {f_b, f_a} : {f_a, f_b};
    end
  endfunction

  // Difference of the exponents; subnormals have the exponent of the smallest normal numbers.
  function [7:0] distance;
    input [7:0] f_a;
    input [7:0] f_b;
    reg [7:0] f_x;
    reg [7:0] f_y;
    begin
      f_x      = f_a | {7'd0, f_a == 8'd0};
      f_y      = f_b | {7'd0, f_b == 8'd0};
      distance = (f_x < f_y) ? f_y - f_x : f_x - f_y;
    end
  endfunction

  reg [63:0] p1_pair_q;
  reg [7:0]  p1_gap_q;

  always @(posedge clk)
    if (in_en) begin
      p1_pair_q <= order(in_int, in_a_on, in_b_on, in_a, in_b);
      p1_gap_q  <= distance(in_a[30:23], in_b[30:23]);
    end

  wire [31:0] p1_big = p1_pair_q[63:32];
  wire [31:0] p1_low = p1_pair_q[31:0];

  // p2: the final result if it is not a sum of finite floats (direct), else the operand of greater magnitude.

  function [31:0] choose;
    input        f_sum_of_floats;
    input        f_is_int;
    input [1:0]  f_op;
    input        f_single;
    input [31:0] f_big;
    input [31:0] f_low;
    reg       f_big_nan;
    reg       f_low_nan;
    reg [1:0] f_sel;
    begin
      f_sel = SEL_BIG;
      if (!f_sum_of_floats || f_big[30:23] == 8'hff) begin
        // A NaN has a greater magnitude than every number, so big is a NaN if any operand is.
        f_big_nan = f_big[30:23] == 8'hff && f_big[22:0] != 23'd0;
        f_low_nan = f_low[30:23] == 8'hff && f_low[22:0] != 23'd0;
        if (f_single) f_sel = SEL_BIG;
        else if (f_is_int) f_sel = (f_op == OP_SUM) ? SEL_SUM : (f_op == OP_MIN) ? SEL_LOW : SEL_BIG;
        else if (f_op == OP_SUM && f_low[30:23] == 8'hff && f_big[31] != f_low[31]) f_sel = SEL_NAN;
        else if (f_op == OP_SUM) f_sel = f_big_nan ? SEL_NAN : SEL_BIG;
        else if (f_big_nan) f_sel = f_low_nan ? SEL_NAN : SEL_LOW;
        else f_sel = (f_big[31] == (f_op == OP_MIN)) ? SEL_BIG : SEL_LOW;
      end
      case (f_sel)
        SEL_BIG: choose = f_big;
        SEL_LOW: choose = f_low;
        SEL_SUM: choose = f_big + f_low;
        default: choose = NAN;
      endcase
    end
  endfunction

  // {subtract, significand of the lower operand}, aligned, with three bits below (guard, round, sticky); a subtrahend
  // is inverted.
  function [27:0] align;
    input        f_sub;
    input [30:0] f_low;
    input [7:0]  f_gap;
    reg [26:0] f_sig;
    reg [26:0] f_lost;
    begin
      f_sig = {f_low[30:23] != 8'd0, f_low[22:0], 3'b000};
      if (f_gap[7:5] != 3'd0) begin
        // So small that it does not even affect a subtraction from a power of two.
        f_sig = 27'd0;
      end else begin
        f_lost   = f_sig & ~(27'h7ff_ffff << f_gap[4:0]);
        f_sig    = f_sig >> f_gap[4:0];
        f_sig[0] = f_sig[0] || f_lost != 27'd0;
      end
      align = {f_sub, f_sub ? ~f_sig : f_sig};
    end
  endfunction

  reg        p2_direct_q;
  reg [31:0] p2_value_q;
  reg [27:0] p2_addend_q;

  always @(posedge clk)
    if (p1_en) begin
      p2_direct_q <= !p1_add || p1_big[30:23] == 8'hff;
      p2_value_q  <= choose(p1_add, p1_int, p1_op, p1_single, p1_big, p1_low);
    end

  always @(posedge clk)
    if (p1_en && p1_add) p2_addend_q <= align(p1_big[31] != p1_low[31], p1_low[30:0], p1_gap_q);

  // p3: the sum. A one marks the group of four bits at which the normalisation of a subnormal result must stop.

  function [27:0] add;
    input [30:0] f_big;
    input [27:0] f_addend;
    add = {1'b0, f_big[30:23] != 8'd0, f_big[22:0], 3'b000} + f_addend + {27'd0, f_addend[27]};
  endfunction

  reg        p3_direct_q;
  reg [31:0] p3_value_q;
  reg        p3_sub_q;
  reg [27:0] p3_sum_q;
  reg [27:4] p3_stop_q;

  always @(posedge clk)
    if (p2_en) begin
      p3_direct_q <= p2_direct_q;
      p3_value_q  <= p2_value_q;
    end

  always @(posedge clk)
    if (p2_en && !p2_direct_q) begin
      p3_sub_q  <= p2_addend_q[27];
      p3_sum_q  <= add(p2_value_q[30:0], p2_addend_q);
      p3_stop_q <= (p2_value_q[30:28] == 3'd0) ? 24'h10_0000 >> {p2_value_q[27:25], 2'b00} : 24'd0;
    end

  // p4: {sign, exponent, shift, sum}: shift left until the leading one is at the top, but at most by the exponent
  // (of which 0 counts as 1).

  function [41:0] normalise;
    input        f_direct;
    input [31:0] f_value;
    input        f_sub;
    input [27:4] f_stop;
    input [27:0] f_sum;
    reg [27:4] f_probe;
    reg [27:0] f_shifted;
    reg [7:0]  f_exp;
    reg [2:0]  f_groups;
    reg [1:0]  f_bits;
    if (f_direct) begin
      // So that the last stage does not change it.
      normalise = {f_value[31:23], 5'd1, 1'b1, f_value[22:0], 4'b0000};
    end else begin
      f_probe = f_sum[27:4] | f_stop;
      if (f_probe[27:24] != 4'd0) f_groups = 3'd0;
      else if (f_probe[27:20] != 8'd0) f_groups = 3'd1;
      else if (f_probe[27:16] != 12'd0) f_groups = 3'd2;
      else if (f_probe[27:12] != 16'd0) f_groups = 3'd3;
      else if (f_probe[27:8] != 20'd0) f_groups = 3'd4;
      else if (f_probe != 24'd0) f_groups = 3'd5;
      else f_groups = 3'd6;
      f_shifted = f_sum << {f_groups, 2'b00};
      if (f_shifted[27]) f_bits = 2'd0;
      else if (f_shifted[26]) f_bits = 2'd1;
      else if (f_shifted[25]) f_bits = 2'd2;
      else f_bits = 2'd3;
      f_exp = f_value[30:23] | {7'd0, f_value[30:23] == 8'd0};
      if (f_exp[7:2] == {3'd0, f_groups} && f_exp[1:0] < f_bits) f_bits = f_exp[1:0];
      f_shifted = f_shifted << f_bits;
      // A carry out of the largest exponent gives infinity.
      if (f_sum[27] && f_exp == 8'd254) f_shifted[26:0] = 27'd0;
      normalise = {f_value[31] && !(f_sub && f_sum == 28'd0), f_exp, f_groups, f_bits, f_shifted};
    end
  endfunction

  reg [41:0] p4_sum_q;

  always @(posedge clk)
    if (p3_en) p4_sum_q <= normalise(p3_direct_q, p3_value_q, p3_sub_q, p3_stop_q, p3_sum_q);

  // p5: round to nearest even. The carry out of the fraction is added to the exponent, also from 254 to infinity.

  function [31:0] round;
    input        f_sign;
    input [7:0]  f_exp;
    input [4:0]  f_shift;
    input [27:0] f_sum;
    reg [7:0] f_field;
    reg       f_up;
    begin
      f_field = f_sum[27] ? f_exp + 8'd1 - {3'd0, f_shift} : 8'd0;
      f_up    = f_sum[3] && (f_sum & 28'h17) != 28'd0;
      round = {f_sign, {f_field, f_sum[26:4]} + {30'd0, f_up}};
    end
  endfunction

  reg [31:0] p5_y_q;

  always @(posedge clk)
    if (p4_en) p5_y_q <= round(p4_sum_q[41], p4_sum_q[40:33], p4_sum_q[32:28], p4_sum_q[27:0]);

  assign p5_y = p5_y_q;

endmodule

`default_nettype wire
