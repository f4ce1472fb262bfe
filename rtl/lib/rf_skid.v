// rf_skid: register slice of a stream; it breaks the timing paths in both directions.
//
// Latency     1 cycle.
// Throughput  1 beat per cycle.
// Capacity    2 beats.
// Handshake   valid/ready; s_ready and m_valid are registers; m_data too, or it is read from distributed RAM at an address
//             in a register: no combinational path crosses the slice.
// Late tag    a beat may be found wrong in the cycle after it came. s_late says so of the beat that was taken on the s side
//             in the last cycle; m_late says so of the beat that was taken on the m side in the last cycle.
// Reset       clears the valid bits; data is not reset.
// Proved      tests/formal/lib/rf_skid.vh: order, no loss, no duplicate, m side stable until taken, each tag with its beat.

`default_nettype none

module rf_skid #(
  // Bits of a beat, 1 or more.
  parameter WIDTH = 8,
  // The upper bits, fewer than WIDTH, that are kept in distributed RAM of two words: no multiplexer, but their address has a
  // large fanout.
  parameter WIDE = 0
) (
  input  wire             clk,
  input  wire             rst,
  input  wire             s_valid,
  output wire             s_ready,
  input  wire [WIDTH-1:0] s_data,
  input  wire             s_late,
  output wire             m_valid,
  input  wire             m_ready,
  output wire [WIDTH-1:0] m_data,
  output wire             m_late
);

  localparam FAST = WIDTH - WIDE;

  reg            m_valid_q;
  reg            spare_valid_q;
  reg [FAST-1:0] m_data_q;
  reg [FAST-1:0] spare_data_q;

  assign s_ready           = !spare_valid_q;
  assign m_valid           = m_valid_q;
  assign m_data[FAST-1:0]  = m_data_q;

  // The output register is free at the end of this cycle.
  wire m_free = m_ready || !m_valid_q;

  always @(posedge clk)
    if (rst) m_valid_q <= 1'b0;
    else if (m_free) m_valid_q <= s_valid || spare_valid_q;

  always @(posedge clk)
    if (m_free && (s_valid || spare_valid_q)) m_data_q <= spare_valid_q ? spare_data_q : s_data[FAST-1:0];

  always @(posedge clk)
    if (rst) spare_valid_q <= 1'b0;
    else if (m_free) spare_valid_q <= 1'b0;
    else if (s_valid) spare_valid_q <= 1'b1;

  always @(posedge clk)
    if (s_valid && !spare_valid_q && !m_free) spare_data_q <= s_data[FAST-1:0];

  generate
    if (WIDE != 0) begin : g_wide
      reg wr_q;
      reg rd_q;

      always @(posedge clk)
        if (rst) wr_q <= 1'b0;
        else if (s_valid && s_ready) wr_q <= !wr_q;

      always @(posedge clk)
        if (rst) rd_q <= 1'b0;
        else if (m_valid && m_ready) rd_q <= !rd_q;

      // While there is room, wr_q is a free word: it may be written without a beat, so that s_valid, which is late, does not
      // reach as many cells.
      rf_ram_lut #(.WIDTH(WIDE), .DEPTH(2)) ram (
        .clk(clk), .wr_en(s_ready), .wr_addr(wr_q), .wr_data(s_data[WIDTH-1:FAST]), .rd_addr(rd_q),
        .rd_data(m_data[WIDTH-1:FAST]));
    end
  endgenerate

  // A beat that came in the last cycle is in the spare register if that is full, else in the output register.
  reg  came_q;
  reg  m_tag_q;
  reg  spare_tag_q;
  reg  m_late_q;
  wire late      = came_q && s_late;
  wire m_tag     = m_tag_q || (late && !spare_valid_q);
  wire spare_tag = spare_tag_q || (late && spare_valid_q);

  always @(posedge clk)
    if (rst) {came_q, m_tag_q, spare_tag_q, m_late_q} <= 4'b0000;
    else begin
      came_q      <= s_valid && !spare_valid_q;
      m_tag_q     <= m_free ? spare_tag : m_tag;
      spare_tag_q <= !m_free && spare_tag;
      m_late_q    <= m_valid_q && m_ready && m_tag;
    end

  assign m_late = m_late_q;

`ifdef FORMAL
`include "rf_skid.vh"
`endif

endmodule

`default_nettype wire
