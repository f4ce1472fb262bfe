// rf_many_parity: rf_ram_many with a parity bit on each word. A bit that flips in the memory is reported when the word
// is read.
//
// Latency     read: 0 cycles, combinational, rd_bad too. A write is visible from the next cycle on.
// Throughput  one write and READS reads per cycle.
// Capacity    DEPTH words; in distributed RAM, once per read port.
// Handshake   none.
// Reset       none; words that were never written are undefined and may be reported as bad.
// Proved      tests/rtl/unit_many_parity.cpp; tests/formal/ledger.proof as part of rf_ledger.

`default_nettype none

module rf_many_parity #(
  // Bits of a word.
  parameter WIDTH = 8,
  // Bits of an address.
  parameter AW = 5,
  // Read ports.
  parameter READS = 2,
  // 0: the memory without parity.
  parameter PARITY = 1
) (
  input  wire                   clk,
  input  wire                   wr_en,
  input  wire [AW-1:0]          wr_addr,
  input  wire [WIDTH-1:0]       wr_data,
  input  wire [READS*AW-1:0]    rd_addr,
  output wire [READS*WIDTH-1:0] rd_data,
  output wire [READS-1:0]       rd_bad
`ifdef FORMAL
  ,
  output wire [(WIDTH<<AW)-1:0] f_mem
`endif
);

  genvar r;
  generate
    if (PARITY != 0) begin : g_parity
      wire [READS*(WIDTH+1)-1:0] words;
`ifdef FORMAL
      wire [((WIDTH+1)<<AW)-1:0] f_words;
`endif

      rf_ram_many #(.WIDTH(WIDTH + 1), .AW(AW), .READS(READS)) ram (
        .clk(clk), .wr_en(wr_en), .wr_addr(wr_addr), .wr_data({^wr_data, wr_data}), .rd_addr(rd_addr), .rd_data(words)
`ifdef FORMAL
        , .f_mem(f_words)
`endif
      );

      for (r = 0; r < READS; r = r + 1) begin : g_read
        assign rd_data[r*WIDTH +: WIDTH] = words[r*(WIDTH+1) +: WIDTH];
        assign rd_bad[r]                 = ^words[r*(WIDTH+1) +: WIDTH+1];
      end
`ifdef FORMAL
      for (r = 0; r < (1 << AW); r = r + 1) begin : g_mem
        assign f_mem[r*WIDTH +: WIDTH] = f_words[r*(WIDTH+1) +: WIDTH];
      end
`endif
    end else begin : g_plain
      rf_ram_many #(.WIDTH(WIDTH), .AW(AW), .READS(READS)) ram (
        .clk(clk), .wr_en(wr_en), .wr_addr(wr_addr), .wr_data(wr_data), .rd_addr(rd_addr), .rd_data(rd_data)
`ifdef FORMAL
        , .f_mem(f_mem)
`endif
      );

      assign rd_bad = {READS{1'b0}};
    end
  endgenerate

endmodule

`default_nettype wire
