// rf_align: moves a stream of beats between the payload's offset in the frame and byte 0, by two neighbouring beats.
//
// Latency     0, combinational: two levels of LUT6.
// Throughput  one beat per cycle.
// Capacity    none.
// Handshake   none.
// Reset       none.
//
// off is the header length mod B, as a code (rf_align_code): only 54, 58, 62, 70, 74 and 78 occur, and 0 for raw frames.
//   BACK 0: out byte k = byte k + off of {next, prev}    from the frame to byte 0
//   BACK 1: out byte k = byte k + B - off of {next, prev} from byte 0 into the frame

module rf_align #(
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512,
  parameter BACK = 0
) (
  input  wire             en,
  input  wire [2:0]       code,
  input  wire [WIDTH-1:0] prev,
  input  wire [WIDTH-1:0] next,
  // Zero while en is low.
  output reg  [WIDTH-1:0] out
);

  localparam B = WIDTH / 8;

  function integer place;
    input integer hlen;
    place = (BACK != 0) ? 8 * (B - hlen % B) : 8 * (hlen % B);
  endfunction

  wire [2*WIDTH-1:0] both = {next, prev};

  always @* begin
    out = {WIDTH{1'b0}};
    if (en)
      case (code)
        3'd1: out = both[place(54)+:WIDTH];
        3'd2: out = both[place(58)+:WIDTH];
        3'd3: out = both[place(62)+:WIDTH];
        3'd4: out = both[place(70)+:WIDTH];
        3'd5: out = both[place(74)+:WIDTH];
        3'd6: out = both[place(78)+:WIDTH];
        default: out = (BACK != 0) ? next : prev;
      endcase
  end

endmodule
