// rf_crc: state of a CRC-32 (reflected, 0xEDB88320) over the beats of a frame, starting from state 0.
//
// Latency     LATENCY = 2 cycles from the last beat to out_valid.
// Throughput  one beat per cycle; frames may follow each other without a gap.
// Capacity    two beats.
// Handshake   valid only.
// Reset       discards the frame in progress.
// Proved      tests/rtl/net_crc.cpp: both implementations match each other and the definition for every input
//             (exhaustively for every byte position, then by linearity).
//
// Cycle 1 computes the contribution of the data (about 256 inputs per bit, no feedback). Cycle 2 adds the state update
// (16 inputs per bit plus one from the data: two levels of LUT6), so the feedback loop is as short as possible. Every
// beat is processed in full. Bytes that are not part of the frame must be zero; zero bytes after the frame advance the
// state too.
//
// With RF_CRC_TABLE (simulation) both parts use byte lookup tables, which are many times faster in simulation.

`include "rf_crc_masks.vh"
`ifdef RF_CRC_TABLE
`include "rf_crc_tables.vh"
`endif

`default_nettype none

module rf_crc #(
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512
) (
  input  wire             clk,
  input  wire             rst,
  input  wire             in_valid,
  input  wire [WIDTH-1:0] in_data,
  input  wire             in_last,
  output wire             out_valid,
  // The raw CRC state: not inverted.
  output wire [31:0]      out_crc
);

  generate
    if (WIDTH != 64 && WIDTH != 128 && WIDTH != 256 && WIDTH != 512) begin : g_error_width
      ERROR_rf_crc_WIDTH_must_be_64_128_256_or_512 error ();
    end
  endgenerate

`ifdef RF_CRC_TABLE
`include "rf_crc_by_table.vh"
`else
`include "rf_crc_by_mask.vh"
`endif

  reg        p1_valid_q;
  reg        p1_last_q;
  reg [31:0] p1_part_q;
  reg        p2_valid_q;
  reg [31:0] p2_crc_q;
  reg [31:0] state_q;

  always @(posedge clk)
    if (rst) p1_valid_q <= 1'b0;
    else p1_valid_q <= in_valid;

  always @(posedge clk)
    if (in_valid) p1_last_q <= in_last;

  always @(posedge clk)
    if (in_valid) p1_part_q <= data_part(in_data);

  wire [31:0] next = state_part(state_q) ^ p1_part_q;

  always @(posedge clk)
    if (rst || (p1_valid_q && p1_last_q)) state_q <= 32'd0;
    else if (p1_valid_q) state_q <= next;

  always @(posedge clk)
    if (rst) p2_valid_q <= 1'b0;
    else p2_valid_q <= p1_valid_q && p1_last_q;

  always @(posedge clk)
    if (p1_valid_q && p1_last_q) p2_crc_q <= next;

  assign out_valid = p2_valid_q;
  assign out_crc   = p2_crc_q;

endmodule

`default_nettype wire
