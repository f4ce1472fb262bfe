// rf_ledger_port: the part of the ledger that belongs to one port: next, sent and una of its connections, its port
// heads.
//
// Latency     reads: combinational. Writes are visible from the next cycle on.
// Throughput  one judged packet, one commit, one sending and one ACK per cycle.
// Capacity    GROUPS groups of LANES connections.
// Handshake   init_valid is allowed only in a cycle without accepted packet, commit, sending or ACK (rf_ledger ensures
//             this). Steps of selective groups wait for init, for packets being judged and for commits.
// Reset       clears the port heads. Other state is undefined until init.
// Proved      tests/formal/ledger.vh, as part of rf_ledger.
//
// A connection is addressed by {group, lane}. `next` counts the accepted packets. `stored` follows it when the copy of
// the payload into the bank begins. Only `stored` may advance the head; otherwise a pass could overtake the copy. The
// port head of a group is the smallest `stored` of its members at this port. It grows by one when the last lane at that
// value advances: no other lane can have a smaller value, so no minimum is computed.

`default_nettype none

module rf_ledger_port #(
  // Bits of an index.
  parameter IDX = 24,
  parameter GROUPS = 8,
  parameter LANES = 1,
  parameter GW = 3,
  parameter LW = 1,
  // log2 of the slots of a lane.
  parameter HDR_AW = 9,
  // 1: groups may be selective.
  parameter SELECTIVE = 1,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                 clk,
  input  wire                 rst,

  // Slot 0 and log2 of the slots of each group.
  input  wire [GROUPS*HDR_AW-1:0] g_hbase,
  input  wire [GROUPS*4-1:0]      g_size_log2,
  // Clears one slot of a selective group that starts.
  input  wire                 clear_valid,
  output wire                 clear_ready,
  input  wire [HDR_AW-1:0]    clear_slot,

  // A group starts: its port head becomes 0.
  input  wire                 start_valid,
  input  wire [GW-1:0]        start_group,
  // A connection starts: next, sent, una, msn become 0.
  // An INIT waits for such a cycle: the runners pause.
  input  wire                 init_waits,
  input  wire                 init_valid,
  input  wire [GW+LW-1:0]     init_addr,

  // Judge: values of a connection. With j_valid a packet is accepted if it has index next or, in a selective group, is
  // new.
  input  wire                 j_valid,
  input  wire [GW+LW-1:0]     j_addr,
  input  wire [IDX-1:0]       j_index,
  input  wire                 j_selective,
  // Its slot, and whether its lap is odd.
  input  wire [HDR_AW-1:0]    j_slot,
  input  wire                 j_lap,
  // tail + S of the group, one cycle old.
  input  wire [IDX-1:0]       j_limit,
  output wire [IDX-1:0]       j_next,
  output wire [IDX-1:0]       j_sent,
  output wire [IDX-1:0]       j_una,
  output wire                 j_far,
  output wire [23:0]          j_msn,
  output wire                 j_accept,
  // The index lies before tail + S; the packet with index next is already stored.
  output wire                 j_inside,
  output wire                 j_full,

  // Commit: the copy of the connection's next packet begins; in a selective group, the copy of the packet in c_slot.
  input  wire                 c_valid,
  input  wire [GW+LW-1:0]     c_addr,
  input  wire                 c_marks,
  input  wire [HDR_AW-1:0]    c_slot,
  input  wire                 c_lap,
  // The connection whose `stored` rises in this cycle; lanes of its group that have a rank at this port.
  output wire                 step_valid,
  output wire [GW+LW-1:0]     step_addr,
  output wire [IDX-1:0]       step_index,
  input  wire [LANES-1:0]     step_members,

  // Head unit: port head of a group.
  input  wire [GW-1:0]        h_group,
  output wire [IDX-1:0]       h_head,

  // A first sending begins: sent becomes s_value; in an open loop una does too.
  input  wire                 s_valid,
  input  wire [GW+LW-1:0]     s_addr,
  input  wire [IDX-1:0]       s_value,
  input  wire                 s_open,

  // ACK; a_valid: it belongs to a connection of this port.
  input  wire                 a_valid,
  input  wire [GW+LW-1:0]     a_addr,
  output wire [IDX-1:0]       a_sent,
  output wire [IDX-1:0]       a_una,
  input  wire                 a_raise,
  input  wire [IDX-1:0]       a_value,
  input  wire                 a_note,
  input  wire [23:0]          a_msn,

  // Repeats: values of a connection.
  input  wire                 r_valid,
  input  wire [GW+LW-1:0]     r_addr,
  output wire [IDX-1:0]       r_sent,
  output wire [IDX-1:0]       r_una,

  // Tail unit; t_valid: the connection exists.
  input  wire                 t_valid,
  input  wire [GW+LW-1:0]     t_addr,
  output wire [IDX-1:0]       t_una,

  // Registers.
  input  wire [GW+LW-1:0]     x_addr,
  output wire [IDX-1:0]       x_next,
  output wire [IDX-1:0]       x_sent,
  output wire [IDX-1:0]       x_una,
  output wire [23:0]          x_msn,

  // A value of a connection had a parity error.
  output wire                 bad,
  output wire                 idle
`ifdef FORMAL
  ,
  output wire [(LANES<<HDR_AW)-1:0] f_there,
  output wire [(LANES<<HDR_AW)-1:0] f_copied,
  // {stored, next}
  output wire [1:0]           f_run,
  output wire [4*(GW+LW)+3:0] f_queue,
  output wire [2*(GW+LW)-1:0] f_run_addr,
  output wire [2*IDX-1:0]     f_run_index,
  output wire [(2<<(GW+LW))-1:0] f_queued,
  // Of group 0.
  output wire [LANES*IDX-1:0] f_next,
  output wire [LANES*IDX-1:0] f_sent,
  output wire [LANES*IDX-1:0] f_una,
  output wire [LANES*IDX-1:0] f_stored,
  output wire [IDX-1:0]       f_head
