// rf_punt: if there is room a judge requests a place. The frame follows any time later, in 1 to 128 beats with gaps.
// The firmware takes frames and reads words at any time. An offered frame is stable until it is taken. Frames are
// offered in the order in which they ended, each with its own port and length. Only received frames wait; none is
// truncated or mixed with another. A frame is discarded only if two of its port wait. A place that holds a waiting
// frame is not written. Each port keeps its four places, of which at most one holds ARP. The queue is that of queue.v;
// the memory returns arbitrary words.
//
// An arbitrary frame is tracked: frames that are offered before it. (Wires named box.* are internal to the module.)
module stream_punt (
  input wire         clk,
  input wire         rst,
  input wire [1:0]   take,
  input wire [1:0]   arp,
  input wire [1:0]   s_valid,
  input wire [127:0] s_data,
  input wire [15:0]  s_keep,
  input wire [1:0]   s_last,
  input wire         pop,
  input wire         win_en,
  input wire [7:0]   win_addr,
  input wire         pick
);

`include "rf_start.vh"

  wire [1:0]  room;
  wire [1:0]  room_arp;
  wire [1:0]  s_ready;
  wire [31:0] status;
  wire [31:0] win_data;
  wire        idle;

  rf_punt #(.PORTS(2), .WIDTH(64)) box (
    .clk(clk), .rst(rst), .room(room), .room_arp(room_arp), .take(take), .arp(arp), .s_valid(s_valid), .s_ready(s_ready), .s_data(s_data), .s_keep(s_keep),
    .s_last(s_last), .status(status), .pop(pop), .win_en(win_en), .win_addr(win_addr), .win_data(win_data), .idle(idle));

  (* hierconn *) wire         \box.w_valid_q ;
  (* hierconn *) wire         \box.w_last_q ;
  (* hierconn *) wire [2:0]   \box.w_port_q ;
  (* hierconn *) wire [7:0]   \box.w_keep_q ;
  (* hierconn *) wire         \box.e_valid_q ;
  (* hierconn *) wire [2:0]   \box.e_port_q ;
  (* hierconn *) wire         \box.e_arp_q ;
  (* hierconn *) wire [10:0]  \box.e_length_q ;
  (* hierconn *) wire [7:0]   \box.same_q ;
  (* hierconn *) wire [6:0]   \box.wr_row_q ;
  (* hierconn *) wire [2:0]   \box.wr_slot_q ;
  (* hierconn *) wire [2:0]   \box.rd_slot_q ;
  (* hierconn *) wire [7:0]   \box.wait_q ;
  (* hierconn *) wire [407:0] \box.from_q ;
  (* hierconn *) wire         \box.forget ;
  (* hierconn *) wire [1:0]   \box.lock_q ;
  (* hierconn *) wire [5:0]   \box.held_q ;
  (* hierconn *) wire [3:0]   \box.info_count ;
  (* hierconn *) wire [1:0]   \box.arp_q ;
  (* hierconn *) wire         \box.w_arp_q ;
  (* hierconn *) wire [5:0]   \box.owed_q ;
  (* hierconn *) wire [7:0]   \box.kinds_q ;
  (* hierconn *) wire [119:0] \box.info.words ;
  (* hierconn *) wire [1:0]   \box.arb.grant ;

  wire [1:0] moved = s_valid & s_ready;
  wire       fire  = moved != 2'd0;
  wire       from  = moved[1];
  wire       ends  = (moved & s_last) != 2'd0;

  // Requested frames whose last beat has not been taken; whether one has begun; its beats so far.
  reg  [5:0] owed_q;
  reg  [1:0] inside_q;
  reg  [6:0] beats_q;
  integer    p;

  always @(posedge clk)
    for (p = 0; p < 2; p = p + 1)
      if (rst) owed_q[3*p +: 3] <= 3'd0;
      else owed_q[3*p +: 3] <= owed_q[3*p +: 3] + {2'd0, take[p]} - {2'd0, moved[p] && s_last[p]};

  always @(posedge clk)
    if (rst) inside_q <= 2'd0;
    else inside_q <= (inside_q | moved) & ~(moved & s_last);

  // A frame was offered in the last cycle, and none was in progress: one begins now.
  reg offered_q;

  always @(posedge clk)
    if (rst) offered_q <= 1'b0;
    else offered_q <= s_valid != 2'd0 && inside_q == 2'd0 && !fire;

  always @(posedge clk)
    if (rst || ends) beats_q <= 7'd0;
    else if (fire) beats_q <= beats_q + 7'd1;

  wire [7:0] keep0 = s_keep[7:0];
  wire [7:0] keep1 = s_keep[15:8];

  always @* begin
    assume (rst == !f_started);
    assume ((take & ~room) == 2'd0);
    assume ((take & arp & ~room_arp) == 2'd0);
    assume (keep0[0] && (keep0 & (keep0 + 8'd1)) == 8'd0 && (s_last[0] || keep0 == 8'hff));
    assume (keep1[0] && (keep1 & (keep1 + 8'd1)) == 8'd0 && (s_last[1] || keep1 == 8'hff));
    for (p = 0; p < 2; p = p + 1)
      if (s_valid[p]) assume (owed_q[3*p +: 3] != 3'd0 && (beats_q != 7'd127 || s_last[p]));
  end

  stream #(.WIDTH(14), .IN(1)) in0 (
    .clk(clk), .rst(rst), .valid(s_valid[0]), .ready(s_ready[0]), .data({s_last[0], keep0[4:0], s_data[7:0]}));
  stream #(.WIDTH(14), .IN(1)) in1 (
    .clk(clk), .rst(rst), .valid(s_valid[1]), .ready(s_ready[1]), .data({s_last[1], keep1[4:0], s_data[71:64]}));
  stream #(.WIDTH(14)) m (
    .clk(clk), .rst(rst), .valid(status[31]), .ready(pop), .data({status[26:24], status[10:0]}));

  // The length of a frame that ends.
  function [3:0] ones;
    input [7:0] keep;
    integer     b;
    begin
      ones = 4'd0;
      for (b = 0; b < 8; b = b + 1) ones = ones + {3'd0, keep[b]};
    end
  endfunction

  wire [10:0] length = {1'b0, beats_q, 3'd0} + {7'd0, ones(from ? keep1 : keep0)};

  // The tracked frame: its last beat is being written; about to be offered or discarded; offered, with ahead_q frames
  // before it.
  reg         marked_q;
  reg         last_q;
  reg         here_q;
  reg         there_q;
  reg  [3:0]  ahead_q;
  reg         port_q;
  reg  [10:0] length_q;
  // Frames whose last beat has arrived and for which no result is visible yet.
  wire        ended = \box.w_valid_q && \box.w_last_q ;
  wire        judged = \box.e_valid_q ;
  wire [3:0]  count = \box.info_count ;
  wire        popped = pop && status[31];

  always @(posedge clk)
    if (rst) begin
      marked_q <= 1'b0;
      last_q   <= 1'b0;
      here_q   <= 1'b0;
      there_q  <= 1'b0;
    end else if (ends && pick && !marked_q) begin
      marked_q <= 1'b1;
      last_q   <= 1'b1;
      port_q   <= from;
      length_q <= length;
    end else begin
      last_q <= 1'b0;
      here_q <= last_q;
      if (here_q && !\box.forget ) begin
        there_q <= 1'b1;
        ahead_q <= count - {3'd0, popped};
      end else if (there_q && popped && ahead_q == 4'd0) there_q <= 1'b0;
      else if (popped) ahead_q <= ahead_q - 4'd1;
    end

  // Words of the queue by port; those of the tracked frame; waiting frames of the port of the frame that ended.
  reg  [7:0]  waits;
  reg  [13:0] word;
  integer     k;

  always @* begin
    waits[3:0] = 4'd0;
    waits[7:4] = 4'd0;
    word     = 14'd0;
    for (k = 0; k < 8; k = k + 1) begin
      if (k < count && !\box.info.words [k*15+11]) waits[3:0] = waits[3:0] + 4'd1;
      if (k < count && \box.info.words [k*15+11]) waits[7:4] = waits[7:4] + 4'd1;
      if (k == ahead_q) word = \box.info.words [k*15 +: 14];
    end
  end

  reg  [3:0]  way;

  // ARP frames of each port: requested, just ended, judged, waiting.
  reg  [5:0]  arps;

  always @* begin
    for (p = 0; p < 2; p = p + 1) begin
      arps[3*p +: 3] = {2'd0, ended && \box.w_arp_q && \box.w_port_q == p} +
                       {2'd0, judged && \box.e_arp_q && \box.e_port_q == p};
      for (k = 0; k < 4; k = k + 1)
        if (k < owed_q[3*p +: 3] && \box.kinds_q [4*p+k]) arps[3*p +: 3] = arps[3*p +: 3] + 3'd1;
      for (k = 0; k < 8; k = k + 1)
        if (k < count && \box.info.words [k*15+14] && \box.info.words [k*15+11 +: 3] == p) arps[3*p +: 3] = arps[3*p +: 3] + 3'd1;
    end
  end

  always @*
    if (!rst) begin
      // One beat per cycle, none within another frame; a frame that can advance does.
      assert (moved != 2'd3 && (inside_q == 2'd0 || (moved & ~inside_q) == 2'd0));
      assert (!offered_q || fire);
      assert ((moved & inside_q) == (s_valid & inside_q));
      // The tracked frame is offered in its turn.
      if (there_q) assert (ahead_q < count && word == {2'd0, port_q, length_q});
      if (there_q && ahead_q == 4'd0) assert (status == {1'b1, 6'd0, port_q, 13'd0, length_q});
      // Discarded.
      if (\box.forget ) assert (judged && waits[4*\box.e_port_q [0] +: 4] >= 4'd2);
      // No place with a waiting frame is written.
      if (\box.w_valid_q ) assert (!\box.wait_q [\box.wr_slot_q ]);
      assert (idle == (owed_q[2:0] == 3'd0 && owed_q[5:3] == 3'd0 && !ended && !judged));

      // Contents.
      assert ((inside_q == 2'd0 || inside_q == \box.lock_q ) && \box.lock_q != 2'd3 && (\box.lock_q & ~inside_q & ~s_valid) == 2'd0);
      assert (\box.owed_q == owed_q);
      for (p = 0; p < 2; p = p + 1) assert (arps[3*p +: 3] == {2'd0, \box.arp_q [p]});
      for (p = 0; p < 2; p = p + 1) begin
        way = {1'b0, owed_q[3*p +: 3]} + {3'd0, ended && \box.w_port_q == p} + {3'd0, judged && \box.e_port_q == p};
        assert (way <= 4'd4 && waits[4*p +: 4] <= 4'd4 && \box.held_q [3*p +: 3] <= 3'd4);
        assert ({1'b0, \box.held_q [3*p +: 3]} == way + waits[4*p +: 4]);
        assert (!inside_q[p] || owed_q[3*p +: 3] != 3'd0);
      end
      assert (\box.w_port_q <= 3'd1 || !\box.w_valid_q );
      assert (\box.e_port_q <= 3'd1 || !judged);
      if (\box.w_valid_q ) assert (\box.w_keep_q [0] && (\box.w_keep_q & (\box.w_keep_q + 8'd1)) == 8'd0);
      if (\box.w_valid_q && !\box.w_last_q ) begin
        assert (inside_q == (2'd1 << \box.w_port_q ) && \box.w_keep_q == 8'hff);
        assert (\box.wr_row_q + 7'd1 == beats_q);
      end else assert (ended || \box.wr_row_q == beats_q);
      if (ended) assert (inside_q == 2'd0 && beats_q == 7'd0 && \box.lock_q == 2'd0);
      if (inside_q == 2'd0) assert (beats_q == 7'd0);
      assert (!last_q || (ended && \box.w_port_q == port_q && !here_q && !there_q && marked_q &&
                          length_q == {1'b0, \box.wr_row_q , 3'd0} + {7'd0, ones(\box.w_keep_q )}));
      assert (!here_q || (judged && \box.e_port_q == port_q && !there_q && marked_q && length_q == \box.e_length_q ));
      // A frame is judged before the next one begins. What it is compared with is of its port.
      assert (!judged || !\box.w_valid_q );
      assert (count <= 4'd8 && \box.wr_slot_q == \box.rd_slot_q + count[2:0]);
      for (k = 0; k < 8; k = k + 1) begin
        assert (\box.wait_q [(\box.rd_slot_q + k) % 8] == (k < count));
        if (k < count) assert (\box.info.words [k*15+12 +: 2] == 2'd0);
        if (k < count && judged && \box.same_q [(\box.rd_slot_q + k) % 8])
          assert (\box.from_q [((\box.rd_slot_q + k) % 8) * 51 + 48 +: 3] == \box.e_port_q );
        if (k < count) assert (\box.from_q [((\box.rd_slot_q + k) % 8) * 51 + 48 +: 3] == \box.info.words [k*15+11 +: 3]);
      end
      assert (!there_q || marked_q);
    end

  always @(posedge clk)
    if (!rst) begin
      cover (there_q && popped && ahead_q == 4'd0 && port_q && length_q > 11'd16);
      cover (\box.forget && here_q);
      cover (count == 4'd4 && inside_q[0]);
      cover (room == 2'd0);
      cover (room == 2'd3 && room_arp == 2'd0);
    end

endmodule
