// rf_reduce: the box's arithmetic: reduces passes over aligned blocks of ports, adds the lanes of a packet, and hands
// the result to every port of the block.
//
// Latency     Packets of one lane: 4 + 5 * log2(PORTS, rounded up) cycles (2 ports: 9, 4: 14, 8: 19), for every block
//             size. From the final pass of packets of several lanes: 5 more. A packet of one lane that would overtake
//             such a result at one of its ports takes 5 more too (as do the packets after it, until a pause of 5
//             cycles): results leave each port in the order of their passes, and the caller need not leave a gap.
// Throughput  1 beat per port and cycle; passes of disjoint blocks in parallel, no gap between passes.
// Capacity    one packet of several lanes per port in progress, if LANES > 1.
// Handshake   valid only, no back-pressure: the caller starts a pass only if there is room for the result.
// Reset       clears valid bits and counters; data is not reset.
// Proved      tests/rtl/reduce.cpp, bit-exact; the contract below by rf_reduce_check.vh.
//             tests/formal/pass_reduce.proof: every operand enters its result once; tests/formal/pass_read.proof: the
//             readers meet the contract.
//
// A pass is one lane of one packet, from all ports of a block: ports [b, b + 2^level), b a multiple of 2^level. The
// block's ports have in_valid in the same cycles, without gaps, and the same level, dtype and op (their numbers in the
// registers), first (lane of the packet), final (lane of the packet) and last (beat of the pass). in_member selects the
// ports that take part in this lane, at least one; the others are masked. Only the final lane of a packet that has operands
// in an earlier lane may have none (in_empty). A block may
// extend beyond PORTS: in_valid is then set for those of its ports that exist.
//
// The passes of a packet follow one another on all ports of its block with no other pass between them. If it has more
// than one lane, the first beats of its passes are at least RF_REDUCE_PASS_MIN = 7 cycles apart, and all passes have
// the same number of beats, at most BEATS_MAX. Only types in TYPES come in. Copy has
// one operand: it leaves as it is, whatever its type.

`include "rf_reduce.vh"

`default_nettype none

module rf_reduce #(
  // Ports, 2 to 8; need not be a power of two.
  parameter PORTS = 4,
  // Bits of a port's beat, 64 to 512.
  parameter WIDTH = 512,
  // Types at full rate: bit t is type t of the registers. A node has WIDTH / 32 adders; with 16-bit types twice as many;
  // with 64-bit types WIDTH / 64 of 64 bits in addition.
  parameter TYPES = 1023,
  // Lanes of a packet, 1 to 16. 1: no accumulators; every pass is the first and the last of its packet.
  parameter LANES = 1,
  // Beats of the longest payload: MTU_MAX * 8 / WIDTH.
  parameter BEATS_MAX = 64,
  // 1: beats without an operand come in.
  parameter DIRECTED = 1,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                   clk,
  input  wire                   rst,
  input  wire [PORTS-1:0]       in_valid,
  input  wire [PORTS*WIDTH-1:0] in_data,
  input  wire [PORTS-1:0]       in_member,
  // The block has no operand in this lane: the packet's sum so far is the result.
  input  wire [PORTS-1:0]       in_empty,
  input  wire [PORTS*2-1:0]     in_level,
  input  wire [PORTS*4-1:0]     in_dtype,
  input  wire [PORTS*3-1:0]     in_op,
  input  wire [PORTS-1:0]       in_first,
  input  wire [PORTS-1:0]       in_final,
  input  wire [PORTS-1:0]       in_last,
  // One cycle later: the beat of a member was wrong, so every result that uses it is wrong too.
  input  wire [PORTS-1:0]       in_bad,
  output wire [PORTS-1:0]       out_valid,
  output wire [PORTS*WIDTH-1:0] out_data,
  output wire [PORTS-1:0]       out_last,
  output wire [PORTS-1:0]       out_bad,
  // A control signal had a parity error.
  output wire                   bad
);

