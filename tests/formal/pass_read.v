// The readers of all ports, driven by any caller that satisfies pass_caller.v: they meet the requirements of rf_reduce
// (reduce_caller.v). At an arbitrary port every launched pass begins at the reduction in its turn and delivers, one
// after another, the beats of its lane from the first one of its slot on: as many as its packet has, and no others. Those
// who gave are the operands: a lane without one is passed over, unless it is the final one of a packet that has operands.
// Facts are arbitrary, of packets that the judge accepts: with an operand they are not empty, none is longer than the MTU.
`include "rf_regs.vh"

module pass_read #(
  parameter PORTS = 2,
  parameter LANES = 2,
  parameter GROUPS = 2,
  parameter GW = 1,
  parameter LW = 1,
  parameter PW = 1,
  parameter BEATS_MAX = 2
) (
  input wire                clk,
  input wire                rst,
  input wire [GROUPS-1:0]   g_error,
  input wire [PORTS-1:0]    launch_valid,
  input wire [PORTS-1:0]    launch_member,
  input wire [PORTS-1:0]    launch_copy,
  input wire [PORTS-1:0]    launch_block,
  input wire [GW-1:0]       launch_group,
  input wire [LW-1:0]       launch_lane,
  input wire [23:0]         launch_index,
  input wire                launch_first,
  input wire                launch_final,
  input wire [1:0]          launch_level,
  input wire [3:0]          launch_dtype,
  input wire [2:0]          launch_op,
  input wire [PW-1:0]       launch_ref,
  input wire [5:0]          launch_beats,
  input wire [3:0]          launch_beat,
  input wire [3:0]          launch_slot,
  input wire [PORTS*43-1:0] fact_words
);

`include "rf_start.vh"
`include "rf_reduce.vh"

  localparam BYTES_LOG2 = 3;
  localparam BANK_AW    = 4;
  localparam HDR_AW     = 4;

  (* anyconst *) reg [GROUPS*32-1:0]          g_cfg;
  (* anyconst *) reg [GROUPS*32-1:0]          g_dbase;
  (* anyconst *) reg [GROUPS*32-1:0]          g_hbase;
  (* anyconst *) reg [GROUPS*PORTS-1:0]       g_block;
  (* anyconst *) reg [GROUPS*LANES*PORTS-1:0] g_members;
  (* anyconst *) reg [GROUPS*PW-1:0]          g_ref;
  (* anyconst *) reg [GROUPS-1:0]             g_directed;

  wire [PORTS-1:0]              prep_busy;
  wire [GROUPS-1:0]             open;
  wire [GROUPS*LW-1:0]          next_lane;
  wire [GROUPS*24-1:0]          of;

  pass_caller #(
    .PORTS(PORTS), .LANES(LANES), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW), .BYTES_LOG2(BYTES_LOG2), .BANK_AW(BANK_AW),
    .HDR_AW(HDR_AW), .CREDIT_W(6)
  ) sched (
    .clk(clk), .rst(rst), .g_cfg(g_cfg), .g_dbase(g_dbase), .g_hbase(g_hbase), .g_members(g_members), .g_block(g_block),
    .g_ref(g_ref), .prep_busy(prep_busy), .valid(launch_valid), .member(launch_member), .block(launch_block),
    .group(launch_group), .lane(launch_lane), .index(launch_index), .first(launch_first), .final(launch_final),
    .level(launch_level), .dtype(launch_dtype), .op(launch_op), .ref_port(launch_ref), .beats(launch_beats),
    .beat(launch_beat), .slot(launch_slot), .open(open), .next_lane(next_lane), .of(of));

  // Groups: a block of 2^level ports, as far as they exist; a rank in every lane; the first member is one of lane 0.
  genvar g;
  genvar l;
  genvar p;
  generate
    for (g = 0; g < GROUPS; g = g + 1) begin : g_group
      wire [31:0]      cfg   = g_cfg[g*32 +: 32];
      wire [1:0]       level = cfg[`RF_GROUP_CFG_LEVEL_LSB +: `RF_GROUP_CFG_LEVEL_BITS];
      wire [4:0]       lanes = cfg[`RF_GROUP_CFG_LANES_LSB +: `RF_GROUP_CFG_LANES_BITS];
      wire [2:0]       base  = cfg[`RF_GROUP_CFG_BASE_PORT_LSB +: `RF_GROUP_CFG_BASE_PORT_BITS];
      wire [PORTS-1:0] block = ~({PORTS{1'b1}} << (4'd1 << level)) << base;
      wire [31:0]      beats = (32'd1 << cfg[`RF_GROUP_CFG_MTU_LOG2_LSB +: `RF_GROUP_CFG_MTU_LOG2_BITS]) >> BYTES_LOG2;

      always @* begin
        assume (lanes >= 1 && lanes <= LANES && base < PORTS && (base & ~(3'b111 << level)) == 0);
        assume (g_block[g*PORTS +: PORTS] == block && beats >= 1 && beats <= BEATS_MAX);
        assume (g_members[g*LANES*PORTS + g_ref[g*PW +: PW]] && g_ref[g*PW +: PW] < PORTS);
      end
      for (l = 0; l < LANES; l = l + 1) begin : g_lane
        wire [PORTS-1:0] members = g_members[(g*LANES+l)*PORTS +: PORTS];
        always @* assume ((l >= lanes || members != 0) && (members & ~block) == 0);
      end
    end
  endgenerate

  wire [PORTS-1:0]    run_frees;
  wire [PORTS-1:0]    differ;
  wire [PORTS-1:0]    fact_read;
  wire [PORTS-1:0]    beat_read;
  wire [PORTS*5-1:0]  beat_addr;
  wire [PORTS-1:0]    in_valid;
  wire [PORTS-1:0]    in_member;
  wire [PORTS-1:0]    in_empty;
  wire [PORTS*2-1:0]  in_level;
  wire [PORTS*4-1:0]  in_dtype;
  wire [PORTS*3-1:0]  in_op;
  wire [PORTS-1:0]    in_first;
  wire [PORTS-1:0]    in_final;
  wire [PORTS-1:0]    in_last;
  wire [PORTS-1:0]    idle;
  wire [PORTS*40-1:0] kept;
  reg  [PORTS*43-1:0] facts;
  wire [31:0]         cfg   = g_cfg[launch_group*32 +: 32];
  wire [13:0]         most  = 14'd1 << cfg[`RF_GROUP_CFG_MTU_LOG2_LSB +: `RF_GROUP_CFG_MTU_LOG2_BITS];

  generate
    for (p = 0; p < PORTS; p = p + 1) begin : g_port
      // Outputs that this proof does not use.
      wire [4:0]  fact_addr;
      wire        hdr_read;
      wire [4:0]  hdr_addr;
      wire        copy_valid;
      wire        copy_repeat;
      wire        copy_ackreq;
      wire        copy_directed;
      wire        copy_wants;
      wire        copy_mark;
      wire        pack_valid;
      wire        pack_room;
      wire [4:0]  pack_copies;
      wire [4:0]  pack_fulls;
      wire        pack_drop;
      wire [5:0]  pack_length;
      wire [14:0] pack_tail;
      wire [5:0]  pack_beats;
      wire [4:0]  pack_hdrs;
      wire        bad_valid;
      wire        bad_group;
      wire        bad_lane;
      wire [23:0] bad_index;
      wire [1:0]  bad_what;
      wire [31:0] bad_got;
      wire [31:0] bad_want;
      wire        unmark_valid;
      wire        unmark_group;
      wire        end_valid;
      wire        end_group;

      rf_reader #(
        .PORT(p), .PORTS(PORTS), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW), .BYTES_LOG2(BYTES_LOG2), .BANK_AW(BANK_AW),
        .HDR_AW(HDR_AW), .CREDIT_W(6), .DIRECTED(1), .PARITY(0)
      ) reader (
        .clk(clk), .rst(rst), .g_error(g_error), .g_directed(g_directed), .g_mark({GROUPS{1'b0}}),
        .launch_valid(launch_valid[p]), .launch_member(launch_member),
        .launch_copy(launch_copy[p]), .launch_room(1'b0), .launch_block(launch_block), .launch_group(launch_group),
        .launch_lane(launch_lane), .launch_index(launch_index), .launch_first(launch_first), .launch_final(launch_final),
        .launch_repeat(1'b0), .launch_queued(1'b0), .launch_ackreq(1'b0), .launch_level(launch_level), .launch_dtype(launch_dtype),
        .launch_op(launch_op), .launch_ref(launch_ref), .launch_lanes(5'd1), .launch_beats(launch_beats),
        .launch_beat(launch_beat), .launch_slot(launch_slot), .prep_busy(prep_busy[p]), .run_free(run_frees[p]),
        .run_frees(run_frees), .differs(differ[p]), .differ(differ), .fact_read(fact_read[p]), .fact_addr(fact_addr),
        .facts(facts), .hdr_read(hdr_read), .hdr_addr(hdr_addr), .beat_read(beat_read[p]), .beat_addr(beat_addr[p*5 +: 5]),
        .in_valid(in_valid[p]), .in_member(in_member[p]), .in_empty(in_empty[p]), .in_level(in_level[p*2 +: 2]), .in_dtype(in_dtype[p*4 +: 4]),
        .in_op(in_op[p*3 +: 3]), .in_first(in_first[p]), .in_final(in_final[p]), .in_last(in_last[p]),
        .fact_bad(1'b0), .beat_bad(1'b0),
        .copy_valid(copy_valid), .copy_repeat(copy_repeat), .copy_ackreq(copy_ackreq), .copy_directed(copy_directed), .copy_wants(copy_wants),
        .copy_mark(copy_mark), .bad_what(bad_what), .bad_got(bad_got), .bad_want(bad_want), .unmark_valid(unmark_valid),
        .unmark_group(unmark_group),
        .pack_valid(pack_valid), .pack_room(pack_room), .pack_copies(pack_copies), .pack_fulls(pack_fulls), .pack_drop(pack_drop),
        .pack_length(pack_length), .pack_tail(pack_tail), .pack_beats(pack_beats), .pack_hdrs(pack_hdrs),
        .bad_valid(bad_valid), .bad_group(bad_group), .bad_lane(bad_lane), .bad_index(bad_index), .end_valid(end_valid),
        .end_group(end_group), .idle(idle[p])
`ifdef FORMAL
        , .f_kept(kept[p*40 +: 40])
