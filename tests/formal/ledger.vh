// rf_ledger: tail <= una <= sent <= issued <= head <= stored <= next <= tail + S for every connection of a group, and
// no packet is accepted into a slot that a pass still reads. ACKs and packets are arbitrary; the assumptions are what
// the judge, the bank and the scheduler guarantee (docs/verification.md lists where this is shown). One group. The
// other assertions make the claim inductive: a value in the tail unit is at most every una from which it was computed,
// and at most the indexes of the passes that limit it.
`include "rf_start.vh"

localparam F_SLOTS = 1 << HDR_AW;
localparam [IDX-1:0] F_S = F_SLOTS;

// After the reset firmware initialises the connections one by one, then starts the group.
localparam F_CONNS = PORTS * LANES;
reg [4:0] f_step = 5'd0;

always @(posedge clk)
  if (rst) f_step <= 5'd0;
  else if (f_step <= F_CONNS) f_step <= f_step + 1'b1;

wire f_live = f_step > F_CONNS;

(* anyconst *) reg f_open;
(* anyconst *) reg f_selective;
(* anyconst *) reg [LANES*PORTS-1:0] f_members;

integer f_k;
reg [PORTS-1:0] f_ports;
always @* begin
  f_ports = {PORTS{1'b0}};
  for (f_k = 0; f_k < LANES; f_k = f_k + 1) f_ports = f_ports | f_members[f_k*PORTS +: PORTS];
end

integer f_l;
always @* begin
  assume (rst == !f_started);
  assume (g_open == f_open);
`ifdef F_PLAIN
  assume (!f_selective);
