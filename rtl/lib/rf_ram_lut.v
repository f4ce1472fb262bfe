// rf_ram_lut: small memory with one write port and one read port with combinational read.
//
// Latency     read: 0 cycles, combinational. A write is visible from the next cycle on.
// Throughput  one write and one read per cycle.
// Capacity    DEPTH words; meant for distributed RAM, so 64 words or fewer.
// Handshake   none.
// Reset       none; words that were never written are undefined.
// Proved      tests/formal/lib/rf_ram_lut.vh: a read returns the last value written to its address.

`default_nettype none

module rf_ram_lut #(
  // Bits of a word.
  parameter WIDTH = 8,
  // Number of words, 2 or more; need not be a power of two. Addresses must be below it.
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
