// rf_results, with a scheduler that reserves room for one packet at a time and a reduction that delivers the announced
// results. Packets have one or two beats or none, room for one or two headers, and none to two copies, full or empty.
// Headers arrive before their packet is announced. At most two packets wait for their beats. Some passes have no room or are dropped.
// rf_egress takes beats from the header on. The queues are those of queue.v.
//
// The headers and beats that leave match the copies of the packets kept, and the last beat of each copy is marked. No
// queue overflows. All room is freed, exactly once. No beat is read in the cycle in which its place is written.
//
// An arbitrary packet is tracked: beats that leave before it, and its own. (Wires named box.* are internal to the
// module.)
module stream_results_count (
  input wire       clk,
  input wire       rst,
  input wire       take,
  input wire       take_two,
  input wire [1:0] take_hdrs,
  input wire       copy_valid,
  input wire       copy_wants,
  input wire       pack_valid,
  input wire       pack_room,
  input wire       pack_drop,
  input wire       pack_two,
  input wire       pack_none,
  input wire       out_valid,
  input wire       e_ready,
  input wire       p_ready,
  input wire       pick
);

`include "rf_start.vh"

  wire [2:0]   free_beats;
  wire [2:0]   free_hdrs;
  wire         e_valid;
  wire [639:0] e_hdr;
  wire [6:0]   e_hlen;
  wire [13:0]  e_plen;
  wire         e_repeat;
  wire         e_empty;
  wire         next_beat;
  wire         next_copy;
  wire         next_empty;
  wire         p_valid;
  wire [63:0]  p_data;
  wire         p_last;
  wire         idle;

  // Room reserved for the next packet: beats, headers; headers copied so far. Outstanding beats of the announced
  // packets.
  reg  [1:0]   beats_q;
  reg  [1:0]   hdrs_q;
  reg  [1:0]   copies_q;
  reg  [1:0]   fulls_q;
  reg  [1:0]   come0_q;
  reg  [1:0]   come1_q;
  wire         leaves_some = pack_valid && pack_room && !pack_drop && copies_q != 2'd0;
  wire         kept = leaves_some && fulls_q != 2'd0 && !pack_none;
  wire [1:0]   length = pack_none ? 2'd0 : pack_room ? beats_q : {pack_two, !pack_two};
  wire [1:0]   wants = {take_two, !take_two};
  wire         out_last = come0_q == 2'd1;

  rf_results #(.WIDTH(64), .BEATS(4), .HDRS(2), .CREDIT_W(3), .PARITY(0)) box (
    .clk(clk), .rst(rst), .free_beats(free_beats), .free_hdrs(free_hdrs), .take_valid(take), .take_beats({1'b0, wants}),
    .take_hdrs({3'd0, take_hdrs}), .copy_valid(copy_valid), .copy_repeat(1'b0), .copy_ackreq(1'b0), .copy_directed(1'b1), .copy_wants(copy_wants), .copy_mark(1'b0),
    .pack_valid(pack_valid), .pack_room(pack_room), .pack_copies({3'd0, copies_q}), .pack_fulls({3'd0, fulls_q}), .pack_drop(pack_drop),
    .pack_length({1'b0, length}), .pack_tail({13'd0, length}), .pack_beats({1'b0, beats_q}), .pack_hdrs({3'd0, hdrs_q}),
    .hdr_data(648'd0), .out_valid(out_valid), .out_data(64'd0), .out_last(out_last), .out_bad(1'b0), .hdr_bad(1'b0), .hdr_mirror(1'b0), .hdr_mac(48'd0), .copy_addr(4'd0), .copy_index(24'd0), .e_valid(e_valid), .e_ready(e_ready),
    .e_hdr(e_hdr), .e_hlen(e_hlen), .e_plen(e_plen), .e_repeat(e_repeat), .e_empty(e_empty), .next_beat(next_beat), .next_copy(next_copy), .next_empty(next_empty), .p_valid(p_valid), .p_ready(p_ready),
    .p_data(p_data), .p_last(p_last), .idle(idle));

  // Between a packet's header and its last beat.
  reg          inside_q;

  always @* begin
    assume (rst == !f_started);
    if (take) assume (beats_q == 2'd0 && {1'b0, wants} <= free_beats);
    if (take) assume ({1'b0, take_hdrs} <= free_hdrs && take_hdrs != 2'd3 && take_hdrs != 2'd0);
    if (copy_valid) assume (copies_q < hdrs_q);
    if (pack_valid) assume (come1_q == 2'd0 && (!pack_room || (beats_q != 2'd0 && !copy_valid)));
    if (out_valid) assume (come0_q != 2'd0);
    if (p_ready) assume (inside_q || (e_valid && e_ready && !e_empty));
  end

  always @(posedge clk)
    if (rst) begin
      beats_q  <= 2'd0;
      hdrs_q   <= 2'd0;
      copies_q <= 2'd0;
      fulls_q  <= 2'd0;
    end else if (take) begin
      beats_q  <= wants;
      hdrs_q   <= take_hdrs;
      copies_q <= 2'd0;
      fulls_q  <= 2'd0;
    end else if (pack_valid && pack_room) begin
      beats_q  <= 2'd0;
      hdrs_q   <= 2'd0;
      copies_q <= 2'd0;
      fulls_q  <= 2'd0;
    end else if (copy_valid) begin
      copies_q <= copies_q + 2'd1;
      fulls_q  <= fulls_q + {1'b0, copy_wants};
    end

  always @(posedge clk)
    if (rst) begin
      come0_q <= 2'd0;
      come1_q <= 2'd0;
    end else if (out_valid && out_last) begin
      come0_q <= come1_q != 2'd0 ? come1_q : pack_valid ? length : 2'd0;
      come1_q <= 2'd0;
    end else begin
      if (out_valid) come0_q <= come0_q - 2'd1;
      else if (pack_valid && come0_q == 2'd0) come0_q <= length;
      if (pack_valid && come0_q != 2'd0) come1_q <= length;
    end

  always @(posedge clk)
    if (rst || (p_valid && p_ready && p_last)) inside_q <= 1'b0;
    else if (e_valid && e_ready && !e_empty) inside_q <= 1'b1;

  // Packets whose beats are to be read, packets whose headers are to leave.
  (* hierconn *) wire [2:0]  \box.r_count ;
  (* hierconn *) wire        \box.r_take ;
  (* hierconn *) wire [4:0]  \box.r_done_q ;
  (* hierconn *) wire [2:0]  \box.r_beat_q ;
  (* hierconn *) wire [67:0] \box.packets.g_plain.fifo.words ;
  (* hierconn *) wire [1:0]  \box.n_count ;
  (* hierconn *) wire [4:0]  \box.n_done_q ;
  (* hierconn *) wire [55:0] \box.counts.g_plain.fifo.words ;
  (* hierconn *) wire [1:0]  \box.h_count ;
  (* hierconn *) wire [1:0]  \box.h_words ;
  (* hierconn *) wire        \box.h_there ;
  (* hierconn *) wire        \box.h_valid ;
  (* hierconn *) wire [6:0]  \box.w_count ;
  (* hierconn *) wire [63:0] \box.ways.g_plain.fifo.words ;
  (* hierconn *) wire [2:0]  \box.wr_q ;
  (* hierconn *) wire [2:0]  \box.r_base_q ;
  (* hierconn *) wire [2:0]  \box.r_ptr_q ;
  (* hierconn *) wire        \box.back_q ;
  (* hierconn *) wire [2:0]  \box.back_beats_q ;
  (* hierconn *) wire        \box.gone_q ;
  (* hierconn *) wire [4:0]  \box.gone_hdrs_q ;
  (* hierconn *) wire        \box.h1_valid_q ;
  (* hierconn *) wire        \box.h2_valid_q ;

  // Outstanding headers and beats; those of the tracked packet, those of the packets before it.
  reg  [2:0]   heads_q;
  reg  [3:0]   owed_q;
  reg  [3:0]   ahead_q;
  reg  [3:0]   own_q;
  reg          two_q;
  reg          marked_q;
  wire         left = p_valid && p_ready;
  wire [3:0]   all = fulls_q == 2'd2 ? {1'b0, beats_q, 1'b0} : {2'd0, beats_q};
  wire [3:0]   now = owed_q - {3'd0, left};

  always @(posedge clk)
    if (rst) begin
      heads_q  <= 3'd0;
      owed_q   <= 4'd0;
      ahead_q  <= 4'd0;
      own_q    <= 4'd0;
      marked_q <= 1'b0;
    end else begin
      heads_q <= heads_q + (leaves_some ? {1'b0, copies_q} : 3'd0) - {2'd0, e_valid && e_ready};
      owed_q  <= now + (kept ? all : 4'd0);
      if (kept && pick && !marked_q) begin
        marked_q <= 1'b1;
        ahead_q  <= now;
        own_q    <= all;
        two_q    <= beats_q[1];
      end else if (left && ahead_q != 4'd0) ahead_q <= ahead_q - 4'd1;
      else if (left && own_q != 4'd0) own_q <= own_q - 4'd1;
    end

  always @*
    if (!rst) begin
      if (e_valid) assert (heads_q != 3'd0);
      if (p_valid) assert (owed_q != 4'd0);
      if (p_valid && ahead_q == 4'd0 && own_q != 4'd0) assert (p_last == (!two_q || own_q[0]));
      // The room of a beat at the output whose header has left has been freed.
      if (idle) assert (heads_q == 3'd0 && beats_q == 2'd0 && (owed_q == {3'd0, p_valid}));
      assert (free_beats <= 3'd4 && free_hdrs <= 3'd2);
      // A header is there when the word that says whether its copy is full is.
      assert (\box.h_words == \box.h_count && \box.h_there == \box.h_valid );
      // No queue overflows.
      if (pack_valid && pack_room) assert (\box.r_count < 3'd4 && \box.n_count < 2'd2);
      if (\box.h2_valid_q ) assert (\box.h_count < 2'd2);
    end

  // ---- Contents.

  // Beats to read of all packets, of the packets before the tracked one, and its own. Reserved beats and headers.
  // Headers that must still leave, and those that leave or are skipped.
  reg          there_q;
  reg  [1:0]   at_q;
  reg  [5:0]   reads;
  reg  [5:0]   before;
  reg  [5:0]   mine;
  reg  [5:0]   part;
  reg  [5:0]   room;
  reg  [5:0]   lengths;
  reg  [5:0]   hdrs;
  reg  [5:0]   leaves;
  reg  [5:0]   skips;
  reg          good;
  // Beats in the memory that have not been read for the last time; those to come that will be stored.
  wire [2:0]   stored = \box.wr_q - \box.r_base_q ;
  wire [5:0]   coming = (\box.ways.g_plain.fifo.words [0] ? {4'd0, come0_q} : 6'd0) +
                        (\box.ways.g_plain.fifo.words [1] ? {4'd0, come1_q} : 6'd0);
  reg  [16:0]  word;
  reg  [11:0]  number;
  integer      k;

  always @(posedge clk)
    if (rst) there_q <= 1'b0;
    else if (kept && pick && !marked_q) begin
      there_q <= 1'b1;
      at_q    <= \box.r_count [1:0] - {1'b0, \box.r_take };
    end else if (there_q && \box.r_take ) begin
      there_q <= at_q != 2'd0;
      at_q    <= at_q - 2'd1;
    end

  always @* begin
    reads  = 6'd0;
    before = 6'd0;
    mine   = 6'd0;
    room   = {3'd0, free_beats} + {4'd0, beats_q} + (\box.back_q ? {3'd0, \box.back_beats_q } : 6'd0);
    hdrs   = {3'd0, free_hdrs} + {4'd0, hdrs_q} + (\box.gone_q ? {1'b0, \box.gone_hdrs_q } : 6'd0);
    lengths = 6'd0;
    leaves = 6'd0;
    skips  = 6'd0;
    good   = 1'b1;
    for (k = 0; k < 4; k = k + 1)
      if (k < \box.r_count ) begin
        word = \box.packets.g_plain.fifo.words [17*k +: 17];
        part = word[15:11] == 5'd2 ? {2'd0, word[10:8], 1'b0} : {3'd0, word[10:8]};
        if (k == 0) part = part - (\box.r_done_q == 5'd1 ? {3'd0, word[10:8]} : 6'd0) - {3'd0, \box.r_beat_q };
        if (!word[16]) part = 6'd0;
        if (word[2:0] == 3'd0 || word[2:0] > 3'd2 || (word[10:8] != word[2:0] && (word[10:8] != 3'd0 || word[16]))) good = 1'b0;
        if (word[16] && (word[15:11] == 5'd0 || word[15:11] > 5'd2)) good = 1'b0;
        if (k == 0 && word[16] && (\box.r_done_q >= word[15:11] || \box.r_beat_q >= word[10:8])) good = 1'b0;
        if (k == 0 && !word[16] && (\box.r_done_q != 5'd0 || \box.r_beat_q != 3'd0)) good = 1'b0;
        if (there_q && k < at_q) before = before + part;
        if (there_q && k == at_q) begin
          mine = part;
          if (!word[16] || two_q != (word[10:8] == 3'd2)) good = 1'b0;
        end
        if (word[16]) lengths = lengths + {3'd0, word[10:8]};
        if (k == 0 && word[16] && \box.r_done_q != 5'd0 && stored < word[10:8]) good = 1'b0;
        reads = reads + part;
        room  = room + {3'd0, word[2:0]};
      end
    if (\box.r_count == 3'd0 && (\box.r_done_q != 5'd0 || \box.r_beat_q != 3'd0)) good = 1'b0;
    for (k = 0; k < 2; k = k + 1)
      if (k < \box.n_count ) begin
        number = \box.counts.g_plain.fifo.words [28*k +: 12];
        if (number[6]) leaves = leaves + {1'b0, number[4:0]};
        if (k == 0 && number[6]) leaves = leaves - {1'b0, \box.n_done_q };
        skips = skips + {1'b0, number[4:0]};
        hdrs  = hdrs + {1'b0, number[11:7]};
        if (number[11:7] == 5'd0 || number[11:7] > 5'd2 || number[4:0] > number[11:7]) good = 1'b0;
        if (number[6] && number[5] || (number[6] || number[5]) != (number[4:0] != 5'd0)) good = 1'b0;
        if (k == 0 && \box.n_done_q != 5'd0 && \box.n_done_q >= number[4:0]) good = 1'b0;
      end
    skips = skips - {1'b0, \box.n_done_q };
    if (\box.n_count == 2'd0 && \box.n_done_q != 5'd0) good = 1'b0;
  end

  always @*
    if (!rst) begin
      assert (good);
      assert (\box.w_count == {6'd0, come0_q != 2'd0} + {6'd0, come1_q != 2'd0} && (come0_q != 2'd0 || come1_q == 2'd0));
      assert ({3'd0, stored} + coming == lengths && stored >= \box.r_beat_q );
      assert (\box.r_ptr_q == \box.r_base_q + \box.r_beat_q );
      assert (!\box.back_q || \box.back_beats_q <= 3'd2);
      assert (!\box.gone_q || \box.gone_hdrs_q <= 5'd2);
      assert (room == 6'd4 && hdrs == 6'd2 && beats_q <= 2'd2 && hdrs_q <= 2'd2 && copies_q <= hdrs_q && fulls_q <= copies_q);
      assert (\box.r_count <= 3'd4 && \box.n_count <= 2'd2);
      assert ((beats_q == 2'd0) == (hdrs_q == 2'd0));
      assert ({2'd0, owed_q} == reads + {5'd0, p_valid});
      assert ({3'd0, heads_q} == leaves);
      assert ({4'd0, \box.h_count } + {5'd0, \box.h1_valid_q } + {5'd0, \box.h2_valid_q } == skips + {4'd0, copies_q});
      assert (marked_q || (!there_q && ahead_q == 4'd0 && own_q == 4'd0));
      if (there_q) begin
        assert ({1'b0, at_q} < \box.r_count );
        assert ({2'd0, ahead_q} + {2'd0, own_q} == before + mine + {5'd0, p_valid});
        assert (at_q == 2'd0 ? {2'd0, own_q} >= mine : {2'd0, own_q} == mine);
      end else assert ({2'd0, ahead_q} + {2'd0, own_q} <= {5'd0, p_valid});
    end

  always @(posedge clk)
    if (!rst) begin
      cover (marked_q && left && ahead_q == 4'd0 && own_q == 4'd1 && two_q);
      cover (idle && marked_q && own_q == 4'd0);
      cover (owed_q == 4'd6);
      cover (e_valid && e_ready && e_empty && p_valid);
    end

endmodule
