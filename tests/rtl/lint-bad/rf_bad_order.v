// Must be refused by order: a register that is used above its declaration, as the front ends allow.
`default_nettype none

module rf_bad_order (
  input  wire clk,
  input  wire a,
  output wire y
);
  assign y = late_q;

  reg late_q;

  always @(posedge clk) late_q <= a;
endmodule

`default_nettype wire
