// net_crc_by_table: the table form of rf_crc's linear parts alone.

`include "rf_crc_tables.vh"

module net_crc_by_table #(
  parameter WIDTH = 64
) (
  input  wire [WIDTH-1:0] in_data,
  input  wire [31:0]      in_state,
  output wire [31:0]      out_data,
  output wire [31:0]      out_state
);

`include "rf_crc_by_table.vh"

  assign out_data  = data_part(in_data);
  assign out_state = state_part(in_state);

endmodule