`include "rf_types.vh"

  localparam HALF   = ((TYPES & `RF_TYPES_HALF) != 0) ? 1 : 0;
  localparam IN     = WIDTH * (1 + HALF);
  localparam LEVELS = $clog2(PORTS);

  wire [PORTS-1:0]    soon_valid;
  wire [PORTS*2-1:0]  soon_level;
  wire [PORTS*4-1:0]  soon_dtype;
  wire [PORTS*3-1:0]  soon_op;
  wire [PORTS-1:0]    soon_first;
  wire [PORTS-1:0]    soon_final;
  wire [PORTS-1:0]    soon_last;
  wire [PORTS*IN-1:0] tree_data;
  wire [PORTS-1:0]    tree_bad;
  wire [PORTS-1:0]    tree_lost;
  wire                tree_fault;

  // An operand that is copied passes through like an integer that has no partner.
  wire [PORTS*4-1:0]  as_dtype;

  genvar b, q, k;
  generate
    for (b = 0; b < PORTS; b = b + 1) begin : g_type
      assign as_dtype[b*4 +: 4] = (in_op[b*3 +: 3] == `RF_DO_COPY) ? `RF_TYPE_INT32 : in_dtype[b*4 +: 4];
    end
  endgenerate

  rf_tree #(
    .PORTS (PORTS),
    .WIDTH (WIDTH),
    .TYPES (TYPES),
    .PARITY(PARITY)
  ) tree (
    .clk       (clk),
    .rst       (rst),
    .in_valid  (in_valid),
    .in_data   (in_data),
    .in_member (in_member),
    .in_level  (in_level),
    .in_dtype  (as_dtype),
    .in_op     (in_op),
    .in_first  (in_first),
    .in_final  (in_final),
    .in_last   (in_last),
    .soon_valid(soon_valid),
    .soon_level(soon_level),
    .soon_dtype(soon_dtype),
    .soon_op   (soon_op),
    .soon_first(soon_first),
    .soon_final(soon_final),
    .soon_last (soon_last),
    .out_data  (tree_data),
    .out_bad   (tree_bad),
    .out_lost  (tree_lost),
    .bad       (tree_fault)
  );

  // Wrong-operand flags, delayed to match the results.
  wire [PORTS-1:0] wrong;

  generate
    if (PARITY != 0) begin : g_wrong
      wire             there;
      wire [PORTS-1:0] late_bad;

      rf_delay #(
        .WIDTH(PORTS),
        .N    (`RF_FP_LATENCY * LEVELS)
      ) line (
        .clk      (clk),
        .rst      (rst),
        .in_valid (1'b1),
        .in_data  (in_bad),
        .out_valid(there),
        .out_data (late_bad)
      );

      assign wrong = (there ? late_bad : {PORTS{1'b0}}) | tree_lost;
    end else begin : g_right
      wire unused_bad = &{1'b0, in_bad, tree_lost};

      assign wrong = {PORTS{1'b0}};
    end
  endgenerate

  // Bit [q*PORTS+b]: a beat for port q from the block whose lowest port is b. It takes the long path through the
  // accumulator and is a result (late), or leaves rf_reduce_out (hit).
  wire [PORTS*PORTS-1:0] late;
  wire [PORTS*PORTS-1:0] hit;
  // A result on the long path has not left the accumulator yet, per port.
  wire [PORTS-1:0]       pending;
  wire [PORTS*WIDTH-1:0] res_data;
  wire [PORTS-1:0]       res_last;
  wire [PORTS-1:0]       res_bad;
  wire [PORTS-1:0]       acc_fault;

`ifdef FORMAL
  localparam FW = (BEATS_MAX < 2) ? 1 : $clog2(BEATS_MAX);
  wire [PORTS*FW-1:0]          f_rd;
  wire [PORTS*FW-1:0]          f_wr;
  wire [PORTS*(WIDTH<<FW)-1:0] f_kept;
  wire [PORTS*(WIDTH<<FW)-1:0] f_kept_high;
`endif

  generate
    for (b = 0; b < PORTS; b = b + 1) begin : g_block
      // Ports that can be in a block with b as its lowest port.
      localparam MOST = (b == 0) ? 8 : (b % 2 != 0) ? 1 : (b % 4 != 0) ? 2 : 4;

      reg        valid_q;
      reg  [1:0] level_q;
      reg  [3:0] dtype_q;
      reg  [2:0] op_q;
      reg        first_q;
      reg        final_q;
      reg        last_q;
      // The next beat begins a pass; else: the pass takes the long path.
      reg        start_q;
      reg        long_q;

      always @(posedge clk)
        if (rst) valid_q <= 1'b0;
        else valid_q <= soon_valid[b];

      always @(posedge clk)
        if (soon_valid[b]) begin
          level_q <= soon_level[b*2 +: 2];
          dtype_q <= soon_dtype[b*4 +: 4];
          op_q    <= soon_op[b*3 +: 3];
          first_q <= soon_first[b];
          final_q <= soon_final[b];
          last_q  <= soon_last[b];
        end

      // Ports of the block at which a result is pending.
      wire [PORTS-1:0] waiting;
      wire             long = (LANES == 1) ? 1'b0 : start_q ? !first_q || !final_q || waiting != {PORTS{1'b0}} : long_q;

      always @(posedge clk)
        if (rst) start_q <= 1'b1;
        else if (valid_q) start_q <= last_q;

      always @(posedge clk)
        if (valid_q) long_q <= long;

      wire          acc_valid;
      wire          empty;
      wire          empty_fault;
      // The beat at the output of the tree is wrong.
      wire [PORTS-1:0] wrong_here;
      wire          beat_bad = tree_bad[b] || wrong_here != {PORTS{1'b0}};
      wire          acc_bad;
      wire          acc_last;
      wire [1:0]    acc_level;
      wire [3:0]    acc_dtype;
      wire [IN-1:0] acc_data;
      wire          res_valid;
      wire [1:0]    res_level;

      for (q = 0; q < PORTS; q = q + 1) begin : g_for
        if (q >= b && q < b + MOST) begin : g_can
          // Smallest level of a block that starts at b and contains q.
          localparam [1:0] NEED = (q == b) ? 2'd0 : (q == b + 1) ? 2'd1 : (q < b + 4) ? 2'd2 : 2'd3;
          wire in_block  = q == b || level_q >= NEED;
          wire res_block = q == b || res_level >= NEED;

          assign late[q*PORTS+b] = valid_q && long && final_q && in_block;
          assign hit[q*PORTS+b]  = res_valid && res_block;
          assign waiting[q]      = pending[q] && in_block;
          assign wrong_here[q]   = wrong[q] && in_block;
        end else begin : g_cannot
          assign late[q*PORTS+b] = 1'b0;
          assign hit[q*PORTS+b]  = 1'b0;
          assign waiting[q]      = 1'b0;
          assign wrong_here[q]   = 1'b0;
        end
      end

      if (LANES > 1 && DIRECTED != 0) begin : g_empty
        // Delayed to match the control from the tree.
        wire soon_there;
        wire soon_empty;
        wire bad_empty;
        reg  empty_q;
        reg  bad_empty_q;

        rf_delay_parity #(.WIDTH(1), .N(`RF_FP_LATENCY * LEVELS), .PARITY(PARITY)) line (
          .clk(clk), .rst(rst), .in_valid(in_valid[b]), .in_data(in_empty[b]), .out_valid(soon_there),
          .out_data(soon_empty), .out_bad(bad_empty));

        always @(posedge clk) empty_q <= soon_there && soon_empty;

        always @(posedge clk)
          if (rst) bad_empty_q <= 1'b0;
          else bad_empty_q <= bad_empty;

        assign empty       = empty_q;
        assign empty_fault = PARITY != 0 && bad_empty_q;
      end else begin : g_no_empty
        wire unused_empty = in_empty[b];

        assign empty       = 1'b0;
        assign empty_fault = 1'b0;
      end

      if (LANES > 1) begin : g_acc
        wire acc_line_fault;

        assign acc_fault[b] = acc_line_fault || empty_fault;

        rf_acc #(
          .WIDTH    (WIDTH),
          .TYPES    (TYPES),
          .BEATS_MAX(BEATS_MAX),
          .PARITY   (PARITY)
        ) acc (
          .clk       (clk),
          .rst       (rst),
          .soon_valid(soon_valid[b]),
          .soon_first(soon_first[b]),
          .soon_last (soon_last[b]),
          .soon_half (is_half(soon_dtype[b*4 +: 4])),
          .in_valid  (valid_q && long),
          .in_first  (first_q),
          .in_final  (final_q),
          .in_last   (last_q),
          .in_level  (level_q),
          .in_dtype  (dtype_q),
          .in_op     (op_q),
          .in_empty  (empty),
          .in_data   (tree_data[b*IN +: IN]),
          .in_bad    (beat_bad),
          .out_valid (acc_valid),
          .out_last  (acc_last),
          .out_level (acc_level),
          .out_dtype (acc_dtype),
          .out_data  (acc_data),
          .out_bad   (acc_bad),
          .bad       (acc_line_fault)
`ifdef FORMAL
          ,
          .f_rd      (f_rd[b*FW +: FW]),
          .f_wr      (f_wr[b*FW +: FW]),
          .f_kept    (f_kept[b*(WIDTH<<FW) +: WIDTH<<FW]),
          .f_kept_high(f_kept_high[b*(WIDTH<<FW) +: WIDTH<<FW])
`endif
        );
      end else begin : g_one
        wire unused_one = &{1'b0, empty, empty_fault, first_q, final_q, op_q, waiting, start_q, long_q};

        assign acc_valid = 1'b0;
        assign acc_last  = 1'b0;
        assign acc_level = 2'd0;
        assign acc_dtype = 4'd0;
        assign acc_data  = {IN{1'b0}};
        assign acc_bad   = 1'b0;
        assign acc_fault[b] = 1'b0;
      end

      rf_reduce_out #(
        .WIDTH(WIDTH),
        .TYPES(TYPES)
      ) final_form (
        .clk      (clk),
        .rst      (rst),
        .a_valid  (valid_q && !long),
        .a_last   (last_q),
        .a_level  (level_q),
        .a_dtype  (dtype_q),
        .a_data   (tree_data[b*IN +: IN]),
        .a_bad    (beat_bad),
        .b_valid  (acc_valid),
        .b_last   (acc_last),
        .b_level  (acc_level),
        .b_dtype  (acc_dtype),
        .b_data   (acc_data),
        .b_bad    (acc_bad),
        .out_valid(res_valid),
        .out_last (res_last[b]),
        .out_level(res_level),
        .out_data (res_data[b*WIDTH +: WIDTH]),
        .out_bad  (res_bad[b])
      );
    end

    for (q = 0; q < PORTS; q = q + 1) begin : g_port
      // Beats that entered an accumulator in the last cycles.
      reg [`RF_FP_LATENCY-1:0] late_q;

      always @(posedge clk)
        if (rst) late_q <= {`RF_FP_LATENCY{1'b0}};
        else late_q <= {late_q[`RF_FP_LATENCY-2:0], late[q*PORTS +: PORTS] != {PORTS{1'b0}}};

      assign pending[q] = late_q != {`RF_FP_LATENCY{1'b0}};

      // The blocks that may end here, by size: that of size 2^k begins at q rounded down.
      wire [LEVELS:0] from;

      for (k = 0; k <= LEVELS; k = k + 1) begin : g_from
        localparam B = q - q % (1 << k);

        if (k > 0 && B == q - q % (1 << (k - ((k > 0) ? 1 : 0)))) begin : g_same
          assign from[k] = 1'b0;
        end else begin : g_other
          assign from[k] = hit[q*PORTS+B];
        end
      end

      reg             valid_q;
      reg             last_q;
      reg             bad_q;
      reg [WIDTH-1:0] data_q;
      integer         i;

      always @(posedge clk)
        if (rst) valid_q <= 1'b0;
        else valid_q <= from != {LEVELS + 1{1'b0}};

      always @(posedge clk)
        for (i = 0; i <= LEVELS; i = i + 1)
          if (from[i]) begin
            last_q <= res_last[q - q % (1 << i)];
            bad_q  <= res_bad[q - q % (1 << i)];
            data_q <= res_data[(q - q % (1 << i))*WIDTH +: WIDTH];
          end

      assign out_valid[q]                = valid_q;
      assign out_last[q]                 = last_q;
      assign out_bad[q]                  = bad_q;
      assign out_data[q*WIDTH +: WIDTH] = data_q;
    end
  endgenerate

  assign bad = tree_fault || acc_fault != {PORTS{1'b0}};

`ifdef RF_CHECK
`include "rf_reduce_check.vh"
`endif
`ifdef FORMAL
`include "pass_reduce.vh"
`endif

endmodule

`default_nettype wire
