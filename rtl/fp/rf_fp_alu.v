// rf_fp_alu: combines two elements of 32 or 64 bits, or four of 8: sum (IEEE 754, or integers that wrap), minimum,
// maximum, and, or, exclusive or.
//
// Latency     5 cycles (rf_fp_vec drives the stage enables).
// Throughput  1 operation per cycle.
// Capacity    none beyond the pipeline.
// Handshake   none: stage k loads while its enable is high; a stage that is not enabled is not evaluated.
// Reset       none: data only.
// Proved      tests/rtl/fp_alu.cpp compares with an independent reference, bit-exact.
//
// Sum of floats: round to nearest, ties to even; subnormals and infinities; every NaN result is 7fc00000 or
// 7ff8000000000000; x + -x = +0. min, max: minimumNumber and maximumNumber of IEEE 754-2019, -0 < +0; a number beats a
// NaN, quiet or signaling; two NaNs give that NaN. If an operand is absent (in_a_on, in_b_on), the other one is returned
// bit-exact.
//
// The logic of each stage is in functions, so a simulator evaluates it only while the stage is enabled. Their names
// begin with f_, so that they do not hide a name of a module above.
//
// Stages
//   p1  order the operands by magnitude (integers: by value), distance of the exponents    compare, swap
//   p2  align the smaller operand; result of everything that is not a sum of floats        shift, select
//   p3  add or subtract; first group of four bits that is not zero                         28-bit or 57-bit add, count
//   p4  normalise, not below the exponent of the subnormals                                shift, count, shift
//   p5  round, exponent                                                                    increment

`include "rf_reduce.vh"

`default_nettype none

