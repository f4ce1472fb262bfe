// rf_fifo_parity: rf_fifo with a parity bit on each word. A bit that flips in the memory is reported when the
// word is at the output.
//
// Latency     as rf_fifo; bad: 1 cycle after the word is at m_data.
// Throughput  one write and one read per cycle.
// Capacity    DEPTH words, output registers included.
// Handshake   as rf_fifo. bad is a register and stays set while the word is at the output.
// Reset       empties the FIFO.
// Proved      tests/rtl/unit_fifo_parity.cpp; the rf_fifo inside it is formally proved.

`default_nettype none

module rf_fifo_parity #(
  // As rf_fifo.
  parameter WIDTH = 8,
  parameter DEPTH = 16,
  parameter READ_LATENCY = (DEPTH <= 64) ? 0 : 2,
  parameter RAM_STYLE = "auto",
  parameter AFULL = DEPTH - 1,
  parameter COUNT = 1,
  // 0: the FIFO without parity.
  parameter PARITY = 1
) (
  input  wire                   clk,
  input  wire                   rst,
  input  wire                   s_valid,
  output wire                   s_ready,
  input  wire [WIDTH-1:0]       s_data,
  output wire                   m_valid,
  input  wire                   m_ready,
  output wire [WIDTH-1:0]       m_data,
  output wire [$clog2(DEPTH):0] count,
  output wire                   almost_full,
  // The word at the output in the last cycle had a parity error.
  output wire                   bad
);

  generate
    if (PARITY != 0) begin : g_parity
      wire kept;
      reg  bad_q;

      rf_fifo #(
        .WIDTH       (WIDTH + 1),
        .DEPTH       (DEPTH),
        .READ_LATENCY(READ_LATENCY),
        .RAM_STYLE   (RAM_STYLE),
        .AFULL       (AFULL),
        .COUNT       (COUNT)
      ) fifo (
        .clk        (clk),
        .rst        (rst),
        .s_valid    (s_valid),
        .s_ready    (s_ready),
        .s_data     ({^s_data, s_data}),
        .m_valid    (m_valid),
        .m_ready    (m_ready),
        .m_data     ({kept, m_data}),
        .count      (count),
        .almost_full(almost_full)
      );

      always @(posedge clk)
        if (rst) bad_q <= 1'b0;
        else bad_q <= m_valid && kept != ^m_data;

      assign bad = bad_q;
    end else begin : g_plain
      rf_fifo #(
        .WIDTH       (WIDTH),
        .DEPTH       (DEPTH),
        .READ_LATENCY(READ_LATENCY),
        .RAM_STYLE   (RAM_STYLE),
        .AFULL       (AFULL),
        .COUNT       (COUNT)
      ) fifo (
        .clk        (clk),
        .rst        (rst),
        .s_valid    (s_valid),
        .s_ready    (s_ready),
        .s_data     (s_data),
        .m_valid    (m_valid),
        .m_ready    (m_ready),
        .m_data     (m_data),
        .count      (count),
        .almost_full(almost_full)
      );

      assign bad = 1'b0;
    end
  endgenerate

endmodule

`default_nettype wire
