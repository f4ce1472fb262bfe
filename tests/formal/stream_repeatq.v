// rf_repeatq: judge and scheduler push if there is room; the front is stable until it is taken, and its connection is
// marked as queued.
module stream_repeatq (
  input wire       clk,
  input wire       rst,
  input wire       j_valid,
  input wire       j_addr,
  input wire [1:0] j_index,
  input wire       f_valid,
  input wire       f_addr,
  input wire       l_addr,
  input wire [1:0] f_index,
  input wire       m_pop
);

`include "rf_start.vh"

  wire        j_room;
  wire        f_room;
  wire        l_queued;
  wire        m_valid;
  wire        m_addr;
  wire [23:0] m_index;
  wire        m_first;
  wire        m_life;
  wire        idle;

  rf_repeatq #(.LANES(1), .AW(1), .DEPTH(8), .PARITY(0)) box (
    .clk(clk), .rst(rst), .j_room(j_room), .j_valid(j_valid), .j_addr(j_addr), .j_index({22'd0, j_index}), .j_life(1'b0),
    .f_room(f_room), .f_valid(f_valid), .f_addr(f_addr), .l_addr(l_addr), .f_index({22'd0, f_index}), .f_life(1'b0), .l_queued(l_queued),
    .m_valid(m_valid), .m_addr(m_addr), .m_index(m_index), .m_first(m_first), .m_life(m_life), .m_pop(m_pop), .idle(idle));

  // The scheduler pushes at most every third cycle, one cycle after it has seen room.
  reg  [1:0]  pushed_q;
  reg         room_q;

  always @(posedge clk)
    if (rst) {room_q, pushed_q} <= 3'b000;
    else {room_q, pushed_q} <= {f_room, pushed_q[0], f_valid};

  always @* begin
    assume (rst == !f_started);
    if (j_valid) assume (j_room && f_started);
    if (f_valid) assume (room_q && f_started && pushed_q == 2'b00);
    if (m_pop) assume (m_valid);
  end

  stream #(.WIDTH(4)) m (.clk(clk), .rst(rst), .valid(m_valid), .ready(m_pop), .data({m_first, m_addr, m_index[1:0]}));

  // The front belongs to a connection that is queued.
  always @*
    if (!rst && m_valid && l_addr == m_addr) assert (l_queued);

endmodule
