// rf_align_code: the offset of a header length for rf_align, as a code.
//
// Latency     0, combinational.
// Throughput  one per cycle.
// Capacity    none.
// Handshake   none.
// Reset       none.
//
// Lengths that leave the same offset share a code, so narrow beats need a smaller multiplexer.

module rf_align_code #(
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512
) (
  // 54, 58, 62, 70, 74 or 78; anything else counts as 78.
  input  wire [6:0] hlen,
  output reg  [2:0] code
);

  always @*
    case (hlen)
      7'd54: code = 3'd1;
      7'd58: code = 3'd2;
      7'd62: code = (WIDTH == 64) ? 3'd1 : 3'd3;
      7'd70: code = (WIDTH <= 128) ? 3'd1 : 3'd4;
      7'd74: code = (WIDTH <= 128) ? 3'd2 : 3'd5;
      default: code = (WIDTH == 64) ? 3'd1 : (WIDTH == 128) ? 3'd3 : 3'd6;
    endcase

endmodule
