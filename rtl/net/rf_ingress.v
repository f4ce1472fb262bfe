// rf_ingress: takes the frames of one port, stores them, judges their form (lines 1 to 19 of docs/box.md), checks the ICRC.
//
// Latency     descriptor: LATENCY = 4 cycles after the last beat of its frame. Output: the first beat 2 cycles after the
//             command when nothing else is being read.
// Throughput  one beat per cycle in and one out; a command takes as many cycles as beats are read for it (forget: one),
//             with no bubble between commands.
// Capacity    FIFO_BEATS beats and FRAMES frames, from their last beat until their command has been taken.
// Handshake   s_axis cannot be held back: a frame without room is lost as a whole. d_* come from registers and distributed
//             RAM. c_ready needs o_ready or an idle output (combinational). o_* do not depend on o_ready.
// Reset       forgets all frames; a frame that is under way at reset must not be continued.
//
// Every frame that is not lost to overflow gives one descriptor, in order; every descriptor taken must be answered by one
// command, in order, in the same cycle or any time later.

module rf_ingress #(
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512,
  // Ports of the box: the source addresses base_mac .. base_mac + PORTS - 1 are its own.
  parameter PORTS = 4,
  // Largest path MTU in bytes; frames longer than MTU_MAX + 82 are not stored.
  parameter MTU_MAX = 4096,
  // Beats of the frame FIFO: a power of two, room for at least three of the longest frames.
  parameter FIFO_BEATS = (WIDTH == 512) ? 256 : (WIDTH == 256) ? 512 : (WIDTH == 128) ? 1024 : 2048,
  // Frames that may wait for their command: a power of two.
  parameter FRAMES = 32
) (
  input  wire               clk,
  input  wire               rst,

  input  wire [WIDTH-1:0]   s_axis_tdata,
  input  wire [WIDTH/8-1:0] s_axis_tkeep,
  input  wire               s_axis_tvalid,
  input  wire               s_axis_tlast,
  input  wire               s_axis_tuser,

  input  wire [47:0]        base_mac,
  input  wire [31:0]        box_ip,

  // One pulse per frame that came in, and per frame that found no room.
  output wire               cnt_frames,
  output wire               cnt_overflow,

  output wire               d_valid,
  input  wire               d_ready,
  // 0 drop, 1 punt, 2 RoCE.
  output wire [1:0]         d_class,
  output wire [7:0]         d_cause,
  output wire [13:0]        d_len,
  output wire [639:0]       d_hdr,
  output wire               d_vlan,
  output wire [7:0]         d_opcode,
  output wire [23:0]        d_qpn,
  output wire [23:0]        d_psn,
  output wire [1:0]         d_pad,
  output wire [31:0]        d_src_ip,
  output wire [31:0]        d_dst_ip,
  output wire [15:0]        d_udp_len,
  output wire [6:0]         d_hlen,
  // Two's complement.
  output wire [13:0]        d_plen,
  output wire [7:0]         d_syndrome,
  output wire [23:0]        d_msn,
  output wire               d_icrc_ok,

  input  wire               c_valid,
  output wire               c_ready,
  // 0 forget, 1 payload, 2 raw frame. Payload needs d_class 2 and d_plen > 0.
  input  wire [1:0]         c_op,

  output wire               o_valid,
  input  wire               o_ready,
  output wire [WIDTH-1:0]   o_data,
  output wire [WIDTH/8-1:0] o_keep,
  output wire               o_last,

  // No frame is stored, under way or to be judged.
  output wire               idle
);

endmodule
