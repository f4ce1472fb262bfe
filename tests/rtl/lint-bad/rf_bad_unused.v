// Must be refused by verilator: an input that nobody reads.
module rf_bad_unused (
  input  wire a,
  input  wire b,
  output wire y
);
  assign y = a;
endmodule
