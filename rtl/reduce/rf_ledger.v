// rf_ledger: records the packets received, sent and acknowledged: next, sent, una of all connections; head, tail,
// issued of all groups.
//
// Latency     judge, repeat check, registers: combinational. Commit to pending: 2 cycles; in a selective group
//             2 after the step of a runner. ACK event to una: 1 cycle.
// Throughput  per cycle one packet judged per port, one commit per port, one pass, one ACK event.
// Capacity    GROUPS * LANES * PORTS connections.
// Handshake   e_ready is combinational from e_valid; init_ready depends on other writes at its port in the cycle. If
//             INIT or the clearing of a slot has waited for 64 cycles, its competitors stop: judges by `pause`, new
//             passes by pass_room, ACKs here.
// Reset       clears head, tail, issued and everything in progress. Connections are undefined until init.
// Proved      tests/formal/ledger.vh: tail <= una <= sent <= head <= next <= tail + S; no accepted packet lands in a
//             slot that is being read.
//
// A group may start when its connections have been initialised and nothing from its previous use is in progress.
// First sendings of one cycle (s_*) belong to one lane of one group. pass_begin comes with the first lane of the pass,
// pass_end after its last beat has been read. A group can have two passes between these events: one is read while the
// next one is prepared.

`default_nettype none

module rf_ledger #(
  // Bits of an index: 24, fewer only in the proof.
  parameter IDX = 24,
  parameter PORTS = 4,
  parameter LANES = 1,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2,
  // log2 of the slots of a lane.
  parameter HDR_AW = 9,
  // 1: groups may be selective.
  parameter SELECTIVE = 1,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                          clk,
  input  wire                          rst,

  // Groups: open loop, log2 of the slots, lanes in use, members: bit (group * LANES + lane) * PORTS + port.
  input  wire [GROUPS-1:0]             g_open,
  input  wire [GROUPS-1:0]             g_selective,
  input  wire [GROUPS*HDR_AW-1:0]      g_hbase,
  input  wire [GROUPS*4-1:0]           g_size_log2,
  input  wire [GROUPS*5-1:0]           g_lanes,
  input  wire [GROUPS*LANES*PORTS-1:0] g_members,
  input  wire [GROUPS*PORTS-1:0]       g_ports,
  input  wire                          start_valid,
  input  wire [GW-1:0]                 start_group,
  // The slots of a selective group that has started are being cleared: none of its packets may be judged.
  output wire [GROUPS-1:0]             g_clearing,
  input  wire                          init_valid,
  output wire                          init_ready,
  input  wire [PW-1:0]                 init_port,
  input  wire [GW+LW-1:0]              init_addr,
  // The judges of these ports accept no further descriptor.
  output wire [PORTS-1:0]              pause,

  // Judges, one per port. j_soon is the group of the packet that is judged in the next cycle: the limit of its window is
  // read one cycle early.
  input  wire [PORTS*GW-1:0]           j_soon,
  input  wire [PORTS-1:0]              j_valid,
  input  wire [PORTS*(GW+LW)-1:0]      j_addr,
  input  wire [PORTS*IDX-1:0]          j_index,
  input  wire [PORTS-1:0]              j_selective,
  input  wire [PORTS*HDR_AW-1:0]       j_slot,
  input  wire [PORTS-1:0]              j_lap,
  output wire [PORTS*IDX-1:0]          j_next,
  output wire [PORTS*IDX-1:0]          j_sent,
  output wire [PORTS*IDX-1:0]          j_una,
  output wire [PORTS-1:0]              j_far,
  output wire [PORTS*24-1:0]           j_msn,
  output wire [PORTS-1:0]              j_accept,
  output wire [PORTS-1:0]              j_inside,
  output wire [PORTS-1:0]              j_full,

  // From registers of the port: the copy of the connection's next packet begins (c_valid); in a selective group, that of the
  // packet in c_slot (c_marks).
  input  wire [PORTS-1:0]              c_valid,
  input  wire [PORTS*(GW+LW)-1:0]      c_addr,
  input  wire [PORTS-1:0]              c_marks,
  input  wire [PORTS*HDR_AW-1:0]       c_slot,
  input  wire [PORTS-1:0]              c_lap,

  // Connections for which the copy of one more packet has begun, and its index; the head of a group.
  output wire [PORTS-1:0]              steps,
  output wire [PORTS*(GW+LW)-1:0]      step_addrs,
  output wire [PORTS*IDX-1:0]          step_indexes,
  input  wire [GW-1:0]                 l_group,
  output wire [IDX-1:0]                l_head,

  // Passes.
  output wire [GROUPS-1:0]             g_pending,
  output wire [GROUPS*IDX-1:0]         g_issued,
  output wire [GROUPS-1:0]             pass_room,
  input  wire                          pass_begin,
  input  wire                          pass_first,
  input  wire [GW-1:0]                 pass_group,
  input  wire [IDX-1:0]                pass_index,
  input  wire [GROUPS-1:0]             pass_end,

  // First sendings: sent becomes s_index + 1.
  input  wire [PORTS-1:0]              s_valid,
  input  wire [GW+LW-1:0]              s_addr,
  input  wire [IDX-1:0]                s_index,

  // Values for the waiting repeats, one connection per port.
  input  wire [PORTS-1:0]              r_valid,
  input  wire [PORTS*(GW+LW)-1:0]      r_addr,
  output wire [PORTS*IDX-1:0]          r_sent,
  output wire [PORTS*IDX-1:0]          r_una,

  // An ACK has advanced una of a connection.
  output wire [PORTS-1:0]              u_valid,
  output wire [GW+LW-1:0]              u_addr,

  // ACK events and verdicts.
  input  wire [PORTS-1:0]              e_valid,
  output wire [PORTS-1:0]              e_ready,
  input  wire [PORTS*PW-1:0]           e_port,
  input  wire [PORTS*(GW+LW)-1:0]      e_addr,
  input  wire [PORTS*IDX-1:0]          e_index,
  input  wire [PORTS*24-1:0]           e_msn,
  input  wire [PORTS-1:0]              e_fatal,
  input  wire [PORTS-1:0]              e_still,
  output wire [PORTS-1:0]              v_valid,
  output wire                          v_ok,
  output wire                          n_valid,
  output wire [PW-1:0]                 n_port,
  output wire [GW+LW-1:0]              n_addr,
  output wire [IDX-1:0]                n_index,

  // Registers.
  input  wire [GW-1:0]                 x_group,
  output wire [IDX-1:0]                x_head,
  output wire [IDX-1:0]                x_tail,
  output wire [IDX-1:0]                x_issued,
  input  wire [PW-1:0]                 x_port,
  input  wire [GW+LW-1:0]              x_addr,
  output wire [IDX-1:0]                x_next,
  output wire [IDX-1:0]                x_sent,
  output wire [IDX-1:0]                x_una,
  output wire [23:0]                   x_msn,

  // A memory of this port had a parity error.
  output wire [PORTS-1:0]              bad,
  // No event is in progress in the ledger; complete packets that wait for their pass are counted in g_pending.
  output wire                          idle
);

  localparam AW = GW + LW;

  wire [GROUPS*IDX-1:0] g_head;
  wire [GROUPS*IDX-1:0] g_tail;
  wire [GROUPS*IDX-1:0] g_limit;
  wire [GW-1:0]         h_group;
  wire [PORTS*IDX-1:0]  h_heads;
  wire [AW-1:0]         t_addr;
  wire [PORTS*IDX-1:0]  t_una;
  wire [AW-1:0]         a_addr;
  wire [PORTS*IDX-1:0]  a_sent;
  wire [PORTS*IDX-1:0]  a_una;
  wire [PORTS-1:0]      a_valid;
  wire [PORTS-1:0]      t_valid;
  wire [PORTS-1:0]      a_raise;
  wire [PORTS-1:0]      a_note;
  wire [IDX-1:0]        a_value;
  wire [23:0]           a_msn;
  wire [PORTS*IDX-1:0]  x_nexts;
  wire [PORTS*IDX-1:0]  x_sents;
  wire [PORTS*IDX-1:0]  x_unas;
  wire [PORTS*24-1:0]   x_msns;

  wire           s_open  = g_open[s_addr[AW-1:LW]];
  wire           s_block = s_valid != {PORTS{1'b0}} && s_open;
  wire [IDX-1:0] s_value = s_index + 1'b1;

  // A requester that has waited for 2^PATIENCE cycles blocks the others until it is served.
  localparam PATIENCE = 6;
  reg  [PATIENCE:0] init_wait_q;
  wire              init_late  = init_valid && init_wait_q[PATIENCE];

  // INIT needs a cycle without another write at its port. An ACK in progress counts as one, whatever it contains.
  wire              a_block    = s_block || init_late;

  assign init_ready = !j_valid[init_port] && !c_valid[init_port] && !c_marks[init_port] && !s_valid[init_port] && !(a_valid[init_port] && !a_block);

  // Slots of a selective group are cleared one by one, in all ports and lanes.
  reg               clear_q;
  reg  [GW-1:0]     clear_group_q;
  reg  [HDR_AW-1:0] clear_slot_q;
  reg  [HDR_AW:0]   clear_left_q;
  wire [PORTS-1:0]  clear_ready;
  wire [3:0]        start_log2 = g_size_log2[start_group*4 +: 4];
  wire              clear_last = clear_left_q == {{HDR_AW{1'b0}}, 1'b1};

  assign g_clearing = clear_q ? {{GROUPS-1{1'b0}}, 1'b1} << clear_group_q : {GROUPS{1'b0}};

  always @(posedge clk)
    if (rst) clear_q <= 1'b0;
    else if (SELECTIVE != 0 && start_valid && g_selective[start_group]) clear_q <= 1'b1;
    else if (clear_last && clear_ready == {PORTS{1'b1}}) clear_q <= 1'b0;

  always @(posedge clk)
    if (start_valid) begin
      clear_group_q <= start_group;
      clear_slot_q  <= g_hbase[start_group*HDR_AW +: HDR_AW];
      clear_left_q  <= {{HDR_AW{1'b0}}, 1'b1} << start_log2;
    end else if (clear_q && clear_ready == {PORTS{1'b1}}) begin
      clear_slot_q  <= clear_slot_q + 1'b1;
      clear_left_q  <= clear_left_q - 1'b1;
    end

  reg  [PATIENCE:0] clear_wait_q;
  reg  [PORTS-1:0]  pause_q;
  wire              clear_late = clear_q && clear_wait_q[PATIENCE];

  assign pause = pause_q;

  always @(posedge clk)
    if (rst || !init_valid || init_ready) init_wait_q <= {PATIENCE+1{1'b0}};
    else if (!init_late) init_wait_q <= init_wait_q + 1'b1;

  always @(posedge clk)
    if (rst || !clear_q || clear_ready == {PORTS{1'b1}}) clear_wait_q <= {PATIENCE+1{1'b0}};
    else if (!clear_late) clear_wait_q <= clear_wait_q + 1'b1;

  always @(posedge clk)
    if (rst) pause_q <= {PORTS{1'b0}};
    else pause_q <= {PORTS{clear_late}} | (init_late ? {{PORTS-1{1'b0}}, 1'b1} << init_port : {PORTS{1'b0}});

  wire [PORTS-1:0]    slice_idle;

`ifdef FORMAL
  wire [PORTS*(LANES<<HDR_AW)-1:0] f_there;
  wire [PORTS*(LANES<<HDR_AW)-1:0] f_copied;
  wire [PORTS*2-1:0]               f_run;
  wire [PORTS*(4*AW+4)-1:0]        f_queue;
  wire [PORTS*2*AW-1:0]            f_run_addr;
  wire [PORTS*2*IDX-1:0]           f_run_index;
  wire [PORTS*(2<<AW)-1:0]         f_queued;
  wire [PORTS*LANES*IDX-1:0]       f_nexts;
  wire [PORTS*LANES*IDX-1:0]       f_sents;
  wire [PORTS*LANES*IDX-1:0]       f_unas;
  wire [PORTS*LANES*IDX-1:0]       f_storeds;
  wire [PORTS*IDX-1:0]             f_heads;
  wire [PORTS*IDX-1:0]             f_limits;
