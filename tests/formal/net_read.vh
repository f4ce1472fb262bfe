// rf_ingress_read: every command produces the number of beats for its bytes, the last one marked, without gaps once
// begun. An offered beat is stable; data still to be read is never freed; idle means that no beat is outstanding.
`include "rf_start.vh"

localparam F_LEN = 5 * B;

// The oldest frame stays until its command; frames are short and good: the payload is within the frame, the ICRC after
// it.
wire [13:0] f_beats = i_len + (B - 1);

always @*
  if (!rst) begin
    assume (i_len >= B && i_len <= F_LEN);
    assume (i_beats == f_beats[LB+AW-1:LB]);
    assume (i_hlen == 7'd6 || i_hlen == 7'd10 || i_hlen == 7'd14);
    assume (i_plen >= 1 && i_plen + i_hlen + 4 <= i_len);
    assume (!c_valid || i_valid);
  end

// The memory keeps its output until the next read.
always @(posedge clk)
  if (f_started && $past(!rd_en)) assume (rd_data == $past(rd_data));

wire [13:0] f_bytes = (op_payload ? i_plen : i_len) + (B - 1);
wire [4:0]  f_outs = op_forget ? 5'd0 : f_bytes[LB+4:LB];
wire        f_take = c_valid && c_ready;
wire        f_out  = o_valid && o_ready;

// Outstanding beats of the commands taken; one arbitrary command that is tracked: beats before it, its own.
(* anyseq *) reg f_pick;
reg [5:0] f_owed;
reg [5:0] f_ahead;
reg [5:0] f_own;
reg       f_marked;

wire [5:0] f_now = f_owed - {5'd0, f_out};

always @(posedge clk)
  if (rst) begin
    f_owed   <= 6'd0;
    f_ahead  <= 6'd0;
    f_own    <= 6'd0;
    f_marked <= 1'b0;
  end else begin
    f_owed <= f_now + (f_take ? {1'b0, f_outs} : 6'd0);
    if (f_take && f_pick && !f_marked && f_outs != 0) begin
      f_marked <= 1'b1;
      f_ahead  <= f_now;
      f_own    <= {1'b0, f_outs};
    end else if (f_out && f_ahead != 0) f_ahead <= f_ahead - 6'd1;
    else if (f_out && f_own != 0) f_own <= f_own - 6'd1;
  end

// Distance from the free pointer to the address being read.
wire [AW:0] f_behind = (busy_q ? addr_q : first_addr) - free_q;

always @(posedge clk)
  if (f_started && !rst) begin
    assert (f_owed <= 6'd12);
    assert (f_owed >= f_ahead + f_own);
    if (o_valid) assert (f_owed != 0);
    if (o_valid && f_ahead == 0 && f_own != 0) assert (o_last == (f_own == 6'd1));
    if (idle) assert (f_owed == 0);
    // Data being read has not been freed.
    if (rd_en) assert (f_behind <= 6);
    if (!$past(rst)) begin
      if ($past(o_valid && !o_ready)) begin
        assert (o_valid);
        assert (o_data == $past(o_data) && o_keep == $past(o_keep) && o_last == $past(o_last));
      end
      if ($past(f_out && !o_last)) assert (o_valid);
    end
    cover (f_marked && f_out && o_last && f_ahead == 0 && f_own == 6'd1);
    cover (f_out && o_last && f_ahead == 1);
  end
