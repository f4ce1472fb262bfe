// rf_ackq: events and frames arrive if there was room, each event with its frame one cycle later. Verdicts arrive for
// events that were taken, in their order, each once, any time later. An offered frame is stable. Each frame leaves
// once, in order of arrival: a frame on behalf, a NAK or a CNP unconditionally; a frame that crosses the box after a good
// verdict on its own event. After a bad verdict it is dropped without being offered. Nothing is lost. The first byte of
// a frame represents the whole frame; the queues are those of queue.v.
//
// An arbitrary frame is tracked: frames that leave before it, verdicts before its own. (Wires named box.* are internal
// to the module.)
module stream_ackq (
  input wire       clk,
  input wire       rst,
  input wire       event_take,
  input wire [1:0] event_index,
  input wire       h_behalf,
  input wire       h_nak,
  input wire       h_cnp,
  input wire       h_mirror,
  input wire [7:0] h_hdr,
  input wire       h_vlan,
  input wire       ev_ready,
  input wire       v_valid,
  input wire       v_ok,
  input wire       e_ready,
  input wire       pick
);

`include "rf_start.vh"

  wire         event_room;
  wire         behalf_room;
  wire         ev_valid;
  wire [5:0]   ev_conn;
  wire [23:0]  ev_index;
  wire [23:0]  ev_msn;
  wire         ev_fatal;
  wire         ev_still;
  wire         e_valid;
  wire [639:0] e_hdr;
  wire [6:0]   e_hlen;
  wire         e_behalf;
  wire         e_nak;
  wire         idle;

  // Frames taken, and room, one cycle ago; events that were taken and await their verdict.
  reg          h_event;
  reg          room_q;
  reg  [3:0]   asked_q;

  rf_ackq #(.CW(6), .DEPTH(8), .PARITY(0)) box (
    .clk(clk), .rst(rst), .event_room(event_room), .behalf_room(behalf_room), .event_take(event_take), .event_conn(6'd0),
    .event_index({22'd0, event_index}), .event_msn(24'd0), .event_fatal(1'b0), .event_still(1'b0), .h_event(h_event),
    .h_behalf(h_behalf), .h_nak(h_nak), .h_cnp(h_cnp), .h_mirror(h_mirror), .h_sum(16'd0), .h_syndrome(8'd0), .h_made(24'd0), .h_named(24'd0), .h_hdr({584'd0, h_hdr, 40'd0, h_hdr}), .h_vlan(h_vlan),
    .h_psn(24'd0), .h_qpn(24'd0), .h_msn(24'd0), .ev_valid(ev_valid), .ev_ready(ev_ready), .ev_conn(ev_conn),
    .ev_index(ev_index), .ev_msn(ev_msn), .ev_fatal(ev_fatal), .ev_still(ev_still), .v_valid(v_valid), .v_ok(v_ok),
    .e_valid(e_valid), .e_ready(e_ready), .e_hdr(e_hdr), .e_hlen(e_hlen), .e_behalf(e_behalf), .e_nak(e_nak), .idle(idle));

  always @(posedge clk)
    if (rst) begin
      h_event <= 1'b0;
      room_q  <= 1'b0;
      asked_q <= 4'd0;
    end else begin
      h_event <= event_take;
      room_q  <= behalf_room;
      asked_q <= asked_q + {3'd0, ev_valid && ev_ready} - {3'd0, v_valid};
    end

  always @* begin
    assume (rst == !f_started);
    if (event_take) assume (event_room);
    if (h_behalf || h_nak || h_cnp)
      assume (room_q && !h_event && {1'b0, h_behalf} + {1'b0, h_nak} + {1'b0, h_cnp} == 2'd1);
    if (v_valid) assume (asked_q != 4'd0);
  end

  stream #(.WIDTH(2)) ev (.clk(clk), .rst(rst), .valid(ev_valid), .ready(ev_ready), .data(ev_index[1:0]));
  stream #(.WIDTH(12)) e (
    .clk(clk), .rst(rst), .valid(e_valid), .ready(e_ready), .data({e_behalf, e_nak, e_hlen[3:2], e_hdr[7:0]}));

  (* hierconn *) wire          \box.p6_valid ;
  (* hierconn *) wire          \box.p6_alone_q ;
  (* hierconn *) wire          \box.p6_nak_q ;
  (* hierconn *) wire          \box.p6_cnp_q ;
  (* hierconn *) wire [143:0]  \box.p6_eth_q ;
  (* hierconn *) wire          \box.f_take ;
  (* hierconn *) wire [3:0]    \box.f_count ;
  (* hierconn *) wire [3:0]    \box.ev_count ;
  (* hierconn *) wire [3:0]    \box.w_count ;
  (* hierconn *) wire [3991:0] \box.frames.g_plain.fifo.words ;
  (* hierconn *) wire [7:0]    \box.verdicts.g_plain.fifo.words ;
  (* hierconn *) wire          \box.k_valid ;
  (* hierconn *) wire          \box.w_valid ;
  (* hierconn *) wire [3:0]    \box.k_count ;
  (* hierconn *) wire [7:0]    \box.kinds.g_plain.fifo.words ;

  wire [3:0] count = \box.f_count ;
  wire       p6 = \box.p6_valid ;
  wire       came = h_event || h_behalf || h_nak || h_cnp;

  // The tracked frame: it is inside, with ahead_q frames before it; its verdict has arrived, or the verdicts before its
  // own.
  reg        marked_q;
  reg        inside_q;
  reg  [3:0] ahead_q;
  reg        cross_q;
  reg        nak_q;
  reg        cnp_q;
  reg  [7:0] tag_q;
  reg        judged_q;
  reg        ok_q;
  reg  [3:0] before_q;
  wire       front = inside_q && ahead_q == 4'd0 && \box.k_valid ;
  wire       goes = front && (cross_q ? judged_q && \box.w_valid && (!ok_q || e_ready) : e_ready);
  // Events whose verdict has not arrived.
  wire [3:0] open = \box.ev_count + asked_q;

  always @(posedge clk)
    if (rst) begin
      marked_q <= 1'b0;
      inside_q <= 1'b0;
    end else if (came && pick && !marked_q) begin
      marked_q <= 1'b1;
      inside_q <= 1'b1;
      ahead_q  <= count + {3'd0, p6} - {3'd0, \box.f_take };
      cross_q  <= h_event;
      nak_q    <= h_nak;
      cnp_q    <= h_cnp;
      tag_q    <= h_hdr;
      judged_q <= 1'b0;
      before_q <= open - 4'd1 - {3'd0, v_valid};
    end else begin
      if (goes) inside_q <= 1'b0;
      else if (\box.f_take ) ahead_q <= ahead_q - 4'd1;
      if (inside_q && v_valid && !judged_q) begin
        if (before_q == 4'd0) begin
          judged_q <= 1'b1;
          ok_q     <= v_ok;
        end
        before_q <= before_q - 4'd1;
      end
    end

  always @*
    if (!rst) begin
      // In its turn the frame is offered, once: after a good verdict of its own; after a bad one it is dropped.
      if (front) assert (e_valid == (!cross_q || (judged_q && \box.w_valid && ok_q)));
      if (front) assert (\box.f_take == goes);
      if (front && e_valid) assert (e_behalf == (!cross_q && !cnp_q) && e_hdr[7:0] == tag_q && (cross_q || e_nak == nak_q));
      assert (!e_valid || count != 4'd0);
      // A frame and its kind are together.
      assert (\box.k_count == count);
    end

  // ---- Contents: frames that cross the box, before position k.

  reg  [3:0] crosses;
  reg  [3:0] own;
  integer    k;

  always @* begin
    crosses = 4'd0;
    own     = 4'd0;
    for (k = 0; k < 8; k = k + 1) begin
      if (k == ahead_q) own = crosses;
      if (k < count && !\box.kinds.g_plain.fifo.words [k]) crosses = crosses + 4'd1;
    end
    if (ahead_q >= count) own = crosses;
  end

  always @*
    if (!rst) begin
      // Room for the frames in progress.
      assert ({1'b0, count} + {4'd0, p6} + {4'd0, h_event} <= 5'd8);
      if (room_q) assert (count + {3'd0, p6} <= 4'd7);
      if (h_event) assert (room_q && \box.ev_count != 4'd0);
      // The number of waiting events, with or without a verdict, equals the number of frames that cross the box.
      assert ({1'b0, crosses} + {4'd0, p6 && !\box.p6_alone_q } + {4'd0, h_event} ==
              {1'b0, \box.ev_count } + {1'b0, asked_q} + {1'b0, \box.w_count });
      assert (\box.ev_count <= 4'd8 && asked_q <= 4'd8 && \box.w_count <= 4'd8);
      assert (marked_q || !inside_q);
      if (inside_q) begin
        assert (ahead_q < count + {3'd0, p6});
        if (ahead_q == count) begin
          assert (\box.p6_alone_q == !cross_q && \box.p6_cnp_q == cnp_q && \box.p6_eth_q [7:0] == tag_q);
          assert (\box.p6_nak_q == (nak_q && !cross_q));
        end
        for (k = 0; k < 8; k = k + 1)
          if (k == ahead_q && k < count) begin
            assert (\box.kinds.g_plain.fifo.words [k] == !cross_q && \box.frames.g_plain.fifo.words [499*k+352 +: 8] == tag_q);
            assert (\box.frames.g_plain.fifo.words [499*k+498] == cnp_q);
            if (!cross_q) assert (\box.frames.g_plain.fifo.words [499*k+497] == nak_q);
          end
        if (cross_q && judged_q) assert (own < \box.w_count && \box.verdicts.g_plain.fifo.words [own[2:0]] == ok_q);
        if (cross_q && !judged_q) assert (own == \box.w_count + before_q && before_q < open);
      end
    end

  always @(posedge clk)
    if (!rst) begin
      cover (goes && cross_q && ok_q && tag_q == 8'h5a);
      cover (goes && cross_q && !ok_q);
      cover (goes && !cross_q && nak_q);
      cover (goes && cnp_q && e_hlen == 7'd74);
      cover (count == 4'd8);
    end

endmodule
