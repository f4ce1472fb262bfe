// rf_reader: reads one port's part of the passes: facts and header first, then the beats.
//
// Latency     launch to the first beat at the reduction: 4 cycles if no other pass is being read; with DIRECTED 5.
// Throughput  one beat per cycle, no gap between passes.
// Capacity    one pass in preparation, one being read.
// Handshake   launch only if prep_busy is low and was low in the last cycle, at the earliest 3 cycles after the last launch.
//             The readers of a block hold the same pass and begin it in the same cycle: each computes `go` from the same
//             signals of all ports.
// Reset       discards passes.
// Proved      tests/rtl/unit_reader.cpp; tests/formal/pass_read.proof; tests/rtl/core.
//
// During preparation the facts of all ranks are compared (rf_reader_compare). A packet whose ranks disagree is read
// normally, but its result is dropped. Only operands are read: a lane without one is skipped, unless it is the final
// lane of a packet that has operands. Its beats then carry no operand (in_empty). If nobody gave, nothing is read.

`include "rf_reduce.vh"

`default_nettype none

module rf_reader #(
  parameter PORT = 0,
  parameter PORTS = 4,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2,
  parameter BYTES_LOG2 = 6,
  parameter BANK_AW = 13,
  parameter HDR_AW = 9,
  parameter CREDIT_W = 10,
  // 1: groups may be directed.
  parameter DIRECTED = 1,
  // Bits of a fact (rf_bank).
  parameter FW = (DIRECTED != 0) ? 43 : 19,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                   clk,
  input  wire                   rst,
  input  wire [GROUPS-1:0]      g_error,
  input  wire [GROUPS-1:0]      g_directed,
  // The next first sending of the group carries a CE mark.
  input  wire [GROUPS-1:0]      g_mark,

  input  wire                   launch_valid,
  input  wire [PORTS-1:0]       launch_member,
  input  wire                   launch_copy,
  input  wire                   launch_room,
  input  wire [PORTS-1:0]       launch_block,
  input  wire [GW-1:0]          launch_group,
  input  wire [LW-1:0]          launch_lane,
  input  wire [23:0]            launch_index,
  input  wire                   launch_first,
  input  wire                   launch_final,
  input  wire                   launch_repeat,
  // It comes from a queue.
  input  wire                   launch_queued,
  input  wire                   launch_ackreq,
  input  wire [1:0]             launch_level,
  input  wire [3:0]             launch_dtype,
  input  wire [2:0]             launch_op,
  input  wire [PW-1:0]          launch_ref,
  input  wire [4:0]             launch_lanes,
  input  wire [CREDIT_W-1:0]    launch_beats,
  input  wire [BANK_AW-1:0]     launch_beat,
  input  wire [HDR_AW-1:0]      launch_slot,
  // A pass is in preparation, and it is not known yet when it will begin.
  output wire                   prep_busy,

  // Signals of the readers of all ports, including this one.
  output wire                   run_free,
  input  wire [PORTS-1:0]       run_frees,
  output wire                   differs,
  input  wire [PORTS-1:0]       differ,

  // Memories of this port; facts of all ports.
  output wire                   fact_read,
  output wire [LW+HDR_AW-1:0]   fact_addr,
  input  wire [PORTS*FW-1:0]    facts,
  // Parity error: in this port's facts; in a beat of this port (with in_valid).
  input  wire                   fact_bad,
  input  wire                   beat_bad,
  output wire                   hdr_read,
  output wire [LW+HDR_AW-1:0]   hdr_addr,
  output wire                   beat_read,
  output wire [LW+BANK_AW-1:0]  beat_addr,

  // To the reduction, with the beat that the bank outputs.
  output wire                   in_valid,
  output wire                   in_member,
  output wire                   in_empty,
  output wire [1:0]             in_level,
  output wire [3:0]             in_dtype,
  output wire [2:0]             in_op,
  output wire                   in_first,
  output wire                   in_final,
  output wire                   in_last,
  // The beat of the last cycle was wrong, and the connection that it belongs to.
  output wire                   lost_valid,
  output wire [GW-1:0]          lost_group,
  output wire [LW-1:0]          lost_lane,
  output wire [23:0]            lost_index,

  // A header is read for a copy; it is output 2 cycles later.
  output wire                   copy_valid,
  output wire                   copy_repeat,
  output wire                   copy_ackreq,
  // The group is directed; the rank wants the result; the copy carries a mark.
  output wire                   copy_directed,
  output wire                   copy_wants,
  output wire                   copy_mark,
  // A packet's last pass begins: number of copies, of those with payload, dropped, its beats, pad and payload bytes, the
  // room it had reserved.
  output wire                   pack_valid,
  output wire                   pack_room,
  output wire [4:0]             pack_copies,
  output wire [4:0]             pack_fulls,
  output wire                   pack_drop,
  output wire [CREDIT_W-1:0]    pack_length,
  output wire [14:0]            pack_tail,
  output wire [CREDIT_W-1:0]    pack_beats,
  output wire [4:0]             pack_hdrs,

  // The rank of this port differs from the first member, or its facts had a parity error.
  output wire                   bad_valid,
  output wire                   bad_parity,
  output wire [GW-1:0]          bad_group,
  output wire [LW-1:0]          bad_lane,
  output wire [23:0]            bad_index,
  // One cycle later: how it differs.
  output wire [1:0]             bad_what,
  output wire [31:0]            bad_got,
  output wire [31:0]            bad_want,
  // A marked copy has left with the packet: its group's mark is cleared.
  output wire                   unmark_valid,
  output wire [GW-1:0]          unmark_group,
  // A packet has been read (reported by the lowest port of the block).
  output wire                   end_valid,
  output wire [GW-1:0]          end_group,

  output wire                   idle
