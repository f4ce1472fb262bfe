// rf_judge_nak: decides whether a packet is answered with a NAK or an RNR NAK, and keeps the state for it: docs/box.md,
// "NAKs that the box makes".
//
// Latency     0 cycles from j_valid to make; the state changes with the next cycle.
// Throughput  one packet per cycle.
// Capacity    2^AW connections of one port.
// Handshake   init_valid is allowed only in a cycle without j_valid and j_early. At most one of those two is high.
// Reset       no NAK is outstanding. Other state is undefined until init.
// Proved      tests/formal/nak.vh: at most one is outstanding, none without room, first order before second order.

`default_nettype none

module rf_judge_nak #(
  // Bits of an index.
  parameter IDX = 24,
  parameter GW = 3,
  parameter LW = 1,
  // 1: groups may be selective.
  parameter SELECTIVE = 1,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                clk,
  input  wire                rst,

  input  wire                init_valid,
  input  wire [GW+LW-1:0]    init_addr,
  // No NAK counts as outstanding any more.
  input  wire                tick,
  // una of a connection of a plain group has risen.
  input  wire                una_valid,
  input  wire [GW+LW-1:0]    una_addr,

  // A packet of lines 31 to 36; then line 34, line 33, or one of lines 36a to 36c.
  input  wire                j_valid,
  input  wire                j_taken,
  input  wire                j_stored,
  input  wire                j_beyond,
  // Another packet: one before the start of a plain connection. It counts as the last packet.
  input  wire                j_early,
  input  wire [GW+LW-1:0]    j_addr,
  input  wire [IDX-1:0]      j_index,
  input  wire [IDX-1:0]      j_next,
  // next is tail + S.
  input  wire                j_full,
  input  wire                j_selective,
  // Transparent or open loop.
  input  wire                j_silent,
  // Timer code for stragglers.
  input  wire [4:0]          j_code,
  // The index minus an eighth of the slots.
  input  wire [IDX-1:0]      j_before,
  // There is room for a frame.
  input  wire                room,

  output wire                make,
  output wire                make_rnr,
  output wire [7:0]          make_syndrome,
  // Selective: the index that the NAK names.
  output wire [IDX-1:0]      make_index,
  // The index equals that of the last packet, or the next one.
  output wire                follows,
  // The state of the connection had a parity error.
  output wire                bad
);

  localparam AW = GW + LW;

  // a < b for serial numbers.
  function below;
    input [IDX-1:0] a;
    input [IDX-1:0] b;
    reg   [IDX-1:0] d;
    begin
      d     = b - a;
      below = d != {IDX{1'b0}} && !d[IDX-1];
    end
  endfunction

  wire               selective = SELECTIVE != 0 && j_selective;
  reg  [(1<<AW)-1:0] asked_q;
  reg  [(1<<AW)-1:0] twice_q;
  wire [IDX-1:0]     last;
  wire [IDX-1:0]     mark;
  wire               was    = asked_q[j_addr];
  wire [IDX-1:0]     hole   = last + 1'b1;
  // Signs of three differences: a carry chain is faster than a comparison with zero that follows a subtraction. A difference
  // of half the circle is negative, and so is its negation.
  wire [IDX-1:0]     ahead  = j_index - last;
  wire [IDX-1:0]     negated = last - j_index;
  wire [IDX-1:0]     to_hole = hole - j_index;
  wire               back   = ahead[IDX-1] || !negated[IDX-1];
  wire               beyond_seen = !below(last, j_next);
  // Indexes between the two were skipped: below(hole, j_index).
  wire               skips  = to_hole[IDX-1] && negated[IDX-1];
  // Less than an eighth of the slots after mark: below(j_before, mark).
  wire [IDX-1:0]     near   = j_before - mark;
  wire [IDX-1:0]     far    = mark - j_before;
  wire               again  = !skips && was && !back && near[IDX-1] && !far[IDX-1];
  // Selective: the highest index seen stays.
  wire               keep   = selective && back;
  wire               may    = j_valid && !j_silent && room;
  wire               gap    = may && j_beyond && !j_full && (selective ? !again : !was || back);
  wire               late   = may && j_stored && !selective && j_code != 5'd0 && back && !beyond_seen && !was;

  assign follows       = !ahead[IDX-1] && !to_hole[IDX-1];
  assign make          = gap || late;
  assign make_rnr      = late || (!selective && twice_q[j_addr]);
  assign make_index    = skips ? hole : j_next;
  assign make_syndrome = late ? {3'd1, j_code} : make_rnr ? 8'h21 : 8'h60;

  always @(posedge clk)
    if (rst) begin
      asked_q <= {1 << AW{1'b0}};
    end else begin
      if (tick) asked_q <= {1 << AW{1'b0}};
      if (j_valid && make) asked_q[j_addr] <= 1'b1;
      else if (j_valid && !selective && (j_taken || back)) asked_q[j_addr] <= 1'b0;
      if (una_valid) asked_q[una_addr] <= 1'b0;
      if (init_valid) asked_q[init_addr] <= 1'b0;
    end

  always @(posedge clk)
    if (rst) begin
      twice_q <= {1 << AW{1'b0}};
    end else begin
      if (gap) twice_q[j_addr] <= 1'b1;
      if (una_valid) twice_q[una_addr] <= 1'b0;
      if (init_valid) twice_q[init_addr] <= 1'b0;
    end

  wire last_bad;
  wire mark_bad;

  assign bad = (j_valid || j_early) && (last_bad || mark_bad);

  rf_many_parity #(.WIDTH(IDX), .AW(AW), .READS(1), .PARITY(PARITY)) lasts (
    .clk(clk), .wr_en((j_valid && !keep) || j_early || init_valid), .wr_addr(init_valid ? init_addr : j_addr),
    .wr_data(init_valid ? {IDX{1'b1}} : j_index), .rd_addr(j_addr), .rd_data(last), .rd_bad(last_bad));

  // `late` is never set in a selective group, so gap equals make there and has one level of logic less. The parity bit,
  // if there is one, is the upper bit of a word. It is computed for both inputs, then selected, because keep is late.
  generate
    if (SELECTIVE != 0) begin : g_selective
      localparam MW = PARITY != 0 ? IDX + 1 : IDX;

      wire [IDX:0]  seen = keep ? {^last, last} : {^j_index, j_index};
      wire [MW-1:0] word;

      rf_ram_many #(.WIDTH(MW), .AW(AW), .READS(1)) marks (
        .clk(clk), .wr_en(gap || init_valid), .wr_addr(init_valid ? init_addr : j_addr),
        .wr_data(init_valid ? {MW{1'b0}} : seen[MW-1:0]), .rd_addr(j_addr), .rd_data(word));

      assign mark     = word[IDX-1:0];
      assign mark_bad = PARITY != 0 && ^word;

      if (PARITY == 0) begin : g_plain
        wire unused_sum = seen[IDX];
      end
    end else begin : g_in_order
      wire unused_mark = &{1'b0, j_selective, j_before};

      assign mark     = {IDX{1'b0}};
      assign mark_bad = 1'b0;
    end
  endgenerate

`ifdef FORMAL
`include "nak.vh"
`endif

endmodule

`default_nettype wire
