// rf_judge_window: handles a data packet according to its index: lines 30 to 36 of docs/box.md. It also reports whether
// the index is in the range in which a malformed packet ends the group.
//
// Latency     0 cycles: combinational. NAKs and too_soon: 1 cycle; all inputs of rf_judge_nak are delayed by one
//             cycle, so its verdicts match the cycle of the packet itself.
// Throughput  one packet per cycle.
// Capacity    that of rf_judge_nak.
// Handshake   none.
// Reset       as rf_judge_nak.
// Proved      tests/rtl/core: a case for every line; tests/formal/nak.vh.

`include "rf_regs.vh"

`default_nettype none

module rf_judge_window #(
  parameter GW = 3,
  parameter LW = 1,
  // 1: groups may be selective.
  parameter SELECTIVE = 1,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire             clk,
  input  wire             rst,

  input  wire             init_valid,
  input  wire [GW+LW-1:0] init_addr,
  input  wire             tick,
  input  wire             una_valid,
  input  wire [GW+LW-1:0] una_addr,

  input  wire             valid,
  input  wire [GW+LW-1:0] addr,
  input  wire [23:0]      index,
  // Its group.
  input  wire             open,
  input  wire             silent,
  input  wire             selective,
  input  wire             strict,
  input  wire [4:0]       code,
  input  wire [12:0]      eighth,
  // Ledger.
  input  wire [23:0]      next,
  input  wire [23:0]      sent,
  input  wire [23:0]      una,
  input  wire             distant,
  input  wire             accept,
  input  wire             in_window,
  input  wire             full,
  // Room in queues.
  input  wire             behalf_room,
  input  wire             repeat_room,

  // A packet could be stored here, now or after the missing packets before it have arrived.
  output wire             storable,
  // The counter to use if no NAK is made.
  output reg  [7:0]       why,
  output wire             behalf,
  output wire             repeat_it,
  // One cycle later. The index is before the start PSN of the rank.
  output wire             too_soon,
  output wire             nak,
  output reg  [7:0]       nak_why,
  output wire [7:0]       syndrome,
  // Selective: the index that the NAK names.
  output wire [23:0]      named,
  // The state of the connection had a parity error.
  output wire             bad
);

  // a < b for serial numbers.
  function less;
    input [23:0] a;
    input [23:0] b;
    reg   [23:0] d;
    begin
      d    = b - a;
      less = d != 24'd0 && !d[23];
    end
  endfunction

  wire old_una  = less(index, una);
  wire old_sent = less(index, sent);
  wire old_next = less(index, next);
  wire is_next  = index == next;
  wire any      = SELECTIVE != 0 && selective;

  // Lines: 30, 31 and 32 (of an open loop as `again`), 33, 34, 36. In a selective group the packet with index next may
  // be stored already, before the runner has moved next past it.
  wire early = !accept && old_una && index[23] && !distant;
  wire again  = !accept && !early && (old_una || old_sent);
  wire stored = !accept && !early && !again && old_next;
  wire taken  = accept && is_next;
  wire beyond = accept ? !is_next : !early && !again && !stored && !is_next;
  wire begins = valid && early && strict && !any && next == 24'd0;

  assign storable = any ? accept : in_window && !old_next;

  // again with and without old_una, written without early where that cannot be.
  assign behalf    = !accept && !early && old_una && !open && behalf_room;
  assign repeat_it = !accept && old_sent && !old_una && !open && repeat_room;

  always @(*)
    if (taken) why = `RF_CNT_ACCEPTED;
    else if (accept) why = `RF_CNT_AHEAD;
    else if (early) why = `RF_CNT_BEFORE_START;
    else if (again && open) why = `RF_CNT_PENDING;
    else if (again && old_una) why = behalf_room ? `RF_CNT_BEHALF : `RF_CNT_BEHALF_FULL;
    else if (again) why = repeat_room ? `RF_CNT_REPEAT : `RF_CNT_REPEAT_FULL;
    else if (stored) why = `RF_CNT_PENDING;
    else if (is_next) why = full ? `RF_CNT_NO_ROOM : `RF_CNT_PENDING;
    else if (any && in_window) why = `RF_CNT_PENDING;
    else why = `RF_CNT_GAP;

  // The next cycle: NAKs.
  reg             n_init_q;
  reg [GW+LW-1:0] n_init_addr_q;
  reg             n_tick_q;
  reg             n_una_q;
  reg [GW+LW-1:0] n_una_addr_q;
  reg             n_valid_q;
  reg             n_begins_q;
  reg             n_accept_q;
  reg             n_taken_q;
  reg             n_stored_q;
  reg             n_beyond_q;
  reg             n_inside_q;
  reg [GW+LW-1:0] n_addr_q;
  reg [23:0]      n_index_q;
  reg [23:0]      n_next_q;
  reg             n_full_q;
  reg             n_selective_q;
  reg             n_silent_q;
  reg [4:0]       n_code_q;
  reg [23:0]      n_before_q;
  reg             n_room_q;
  wire            rnr;
  wire            follows;

  always @(posedge clk)
    if (rst) {n_init_q, n_tick_q, n_una_q, n_valid_q, n_begins_q} <= 5'd0;
    else {n_init_q, n_tick_q, n_una_q, n_valid_q, n_begins_q} <= {init_valid, tick, una_valid, valid && !early, begins};

  always @(posedge clk) begin
    n_init_addr_q <= init_addr;
    n_una_addr_q  <= una_addr;
  end

  always @(posedge clk)
    if (valid) begin
      n_accept_q    <= accept;
      n_taken_q     <= taken;
      n_stored_q    <= stored;
      n_beyond_q    <= beyond;
      n_inside_q    <= in_window;
      n_addr_q      <= addr;
      n_index_q     <= index;
      n_next_q      <= next;
      n_full_q      <= full;
      n_selective_q <= any;
      n_silent_q    <= silent;
      n_code_q      <= code;
      n_before_q    <= index - {11'd0, eighth};
      n_room_q      <= behalf_room;
    end

  rf_judge_nak #(.IDX(24), .GW(GW), .LW(LW), .SELECTIVE(SELECTIVE), .PARITY(PARITY)) naks (
    .clk(clk), .rst(rst), .init_valid(n_init_q), .init_addr(n_init_addr_q), .tick(n_tick_q), .una_valid(n_una_q),
    .una_addr(n_una_addr_q), .j_valid(n_valid_q), .j_early(n_begins_q), .j_taken(n_taken_q), .j_stored(n_stored_q),
    .j_beyond(n_beyond_q), .j_addr(n_addr_q), .j_index(n_index_q), .j_next(n_next_q), .j_full(n_full_q),
    .j_selective(n_selective_q), .j_silent(n_silent_q), .j_code(n_code_q), .j_before(n_before_q), .room(n_room_q),
    .make(nak), .make_rnr(rnr), .make_syndrome(syndrome), .make_index(named), .follows(follows), .bad(bad));

  assign too_soon = n_begins_q && follows;

  always @(*)
    if (n_accept_q) nak_why = `RF_CNT_AHEAD_NAK;
    else if (n_stored_q) nak_why = `RF_CNT_PENDING_RNR;
    else if (n_selective_q && n_inside_q) nak_why = `RF_CNT_PENDING_NAK;
    else nak_why = rnr ? `RF_CNT_GAP_RNR : `RF_CNT_GAP_NAK;

endmodule

`default_nettype wire
