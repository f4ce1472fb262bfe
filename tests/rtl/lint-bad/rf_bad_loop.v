// Must be refused by yosys: a combinational loop.
module rf_bad_loop (
  input  wire a,
  output wire y
);
  wire b;
  assign b = a ^ y;
  assign y = !b;
endmodule
