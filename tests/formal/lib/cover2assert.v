// For Yosys techmap: "cover (x)" becomes "assert (!x)", so that a counterexample is a trace that reaches it.
module \$cover (A, EN);
  input A;
  input EN;

  \$assert _TECHMAP_REPLACE_ (
    .A (!A),
    .EN(EN)
  );
endmodule
