// rf_passthru: FIFO for the foreign frames of one port.
//
// Latency     first beat in to e_valid: 1 cycle, to p_valid: 3 cycles.
// Throughput  one beat in and one out per cycle.
// Capacity    BEATS beats, FRAMES frames.
// Handshake   the judge checks ask_room for ask_len and reserves the room in the same cycle. The beats come later,
//             without gaps once begun, and are never stalled. Output: e_valid from the first beat on; p_* the beats,
//             p_valid without gaps.
// Reset       empty.
// Proved      tests/formal/stream_passthru.proof; tests/rtl/unit_passthru.cpp; tests/rtl/core.

`default_nettype none

module rf_passthru #(
  parameter WIDTH = 512,
  // Beats: a power of two, enough for two frames of maximum length.
  parameter BEATS = 256,
  // Frames: a power of two.
  parameter FRAMES = 32,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire             clk,
  input  wire             rst,

  input  wire [13:0]      ask_len,
  output wire             ask_room,
  input  wire             ask_take,

  input  wire             s_valid,
  input  wire [WIDTH-1:0] s_data,
  input  wire             s_last,

  output wire             e_valid,
  input  wire             e_ready,
  // Another frame that may be offered waits after this one.
  output wire             e_more,
  output wire [13:0]      e_len,
  output wire             p_valid,
  input  wire             p_ready,
  output wire [WIDTH-1:0] p_data,
  output wire             p_last,

  // The length of a frame had a parity error. The frames themselves have an end-to-end ICRC.
  output wire             bad,
  output wire             idle
);

  localparam BYTES_LOG2 = $clog2(WIDTH / 8);
  localparam BW = $clog2(BEATS);
  localparam FW = $clog2(FRAMES);

  // Beats that are not reserved.
  wire [14:0] round_up = {1'b0, ask_len} + (15'd1 << BYTES_LOG2) - 15'd1;
  wire [14:0] need     = round_up >> BYTES_LOG2;
  reg  [BW:0] free_q;
  wire        len_room;
  wire        out = p_valid && p_ready;

  assign ask_room = len_room && need <= {{14-BW{1'b0}}, free_q};

  always @(posedge clk)
    if (rst) free_q <= BEATS[BW:0];
    else if (ask_take || out) free_q <= free_q - (ask_take ? need[BW:0] : {BW+1{1'b0}}) + {{BW{1'b0}}, out};

  wire [FW:0] len_count;
  wire        len_afull;
  wire        len_valid;

  rf_fifo_parity #(.WIDTH(14), .DEPTH(FRAMES), .READ_LATENCY(0), .PARITY(PARITY)) lengths (
    .clk(clk), .rst(rst), .s_valid(ask_take), .s_ready(len_room), .s_data(ask_len),
    .m_valid(len_valid), .m_ready(e_valid && e_ready), .m_data(e_len), .count(len_count), .almost_full(len_afull),
    .bad(bad));

  wire        f_room;
  wire [BW:0] f_count;
  wire        f_afull;

  rf_fifo #(.WIDTH(WIDTH + 1), .DEPTH(BEATS), .READ_LATENCY(2), .RAM_STYLE("block")) beats (
    .clk(clk), .rst(rst), .s_valid(s_valid), .s_ready(f_room), .s_data({s_last, s_data}),
    .m_valid(p_valid), .m_ready(p_ready), .m_data({p_last, p_data}), .count(f_count), .almost_full(f_afull));

  // Frames of which a beat has arrived and that have not been offered yet: these may begin.
  reg [FW:0] begun_q;
  // begun_q is not 0.
  reg        some_q;
  reg        inside_q;
  wire       begin_frame = s_valid && !inside_q;
  wire       leave_frame = e_valid && e_ready;

  always @(posedge clk)
    if (rst) inside_q <= 1'b0;
    else if (s_valid) inside_q <= !s_last;

  always @(posedge clk)
    if (rst) begun_q <= {FW+1{1'b0}};
    else if (begin_frame && !leave_frame) begun_q <= begun_q + 1'b1;
    else if (leave_frame && !begin_frame) begun_q <= begun_q - 1'b1;

  localparam [FW:0] ONE = 1;

  always @(posedge clk)
    if (rst) some_q <= 1'b0;
    else some_q <= begin_frame || (some_q && !(leave_frame && begun_q == ONE));

  assign e_valid = len_valid && some_q;
  assign e_more  = e_valid && len_count > ONE && begun_q > ONE;
  assign idle    = free_q == BEATS[BW:0] && !len_valid;

  wire unused_bits = &{1'b0, round_up, need, f_room, f_count, f_afull, len_afull};

endmodule

`default_nettype wire
