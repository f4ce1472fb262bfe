// rf_delay: an arbitrary beat is output N cycles later, and a cycle without a beat outputs none.
`include "rf_start.vh"

(* anyseq *) reg  f_pick;
reg               f_marked;
reg               f_valid;
reg [WIDTH-1:0]   f_beat;
reg [7:0]         f_age;

// An arbitrary cycle is picked, with or without a beat in it.
always @(posedge clk)
  if (rst) f_marked <= 1'b0;
  else if (!f_marked && f_pick) begin
    f_marked <= 1'b1;
    f_valid  <= in_valid;
    f_beat   <= in_data;
    f_age    <= 8'd1;
  end else if (f_age != 8'd255) f_age <= f_age + 8'd1;

always @(posedge clk)
  if (f_started && !rst) begin
    if (N == 0) begin
      assert (out_valid == in_valid);
      assert (out_data == in_data);
    end
    if (N > 0 && f_marked && f_age == N) begin
      assert (out_valid == f_valid);
      if (f_valid) assert (out_data == f_beat);
    end
    cover (out_valid && out_data != 0);
    if (N > 0) cover (f_marked && f_age == N && f_valid && f_beat != 0);
  end
