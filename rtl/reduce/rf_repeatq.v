// rf_repeatq: the packets that a port must send out of turn: repeats, and first sendings queued after them.
//
// Latency     judge to output: 2 cycles. First sending after repeats to output: 1 cycle.
// Throughput  one entry in and one out per cycle.
// Capacity    DEPTH entries, of which the judge may fill DEPTH - 2 * LANES.
// Handshake   the judge pushes only while j_room. The scheduler pushes one cycle after it has seen f_room, which it
//             checks before the first lane of a packet (there is room for all lanes then), and at most every third
//             cycle. Output: m_valid until m_pop.
// Reset       empty.
// Proved      tests/formal/stream_repeatq.proof; tests/rtl/unit_repeatq.cpp; tests/rtl/core.
//
// A connection is `queued` while it has an entry in this queue. Instead of a counter, each connection has one bit and
// the position of its youngest entry: when that entry leaves, the bit is cleared.

`default_nettype none

module rf_repeatq #(
  parameter LANES = 1,
  // Bits of {group, lane}.
  parameter AW = 4,
  // Entries: a power of two, at least 4 * LANES.
  parameter DEPTH = 64,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire          clk,
  input  wire          rst,

  // Judge: a repeat.
  output wire          j_room,
  input  wire          j_valid,
  input  wire [AW-1:0] j_addr,
  input  wire [23:0]   j_index,
  input  wire          j_life,

  // Scheduler: a first sending that follows repeats.
  output wire          f_room,
  input  wire          f_valid,
  input  wire [AW-1:0] f_addr,
  input  wire [23:0]   f_index,
  input  wire          f_life,

  // The connection l_addr is queued: combinational.
  input  wire [AW-1:0] l_addr,
  output wire          l_queued,

  output wire          m_valid,
  output wire [AW-1:0] m_addr,
  output wire [23:0]   m_index,
  output wire          m_first,
  output wire          m_life,
  input  wire          m_pop,

  // An entry had a parity error.
  output wire          bad,
  output wire          idle
);

  localparam DW = $clog2(DEPTH);
  localparam EW = AW + 26;

  // A repeat waits here while the scheduler pushes.
  wire          hold_valid;
  wire          hold_room;
  wire [EW-1:0] hold_entry;
  wire          hold_take;
  wire [2:0]    hold_count;
  wire          hold_afull;

  wire          hold_bad;

  rf_fifo_parity #(.WIDTH(EW), .DEPTH(4), .READ_LATENCY(0), .COUNT(0), .PARITY(PARITY)) hold (
    .clk(clk), .rst(rst), .s_valid(j_valid), .s_ready(hold_room), .s_data({j_life, 1'b0, j_index, j_addr}),
    .m_valid(hold_valid), .m_ready(hold_take), .m_data(hold_entry), .count(hold_count), .almost_full(hold_afull),
    .bad(hold_bad));

  wire unused_hold = &{1'b0, hold_count, hold_afull};

  reg  [DW:0]   count_q;
  reg  [DW-1:0] wr_q;
  reg  [DW-1:0] rd_q;

  wire [31:0]   count = {{31-DW{1'b0}}, count_q};
  wire          push  = f_valid || hold_take;
  wire [EW-1:0] entry = f_valid ? {f_life, 1'b1, f_index, f_addr} : hold_entry;
  wire [AW-1:0] addr  = entry[AW-1:0];

  assign hold_take = hold_valid && !f_valid;
  assign j_room    = hold_room && count + 32'd4 < DEPTH - 2 * LANES;
  assign f_room    = count <= DEPTH - LANES;
  assign m_valid   = count_q != {DW+1{1'b0}};
  assign idle      = !m_valid && !hold_valid;

  wire entry_bad;
  wire place_bad;

  rf_many_parity #(.WIDTH(EW), .AW(DW), .READS(1), .PARITY(PARITY)) entries (
    .clk(clk), .wr_en(push), .wr_addr(wr_q), .wr_data(entry), .rd_addr(rd_q),
    .rd_data({m_life, m_first, m_index, m_addr}), .rd_bad(entry_bad));

  always @(posedge clk)
    if (rst) wr_q <= {DW{1'b0}};
    else if (push) wr_q <= wr_q + 1'b1;

  always @(posedge clk)
    if (rst) rd_q <= {DW{1'b0}};
    else if (m_pop) rd_q <= rd_q + 1'b1;

  always @(posedge clk)
    if (rst) count_q <= {DW+1{1'b0}};
    else if (push && !m_pop) count_q <= count_q + 1'b1;
    else if (m_pop && !push) count_q <= count_q - 1'b1;

  reg  [(1<<AW)-1:0] queued_q;
  wire [DW-1:0]      youngest;

  rf_many_parity #(.WIDTH(DW), .AW(AW), .READS(1), .PARITY(PARITY)) places (
    .clk(clk), .wr_en(push), .wr_addr(addr), .wr_data(wr_q), .rd_addr(m_addr), .rd_data(youngest),
    .rd_bad(place_bad));

  reg bad_q;

  always @(posedge clk)
    if (rst) bad_q <= 1'b0;
    else bad_q <= hold_bad || (m_valid && (entry_bad || place_bad));

  assign bad = PARITY != 0 && bad_q;

  assign l_queued = queued_q[l_addr];

  always @(posedge clk)
    if (rst) begin
      queued_q <= {1 << AW{1'b0}};
    end else begin
      if (m_pop && youngest == rd_q) queued_q[m_addr] <= 1'b0;
      if (push) queued_q[addr] <= 1'b1;
    end

endmodule

`default_nettype wire