`endif
  assume (g_selective == f_selective);
  assume (g_hbase == 0);
  assume (g_size_log2 == HDR_AW);
  assume (g_lanes == LANES);
  assume (g_members == f_members);
  assume (g_ports == f_ports);
  for (f_l = 0; f_l < LANES; f_l = f_l + 1) assume (f_members[f_l*PORTS +: PORTS] != 0);
  assume (init_valid == (f_started && f_step < F_CONNS));
  assume (init_port == f_step % PORTS);
  assume (init_addr == f_step / PORTS);
  assume (start_valid == (f_started && f_step == F_CONNS));
  assume (start_group == 0);
end

wire [IDX-1:0] f_tail   = g_tail[IDX-1:0];
wire [IDX-1:0] f_head   = g_head[IDX-1:0] - f_tail;
wire [IDX-1:0] f_issued = g_issued[IDX-1:0] - f_tail;
wire [IDX-1:0] f_hold0  = hold_index[IDX-1:0] - f_tail;
wire [IDX-1:0] f_hold1  = hold_index[2*IDX-1:IDX] - f_tail;
wire [IDX-1:0] f_pass   = pass_index - f_tail;

// Passes: of the next complete index, or of one below issued that a rank requests (r_*): a repeat, or a first sending
// that was queued after repeats. They were decided on in the cycle before, so una may have risen since then. Passes of a
// group lie 3 cycles or more apart (sched.proof).
reg                       f_asked;
reg                       f_begun;
reg                       f_room;
reg [PORTS*LANES*IDX-1:0] f_unas_d;

always @(posedge clk) begin
  f_begun  <= f_started && pass_begin;
  f_room   <= pass_room[0];
  f_unas_d <= f_unas;
end

integer f_q;
always @* begin
  f_asked = 1'b0;
  for (f_q = 0; f_q < PORTS; f_q = f_q + 1)
    if (f_members[(r_addr[f_q*AW +: AW] % LANES) * PORTS + f_q] &&
        (r_sent[f_q*IDX +: IDX] - f_unas_d[(f_q*LANES + r_addr[f_q*AW +: AW] % LANES)*IDX +: IDX] >
           pass_index - f_unas_d[(f_q*LANES + r_addr[f_q*AW +: AW] % LANES)*IDX +: IDX] ||
         r_sent[f_q*IDX +: IDX] == pass_index))
      f_asked = 1'b1;
  if (!f_live) assume (!pass_begin && pass_end == 0 && s_valid == 0 && c_valid == 0 && c_marks == 0 && j_valid == 0 && e_valid == 0);
  if (pass_begin) begin
    assume (f_room && !f_begun && pass_group == 0);
    if (pass_first) assume (g_pending[0] && pass_index == g_issued[IDX-1:0]);
    else assume (f_asked && f_pass < f_issued);
  end
  if (!hold_valid[0]) assume (pass_end == 0);
end

genvar f_p;
genvar f_n;
genvar f_s;
genvar f_r;
generate
  for (f_p = 0; f_p < PORTS; f_p = f_p + 1) begin : f_port
    wire [AW-1:0]  ja = j_addr[f_p*AW +: AW];
    wire [AW-1:0]  ca = c_addr[f_p*AW +: AW];
    wire [AW-1:0]  ra = r_addr[f_p*AW +: AW];
    wire [AW-1:0]  ea = e_addr[f_p*AW +: AW];
    wire [PW-1:0]  ep = e_port[f_p*PW +: PW];
    wire [IDX-1:0] ji = j_index[f_p*IDX +: IDX];
    wire [HDR_AW-1:0] js    = ji[HDR_AW-1:0];
    wire           accepted = j_valid[f_p] && j_accept[f_p];
    wire [IDX-1:0] porthead = f_heads[f_p*IDX +: IDX] - f_tail;
    wire [IDX-1:0] limit    = f_limits[f_p*IDX +: IDX] - f_tail;
    wire [LANES-1:0] at_head;

    always @* begin
      assume (ja < LANES && ca < LANES && ra < LANES && ea < LANES && ep < PORTS);
      // Judges report members only, of the group that they have named one cycle before; the bank commits accepted packets, in
      // order.
      assume (j_soon[f_p*GW +: GW] == 0);
      if (j_valid[f_p]) assume (f_members[ja*PORTS + f_p]);
      if (e_valid[f_p]) assume (f_members[ea*PORTS + ep]);
      assume (j_selective[f_p] == f_selective && !(f_selective ? c_valid[f_p] : c_marks[f_p]));
      assume (j_slot[f_p*HDR_AW +: HDR_AW] == js && j_lap[f_p] == ji[HDR_AW]);
      if (g_clearing != 0) assume (!j_valid[f_p]);
      if (c_valid[f_p] || c_marks[f_p]) begin
        assume (f_members[ca*PORTS + f_p]);
        if (!f_selective)
          assume (f_storeds[(f_p*LANES + ca)*IDX +: IDX] != f_nexts[(f_p*LANES + ca)*IDX +: IDX]);
      end
      // A first sending: the connection's next one, of a pass in progress.
      if (s_valid[f_p]) begin
        assume (s_addr < LANES && ra == s_addr && f_members[s_addr*PORTS + f_p] && r_sent[f_p*IDX +: IDX] == s_index);
        assume ((pass_begin && pass_index == s_index) || (hold_valid[0] && hold_index[IDX-1:0] == s_index) ||
                (hold_valid[1] && hold_index[2*IDX-1:IDX] == s_index));
      end
    end

    for (f_n = 0; f_n < LANES; f_n = f_n + 1) begin : f_lane
      localparam AT = f_p * LANES + f_n;
      wire           member = f_members[f_n*PORTS + f_p];
      wire [IDX-1:0] next   = f_nexts[AT*IDX +: IDX] - f_tail;
      wire [IDX-1:0] stored = f_storeds[AT*IDX +: IDX] - f_tail;
      wire [IDX-1:0] sent   = f_sents[AT*IDX +: IDX] - f_tail;
      wire [IDX-1:0] una    = f_unas[AT*IDX +: IDX] - f_tail;
      wire [IDX-1:0] before = f_unas_d[AT*IDX +: IDX] - f_tail;

      assign at_head[f_n] = member && stored == porthead;

      // Initialised.
      always @*
        if (f_started && (f_step <= F_CONNS || clear_q) && f_step > f_n*PORTS + f_p)
          assert (next == 0 && stored == 0 && sent == 0 && una == 0);

      always @*
        if (f_live && member) begin
          assert (una <= sent);
          assert (sent <= f_issued);
          assert (f_head <= porthead);
          assert (porthead <= stored);
          assert (stored <= next);
          // Nothing has been accepted beyond the limit that the judge sees, nor is that beyond the group's.
          assert (next <= limit);
          assert (limit <= F_S);
          // Values on the way to the tail.
          if (f1_valid && f1_lane == f_n)
            assert (f1_pairs[f_p/2*(IDX+1)+IDX] && f1_pairs[f_p/2*(IDX+1) +: IDX] - f_tail <= una);
          if (f2_valid && f2_lane == f_n) assert (f2_least[IDX] && f2_least[IDX-1:0] - f_tail <= una);
          if (f2_valid && f2_lane > f_n) assert (f3_least[IDX] && f3_least[IDX-1:0] - f_tail <= una);
          if (f3_valid) assert (f3_least[IDX] && f3_least[IDX-1:0] - f_tail <= una);
          if (f4_valid) assert (f4_goal <= una);
          // ... and its value of the cycle before.
          assert (before <= una);
          if (f3_valid) assert (f3_least[IDX-1:0] - f_tail <= before);
          if (f4_valid) assert (f4_goal <= before);
        end
    end

    always @*
      if (f_live && accepted) begin
        // Not the slot of a pass that reads.
        if (hold_valid[0]) assert (((ji - hold_index[IDX-1:0]) & (F_S - 1'b1)) != 0);
        if (hold_valid[1]) assert (((ji - hold_index[2*IDX-1:IDX]) & (F_S - 1'b1)) != 0);
      end

    // Limits are zero until the group starts.
    always @*
      if (f_started && !f_live) assert (g_limit[IDX-1:0] == 0 && (f_step == 0 || f_limits[f_p*IDX +: IDX] == 0));

    // The port head is the smallest `stored`.
    always @*
      if (f_live && f_ports[f_p]) assert (at_head != 0);
  end
endgenerate

// The tail that stage 4 will write.
wire [IDX-1:0] f4_a    = f4_least - f_tail;
wire [IDX-1:0] f4_b    = f4_hold[IDX-1:0] - f_tail;
wire [IDX-1:0] f4_goal = (f4_hold[IDX] && f4_b < f4_a) ? f4_b : f4_a;

// The values that stage 2 passes to stage 3.
wire [IDX-1:0] f2_a    = f2_least[IDX-1:0] - f_tail;
wire [IDX-1:0] f2_b    = f3_least[IDX-1:0] - f_tail;
wire [IDX-1:0] f2_goal = (!f2_first && f2_b < f2_a) ? f2_b : f2_a;

// Lanes at the stages.
reg [LW-1:0] f1_lane;
reg [LW-1:0] f2_lane;

always @(posedge clk) begin
  f1_lane <= f_scan_at[LW-1:0];
  f2_lane <= f1_lane;
end

// Nothing changes until the group starts and its slots are clear.
always @*
  if (f_started && (!f_live || clear_q)) begin
    assert (head_idle && tail_idle && slice_idle == {PORTS{1'b1}});
    assert (f_live || (ack_idle && !clear_q));
    assert (f_tail == 0 && f_head == 0 && f_issued == 0 && hold_valid == 0 && f_heads == 0);
  end

// The queues of the runners are empty in a plain group.
always @*
  if (f_started && !f_selective) assert (f_run == 0 && slice_idle == {PORTS{1'b1}} && !clear_q);

integer f_o;
always @*
  if (f_live) begin
    assert (f_issued <= f_head);
    assert (g_limit[IDX-1:0] == f_tail + F_S);
    if (!head_rest) assert (h_group == 0);
    if (!ack_idle) assert (a_addr < LANES && n_port < PORTS && f_members[a_addr*PORTS + n_port]);
    if (hold_valid[0]) assert (f_hold0 < f_issued);
    if (hold_valid[1]) assert (hold_valid[0] && f_hold1 < f_issued);
    if (f_scan) assert (f_scan_at < LANES);
    if (f_scan && f_scan_at != 0) assert (f1_valid && f1_lane + 1'b1 == f_scan_at[LW-1:0]);
    if (f1_valid) assert (f1_group == 0 && f1_lane < LANES && f1_first == (f1_lane == 0) && f1_last == (f1_lane == LANES - 1));
    if (f1_valid && f1_lane != 0) assert (f2_valid && f2_lane + 1'b1 == f1_lane);
    if (f2_valid) assert (f2_group == 0 && f2_lane < LANES && f2_first == (f2_lane == 0) && f2_last == (f2_lane == LANES - 1));
    // A value read later is not less than the result of the previous scan.
    for (f_o = 0; f_o < (PORTS+1)/2; f_o = f_o + 1)
      if (f1_valid && f1_pairs[f_o*(IDX+1) + IDX]) begin
        assert (f1_pairs[f_o*(IDX+1) +: IDX] - f_tail <= F_S);
        if (f3_valid) assert (f3_least[IDX-1:0] - f_tail <= f1_pairs[f_o*(IDX+1) +: IDX] - f_tail);
        if (f4_valid) assert (f4_goal <= f1_pairs[f_o*(IDX+1) +: IDX] - f_tail);
        if (f2_valid && f2_last) assert (f2_goal <= f1_pairs[f_o*(IDX+1) +: IDX] - f_tail);
      end
    if (f3_valid && f2_valid) assert (f2_first && f3_least[IDX-1:0] - f_tail <= f2_least[IDX-1:0] - f_tail);
    if (f4_valid && f2_valid) assert (f4_goal <= f2_least[IDX-1:0] - f_tail);
    if (f4_valid && f3_valid) assert (f4_goal <= f3_least[IDX-1:0] - f_tail);
    if (f4_valid && f2_valid && !f2_first) assert (f4_goal <= f3_least[IDX-1:0] - f_tail);
    if (f2_valid) assert (f2_least[IDX] && f2_least[IDX-1:0] - f_tail <= F_S);
    if (f3_valid) assert (f3_group == 0 && f3_least[IDX] && f3_least[IDX-1:0] - f_tail <= F_S);
    if (f4_valid) begin
      assert (f4_group == 0 && f4_a <= F_S && (!f4_hold[IDX] || f4_b <= F_S));
      if (hold_valid[0]) assert (f4_goal <= f_hold0);
      if (hold_valid[1]) assert (f4_goal <= f_hold1);
    end
  end

`ifndef F_PLAIN
`include "ledger_run.vh"
`endif
`ifdef F_RESPONSE
`include "ledger_response.vh"
`else

always @(posedge clk)
  if (f_live) begin
    // Wrapped indexes, overlapping passes, repeats, first sendings after them, a tail held by a pass, open loop.
    cover (f_tail == 2 && g_head[IDX-1:0] == 5);
    cover (hold_valid[1] && f_head == 3);
    cover (!f_open && pass_begin && !pass_first && f_tail == 1);
    cover (s_valid != 0 && !pass_begin && f_tail == 1);
    cover (f4_valid && f4_goal != f4_a);
    cover (f_open && f_tail == 3);
  end
`endif
