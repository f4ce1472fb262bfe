// rf_align_code: encodes the offset of a header length for rf_align: coarse offset in bits 3:2, 4-byte steps in bits
// 1:0.
//
// Latency     0, combinational.
// Throughput  one per cycle.
// Capacity    none.
// Handshake   none.
// Reset       none.
//
// Lengths with the same offset share a code, so narrow beats need a smaller multiplexer.

`default_nettype none

module rf_align_code #(
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512
) (
  // 54, 58, 62, 70, 74 or 78; the lower two bits are not looked at, and any other value is treated as 78.
  input  wire [6:0] hlen,
  output reg  [3:0] code
);

  localparam [1:0] FAR = (WIDTH <= 128) ? 2'd1 : 2'd2;

  wire [4:0] fours = hlen[6:2];
  wire       unused_low = &{1'b0, hlen[1:0]};

  // At 64 bits the offset is 2 or 6: one for the lengths 58 and 74, the other for all other lengths.
  wire two = fours == 5'd14 || fours == 5'd18;

  always @*
    if (WIDTH == 64) code = two ? 4'b0100 : 4'b0101;
    else
      case (fours)
        5'd13: code = 4'b0100;
        5'd14: code = 4'b0101;
        5'd15: code = 4'b0110;
        5'd17: code = {FAR, 2'd0};
        5'd18: code = {FAR, 2'd1};
        default: code = {FAR, 2'd2};
      endcase

endmodule

`default_nettype wire
