// rf_judge_nak: one arbitrary connection, all packets. No NAK without room, beyond the window's end or in a silent
// group; at most one outstanding; the first order before the second, once per advance of una; if none is outstanding a
// gap is answered.
`include "rf_start.vh"

(* anyconst *) reg [AW-1:0] f_conn;
(* anyconst *) reg          f_selective;

wire f_here = j_valid && j_addr == f_conn;
wire f_early = j_early && j_addr == f_conn;
wire f_una  = una_valid && una_addr == f_conn;
wire f_init = init_valid && init_addr == f_conn;

reg           f_known = 1'b0;
reg           f_out;
reg           f_first;
reg [IDX-1:0] f_last;

always @* begin
  assume (rst == !f_started);
  assume (!(init_valid && j_valid));
  if (f_here) assume (f_known && j_selective == f_selective);
  // The kind of the packet; an advance of una in a selective group does not clear the state (rf_core).
  assume ({1'b0, j_taken} + {1'b0, j_stored} + {1'b0, j_beyond} <= 2'd1);
  if (f_selective) assume (!f_una);
  assume (!j_early || !(init_valid || j_valid));
  if (f_early) assume (f_known && !f_selective && !j_selective);
end

wire f_back = !below(f_last, j_index);

always @(posedge clk)
  if (rst) f_known <= 1'b0;
  else if (f_init) f_known <= 1'b1;

always @(posedge clk)
  if (f_init) f_last <= {IDX{1'b1}};
  else if (f_early || (f_here && !(f_selective && f_back))) f_last <= j_index;

always @(posedge clk)
  if (f_init || f_una) f_out <= 1'b0;
  else if (f_here && make) f_out <= 1'b1;
  else if (tick || (f_here && !f_selective && (j_taken || f_back))) f_out <= 1'b0;

// A sequence NAK has been made.
always @(posedge clk)
  if (f_init || f_una) f_first <= 1'b0;
  else if (f_here && make && make_syndrome == 8'h60) f_first <= 1'b1;

wire f_asks = f_here && j_beyond && room && !j_silent && !j_full;

always @(posedge clk)
  if (f_started && f_known) begin
    assert (asked_q[f_conn] == f_out);
    if (f_here) assert (last == f_last);
    if (f_early) assert (!make && follows == (j_index == f_last || j_index == f_last + 1'b1));
    if (f_here && make) begin
      assert (room && !j_silent && (j_stored || (j_beyond && !j_full)));
      if (f_selective) begin
        assert (j_beyond && make_syndrome == 8'h60);
      end else begin
        assert (twice_q[f_conn] == f_first);
        assert (!f_out || (f_back && j_beyond));
        if (j_beyond) assert (make_syndrome == (f_first ? 8'h21 : 8'h60) && make_rnr == f_first);
        else assert (make_rnr && make_syndrome == {3'd1, j_code} && j_code != 5'd0 && f_back && !f_out);
      end
    end
    if (f_asks && !f_out) assert (make);
    if (f_asks && f_selective && below(f_last + 1'b1, j_index)) assert (make && make_index == f_last + 1'b1);
    if (!f_selective) assert (twice_q[f_conn] == f_first);
    // Both orders, a straggler's answer and a gap in a silent group, one after the other.
    cover (f_met == 4'b1111);
    cover (f_here && make && f_selective && f_out);
    cover (f_early && follows && !f_back);
  end

reg [3:0] f_met;

always @(posedge clk)
  if (rst) f_met <= 4'd0;
  else if (f_here)
    f_met <= f_met | {f_asks && !make, make && j_stored, make && make_syndrome == 8'h21, make && make_syndrome == 8'h60};