`endif

  genvar p;
  genvar l;
  generate
    for (p = 0; p < PORTS; p = p + 1) begin : g_port
      localparam [31:0] NUMBER = p;
      wire [GW-1:0]    soon = j_soon[p*GW +: GW];
      wire [AW-1:0]    step_addr;
      wire [GW-1:0]    step_group = step_addr[AW-1:LW];
      wire [LANES-1:0] step_members;
      reg  [IDX-1:0]   soon_limit;
      reg  [IDX-1:0]   limit_q;
      integer          i;

      // Selection by comparison: [soon*IDX +: IDX] is a multiplication if IDX is not a power of two.
      always @(*) begin
        soon_limit = {IDX{1'b0}};
        for (i = 0; i < GROUPS; i = i + 1)
          if (soon == i[GW-1:0]) soon_limit = soon_limit | g_limit[i*IDX +: IDX];
      end

      // The limit only grows while a group is live, so one of the cycle before is safe.
      always @(posedge clk) limit_q <= soon_limit;

      assign step_addrs[p*AW +: AW] = step_addr;
`ifdef FORMAL
      assign f_limits[p*IDX +: IDX] = limit_q;
`endif

      for (l = 0; l < LANES; l = l + 1) begin : g_lane
        assign step_members[l] = g_members[({{32-GW{1'b0}}, step_group} * LANES + l) * PORTS + p];
      end

      rf_ledger_port #(
        .IDX(IDX), .GROUPS(GROUPS), .LANES(LANES), .GW(GW), .LW(LW), .HDR_AW(HDR_AW), .SELECTIVE(SELECTIVE),
        .PARITY(PARITY)
      ) slice (
        .clk        (clk),
        .rst        (rst),
        .g_hbase    (g_hbase),
        .g_size_log2(g_size_log2),
        .clear_valid(clear_q && clear_ready == {PORTS{1'b1}}),
        .clear_ready(clear_ready[p]),
        .clear_slot (clear_slot_q),
        .start_valid(start_valid),
        .start_group(start_group),
        .init_waits (init_valid && init_port == NUMBER[PW-1:0]),
        .init_valid (init_valid && init_ready && init_port == NUMBER[PW-1:0]),
        .init_addr  (init_addr),
        .j_valid    (j_valid[p]),
        .j_addr     (j_addr[p*AW +: AW]),
        .j_index    (j_index[p*IDX +: IDX]),
        .j_selective(j_selective[p]),
        .j_slot     (j_slot[p*HDR_AW +: HDR_AW]),
        .j_lap      (j_lap[p]),
        .j_limit    (limit_q),
        .j_next     (j_next[p*IDX +: IDX]),
        .j_sent     (j_sent[p*IDX +: IDX]),
        .j_una      (j_una[p*IDX +: IDX]),
        .j_far      (j_far[p]),
        .j_msn      (j_msn[p*24 +: 24]),
        .j_accept   (j_accept[p]),
        .j_inside   (j_inside[p]),
        .j_full     (j_full[p]),
        .c_valid    (c_valid[p]),
        .c_addr     (c_addr[p*AW +: AW]),
        .c_marks    (c_marks[p]),
        .c_slot     (c_slot[p*HDR_AW +: HDR_AW]),
        .c_lap      (c_lap[p]),
        .step_valid (steps[p]),
        .step_addr  (step_addr),
        .step_index (step_indexes[p*IDX +: IDX]),
        .step_members(step_members),
        .h_group    (h_group),
        .h_head     (h_heads[p*IDX +: IDX]),
        .s_valid    (s_valid[p]),
        .s_addr     (s_addr),
        .s_value    (s_value),
        .s_open     (s_open),
        .a_valid    (a_valid[p]),
        .a_addr     (a_addr),
        .a_sent     (a_sent[p*IDX +: IDX]),
        .a_una      (a_una[p*IDX +: IDX]),
        .a_raise    (a_raise[p]),
        .a_value    (a_value),
        .a_note     (a_note[p]),
        .a_msn      (a_msn),
        .r_valid    (r_valid[p]),
        .r_addr     (r_addr[p*AW +: AW]),
        .r_sent     (r_sent[p*IDX +: IDX]),
        .r_una      (r_una[p*IDX +: IDX]),
        .t_valid    (t_valid[p]),
        .t_addr     (t_addr),
        .t_una      (t_una[p*IDX +: IDX]),
        .x_addr     (x_addr),
        .x_next     (x_nexts[p*IDX +: IDX]),
        .x_sent     (x_sents[p*IDX +: IDX]),
        .x_una      (x_unas[p*IDX +: IDX]),
        .x_msn      (x_msns[p*24 +: 24]),
        .bad        (bad[p]),
        .idle       (slice_idle[p])
`ifdef FORMAL
        ,
        .f_there    (f_there[p*(LANES<<HDR_AW) +: LANES<<HDR_AW]),
        .f_copied   (f_copied[p*(LANES<<HDR_AW) +: LANES<<HDR_AW]),
        .f_run      (f_run[p*2 +: 2]),
        .f_queue    (f_queue[p*(4*AW+4) +: 4*AW+4]),
        .f_run_addr (f_run_addr[p*2*AW +: 2*AW]),
        .f_run_index(f_run_index[p*2*IDX +: 2*IDX]),
        .f_queued   (f_queued[p*(2<<AW) +: 2<<AW]),
        .f_next     (f_nexts[p*LANES*IDX +: LANES*IDX]),
        .f_sent     (f_sents[p*LANES*IDX +: LANES*IDX]),
        .f_una      (f_unas[p*LANES*IDX +: LANES*IDX]),
        .f_stored   (f_storeds[p*LANES*IDX +: LANES*IDX]),
        .f_head     (f_heads[p*IDX +: IDX])
