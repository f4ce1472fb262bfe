// rf_acc: accumulates the passes of one packet, lane after lane; the accumulator is the left operand.
//
// Latency     5 cycles from the beat of the final pass to its result.
// Throughput  1 beat per cycle.
// Capacity    one packet of BEATS_MAX beats.
// Handshake   valid only, no back-pressure. Between the first beats of two passes of one packet there are at least
//             RF_REDUCE_PASS_MIN cycles, and no pass of another packet.
// Reset       clears valid bits and counters; data is not reset.
// Proved      tests/rtl/reduce.cpp; tests/formal/pass_reduce.proof, inside rf_reduce.

`include "rf_reduce.vh"

`default_nettype none

module rf_acc #(
  // Bits of a port's beat.
  parameter WIDTH = 512,
  // Types that are supported.
  parameter TYPES = 1023,
  // 1: one of them has 16 bits. Follows from TYPES.
  parameter HALF = ((TYPES & `RF_TYPES_HALF) != 0) ? 1 : 0,
  // Beats of the longest pass.
  parameter BEATS_MAX = 64,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                      clk,
  input  wire                      rst,
  // The beat of the next cycle: every beat, including those that are not input here.
  input  wire                      soon_valid,
  input  wire                      soon_first,
  input  wire                      soon_last,
  input  wire                      soon_half,
  // An input beat of this cycle.
  input  wire                      in_valid,
  input  wire                      in_first,
  input  wire                      in_final,
  input  wire                      in_last,
  input  wire [1:0]                in_level,
  input  wire [3:0]                in_dtype,
  input  wire [2:0]                in_op,
  // The beat has no operand: the sum stays as it is.
  input  wire                      in_empty,
  input  wire [WIDTH*(1+HALF)-1:0] in_data,
  // An operand of the beat is wrong, so the result is wrong too.
  input  wire                      in_bad,
  // Beats of final passes.
  output wire                      out_valid,
  output wire                      out_last,
  output wire [1:0]                out_level,
  output wire [3:0]                out_dtype,
  output wire [WIDTH*(1+HALF)-1:0] out_data,
  output wire                      out_bad,
  // A control signal had a parity error.
  output wire                      bad
`ifdef FORMAL
  ,
  output wire [((BEATS_MAX < 2) ? 1 : $clog2(BEATS_MAX))-1:0] f_rd,
  output wire [((BEATS_MAX < 2) ? 1 : $clog2(BEATS_MAX))-1:0] f_wr,
  output wire [(WIDTH<<((BEATS_MAX < 2) ? 1 : $clog2(BEATS_MAX)))-1:0] f_kept,
  output wire [(WIDTH<<((BEATS_MAX < 2) ? 1 : $clog2(BEATS_MAX)))-1:0] f_kept_high
`endif
);

`include "rf_types.vh"

  localparam AW = (BEATS_MAX < 2) ? 1 : $clog2(BEATS_MAX);

  reg  [AW-1:0]             rd_beat_q;
  reg  [AW-1:0]             wr_beat_q;
  wire [WIDTH*(1+HALF)-1:0] kept;
  wire                      sum_valid;
  wire                      sum_final;
  wire                      sum_last;
  wire [3:0]                sum_dtype;
  wire                      unused_sum;
  wire                      keep = sum_valid && !sum_final;

  always @(posedge clk)
    if (rst) rd_beat_q <= {AW{1'b0}};
    else if (soon_valid) rd_beat_q <= soon_last ? {AW{1'b0}} : rd_beat_q + 1'b1;

  always @(posedge clk)
    if (rst) wr_beat_q <= {AW{1'b0}};
    else if (keep) wr_beat_q <= sum_last ? {AW{1'b0}} : wr_beat_q + 1'b1;

  wire low_bad;
  wire high_bad;

  rf_ram_parity #(
    .WIDTH       (WIDTH),
    .DEPTH       (1 << AW),
    .READ_LATENCY(1),
    .RAM_STYLE   ("block"),
    .PARITY      (PARITY)
  ) low (
    .clk    (clk),
    .wr_en  (keep),
    .wr_addr(wr_beat_q),
    .wr_data(out_data[WIDTH-1:0]),
    .wr_bad (out_bad),
    .rd_en  (soon_valid && !soon_first),
    .rd_addr(rd_beat_q),
    .rd_data(kept[WIDTH-1:0]),
    .rd_bad (low_bad)
`ifdef FORMAL
    ,
    .f_mem  (f_kept)
`endif
  );

  generate
    if (HALF != 0) begin : g_high
      rf_ram_parity #(
        .WIDTH       (WIDTH),
        .DEPTH       (1 << AW),
        .READ_LATENCY(1),
        .RAM_STYLE   ("block"),
        .PARITY      (PARITY)
      ) high (
        .clk    (clk),
        .wr_en  (keep && is_half(sum_dtype)),
        .wr_addr(wr_beat_q),
        .wr_data(out_data[2*WIDTH-1:WIDTH]),
        .wr_bad (out_bad),
        .rd_en  (soon_valid && !soon_first && soon_half),
        .rd_addr(rd_beat_q),
        .rd_data(kept[2*WIDTH-1:WIDTH]),
        .rd_bad (high_bad)
`ifdef FORMAL
        ,
        .f_mem  (f_kept_high)
`endif
      );
    end else begin : g_low_only
      wire unused_half = soon_half;

      assign high_bad = 1'b0;
    end
  endgenerate

  // The first lane passes through without an addition.
  rf_fp_vec #(
    .WORDS(WIDTH / 32),
    .TYPES(TYPES)
  ) vec (
    .clk      (clk),
    .rst      (rst),
    .in_valid (in_valid),
    .in_dtype (in_dtype),
    .in_op    (in_op),
    .in_a_on  (!in_first),
    .in_b_on  (!in_empty),
    .in_a     (kept),
    .in_b     (in_data),
    .out_valid(sum_valid),
    .out_data (out_data)
  );

  wire control_bad;

  rf_delay_parity #(
    .WIDTH (8),
    .N     (`RF_FP_LATENCY),
    .PARITY(PARITY)
  ) control (
    .clk      (clk),
    .rst      (rst),
    .in_valid (in_valid),
    .in_data  ({in_final, in_last, in_level, in_dtype}),
    .out_valid(unused_sum),
    .out_data ({sum_final, sum_last, out_level, sum_dtype}),
    .out_bad  (control_bad)
  );

  // A wrong operand, or a wrong sum of the lanes before it, makes the sum wrong.
  generate
    if (PARITY != 0) begin : g_parity
      reg  p1_bad_q;
      reg  bad_q;
      wire line_valid;
      wire line_bad;

      always @(posedge clk)
        p1_bad_q <= in_valid && ((in_bad && !in_empty) || (!in_first && (low_bad || (is_half(in_dtype) && high_bad))));

      rf_delay #(
        .WIDTH(1),
        .N    (`RF_FP_LATENCY - 1)
      ) line (
        .clk      (clk),
        .rst      (rst),
        .in_valid (1'b1),
        .in_data  (p1_bad_q),
        .out_valid(line_valid),
        .out_data (line_bad)
      );

      always @(posedge clk)
        if (rst) bad_q <= 1'b0;
        else bad_q <= control_bad;

      assign out_bad = line_valid && line_bad;
      assign bad     = bad_q;
    end else begin : g_plain
      wire unused_bad = &{1'b0, in_bad, low_bad, high_bad, control_bad};

      assign out_bad = 1'b0;
      assign bad     = 1'b0;
    end
  endgenerate

  assign out_valid = sum_valid && sum_final;
  assign out_last  = sum_last;
  assign out_dtype = sum_dtype;

`ifdef FORMAL
  assign f_rd = rd_beat_q;
  assign f_wr = wr_beat_q;
`endif

endmodule

`default_nettype wire
