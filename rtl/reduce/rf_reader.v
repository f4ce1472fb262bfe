// rf_reader: reads one port's part of the passes: facts and header first, then the beats.
//
// Latency     launch to the first beat at the reduction: 4 cycles if no other pass is being read.
// Throughput  one beat per cycle, no gap between passes.
// Capacity    one pass in preparation, one being read.
// Handshake   launch only while prep_busy is low. The readers of a block hold the same pass and begin it in the same
//             cycle: each computes `go` from the same signals of all ports.
// Reset       discards passes.
// Proved      tests/rtl/unit_reader.cpp; tests/formal/pass_read.proof; tests/rtl/core.
//
// During preparation the facts (opcode, pad, length) of all ranks are compared with those of the first member. A packet
// whose ranks disagree is read normally, but its result is dropped.

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
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                   clk,
  input  wire                   rst,
  input  wire [GROUPS-1:0]      g_error,

  input  wire                   launch_valid,
  input  wire                   launch_member,
  input  wire                   launch_copy,
  input  wire                   launch_room,
  input  wire [PORTS-1:0]       launch_block,
  input  wire [GW-1:0]          launch_group,
  input  wire [LW-1:0]          launch_lane,
  input  wire [23:0]            launch_index,
  input  wire                   launch_first,
  input  wire                   launch_final,
  input  wire                   launch_repeat,
  input  wire                   launch_ackreq,
  input  wire [1:0]             launch_level,
  input  wire [3:0]             launch_dtype,
  input  wire [2:0]             launch_op,
  input  wire [PW-1:0]          launch_ref,
  input  wire [4:0]             launch_lanes,
  input  wire [CREDIT_W-1:0]    launch_beats,
  input  wire [BANK_AW-1:0]     launch_beat,
  input  wire [HDR_AW-1:0]      launch_slot,
  output wire                   prep_busy,

  // Signals of the readers of all ports, including this one.
  output wire                   run_free,
  input  wire [PORTS-1:0]       run_frees,
  output wire                   differs,
  input  wire [PORTS-1:0]       differ,

  // Memories of this port; facts of all ports.
  output wire                   fact_read,
  output wire [LW+HDR_AW-1:0]   fact_addr,
  input  wire [PORTS*19-1:0]    facts,
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
  output wire [12:0]            copy_plen,
  // A packet's last pass begins: number of copies, dropped, its beats, pad and payload bytes, the room it had reserved.
  output wire                   pack_valid,
  output wire                   pack_room,
  output wire [4:0]             pack_copies,
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
  // A packet has been read (reported by the lowest port of the block).
  output wire                   end_valid,
  output wire [GW-1:0]          end_group,

  output wire                   idle
