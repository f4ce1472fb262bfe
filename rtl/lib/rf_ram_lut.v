// rf_ram_lut: small memory with one write port and one read port that answers in the same cycle.
//
// Latency     read: 0 cycles, combinational. A write is seen from the next cycle on.
// Throughput  one write and one read per cycle.
// Capacity    DEPTH words; meant for distributed RAM, so 64 words or fewer.
// Handshake   none.
// Reset       none; what was never written is unknown.
// Proved      tests/formal/lib/rf_ram_lut.vh: a read gives the last write to its address.

`default_nettype none

module rf_ram_lut #(
  // Bits of a word.
  parameter WIDTH = 8,
  // Words, 2 or more; any number. Addresses stay below it.
  parameter DEPTH = 32
) (
  input  wire                     clk,
  input  wire                     wr_en,
  input  wire [$clog2(DEPTH)-1:0] wr_addr,
  input  wire [WIDTH-1:0]         wr_data,
  input  wire [$clog2(DEPTH)-1:0] rd_addr,
  output wire [WIDTH-1:0]         rd_data
);

  (* ram_style = "distributed" *)
  reg [WIDTH-1:0] mem [0:DEPTH-1];

  always @(posedge clk)
    if (wr_en) mem[wr_addr] <= wr_data;

  assign rd_data = mem[rd_addr];

`ifdef FORMAL
`include "rf_ram_lut.vh"
`endif

endmodule

`default_nettype wire
