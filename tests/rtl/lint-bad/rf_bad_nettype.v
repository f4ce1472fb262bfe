// Must be refused by nettype: this file allows undeclared nets.
module rf_bad_nettype (
  input  wire a,
  output wire y
);
  assign y = a;
endmodule
