// rf_judge_window: what becomes of a data packet by its index: lines 30 to 36 of docs/box.md; whether the index lies where one
// of wrong form ends the group.
//
// Latency     0 cycles: combinational.
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

  // A packet could be stored here, now or when what is missing before it has come.
  output wire             storable,
  // A rank begins before its start PSN.
  output wire             too_soon,
  output reg  [7:0]       why,
  output wire             behalf,
  output wire             repeat_it,
  output wire             nak,
  output wire [7:0]       syndrome,
  // Selective: the index that the NAK names.
  output wire [23:0]      named,
  // What is kept of the connection lost a bit.
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

  // Lines: 30, 31 and 32 (of an open loop as `again`), 33, 34, 36. In a selective group next may be there already, and its runner
  // about to go over it.
  wire early = !accept && old_una && index[23] && !distant;
  wire again  = !accept && !early && (old_una || old_sent);
  wire stored = !accept && !early && !again && old_next;
  wire taken  = accept && is_next;
  wire beyond = accept ? !is_next : !early && !again && !stored && !is_next;
  wire rnr;
  wire follows;
  wire begins = valid && early && strict && !selective && next == 24'd0;

  assign storable = selective ? accept : in_window && !old_next;
  assign too_soon = begins && follows;

  assign behalf    = again && !open && old_una && behalf_room;
  assign repeat_it = again && !open && !old_una && repeat_room;

  rf_judge_nak #(.IDX(24), .GW(GW), .LW(LW), .PARITY(PARITY)) naks (
    .clk(clk), .rst(rst), .init_valid(init_valid), .init_addr(init_addr), .tick(tick), .una_valid(una_valid),
    .una_addr(una_addr), .j_valid(valid && !early), .j_early(begins), .j_taken(taken), .j_stored(stored), .j_beyond(beyond),
    .j_addr(addr), .j_index(index), .j_next(next), .j_full(full), .j_selective(selective), .j_silent(silent),
    .j_code(code), .j_eighth({11'd0, eighth}), .room(behalf_room), .make(nak), .make_rnr(rnr), .make_syndrome(syndrome),
    .make_index(named), .follows(follows), .bad(bad));

  always @(*)
    if (taken) why = `RF_CNT_ACCEPTED;
    else if (accept) why = nak ? `RF_CNT_AHEAD_NAK : `RF_CNT_AHEAD;
    else if (early) why = `RF_CNT_BEFORE_START;
    else if (again && open) why = `RF_CNT_PENDING;
    else if (again && old_una) why = behalf_room ? `RF_CNT_BEHALF : `RF_CNT_BEHALF_FULL;
    else if (again) why = repeat_room ? `RF_CNT_REPEAT : `RF_CNT_REPEAT_FULL;
    else if (stored) why = nak ? `RF_CNT_PENDING_RNR : `RF_CNT_PENDING;
    else if (is_next) why = full ? `RF_CNT_NO_ROOM : `RF_CNT_PENDING;
    else if (selective && in_window) why = nak ? `RF_CNT_PENDING_NAK : `RF_CNT_PENDING;
    else why = !nak ? `RF_CNT_GAP : rnr ? `RF_CNT_GAP_RNR : `RF_CNT_GAP_NAK;

endmodule

`default_nettype wire
