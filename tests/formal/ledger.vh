// rf_ledger: tail <= una <= sent <= issued <= head <= stored <= next <= tail + S for every connection of a group, and no packet
// is accepted into a slot that a pass still reads. ACKs and packets are arbitrary; the assumptions are what the judge, the
// bank and the scheduler promise. One group. The rest of the assertions make the claim inductive: what is on its way through
// the tail unit is no more than any una it was made from, and no more than the passes it will have to respect.
`include "rf_start.vh"

localparam [IDX-1:0] F_S = 4;
localparam F_SLOTS = 4;

// Behind the reset firmware initialises the connections one by one, then starts the group.
localparam F_CONNS = PORTS * LANES;
reg [3:0] f_step = 4'd0;

always @(posedge clk)
  if (rst) f_step <= 4'd0;
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
  assume (g_size_log2 == 4'd2);
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

// Shadows of what the slices keep, all connections at once: place (port * LANES + lane).
reg [IDX-1:0] f_next [0:F_CONNS-1];
reg [IDX-1:0] f_sent [0:F_CONNS-1];
reg [IDX-1:0] f_una  [0:F_CONNS-1];
reg [F_SLOTS-1:0] f_acc  [0:F_CONNS-1];
reg [F_SLOTS-1:0] f_com  [0:F_CONNS-1];

// Whether the index of the window that belongs to a slot is in an odd lap.
reg [F_SLOTS-1:0] f_lap;
integer f_i;
always @*
  for (f_i = 0; f_i < F_SLOTS; f_i = f_i + 1)
    f_lap[f_i] = f_tail[HDR_AW] ^ (f_i[HDR_AW-1:0] < f_tail[HDR_AW-1:0]);

// Passes: of the next index that is complete, or of one below issued for which a rank asks (r_*): a repeat, or a first
// sending that came behind repeats.
reg f_asked;
integer f_q;
always @* begin
  f_asked = 1'b0;
  for (f_q = 0; f_q < PORTS; f_q = f_q + 1)
    if (f_members[(r_addr[f_q*AW +: AW] % LANES) * PORTS + f_q] &&
        (r_sent[f_q*IDX +: IDX] - r_una[f_q*IDX +: IDX] > pass_index - r_una[f_q*IDX +: IDX] ||
         r_sent[f_q*IDX +: IDX] == pass_index))
      f_asked = 1'b1;
  if (!f_live) assume (!pass_begin && pass_end == 0 && s_valid == 0 && c_valid == 0 && j_valid == 0 && e_valid == 0);
  if (pass_begin) begin
    assume (pass_room[0] && pass_group == 0);
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
    wire           accepted = j_valid[f_p] && j_accept[f_p];
    wire [IDX-1:0] f_ahead  = ji - f_tail;
    wire [HDR_AW-1:0] js    = ji[HDR_AW-1:0];
    wire [HDR_AW-1:0] cs    = c_slot[f_p*HDR_AW +: HDR_AW];
    wire           takes    = c_valid[f_p] && f_selective;

    always @* begin
      assume (ja < LANES && ca < LANES && ra < LANES && ea < LANES && ep < PORTS);
      // Judges know only members; the bank commits what was accepted, in order.
      if (j_valid[f_p]) assume (f_members[ja*PORTS + f_p]);
      if (e_valid[f_p]) assume (f_members[ea*PORTS + ep]);
      assume (j_selective[f_p] == f_selective && c_selective[f_p] == f_selective);
      assume (j_slot[f_p*HDR_AW +: HDR_AW] == js && j_lap[f_p] == ji[HDR_AW]);
      if (g_clearing != 0) assume (!j_valid[f_p]);
      if (c_valid[f_p]) begin
        assume (f_members[ca*PORTS + f_p]);
        if (!f_selective) assume (f_stored[(f_p*LANES + ca)*IDX +: IDX] != f_next[f_p*LANES + ca]);
        // In any order here: that of the bank is one of them.
        else assume (f_acc[f_p*LANES + ca][cs] && !f_com[f_p*LANES + ca][cs] && c_lap[f_p] == f_lap[cs]);
      end
      // A first sending: the connection's next one, of a pass that is under way.
      if (s_valid[f_p]) begin
        assume (s_addr < LANES && ra == s_addr && f_members[s_addr*PORTS + f_p] && r_sent[f_p*IDX +: IDX] == s_index);
        assume ((pass_begin && pass_index == s_index) || (hold_valid[0] && hold_index[IDX-1:0] == s_index) ||
                (hold_valid[1] && hold_index[2*IDX-1:IDX] == s_index));
      end
    end

    for (f_n = 0; f_n < LANES; f_n = f_n + 1) begin : f_lane
      localparam AT = f_p * LANES + f_n;
      wire           member = f_members[f_n*PORTS + f_p];
      wire [IDX-1:0] stored = f_stored[AT*IDX +: IDX] - f_tail;
      wire [IDX-1:0] una    = f_una[AT] - f_tail;

      always @(posedge clk)
        if (rst) f_next[AT] <= 0;
        else if ((accepted && ja == f_n && ji == f_next[AT]) ||
                 (f_next_step[f_p] && f_run_addr[f_p*2*AW +: AW] == f_n)) f_next[AT] <= f_next[AT] + 1'b1;

      // Selective: which indexes of the window were accepted, and committed; by slot, forgotten when the tail goes past.
      for (f_s = 0; f_s < F_SLOTS; f_s = f_s + 1) begin : f_slot
        localparam [31:0] SLOT  = f_s;
        wire [HDR_AW-1:0] place = SLOT[HDR_AW-1:0] - f_tail[HDR_AW-1:0];
        wire [IDX-1:0]    off   = {{IDX-HDR_AW{1'b0}}, place};
        wire              gone  = f4_valid && off < f4_goal;

        always @(posedge clk)
          if (rst) f_acc[AT][f_s] <= 1'b0;
          else f_acc[AT][f_s] <= !gone && (f_acc[AT][f_s] || (accepted && ja == f_n && js == f_s));

        always @(posedge clk)
          if (rst) f_com[AT][f_s] <= 1'b0;
          else f_com[AT][f_s] <= !gone && (f_com[AT][f_s] || (takes && ca == f_n && cs == f_s));

        always @(posedge clk)
          if (f_live && f_selective && g_clearing == 0 && member) begin
            assert (f_there[(f_p*LANES + f_n)*F_SLOTS + f_s] == (f_lap[f_s] ^ !f_acc[AT][f_s]));
            assert (f_copied[(f_p*LANES + f_n)*F_SLOTS + f_s] == (f_lap[f_s] ^ !f_com[AT][f_s]));
            assert (f_acc[AT][f_s] || !f_com[AT][f_s]);
            // Neither counter has gone past what is missing.
            if (off < f_next[AT] - f_tail) assert (f_acc[AT][f_s]);
            if (off < stored) assert (f_com[AT][f_s]);
            // What can move on is looked at, or will be.
            if (off == f_next[AT] - f_tail && f_acc[AT][f_s])
              assert (f_queued[f_p*(2<<AW) + f_n] || (f_run[2*f_p] && f_run_addr[f_p*2*AW +: AW] == f_n));
            if (off == stored && f_com[AT][f_s])
              assert (f_queued[f_p*(2<<AW) + (1<<AW) + f_n] || (f_run[2*f_p+1] && f_run_addr[(f_p*2+1)*AW +: AW] == f_n));
          end
      end

      always @(posedge clk)
        if (f_live && f_selective) begin
          // Accepted once, inside the window.
          if (accepted && ja == f_n) assert (!f_acc[AT][js] && f_ahead < F_S);
          if (f_run[2*f_p] && f_run_addr[f_p*2*AW +: AW] == f_n) assert (f_run_index[f_p*2*IDX +: IDX] == f_next[AT]);
          if (f_run[2*f_p+1] && f_run_addr[(f_p*2+1)*AW +: AW] == f_n)
            assert (f_run_index[(f_p*2+1)*IDX +: IDX] == f_stored[AT*IDX +: IDX]);
        end

      always @(posedge clk)
        if (rst) f_sent[AT] <= 0;
        else if (s_valid[f_p] && s_addr == f_n) f_sent[AT] <= s_value;

      always @(posedge clk)
        if (rst) f_una[AT] <= 0;
        else if (s_valid[f_p] && s_addr == f_n && f_open) f_una[AT] <= s_value;
        else if (a_raise[f_p] && a_addr == f_n) f_una[AT] <= a_value;

      always @(posedge clk)
        if (f_live) begin
          if (ja == f_n) begin
            assert (j_next[f_p*IDX +: IDX] == f_next[AT]);
            assert (j_sent[f_p*IDX +: IDX] == f_sent[AT]);
            assert (j_una[f_p*IDX +: IDX] == f_una[AT]);
          end
          if (f_run[2*f_p] || f_run[2*f_p+1]) assert (f_selective);
          if (member) begin
            assert (una <= f_sent[AT] - f_tail);
            assert (f_sent[AT] - f_tail <= f_issued);
            assert (f_head <= f_heads[f_p*IDX +: IDX] - f_tail);
            assert (f_heads[f_p*IDX +: IDX] - f_tail <= stored);
            assert (stored <= f_next[AT] - f_tail);
            assert (f_next[AT] - f_tail <= F_S);
            // What is on its way to the tail.
            if (f1_valid && f1_lane == f_n) assert (f1_pairs[f_p/2*(IDX+1)+IDX] && f1_pairs[f_p/2*(IDX+1) +: IDX] - f_tail <= una);
            if (f2_valid && f2_lane == f_n) assert (f2_least[IDX] && f2_least[IDX-1:0] - f_tail <= una);
            if (f2_valid && f2_lane > f_n) assert (f3_least[IDX] && f3_least[IDX-1:0] - f_tail <= una);
            if (f3_valid) assert (f3_least[IDX] && f3_least[IDX-1:0] - f_tail <= una);
            if (f4_valid) assert (f4_goal <= una);
          end
        end
    end

    // The queues of the runners: of members, each once. With two lanes at most two of them wait.
    for (f_r = 0; f_r < 2; f_r = f_r + 1) begin : f_runner
      wire [2*AW+1:0]    queue  = f_queue[(f_p*2+f_r)*(2*AW+2) +: 2*AW+2];
      wire [AW-1:0]      at     = queue[AW-1:0];
      wire [(1<<AW)-1:0] queued = f_queued[(f_p*2+f_r)*(1<<AW) +: 1<<AW];

      always @(posedge clk)
        if (f_live) begin
          assert ((queued >> LANES) == 0);
          assert (queue[AW] == (queued != 0));
          assert (queue[AW+1 +: AW+1] == {{AW{1'b0}}, queued[0]} + (LANES > 1 ? {{AW{1'b0}}, queued[1]} : 0));
          if (queue[AW]) assert (at < LANES && queued[at]);
          if (f_run[f_p*2+f_r]) assert (f_run_addr[(f_p*2+f_r)*AW +: AW] < LANES);
        end
    end

    always @(posedge clk)
      if (f_live && accepted) begin
        // Not the slot of a pass that reads.
        if (hold_valid[0]) assert (((ji - hold_index[IDX-1:0]) & (F_S - 1'b1)) != 0);
        if (hold_valid[1]) assert (((ji - hold_index[2*IDX-1:IDX]) & (F_S - 1'b1)) != 0);
      end
  end
endgenerate

// The tail that stage 4 will write.
wire [IDX-1:0] f4_a    = f4_least - f_tail;
wire [IDX-1:0] f4_b    = f4_hold[IDX-1:0] - f_tail;
wire [IDX-1:0] f4_goal = (f4_hold[IDX] && f4_b < f4_a) ? f4_b : f4_a;

// Lanes at the stages.
reg [LW-1:0] f1_lane;
reg [LW-1:0] f2_lane;

always @(posedge clk) begin
  f1_lane <= f_scan_at[LW-1:0];
  f2_lane <= f1_lane;
end

wire accepted0 = j_valid[0] && j_accept[0];

integer f_o;
always @(posedge clk)
  if (f_live) begin
    assert (f_issued <= f_head);
    assert (g_limit[IDX-1:0] == f_tail + F_S);
    if (hold_valid[0]) assert (f_hold0 < f_issued);
    if (hold_valid[1]) assert (hold_valid[0] && f_hold1 < f_issued);
    if (f_scan) assert (f_scan_at < LANES);
    if (f_scan && f_scan_at != 0) assert (f1_valid && f1_lane + 1'b1 == f_scan_at[LW-1:0]);
    if (f1_valid) assert (f1_group == 0 && f1_lane < LANES && f1_first == (f1_lane == 0) && f1_last == (f1_lane == LANES - 1));
    if (f1_valid && f1_lane != 0) assert (f2_valid && f2_lane + 1'b1 == f1_lane);
    if (f2_valid) assert (f2_group == 0 && f2_lane < LANES && f2_first == (f2_lane == 0) && f2_last == (f2_lane == LANES - 1));
    for (f_o = 0; f_o < (PORTS+1)/2; f_o = f_o + 1)
      if (f1_valid && f1_pairs[f_o*(IDX+1) + IDX]) assert (f1_pairs[f_o*(IDX+1) +: IDX] - f_tail <= F_S);
    if (f2_valid) assert (f2_least[IDX] && f2_least[IDX-1:0] - f_tail <= F_S);
    if (f3_valid) assert (f3_group == 0 && f3_least[IDX] && f3_least[IDX-1:0] - f_tail <= F_S);
    if (f4_valid) begin
      assert (f4_group == 0 && f4_a <= F_S && (!f4_hold[IDX] || f4_b <= F_S));
      if (hold_valid[0]) assert (f4_goal <= f_hold0);
      if (hold_valid[1]) assert (f4_goal <= f_hold1);
    end
    // Wrapped, overlapping passes, repeats, first sendings behind them, a tail held down, open loop.
    cover (f_tail == 2 && g_head[IDX-1:0] == 5);
    cover (hold_valid[1] && f_head == 3);
    cover (!f_open && pass_begin && !pass_first && f_tail == 1);
    cover (s_valid != 0 && !pass_begin && f_tail == 1);
    cover (f4_valid && f4_goal != f4_a);
    cover (f_open && f_tail == 3);
`ifndef F_PLAIN
    cover (f_selective && f_tail == 5);
    // Three indexes wait for the one before them.
    cover (f_selective && accepted0 && f_acc[0] == 4'b1110 && f_tail == 0);
    cover (f_selective && f_next_step[0] && f_com[0] == 4'b1111 && f_next[0] == 1);
`endif
    assert (f_true == {F_CONNS{1'b1}});
    if (f_selective && g_clearing == 0) assert (f_same == {PORTS*2{1'b1}});
  end
