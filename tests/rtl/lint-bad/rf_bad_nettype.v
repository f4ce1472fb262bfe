// Must be refused by nettype: undeclared nets stay legal in this file.
module rf_bad_nettype (
  input  wire a,
  output wire y
);
  assign y = a;
endmodule