`endif
      );
    end
  endgenerate

  // Head. Commits of groups that are not selective reach it in their cycle; the steps of the runners one cycle later, because
  // the runners of all ports are in this path.
  reg [GROUPS-1:0] commits;
  reg [GROUPS-1:0] runs;

  // Selection by comparison: an index on the left side becomes a chain.
  integer k;
  integer m;
  always @(*) begin
    commits = {GROUPS{1'b0}};
    runs    = {GROUPS{1'b0}};
    for (m = 0; m < GROUPS; m = m + 1)
      for (k = 0; k < PORTS; k = k + 1) begin
        if (c_valid[k] && c_addr[k*AW+LW +: GW] == m[GW-1:0]) commits[m] = 1'b1;
        if (!c_valid[k] && steps[k] && step_addrs[k*AW+LW +: GW] == m[GW-1:0]) runs[m] = 1'b1;
      end
  end

  reg  [GROUPS-1:0] runs_q;
  wire              head_rest;
  wire              head_idle = head_rest && runs_q == {GROUPS{1'b0}};

  always @(posedge clk)
    if (rst) runs_q <= {GROUPS{1'b0}};
    else runs_q <= runs;

  rf_ledger_head #(
    .IDX(IDX), .PORTS(PORTS), .GROUPS(GROUPS), .GW(GW)
  ) heads (
    .clk(clk), .rst(rst), .start_valid(start_valid), .start_group(start_group), .mark(commits | runs_q), .g_ports(g_ports),
    .look_group(h_group), .look_heads(h_heads), .g_head(g_head), .idle(head_rest)
  );

  // ACKs.
  wire ack_idle;

  rf_ledger_ack #(
    .IDX(IDX), .PORTS(PORTS), .PW(PW), .AW(AW)
  ) acks (
    .clk(clk), .rst(rst), .e_valid(e_valid), .e_ready(e_ready), .e_port(e_port), .e_addr(e_addr), .e_index(e_index),
    .e_msn(e_msn), .e_fatal(e_fatal), .e_still(e_still), .block(a_block), .a_addr(a_addr), .a_sent(a_sent), .a_una(a_una),
    .a_valid(a_valid), .a_raise(a_raise), .a_note(a_note), .a_value(a_value), .a_msn(a_msn), .v_valid(v_valid), .v_ok(v_ok),
    .n_valid(n_valid), .n_port(n_port), .idle(ack_idle)
  );

  assign u_valid = a_raise;
  assign u_addr  = a_addr;
  assign n_addr  = a_addr;
  assign n_index = a_value;

  // Tail.
  reg  [GROUPS-1:0]       tail_mark;
  wire [GROUPS*2-1:0]     hold_valid;
  wire [GROUPS*2*IDX-1:0] hold_index;
  wire                    tail_idle;
`ifdef FORMAL
  wire                           f_again;
  wire                           f_scan;
  wire [AW-1:0]                  f_scan_at;
  wire                           f1_valid;
  wire                           f1_first;
  wire                           f1_last;
  wire [GW-1:0]                  f1_group;
  wire [(PORTS+1)/2*(IDX+1)-1:0] f1_pairs;
  wire                           f2_valid;
  wire                           f2_first;
  wire                           f2_last;
  wire [GW-1:0]                  f2_group;
  wire [IDX:0]                   f2_least;
  wire                           f3_valid;
  wire [GW-1:0]                  f3_group;
  wire [IDX:0]                   f3_least;
  wire                           f4_valid;
  wire [GW-1:0]                  f4_group;
  wire [IDX-1:0]                 f4_least;
  wire [IDX:0]                   f4_hold;
