// rf_ram_parity: rf_ram_sdp with parity bits on each word. A bit that flips in the memory is reported when the word
// is read.
//
// Latency     read: READ_LATENCY cycles (1 or 2); rd_bad is valid with rd_data and is combinational from it.
// Throughput  one write and one read per cycle. A read in the same cycle as a write to the same address returns the
//             old word.
// Capacity    DEPTH words.
// Handshake   none; rd_data and rd_bad keep their values while no read is requested.
// Reset       none; words that were never written are undefined and may be reported as bad.
// Proved      tests/rtl/unit_ram_parity.cpp.
//
// wr_bad stores the word with wrong parity, so that every later read reports it. Data known to be wrong stays marked.

`default_nettype none

module rf_ram_parity #(
  // Bits of a word.
  parameter WIDTH = 64,
  // Number of words, 2 or more; need not be a power of two. Addresses must be below it.
  parameter DEPTH = 512,
  // As rf_ram_sdp.
  parameter READ_LATENCY = 1,
  parameter APART = 0,
  parameter RAM_STYLE = "auto",
  // Bits that share a parity bit. 64 and less, down to 8, use the spare bits of block RAM and UltraRAM, which are 72 bits wide.
  parameter PART = 64,
  // 0: the memory without parity.
  parameter PARITY = 1
) (
  input  wire                     clk,
  input  wire                     wr_en,
  input  wire [$clog2(DEPTH)-1:0] wr_addr,
  input  wire [WIDTH-1:0]         wr_data,
  input  wire                     wr_bad,
  input  wire                     rd_en,
  input  wire [$clog2(DEPTH)-1:0] rd_addr,
  output wire [WIDTH-1:0]         rd_data,
  output wire                     rd_bad
`ifdef FORMAL
  ,
  output wire [(WIDTH<<$clog2(DEPTH))-1:0] f_mem
`endif
);

  localparam PARTS = (WIDTH + PART - 1) / PART;

  generate
    if (PARITY != 0) begin : g_parity
      wire [PARTS-1:0] wr_sums;
      wire [PARTS-1:0] rd_sums;
      wire [PARTS-1:0] kept;
`ifdef FORMAL
      wire [((WIDTH+PARTS)<<$clog2(DEPTH))-1:0] f_words;
`endif

      rf_parity #(.WIDTH(WIDTH), .PART(PART)) make (.data(wr_data), .sums(wr_sums));
      rf_parity #(.WIDTH(WIDTH), .PART(PART)) check (.data(rd_data), .sums(rd_sums));

      rf_ram_sdp #(
        .WIDTH       (WIDTH + PARTS),
        .DEPTH       (DEPTH),
        .READ_LATENCY(READ_LATENCY),
        .APART       (APART),
        .RAM_STYLE   (RAM_STYLE)
      ) ram (
        .clk    (clk),
        .wr_en  (wr_en),
        .wr_addr(wr_addr),
        .wr_data({wr_sums ^ {PARTS{wr_bad}}, wr_data}),
        .rd_en  (rd_en),
        .rd_addr(rd_addr),
        .rd_data({kept, rd_data})
`ifdef FORMAL
        ,
        .f_mem  (f_words)
`endif
      );

      assign rd_bad = kept != rd_sums;
`ifdef FORMAL
      genvar w;
      for (w = 0; w < (1 << $clog2(DEPTH)); w = w + 1) begin : g_mem
        assign f_mem[w*WIDTH +: WIDTH] = f_words[w*(WIDTH+PARTS) +: WIDTH];
      end
`endif
    end else begin : g_plain
      wire unused_bad = wr_bad;

      rf_ram_sdp #(
        .WIDTH       (WIDTH),
        .DEPTH       (DEPTH),
        .READ_LATENCY(READ_LATENCY),
        .APART       (APART),
        .RAM_STYLE   (RAM_STYLE)
      ) ram (
        .clk    (clk),
        .wr_en  (wr_en),
        .wr_addr(wr_addr),
        .wr_data(wr_data),
        .rd_en  (rd_en),
        .rd_addr(rd_addr),
        .rd_data(rd_data)
`ifdef FORMAL
        ,
        .f_mem  (f_mem)
`endif
      );

      assign rd_bad = 1'b0;
    end
  endgenerate

endmodule

`default_nettype wire
