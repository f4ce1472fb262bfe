// Must be refused by iverilog: a net that is not declared.
module rf_bad_net (
  input  wire a,
  output wire y
);
  assign b = a;
  assign y = b;
endmodule
