// rf_held: one arbitrary connection. After a frame of it was held, it is shown, or waits, or missed is set, until
// firmware has read the frame or has read missed. Nothing is shown that was not held.
`include "rf_start.vh"

(* anyconst *) reg [KW-1:0] f_key;

wire f_shown = valid_q && shown_q[KW-1:0] == f_key;

reg [PORTS-1:0] f_came;
reg [PORTS-1:0] f_waits;
integer         f_p;

always @* begin
  assume (rst == !f_started);
  for (f_p = 0; f_p < PORTS; f_p = f_p + 1) begin
    f_came[f_p]  = h_valid[f_p] && {h_ip[IP_W*f_p +: IP_W], h_qpn[QPN_W*f_p +: QPN_W]} == f_key;
    f_waits[f_p] = wait_q[f_p] && frame_q[FW*f_p +: KW] == f_key;
  end
end

// Held and not yet taken; ever held.
reg f_owed = 1'b0;
reg f_ever = 1'b0;

always @(posedge clk)
  if (rst || (pop && f_shown)) f_owed <= 1'b0;
  else if (f_came != {PORTS{1'b0}}) f_owed <= 1'b1;
  else if (pop && missed_q) f_owed <= 1'b0;

always @(posedge clk)
  if (rst) f_ever <= 1'b0;
  else if (f_came != {PORTS{1'b0}}) f_ever <= 1'b1;

always @(posedge clk)
  if (f_started && !rst) begin
    if (f_owed) assert (f_shown || f_waits != {PORTS{1'b0}} || missed_q);
    if (f_shown || f_waits != {PORTS{1'b0}}) assert (f_ever);
    cover (f_owed && missed_q && !f_shown && f_waits == {PORTS{1'b0}});
    cover (f_waits == {PORTS{1'b1}} && valid_q && !f_shown);
  end
