// rf_conn_static: the fields that firmware has written for each connection; one copy per port and one for read-back.
//
// Latency     1 cycle from rd_en to the fields.
// Throughput  one read and one write per cycle.
// Capacity    2^CW connections.
// Handshake   none.
// Reset       none: undefined until written.
// Proved      tests/rtl/unit_conn_static.cpp; tests/rtl/core.

`default_nettype none

module rf_conn_static #(
  // Bits of a connection's number in this box.
  parameter CW = 6,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire          clk,

  // Write of one field, one-hot: START, SHIFT, SRC_IP, PEER_IP, PEER_PORT, QPN.
  input  wire [5:0]    wr_field,
  input  wire [CW-1:0] wr_conn,
  input  wire [31:0]   wr_data,

  input  wire          rd_en,
  input  wire [CW-1:0] rd_conn,
  output wire [23:0]   rd_start,
  output wire [23:0]   rd_shift,
  output wire [31:0]   rd_src_ip,
  output wire [31:0]   rd_peer_ip,
  output wire [2:0]    rd_peer_port,
  output wire [23:0]   rd_qpn,
  // A field had a parity error.
  output wire          rd_bad
);

  localparam DEPTH = 1 << CW;

  wire [5:0] bads;

  assign rd_bad = bads != 6'd0;

  rf_ram_parity #(.WIDTH(24), .DEPTH(DEPTH), .PARITY(PARITY)) ram_start (
    .clk(clk), .wr_en(wr_field[0]), .wr_addr(wr_conn), .wr_data(wr_data[23:0]), .wr_bad(1'b0),
    .rd_en(rd_en), .rd_addr(rd_conn), .rd_data(rd_start), .rd_bad(bads[0]));
  rf_ram_parity #(.WIDTH(24), .DEPTH(DEPTH), .PARITY(PARITY)) ram_shift (
    .clk(clk), .wr_en(wr_field[1]), .wr_addr(wr_conn), .wr_data(wr_data[23:0]), .wr_bad(1'b0),
    .rd_en(rd_en), .rd_addr(rd_conn), .rd_data(rd_shift), .rd_bad(bads[1]));
  rf_ram_parity #(.WIDTH(32), .DEPTH(DEPTH), .PARITY(PARITY)) ram_src (
    .clk(clk), .wr_en(wr_field[2]), .wr_addr(wr_conn), .wr_data(wr_data), .wr_bad(1'b0),
    .rd_en(rd_en), .rd_addr(rd_conn), .rd_data(rd_src_ip), .rd_bad(bads[2]));
  rf_ram_parity #(.WIDTH(32), .DEPTH(DEPTH), .PARITY(PARITY)) ram_peer (
    .clk(clk), .wr_en(wr_field[3]), .wr_addr(wr_conn), .wr_data(wr_data), .wr_bad(1'b0),
    .rd_en(rd_en), .rd_addr(rd_conn), .rd_data(rd_peer_ip), .rd_bad(bads[3]));
  rf_ram_parity #(.WIDTH(3), .DEPTH(DEPTH), .PARITY(PARITY)) ram_port (
    .clk(clk), .wr_en(wr_field[4]), .wr_addr(wr_conn), .wr_data(wr_data[2:0]), .wr_bad(1'b0),
    .rd_en(rd_en), .rd_addr(rd_conn), .rd_data(rd_peer_port), .rd_bad(bads[4]));
  rf_ram_parity #(.WIDTH(24), .DEPTH(DEPTH), .PARITY(PARITY)) ram_qpn (
    .clk(clk), .wr_en(wr_field[5]), .wr_addr(wr_conn), .wr_data(wr_data[23:0]), .wr_bad(1'b0),
    .rd_en(rd_en), .rd_addr(rd_conn), .rd_data(rd_qpn), .rd_bad(bads[5]));

endmodule

`default_nettype wire