`endif
);

  localparam AW = GW + LW;

  function less;
    input [IDX-1:0] a;
    input [IDX-1:0] b;
    reg   [IDX-1:0] d;
    begin
      d    = b - a;
      less = d != {IDX{1'b0}} && !d[IDX-1];
    end
  endfunction

`ifdef FORMAL
  wire [(IDX<<AW)-1:0] f_nexts;
  wire [(IDX<<AW)-1:0] f_sents;
  wire [(IDX<<AW)-1:0] f_unas;
`endif

  // next: read by the judge, the runners and the registers. In selective groups the runner advances it over packets
  // that came out of order, in cycles in which the judge does not write.
  wire           n_valid;
  wire           n_ready;
  wire [AW-1:0]  n_addr;
  wire [IDX-1:0] n_index;
  wire [AW-1:0]  n_load;
  wire [IDX-1:0] n_value;
  wire           n_idle;
  wire           n_asks;
  wire           n_bad;
  wire [AW-1:0]  o_addr;
  wire [IDX-1:0] o_index;
  wire [IDX-1:0] o_next;
  wire           j_there;
  wire           j_any     = SELECTIVE != 0 && j_selective;
  wire           j_is_next = j_index == j_next;
  // j_accept of a packet whose index is next.
  wire           j_next_we = j_valid && j_is_next && (j_any ? !j_there && j_inside : !j_full);
  wire           next_we   = init_valid || j_next_we || n_valid;
  wire [AW-1:0]  next_addr = init_valid ? init_addr : j_next_we ? j_addr : n_addr;
  wire [IDX-1:0] j_after   = j_next + 1'b1;
  wire [IDX-1:0] n_after   = n_index + 1'b1;
  wire [IDX-1:0] next_data = init_valid ? {IDX{1'b0}} : j_next_we ? j_after : n_after;

  assign n_ready  = !j_next_we && !init_waits;
  assign j_inside = less(j_index, j_limit);
  assign j_full   = j_next == j_limit;
  assign j_accept = j_any ? !less(j_index, j_next) && j_inside && !j_there : j_is_next && !j_full;

  // Without selective groups nothing but the judge and the registers reads next.
  localparam NEXT_READS = (SELECTIVE != 0) ? 4 : 2;
  wire [4*AW-1:0]  nexts_addr = {o_addr, n_load, x_addr, j_addr};
  wire [4*IDX-1:0] nexts_data;
  wire [3:0]       nexts_bad;

  assign {o_next, n_value, x_next, j_next} = nexts_data;

  rf_many_parity #(.WIDTH(IDX), .AW(AW), .READS(NEXT_READS), .PARITY(PARITY)) nexts (
    .clk(clk), .wr_en(next_we), .wr_addr(next_addr), .wr_data(next_data), .rd_addr(nexts_addr[NEXT_READS*AW-1:0]),
    .rd_data(nexts_data[NEXT_READS*IDX-1:0]), .rd_bad(nexts_bad[NEXT_READS-1:0])
`ifdef FORMAL
    , .f_mem(f_nexts)
