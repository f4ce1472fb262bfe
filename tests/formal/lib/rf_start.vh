// A run begins with a reset.
reg f_started = 1'b0;

always @(posedge clk) f_started <= 1'b1;

always @*
  if (!f_started) assume (rst);