`endif

  always @(*) begin
    tail_mark = pass_end;
    if (a_raise != {PORTS{1'b0}}) tail_mark[a_addr[AW-1:LW]] = 1'b1;
    if (s_block) tail_mark[s_addr[AW-1:LW]] = 1'b1;
  end

  rf_ledger_tail #(
    .IDX(IDX), .PORTS(PORTS), .LANES(LANES), .GROUPS(GROUPS), .GW(GW), .LW(LW)
  ) tails (
    .clk(clk), .rst(rst), .start_valid(start_valid), .start_group(start_group), .mark(tail_mark),
    .g_size_log2(g_size_log2), .g_lanes(g_lanes), .g_members(g_members), .scan_valid(t_valid), .scan_addr(t_addr), .scan_una(t_una),
    .hold_valid(hold_valid), .hold_index(hold_index), .g_tail(g_tail), .g_limit(g_limit), .idle(tail_idle)
`ifdef FORMAL
    ,
    .f_wait(f_again), .f_scan(f_scan), .f_scan_at(f_scan_at), .f1_valid(f1_valid), .f1_first(f1_first), .f1_last(f1_last),
    .f1_group(f1_group), .f1_pairs(f1_pairs), .f2_valid(f2_valid), .f2_first(f2_first), .f2_last(f2_last),
    .f2_group(f2_group), .f2_least(f2_least), .f3_valid(f3_valid), .f3_group(f3_group), .f3_least(f3_least),
    .f4_valid(f4_valid), .f4_group(f4_group), .f4_least(f4_least), .f4_hold(f4_hold)
