// rf_crc_key: CRC-32 (the Ethernet FCS) of the eight bytes of a connection's key. It gives the key's positions in the
// hash tables.
//
// Latency     0, combinational: two levels of LUT6.
// Throughput  one key per cycle.
// Capacity    none.
// Handshake   none.
// Reset       none.

`include "rf_crc_masks.vh"
`ifdef RF_CRC_TABLE
`include "rf_crc_tables.vh"
`endif

`default_nettype none

module rf_crc_key (
  // 0: crc is not used.
  input  wire        en,
  input  wire [1:0]  role,
  input  wire [23:0] qpn,
  input  wire [31:0] ip,
  output reg  [31:0] crc
);

  localparam WIDTH = 64;

`ifdef RF_CRC_TABLE
`include "rf_crc_by_table.vh"
`else
`include "rf_crc_by_mask.vh"
`endif

  // First byte in the lowest bits; the all-ones initial value is added to the first four bytes.
  wire [63:0] bytes = {ip[7:0], ip[15:8], ip[23:16], ip[31:24],
                       ~qpn[7:0], ~qpn[15:8], ~qpn[23:16], 6'h3f, ~role};

  always @* begin
    crc = 32'd0;
    if (en) crc = ~data_part(bytes);
  end

endmodule

`default_nettype wire