`endif
  );

  // stored: the runner advances it over packets being copied, but not beyond next, in cycles without another commit.
  wire           o_valid;
  wire           o_ready = !c_valid && !init_waits && o_index != o_next;
  wire [AW-1:0]  o_load;
  wire [IDX-1:0] o_value;
  wire           o_idle;
  wire           o_asks;
  wire           o_bad;

  assign step_valid  = c_valid || (o_valid && o_ready);
  assign step_addr   = c_valid ? c_addr : o_addr;
  // This does not use the accept of this cycle, which is known late in the cycle.
  assign clear_ready = !(j_valid && j_any) && !c_marks;
  assign idle        = n_idle && o_idle;

  // Marks of selective groups and their runners.
  generate
    if (SELECTIVE != 0) begin : g_selective
      wire n_clear;
      wire o_clear;
      wire unused_there;
      wire unused_clear = &{1'b0, n_clear, o_clear};

      rf_ledger_run #(
        .IDX(IDX), .GROUPS(GROUPS), .LANES(LANES), .GW(GW), .LW(LW), .HDR_AW(HDR_AW), .PARITY(PARITY)
      ) accepted (
        .clk(clk), .rst(rst), .g_hbase(g_hbase), .g_size_log2(g_size_log2), .clear_valid(clear_valid),
        .clear_ready(n_clear), .clear_slot(clear_slot), .m_set(j_valid && j_any && j_accept),
        .m_push(j_any && j_next_we), .m_moves(1'b1), .m_look(j_valid && j_any), .m_addr(j_addr), .m_slot(j_slot),
        .m_lap(j_lap), .m_there(j_there), .r_valid(n_asks), .r_addr(n_load), .r_value(n_value), .step_valid(n_valid),
        .step_ready(n_ready), .step_addr(n_addr), .step_index(n_index), .bad(n_bad), .idle(n_idle)
`ifdef FORMAL
        ,
        .f_marks(f_there), .f_run(f_run[0]), .f_queue(f_queue[0 +: 2*AW+2]), .f_queued(f_queued[0 +: 1<<AW])
`endif
      );

      rf_ledger_run #(
        .IDX(IDX), .GROUPS(GROUPS), .LANES(LANES), .GW(GW), .LW(LW), .HDR_AW(HDR_AW), .PARITY(PARITY)
      ) copied (
        .clk(clk), .rst(rst), .g_hbase(g_hbase), .g_size_log2(g_size_log2), .clear_valid(clear_valid),
        .clear_ready(o_clear), .clear_slot(clear_slot), .m_set(c_marks), .m_push(c_marks),
        .m_moves(1'b0), .m_look(1'b0), .m_addr(c_addr), .m_slot(c_slot), .m_lap(c_lap), .m_there(unused_there),
        .r_valid(o_asks), .r_addr(o_load), .r_value(o_value), .step_valid(o_valid), .step_ready(o_ready),
        .step_addr(o_addr), .step_index(o_index), .bad(o_bad), .idle(o_idle)
`ifdef FORMAL
        ,
        .f_marks(f_copied), .f_run(f_run[1]), .f_queue(f_queue[2*AW+2 +: 2*AW+2]), .f_queued(f_queued[(1<<AW) +: 1<<AW])
