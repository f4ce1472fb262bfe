// rf_port_tx: selects the frame that leaves by one port. Results come first; an ACK may follow each of them, and a
// frame of the firmware may follow RESULTS of them. Foreign frames that compete with results get `share` sixteenths of
// the beats.
//
// Latency     a result when the port is idle: 0 cycles. Others: 1 cycle.
// Throughput  no bubble between results, nor between a result and one frame of another source.
// Capacity    none.
// Handshake   each source has e_* for the frame and p_* for its beats, as rf_egress. A frame once offered stays
//             selected. Beats are offered when the header is taken or later, so p_valid depends on e_ready; e_ready must not
//             depend on p_valid.
// Reset       selects results.
// Proved      tests/formal/stream_port_tx.proof; tests/rtl/unit_port_tx.cpp; tests/rtl/core.

`default_nettype none

module rf_port_tx #(
  parameter WIDTH = 512,
  // Results that may be sent while a frame of the firmware waits.
  parameter RESULTS = 8
) (
  input  wire             clk,
  input  wire             rst,

  // Sixteenths of the port's beats for waiting foreign frames; 0: only the beats that the others leave unused.
  input  wire [3:0]       share,

  // Results. An empty packet has no beats; those on offer belong to a later one. next_*: as those of rf_results.
  input  wire             res_next_beat,
  input  wire             res_next_copy,
  input  wire             res_next_empty,
  input  wire             res_e_valid,
  output wire             res_e_ready,
  input  wire [639:0]     res_e_hdr,
  input  wire [6:0]       res_e_hlen,
  input  wire [13:0]      res_e_plen,
  input  wire             res_e_empty,
  input  wire             res_p_valid,
  output wire             res_p_ready,
  input  wire [WIDTH-1:0] res_p_data,
  input  wire             res_p_last,
  // ACKs.
  input  wire             ack_e_valid,
  output wire             ack_e_ready,
  input  wire [639:0]     ack_e_hdr,
  input  wire [6:0]       ack_e_hlen,
  // Foreign frames.
  input  wire             for_e_valid,
  output wire             for_e_ready,
  // Another frame waits after the one on offer.
  input  wire             for_more,
  input  wire [13:0]      for_e_len,
  input  wire             for_p_valid,
  output wire             for_p_ready,
  input  wire [WIDTH-1:0] for_p_data,
  input  wire             for_p_last,
  // Frame of the firmware.
  input  wire             inj_valid,
  output wire             inj_ready,
  input  wire [13:0]      inj_len,
  input  wire [WIDTH-1:0] inj_data,
  input  wire             inj_last,

  output wire             e_valid,
  input  wire             e_ready,
  output wire             e_raw,
  output wire [639:0]     e_hdr,
  output wire [6:0]       e_hlen,
  output wire [13:0]      e_plen,
  output wire [13:0]      e_len,
  output wire             p_valid,
  input  wire             p_ready,
  output wire [WIDTH-1:0] p_data,
  output wire             p_last,

  // A frame was taken: of the results, the ACKs, the foreign frames, the firmware.
  output wire [3:0]       sent,
  output wire             idle
);

  localparam [1:0] RES = 2'd0;
  localparam [1:0] ACK = 2'd1;
  localparam [1:0] FOR = 2'd2;
  localparam [1:0] INJ = 2'd3;

  reg  [1:0] sel_q;
  // The same, one bit for each source, for decisions: sel_q has a large fanout.
  reg  [3:0] on_q;
  // The header was taken; beats follow.
  reg        inside_q;
  reg  [3:0] run_q;
  // A result has begun since the last ACK (or NAK), so an ACK may be sent before the next result. An ACK is one beat,
  // and the recovery of a loss waits for it.
  reg        ack_turn_q;
  wire       ack_turn = ack_turn_q && !on_q[ACK];
  // The last frame that was not a result was an ACK. Both registers follow the selection one cycle later, because the choice
  // is late.
  reg        ack_last_q;
  wire       ack_last = on_q[RES] ? ack_last_q : on_q[ACK];
  reg signed [15:0] credit_q;
  reg        charged_q;

  wire [3:0] valids  = {inj_valid, for_e_valid, ack_e_valid, res_e_valid};
  wire       begun   = !inside_q && (valids & on_q) != 4'b0000 && e_ready;
  wire       may_beat = begun || inside_q;
  wire [3:0] beats   = {inj_valid, for_p_valid, 1'b0, res_p_valid && (inside_q || !res_e_empty)};

  assign e_valid = !inside_q && (valids & on_q) != 4'b0000;
  assign e_raw   = sel_q[1];
  assign e_hdr   = sel_q == ACK ? ack_e_hdr : res_e_hdr;
  assign e_hlen  = sel_q == ACK ? ack_e_hlen : res_e_hlen;
  assign e_plen  = sel_q == ACK ? 14'd0 : res_e_plen;
  assign e_len   = sel_q == INJ ? inj_len : for_e_len;
  assign p_valid = may_beat && (beats & on_q) != 4'b0000;
  assign p_last  = sel_q == RES ? res_p_last : sel_q == FOR ? for_p_last : inj_last;
  assign p_data  = sel_q == RES ? res_p_data : sel_q == FOR ? for_p_data : inj_data;

  assign res_e_ready = e_ready && on_q[RES] && !inside_q;
  assign ack_e_ready = e_ready && on_q[ACK] && !inside_q;
  assign for_e_ready = e_ready && on_q[FOR] && !inside_q;
  // Each from its own header alone: res_p_ready is late in rf_results.
  assign res_p_ready = p_ready && on_q[RES] && (inside_q || (res_e_valid && e_ready && !res_e_empty));
  assign for_p_ready = p_ready && on_q[FOR] && (inside_q || (for_e_valid && e_ready));
  assign inj_ready   = p_ready && on_q[INJ] && (inside_q || (inj_valid && e_ready));

  // What leaves next. Whether a result is on offer, and whether it is empty, is known late. So the choice is made for
  // each case, and the case selects from these: 0, no result; 1, a full one; 2, an empty one.
  reg        offer;
  reg        begins;
  reg        soon;
  reg        moves;
  reg        has_beat;
  reg  [2:0] taking;
  reg        next_for;
  reg  [2:0] waits;
  reg        res_begins;
  reg        enough;
  reg        nothing;
  reg        may_for;
  reg        for_now;
  reg        inj_now;
  reg  [2:0] ended;
  reg  [2:0] choose;
  reg  [2:0] res_next;
  reg  [2:0] for_waits;
  reg  [2:0] inj_waits;
  reg  [2:0] pick_for;
  reg  [2:0] pick_inj;
  reg  [2:0] pick_ack;
  // The last frame of the firmware or foreign frame was foreign: the firmware's goes first.
  reg        inj_first_q;
  wire [1:0] result = !res_e_valid ? 2'd0 : res_e_empty ? 2'd2 : 2'd1;
  integer    r;

  always @*
    for (r = 0; r < 3; r = r + 1) begin
      offer    = !inside_q && ({valids[INJ:ACK], r != 0} & on_q) != 4'b0000;
      begins   = offer && e_ready;
      moves    = begins || inside_q;
      has_beat = ({inj_valid, for_p_valid, 1'b0, res_p_valid && (inside_q || r == 1)} & on_q) != 4'b0000;
      ended[r] = (begins && (on_q[ACK] || (on_q[RES] && r == 2))) || (moves && has_beat && p_ready && p_last);

      // Whether there is a result in the next cycle, or perhaps one: a beat that cannot be read yet counts.
      soon = res_next_beat || (begins && on_q[RES] && res_next_copy) || res_next_empty;

      // The other sources. An ACK or firmware frame being taken now does not request again; for foreign frames the next
      // one requests.
      taking       = moves ? {on_q[INJ], 1'b0, on_q[ACK]} : 3'b000;
      next_for     = (begins && on_q[FOR]) ? for_more : for_e_valid;
      waits        = {inj_valid, next_for, ack_e_valid} & ~taking;
      for_waits[r] = waits[1];
      inj_waits[r] = waits[2];
      choose[r]    = ended[r] || (!inside_q && !offer);
      res_next[r]  = soon || (ended[r] ? !on_q[RES] && (res_p_valid || r != 0) : r != 0);
      // A result that begins now counts, because it may also end now.
      res_begins   = begins && on_q[RES];
      enough       = run_q >= RESULTS[3:0] || (res_begins && run_q + 4'd1 == RESULTS[3:0]);
      nothing      = !res_next[r] && (!waits[0] || ack_last);
      // An ACK whose turn it is goes before a foreign frame whose turn it is.
      may_for      = res_next[r] && share != 4'd0 && !credit_q[15] && !(waits[0] && (ack_turn || res_begins));
      for_now      = waits[1] && (may_for || nothing);
      inj_now      = waits[2] && (enough || nothing);
      pick_for[r]  = choose[r] && for_now && !(inj_now && inj_first_q);
      pick_inj[r]  = choose[r] && inj_now && !(for_now && !inj_first_q);
      pick_ack[r]  = choose[r] && waits[0] && !for_now && !inj_now && (ack_turn || res_begins || !res_next[r]);
    end

  wire picks_for = pick_for[result];
  wire picks_inj = pick_inj[result];
  wire picks_ack = pick_ack[result];
  wire result_begins = begun && on_q[RES];

  always @(posedge clk)
    if (rst) inside_q <= 1'b0;
    else if (ended[result]) inside_q <= 1'b0;
    else if (begun) inside_q <= 1'b1;

  always @(posedge clk)
    if (rst) inj_first_q <= 1'b0;
    else if (picks_for || picks_inj) inj_first_q <= picks_for;

  always @(posedge clk)
    if (rst) begin
      sel_q <= RES;
      on_q  <= 4'b0001;
    end else if (choose[result]) begin
      sel_q <= picks_for ? FOR : picks_inj ? INJ : picks_ack ? ACK : RES;
      on_q  <= picks_for ? 4'b0100 : picks_inj ? 4'b1000 : picks_ack ? 4'b0010 : 4'b0001;
    end

  always @(posedge clk)
    if (rst) ack_last_q <= 1'b0;
    else ack_last_q <= ack_last;

  // Consecutive results while a frame of the firmware waits.
  always @(posedge clk)
    if (rst || !inj_waits[result] || on_q[INJ]) run_q <= 4'd0;
    else if (result_begins && run_q < RESULTS[3:0]) run_q <= run_q + 4'd1;

  always @(posedge clk)
    if (rst || on_q[ACK]) ack_turn_q <= 1'b0;
    else if (result_begins) ack_turn_q <= 1'b1;

  // Credit of the foreign frames, in sixteenths of a beat. Each beat of a result or an ACK adds `share` (a made frame
  // has one beat more than its payload). Each beat of a frame selected ahead of a result costs 16 - share. A foreign
  // frame may begin while the credit is not negative. No credit accumulates while none waits.
  wire       made_beat = begun && (on_q[RES] || on_q[ACK]);
  wire       res_beat  = res_p_valid && res_p_ready;
  wire       for_beat  = for_p_valid && for_p_ready && charged_q;
  // The change is selected from registers; a limit holds from the cycle after it is exceeded.
  wire signed [15:0] change = for_beat ? {{11{1'b1}}, {1'b0, share} - 5'd16} :
                              (made_beat && res_beat) ? {11'd0, share, 1'b0} :
                              (made_beat || res_beat) ? {12'd0, share} : 16'd0;

  always @(posedge clk)
    if (rst) credit_q <= 16'sd0;
    else if (!credit_q[15] && !for_waits[result]) credit_q <= 16'sd0;
    else if (credit_q > 16'sd16000) credit_q <= 16'sd16000;
    else credit_q <= credit_q + change;

  always @(posedge clk)
    if (picks_for) charged_q <= res_next[result];

  assign sent = begun ? on_q : 4'b0000;
  assign idle = !inside_q && valids == 4'b0000;

endmodule

`default_nettype wire
