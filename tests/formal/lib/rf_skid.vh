// rf_skid: order, no loss, no duplicate; the m side stays until it is taken; s_ready unless two beats are inside.
`include "rf_start.vh"

localparam FCW = 2;

reg  [FCW-1:0]   f_count;
wire             f_push = s_valid && s_ready;
wire             f_pop  = m_valid && m_ready;
wire [WIDTH-1:0] f_in   = s_data;
wire [WIDTH-1:0] f_out  = m_data;

always @(posedge clk)
  if (rst) f_count <= 0;
  else f_count <= f_count + {1'b0, f_push} - {1'b0, f_pop};

`include "rf_follow.vh"

always @(posedge clk)
  if (f_started && !rst) begin
    assert (f_count <= 2);
    assert (m_valid == (f_count != 0));
    assert (s_ready == (f_count != 2));
    if (!$past(rst) && $past(m_valid && !m_ready)) begin
      assert (m_valid);
      assert (m_data == $past(m_data));
    end
    cover (f_count == 2 && $past(f_count) == 2);
    cover (f_push && f_pop);
  end
