// rf_skid: register slice of a stream; it breaks the timing paths in both directions.
//
// Latency     1 cycle.
// Throughput  1 beat per cycle.
// Capacity    2 beats.
// Handshake   valid/ready; s_ready, m_valid and m_data are registers: no combinational path crosses the slice.
// Late tag    a beat may be found wrong in the cycle after it came. s_late says so of the beat that was taken on the s side
//             in the last cycle; m_late says so of the beat that was taken on the m side in the last cycle.
// Reset       clears the valid bits; data is not reset.
// Proved      tests/formal/lib/rf_skid.vh: order, no loss, no duplicate, m side stable until taken, each tag with its beat.

`default_nettype none

module rf_skid #(
  // Bits of a beat, 1 or more.
  parameter WIDTH = 8
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

  reg             m_valid_q;
  reg             spare_valid_q;
  reg [WIDTH-1:0] m_data_q;
  reg [WIDTH-1:0] spare_data_q;

  assign s_ready = !spare_valid_q;
  assign m_valid = m_valid_q;
  assign m_data  = m_data_q;

  // The output register is free at the end of this cycle.
  wire m_free = m_ready || !m_valid_q;

  always @(posedge clk)
    if (rst) m_valid_q <= 1'b0;
    else if (m_free) m_valid_q <= s_valid || spare_valid_q;

  always @(posedge clk)
    if (m_free && (s_valid || spare_valid_q)) m_data_q <= spare_valid_q ? spare_data_q : s_data;

  always @(posedge clk)
    if (rst) spare_valid_q <= 1'b0;
    else if (m_free) spare_valid_q <= 1'b0;
    else if (s_valid) spare_valid_q <= 1'b1;

  always @(posedge clk)
    if (s_valid && !spare_valid_q && !m_free) spare_data_q <= s_data;

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
