// The readers of all ports, driven by any caller that satisfies pass_caller.v: they meet the requirements of rf_reduce
// (reduce_caller.v). At an arbitrary port every launched pass begins at the reduction in its turn and delivers, one
// after another, the beats of its lane from the first one of its slot on: as many as its packet has, and no others. Those
// who gave are the operands: a lane without one is passed over, unless it is the final one of a packet that has operands.
// Two ranks of a packet that disagree (type, operation, tag, length, two that give to a copy) are noticed and its result
// is dropped. Each copy of a pass is announced, with payload if its rank wants it and without if not, and the last pass of a
// packet says how many copies of either kind there are. Facts are arbitrary, of packets that the judge accepts: with an operand they are not empty, none is longer than the MTU.
`include "rf_regs.vh"

module pass_read #(
  parameter PORTS = 2,
  parameter LANES = 2,
  parameter GROUPS = 2,
  parameter GW = 1,
  parameter LW = 1,
  parameter PW = 1,
  parameter BEATS_MAX = 2,
  // 0: a box without directed groups. Every member gives and wants; facts are {opcode, pad, length}.
  parameter DIRECTED = 1
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
  // Bits of the parts of f_state of rf_reader, of what is told of a pass, and of that with {length, no operand}.
  localparam PREP       = 2*PORTS + GW + LW + PW + BANK_AW + 6;
  localparam KEPT       = 47;
  localparam RUN        = LW + BANK_AW + 20;
  localparam COPIES     = 11;
  localparam KIND       = 7;
  localparam TOLD       = LW + 8;
  localparam PASS       = TOLD + 14;
  localparam FW         = (DIRECTED != 0) ? 43 : 19;
  // Where the lane begins in the first part, and the members.
  localparam LANE_AT    = BANK_AW + PW + 4;
  localparam MEMBERS_AT = LANE_AT + LW + GW + PORTS;

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
  wire [PORTS-1:0]              was_busy;
  wire [PORTS-1:0]              was_valid;
  wire [PORTS-1:0]              was_valid_2;

  pass_caller #(
    .PORTS(PORTS), .LANES(LANES), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW), .BYTES_LOG2(BYTES_LOG2), .BANK_AW(BANK_AW),
    .HDR_AW(HDR_AW), .CREDIT_W(6)
  ) sched (
    .clk(clk), .rst(rst), .g_cfg(g_cfg), .g_dbase(g_dbase), .g_hbase(g_hbase), .g_members(g_members), .g_block(g_block),
    .g_ref(g_ref), .prep_busy(prep_busy), .valid(launch_valid), .member(launch_member), .block(launch_block),
    .group(launch_group), .lane(launch_lane), .index(launch_index), .first(launch_first), .final(launch_final),
    .level(launch_level), .dtype(launch_dtype), .op(launch_op), .ref_port(launch_ref), .beats(launch_beats),
    .beat(launch_beat), .slot(launch_slot), .open(open), .next_lane(next_lane), .of(of),
    .was_busy(was_busy), .was_valid(was_valid), .was_valid_2(was_valid_2));

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
        // Without directed groups the length is that of this member; here it is the one with the lowest number.
        if (DIRECTED == 0) assume ((g_members[g*LANES*PORTS +: PORTS] & ~({PORTS{1'b1}} << g_ref[g*PW +: PW])) == 0);
      end
      for (l = 0; l < LANES; l = l + 1) begin : g_lane
        wire [PORTS-1:0] members = g_members[(g*LANES+l)*PORTS +: PORTS];
        always @* assume ((l >= lanes || members != 0) && (members & ~block) == 0);
      end
    end
  endgenerate

  wire [PORTS-1:0]    run_frees;
  wire [PORTS-1:0]    differ;
  wire [PORTS-1:0]    pack_valid;
  wire [PORTS-1:0]    pack_drop;
  wire [PORTS-1:0]    fact_read;
  wire [PORTS-1:0]    beat_read;
  wire [PORTS*(LW+BANK_AW)-1:0] beat_addr;
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
  wire [PORTS*PREP-1:0] prep;
  wire [PORTS*KEPT-1:0] kept;
  wire [PORTS*RUN-1:0] run;
  wire [PORTS*COPIES-1:0] copied;
  wire [PORTS*KIND-1:0] told_kind;
  wire [PORTS-1:0]    copy_valid;
  wire [PORTS-1:0]    copy_wants;
  wire [PORTS*5-1:0]  pack_copies;
  wire [PORTS*5-1:0]  pack_fulls;
  reg  [PORTS*43-1:0] facts;
  wire [PORTS*FW-1:0] shown;
  wire [31:0]         cfg   = g_cfg[launch_group*32 +: 32];
  wire [13:0]         most  = 14'd1 << cfg[`RF_GROUP_CFG_MTU_LOG2_LSB +: `RF_GROUP_CFG_MTU_LOG2_BITS];

  generate
    for (p = 0; p < PORTS; p = p + 1) begin : g_port
      // Outputs that this proof does not use.
      wire [LW+3:0] fact_addr;
      wire        hdr_read;
      wire [LW+3:0] hdr_addr;
      wire        copy_repeat;
      wire        copy_ackreq;
      wire        copy_directed;
      wire        copy_mark;
      wire        pack_room;
      wire [5:0]  pack_length;
      wire [14:0] pack_tail;
      wire [5:0]  pack_beats;
      wire [4:0]  pack_hdrs;
      wire        bad_valid;
      wire        bad_group;
      wire [LW-1:0] bad_lane;
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
        .HDR_AW(HDR_AW), .CREDIT_W(6), .DIRECTED(DIRECTED), .PARITY(0)
      ) reader (
        .clk(clk), .rst(rst), .g_error(g_error), .g_directed(g_directed), .g_mark({GROUPS{1'b0}}),
        .launch_valid(launch_valid[p]), .launch_member(launch_member),
        .launch_copy(launch_copy[p]), .launch_room(1'b0), .launch_block(launch_block), .launch_group(launch_group),
        .launch_lane(launch_lane), .launch_index(launch_index), .launch_first(launch_first), .launch_final(launch_final),
        .launch_repeat(1'b0), .launch_queued(1'b0), .launch_ackreq(1'b0), .launch_level(launch_level), .launch_dtype(launch_dtype),
        .launch_op(launch_op), .launch_ref(launch_ref), .launch_lanes(5'd1), .launch_beats(launch_beats),
        .launch_beat(launch_beat), .launch_slot(launch_slot), .prep_busy(prep_busy[p]), .run_free(run_frees[p]),
        .run_frees(run_frees), .differs(differ[p]), .differ(differ), .fact_read(fact_read[p]), .fact_addr(fact_addr),
        .facts(shown), .hdr_read(hdr_read), .hdr_addr(hdr_addr), .beat_read(beat_read[p]), .beat_addr(beat_addr[p*(LW+BANK_AW) +: LW+BANK_AW]),
        .in_valid(in_valid[p]), .in_member(in_member[p]), .in_empty(in_empty[p]), .in_level(in_level[p*2 +: 2]), .in_dtype(in_dtype[p*4 +: 4]),
        .in_op(in_op[p*3 +: 3]), .in_first(in_first[p]), .in_final(in_final[p]), .in_last(in_last[p]),
        .fact_bad(1'b0), .beat_bad(1'b0),
        .copy_valid(copy_valid[p]), .copy_repeat(copy_repeat), .copy_ackreq(copy_ackreq), .copy_directed(copy_directed), .copy_wants(copy_wants[p]),
        .copy_mark(copy_mark), .bad_what(bad_what), .bad_got(bad_got), .bad_want(bad_want), .unmark_valid(unmark_valid),
        .unmark_group(unmark_group),
        .pack_valid(pack_valid[p]), .pack_room(pack_room), .pack_copies(pack_copies[p*5 +: 5]), .pack_fulls(pack_fulls[p*5 +: 5]), .pack_drop(pack_drop[p]),
        .pack_length(pack_length), .pack_tail(pack_tail), .pack_beats(pack_beats), .pack_hdrs(pack_hdrs),
        .bad_valid(bad_valid), .bad_group(bad_group), .bad_lane(bad_lane), .bad_index(bad_index), .end_valid(end_valid),
        .end_group(end_group), .idle(idle[p])
`ifdef FORMAL
        , .f_state({told_kind[p*KIND +: KIND], copied[p*COPIES +: COPIES], prep[p*PREP +: PREP], kept[p*KEPT +: KEPT], run[p*RUN +: RUN]})
