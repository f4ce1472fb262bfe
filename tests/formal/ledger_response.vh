// Bounded response, with ledger.vh. Assumed: every host offers its next packet, every receiver acknowledges, and copies
// and passes (one beat each) proceed, each at the latest in the second cycle in which it can. Then every rank has
// packets accepted again and again, at most F_BOUND cycles apart: nothing waits for ever.
localparam F_BOUND = 30;

// Duties: an action that was possible in the last cycle and was not done.
reg [PORTS-1:0] f_late_j;
reg [PORTS-1:0] f_late_c;
reg [PORTS-1:0] f_late_e;
reg             f_late_begin;
reg             f_late_end;

reg [PORTS-1:0] f_can_c;
reg [PORTS-1:0] f_can_e;
integer f_t;
always @*
  for (f_t = 0; f_t < PORTS; f_t = f_t + 1) begin
    f_can_c[f_t] = f_live && f_storeds[f_t*IDX +: IDX] != f_nexts[f_t*IDX +: IDX];
    f_can_e[f_t] = f_live && !f_open && f_unas[f_t*IDX +: IDX] != f_sents[f_t*IDX +: IDX];
  end

wire f_can_begin = f_live && g_pending[0] && pass_room[0];

always @(posedge clk)
  if (rst) begin
    f_late_j     <= {PORTS{1'b0}};
    f_late_c     <= {PORTS{1'b0}};
    f_late_e     <= {PORTS{1'b0}};
    f_late_begin <= 1'b0;
    f_late_end   <= 1'b0;
  end else begin
    f_late_j     <= f_live ? f_ports & ~j_valid : {PORTS{1'b0}};
    f_late_c     <= f_can_c & ~(c_valid | c_marks);
    f_late_e     <= f_can_e & ~e_valid;
    f_late_begin <= f_can_begin && !pass_begin;
    f_late_end   <= hold_valid[0] && !pass_end[0];
  end

integer f_u;
always @* begin
  assume (pass_first || !pass_begin);
  assume (s_valid == (pass_begin ? f_ports : {PORTS{1'b0}}) && s_index == pass_index);
  assume ((f_late_c & ~(c_valid | c_marks) & f_ports) == 0);
  assume ((f_late_j & ~j_valid) == 0);
  assume ((f_late_e & ~e_valid & f_ports) == 0);
  assume (!f_late_begin || pass_begin);
  assume (!f_late_end || !hold_valid[0] || pass_end[0]);
  for (f_u = 0; f_u < PORTS; f_u = f_u + 1) begin
    assume (j_index[f_u*IDX +: IDX] == j_next[f_u*IDX +: IDX]);
    assume (e_port[f_u*PW +: PW] == f_u && e_index[f_u*IDX +: IDX] == f_sents[f_u*IDX +: IDX]);
    assume (!f_open || !e_valid[f_u]);
  end
  assume (e_still == 0 && e_fatal == 0);
end

(* anyconst *) reg [PW-1:0] f_who;
reg [4:0] f_wait;

always @* assume (f_who < PORTS && f_ports[f_who]);

always @(posedge clk)
  if (rst || !f_live || (j_valid[f_who] && j_accept[f_who])) f_wait <= 5'd0;
  else if (f_wait != 5'd31) f_wait <= f_wait + 5'd1;

// No unit is idle while it has work. If the head is less than every port head, the head unit is active. The youngest
// scan in the tail unit has found the smallest una, or another scan will follow. Without a scan the tail is at its
// final value.
reg [PORTS-1:0] f_behind;
reg [IDX-1:0]   f_least;
reg [IDX-1:0]   f_pair;
integer f_v;
always @* begin
  f_least = F_S;
  f_pair  = F_S;
  for (f_v = 0; f_v < PORTS; f_v = f_v + 1) begin
    f_behind[f_v] = f_heads[f_v*IDX +: IDX] == g_head[IDX-1:0];
    if (f_ports[f_v] && f_unas[f_v*IDX +: IDX] - f_tail < f_least) f_least = f_unas[f_v*IDX +: IDX] - f_tail;
  end
  for (f_v = 0; f_v < (PORTS+1)/2; f_v = f_v + 1)
    if (f1_pairs[f_v*(IDX+1) + IDX] && f1_pairs[f_v*(IDX+1) +: IDX] - f_tail < f_pair)
      f_pair = f1_pairs[f_v*(IDX+1) +: IDX] - f_tail;
end

wire [IDX-1:0] f_free0 = (hold_valid[0] && f_hold0 < f_least) ? f_hold0 : f_least;
wire [IDX-1:0] f_free  = (hold_valid[1] && f_hold1 < f_free0) ? f_hold1 : f_free0;

always @*
  if (f_live) begin
    if ((f_behind & f_ports) == 0) assert (!head_idle);
    if (!f_again && !f_scan) begin
      if (f1_valid) assert (f_pair == f_least);
      else if (f2_valid) assert (f2_least[IDX-1:0] - f_tail == f_least);
      else if (f3_valid) assert (f3_least[IDX-1:0] - f_tail == f_least);
      else if (f4_valid) assert (f4_goal == f_free);
      else assert (f_free == 0);
    end
    assert (f_wait < F_BOUND);
  end

always @(posedge clk)
  cover (f_live && f_wait == 5'd6);
