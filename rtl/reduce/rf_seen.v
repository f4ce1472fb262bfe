// rf_seen: signs of life of the connections, as observed at one port: data of its own ranks, ACKs of any connection.
//
// Latency     visible from the next cycle on.
// Throughput  one sign per cycle.
// Capacity    2^CW connections.
// Handshake   clr_valid/clr_ready: a clear waits while a sign of life is being recorded.
// Reset       none: firmware clears a connection before it uses it (INIT).
// Proved      tests/rtl/unit_seen.cpp; tests/rtl/core.

`default_nettype none

module rf_seen #(
  // Bits of a connection's number in this box.
  parameter CW = 6
) (
  input  wire          clk,

  input  wire          set_data,
  input  wire          set_ack,
  input  wire [CW-1:0] set_conn,
  // {ack, data}
  input  wire [1:0]    clr_bits,
  output wire          clr_ready,
  input  wire [CW-1:0] clr_conn,

  input  wire [CW-1:0] rd_conn,
  output wire [1:0]    rd_seen
);

  wire          set  = set_data || set_ack;
  wire [CW-1:0] conn = set ? set_conn : clr_conn;

  assign clr_ready = !set;

  rf_ram_lut #(.WIDTH(1), .DEPTH(1 << CW)) data (
    .clk(clk), .wr_en(set_data || (!set && clr_bits[0])), .wr_addr(conn), .wr_data(set), .rd_addr(rd_conn),
    .rd_data(rd_seen[0]));
  rf_ram_lut #(.WIDTH(1), .DEPTH(1 << CW)) ack (
    .clk(clk), .wr_en(set_ack || (!set && clr_bits[1])), .wr_addr(conn), .wr_data(set), .rd_addr(rd_conn),
    .rd_data(rd_seen[1]));

endmodule

`default_nettype wire
