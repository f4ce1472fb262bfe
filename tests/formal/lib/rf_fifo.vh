// rf_fifo: order, no loss, no duplicate; count exact and never above DEPTH; s_ready unless full; the m side stays until
// it is taken; a word is at the output READ_LATENCY + 1 cycles after its write if nothing is before it. The memory never
// reads the address that it writes (APART of rf_ram_sdp).
`include "rf_start.vh"

localparam FCW = AW + 1;

reg  [FCW-1:0]   f_count;
reg  [1:0]       f_wait;
wire             f_push = s_valid && s_ready;
wire             f_pop  = m_valid && m_ready;
wire [WIDTH-1:0] f_in   = s_data;
wire [WIDTH-1:0] f_out  = m_data;

always @(posedge clk)
  if (rst) f_count <= 0;
  else f_count <= f_count + {{FCW - 1{1'b0}}, f_push} - {{FCW - 1{1'b0}}, f_pop};

// Cycles in which the FIFO held a word but the output was not valid.
always @(posedge clk)
  if (rst || m_valid || f_count == 0) f_wait <= 0;
  else f_wait <= f_wait + 1'b1;

`include "rf_follow.vh"

always @(posedge clk)
  if (f_started && !rst) begin
    assert (count == (COUNT != 0 ? f_count : 0));
    assert (f_count <= DEPTH);
    if (READ_LATENCY != 0) assert (!(push && read && wr_ptr_q[AW-1:0] == rd_ptr_q[AW-1:0]));
    assert (s_ready == (f_count != DEPTH));
    assert (almost_full == (COUNT != 0 && f_count >= AFULL));
    assert (!m_valid || f_count != 0);
    assert (m_valid || f_count == 0 || f_wait < READ_LATENCY);
    if (!$past(rst) && $past(m_valid && !m_ready)) begin
      assert (m_valid);
      assert (m_data == $past(m_data));
    end
    cover (f_count == DEPTH && f_gone);
    cover (f_gone && f_count == 0);
    cover (f_push && f_pop && f_count == DEPTH - 1);
  end