`ifdef FORMAL
  ,
  output wire [2*PORTS+GW+2*LW+PW+2*BANK_AW+CREDIT_W+84:0] f_state
`endif
);

  localparam [31:0] THIS = PORT;

  // Preparation.
  reg                prep_valid_q;
  reg [PORTS-1:0]    prep_members_q;
  reg                prep_copy_q;
  reg                prep_room_q;
  reg [PORTS-1:0]    prep_block_q;
  reg [GW-1:0]       prep_group_q;
  reg [LW-1:0]       prep_lane_q;
  reg [23:0]         prep_index_q;
  reg                prep_first_q;
  reg                prep_final_q;
  reg                prep_repeat_q;
  reg                prep_queued_q;
  reg                prep_ackreq_q;
  reg [1:0]          prep_level_q;
  reg [3:0]          prep_dtype_q;
  reg [2:0]          prep_op_q;
  reg [PW-1:0]       prep_ref_q;
  reg [4:0]          prep_lanes_q;
  reg [CREDIT_W-1:0] prep_beats_q;
  reg [BANK_AW-1:0]  prep_beat_q;
  reg [HDR_AW-1:0]   prep_slot_q;

  wire      go;
  // Cycles until the next lane of the packet may begin.
  reg [3:0] spacing_q;

  assign fact_read = launch_valid && launch_member[PORT];
  assign fact_addr = {launch_lane, launch_slot};

  always @(posedge clk)
    if (rst) prep_valid_q <= 1'b0;
    else if (launch_valid) prep_valid_q <= 1'b1;
    else if (go) prep_valid_q <= 1'b0;

  always @(posedge clk)
    if (launch_valid) begin
      prep_members_q <= launch_member;
      prep_copy_q   <= launch_copy;
      prep_room_q   <= launch_room;
      prep_block_q  <= launch_block;
      prep_group_q  <= launch_group;
      prep_lane_q   <= launch_lane;
      prep_index_q  <= launch_index;
      prep_first_q  <= launch_first;
      prep_final_q  <= launch_final;
      prep_repeat_q <= launch_repeat;
      prep_queued_q <= launch_queued;
      prep_ackreq_q <= launch_ackreq;
      prep_level_q  <= launch_level;
      prep_dtype_q  <= launch_dtype;
      prep_op_q     <= launch_op;
      prep_ref_q    <= launch_ref;
      prep_lanes_q  <= launch_lanes;
      prep_beats_q  <= launch_beats;
      prep_beat_q   <= launch_beat;
      prep_slot_q   <= launch_slot;
    end

  // With DIRECTED the memory of the facts has an output register: they are there one cycle later.
  wire prep_ready;
  // All readers of the block are free; in the next cycle enough time will have passed since the last pass of the packet.
  wire block_free;
  wire apart_soon;

  generate
    if (DIRECTED != 0) begin : g_late
      reg ready_q;

      always @(posedge clk)
        if (rst || launch_valid) ready_q <= 1'b0;
        else ready_q <= prep_valid_q;

      assign prep_ready = prep_valid_q && ready_q;
    end else begin : g_soon
      assign prep_ready = prep_valid_q;
    end
  endgenerate

  // Nothing delays a pass whose block is free when it is launched, or while its facts are read. rf_sched then selects the next
  // candidate before the pass begins, so the registers on the way cost no time between passes.
  localparam [3:0] APART = (DIRECTED != 0) ? 4'd2 : 4'd1;
  reg  busy_q;
  wire launch_free  = (launch_block & ~run_frees) == {PORTS{1'b0}};
  wire launch_apart = launch_first || spacing_q <= APART;

  always @(posedge clk)
    if (rst) busy_q <= 1'b0;
    else if (launch_valid) busy_q <= !(launch_free && launch_apart);
    else if (go || (!prep_ready && block_free && apart_soon)) busy_q <= 1'b0;

  assign prep_busy = busy_q;

  // What the facts say.
  wire        prep_member = prep_members_q[PORT];
  wire        directed    = DIRECTED != 0 && g_directed[prep_group_q];
  wire        unlike;
  wire [14:0] tail;
  wire        any;
  wire        some;
  wire        earlier;
  wire [3:0]  said_dtype;
  wire [2:0]  said_op;
  wire        gives;
  wire        wants;
`ifdef FORMAL
  // What rf_reader_compare keeps.
  wire [14:0] f_tail;
  wire        f_giver;
  wire [25:0] f_stated;
`endif

  rf_reader_compare #(.PORT(PORT), .PORTS(PORTS), .PW(PW), .FW(FW), .DIRECTED(DIRECTED)) compare (
    .clk(clk), .first(prep_first_q), .members(prep_members_q), .ref_port(prep_ref_q), .go(go), .facts(facts),
    .directed(directed), .index(prep_index_q[3:0]), .differs(unlike), .tail(tail), .any(any), .some(some),
    .earlier(earlier), .dtype(said_dtype), .op(said_op), .gives(gives), .wants(wants), .what(bad_what), .got(bad_got),
    .want(bad_want)
`ifdef FORMAL
    ,
    .f_tail(f_tail), .f_giver(f_giver), .f_stated(f_stated)
`endif
  );

  reg  [4:0]  copies_q;
  reg  [4:0]  fulls_q;
  reg         bad_q;
  reg         marked_q;

  wire [12:0] plen    = tail[12:0];
  wire [12:0] up      = plen + ((13'd1 << BYTES_LOG2) - 13'd1);
  wire [12:0] length  = up >> BYTES_LOG2;
  wire        bad     = (!prep_first_q && bad_q) || (differ & prep_block_q) != {PORTS{1'b0}} || g_error[prep_group_q];
  wire [4:0]  copies  = (prep_first_q ? 5'd0 : copies_q) + {4'd0, prep_copy_q};
  wire [4:0]  fulls   = (prep_first_q ? 5'd0 : fulls_q) + {4'd0, prep_copy_q && wants};
  // The copy carries a mark; one of the packet at this port does.
  wire        mark    = DIRECTED != 0 && g_mark[prep_group_q] && prep_copy_q && !prep_queued_q && gives;
  wire        marked  = mark || (!prep_first_q && marked_q);
  // The lane is read.
  wire        reads   = any || (prep_final_q && some);

  assign differs = prep_ready && prep_member && (unlike || fact_bad);
  assign go      = prep_ready && block_free && (prep_first_q || spacing_q == 4'd0);

  assign block_free = (prep_block_q & ~run_frees) == {PORTS{1'b0}};
  assign apart_soon = prep_first_q || spacing_q <= 4'd1;

  always @(posedge clk)
    if (go) begin
      copies_q <= copies;
      fulls_q  <= fulls;
      bad_q    <= bad;
      marked_q <= marked;
    end

  // First beats of two passes of one packet: RF_REDUCE_PASS_MIN cycles apart. The packet before it may have had another
  // block: a first lane that is not read makes all readers of the block equal.
  localparam [31:0] SPACING = `RF_REDUCE_PASS_MIN - 1;

  always @(posedge clk)
    if (rst) spacing_q <= 4'd0;
    else if (go && reads) spacing_q <= SPACING[3:0];
    else if (go && prep_first_q) spacing_q <= 4'd0;
    else if (spacing_q != 4'd0) spacing_q <= spacing_q - 4'd1;

  assign hdr_read    = go && prep_copy_q;
  assign hdr_addr    = {prep_lane_q, prep_slot_q};
  assign copy_valid  = hdr_read;
  assign copy_repeat = prep_repeat_q;
  assign copy_ackreq = prep_ackreq_q;
  assign copy_directed = directed;
  assign copy_wants  = wants;
  assign copy_mark   = mark;
  assign pack_valid  = go && prep_final_q;
  assign pack_room   = prep_room_q;
  assign pack_copies = copies;
  assign pack_fulls  = fulls;
  assign pack_drop   = bad;
  assign pack_length = length[CREDIT_W-1:0];
  assign pack_tail   = tail;
  assign pack_beats  = prep_beats_q;
  assign pack_hdrs   = prep_lanes_q;
  assign bad_valid   = go && differs;
  assign bad_parity  = fact_bad;
  assign bad_group   = prep_group_q;
  assign bad_lane    = prep_lane_q;
  assign bad_index   = prep_index_q;
  assign unmark_valid = pack_valid && marked;
  assign unmark_group = prep_group_q;

  // Reading.
  reg                  run_valid_q;
  reg [CREDIT_W-1:0]   run_left_q;
  reg [LW-1:0]         run_lane_q;
  reg [BANK_AW-1:0]    run_beat_q;
  reg                  run_member_q;
  reg                  run_empty_q;
  reg [1:0]            run_level_q;
  reg [3:0]            run_dtype_q;
  reg [2:0]            run_op_q;
  reg                  run_first_q;
  reg                  run_final_q;
  reg                  run_tells_q;
  reg [GW-1:0]         run_group_q;
  // A packet without operands has been prepared: nothing of it is read.
  reg                  nothing_q;

  wire run_last = run_left_q == {{CREDIT_W-1{1'b0}}, 1'b1};
  // Type and operation: those of the packet.
  wire [3:0] dtype = (DIRECTED == 0) ? prep_dtype_q : said_dtype;
  wire [2:0] op    = (DIRECTED == 0) ? prep_op_q : said_op;

  // This port is the lowest one of the block.
  wire [PORTS-1:0] below = prep_block_q & ~({PORTS{1'b1}} << PORT);

  assign run_free  = !run_valid_q || run_last;
  assign beat_read = run_valid_q && run_member_q;
  assign beat_addr = {run_lane_q, run_beat_q};
  assign end_valid = run_tells_q && (nothing_q || (run_valid_q && run_last && run_final_q));
  assign end_group = run_group_q;

  always @(posedge clk)
    if (rst) run_valid_q <= 1'b0;
    else if (go) run_valid_q <= reads;
    else if (run_last) run_valid_q <= 1'b0;

  always @(posedge clk)
    if (rst) nothing_q <= 1'b0;
    else nothing_q <= go && prep_final_q && !some;

  always @(posedge clk)
    if (go) run_left_q <= length[CREDIT_W-1:0];
    else if (run_valid_q) run_left_q <= run_left_q - 1'b1;

  always @(posedge clk)
    if (go) run_beat_q <= prep_beat_q;
    else if (run_valid_q) run_beat_q <= run_beat_q + 1'b1;

  always @(posedge clk)
    if (go) begin
      run_lane_q   <= prep_lane_q;
      run_member_q <= gives;
      run_empty_q  <= !any;
      run_level_q  <= prep_level_q;
      run_dtype_q  <= dtype;
      run_op_q     <= op;
      run_first_q  <= !earlier;
      run_final_q  <= prep_final_q;
      run_tells_q  <= below == {PORTS{1'b0}};
      run_group_q  <= prep_group_q;
    end

  // The read latency of the bank is 2 cycles.
  reg       b1_valid_q;
  reg       b2_valid_q;
  reg [13:0] b1_side_q;
  reg [13:0] b2_side_q;

  always @(posedge clk)
    if (rst) {b2_valid_q, b1_valid_q} <= 2'b00;
    else {b2_valid_q, b1_valid_q} <= {b1_valid_q, run_valid_q};

  always @(posedge clk)
    if (run_valid_q)
      b1_side_q <= {run_empty_q, run_member_q, run_level_q, run_dtype_q, run_op_q, run_first_q, run_final_q, run_last};

  always @(posedge clk)
    if (b1_valid_q) b2_side_q <= b1_side_q;

  assign in_valid = b2_valid_q;
  assign {in_empty, in_member, in_level, in_dtype, in_op, in_first, in_final, in_last} = b2_side_q;

  assign idle = !prep_valid_q && !nothing_q && !run_valid_q && !b1_valid_q && !b2_valid_q;

  // The connection of the beat with a parity error.
  generate
    if (PARITY != 0) begin : g_parity
      localparam NW = GW + LW + 24;

      reg [23:0]   run_index_q;
      reg [NW-1:0] b1_name_q;
      reg [NW-1:0] b2_name_q;
      reg [NW-1:0] b3_name_q;
      reg          b3_bad_q;

      always @(posedge clk)
        if (go) run_index_q <= prep_index_q;

      always @(posedge clk)
        if (run_valid_q) b1_name_q <= {run_group_q, run_lane_q, run_index_q};

      always @(posedge clk)
        if (b1_valid_q) b2_name_q <= b1_name_q;

      always @(posedge clk)
        if (b2_valid_q) b3_name_q <= b2_name_q;

      always @(posedge clk)
        if (rst) b3_bad_q <= 1'b0;
        else b3_bad_q <= b2_valid_q && in_member && beat_bad;

      assign lost_valid = b3_bad_q;
      assign {lost_group, lost_lane, lost_index} = b3_name_q;
    end else begin : g_plain
      wire unused_bad = beat_bad;

      assign lost_valid = 1'b0;
      assign {lost_group, lost_lane, lost_index} = {GW + LW + 24{1'b0}};
    end
  endgenerate

`ifdef FORMAL
  // Copies of this port; in preparation; kept for the next lane; being read.
  assign f_state = {prep_dtype_q, prep_op_q, prep_copy_q, copies_q, fulls_q, prep_valid_q, prep_ready, prep_members_q, prep_block_q, prep_group_q, prep_lane_q, prep_first_q,
                    prep_final_q, prep_level_q, prep_ref_q, prep_beat_q,
                    bad_q, f_giver, f_stated, spacing_q, f_tail,
                    run_valid_q, run_left_q, run_lane_q, run_beat_q, run_member_q, run_empty_q, run_level_q, run_dtype_q,
                    run_op_q, run_first_q, run_final_q};
`endif

  wire unused_bits = &{1'b0, apart_soon, up, length, THIS, said_dtype, said_op, earlier, prep_dtype_q, prep_op_q, g_directed, g_mark};

endmodule

`default_nettype wire
