// rf_ram_many: small memory with one write port and several combinational read ports.
//
// Latency     read: 0 cycles, combinational. A write is visible from the next cycle on.
// Throughput  one write and READS reads per cycle.
// Capacity    DEPTH words; in distributed RAM, once per read port.
// Handshake   none.
// Reset       none; words that were never written are undefined.
// Proved      tests/rtl/unit_ram_many.cpp; tests/formal/ledger.proof as part of rf_ledger.

`default_nettype none

module rf_ram_many #(
  // Bits of a word.
  parameter WIDTH = 8,
  // Bits of an address.
  parameter AW = 5,
  // Read ports.
  parameter READS = 2
) (
  input  wire                   clk,
  input  wire                   wr_en,
  input  wire [AW-1:0]          wr_addr,
  input  wire [WIDTH-1:0]       wr_data,
  input  wire [READS*AW-1:0]    rd_addr,
  output wire [READS*WIDTH-1:0] rd_data
`ifdef FORMAL
  ,
  output wire [(WIDTH<<AW)-1:0] f_mem
`endif
);

  (* ram_style = "distributed" *)
  reg [WIDTH-1:0] mem [0:(1<<AW)-1];

  always @(posedge clk)
    if (wr_en) mem[wr_addr] <= wr_data;

  genvar r;
  generate
    for (r = 0; r < READS; r = r + 1) begin : g_read
      assign rd_data[r*WIDTH +: WIDTH] = mem[rd_addr[r*AW +: AW]];
    end
  endgenerate

`ifdef FORMAL
  generate
    for (r = 0; r < (1 << AW); r = r + 1) begin : g_mem
      assign f_mem[r*WIDTH +: WIDTH] = mem[r];
    end
  endgenerate
`endif

endmodule

`default_nettype wire
