// rf_rr_arb: the grant is one requester if there is any; an arbitrary request that is held is granted within N takes.
`include "rf_start.vh"

(* anyconst *) reg [7:0] f_who;
reg [7:0] f_passed;

always @* assume (f_who < N);

wire f_req   = req[f_who];
wire f_grant = grant[f_who];

// Takes by others since this request began.
always @(posedge clk)
  if (rst || !f_req || (take && f_grant)) f_passed <= 0;
  else if (take) f_passed <= f_passed + 1'b1;

always @(posedge clk)
  if (f_started && !rst) begin
    assert ((grant & (grant - 1'b1)) == 0);
    assert ((grant & ~req) == 0);
    assert ((grant != 0) == (req != 0));
    assert (f_passed < N);
    cover (f_passed == N - 1);
    cover (take && f_grant && $past(take && f_grant) && N > 1);
  end
