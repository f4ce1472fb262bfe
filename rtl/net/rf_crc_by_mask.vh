// The two linear parts of rf_crc as XORs. The data part is generated code; the state part XORs the bits that a mask
//             selects.
// Included into the module.

  localparam [16383:0] ROWS = {
    `RF_CRC_ROW_31, `RF_CRC_ROW_30, `RF_CRC_ROW_29, `RF_CRC_ROW_28, `RF_CRC_ROW_27, `RF_CRC_ROW_26, `RF_CRC_ROW_25,
    `RF_CRC_ROW_24, `RF_CRC_ROW_23, `RF_CRC_ROW_22, `RF_CRC_ROW_21, `RF_CRC_ROW_20, `RF_CRC_ROW_19, `RF_CRC_ROW_18,
    `RF_CRC_ROW_17, `RF_CRC_ROW_16, `RF_CRC_ROW_15, `RF_CRC_ROW_14, `RF_CRC_ROW_13, `RF_CRC_ROW_12, `RF_CRC_ROW_11,
    `RF_CRC_ROW_10, `RF_CRC_ROW_9, `RF_CRC_ROW_8, `RF_CRC_ROW_7, `RF_CRC_ROW_6, `RF_CRC_ROW_5, `RF_CRC_ROW_4,
    `RF_CRC_ROW_3, `RF_CRC_ROW_2, `RF_CRC_ROW_1, `RF_CRC_ROW_0};

  // In two steps, so that XORs shared by several rows are computed once.
`include "rf_crc_sums.vh"

  function [31:0] data_part;
    input [WIDTH-1:0] bits_in;
    reg [511:0] wide;
    begin
      wide = 512'd0;
      wide[511-:WIDTH] = bits_in;
      data_part = data_sums(wide);
    end
  endfunction

  // The state is added to the first four bytes.
  function [31:0] state_part;
    input [31:0] state_in;
    integer r;
    for (r = 0; r < 32; r = r + 1) state_part[r] = ^(state_in & ROWS[512*r+512-WIDTH+:32]);
  endfunction
