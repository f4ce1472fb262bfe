// Tracks one arbitrary beat through a queue. The including file defines f_push, f_pop, f_in, f_out (WIDTH bits),
// m_valid and f_count (beats inside, FCW bits).

(* anyseq *) reg  f_pick;
reg               f_marked;
reg               f_gone;
reg [WIDTH-1:0]   f_beat;
reg [FCW-1:0]     f_ahead;

always @(posedge clk)
  if (rst) begin
    f_marked <= 1'b0;
    f_gone   <= 1'b0;
    f_ahead  <= 0;
  end else if (!f_marked) begin
    if (f_push && f_pick) begin
      f_marked <= 1'b1;
      f_beat   <= f_in;
      f_ahead  <= f_count - {{FCW - 1{1'b0}}, f_pop};
    end
  end else if (!f_gone && f_pop) begin
    if (f_ahead == 0) f_gone <= 1'b1;
    else f_ahead <= f_ahead - 1'b1;
  end

always @(posedge clk)
  if (f_started && !rst && f_marked && !f_gone) begin
    // It is still inside, and the beat read in its turn is the same.
    assert (f_count > f_ahead);
    if (f_ahead == 0 && m_valid) assert (f_out == f_beat);
  end

always @(posedge clk)
  if (f_started && !rst) begin
    cover (f_marked && f_gone && f_beat != 0);
    cover (f_marked && !f_gone && f_ahead == 1);
  end
