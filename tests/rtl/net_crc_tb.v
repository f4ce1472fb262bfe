// net_crc_tb: the two forms of rf_crc's linear parts side by side, and the steps back.

module net_crc_tb #(
  parameter WIDTH = 64
) (
  input  wire [WIDTH-1:0] data,
  input  wire [31:0]      state,
  output wire [31:0]      mask_data,
  output wire [31:0]      mask_state,
  output wire [31:0]      table_data,
  output wire [31:0]      table_state,
  output wire [31:0]      back2,
  output wire [31:0]      back4,
  output wire [31:0]      back8,
  output wire [31:0]      back16,
  output wire [31:0]      back32,
  output wire [31:0]      back34
);

  net_crc_by_mask #(.WIDTH(WIDTH)) by_mask (
    .in_data(data), .in_state(state), .out_data(mask_data), .out_state(mask_state)
  );

  net_crc_by_table #(.WIDTH(WIDTH)) by_table (
    .in_data(data), .in_state(state), .out_data(table_data), .out_state(table_state)
  );

  rf_crc_back #(.BYTES(2)) step2 (.en(1'b1), .state(state), .out(back2));
  rf_crc_back #(.BYTES(4)) step4 (.en(1'b1), .state(state), .out(back4));
  rf_crc_back #(.BYTES(8)) step8 (.en(1'b1), .state(state), .out(back8));
  rf_crc_back #(.BYTES(16)) step16 (.en(1'b1), .state(state), .out(back16));
  rf_crc_back #(.BYTES(32)) step32 (.en(1'b1), .state(state), .out(back32));
  rf_crc_back #(.BYTES(34)) step34 (.en(1'b1), .state(state), .out(back34));

endmodule
