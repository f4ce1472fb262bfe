// rf_sched: each start is the group's next index, or the entry at the front of a queue at that moment. The lanes of a
// packet follow one another, and no other packet uses their ports. First sendings of every connection leave in the
// order of their indexes without a gap. Groups, ACKs and room are arbitrary. The queues behave as rf_repeatq does for
// the pushes made here: fronts are stable until taken, first sendings are read in the order of their writes, and while
// one waits its connection is queued. Decisions are followed as they are made; ledger, queues and readers learn of them in
// the next cycle, from the registers of the outputs, so what they return lags by a cycle.
`include "rf_start.vh"

localparam AW = GW + LW;

// Groups do not change while passes are in progress.
(* anyconst *) reg [GROUPS*32-1:0]          f_cfg;
(* anyconst *) reg [GROUPS*PORTS-1:0]       f_block;
(* anyconst *) reg [GROUPS*PORTS-1:0]       f_ports;
(* anyconst *) reg [GROUPS*LANES*PORTS-1:0] f_members;

// One connection.
(* anyconst *) reg [GW-1:0] f_g;
(* anyconst *) reg [LW-1:0] f_l;
(* anyconst *) reg [PW-1:0] f_p;
reg [23:0] f_issued;
reg [23:0] f_sent;
// Its first sendings that wait in the queue.
reg [3:0]  f_waits;

wire [4:0] f_lanes = f_cfg[f_g*32 + `RF_GROUP_CFG_LANES_LSB +: `RF_GROUP_CFG_LANES_BITS];
wire       f_to_come = midway[f_g] && f_m_lane[f_g*LW +: LW] <= f_l;
wire       f_direct  = f_to_come && !f_m_queued[f_g];
wire       f_late    = f_to_come && f_m_queued[f_g] && f_m_late[f_g] && f_m_port[f_g*PW +: PW] == f_p && f_m_copy_lane[f_g*LW +: LW] == f_l;
wire [23:0] f_pushed = f_issued - {23'd0, f_direct};
wire [23:0] f_front  = f_pushed - {20'd0, f_waits};
wire [PORTS-1:0] f_valid = go ? block : {PORTS{1'b0}};
wire [PORTS-1:0] f_pop   = (forget || go_queued) ? s1_from_q : {PORTS{1'b0}};
wire       f_mine    = f_valid[f_p] && s1_group_q == f_g && lane == f_l;
wire       f_at_front = q_valid[f_p] && q_addr[f_p*AW +: AW] == {f_g, f_l} && q_first[f_p];
wire       f_next    = go_first && s1_group_q == f_g;

// As ledger and queue show them: of the cycle before.
reg  [23:0] f_issued_d;
reg  [23:0] f_sent_d;
reg  [23:0] f_front_d;
reg  [3:0]  f_waits_d;

always @(posedge clk) begin
  f_issued_d <= rst ? 24'd0 : f_issued;
  f_sent_d   <= rst ? 24'd0 : f_sent;
  f_front_d  <= rst ? 24'd0 : f_front;
  f_waits_d  <= rst ? 4'd0 : f_waits;
end

integer f_i;
integer f_j;
always @* begin
  assume (rst == !f_started);
  assume (g_cfg == f_cfg && g_block == f_block && g_ports == f_ports && g_members == f_members);
  for (f_i = 0; f_i < GROUPS; f_i = f_i + 1) begin
    assume (f_cfg[f_i*32 + `RF_GROUP_CFG_LANES_LSB +: `RF_GROUP_CFG_LANES_BITS] >= 1);
    assume (f_cfg[f_i*32 + `RF_GROUP_CFG_LANES_LSB +: `RF_GROUP_CFG_LANES_BITS] <= LANES);
    assume ((f_ports[f_i*PORTS +: PORTS] & ~f_block[f_i*PORTS +: PORTS]) == 0 && f_ports[f_i*PORTS +: PORTS] != 0);
    for (f_j = 0; f_j < LANES; f_j = f_j + 1)
      assume ((f_members[(f_i*LANES + f_j)*PORTS +: PORTS] & ~f_ports[f_i*PORTS +: PORTS]) == 0);
  end
  assume (f_l < f_lanes && f_members[(f_g*LANES + f_l)*PORTS + f_p]);
  assume (g_issued[f_g*24 +: 24] == f_issued_d && g_live[f_g] && !g_error[f_g]);
  for (f_i = 0; f_i < PORTS; f_i = f_i + 1)
    if (q_valid[f_i])
      assume (q_addr[f_i*AW +: LW] < f_cfg[q_addr[f_i*AW+LW +: GW]*32 + `RF_GROUP_CFG_LANES_LSB +: `RF_GROUP_CFG_LANES_BITS] &&
              f_block[q_addr[f_i*AW+LW +: GW]*PORTS + f_i]);
  // The queue of the port.
  if (f_at_front) assume (f_waits_d != 0 && q_index[f_p*24 +: 24] == f_front_d && q_life[f_p] == g_life[f_g]);
  if (f_waits_d != 0 && l_addr == {f_g, f_l}) assume (l_queued[f_p]);
  if (q_room[f_p]) assume (f_waits_d < 14);
  // The values that the ledger returns for the connection at the front.
  if (q_valid[f_p] && q_addr[f_p*AW +: AW] == {f_g, f_l}) assume (r_sent[f_p*24 +: 24] == f_sent_d);
end

// Of the cycle before: readers that were busy, decisions; decisions of the cycle before that (pass_caller).
wire [PORTS-1:0]     f_was_busy;
wire [PORTS-1:0]     f_was_valid;
wire [PORTS-1:0]     f_was_valid_2;

// Fronts are stable until they are taken.
reg  [PORTS-1:0]     f_stay;
reg  [PORTS*AW-1:0]  f_addr;
reg  [PORTS*24-1:0]  f_index;
reg  [PORTS-1:0]     f_first;

always @(posedge clk) begin
  f_stay  <= rst ? {PORTS{1'b0}} : q_valid & ~q_pop;
  f_addr  <= q_addr;
  f_index <= q_index;
  f_first <= q_first;
end

integer f_k;
always @*
  for (f_k = 0; f_k < PORTS; f_k = f_k + 1)
    if (f_stay[f_k])
      assume (q_valid[f_k] && q_addr[f_k*AW +: AW] == f_addr[f_k*AW +: AW] && q_first[f_k] == f_first[f_k] &&
              q_index[f_k*24 +: 24] == f_index[f_k*24 +: 24]);

// A reader becomes busy only by a launch (pass_read.proof).
reg [PORTS-1:0] f_taken;
reg [PORTS-1:0] f_port;

always @(posedge clk) begin
  f_taken    <= rst ? {PORTS{1'b0}} : taken_q;
  f_port     <= rst ? {PORTS{1'b0}} : s1_from_q;
end

always @*
  if (f_started) assume ((prep_busy & ~f_was_busy & ~f_was_valid_2) == 0);

always @(posedge clk)
  if (rst) begin
    f_issued <= 24'd0;
    f_sent   <= 24'd0;
    f_waits  <= 4'd0;
  end else begin
    f_issued <= f_issued + {23'd0, f_next};
    f_sent   <= f_sent + {23'd0, f_mine && send[f_p]};
    f_waits  <= f_waits + {3'd0, f_mine && push[f_p]} - {3'd0, f_at_front && f_pop[f_p]};
  end

// Passes in progress, derived from the launches only.
wire [GROUPS-1:0]    f_open;
wire [GROUPS*LW-1:0] f_lane;
wire [GROUPS*24-1:0] f_of;

pass_caller #(
  .PORTS(PORTS), .LANES(LANES), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW), .BYTES_LOG2(BYTES_LOG2), .BANK_AW(BANK_AW),
  .HDR_AW(HDR_AW), .CREDIT_W(CREDIT_W)
) caller (
  .clk(clk), .rst(rst), .g_cfg(g_cfg), .g_dbase(g_dbase), .g_hbase(g_hbase), .g_members(g_members), .g_block(g_block),
  .g_ref(g_ref), .prep_busy(prep_busy), .valid(f_valid), .member(member), .block(block), .group(s1_group_q), .lane(lane),
  .index(index), .first(!go_on), .final(final_lane), .level(level), .dtype(dtype), .op(op), .ref_port(ref_port),
  .beats(beats), .beat(beat), .slot(slot), .open(f_open), .next_lane(f_lane), .of(f_of), .was_busy(f_was_busy), .was_valid(f_was_valid), .was_valid_2(f_was_valid_2));

integer f_n;
always @*
  if (f_started && !rst) begin
    assert (start == (f_valid != 0 && !go_on));
    // First sendings: the next index of the group.
    if (go_first) assert (g_pending[s1_group_q] && pass_room[s1_group_q] && g_live[s1_group_q] && !g_error[s1_group_q] && index == g_issued[s1_group_q*24 +: 24]);
    // From a queue: the entry at its front, as it is now.
    for (f_n = 0; f_n < PORTS; f_n = f_n + 1)
      if (start && !go_first && room_at[f_n]) begin
        assert (room_at == ({{PORTS-1{1'b0}}, 1'b1} << f_n) && f_pop == room_at && q_valid[f_n]);
        assert (q_addr[f_n*AW+LW +: GW] == s1_group_q && q_index[f_n*24 +: 24] == index);
        assert (repeated == !q_first[f_n]);
        if (q_first[f_n]) assert (index == r_sent[f_n*24 +: 24]);
        else if (r_sent[f_n*24 +: 24] - r_una[f_n*24 +: 24] < 24'h400000)
          assert (index - r_una[f_n*24 +: 24] < r_sent[f_n*24 +: 24] - r_una[f_n*24 +: 24]);
      end
    // The connection: every first sending has its next index, directly or from the queue, which keeps their order.
    if (f_mine && send[f_p]) assert (index == f_sent);
    if (f_mine && push[f_p]) assert (index == f_pushed && !send[f_p]);
    if (f_mine && !is_queued) assert (send[f_p] || push[f_p]);

    // Outputs: a launch that is due reaches readers that are free and were so before; what leaves a queue is at its front.
    assert ((launch_valid & (prep_busy | f_was_busy)) == 0);
    assert ((q_pop & ~q_valid) == 0);
    // Candidates for a port come 3 cycles or more after its last launch, so what is shown of it is up to date.
    assert ((taken_q & (launch_valid | f_was_valid_2)) == 0 && f_was_valid == launch_valid);
    assert ((launch_valid & ~f_taken) == 0 && (q_pop & ~f_port) == 0 && (s1_from_q & f_port) == 0 && (s1_from_q & ~taken_q) == 0);
    if (!launch_valid[f_p]) assert (f_sent_d == f_sent);
    if ((launch_valid & f_block[f_g*PORTS +: PORTS]) == 0) begin
      assert (f_issued_d == f_issued);
      assert (f_waits_d == f_waits && f_front_d == f_front);
    end

    // Invariants that make this inductive.
    assert (f_sent + {23'd0, f_late} == f_front);
    if (f_late) assert (f_m_index[f_g*24 +: 24] == f_sent);
    if (f_direct) assert (f_m_index[f_g*24 +: 24] == f_pushed);
    assert (f_waits < 4'd14 || (f_waits == 4'd14 && !f_direct));
    assert (!(s1_first_q && s1_queued_q));
    assert (!(s1_queued_q && midway[s1_group_q]));
    if (s1_queued_q) assert (q_valid[s1_port_q] && q_addr[s1_port_q*AW+LW +: GW] == s1_group_q);
    assert (f_open == midway);
    assert (lock == ((midway[0] ? f_block[PORTS-1:0] : {PORTS{1'b0}}) | (midway[1] ? f_block[2*PORTS-1:PORTS] : {PORTS{1'b0}})));
    // The candidate has exclusive use of its ports: no other candidate is selected for them, nor were they locked.
    assert (taken_q == ((s1_first_q || s1_queued_q) ? f_block[s1_group_q*PORTS +: PORTS] : {PORTS{1'b0}}));
    assert (s1_from_q == (s1_queued_q ? {{PORTS-1{1'b0}}, 1'b1} << s1_port_q : {PORTS{1'b0}}));
    assert ((taken_q & f_was_busy) == 0);
    if (s1_first_q || s1_queued_q) begin
      assert (s1_turn_q == ({{GROUPS-1{1'b0}}, 1'b1} << s1_group_q) && s1_members_q == f_ports[s1_group_q*PORTS +: PORTS]);
      assert (s1_mtu_log2_q == f_cfg[s1_group_q*32 + `RF_GROUP_CFG_MTU_LOG2_LSB +: `RF_GROUP_CFG_MTU_LOG2_BITS]);
      assert (s1_lanes_q == f_cfg[s1_group_q*32 + `RF_GROUP_CFG_LANES_LSB +: `RF_GROUP_CFG_LANES_BITS]);
    end
    assert (!(s1_first_q || s1_queued_q) || midway[s1_group_q] || (lock & block) == 0);
    assert (midway != 2'b11 || (f_block[PORTS-1:0] & f_block[2*PORTS-1:PORTS]) == 0);
  end

genvar f_t;
genvar f_u;
generate
  for (f_t = 0; f_t < GROUPS; f_t = f_t + 1) begin : f_group
    wire [PORTS-1:0] picked = pick[f_t*PORTS +: PORTS];
    always @*
      if (f_started && !rst) begin
        assert ((picked & (picked - 1'b1)) == 0);
        if (midway[f_t])
          assert (f_m_lane[f_t*LW +: LW] == f_lane[f_t*LW +: LW] && f_m_index[f_t*24 +: 24] == f_of[f_t*24 +: 24] && f_m_lane[f_t*LW +: LW] != 0 &&
                  {27'd0, f_cfg[f_t*32 + `RF_GROUP_CFG_LANES_LSB +: `RF_GROUP_CFG_LANES_BITS]} > f_m_lane[f_t*LW +: LW]);
      end
    for (f_u = 0; f_u < PORTS; f_u = f_u + 1) begin : f_pick
      always @*
        if (f_started && !rst && picked[f_u] && !popped_q[f_u]) assert (q_valid[f_u] && q_addr[f_u*AW+LW +: GW] == f_t);
    end
  end
endgenerate

always @(posedge clk)
  if (f_started && !rst) begin
    cover (f_mine && send[f_p] && f_l == 1 && f_sent == 24'd2);
    cover (f_mine && send[f_p] && is_queued && f_l == 1 && f_waits == 4'd1);
    cover (start && repeated);
    cover (midway == 2'b11);
  end