`endif
      );

      // With directed groups the memory of the facts has an output register.
      reg        read_q;
      reg [42:0] word_q;

      always @(posedge clk) begin
        read_q <= fact_read[p];
        if (fact_read[p]) word_q <= fact_words[p*43 +: 43];
        if (DIRECTED != 0 ? read_q : fact_read[p]) facts[p*43 +: 43] <= (DIRECTED != 0) ? word_q : fact_words[p*43 +: 43];
      end

      assign shown[p*FW +: FW] = facts[p*43 +: FW];

      always @*
        if (fact_read[p]) begin
          assume ((fact_words[p*43 +: 13] != 0) == fact_words[p*43+42] && fact_words[p*43 +: 13] <= most);
          if (DIRECTED == 0) assume (fact_words[p*43+33 +: 10] == 10'h300);
        end
    end
  endgenerate

  // What is in preparation, kept and being read at each port (f_state of rf_reader): {there, facts there, members, block,
  // group, lane, first, final, level, first member, first beat}; {dropped, giver there, tag there, tag, type, operation,
  // spacing, pad, length}; {there, beats left, lane, beat, member, empty, level, type, operation, first, final}.
  wire [PORTS-1:0]    p_valid;
  wire [PORTS-1:0]    p_ready;
  wire [PORTS-1:0]    p_first;
  wire [PORTS-1:0]    p_final;
  wire [PORTS*GW-1:0] p_group;
  wire [PORTS-1:0]    r_valid;
  wire [PORTS-1:0]    r_first;
  wire [PORTS-1:0]    r_final;
  wire [PORTS-1:0]    r_member;
  wire [PORTS-1:0]    r_empty;
  wire [PORTS-1:0]    r_last;
  wire [PORTS*2-1:0]  r_level;
  wire [PORTS*4-1:0]  r_dtype;
  wire [PORTS*3-1:0]  r_op;
  wire [PORTS*6-1:0]  r_left;
  wire [PORTS*4-1:0]  r_beat;
  wire [PORTS*LW-1:0] r_lane;
  wire [PORTS-1:0]    k_giver;

  generate
    for (p = 0; p < PORTS; p = p + 1) begin : g_state
      assign {p_valid[p], p_ready[p]} = prep[p*PREP + MEMBERS_AT + PORTS +: 2];
      assign p_group[p*GW +: GW]      = prep[p*PREP + LANE_AT + LW +: GW];
      assign {p_first[p], p_final[p]} = prep[p*PREP + LANE_AT - 2 +: 2];
      assign {r_valid[p], r_left[p*6 +: 6], r_lane[p*LW +: LW], r_beat[p*4 +: 4], r_member[p], r_empty[p], r_level[p*2 +: 2],
              r_dtype[p*4 +: 4], r_op[p*3 +: 3], r_first[p], r_final[p]} = run[p*RUN +: RUN];
      assign r_last[p]  = r_left[p*6 +: 6] == 6'd1;
      assign k_giver[p] = kept[p*KEPT+45];
    end
  endgenerate

  // The same requirements where the passes are read, two cycles before they come to the reduction.
  wire [PORTS*4-1:0]  r_number;
  wire [PORTS*4-1:0]  r_beats;
  wire [PORTS-1:0]    r_inside;
  wire [PORTS-1:0]    r_more;
  wire [PORTS*11-1:0] r_same;
  wire [PORTS*4-1:0]  r_ages;

  reduce_caller #(.PORTS(PORTS), .BEATS_MAX(BEATS_MAX)) reading (
    .clk(clk), .rst(rst), .in_valid(r_valid), .in_member(r_member), .in_empty(r_empty), .in_level(r_level), .in_dtype(r_dtype), .in_op(r_op),
    .in_first(r_first), .in_final(r_final), .in_last(r_last), .beat(r_number), .beats(r_beats), .inside(r_inside), .more(r_more),
    .same_as(r_same), .ages(r_ages));

  wire [PORTS*4-1:0]  beat;
  wire [PORTS*4-1:0]  beats;
  wire [PORTS-1:0]    inside;
  wire [PORTS-1:0]    more;
  wire [PORTS*11-1:0] same;
  wire [PORTS*4-1:0]  ages;

  reduce_caller #(.PORTS(PORTS), .BEATS_MAX(BEATS_MAX)) reduce (
    .clk(clk), .rst(rst), .in_valid(in_valid), .in_member(in_member), .in_empty(in_empty), .in_level(in_level), .in_dtype(in_dtype), .in_op(in_op),
    .in_first(in_first), .in_final(in_final), .in_last(in_last), .beat(beat), .beats(beats), .inside(inside), .more(more),
    .same_as(same), .ages(ages));

  // A packet in progress at a port: its first lane has begun, and a lane is in preparation or to come; its group.
  wire [PORTS-1:0]    under;
  wire [PORTS*GW-1:0] under_of;

  // What comes to the reduction is what was read two cycles before.
  reg [PORTS*39-1:0] d1_q;
  reg [PORTS*39-1:0] d2_q;

  generate
    for (p = 0; p < PORTS; p = p + 1) begin : g_delayed
      wire [25:0] state = {r_number[p*4 +: 4], r_beats[p*4 +: 4], r_inside[p], r_more[p], r_same[p*11 +: 11], r_ages[p*4 +: 4], r_valid[p]};
      wire [12:0] side  = {r_empty[p], r_member[p], r_level[p*2 +: 2], r_dtype[p*4 +: 4], r_op[p*3 +: 3], r_first[p], r_final[p]};
      wire [25:0] was   = d2_q[p*39 +: 26];
      wire [12:0] its   = d2_q[p*39+26 +: 13];

      always @(posedge clk)
        if (rst) begin
          d1_q[p*39 +: 39] <= {13'd0, 8'd0, 2'd0, r_same[p*11 +: 11], r_ages[p*4 +: 4], 1'b0};
          d2_q[p*39 +: 39] <= {13'd0, 8'd0, 2'd0, 16'd0};
        end else begin
          d1_q[p*39 +: 39] <= {side, state};
          d2_q[p*39 +: 39] <= d1_q[p*39 +: 39];
        end

      always @*
        if (f_started && !rst) begin
          assert (in_valid[p] == was[0] && inside[p] == was[17] && more[p] == was[16] && beat[p*4 +: 4] == was[25:22]);
          if (in_valid[p]) assert (its == {in_empty[p], in_member[p], in_level[p*2 +: 2], in_dtype[p*4 +: 4], in_op[p*3 +: 3], in_first[p], in_final[p]});
          if (inside[p] || more[p]) assert (same[p*11 +: 11] == was[15:5] && ages[p*4 +: 4] == was[4:1]);
          if (more[p]) assert (beats[p*4 +: 4] == was[21:18]);
        end
    end
  endgenerate

  // One port: the pass in preparation, the one being read, those on their way to the reduction, the one at the reduction.
  (* anyconst *) reg [PW-1:0] at;

  always @* assume (rst == !f_started && at < PORTS);

  // {first beat of the slot, lane, group, operand here, first, final}: as told, the operand and the first lane still those
  // of the ranks.
  wire [TOLD-1:0] told = {launch_beat, launch_lane, launch_group, launch_member[at], launch_first, launch_final};
  reg  [PORTS-1:0] members_q;
  reg  [TOLD-1:0] prep_q;
  reg         busy_q;
  // It began in the cycle before.
  wire        begun = busy_q && !p_valid[at];

  // Operands of the lane; those of the packet so far, and the length of its first one.
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

  // The pass whose first beat is read now, as it must be, with {length, no operand}; it is kept until the next one.
  wire        s0_valid = begun && (any || (prep_q[0] && has));
  wire [PASS-1:0] s0   = {has_plen, !any, prep_q[TOLD-1:3], prep_q[2] && facts[at*43+42], !had, prep_q[0]};
  reg  [PASS-1:0] s0_q;
  wire [PASS-1:0] reads = s0_valid ? s0 : s0_q;

  // The same one and two cycles later.
  reg         s1_valid_q;
  reg         s2_valid_q;
  reg  [PASS-1:0] s1_q;
  reg  [PASS-1:0] s2_q;
  reg  [PASS-1:0] now_q;
  reg  [PASS-1:0] reads1_q;
  reg  [PASS-1:0] reads2_q;

  always @(posedge clk) begin
    busy_q <= !rst && p_valid[at];
    if (launch_valid[at]) prep_q <= told;
    if (launch_valid[at]) members_q <= launch_member;
    if (begun) {had_q, had_plen_q} <= {has, has_plen};
    if (s0_valid) s0_q <= s0;
    s1_valid_q <= !rst && s0_valid;
    s2_valid_q <= !rst && s1_valid_q;
    s1_q       <= s0;
    s2_q       <= s1_q;
    if (s2_valid_q) now_q <= s2_q;
    reads1_q   <= reads;
    reads2_q   <= reads1_q;
  end

  wire [PASS-1:0] pass = s2_valid_q ? s2_q : now_q;
  wire [TOLD-1:0] now = pass[TOLD-1:0];
  wire [12:0] plen = pass[PASS-1 -: 13];
  wire        none = pass[TOLD];
  wire [3:0]  k    = beat[at*4 +: 4];

  // What was read two cycles ago.
  reg        r1_q;
  reg        r2_q;
  reg  [LW+BANK_AW-1:0] a1_q;
  reg  [LW+BANK_AW-1:0] a2_q;

  always @(posedge clk) begin
    {r2_q, r1_q} <= rst ? 2'b00 : {r1_q, beat_read[at]};
    a1_q <= beat_addr[at*(LW+BANK_AW) +: LW+BANK_AW];
    a2_q <= a1_q;
  end

  wire [3:0] from = now[TOLD-1 -: 4] + k;

  always @*
    if (f_started && !rst) begin
      assert (s2_valid_q == (in_valid[at] && !inside[at]));
      if (in_valid[at]) begin
        assert (in_member[at] == now[2] && in_first[at] == now[1] && in_final[at] == now[0]);
        assert (in_empty[at] == none);
        assert (in_last[at] == ((k + 32'd1) << BYTES_LOG2 >= plen));
        if (in_member[at]) assert (a2_q == {now[4 +: LW], from});
      end
      assert (r2_q == (in_valid[at] && in_member[at]));
    end

  // Any rank of the packet before this one, and what it stated. If the two disagree, or two ranks before them have, then
  // this rank says so, and the result is dropped.
  (* anyconst *) reg [PW-1:0] x_port;
  (* anyconst *) reg [LW-1:0] x_lane;
  reg         x_was_q;
  reg  [42:0] x_q;
  reg         split_q;
  reg         unlike_q;

  wire [PORTS-1:0] in_block = g_block[prep_q[3]*PORTS +: PORTS];
  wire        x_now    = prep_q[4 +: LW] == x_lane;
  wire        x_before = x_now ? x_port < at && members_q[x_port] : x_was_q && !prep_q[1];
  wire [42:0] x        = x_now ? facts[x_port*43 +: 43] : x_q;
  wire [42:0] here     = facts[at*43 +: 43];
  wire        kinds    = here[39:33] != x[39:33];
  wire        tags     = (DIRECTED == 0) ? here[18:15] != x[18:15] : here[40] && x[40] && here[32:15] != x[32:15];
  wire        givers   = here[42] && x[42] && (here[14:0] != x[14:0] || here[35:33] == 3'd6);
  wire        split    = split_q && !prep_q[1];
  wire        unlike   = (differ & in_block) != 0;
  // The same after the lane that began in the cycle before.
  wire        split_now = begun ? split || unlike_q : split_q;
  wire        x_was     = !begun ? x_was_q : x_now ? members_q[x_port] : x_was_q && !prep_q[1];
  wire [42:0] x_fact    = (begun && x_now) ? facts[x_port*43 +: 43] : x_q;

  always @* assume (x_port < PORTS);

  always @(posedge clk) begin
    unlike_q <= unlike;
    split_q  <= split_now;
    x_was_q  <= x_was;
    x_q      <= x_fact;
  end

  always @*
    if (f_started && !rst && p_valid[at] && p_ready[at]) begin
      // Without directed groups all are compared with one of them.
      if (members_q[at] && x_before && !split && (kinds || tags || givers)) assert (differ[at] || (DIRECTED == 0 && unlike));
      if (pack_valid[at] && (unlike || split)) assert (pack_drop[at]);
    end

  // The copy of the pass in preparation; copies of the packet so far, and those with payload.
  reg         copy_q;
  reg         announced_q;
  reg  [4:0]  copies_q;
  reg  [4:0]  fulls_q;
  wire        wants  = DIRECTED == 0 || facts[at*43+41];
  wire        full   = copy_q && wants;
  wire [4:0]  copies = (prep_q[1] ? 5'd0 : copies_q) + {4'd0, copy_q};
  wire [4:0]  fulls  = (prep_q[1] ? 5'd0 : fulls_q) + {4'd0, full};
  wire [4:0]  copies_now = begun ? copies : copies_q;
  wire [4:0]  fulls_now  = begun ? fulls : fulls_q;

  always @(posedge clk) begin
    if (launch_valid[at]) copy_q <= launch_copy[at];
    announced_q <= copy_valid[at];
    copies_q    <= copies_now;
    fulls_q     <= fulls_now;
  end

  always @*
    if (f_started && !rst) begin
      if (copy_valid[at]) assert (p_valid[at] && copy_q && copy_wants[at] == wants);
      if (begun) assert (announced_q == copy_q);
      if (pack_valid[at]) assert (pack_copies[at*5 +: 5] == copies && pack_fulls[at*5 +: 5] == fulls);
      // Invariants.
      if (p_valid[at]) assert (copied[at*COPIES+10] == copy_q);
      if (under[at]) assert (copied[at*COPIES +: 10] == {copies_now, fulls_now});
    end

  // Invariants that make this inductive. First this port: what is in preparation, kept and read is what was told.
  wire [3:0] from_now = reads[TOLD-1 -: 4] + r_number[at*4 +: 4];

  always @*
    if (f_started && !rst) begin
      if (p_valid[at]) assert (prep_q == {prep[at*PREP +: 4], prep[at*PREP+LANE_AT +: LW], p_group[at*GW +: GW], members_q[at], p_first[at], p_final[at]});
      if (p_valid[at]) assert (members_q == prep[at*PREP+MEMBERS_AT +: PORTS]);
      assert (s0_valid == (r_valid[at] && !r_inside[at]));
      if (r_valid[at]) assert (reads[LW+3:0] == {r_lane[at*LW +: LW], reads[3], r_member[at], r_first[at], r_final[at]});
      if (r_valid[at]) assert (reads[TOLD] == r_empty[at] && reads[PASS-1 -: 13] == kept[at*KEPT +: 13] && r_beat[at*4 +: 4] == from_now);
      if (in_valid[at]) assert (pass == reads2_q);
      if (under[at] && split_now) assert (kept[at*KEPT+46]);
      if (under[at] && x_was && !split_now) begin
        assert (kept[at*KEPT+19 +: 7] == x_fact[39:33] && (!x_fact[40] || kept[at*KEPT+26 +: 19] == {1'b1, x_fact[32:15]}));
        if (x_fact[42]) assert (k_giver[at] && kept[at*KEPT +: 15] == x_fact[14:0]);
        if (DIRECTED == 0) assert (kept[at*KEPT+26 +: 4] == x_fact[18:15]);
      end
      if (under[at]) assert (had_now == k_giver[at] && (!had_now || had_plen == kept[at*KEPT +: 13]));
    end

  // A lane is to come at a port, and the group.
  reg  [PORTS-1:0]    to_come;
  reg  [PORTS*GW-1:0] to_come_of;
  integer             n;
  integer             m;

  always @* begin
    to_come    = {PORTS{1'b0}};
    to_come_of = {PORTS*GW{1'b0}};
    for (n = 0; n < PORTS; n = n + 1)
      for (m = 0; m < GROUPS; m = m + 1)
        if (open[m] && g_block[m*PORTS + n]) begin
          to_come[n]             = 1'b1;
          to_come_of[n*GW +: GW] = m[GW-1:0];
        end
  end

  generate
    for (g = 0; g < GROUPS; g = g + 1) begin : f_group
      wire [31:0] mine  = g_cfg[g*32 +: 32];
      wire [4:0]  lanes = mine[`RF_GROUP_CFG_LANES_LSB +: `RF_GROUP_CFG_LANES_BITS];

      always @*
        if (f_started && !rst && open[g]) assert (next_lane[g*LW +: LW] != 0 && next_lane[g*LW +: LW] < lanes);
      for (l = 0; l < GROUPS; l = l + 1) begin : f_other
        always @*
          if (f_started && !rst && open[g] && open[l] && g != l)
            assert ((g_block[g*PORTS +: PORTS] & g_block[l*PORTS +: PORTS]) == 0);
      end
    end
    for (p = 0; p < PORTS; p = p + 1) begin : f_port
      // In preparation: a lane of its group, and no other packet uses the port.
      wire [PORTS-1:0] members = prep[p*PREP+MEMBERS_AT +: PORTS];
      wire [3:0]       spacing = kept[p*KEPT+15 +: 4];
      wire [PORTS-1:0] block   = prep[p*PREP+LANE_AT+LW+GW +: PORTS];
      wire [GW-1:0]    of_prep = p_group[p*GW +: GW];
      wire [LW-1:0]    lane    = prep[p*PREP+LANE_AT +: LW];
      wire [31:0]      its     = g_cfg[of_prep*32 +: 32];
      wire [4:0]       lanes   = its[`RF_GROUP_CFG_LANES_LSB +: `RF_GROUP_CFG_LANES_BITS];

      always @*
        if (f_started && !rst && p_valid[p]) begin
          assert (block[p] && block == g_block[of_prep*PORTS +: PORTS] && lane < lanes);
          assert (members == g_members[(of_prep*LANES + lane)*PORTS +: PORTS] && prep[p*PREP+BANK_AW +: PW] == g_ref[of_prep*PW +: PW]);
          assert (prep[p*PREP+BANK_AW+PW +: 2] == its[`RF_GROUP_CFG_LEVEL_LSB +: `RF_GROUP_CFG_LEVEL_BITS]);
          assert (p_first[p] == (lane == 0) && p_final[p] == (lane + 32'd1 == lanes));
          assert (told_kind[p*KIND +: KIND] == {its[`RF_GROUP_CFG_DTYPE_LSB +: `RF_GROUP_CFG_DTYPE_BITS], its[`RF_GROUP_CFG_OP_LSB +: `RF_GROUP_CFG_OP_BITS]});
          assert (open[of_prep] == !p_final[p] && to_come[p] == !p_final[p]);
          if (open[of_prep]) assert (to_come_of[p*GW +: GW] == of_prep && next_lane[of_prep*LW +: LW] == lane + 1'b1);
        end

      // prep_busy may be low before the pass begins, if nothing delays it. It rises in the cycle after a launch only: rf_sched
      // decides on a launch one cycle before it.
      always @*
        if (f_started && !rst) begin
          if (prep_busy[p]) assert (p_valid[p] && (was_busy[p] || was_valid[p]));
          if (p_valid[p] && !prep_busy[p])
            assert ((was_valid[p] || was_valid_2[p] || was_busy[p]) && (p_ready[p] || was_valid[p]) && (block & r_valid) == 0 &&
                    (p_first[p] || spacing <= (p_ready[p] ? 4'd0 : 4'd1)));
          if (p_valid[p]) assert (p_ready[p] == (DIRECTED == 0 || !was_valid[p]));
        end

      // Kept and being read.
      assign under[p]             = p_valid[p] ? !p_first[p] : to_come[p];
      assign under_of[p*GW +: GW] = p_valid[p] ? of_prep : to_come_of[p*GW +: GW];

      wire [31:0] cfg_u   = g_cfg[under_of[p*GW +: GW]*32 +: 32];
      wire [1:0]  deep    = r_valid[p] ? r_level[p*2 +: 2] : cfg_u[`RF_GROUP_CFG_LEVEL_LSB +: `RF_GROUP_CFG_LEVEL_BITS];
      wire [12:0] words   = (kept[p*KEPT +: 13] + 13'd7) >> BYTES_LOG2;
      wire [3:0]  age     = r_ages[p*4 +: 4];
      // Type and operation: as stated; without directed groups those of the group.
      wire [6:0]  its_own = {cfg_u[`RF_GROUP_CFG_DTYPE_LSB +: `RF_GROUP_CFG_DTYPE_BITS], cfg_u[`RF_GROUP_CFG_OP_LSB +: `RF_GROUP_CFG_OP_BITS]};
      wire [6:0]  kind    = (DIRECTED != 0) ? kept[p*KEPT+19 +: 7] : under[p] ? its_own : {r_dtype[p*4 +: 4], r_op[p*3 +: 3]};

      always @*
        if (f_started && !rst) begin
          assert (spacing < `RF_REDUCE_PASS_MIN);
          if (under[p] && !k_giver[p]) assert (spacing == 4'd0);
          if ((under[p] && k_giver[p]) || r_valid[p]) assert (words != 0 && words <= BEATS_MAX);
          if (r_valid[p]) begin
            assert (k_giver[p] && r_left[p*6 +: 6] != 0 && words == r_left[p*6 +: 6] + r_number[p*4 +: 4]);
            assert ({r_dtype[p*4 +: 4], r_op[p*3 +: 3]} == kind);
            assert (r_final[p] == !under[p] && r_first[p] == !r_more[p]);
            if (under[p]) assert (r_level[p*2 +: 2] == cfg_u[`RF_GROUP_CFG_LEVEL_LSB +: `RF_GROUP_CFG_LEVEL_BITS]);
          end else assert (!r_inside[p] && r_more[p] == (under[p] && k_giver[p]));
          if (r_more[p]) assert (words == r_beats[p*4 +: 4] + 13'd1 && r_same[p*11 +: 9] == {kind, deep});
          if (r_more[p] && !r_inside[p]) assert (!r_same[p*11+10]);
          if (r_valid[p] && !r_inside[p]) assert (spacing == `RF_REDUCE_PASS_MIN - 1);
          else if (r_inside[p] || r_more[p])
            assert (spacing == 4'd0 ? age >= `RF_REDUCE_PASS_MIN - 1 : spacing + age == `RF_REDUCE_PASS_MIN - 1);
        end

      // All ports of a block agree.
      for (l = 0; l < PORTS; l = l + 1) begin : f_pair
        localparam [31:0] OTHER = l;
        localparam [31:0] THIS  = p;
        wire [2:0] base = THIS[2:0] & (3'b111 << r_level[p*2 +: 2]);

        always @*
          if (f_started && !rst && l != p) begin
            if (p_valid[p] && block[l]) assert (prep[p*PREP +: PREP] == prep[l*PREP +: PREP] && prep_busy[p] == prep_busy[l]);
            if (under[p] && g_block[under_of[p*GW +: GW]*PORTS + l]) assert (kept[p*KEPT +: KEPT] == kept[l*KEPT +: KEPT]);
            if (r_valid[p] && OTHER >= base && OTHER < base + (8'd1 << r_level[p*2 +: 2]))
              assert ({run[p*RUN+13 +: RUN-13], run[p*RUN +: 12]} == {run[l*RUN+13 +: RUN-13], run[l*RUN +: 12]});
          end
      end
    end
  endgenerate

  always @(posedge clk)
    if (f_started && !rst) begin
      cover (in_valid[at] && in_last[at] && in_final[at] && now[4 +: LW] != 0 && k == 4'd1 && at == 0);
      cover (in_valid == 2'b11 && in_first == 2'b01);
    end

  // Lanes without operands.
  generate
    if (DIRECTED != 0) begin : f_empty
      always @(posedge clk)
        if (f_started && !rst) begin
          cover (in_valid[at] && in_empty[at] && in_last[at] && k == 4'd1);
          cover (in_valid[at] && in_first[at] && in_final[at] && now[4 +: LW] != 0);
        end
    end
  endgenerate

endmodule
