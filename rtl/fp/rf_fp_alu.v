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
    input        is_int;
    input        a_on;
    input        b_on;
    input [31:0] a;
    input [31:0] b;
    reg [31:0] mask;
    begin
      // Floats without their sign; int32 as unsigned numbers in the same order.
      mask  = {is_int, 31'h7fff_ffff};
      order = (b_on && (!a_on || ((a ^ 32'h8000_0000) & mask) < ((b ^ 32'h8000_0000) & mask))) ? {b, a} : {a, b};
    end
  endfunction

  // Distance of the exponents; subnormals have that of the smallest normal numbers.
  function [7:0] distance;
    input [7:0] a;
    input [7:0] b;
    reg [7:0] x;
    reg [7:0] y;
    begin
      x        = a | {7'd0, a == 8'd0};
      y        = b | {7'd0, b == 8'd0};
      distance = (x < y) ? y - x : x - y;
    end
  endfunction

  reg [63:0] p1_pair_q;
  reg [7:0]  p1_gap_q;

  always @(posedge clk)
    if (in_en) begin
      p1_pair_q <= order(in_int, in_a_on, in_b_on, in_a, in_b);
      p1_gap_q <= distance(in_a[30:23], in_b[30:23]);
    end

  wire [31:0] p1_big = p1_pair_q[63:32];
  wire [31:0] p1_low = p1_pair_q[31:0];

  // p2: the result, if it is no sum of finite floats (direct), else the operand of greater magnitude.

  function [31:0] choose;
    input        sum_of_floats;
    input        is_int;
    input [1:0]  op;
    input        single;
    input [31:0] big;
    input [31:0] low;
    reg       big_nan;
    reg       low_nan;
    reg [1:0] sel;
    begin
      sel = SEL_BIG;
      if (!sum_of_floats || big[30:23] == 8'hff) begin
        // A NaN is greater in magnitude than every number, so big is one if any is.
        big_nan = big[30:23] == 8'hff && big[22:0] != 23'd0;
        low_nan = low[30:23] == 8'hff && low[22:0] != 23'd0;
        if (single) sel = SEL_BIG;
        else if (is_int) sel = (op == OP_SUM) ? SEL_SUM : (op == OP_MIN) ? SEL_LOW : SEL_BIG;
        else if (op == OP_SUM) sel = (big_nan || (low[30:23] == 8'hff && big[31] != low[31])) ? SEL_NAN : SEL_BIG;
        else if (big_nan) sel = low_nan ? SEL_NAN : SEL_LOW;
        else sel = (big[31] == (op == OP_MIN)) ? SEL_BIG : SEL_LOW;
      end
      case (sel)
        SEL_BIG: choose = big;
        SEL_LOW: choose = low;
        SEL_SUM: choose = big + low;
        default: choose = NAN;
      endcase
    end
  endfunction

  // {subtract, significand of the lower operand}, aligned, with three bits below (guard, round, sticky); a subtrahend is
  // inverted.
  function [27:0] align;
    input        sub;
    input [30:0] low;
    input [7:0]  gap;
    reg [26:0] sig;
    reg [26:0] lost;
    begin
      sig = {low[30:23] != 8'd0, low[22:0], 3'b000};
      if (gap[7:5] != 3'd0) begin
        sig = {26'd0, sig != 27'd0};
      end else begin
        lost   = sig & ~(27'h7ff_ffff << gap[4:0]);
        sig    = sig >> gap[4:0];
        sig[0] = sig[0] || lost != 27'd0;
      end
      align = {sub, sub ? ~sig : sig};
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

  // p3: the sum. A one at the group of four bits at which the normalisation of a subnormal result must stop.

  function [27:0] add;
    input [30:0] big;
    input [27:0] addend;
    add = {1'b0, big[30:23] != 8'd0, big[22:0], 3'b000} + addend + {27'd0, addend[27]};
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

  // p4: {sign, exponent, shift, sum}: to the left until the leading one is at the top, but at most by the exponent (of which
  // 0 counts as 1).

  function [41:0] normalise;
    input        direct;
    input [31:0] value;
    input        sub;
    input [27:4] stop;
    input [27:0] sum;
    reg [27:4] probe;
    reg [27:0] shifted;
    reg [7:0]  exp;
    reg [2:0]  groups;
    reg [1:0]  bits;
    if (direct) begin
      // So that the last stage leaves it as it is.
      normalise = {value[31:23], 5'd1, 1'b1, value[22:0], 4'b0000};
    end else begin
      probe = sum[27:4] | stop;
      if (probe[27:24] != 4'd0) groups = 3'd0;
      else if (probe[27:20] != 8'd0) groups = 3'd1;
      else if (probe[27:16] != 12'd0) groups = 3'd2;
      else if (probe[27:12] != 16'd0) groups = 3'd3;
      else if (probe[27:8] != 20'd0) groups = 3'd4;
      else if (probe != 24'd0) groups = 3'd5;
      else groups = 3'd6;
      shifted = sum << {groups, 2'b00};
      if (shifted[27]) bits = 2'd0;
      else if (shifted[26]) bits = 2'd1;
      else if (shifted[25]) bits = 2'd2;
      else bits = 2'd3;
      exp = value[30:23] | {7'd0, value[30:23] == 8'd0};
      if (exp[7:2] == {3'd0, groups} && exp[1:0] < bits) bits = exp[1:0];
      shifted = shifted << bits;
      // A carry out of the greatest exponent is an infinity.
      if (sum[27] && exp == 8'd254) shifted[26:0] = 27'd0;
      normalise = {value[31] && !(sub && sum == 28'd0), exp, groups, bits, shifted};
    end
  endfunction

  reg [41:0] p4_sum_q;

  always @(posedge clk)
    if (p3_en) p4_sum_q <= normalise(p3_direct_q, p3_value_q, p3_sub_q, p3_stop_q, p3_sum_q);

  // p5: round to nearest even. The carry out of the fraction belongs into the exponent, also from 254 to infinity.

  function [31:0] round;
    input        sign;
    input [7:0]  exp;
    input [4:0]  shift;
    input [27:0] sum;
    reg [7:0] field;
    reg       up;
    begin
      field = sum[27] ? exp + 8'd1 - {3'd0, shift} : 8'd0;
      up    = sum[3] && (sum & 28'h17) != 28'd0;
      round = {sign, {field, sum[26:4]} + {30'd0, up}};
    end
  endfunction

  reg [31:0] p5_y_q;

  always @(posedge clk)
    if (p4_en) p5_y_q <= round(p4_sum_q[41], p4_sum_q[40:33], p4_sum_q[32:28], p4_sum_q[27:0]);

  assign p5_y = p5_y_q;

endmodule