module rf_fp_alu #(
  // 1: elements of 64 bits; 0: of 32 and 8 bits.
  parameter WIDE = 0,
  // Types that are supported: bit t is type t of the registers (DTYPE).
  parameter TYPES = 1023
) (
  input  wire                     clk,
  // Operands, with: which are present; an integer type (else float), a signed one, one of 8 bits.
  input  wire                     in_en,
  input  wire                     in_a_on,
  input  wire                     in_b_on,
  input  wire                     in_int,
  input  wire                     in_signed,
  input  wire                     in_byte,
  input  wire [32*(1+WIDE)-1:0]   in_a,
  input  wire [32*(1+WIDE)-1:0]   in_b,
  // The same operation, one cycle later: two floats; their sum, else their minimum (else maximum); anything else: the
  // result, one of RF_FP_BIG to RF_FP_BYTES.
  input  wire                     p1_en,
  input  wire                     p1_float,
  input  wire                     p1_add,
  input  wire                     p1_min,
  input  wire [2:0]               p1_sel,
  // Two, three and four cycles later.
  input  wire                     p2_en,
  input  wire                     p3_en,
  input  wire                     p4_en,
  // Five cycles later.
  output wire [32*(1+WIDE)-1:0]   p5_y
);

  localparam FLOAT    = (TYPES & ((WIDE != 0) ? `RF_TYPES_FP64 : `RF_TYPES_FP)) != 0;
  localparam BYTE     = WIDE == 0 && (TYPES & `RF_TYPES_BYTE) != 0;
  localparam INT      = (TYPES & ((WIDE != 0) ? `RF_TYPES_INT64 : `RF_TYPES_INT)) != 0;
  localparam UNSIGNED = (TYPES & `RF_TYPES_UNSIGNED) != 0;

  // Bits of an element, of its exponent and its fraction; of a sum: carry, leading one, fraction, guard, round, sticky.
  localparam W    = (WIDE != 0) ? 64 : 32;
  localparam EXP  = (WIDE != 0) ? 11 : 8;
  localparam FRAC = (WIDE != 0) ? 52 : 23;
  localparam S    = FRAC + 5;
  // Groups of four bits in which a leading one is sought, and the bits of their number.
  localparam GROUPS = (S - 1) / 4 - ((WIDE != 0) ? 1 : 0);
  localparam GB     = (WIDE != 0) ? 4 : 3;
  localparam DB     = GB + 2;

  localparam [EXP-1:0] TOP  = {EXP{1'b1}};
  localparam [W-1:0]   NAN  = {1'b0, TOP, 1'b1, {FRAC-1{1'b0}}};
  localparam [W-1:0]   SIGN = {1'b1, {W-1{1'b0}}};
  localparam [31:0]    EDGE = 32'h8080_8080;

  // p1: {big, low}; big is the operand of greater magnitude (integers: of greater value), or the only one.

  function [2*W-1:0] order;
    input         f_is_int;
    input         f_signed;
    input         f_a_on;
    input         f_b_on;
    input [W-1:0] f_a;
    input [W-1:0] f_b;
    reg [W-1:0] f_flip;
    reg [W-1:0] f_mask;
    reg         f_swap;
    begin
      // Floats without their sign; signed integers as unsigned numbers in the same order.
      f_flip = (UNSIGNED && !f_signed) ? {W{1'b0}} : SIGN;
      f_mask = {INT && f_is_int, {W-1{1'b1}}};
      f_swap = f_b_on && (!f_a_on || ((f_a ^ f_flip) & f_mask) < ((f_b ^ f_flip) & f_mask));
      order  = f_swap ? {f_b, f_a} : {f_a, f_b};
    end
  endfunction

  // The same for each byte.
  function [63:0] order_bytes;
    input        f_signed;
    input        f_a_on;
    input        f_b_on;
    input [31:0] f_a;
    input [31:0] f_b;
    reg [31:0] f_flip;
    reg        f_swap;
    integer    f_k;
    begin
      f_flip = f_signed ? EDGE : 32'd0;
      for (f_k = 0; f_k < 32; f_k = f_k + 8) begin
        f_swap = f_b_on && (!f_a_on || (f_a[f_k +: 8] ^ f_flip[f_k +: 8]) < (f_b[f_k +: 8] ^ f_flip[f_k +: 8]));
        order_bytes[f_k +: 8]      = f_swap ? f_a[f_k +: 8] : f_b[f_k +: 8];
        order_bytes[32 + f_k +: 8] = f_swap ? f_b[f_k +: 8] : f_a[f_k +: 8];
      end
    end
  endfunction

  // Difference of the exponents; subnormals have the exponent of the smallest normal numbers.
  function [EXP-1:0] distance;
    input [EXP-1:0] f_a;
    input [EXP-1:0] f_b;
    reg [EXP-1:0] f_x;
    reg [EXP-1:0] f_y;
    begin
      f_x      = f_a | {{EXP-1{1'b0}}, f_a == {EXP{1'b0}}};
      f_y      = f_b | {{EXP-1{1'b0}}, f_b == {EXP{1'b0}}};
      distance = (f_x < f_y) ? f_y - f_x : f_x - f_y;
    end
  endfunction

  reg [2*W-1:0] p1_pair_q;

  generate
    if (BYTE) begin : g_byte
      always @(posedge clk)
        if (in_en)
          p1_pair_q <= in_byte ? order_bytes(in_signed, in_a_on, in_b_on, in_a, in_b) :
                                 order(in_int, in_signed, in_a_on, in_b_on, in_a, in_b);
    end else begin : g_whole
      wire unused_byte = &{1'b0, in_byte};

      always @(posedge clk)
        if (in_en) p1_pair_q <= order(in_int, in_signed, in_a_on, in_b_on, in_a, in_b);
    end
  endgenerate

  wire [W-1:0] p1_big = p1_pair_q[2*W-1:W];
  wire [W-1:0] p1_low = p1_pair_q[W-1:0];

  // p2: the final result if it is not a sum of finite floats (direct), else the operand of greater magnitude.

  function [W-1:0] choose;
    input         f_float;
    input         f_add;
    input         f_min;
    input [2:0]   f_code;
    input [W-1:0] f_big;
    input [W-1:0] f_low;
    reg         f_big_nan;
    reg         f_low_nan;
    reg [2:0]   f_sel;
    reg [W-1:0] f_cut;
    begin
      f_sel = f_code;
      if (FLOAT && f_float && (!f_add || f_big[W-2 -: EXP] == TOP)) begin
        // A NaN has a greater magnitude than every number, so big is a NaN if any operand is.
        f_big_nan = f_big[W-2 -: EXP] == TOP && f_big[FRAC-1:0] != {FRAC{1'b0}};
        f_low_nan = f_low[W-2 -: EXP] == TOP && f_low[FRAC-1:0] != {FRAC{1'b0}};
        if (f_add && f_low[W-2 -: EXP] == TOP && f_big[W-1] != f_low[W-1]) f_sel = `RF_FP_NAN;
        else if (f_add) f_sel = f_big_nan ? `RF_FP_NAN : `RF_FP_BIG;
        else if (f_big_nan) f_sel = f_low_nan ? `RF_FP_NAN : `RF_FP_LOW;
        else f_sel = (f_big[W-1] == f_min) ? `RF_FP_BIG : `RF_FP_LOW;
      end
      // The carries between bytes are cut off: their top bits are added without one.
      f_cut = (BYTE && f_code == `RF_FP_BYTES) ? {(W/32){EDGE}} : {W{1'b0}};
      case (f_sel)
        `RF_FP_BIG: choose = f_big;
        `RF_FP_LOW: choose = f_low;
        `RF_FP_NAN: choose = NAN;
        default:
          if (!INT) choose = f_big;
          else
            case (f_sel)
              `RF_FP_AND: choose = f_big & f_low;
              `RF_FP_OR:  choose = f_big | f_low;
              `RF_FP_XOR: choose = f_big ^ f_low;
              default:    choose = ((f_big & ~f_cut) + (f_low & ~f_cut)) ^ ((f_big ^ f_low) & f_cut);
            endcase
      endcase
    end
  endfunction

  reg [W-1:0] p2_value_q;

  always @(posedge clk)
    if (p1_en) p2_value_q <= choose(p1_float, p1_add, p1_min, p1_sel, p1_big, p1_low);

  // {subtract, significand of the lower operand}, aligned, with three bits below (guard, round, sticky); a subtrahend
  // is inverted.
  function [S-1:0] align;
    input           f_sub;
    input [W-2:0]   f_low;
    input [EXP-1:0] f_gap;
    reg [S-2:0] f_sig;
    reg [S-2:0] f_lost;
    begin
      f_sig = {f_low[W-2 -: EXP] != {EXP{1'b0}}, f_low[FRAC-1:0], 3'b000};
      if (f_gap[EXP-1:DB] != {EXP-DB{1'b0}}) begin
        // So small that it does not even affect a subtraction from a power of two.
        f_sig = {S-1{1'b0}};
      end else begin
        f_lost   = f_sig & ~({S-1{1'b1}} << f_gap[DB-1:0]);
        f_sig    = f_sig >> f_gap[DB-1:0];
        f_sig[0] = f_sig[0] || f_lost != {S-1{1'b0}};
      end
      align = {f_sub, f_sub ? ~f_sig : f_sig};
    end
  endfunction

  // {group, sum}: the first group of four bits with a one, or the one at which the normalisation of a subnormal result must
  // stop, if that comes first. If there is neither, the leading one is in what follows the groups.
  function [GB+S-1:0] add;
    input [W-2:0] f_big;
    input [S-1:0] f_addend;
    reg [S-1:0]  f_sum;
    reg [GB-1:0] f_group;
    reg          f_small;
    reg          f_found;
    integer      f_k;
    begin
      f_sum   = {1'b0, f_big[W-2 -: EXP] != {EXP{1'b0}}, f_big[FRAC-1:0], 3'b000} + f_addend + {{S-1{1'b0}}, f_addend[S-1]};
      f_small = f_big[W-2 -: EXP-DB] == {EXP-DB{1'b0}};
      f_group = GROUPS[GB-1:0];
      f_found = 1'b0;
      for (f_k = 0; f_k < GROUPS; f_k = f_k + 1)
        if (!f_found && (f_sum[S-1-4*f_k -: 4] != 4'd0 || (f_small && f_big[FRAC+2 +: GB] == f_k[GB-1:0]))) begin
          f_group = f_k[GB-1:0];
          f_found = 1'b1;
        end
      add = {f_group, f_sum};
    end
  endfunction

  // p4: {sign, exponent, shift, sum}: shift left until the leading one is at the top, but at most by the exponent
  // (of which 0 counts as 1).

  function [W+DB+4:0] normalise;
    input           f_direct;
    input [W-1:0]   f_value;
    input           f_sub;
    input [GB-1:0]  f_group;
    input [S-1:0]   f_sum;
    reg [S-1:0]   f_shifted;
    reg [EXP-1:0] f_exp;
    reg [1:0]     f_bits;
    if (f_direct) begin
      // So that the last stage does not change it.
      normalise = {f_value[W-1:FRAC], {DB-1{1'b0}}, 1'b1, 1'b1, f_value[FRAC-1:0], 4'b0000};
    end else begin
      f_shifted = f_sum << {f_group, 2'b00};
      if (f_shifted[S-1]) f_bits = 2'd0;
      else if (f_shifted[S-2]) f_bits = 2'd1;
      else if (f_shifted[S-3]) f_bits = 2'd2;
      else f_bits = 2'd3;
      f_exp = f_value[W-2 -: EXP] | {{EXP-1{1'b0}}, f_value[W-2 -: EXP] == {EXP{1'b0}}};
      if (f_exp[EXP-1:2] == {{EXP-2-GB{1'b0}}, f_group} && f_exp[1:0] < f_bits) f_bits = f_exp[1:0];
      f_shifted = f_shifted << f_bits;
      // A carry out of the largest exponent gives infinity.
      if (f_sum[S-1] && f_exp == TOP - 1'b1) f_shifted[S-2:0] = {S-1{1'b0}};
      normalise = {f_value[W-1] && !(f_sub && f_sum == {S{1'b0}}), f_exp, f_group, f_bits, f_shifted};
    end
  endfunction

  // p5: round to nearest even. The carry out of the fraction is added to the exponent, also from the largest one to
  // infinity.

  function [W-1:0] round;
    input           f_sign;
    input [EXP-1:0] f_exp;
    input [DB-1:0]  f_shift;
    input [S-1:0]   f_sum;
    reg [EXP-1:0] f_field;
    reg           f_up;
    begin
      f_field = f_sum[S-1] ? f_exp + 1'b1 - {{EXP-DB{1'b0}}, f_shift} : {EXP{1'b0}};
      f_up    = f_sum[3] && (f_sum[4] || f_sum[2:0] != 3'd0);
      round = {f_sign, {f_field, f_sum[S-2:4]} + {{W-2{1'b0}}, f_up}};
    end
  endfunction

  generate
    if (FLOAT) begin : g_float
      reg [EXP-1:0]    p1_gap_q;
      reg              p2_direct_q;
      reg [S-1:0]      p2_addend_q;
      reg              p3_direct_q;
      reg [W-1:0]      p3_value_q;
      reg              p3_sub_q;
      reg [S-1:0]      p3_sum_q;
      reg [GB-1:0]     p3_group_q;
      reg [W+DB+4:0]   p4_sum_q;
      reg [W-1:0]      p5_y_q;

      always @(posedge clk)
        if (in_en) p1_gap_q <= distance(in_a[W-2 -: EXP], in_b[W-2 -: EXP]);

      always @(posedge clk)
        if (p1_en) p2_direct_q <= !p1_add || p1_big[W-2 -: EXP] == TOP;

      always @(posedge clk)
        if (p1_en && p1_add) p2_addend_q <= align(p1_big[W-1] != p1_low[W-1], p1_low[W-2:0], p1_gap_q);

      always @(posedge clk)
        if (p2_en) begin
          p3_direct_q <= p2_direct_q;
          p3_value_q  <= p2_value_q;
        end

      always @(posedge clk)
        if (p2_en && !p2_direct_q) begin
          p3_sub_q               <= p2_addend_q[S-1];
          {p3_group_q, p3_sum_q} <= add(p2_value_q[W-2:0], p2_addend_q);
        end

      always @(posedge clk)
        if (p3_en) p4_sum_q <= normalise(p3_direct_q, p3_value_q, p3_sub_q, p3_group_q, p3_sum_q);

      always @(posedge clk)
        if (p4_en) p5_y_q <= round(p4_sum_q[W+DB+4], p4_sum_q[S+DB +: EXP], p4_sum_q[S +: DB], p4_sum_q[S-1:0]);

      assign p5_y = p5_y_q;
    end else begin : g_int
      reg [W-1:0] p3_value_q;
      reg [W-1:0] p4_value_q;
      reg [W-1:0] p5_y_q;

      always @(posedge clk)
        if (p2_en) p3_value_q <= p2_value_q;

      always @(posedge clk)
        if (p3_en) p4_value_q <= p3_value_q;

      always @(posedge clk)
        if (p4_en) p5_y_q <= p4_value_q;

      assign p5_y = p5_y_q;
    end
  endgenerate

endmodule

`default_nettype wire
