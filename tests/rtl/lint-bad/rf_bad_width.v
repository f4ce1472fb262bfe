// Must be refused by verilator: the sum of two bytes is cut to four bits.
module rf_bad_width (
  input  wire [7:0] a,
  input  wire [7:0] b,
  output wire [3:0] y
);
  assign y = a + b;
endmodule
