// rf_ram_sdp: memory with one write port and one registered read port, one clock.
//
// Latency     read: READ_LATENCY cycles (1 or 2). A read in the same cycle as a write to the same address returns the
//             OLD word, or with BYPASS the new one. With APART there are no such reads. Later reads return the new word.
// Throughput  one write and one read per cycle.
// Capacity    DEPTH words.
// Handshake   none; rd_data keeps its value while no read is requested.
// Reset       none; words that were never written are undefined.
// Proved      tests/formal/lib/rf_ram_sdp.vh: a read returns the last value written to its address, old or new as
//             above. Users with APART prove that they never do what it excludes (rf_fifo.vh; tests/formal/ram.v in
//             stream_ingress, stream_inject, stream_results_count); rf_bank checks it in simulation.

`default_nettype none

module rf_ram_sdp #(
  // Bits of a word.
  parameter WIDTH = 8,
  // Number of words, 2 or more; need not be a power of two. Addresses must be below it.
  parameter DEPTH = 512,
  // 1, or 2 with an output register after the memory (for speed in block RAM and UltraRAM).
  parameter READ_LATENCY = 1,
  // 1: a read in the same cycle as a write to the same address returns the new word.
  parameter BYPASS = 0,
  // 1: no address is ever read in the cycle in which it is written. Block RAM of some devices then needs no comparison of
  // addresses.
  parameter APART = 0,
  // "auto", "distributed", "block" or "ultra".
  parameter RAM_STYLE = "auto"
) (
  input  wire                     clk,
  input  wire                     wr_en,
  input  wire [$clog2(DEPTH)-1:0] wr_addr,
  input  wire [WIDTH-1:0]         wr_data,
  input  wire                     rd_en,
  input  wire [$clog2(DEPTH)-1:0] rd_addr,
  output wire [WIDTH-1:0]         rd_data
);

  (* ram_style = RAM_STYLE, no_rw_check = APART *)
  reg [WIDTH-1:0] mem [0:DEPTH-1];
  reg [WIDTH-1:0] mem_q;

  always @(posedge clk) begin
    if (wr_en) mem[wr_addr] <= wr_data;
    if (rd_en) mem_q <= mem[rd_addr];
  end

  wire [WIDTH-1:0] first;

  generate
    if (BYPASS != 0) begin : g_bypass
      reg             hit_q;
      reg [WIDTH-1:0] new_q;
      wire            hit = wr_en && wr_addr == rd_addr;

      always @(posedge clk)
        if (rd_en) hit_q <= hit;

      always @(posedge clk)
        if (rd_en && hit) new_q <= wr_data;

      assign first = hit_q ? new_q : mem_q;
    end else begin : g_old
      assign first = mem_q;
    end

    if (READ_LATENCY == 1) begin : g_one
      assign rd_data = first;
    end else if (READ_LATENCY == 2) begin : g_two
      reg             rd_en_q;
      reg [WIDTH-1:0] rd_data_q;

      always @(posedge clk) rd_en_q <= rd_en;

      always @(posedge clk)
        if (rd_en_q) rd_data_q <= first;

      assign rd_data = rd_data_q;
    end else begin : g_error
      ERROR_rf_ram_sdp_READ_LATENCY_must_be_1_or_2 error ();
    end

    if (APART != 0 && BYPASS != 0) begin : g_error_apart
      ERROR_rf_ram_sdp_APART_excludes_BYPASS error ();
    end

    // The four names differ in their last letter, so it selects the memory type.
    if (RAM_STYLE[7:0] != "o" && RAM_STYLE[7:0] != "d" && RAM_STYLE[7:0] != "k" &&
        RAM_STYLE[7:0] != "a") begin : g_error_style
      ERROR_rf_ram_sdp_RAM_STYLE_unknown error ();
    end
  endgenerate

`ifdef FORMAL
`include "rf_ram_sdp.vh"
`endif

endmodule

`default_nettype wire
