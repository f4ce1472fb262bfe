// rf_skid: order, no loss, no duplicate; the m side stays until it is taken; s_ready unless two beats are inside. A late
// tag goes with the beat that was taken in the cycle before it.
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

// Tags of the first and the second beat inside, and of the one that has left. The newest beat inside came last.
reg        f_came;
reg  [1:0] f_tags;
reg        f_late;
wire [1:0] f_now = f_tags | {f_came && s_late && f_count == 2, f_came && s_late && f_count == 1};

always @(posedge clk)
  if (rst) {f_came, f_tags, f_late} <= 4'b0000;
  else begin
    f_came <= f_push;
    f_tags <= f_pop ? {1'b0, f_now[1]} : f_now;
    f_late <= f_pop && f_now[0];
  end

always @(posedge clk)
  if (f_started && !rst) begin
    assert (m_late == f_late);
    assert (f_count <= 2);
    assert (m_valid == (f_count != 0));
    assert (s_ready == (f_count != 2));
    if (!$past(rst) && $past(m_valid && !m_ready)) begin
      assert (m_valid);
      assert (m_data == $past(m_data));
    end
    cover (f_count == 2 && $past(f_count) == 2);
    cover (f_push && f_pop);
    cover (m_late && $past(m_late));
  end
