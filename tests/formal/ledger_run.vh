// Selective groups, with ledger.vh: a packet accepted out of order is accepted once; next and stored do not pass a
// missing packet; a connection that can advance is processed.
localparam F_MARKS = F_CONNS * F_SLOTS;

// Accepted, committed: for the indexes of the window, by connection and slot; cleared when the tail passes.
reg [F_MARKS-1:0] f_acc;
reg [F_MARKS-1:0] f_com;

// Whether the index of the window that belongs to a slot is in an odd lap.
reg [F_SLOTS-1:0] f_lap;
integer f_i;
always @*
  for (f_i = 0; f_i < F_SLOTS; f_i = f_i + 1)
    f_lap[f_i] = f_tail[HDR_AW] ^ (f_i[HDR_AW-1:0] < f_tail[HDR_AW-1:0]);

wire f_marked = f_live && f_selective && g_clearing == 0;

generate
  for (f_p = 0; f_p < PORTS; f_p = f_p + 1) begin : f_sel
    wire [AW-1:0]     ja = j_addr[f_p*AW +: AW];
    wire [AW-1:0]     ca = c_addr[f_p*AW +: AW];
    wire [IDX-1:0]    ji = j_index[f_p*IDX +: IDX];
    wire [HDR_AW-1:0] js = ji[HDR_AW-1:0];
    wire [HDR_AW-1:0] cs = c_slot[f_p*HDR_AW +: HDR_AW];
    wire              accepted = j_valid[f_p] && j_accept[f_p];
    wire [IDX-1:0]    ahead = ji - f_tail;

    // The bank may commit in any order here; the order of the commands is one of them.
    always @*
      if (c_marks[f_p])
        assume (f_acc[(f_p*LANES + ca)*F_SLOTS + cs] && !f_com[(f_p*LANES + ca)*F_SLOTS + cs] && c_lap[f_p] == f_lap[cs]);

    for (f_n = 0; f_n < LANES; f_n = f_n + 1) begin : f_lane
      localparam AT = f_p * LANES + f_n;
      wire           member = f_members[f_n*PORTS + f_p];
      wire [IDX-1:0] next   = f_nexts[AT*IDX +: IDX] - f_tail;
      wire [IDX-1:0] stored = f_storeds[AT*IDX +: IDX] - f_tail;
      wire           n_waits = f_queued[f_p*(2<<AW) + f_n];
      wire           s_waits = f_queued[f_p*(2<<AW) + (1<<AW) + f_n];
      wire           n_runs  = f_run[2*f_p] && f_run_addr[f_p*2*AW +: AW] == f_n;
      wire           s_runs  = f_run[2*f_p+1] && f_run_addr[(f_p*2+1)*AW +: AW] == f_n;

      for (f_s = 0; f_s < F_SLOTS; f_s = f_s + 1) begin : f_slot
        localparam [31:0] SLOT = f_s;
        localparam        BIT  = AT * F_SLOTS + f_s;
        wire [HDR_AW-1:0] place = SLOT[HDR_AW-1:0] - f_tail[HDR_AW-1:0];
        wire [IDX-1:0]    off   = {{IDX-HDR_AW{1'b0}}, place};
        wire              gone  = f4_valid && off < f4_goal;

        always @(posedge clk)
          if (rst) f_acc[BIT] <= 1'b0;
          else f_acc[BIT] <= !gone && (f_acc[BIT] || (accepted && f_selective && ja == f_n && js == f_s));

        always @(posedge clk)
          if (rst) f_com[BIT] <= 1'b0;
          else f_com[BIT] <= !gone && (f_com[BIT] || (c_marks[f_p] && ca == f_n && cs == f_s));

        always @* begin
          if (f_marked && member) begin
            assert (f_there[BIT] == (f_lap[f_s] ^ !f_acc[BIT]));
            assert (f_copied[BIT] == (f_lap[f_s] ^ !f_com[BIT]));
            assert (f_acc[BIT] || !f_com[BIT]);
            // Neither counter has passed a missing packet.
            if (off < next) assert (f_acc[BIT]);
            if (off < stored) assert (f_com[BIT]);
            // A connection that can advance is being processed, or will be.
            if (off == next && f_acc[BIT]) assert (n_waits || n_runs);
            if (off == stored && f_com[BIT]) assert (s_waits || s_runs);
          end
          // Before the group starts, and while its slots are being cleared.
          if (f_started && !f_marked && f_selective) begin
            assert (!f_acc[BIT] && !f_com[BIT]);
            if (f_live && clear_slot_q > f_s) assert (f_there[BIT] && f_copied[BIT]);
          end
        end
      end

      always @*
        if (f_live && f_selective) begin
          // Accepted once, inside the window.
          if (accepted && ja == f_n) assert (!f_acc[AT*F_SLOTS + js] && ahead < F_S);
          if (n_runs) assert (f_run_index[f_p*2*IDX +: IDX] - f_tail == next);
          if (s_runs) assert (f_run_index[(f_p*2+1)*IDX +: IDX] - f_tail == stored);
          if (n_waits || n_runs || s_waits || s_runs) assert (member && g_clearing == 0);
        end
    end

    // The queues of the runners: members only, each once. With two lanes at most two of them wait.
    for (f_r = 0; f_r < 2; f_r = f_r + 1) begin : f_runner
      wire [2*AW+1:0]    queue  = f_queue[(f_p*2+f_r)*(2*AW+2) +: 2*AW+2];
      wire [AW-1:0]      at     = queue[AW-1:0];
      wire [(1<<AW)-1:0] queued = f_queued[(f_p*2+f_r)*(1<<AW) +: 1<<AW];

      always @*
        if (f_started) begin
          assert ((queued >> LANES) == 0);
          assert (queue[AW] == (queued != 0));
          assert (queue[AW+1 +: AW+1] == {{AW{1'b0}}, queued[0]} + (LANES > 1 ? {{AW{1'b0}}, queued[1]} : 0));
          if (queue[AW]) assert (at < LANES && queued[at]);
          if (f_run[f_p*2+f_r]) assert (f_run_addr[(f_p*2+f_r)*AW +: AW] < LANES);
        end
    end
  end
endgenerate

always @*
  if (f_live && clear_q) begin
    assert (f_selective && clear_group_q == 0 && clear_left_q != 0 && clear_left_q <= F_SLOTS);
    assert (clear_slot_q + clear_left_q == F_SLOTS);
  end

wire f_first = j_valid[0] && j_accept[0];

always @(posedge clk)
  if (f_live) begin
    cover (f_selective && f_tail == 5);
    // Three indexes wait for the one before them.
    cover (f_selective && f_first && f_acc[3:0] == 4'b1110 && f_tail == 0);
    cover (f_selective && f_run[0] && f_com[3:0] == 4'b1111 && f_nexts[IDX-1:0] == 1);
  end
