// The two linear parts of rf_crc as byte tables: T<m> is the contribution of a byte that m bytes follow. Included into
//             the
// module, for simulation.

  localparam [8191:0] T0 = `RF_CRC_BYTE_0, T1 = `RF_CRC_BYTE_1, T2 = `RF_CRC_BYTE_2, T3 = `RF_CRC_BYTE_3;
  localparam [8191:0] T4 = `RF_CRC_BYTE_4, T5 = `RF_CRC_BYTE_5, T6 = `RF_CRC_BYTE_6, T7 = `RF_CRC_BYTE_7;
  localparam [8191:0] T8 = `RF_CRC_BYTE_8, T9 = `RF_CRC_BYTE_9, T10 = `RF_CRC_BYTE_10, T11 = `RF_CRC_BYTE_11;
  localparam [8191:0] T12 = `RF_CRC_BYTE_12, T13 = `RF_CRC_BYTE_13, T14 = `RF_CRC_BYTE_14, T15 = `RF_CRC_BYTE_15;

  // The tables for the state, which is added to the first four bytes of a beat.
  localparam [8191:0] S3 = (WIDTH == 512) ? `RF_CRC_BYTE_63 : (WIDTH == 256) ? `RF_CRC_BYTE_31 : (WIDTH == 128) ? T15 : T7;
  localparam [8191:0] S2 = (WIDTH == 512) ? `RF_CRC_BYTE_62 : (WIDTH == 256) ? `RF_CRC_BYTE_30 : (WIDTH == 128) ? T14 : T6;
  localparam [8191:0] S1 = (WIDTH == 512) ? `RF_CRC_BYTE_61 : (WIDTH == 256) ? `RF_CRC_BYTE_29 : (WIDTH == 128) ? T13 : T5;
  localparam [8191:0] S0 = (WIDTH == 512) ? `RF_CRC_BYTE_60 : (WIDTH == 256) ? `RF_CRC_BYTE_28 : (WIDTH == 128) ? T12 : T4;

  function [31:0] state_part;
    input [31:0] state_in;
    state_part = S3[{state_in[7:0], 5'd0}+:32] ^ S2[{state_in[15:8], 5'd0}+:32] ^
                 S1[{state_in[23:16], 5'd0}+:32] ^ S0[{state_in[31:24], 5'd0}+:32];
  endfunction

  // Sixteen bytes from state 0.
  function [31:0] block_part;
    input [127:0] b;
    block_part = T15[{b[7:0], 5'd0}+:32] ^ T14[{b[15:8], 5'd0}+:32] ^ T13[{b[23:16], 5'd0}+:32] ^
                 T12[{b[31:24], 5'd0}+:32] ^ T11[{b[39:32], 5'd0}+:32] ^ T10[{b[47:40], 5'd0}+:32] ^
                 T9[{b[55:48], 5'd0}+:32] ^ T8[{b[63:56], 5'd0}+:32] ^ T7[{b[71:64], 5'd0}+:32] ^
                 T6[{b[79:72], 5'd0}+:32] ^ T5[{b[87:80], 5'd0}+:32] ^ T4[{b[95:88], 5'd0}+:32] ^
                 T3[{b[103:96], 5'd0}+:32] ^ T2[{b[111:104], 5'd0}+:32] ^ T1[{b[119:112], 5'd0}+:32] ^
                 T0[{b[127:120], 5'd0}+:32];
  endfunction

  // A narrow beat is treated as the end of a block that begins with zeros.
  localparam BLOCKS = (WIDTH + 127) / 128;

  function [31:0] data_part;
    input [WIDTH-1:0] bits_in;
    reg [128*BLOCKS-1:0] blocks;
    reg [31:0] state_now;
    integer i;
    begin
      blocks = {128 * BLOCKS{1'b0}};
      blocks[128*BLOCKS-1-:WIDTH] = bits_in;
      state_now = 32'd0;
      for (i = 0; i < BLOCKS; i = i + 1) state_now = block_part(blocks[128*i+:128] ^ {96'd0, state_now});
      data_part = state_now;
    end
  endfunction
