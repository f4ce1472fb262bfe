// rf_conn_mac: whether each connection of one port is a mirror connection, and the Ethernet address to which its
// results go. The firmware may change the address while the group is live.
//
// Latency     a: 1 cycle from a_en to a_*; b: 2 cycles from b_en to b_*. A read in the cycle of a write sees the old word.
// Throughput  one read of each kind and one write per cycle.
// Capacity    2^AW connections.
// Handshake   none. Writes are accepted only while ready is high.
// Reset       no connection is a mirror connection: ready rises 2^AW cycles later.
// Proved      tests/rtl/unit_conn_mac.cpp; tests/rtl/core.

`default_nettype none

module rf_conn_mac #(
  // Bits of {group, lane}.
  parameter AW = 4,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire          clk,
  input  wire          rst,
  output wire          ready,

  // {mirror, MAC}
  input  wire          wr_en,
  input  wire [AW-1:0] wr_addr,
  input  wire [48:0]   wr_data,

  // For the judge; for results. The word had a parity error: a_bad with the word, b_bad one cycle after it.
  input  wire          a_en,
  input  wire [AW-1:0] a_addr,
  output wire          a_mirror,
  output wire [47:0]   a_mac,
  output wire          a_bad,
  input  wire          b_en,
  input  wire [AW-1:0] b_addr,
  output wire          b_mirror,
  output wire [47:0]   b_mac,
  output wire          b_bad
);

  localparam DEPTH = 1 << AW;

  reg  [AW:0] sweep_q;
  wire        swept = sweep_q[AW];

  always @(posedge clk)
    if (rst) sweep_q <= {AW + 1{1'b0}};
    else if (!swept) sweep_q <= sweep_q + 1'b1;

  assign ready = swept;

  wire          en   = !swept || wr_en;
  wire [AW-1:0] addr = swept ? wr_addr : sweep_q[AW-1:0];
  wire [48:0]   data = swept ? wr_data : 49'd0;
  wire          late_bad;

  rf_ram_parity #(.WIDTH(49), .DEPTH(DEPTH), .PART(49), .RAM_STYLE("distributed"), .PARITY(PARITY)) ram_a (
    .clk(clk), .wr_en(en), .wr_addr(addr), .wr_data(data), .wr_bad(1'b0),
    .rd_en(a_en), .rd_addr(a_addr), .rd_data({a_mirror, a_mac}), .rd_bad(a_bad));
  rf_ram_parity #(.WIDTH(49), .DEPTH(DEPTH), .READ_LATENCY(2), .PART(49), .RAM_STYLE("distributed"), .PARITY(PARITY)) ram_b (
    .clk(clk), .wr_en(en), .wr_addr(addr), .wr_data(data), .wr_bad(1'b0),
    .rd_en(b_en), .rd_addr(b_addr), .rd_data({b_mirror, b_mac}), .rd_bad(late_bad));

  generate
    if (PARITY != 0) begin : g_parity
      reg [1:0] read_q;
      reg       bad_q;

      always @(posedge clk)
        if (rst) {bad_q, read_q} <= 3'b000;
        else {bad_q, read_q} <= {read_q[1] && late_bad, read_q[0], b_en};

      assign b_bad = bad_q;
    end else begin : g_plain
      wire unused_bad = late_bad;

      assign b_bad = 1'b0;
    end
  endgenerate

endmodule

`default_nettype wire
