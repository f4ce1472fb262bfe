// Must be refused by verilator: an input that is not used.
module rf_bad_unused (
  input  wire a,
  input  wire b,
  output wire y
);
  assign y = a;
endmodule