`endif
      );
    end else begin : g_in_order
      wire unused_marks = &{1'b0, g_hbase, g_size_log2, clear_valid, clear_slot, j_selective, j_slot, j_lap, c_marks,
                            c_slot, c_lap, n_ready, n_value, o_ready, o_value, nexts_addr};

      assign nexts_data[4*IDX-1:2*IDX] = {2*IDX{1'b0}};
      assign nexts_bad[3:2]            = 2'b00;
      assign {n_valid, n_asks, n_bad, o_valid, o_asks, o_bad, j_there} = 7'd0;
      assign {n_addr, n_load, o_addr, o_load} = {4*AW{1'b0}};
      assign {n_index, o_index} = {2*IDX{1'b0}};
      assign {n_idle, o_idle}   = 2'b11;
    end
  endgenerate

  // sent.
  wire           sent_we   = init_valid || s_valid;
  wire [AW-1:0]  sent_addr = init_valid ? init_addr : s_addr;
  wire [IDX-1:0] sent_data = init_valid ? {IDX{1'b0}} : s_value;

  wire [3:0]     sents_bad;

  rf_many_parity #(.WIDTH(IDX), .AW(AW), .READS(4), .PARITY(PARITY)) sents (
    .clk(clk), .wr_en(sent_we), .wr_addr(sent_addr), .wr_data(sent_data),
    .rd_addr({j_addr, a_addr, r_addr, x_addr}), .rd_data({j_sent, a_sent, r_sent, x_sent}), .rd_bad(sents_bad)
`ifdef FORMAL
    , .f_mem(f_sents)
`endif
  );

  // una: an ACK never comes in the cycle of an open-loop sending.
  wire           s_una    = s_valid && s_open;
  wire           una_we   = init_valid || s_una || a_raise;
  wire [AW-1:0]  una_addr = init_valid ? init_addr : s_una ? s_addr : a_addr;
  wire [IDX-1:0] una_data = init_valid ? {IDX{1'b0}} : s_una ? s_value : a_value;

  wire [4:0]     unas_bad;

  rf_many_parity #(.WIDTH(IDX), .AW(AW), .READS(5), .PARITY(PARITY)) unas (
    .clk(clk), .wr_en(una_we), .wr_addr(una_addr), .wr_data(una_data),
    .rd_addr({j_addr, a_addr, r_addr, t_addr, x_addr}), .rd_data({j_una, a_una, r_una, t_una, x_una}),
    .rd_bad(unas_bad)
`ifdef FORMAL
    , .f_mem(f_unas)
`endif
  );

  // una has reached a quarter of the index range (2^22): sticky, so it is only ever set to 1 or cleared by init.
  wire far_we = init_valid || ((s_una || a_raise) && una_data[IDX-1:IDX-2] != 2'b00);

  wire far_bad;

  rf_many_parity #(.WIDTH(1), .AW(AW), .READS(1), .PARITY(PARITY)) far_j (
    .clk(clk), .wr_en(far_we), .wr_addr(una_addr), .wr_data(!init_valid), .rd_addr(j_addr), .rd_data(j_far),
    .rd_bad(far_bad));

  // MSN of the receiver's last ACK.
  wire          msn_we   = init_valid || a_note;
  wire [AW-1:0] msn_addr = init_valid ? init_addr : a_addr;
  wire [23:0]   msn_data = init_valid ? 24'd0 : a_msn;

  wire [1:0]    msns_bad;

  rf_many_parity #(.WIDTH(24), .AW(AW), .READS(2), .PARITY(PARITY)) msns (
    .clk(clk), .wr_en(msn_we), .wr_addr(msn_addr), .wr_data(msn_data), .rd_addr({j_addr, x_addr}),
    .rd_data({j_msn, x_msn}), .rd_bad(msns_bad));

  // Port heads, and `stored` of all lanes of the group that commits.
  localparam STORED_READS = (SELECTIVE != 0) ? 2 : 1;
  reg [IDX-1:0] head_q [0:GROUPS-1];

  wire [GW-1:0]    c_group = step_addr[AW-1:LW];
  wire [LW-1:0]    c_lane  = step_addr[LW-1:0];
  wire [IDX-1:0]   c_head  = head_q[c_group];
  wire [LANES-1:0] behind;
  wire [LANES-1:0] lanes_bad;
  wire [LANES*IDX-1:0] loads;
  wire [LANES*IDX-1:0] storeds;
  wire             advance = step_valid && behind == {LANES{1'b0}};

  assign h_head  = head_q[h_group];
  assign step_index = storeds[c_lane*IDX +: IDX];
  assign o_value = loads[o_load[LW-1:0]*IDX +: IDX];

  genvar l;
  generate
    for (l = 0; l < LANES; l = l + 1) begin : g_lane
      localparam [31:0] NUMBER = l;
      wire           mine      = c_lane == NUMBER[LW-1:0];
      wire           init_here = init_valid && init_addr[LW-1:0] == NUMBER[LW-1:0];
      wire           we        = init_here || (step_valid && mine);
      wire [GW-1:0]  addr      = init_here ? init_addr[AW-1:LW] : c_group;
      wire [IDX-1:0] stored;
`ifdef FORMAL
      wire [(IDX<<GW)-1:0] f_storeds;