`ifdef FORMAL
  ,
  output wire [CREDIT_W+25:0]     f_kept
`endif
);

  localparam [31:0] THIS = PORT;

  // Preparation.
  reg                prep_valid_q;
  reg                prep_member_q;
  reg                prep_copy_q;
  reg                prep_room_q;
  reg [PORTS-1:0]    prep_block_q;
  reg [GW-1:0]       prep_group_q;
  reg [LW-1:0]       prep_lane_q;
  reg [23:0]         prep_index_q;
  reg                prep_first_q;
  reg                prep_final_q;
  reg                prep_repeat_q;
  reg                prep_ackreq_q;
  reg [1:0]          prep_level_q;
  reg [3:0]          prep_dtype_q;
  reg [2:0]          prep_op_q;
  reg [PW-1:0]       prep_ref_q;
  reg [4:0]          prep_lanes_q;
  reg [CREDIT_W-1:0] prep_beats_q;
  reg [BANK_AW-1:0]  prep_beat_q;
  reg [HDR_AW-1:0]   prep_slot_q;

  wire go;

  assign prep_busy = prep_valid_q;
  assign fact_read = launch_valid && launch_member;
  assign fact_addr = {launch_lane, launch_slot};

  always @(posedge clk)
    if (rst) prep_valid_q <= 1'b0;
    else if (launch_valid) prep_valid_q <= 1'b1;
    else if (go) prep_valid_q <= 1'b0;

  always @(posedge clk)
    if (launch_valid) begin
      prep_member_q <= launch_member;
      prep_copy_q   <= launch_copy;
      prep_room_q   <= launch_room;
      prep_block_q  <= launch_block;
      prep_group_q  <= launch_group;
      prep_lane_q   <= launch_lane;
      prep_index_q  <= launch_index;
      prep_first_q  <= launch_first;
      prep_final_q  <= launch_final;
      prep_repeat_q <= launch_repeat;
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

  // Facts: those of the first member are kept for the other lanes.
  reg  [18:0] norm_q;
  reg  [4:0]  copies_q;
  reg         bad_q;
  reg  [3:0]  spacing_q;

  wire [18:0] mine    = facts[PORT*19 +: 19];
  wire [18:0] norm     = prep_first_q ? facts[prep_ref_q*19 +: 19] : norm_q;
  wire [12:0] plen    = norm[12:0];
  wire [12:0] up      = plen + ((13'd1 << BYTES_LOG2) - 13'd1);
  wire [12:0] length  = up >> BYTES_LOG2;
  wire        bad     = (!prep_first_q && bad_q) || (differ & prep_block_q) != {PORTS{1'b0}} || g_error[prep_group_q];
  wire [4:0]  copies  = (prep_first_q ? 5'd0 : copies_q) + {4'd0, prep_copy_q};

  assign differs = prep_valid_q && prep_member_q && (mine != norm || fact_bad);
  assign go      = prep_valid_q && (prep_block_q & ~run_frees) == {PORTS{1'b0}} &&
                   (prep_first_q || spacing_q == 4'd0);

  always @(posedge clk)
    if (go) begin
      norm_q   <= norm;
      copies_q <= copies;
      bad_q    <= bad;
    end

  // First beats of two passes of one packet: RF_REDUCE_PASS_MIN cycles apart.
  localparam [31:0] SPACING = `RF_REDUCE_PASS_MIN - 1;

  always @(posedge clk)
    if (rst) spacing_q <= 4'd0;
    else if (go) spacing_q <= SPACING[3:0];
    else if (spacing_q != 4'd0) spacing_q <= spacing_q - 4'd1;

  assign hdr_read    = go && prep_copy_q;
  assign hdr_addr    = {prep_lane_q, prep_slot_q};
  assign copy_valid  = hdr_read;
  assign copy_repeat = prep_repeat_q;
  assign copy_ackreq = prep_ackreq_q;
  assign copy_plen   = plen;
  assign pack_valid  = go && prep_final_q;
  assign pack_room   = prep_room_q;
  assign pack_copies = copies;
  assign pack_drop   = bad;
  assign pack_length = length[CREDIT_W-1:0];
  assign pack_tail   = norm[14:0];
  assign pack_beats  = prep_beats_q;
  assign pack_hdrs   = prep_lanes_q;
  assign bad_valid   = go && differs;
  assign bad_parity  = fact_bad;
  assign bad_group   = prep_group_q;
  assign bad_lane    = prep_lane_q;
  assign bad_index   = prep_index_q;

  // Reading.
  reg                  run_valid_q;
  reg [CREDIT_W-1:0]   run_left_q;
  reg [LW-1:0]         run_lane_q;
  reg [BANK_AW-1:0]    run_beat_q;
  reg                  run_member_q;
  reg [1:0]            run_level_q;
  reg [3:0]            run_dtype_q;
  reg [2:0]            run_op_q;
  reg                  run_first_q;
  reg                  run_final_q;
  reg                  run_tells_q;
  reg [GW-1:0]         run_group_q;

  wire run_last = run_left_q == {{CREDIT_W-1{1'b0}}, 1'b1};
  // This port is the lowest one of the block.
  wire [PORTS-1:0] below = prep_block_q & ~({PORTS{1'b1}} << PORT);

  assign run_free  = !run_valid_q || run_last;
  assign beat_read = run_valid_q && run_member_q;
  assign beat_addr = {run_lane_q, run_beat_q};
  assign end_valid = run_valid_q && run_last && run_final_q && run_tells_q;
  assign end_group = run_group_q;

  always @(posedge clk)
    if (rst) run_valid_q <= 1'b0;
    else if (go) run_valid_q <= 1'b1;
    else if (run_last) run_valid_q <= 1'b0;

  always @(posedge clk)
    if (go) run_left_q <= length[CREDIT_W-1:0];
    else if (run_valid_q) run_left_q <= run_left_q - 1'b1;

  always @(posedge clk)
    if (go) run_beat_q <= prep_beat_q;
    else if (run_valid_q) run_beat_q <= run_beat_q + 1'b1;

  always @(posedge clk)
    if (go) begin
      run_lane_q   <= prep_lane_q;
      run_member_q <= prep_member_q;
      run_level_q  <= prep_level_q;
      run_dtype_q  <= prep_dtype_q;
      run_op_q     <= prep_op_q;
      run_first_q  <= prep_first_q;
      run_final_q  <= prep_final_q;
      run_tells_q  <= below == {PORTS{1'b0}};
      run_group_q  <= prep_group_q;
    end

  // The read latency of the bank is 2 cycles.
  reg       b1_valid_q;
  reg       b2_valid_q;
  reg [12:0] b1_side_q;
  reg [12:0] b2_side_q;

  always @(posedge clk)
    if (rst) {b2_valid_q, b1_valid_q} <= 2'b00;
    else {b2_valid_q, b1_valid_q} <= {b1_valid_q, run_valid_q};

  always @(posedge clk)
    if (run_valid_q)
      b1_side_q <= {run_member_q, run_level_q, run_dtype_q, run_op_q, run_first_q, run_final_q, run_last};

  always @(posedge clk)
    if (b1_valid_q) b2_side_q <= b1_side_q;

  assign in_valid = b2_valid_q;
  assign {in_member, in_level, in_dtype, in_op, in_first, in_final, in_last} = b2_side_q;

  assign idle = !prep_valid_q && !run_valid_q && !b1_valid_q && !b2_valid_q;

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
  assign f_kept = {2'd0, run_valid_q, run_left_q, spacing_q, norm_q};
`endif

  wire unused_bits = &{1'b0, up, length, THIS};

endmodule

`default_nettype wire
