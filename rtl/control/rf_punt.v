// rf_punt: keeps punted frames of all ports until the firmware has read them.
//
// Latency     last beat in to status: 2 cycles. Window: win_data 2 cycles after win_en.
// Throughput  one beat per cycle over all ports together; a frame is taken as a whole, ports in turn.
// Capacity    16 frames of up to 1024 bytes.
// Handshake   the judge of port p commands a raw read towards here only while room[p] is high, and pulses take[p] in that
//             cycle; the stream may follow any time. s_ready is combinational from registers and s_valid.
// Reset       forgets all frames.

module rf_punt #(
  parameter PORTS = 4,
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512
) (
  input  wire                     clk,
  input  wire                     rst,

  output wire [PORTS-1:0]         room,
  input  wire [PORTS-1:0]         take,

  input  wire [PORTS-1:0]         s_valid,
  output wire [PORTS-1:0]         s_ready,
  input  wire [PORTS*WIDTH-1:0]   s_data,
  input  wire [PORTS*WIDTH/8-1:0] s_keep,
  input  wire [PORTS-1:0]         s_last,

  // The register PUNT_STATUS; its bit 31 is the reason for the interrupt.
  output wire [31:0]              status,
  // PUNT_POP was written.
  input  wire                     pop,
  // Read of word win_addr of PUNT_DATA.
  input  wire                     win_en,
  input  wire [7:0]               win_addr,
  output wire [31:0]              win_data,

  // No frame waits or is expected.
  output wire                     idle
);

endmodule
