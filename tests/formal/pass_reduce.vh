// rf_reduce with count.v in place of the adders. One arbitrary operand (the first or, of a 16-bit type, the second
// element of a port's beat in a pass) has the value 1, all others 0. At an arbitrary port every result has the expected
// value: 1 if that operand is of this element and beat, of any lane of this packet, of a member of this block, else 0.
// So each result contains every operand of its packet once, and no other. Results come in order, none is lost, each
// with the latency in the header.
`include "rf_start.vh"

localparam F_TREE  = `RF_FP_LATENCY * LEVELS;
localparam F_SHORT = `RF_REDUCE_LATENCY(PORTS) - 1;
localparam F_LONG  = F_SHORT + `RF_REDUCE_LANES_EXTRA;
// From in_valid to the write of the accumulator.
localparam F_KEEP  = F_TREE + 1 + `RF_FP_LATENCY;

(* anyconst *) reg [2:0] f_from;
(* anyconst *) reg [2:0] f_to;
(* anyconst *) reg       f_high;
(* anyseq *)   reg       f_pick;

reg                f_picked;
wire               f_now = f_pick && !f_picked && in_valid[f_from];
wire [PORTS*4-1:0] f_beat;
wire [PORTS*4-1:0] f_beats;
wire [PORTS-1:0]   f_inside;
wire [PORTS-1:0]   f_more;
wire [PORTS*11-1:0] f_same;

reduce_caller #(.PORTS(PORTS), .BEATS_MAX(BEATS_MAX)) caller (
  .clk(clk), .rst(rst), .in_valid(in_valid), .in_member(in_member), .in_empty(in_empty), .in_level(in_level), .in_dtype(in_dtype), .in_op(in_op),
  .in_first(in_first), .in_final(in_final), .in_last(in_last), .beat(f_beat), .beats(f_beats), .inside(f_inside),
  .more(f_more), .same_as(f_same));

integer f_p;
always @* begin
  assume (rst == !f_started);
  assume (f_from < PORTS && f_to < PORTS);
  for (f_p = 0; f_p < PORTS; f_p = f_p + 1)
    assume (in_data[f_p*WIDTH +: 2] == {1'b0, f_now && !f_high && f_from == f_p} &&
            in_data[f_p*WIDTH+16 +: 2] == {1'b0, f_now && f_high && f_from == f_p});
end

// The operand has the value 1: from then on until the result of the same beat of its packet was requested.
reg        f_waits;
reg  [3:0] f_at;
reg  [2:0] f_low;
wire [1:0] f_level = in_level[f_from*2 +: 2];
wire       f_near  = (f_from >> f_level) == (f_to >> f_level);
wire       f_mine  = f_now && in_member[f_from] && (!f_high || (is_half(as_dtype[f_from*4 +: 4])));
wire       f_same_beat = f_beat[f_from*4 +: 4] == f_at;
wire       f_end   = in_valid[f_from] && in_final[f_from] && (f_mine || (f_waits && f_same_beat));
wire       f_one   = f_end && f_near;
wire       f_asked = in_valid[f_to] && in_final[f_to];

always @(posedge clk)
  if (rst) f_picked <= 1'b0;
  else if (f_now) f_picked <= 1'b1;

always @(posedge clk)
  if (rst || f_end) f_waits <= 1'b0;
  else if (f_mine) f_waits <= 1'b1;

always @(posedge clk)
  if (f_mine) begin
    f_at  <= f_beat[f_from*4 +: 4];
    f_low <= (f_from >> f_level) << f_level;
  end

// Results that have not left, by their age.
reg  [F_LONG:0] f_there;
reg  [F_LONG:0] f_count;
reg  [F_LONG:0] f_last;
reg  [F_LONG:0] f_half;
reg  [F_LONG:0] f_oldest;
wire            f_out  = out_valid[f_to];
wire [F_LONG:0] f_stay = f_out ? f_there & ~f_oldest : f_there;
integer         f_n;

always @* begin
  f_oldest = {F_LONG+1{1'b0}};
  for (f_n = 0; f_n <= F_LONG; f_n = f_n + 1)
    if (f_there[f_n]) f_oldest = {{F_LONG{1'b0}}, 1'b1} << f_n;
end

always @(posedge clk)
  if (rst) f_there <= {F_LONG+1{1'b0}};
  else f_there <= {f_stay[F_LONG-1:0], f_asked};

always @(posedge clk) begin
  f_count <= {f_count[F_LONG-1:0], f_one};
  f_last  <= {f_last[F_LONG-1:0], in_last[f_to]};
  f_half  <= {f_half[F_LONG-1:0], (is_half(as_dtype[f_to*4 +: 4]))};
end

always @*
  if (!rst && f_started) begin
    assert (!f_stay[F_LONG]);
    if (f_out) begin
      assert (f_oldest[F_SHORT] || f_oldest[F_LONG]);
      assert (out_data[f_to*WIDTH +: 2] == {1'b0, (f_oldest & f_count) != 0 && !f_high});
      if ((f_oldest & f_half) != 0) assert (out_data[f_to*WIDTH+16 +: 2] == {1'b0, (f_oldest & f_count) != 0 && f_high});
      assert (out_last[f_to] == ((f_oldest & f_last) != 0));
    end
  end

// Invariants that make this inductive: the results on the long path; and history longer than any latency. Bit k of
// f_waited is f_waits k cycles ago.
reg [F_LONG:F_TREE+1] f_slow;

always @(posedge clk) f_slow <= {f_slow[F_LONG-1:F_TREE+1], late[f_to*PORTS +: PORTS] != {PORTS{1'b0}}};

always @*
  if (!rst && f_started) begin
    assert (f_out == ((f_there[F_SHORT] && !f_slow[F_SHORT]) || (f_there[F_LONG] && f_slow[F_LONG])));
    for (f_n = F_SHORT + 1; f_n <= F_LONG; f_n = f_n + 1) assert (!f_there[f_n] || f_slow[f_n]);
  end

reg [F_KEEP:0] f_waited;

always @* f_waited[0] = f_waits;
always @(posedge clk) f_waited[F_KEEP:1] <= rst ? {F_KEEP{1'b0}} : f_waited[F_KEEP-1:0];

always @*
  if (!rst && f_started) begin
    assert (f_picked || !f_waits);
    if (f_waits) begin
      assert (f_low <= f_from && f_at < BEATS_MAX && (f_inside[f_from] || f_more[f_from]));
      assert (f_low == ((f_from >> f_same[f_from*11 +: 2]) << f_same[f_from*11 +: 2]));
      assert (!f_more[f_from] || f_at <= f_beats[f_from*4 +: 4]);
      assert (f_more[f_from] || f_at < f_beat[f_from*4 +: 4]);
      assert (!f_inside[f_from] || !f_same[f_from*11+10] || f_at >= f_beat[f_from*4 +: 4]);
    end
  end

generate
  for (b = 0; b < PORTS; b = b + 1) begin : f_block
    localparam [31:0] AT = b;

    // {valid (lowest of its block), final, beat; between passes, between beats, last beat; the beat before: final, of a
    // block of which this is the lowest, 16-bit}
    reg [F_KEEP*16+15:0] was;

    wire [1:0] level   = in_level[b*2 +: 2];
    wire [1:0] held    = f_same[b*11 +: 2];
    wire       lowest  = (AT[2:0] & ~(3'b111 << level)) == 3'd0;
    wire       holds   = (AT[2:0] & ~(3'b111 << held)) == 3'd0;

    always @*
      was[15:0] = {in_valid[b] && lowest, in_final[b], f_beat[b*4 +: 4], f_more[b], f_inside[b], f_beats[b*4 +: 4], f_same[b*11+10], holds,
                f_same[b*11+2 +: 3] != `RF_DO_COPY && (is_half(f_same[b*11+5 +: 4])), 1'b0};

    for (k = 1; k <= F_KEEP; k = k + 1) begin : f_age
      always @(posedge clk) was[k*16 +: 16] <= rst ? 16'd0 : was[(k-1)*16 +: 16];
    end

    wire       soon_on    = was[(F_TREE)*16+15];
    wire [3:0] soon_beat  = was[(F_TREE)*16+10 +: 4];
    wire       now_on     = was[(F_TREE+1)*16+15];
    wire [3:0] now_beat   = was[(F_TREE+1)*16+10 +: 4];
    wire       keep_on    = was[(F_KEEP)*16+15] && !was[(F_KEEP)*16+14];
    wire [3:0] keep_beat  = was[(F_KEEP)*16+10 +: 4];
    wire       keep_more  = was[(F_KEEP)*16+9];
    wire       keep_in    = was[(F_KEEP)*16+8];
    wire [3:0] keep_beats = was[(F_KEEP)*16+4 +: 4];
    wire       keep_final = was[(F_KEEP)*16+3];
    wire       keep_holds = was[(F_KEEP)*16+2];
    wire       keep_half  = was[(F_KEEP)*16+1];

    always @*
      if (!rst && f_started) begin
        assert (f_rd[b*FW +: FW] == (soon_on ? soon_beat : 4'd0));
        assert (f_wr[b*FW +: FW] == (keep_on ? keep_beat : 4'd0));
        assert (g_block[b].start_q == (!now_on || now_beat == 4'd0));
      end

    for (k = 0; k < BEATS_MAX; k = k + 1) begin : f_word
      wire there = keep_holds && (keep_more ? k <= keep_beats && !(keep_in && keep_final && keep_beat > k) :
                                  keep_in && !keep_final && keep_beat > k);

      always @*
        if (!rst && f_started && there) begin
          assert (f_kept[((b<<FW)+k)*WIDTH +: 2] == {1'b0, f_waited[F_KEEP] && !f_high && f_low == b && f_at == k});
          if (keep_half)
            assert (f_kept_high[((b<<FW)+k)*WIDTH +: 2] == {1'b0, f_waited[F_KEEP] && f_high && f_low == b && f_at == k});
        end
    end
  end
endgenerate

reg f_lane;

always @(posedge clk)
  if (f_mine) f_lane <= !in_first[f_from] && !in_final[f_from] && f_from != f_to && f_beat[f_from*4 +: 4] == 4'd1;

always @(posedge clk)
  if (!rst && f_started) begin
    // The second lane of three, from another port; a packet of one lane after one on the long path; the short path.
    cover (f_out && f_lane && (f_oldest & f_count) != 0);
    cover (f_out && (f_oldest & f_count) != 0 && f_oldest[F_LONG] && f_there[F_LONG-1]);
    cover (f_out && (f_oldest & f_count) != 0 && f_oldest[F_SHORT] && f_from != f_to);
  end