`endif
  );

  // Issued.
  reg [IDX-1:0] issued_q [0:GROUPS-1];

  integer g;
  always @(posedge clk)
    if (rst) begin
      for (g = 0; g < GROUPS; g = g + 1) issued_q[g] <= {IDX{1'b0}};
    end else begin
      if (pass_begin && pass_first) issued_q[pass_group] <= issued_q[pass_group] + 1'b1;
      if (start_valid) issued_q[start_group] <= {IDX{1'b0}};
    end

  // The passes that are reading: at most two per group, the older one in entry 0.
  reg [GROUPS*2-1:0]     hold_q;
  reg [GROUPS*2*IDX-1:0] hold_index_q;

  assign hold_valid = hold_q;
  assign hold_index = hold_index_q;

  integer h;
  always @(posedge clk)
    for (h = 0; h < GROUPS; h = h + 1) begin
      if (pass_begin && pass_group == h[GW-1:0]) begin
        if (hold_q[2*h] && !pass_end[h]) begin
          hold_q[2*h+1]                       <= 1'b1;
          hold_index_q[(2*h+1)*IDX +: IDX]    <= pass_index;
        end else begin
          hold_q[2*h]                         <= 1'b1;
          hold_index_q[2*h*IDX +: IDX]        <= pass_index;
        end
      end else if (pass_end[h]) begin
        hold_q[2*h]                           <= hold_q[2*h+1];
        hold_q[2*h+1]                         <= 1'b0;
        hold_index_q[2*h*IDX +: IDX]          <= hold_index_q[(2*h+1)*IDX +: IDX];
      end
      if (rst || (start_valid && start_group == h[GW-1:0])) hold_q[2*h +: 2] <= 2'b00;
    end

  genvar n;
  generate
    for (n = 0; n < GROUPS; n = n + 1) begin : g_out
      assign g_issued[n*IDX +: IDX] = issued_q[n];
      assign g_pending[n]           = g_head[n*IDX +: IDX] != issued_q[n];
      // No room while two passes read, including the cycle in which one ends: this removes a timing path.
      assign pass_room[n]           = !hold_q[2*n+1] && !init_late;
    end
  endgenerate

  assign l_head   = g_head[l_group*IDX +: IDX];
  assign x_head   = g_head[x_group*IDX +: IDX];
  assign x_tail   = g_tail[x_group*IDX +: IDX];
  assign x_issued = issued_q[x_group];
  assign x_next   = x_nexts[x_port*IDX +: IDX];
  assign x_sent   = x_sents[x_port*IDX +: IDX];
  assign x_una    = x_unas[x_port*IDX +: IDX];
  assign x_msn    = x_msns[x_port*24 +: 24];
  assign idle     = head_idle && ack_idle && tail_idle && !clear_q && slice_idle == {PORTS{1'b1}};

`ifdef FORMAL
`include "ledger.vh"
`endif

endmodule

`default_nettype wire
