// Must be refused by verilator: a latch.
module rf_bad_latch (
  input  wire a,
  input  wire en,
  output reg  y
);
  always @*
    if (en) y = a;
endmodule
