// rf_inject: sends a frame that the firmware has written into a window.
//
// Latency     from the command to m_valid: 3 cycles.
// Throughput  one beat per cycle, no gap within the frame while m_ready is high.
// Capacity    one frame of up to 1024 bytes.
// Handshake   m_valid is one-hot over the ports and with m_len a request to send; m_len, m_data and m_last are shared.
//             m_ready reaches read enables only. While busy is high neither window nor command may be written (ignored).
// Reset       drops the frame.

module rf_inject #(
  parameter PORTS = 4,
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512
) (
  input  wire             clk,
  input  wire             rst,

  // Write of word win_addr of INJECT_DATA.
  input  wire             win_en,
  input  wire [7:0]       win_addr,
  input  wire [31:0]      win_data,
  // INJECT was written. A length outside 60..1024 or a port that does not exist: nothing happens.
  input  wire             cmd_valid,
  input  wire [15:0]      cmd_len,
  input  wire [2:0]       cmd_port,
  // From the cycle behind the command until the last beat has been taken.
  output wire             busy,

  output wire [PORTS-1:0] m_valid,
  input  wire [PORTS-1:0] m_ready,
  output wire [13:0]      m_len,
  output wire [WIDTH-1:0] m_data,
  output wire             m_last
);

endmodule