`endif
      );

      always @(posedge clk)
        if (fact_read[p]) facts[p*43 +: 43] <= fact_words[p*43 +: 43];

      always @*
        if (fact_read[p]) assume ((fact_words[p*43 +: 13] != 0) == fact_words[p*43+42] && fact_words[p*43 +: 13] <= most);
    end
  endgenerate

  wire [PORTS*4-1:0] beat;
  wire [PORTS*4-1:0] beats;
  wire [PORTS-1:0]   inside;
  wire [PORTS-1:0]   more;
  wire [PORTS*11-1:0] same;

  reduce_caller #(.PORTS(PORTS), .BEATS_MAX(BEATS_MAX)) reduce (
    .clk(clk), .rst(rst), .in_valid(in_valid), .in_member(in_member), .in_empty(in_empty), .in_level(in_level), .in_dtype(in_dtype), .in_op(in_op),
    .in_first(in_first), .in_final(in_final), .in_last(in_last), .beat(beat), .beats(beats), .inside(inside), .more(more),
    .same_as(same));

  // One port: the pass in preparation, those on their way to the reduction, the one at the reduction.
  (* anyconst *) reg [PW-1:0] at;

  always @* assume (rst == !f_started && at < PORTS);

  // {first beat of the slot, lane, group, operand here, first, final}: as told, the operand and the first lane still those
  // of the ranks.
  wire [8:0]  told = {launch_beat, launch_lane, launch_group, launch_member[at], launch_first, launch_final};
  reg  [PORTS-1:0] members_q;
  reg  [8:0]  prep_q;
  reg         busy_q;
  reg         s1_valid_q;
  reg         s2_valid_q;
  reg  [8:0]  s1_q;
  reg  [8:0]  s2_q;
  reg  [8:0]  now_q;
  reg  [12:0] s1_plen_q;
  reg  [12:0] s2_plen_q;
  reg  [12:0] plen_q;
  // It began in the cycle before.
  wire        begun = busy_q && !prep_busy[at];

  // Operands of the lane; those of the packet so far, and the length of its first one.
  reg         s1_empty_q;
  reg         s2_empty_q;
  reg         now_empty_q;
  reg         had_q;
  reg  [12:0] had_plen_q;
  wire        had = had_q && !prep_q[1];
  reg         any;
  reg  [12:0] any_plen;
  integer     a;

  always @* begin
    any      = 1'b0;
    any_plen = 13'd0;
    for (a = PORTS - 1; a >= 0; a = a - 1)
      if (members_q[a] && facts[a*43+42]) begin
        any      = 1'b1;
        any_plen = facts[a*43 +: 13];
      end
  end

  wire        has      = had || any;
  wire [12:0] has_plen = had ? had_plen_q : any_plen;
  wire        had_now  = begun ? has : had_q;
  wire [12:0] had_plen = begun ? has_plen : had_plen_q;

  always @(posedge clk) begin
    busy_q <= !rst && prep_busy[at];
    if (launch_valid[at]) prep_q <= told;
    if (launch_valid[at]) members_q <= launch_member;
    if (begun) {had_q, had_plen_q} <= {has, has_plen};
    s1_valid_q <= !rst && begun && (any || (prep_q[0] && has));
    s2_valid_q <= !rst && s1_valid_q;
    s1_q       <= {prep_q[8:3], prep_q[2] && facts[at*43+42], !had, prep_q[0]};
    s1_empty_q <= !any;
    s2_empty_q <= s1_empty_q;
    s2_q       <= s1_q;
    s1_plen_q  <= has_plen;
    s2_plen_q  <= s1_plen_q;
    if (s2_valid_q) now_q <= s2_q;
    if (s2_valid_q) {now_empty_q, plen_q} <= {s2_empty_q, s2_plen_q};
  end

  wire [8:0]  now  = s2_valid_q ? s2_q : now_q;
  wire [12:0] plen = s2_valid_q ? s2_plen_q : plen_q;
  wire        none = s2_valid_q ? s2_empty_q : now_empty_q;
  wire [3:0]  k    = beat[at*4 +: 4];

  // What was read two cycles ago.
  reg        r1_q;
  reg        r2_q;
  reg  [4:0] a1_q;
  reg  [4:0] a2_q;

  always @(posedge clk) begin
    {r2_q, r1_q} <= rst ? 2'b00 : {r1_q, beat_read[at]};
    a1_q <= beat_addr[at*5 +: 5];
    a2_q <= a1_q;
  end

  wire [3:0] from = now[8:5] + k;

  always @*
    if (f_started && !rst) begin
      assert (s2_valid_q == (in_valid[at] && !inside[at]));
      if (in_valid[at]) begin
        assert (in_member[at] == now[2] && in_first[at] == now[1] && in_final[at] == now[0]);
        assert (in_empty[at] == none);
        assert (in_last[at] == ((k + 32'd1) << BYTES_LOG2 >= plen));
        if (in_member[at]) assert (a2_q == {now[4], from});
      end
      assert (r2_q == (in_valid[at] && in_member[at]));
    end

  // Invariants that make this inductive: values that are stable while a port is idle belong to the packet in progress
  // there, if any.
  always @*
    if (f_started && !rst && idle[at] && more[at]) assert (had_now && had_plen == kept[at*40 +: 13]);

  reg         under_at;

  always @* begin
    under_at = 1'b0;
    for (a = 0; a < GROUPS; a = a + 1)
      if (open[a] && g_block[a*PORTS + at]) under_at = 1'b1;
  end

  always @*
    if (f_started && !rst && idle[at] && under_at) assert (had_now == kept[at*40+39] && (!had_now || had_plen == kept[at*40 +: 13]));

  generate
    for (g = 0; g < GROUPS; g = g + 1) begin : f_group
      wire [31:0] mine  = g_cfg[g*32 +: 32];
      wire [4:0]  lanes = mine[`RF_GROUP_CFG_LANES_LSB +: `RF_GROUP_CFG_LANES_BITS];
      wire [1:0]  deep  = mine[`RF_GROUP_CFG_LEVEL_LSB +: `RF_GROUP_CFG_LEVEL_BITS];

      always @*
        if (f_started && !rst && open[g]) assert (next_lane[g*LW +: LW] != 0 && next_lane[g*LW +: LW] < lanes);
      for (l = 0; l < GROUPS; l = l + 1) begin : f_other
        always @*
          if (f_started && !rst && open[g] && open[l] && g != l)
            assert ((g_block[g*PORTS +: PORTS] & g_block[l*PORTS +: PORTS]) == 0);
      end
      for (p = 0; p < PORTS; p = p + 1) begin : f_here
        wire [12:0] words = (kept[p*40 +: 13] + 13'd7) >> BYTES_LOG2;
        wire [8:0]  form  = {kept[p*40+32 +: 7], deep};

        always @*
          if (f_started && !rst && idle[p] && open[g] && g_block[g*PORTS + p])
            assert (more[p] == kept[p*40+39] &&
                    (!more[p] || (same[p*11 +: 9] == form && !same[p*11+10] && words == beats[p*4 +: 4] + 13'd1)));
      end
    end
    // The readers of a packet in progress agree on what they keep, and on when its next pass may begin.
    for (g = 0; g < GROUPS; g = g + 1) begin : f_equal
      for (p = 1; p < PORTS; p = p + 1) begin : f_pair
        always @*
          if (f_started && !rst && open[g] && g_block[g*PORTS + p] && g_block[g*PORTS + p - 1] && idle[p] && idle[p-1])
            assert (kept[p*40+32 +: 8] == kept[(p-1)*40+32 +: 8] && kept[p*40 +: 23] == kept[(p-1)*40 +: 23]);
      end
    end
    for (p = 0; p < PORTS; p = p + 1) begin : f_port
      wire [GROUPS-1:0] under;
      wire [3:0]        spacing = kept[p*40+19 +: 4];
      wire [5:0]        left    = kept[p*40+23 +: 6];

      for (g = 0; g < GROUPS; g = g + 1) begin : f_under
        assign under[g] = open[g] && g_block[g*PORTS + p];
      end
      always @*
        if (f_started && !rst) begin
          assert (spacing < `RF_REDUCE_PASS_MIN);
          if (kept[p*40+29]) assert (left != 0 && left <= BEATS_MAX);
          if (idle[p]) assert (!inside[p] && more[p] == (under != 0 && kept[p*40+39]));
        end
    end
  endgenerate

  always @(posedge clk)
    if (f_started && !rst) begin
      cover (in_valid[at] && in_last[at] && in_final[at] && now[4] && k == 4'd1 && at == 0);
      cover (in_valid == 2'b11 && in_first == 2'b01);
      cover (in_valid[at] && in_empty[at] && in_last[at] && k == 4'd1);
      cover (in_valid[at] && in_first[at] && in_final[at] && now[4]);
    end

endmodule
