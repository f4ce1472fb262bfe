// rf_egress: builds the frames that leave by one port: header, payload and a new ICRC, or a raw frame with a new source MAC.
//
// Latency     LATENCY = 6 cycles from e_valid (with p_valid where the first beat takes payload) to m_axis_tvalid.
// Throughput  one beat per cycle, no bubble between frames.
// Capacity    FIFO_BEATS beats.
// Handshake   e_ready is high in the cycle in which the packet's first beat is built; it depends on e_raw, e_hlen, e_plen
//             and p_valid, so p_valid must not wait for e_ready. p_ready depends on e_valid, likewise. m_axis comes
//             from registers; m_axis_tready reaches register enables and one read pointer only.
// Reset       drops everything.
//
// Made packets: e_hlen is 54, 58, 62, 70, 74 or 78 (so it is what opcode and tag ask for), e_plen a multiple of 4 (0 is
// allowed), ceil(e_plen / B) beats of payload; bytes behind the payload in the last one are ignored. Raw frames:
// ceil(e_len / B) beats.

module rf_egress #(
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512,
  // Beats of the output FIFO: a power of two, 16 or more.
  parameter FIFO_BEATS = 32
) (
  input  wire               clk,
  input  wire               rst,

  // Source MAC of everything that leaves.
  input  wire [47:0]        mac,

  input  wire               e_valid,
  output wire               e_ready,
  input  wire               e_raw,
  input  wire [639:0]       e_hdr,
  input  wire [6:0]         e_hlen,
  input  wire [13:0]        e_plen,
  input  wire [13:0]        e_len,

  input  wire               p_valid,
  output wire               p_ready,
  input  wire [WIDTH-1:0]   p_data,
  input  wire               p_last,

  output wire [WIDTH-1:0]   m_axis_tdata,
  output wire [WIDTH/8-1:0] m_axis_tkeep,
  output wire               m_axis_tvalid,
  output wire               m_axis_tlast,
  input  wire               m_axis_tready,

  // One pulse per frame that has left.
  output wire               cnt_frames,
  // Nothing is inside.
  output wire               idle
);

endmodule
