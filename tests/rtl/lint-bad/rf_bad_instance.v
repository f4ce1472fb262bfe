// Must be refused by yosys: an instance of a module that does not exist.
module rf_bad_instance (
  input  wire a,
  output wire y
);
  rf_nowhere nowhere (
    .a(a),
    .y(y)
  );
endmodule
