// rf_parity: parity of a word, one bit for every PART bits.
//
// Latency     0 cycles, combinational.
// Throughput  one word per cycle.
// Capacity    none.
// Handshake   none.
// Reset       none.
// Proved      tests/rtl/unit_ram_parity.cpp, as part of rf_ram_parity.

`default_nettype none

module rf_parity #(
  // Bits of a word.
  parameter WIDTH = 64,
  // Bits that share one parity bit; the last part may be shorter.
  parameter PART = 64
) (
  input  wire [WIDTH-1:0]                 data,
  output wire [(WIDTH+PART-1)/PART-1:0]   sums
);

  localparam PARTS = (WIDTH + PART - 1) / PART;

  genvar n;
  generate
    for (n = 0; n < PARTS; n = n + 1) begin : g_part
      localparam SIZE = (WIDTH - n * PART < PART) ? WIDTH - n * PART : PART;

      assign sums[n] = ^data[n*PART +: SIZE];
    end
  endgenerate

endmodule

`default_nettype wire