`endif

      wire [2*GW-1:0]  stored_addr = {o_load[AW-1:LW], c_group};
      wire [2*IDX-1:0] stored_data;
      wire [1:0]       stored_bad;

      assign {loads[l*IDX +: IDX], stored} = stored_data;

      if (SELECTIVE == 0) begin : g_in_order
        wire unused_load = &{1'b0, stored_addr};

        assign stored_data[2*IDX-1:IDX] = {IDX{1'b0}};
        assign stored_bad[1]            = 1'b0;
      end

      rf_many_parity #(.WIDTH(IDX), .AW(GW), .READS(STORED_READS), .PARITY(PARITY)) stored_c (
        .clk(clk), .wr_en(we), .wr_addr(addr), .wr_data(init_here ? {IDX{1'b0}} : stored + 1'b1),
        .rd_addr(stored_addr[STORED_READS*GW-1:0]), .rd_data(stored_data[STORED_READS*IDX-1:0]),
        .rd_bad(stored_bad[STORED_READS-1:0])
`ifdef FORMAL
        , .f_mem(f_storeds)
`endif
      );

      assign lanes_bad[l] = (step_valid && (mine || step_members[l]) && stored_bad[0]) ||
                            (o_asks && o_load[LW-1:0] == NUMBER[LW-1:0] && stored_bad[1]);
      assign storeds[l*IDX +: IDX] = stored;
      assign behind[l] = step_members[l] && !mine && stored == c_head;
`ifdef FORMAL
      assign f_stored[l*IDX +: IDX] = f_storeds[IDX-1:0];
`endif
    end
  endgenerate

  // Words that were not requested may never have been written. Words read for the registers do not affect any decision.
  generate
    if (PARITY != 0) begin : g_parity
      reg bad_q;

      always @(posedge clk)
        if (rst) bad_q <= 1'b0;
        else bad_q <= n_bad || o_bad || lanes_bad != {LANES{1'b0}} ||
                      (j_valid && (nexts_bad[0] || sents_bad[3] || unas_bad[4] || far_bad || msns_bad[1])) ||
                      (n_asks && nexts_bad[2]) || (o_valid && nexts_bad[3]) || (a_valid && (sents_bad[2] || unas_bad[3])) ||
                      (r_valid && (sents_bad[1] || unas_bad[2])) || (t_valid && unas_bad[1]);

      assign bad = bad_q;
    end else begin : g_plain
      assign bad = 1'b0;
    end
  endgenerate

  wire unused_bad = &{1'b0, n_bad, o_bad, lanes_bad, nexts_bad, sents_bad, unas_bad, far_bad, msns_bad, a_valid, r_valid, t_valid,
                      n_asks};

  integer g;

  always @(posedge clk)
    if (rst) begin
      for (g = 0; g < GROUPS; g = g + 1) head_q[g] <= {IDX{1'b0}};
    end else begin
      if (advance) head_q[c_group] <= c_head + 1'b1;
      if (start_valid) head_q[start_group] <= {IDX{1'b0}};
    end

`ifdef FORMAL
  assign f_head      = head_q[0];
  assign f_run_addr  = {o_addr, n_addr};
  assign f_run_index = {o_index, n_index};
  assign f_next      = f_nexts[LANES*IDX-1:0];
  assign f_sent      = f_sents[LANES*IDX-1:0];
  assign f_una       = f_unas[LANES*IDX-1:0];
`endif

endmodule

`default_nettype wire
