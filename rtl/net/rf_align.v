// rf_align: shifts a stream of beats between the payload's offset in the frame and byte 0. Each output beat is taken
// from two adjacent input beats.
//
// Latency     0, combinational: two levels of LUT6, a 3:1 multiplexer in the first and a 4:1 multiplexer in the second.
// Throughput  one beat per cycle.
// Capacity    none.
// Handshake   none.
// Reset       none.
//
// The offset is the header length mod B, in the encoding of rf_align_code: a coarse offset plus 0, 4 or 8 bytes. Raw
// frames have code 0.
//   BACK 0: out byte k = byte k + offset of {next, prev}      from the frame to byte 0; raw: prev
//   BACK 1: out byte k = byte k + B - offset of {next, prev}  from byte 0 into the frame; raw: next
// Bytes selected by `instead` are zero (BACK 0) or come from `other` (BACK 1). They use the spare input of the second
// multiplexer.

`default_nettype none

module rf_align #(
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512,
  parameter BACK = 0
) (
  // 0: out is not used; it is zero except for the bytes from `other`.
  input  wire                en,
  input  wire [3:0]          code,
  input  wire [WIDTH-1:0]    prev,
  input  wire [WIDTH-1:0]    next,
  input  wire [WIDTH/8-1:0]  instead,
  input  wire [WIDTH-1:0]    other,
  output wire [WIDTH-1:0]    out
);

  localparam B    = WIDTH / 8;
  localparam SPAN = (B == 8) ? 4 : 8;
  localparam WIN  = WIDTH + 8 * SPAN;

  // First byte of the window for a coarse offset: the header lengths 54 and 70 (58 at 64 bits), 0 for raw.
  localparam NEAR = (B == 8) ? 58 % B : 54 % B;
  localparam FAR  = (B == 8) ? NEAR : 70 % B;
  localparam AT0  = (BACK != 0) ? 8 * (B - SPAN) : 0;
  localparam AT1  = (BACK != 0) ? 8 * (B - SPAN - NEAR) : 8 * NEAR;
  localparam AT2  = (BACK != 0) ? 8 * (B - SPAN - FAR) : 8 * FAR;

  wire [2*WIDTH-1:0] both = {next, prev};
  wire               unused_both = &{1'b0, both};
  wire               unused_other = &{1'b0, other};
  reg  [WIN-1:0]     window;

  always @* begin
    window = {WIN{1'b0}};
    if (en)
      case (code[3:2])
        2'd0: window = both[AT0+:WIN];
        2'd1: window = both[AT1+:WIN];
        default: window = both[AT2+:WIN];
      endcase
  end

  wire [WIDTH-1:0] fine0 = window[(BACK!=0?8*SPAN:0)+:WIDTH];
  wire [WIDTH-1:0] fine1 = window[(BACK!=0?8*SPAN-32:32)+:WIDTH];
  wire [WIDTH-1:0] fine2 = window[(BACK!=0?0:8*SPAN)+:WIDTH];
  // Two select bits for each byte: four inputs and the two select bits fit one LUT6.
  genvar u;
  generate
    for (u = 0; u < B; u = u + 1) begin : g_byte
      wire [1:0] pick = code[1:0] | {2{instead[u]}};
      wire [7:0] last = (BACK != 0) ? other[8*u+:8] : 8'h00;

      assign out[8*u+:8] = pick[1] ? (pick[0] ? last : fine2[8*u+:8]) : (pick[0] ? fine1[8*u+:8] : fine0[8*u+:8]);
    end
  endgenerate

endmodule

`default_nettype wire
