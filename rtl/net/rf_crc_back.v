// rf_crc_back: undoes the effect of BYTES zero bytes on a CRC-32 state.
//
// Latency     0, combinational: two levels of LUT6 with the select.
// Throughput  one state per cycle.
// Capacity    none.
// Handshake   none.
// Reset       none.

`include "rf_crc_masks.vh"

`default_nettype none

module rf_crc_back #(
  // 2, 4, 8, 16, 32 or 34.
  parameter BYTES = 2
) (
  // 0: state is passed through unchanged.
  input  wire        en,
  input  wire [31:0] state,
  output wire [31:0] out
);

  localparam [1023:0] MATRIX = (BYTES == 2) ? `RF_CRC_BACK_2 : (BYTES == 4) ? `RF_CRC_BACK_4 :
                               (BYTES == 8) ? `RF_CRC_BACK_8 : (BYTES == 16) ? `RF_CRC_BACK_16 :
                               (BYTES == 32) ? `RF_CRC_BACK_32 : `RF_CRC_BACK_34;

  function [31:0] back;
    input [31:0] from;
    integer r;
    for (r = 0; r < 32; r = r + 1) back[r] = ^(from & MATRIX[32*r+:32]);
  endfunction

  assign out = en ? back(state) : state;

  generate
    if (BYTES != 2 && BYTES != 4 && BYTES != 8 && BYTES != 16 && BYTES != 32 && BYTES != 34) begin : g_error_bytes
      ERROR_rf_crc_back_BYTES_must_be_2_4_8_16_32_or_34 error ();
    end
  endgenerate

endmodule

`default_nettype wire
