// rf_tomb: signs of life on the tombstones of the connection table, as observed at one port. A sign of life is a packet
// with a correct ICRC that came by the port and from the address that firmware wrote for the tombstone.
//
// Latency     rd_valid to ask: 1 cycle; seen: 2 cycles after ask. seen answers number in the same cycle.
// Throughput  one packet and one access of firmware per cycle.
// Capacity    2^AW tombstones.
// Handshake   none: the packet side and the firmware side each write their own memory. A tombstone has seen a packet if
//             the two differ, so neither side waits for the other.
// Reset       none: firmware writes a tombstone before it uses it (w_valid).
// Proved      tests/rtl/unit_tomb.cpp; tests/formal/tomb.proof: no packet is lost and none is invented.

`default_nettype none

module rf_tomb #(
  // This port.
  parameter PORT = 0,
  // Bits of a tombstone's number, 1..16.
  parameter AW = 9,
  // 1: the expected values of a tombstone have a parity bit.
  parameter PARITY = 1
) (
  input  wire        clk,
  input  wire        rst,

  // The table's answer is this tombstone. In the next cycle: its packet has a correct ICRC; port and address it came
  // from.
  input  wire        rd_valid,
  input  wire [15:0] rd_number,
  input  wire        ask,
  input  wire [31:0] ask_ip,

  // Firmware writes the expected values of `number`, or reads it; both clear its seen state. Bits of number from AW on
  // are ignored.
  input  wire        w_valid,
  input  wire        look,
  input  wire [15:0] number,
  input  wire [31:0] w_ip,
  input  wire [2:0]  w_port,
  input  wire        w_any,
  output wire        seen
);

  localparam [31:0] THIS  = PORT;
  localparam        DEPTH = 1 << AW;

  generate
    if (AW < 1 || AW > 16) begin : g_error_aw
      ERROR_rf_tomb_AW_must_be_1_to_16 error ();
    end
  endgenerate

  wire [AW-1:0] at = number[AW-1:0];

  // p3: the expected and the actual values.
  wire [31:0]   e_ip;
  wire [2:0]    e_port;
  wire          e_any;
  reg  [AW-1:0] p3_number_q;

  // If a tombstone has a parity error, every packet with a correct ICRC is a sign of life: a tombstone that is
  // kept too long does no harm.
  wire          e_lost;

  rf_ram_parity #(.WIDTH(36), .DEPTH(DEPTH), .PARITY(PARITY)) expected (
    .clk(clk), .wr_en(w_valid), .wr_addr(at), .wr_data({w_any, w_port, w_ip}), .wr_bad(1'b0), .rd_en(rd_valid),
    .rd_addr(rd_number[AW-1:0]), .rd_data({e_any, e_port, e_ip}), .rd_bad(e_lost));

  always @(posedge clk)
    if (rd_valid) p3_number_q <= rd_number[AW-1:0];

  wire here = e_any || e_lost || (e_port == THIS[2:0] && e_ip == ask_ip);

  // p4: recorded.
  reg           p4_set_q;
  reg  [AW-1:0] p4_number_q;

  always @(posedge clk)
    if (rst) p4_set_q <= 1'b0;
    else p4_set_q <= ask && here;

  always @(posedge clk)
    if (ask) p4_number_q <= p3_number_q;

  wire packets_at;
  wire firmware_at;
  wire firmware_set;

  rf_ram_lut #(.WIDTH(1), .DEPTH(DEPTH)) packets (
    .clk(clk), .wr_en(p4_set_q), .wr_addr(p4_number_q), .wr_data(!firmware_set), .rd_addr(at), .rd_data(packets_at));
  rf_ram_many #(.WIDTH(1), .AW(AW), .READS(2)) firmware (
    .clk(clk), .wr_en(w_valid || look), .wr_addr(at), .wr_data(packets_at), .rd_addr({p4_number_q, at}),
    .rd_data({firmware_set, firmware_at}));

  assign seen = packets_at != firmware_at;

  wire unused_number = &{1'b0, number, rd_number};

`ifdef FORMAL
`include "tomb.vh"
`endif

endmodule

`default_nettype wire
