// rf_ingress_read: executes the judge's commands: reads stored frames, either whole or from the payload on.
//
// Latency     command to first beat: 2 cycles.
// Throughput  one beat read per cycle; a command that reads at most one beat takes one cycle; no bubbles.
// Capacity    two beats.
// Handshake   c_ready needs o_ready or an idle output (combinational); o_* do not depend on o_ready.
// Reset       discards commands and frames.
// Proved      tests/formal/net_read.vh: each command produces its number of beats, the last one marked, without a gap;
//             an offered beat is held until taken; no unread space is freed.
//
// The payload begins at one of several offsets, so an output beat is taken from two adjacent beats. A beat read from
// the memory therefore waits one step (held) for the next one. The read of the next frame's first beat can serve as
// that step.

`default_nettype none

module rf_ingress_read #(
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512,
  // Beats of the frame FIFO: a power of two.
  parameter FIFO_BEATS = 256
) (
  input  wire                          clk,
  input  wire                          rst,

  // The oldest frame: number of stored beats, length, offset and length of the payload.
  input  wire                          i_valid,
  output wire                          i_ready,
  input  wire [$clog2(FIFO_BEATS)-1:0] i_beats,
  input  wire [13:0]                   i_len,
  input  wire [6:0]                    i_hlen,
  input  wire [13:0]                   i_plen,

  input  wire                          c_valid,
  output wire                          c_ready,
  input  wire [1:0]                    c_op,

  output wire                          rd_en,
  output wire [$clog2(FIFO_BEATS)-1:0] rd_addr,
  input  wire [WIDTH-1:0]              rd_data,
  // The word had a parity error in the memory.
  input  wire                          rd_bad,
  // Everything before this address may be overwritten when the ring wraps.
  output wire [$clog2(FIFO_BEATS):0]   free_ptr,

  output wire                          o_valid,
  input  wire                          o_ready,
  output wire [WIDTH-1:0]              o_data,
  output wire [WIDTH/8-1:0]            o_keep,
  output wire                          o_last,
  // The beat differs from what was received.
  output wire                          o_bad,

  output wire                          idle
);

  localparam B  = WIDTH / 8;
  localparam LB = $clog2(B);
  localparam AW = $clog2(FIFO_BEATS);

  // c_op 3 is treated as a raw read.
  wire op_forget  = c_op == 2'd0;
  wire op_payload = c_op == 2'd1;

  // Decoded command: beats to read, starting at `skip`; `outs` of them produce output (all, or all except the last
  // one).
  wire [3:0]    pay_code;
  wire [14:0]   pay_span  = {1'b0, i_plen} + {{15 - LB{1'b0}}, i_hlen[LB-1:0]} + {{15 - LB{1'b0}}, {LB{1'b1}}};
  wire [14:0]   out_span  = (op_payload ? {1'b0, i_plen} : {1'b0, i_len}) + {{15 - LB{1'b0}}, {LB{1'b1}}};
  wire [14-LB:0] outs     = out_span[14:LB];
  wire [14-LB:0] reads    = op_payload ? pay_span[14:LB] : outs;
  wire [LB-1:0] tail      = op_payload ? i_plen[LB-1:0] : i_len[LB-1:0];
  wire          extra     = reads != outs;
  wire          unused_span = &{1'b0, pay_span[LB-1:0], out_span[LB-1:0]};

  rf_align_code #(
    .WIDTH(WIDTH)
  ) align_code (
    .hlen(i_hlen),
    .code(pay_code)
  );

  // The read in progress: beats left after those already read.
  reg              busy_q;
  reg  [14-LB:0]   left_q;
  reg              extra_q;
  reg  [3:0]       code_q;
  reg  [LB-1:0]    tail_q;
  reg  [AW:0]      addr_q;
  // First beat of the oldest frame.
  reg  [AW:0]      base_q;
  reg  [AW:0]      free_q;

  // Pipeline stages: memory output (b), and the beat that waits for the next one (h).
  reg              b_out_q;
  reg              b_last_q;
  reg  [3:0]       b_code_q;
  reg  [LB-1:0]    b_tail_q;
  reg              h_out_q;
  reg              h_last_q;
  reg  [3:0]       h_code_q;
  reg  [B-1:0]     h_keep_q;
  reg  [WIDTH-1:0] h_data_q;
  reg              h_bad_q;

  wire step  = o_ready || !h_out_q;
  wire begin_now = c_valid && c_ready;
  wire start = begin_now && !op_forget;

  assign c_ready = i_valid && !busy_q && step;
  assign i_ready = begin_now;

  wire [AW:0]    first_addr = base_q + (op_payload ? {{AW + LB - 6{1'b0}}, i_hlen[6:LB]} : {AW + 1{1'b0}});
  wire [14-LB:0] left       = busy_q ? left_q : reads;
  wire           is_extra   = busy_q ? extra_q : extra;

  assign rd_en   = step && (busy_q || start);
  assign rd_addr = busy_q ? addr_q[AW-1:0] : first_addr[AW-1:0];

  localparam [14-LB:0] ONE = 1;
  localparam [14-LB:0] TWO = 2;

  always @(posedge clk)
    if (rst) busy_q <= 1'b0;
    else if (step) busy_q <= (busy_q || start) && left != ONE;

  always @(posedge clk)
    if (rd_en) begin
      left_q <= left - ONE;
      addr_q <= (busy_q ? addr_q : first_addr) + 1'b1;
    end

  always @(posedge clk)
    if (start) begin
      extra_q <= extra;
      code_q  <= op_payload ? pay_code : 4'd0;
      tail_q  <= tail;
    end

  always @(posedge clk)
    if (rst) base_q <= {AW + 1{1'b0}};
    else if (begin_now) base_q <= base_q + {1'b0, i_beats};

  always @(posedge clk)
    if (rst) free_q <= {AW + 1{1'b0}};
    else free_q <= busy_q ? addr_q : base_q;

  assign free_ptr = free_q;

  always @(posedge clk)
    if (rst) b_out_q <= 1'b0;
    else if (step) b_out_q <= rd_en && !(is_extra && left == ONE);

  always @(posedge clk)
    if (rd_en) begin
      b_last_q <= left == (is_extra ? TWO : ONE);
      b_code_q <= busy_q ? code_q : op_payload ? pay_code : 4'd0;
      b_tail_q <= busy_q ? tail_q : tail;
    end

  always @(posedge clk)
    if (rst) h_out_q <= 1'b0;
    else if (step) h_out_q <= b_out_q;

  always @(posedge clk)
    if (step && b_out_q) begin
      h_last_q <= b_last_q;
      h_code_q <= b_code_q;
      h_keep_q <= (b_last_q && b_tail_q != {LB{1'b0}}) ? ~({B{1'b1}} << b_tail_q) : {B{1'b1}};
      h_data_q <= rd_data;
      h_bad_q  <= rd_bad;
    end

  assign o_valid = h_out_q;
  assign o_last  = h_last_q;
  // The word from the memory is part of the beat, unless it is the first one of the next frame.
  assign o_bad   = h_bad_q || (rd_bad && !(h_last_q && b_out_q));
  assign o_keep  = h_keep_q;
  assign idle    = !busy_q && !b_out_q && !h_out_q;

  // Bytes after the end of the payload are zero.
  rf_align #(
    .WIDTH(WIDTH),
    .BACK (0)
  ) align (
    .en     (h_out_q),
    .code   (h_code_q),
    .prev   (h_data_q),
    .next   (rd_data),
    .instead(~o_keep),
    .other  ({WIDTH{1'b0}}),
    .out    (o_data)
  );

`ifdef FORMAL
`include "net_read.vh"
`endif

endmodule

`default_nettype wire
