// rf_egress: packets and payload arrive at any time, of every length that pipeline.md allows. An offered beat is
// stable. Frames leave in order of arrival, each with its number of beats, the last one marked. A packet takes as many
// beats of payload as it has. The ICRC is ready when it is inserted. Both FIFOs have room. No beat waits inside for
// long. The link counts as down after STALL cycles in which an offered beat was not taken, until one is taken. Only
// then are frames discarded: whole frames, and the rest of the frame that was leaving, which ends as bad. The FIFOs are
// those of queue.v, the ICRC is an arbitrary word, and the first byte of a beat represents the whole beat.
//
// An arbitrary frame is tracked: beats before it, its own. The contents form a sequence: the FIFO, the beat that was
// built, those not built yet. A beat that leaves the front is offered or discarded. (Wires named box.* are internal to
// the module.)
module stream_egress #(
  // Cycles after which the link counts as down, 3..15.
  parameter STALL = 15
) (
  input wire         clk,
  input wire         rst,
  input wire         e_valid,
  input wire         e_raw,
  input wire [639:0] e_hdr,
  input wire [6:0]   e_hlen,
  input wire [13:0]  e_plen,
  input wire [13:0]  e_len,
  input wire         p_valid,
  input wire [63:0]  p_data,
  input wire         m_ready,
  input wire         pick
);

`include "rf_start.vh"

  wire        e_ready;
  wire        p_ready;
  wire [63:0] m_data;
  wire [7:0]  m_keep;
  wire        m_valid;
  wire        m_last;
  wire        m_user;
  wire        cnt_frames;
  wire        cnt_down;
  wire        idle;

  rf_egress #(.WIDTH(64), .FIFO_BEATS(16), .STALL_CYCLES(STALL), .PARITY(0)) box (
    .clk(clk), .rst(rst), .mac(48'd0), .e_valid(e_valid), .e_ready(e_ready), .e_raw(e_raw), .e_hdr(e_hdr), .e_hlen(e_hlen),
    .e_plen(e_plen), .e_len(e_len), .p_valid(p_valid), .p_ready(p_ready), .p_data(p_data), .p_last(1'b0), .lost(1'b0), .spoil(1'b0),
    .m_axis_tdata(m_data), .m_axis_tkeep(m_keep), .m_axis_tvalid(m_valid), .m_axis_tlast(m_last), .m_axis_tuser(m_user), .m_axis_tready(m_ready),
    .cnt_frames(cnt_frames), .cnt_down(cnt_down), .idle(idle));

  (* hierconn *) wire [3:0]   \box.reset_q ;
  (* hierconn *) wire         \box.cut_q ;
  (* hierconn *) wire         \box.take ;
  (* hierconn *) wire         \box.load ;
  (* hierconn *) wire         \box.drop ;
  (* hierconn *) wire         \box.close ;
  (* hierconn *) wire         \box.mid_q ;
  (* hierconn *) wire         \box.drop_q ;
  (* hierconn *) wire         \box.open_q ;
  (* hierconn *) wire         \box.down ;
  (* hierconn *) wire [$clog2(STALL+1)-1:0] \box.g_stall.wait_q ;

  always @* begin
    assume (rst == !f_started);
    // The initial reset has ended: its 16th cycle or a later one.
    if (!f_started) assume (\box.reset_q == 4'd15);
    assume (e_hlen == 7'd54 || e_hlen == 7'd58 || e_hlen == 7'd62 || e_hlen == 7'd70 || e_hlen == 7'd74 || e_hlen == 7'd78);
    assume (e_plen[1:0] == 2'd0 && e_len != 14'd0);
  end

  stream #(.WIDTH(17)) m (
    .clk(clk), .rst(rst), .valid(m_valid), .ready(m_ready), .data({m_last, m_keep, m_data[7:0]}));

  // Beats of the frame and of the payload of the packet at the input.
  wire [14:0] bytes = e_raw ? {1'b0, e_len} + 15'd7 : {8'd0, e_hlen} + {1'b0, e_plen} + 15'd11;
  wire [14:0] loads = {1'b0, e_raw ? e_len : e_plen} + 15'd7;
  wire [12:0] beats = {1'b0, bytes[14:3]};
  wire [12:0] pays  = {1'b0, loads[14:3]};
  wire        begun = e_valid && e_ready;
  wire        paid  = p_valid && p_ready;
  wire        left  = m_valid && m_ready;
  wire        gone  = \box.take ;

  // Beats still inside: of all packets taken, of the tracked frame, of those before it; whether it is the youngest.
  reg  [12:0] owed_q;
  reg  [12:0] ahead_q;
  reg  [12:0] own_q;
  reg         marked_q;
  reg         youngest_q;
  // Outstanding beats of payload.
  reg  [12:0] load_q;
  wire [12:0] now = owed_q - {12'd0, gone};

  always @(posedge clk)
    if (rst) begin
      owed_q     <= 13'd0;
      ahead_q    <= 13'd0;
      own_q      <= 13'd0;
      marked_q   <= 1'b0;
      youngest_q <= 1'b0;
      load_q     <= 13'd0;
    end else begin
      owed_q <= now + (begun ? beats : 13'd0);
      load_q <= (begun ? pays : load_q) - {12'd0, paid};
      if (begun && pick && !marked_q) begin
        marked_q   <= 1'b1;
        youngest_q <= 1'b1;
        ahead_q    <= now;
        own_q      <= beats;
      end else begin
        if (begun) youngest_q <= 1'b0;
        if (gone && ahead_q != 13'd0) ahead_q <= ahead_q - 13'd1;
        else if (gone && own_q != 13'd0) own_q <= own_q - 13'd1;
      end
    end

  always @*
    if (!rst) begin
      if (gone) assert (owed_q != 13'd0);
      if (gone && ahead_q == 13'd0 && own_q != 13'd0) assert (last[0] == (own_q == 13'd1));
      if (paid) assert (begun ? pays != 13'd0 : load_q != 13'd0);
      if (begun) assert (load_q == 13'd0);
      assert (idle == (owed_q == 13'd0 && !m_valid));
      assert (cnt_frames == (left && m_last && !m_user));
    end

  // ---- Contents.

  (* hierconn *) wire          \box.build.run_q ;
  (* hierconn *) wire          \box.build.first_q ;
  (* hierconn *) wire          \box.build.rest_q ;
  (* hierconn *) wire          \box.build.raw_q ;
  (* hierconn *) wire          \box.build.need_q ;
  (* hierconn *) wire [2:0]    \box.build.end_q ;
  (* hierconn *) wire [3:0]    \box.build.skip_q ;
  (* hierconn *) wire [11:0]   \box.build.left_q ;
  (* hierconn *) wire          \box.build.last_q ;
  (* hierconn *) wire [11:0]   \box.build.pays_q ;
  (* hierconn *) wire          \box.b_valid ;
  (* hierconn *) wire          \box.b_last ;
  (* hierconn *) wire          \box.b_icrc ;
  (* hierconn *) wire          \box.b_rest ;
  (* hierconn *) wire          \box.b_covered ;
  (* hierconn *) wire          \box.b_end ;
  (* hierconn *) wire          \box.icrc_crc.p1_valid_q ;
  (* hierconn *) wire          \box.icrc_crc.p1_last_q ;
  (* hierconn *) wire          \box.crc_valid ;
  (* hierconn *) wire          \box.icrc_valid ;
  (* hierconn *) wire [2:0]    \box.ripe_q ;
  (* hierconn *) wire [4:0]    \box.ready_q ;
  (* hierconn *) wire [4:0]    \box.f_count ;
  (* hierconn *) wire [3:0]    \box.icrc_fifo.count_q ;
  (* hierconn *) wire [1119:0] \box.fifo.words ;

  wire [4:0] count = \box.f_count ;
  wire [2:0] ripe  = \box.ripe_q ;

  // For each FIFO entry: the frame's last beat; the ICRC begins; the rest of the ICRC.
  reg  [15:0] last;
  reg  [15:0] icrc;
  reg  [15:0] rest;
  // Frames whose ICRC is ready and waits.
  reg  [4:0]  due;
  // The rest of an ICRC must follow the youngest beat in the FIFO; must follow the beat built last.
  reg         open;
  wire        open_b = \box.b_valid ? \box.b_icrc && !\box.b_last : open;
  // The ICRC began in the beat that left the FIFO last, and its rest is still there.
  reg         split_q;
  integer     k;

  always @(posedge clk)
    if (rst) split_q <= 1'b0;
    else if (\box.take ) split_q <= icrc[0] && !last[0];

  always @* begin
    due  = {4'd0, split_q};
    open = split_q;
    for (k = 0; k < 16; k = k + 1) begin
      {last[k], icrc[k], rest[k]} = \box.fifo.words [k*70+67 +: 3];
      if (k < \box.ready_q && icrc[k]) due = due + 5'd1;
      if (k + 1 == count) open = icrc[k] && !last[k];
    end
  end

  // Beats not built yet; position in the sequence of the one built last.
  wire        spill = !\box.build.raw_q && \box.build.end_q [2];
  wire [12:0] coming = \box.build.run_q ? {1'b0, \box.build.left_q } + 13'd1 + {12'd0, spill} : {12'd0, \box.build.rest_q };
  wire [12:0] place = {8'd0, count};
  wire [14:0] behind = {2'd0, ahead_q} + {2'd0, own_q};

  // Positions of the youngest beats of the FIFO.
  wire [4:0]  at0 = count - 5'd1;
  wire [4:0]  at1 = count - {4'd0, ripe[0]} - 5'd1;
  wire [4:0]  at2 = count - {4'd0, ripe[0]} - {4'd0, ripe[1]} - 5'd1;

  always @*
    if (!rst) begin
      // Room, and no beat is taken that does not exist.
      assert (count + {4'd0, \box.b_valid } <= 5'd15);
      assert (!\box.take || count != 5'd0);
      assert (count == \box.ready_q + {4'd0, ripe[0]} + {4'd0, ripe[1]} + {4'd0, ripe[2]});
      assert (\box.ready_q <= count);
      assert (owed_q == place + {12'd0, \box.b_valid } + coming);

      // The tracked frame.
      assert (marked_q || (!youngest_q && ahead_q == 13'd0 && own_q == 13'd0));
      if (marked_q) begin
        assert (youngest_q ? behind == owed_q && own_q >= coming : behind + coming <= owed_q);
        for (k = 0; k < 16; k = k + 1)
          if (k < count && k >= ahead_q && k < behind) assert (last[k] == (k + 14'd1 == behind));
        if (\box.b_valid && place >= ahead_q && place < behind) assert (\box.b_last == (place + 14'd1 == behind));
      end

      // Payload.
      if (!\box.build.run_q ) assert (load_q == 13'd0);
      else begin
        assert (!\box.build.rest_q );
        assert (\box.build.last_q == (\box.build.left_q == 12'd0));
        assert (load_q == (\box.build.need_q ? {1'b0, \box.build.pays_q } + 13'd1 : 13'd0));
        if (\box.build.need_q )
          assert ({1'b0, \box.build.left_q } >= {1'b0, \box.build.pays_q } + {9'd0, \box.build.skip_q });
      end

      // The ICRC: its begin and its rest; in progress; ready.
      assert (\box.build.rest_q == open_b);
      assert (\box.build.first_q == !\box.build.run_q );
      if (\box.b_valid ) begin
        assert (\box.b_rest == open && (!\box.b_rest || (\box.b_last && !\box.b_icrc )));
        assert (\box.b_icrc == (\box.b_covered && \box.b_end ));
      end
      for (k = 0; k < 16; k = k + 1)
        if (k < count) begin
          assert (rest[k] == (k == 0 ? split_q : icrc[(k+15)%16] && !last[(k+15)%16]));
          assert (!rest[k] || (last[k] && !icrc[k]));
        end
      assert ((\box.icrc_crc.p1_valid_q && \box.icrc_crc.p1_last_q ) == (ripe[0] && icrc[at0[3:0]]));
      assert (\box.crc_valid == (ripe[1] && icrc[at1[3:0]]));
      assert (\box.icrc_valid == (ripe[2] && icrc[at2[3:0]]));
      assert ({1'b0, \box.icrc_fifo.count_q } == due);
      if (\box.take && (icrc[0] || rest[0])) assert (\box.icrc_fifo.count_q != 4'd0);
      // A frame with an ICRC has two beats or more, so the FIFO of ICRCs has room for those of half of the beats.
      for (k = 0; k < 15; k = k + 1)
        if (k + 1 < count) assert (!icrc[k] || !icrc[k+1]);
      if (\box.b_valid && count != 5'd0 && icrc[at0[3:0]]) assert (!\box.b_icrc );
      if (\box.build.run_q && (\box.b_valid ? \box.b_icrc : count != 5'd0 && icrc[at0[3:0]]))
        assert (\box.build.left_q != 12'd0);
    end

  // ---- Beats offered and beats discarded.

  // Consecutive cycles in which the MAC did not take the offered beat. The count has reached STALL.
  reg  [3:0]  stall_q;
  reg         ever_q;
  wire        down = stall_q == STALL;
  // The beat at the front is not the first one of its frame; every beat of it so far was offered, and the link was not
  // down since. Beats have left but the frame's last one has not; the rest of the frame that is leaving is not offered
  // any more.
  reg         mid_q;
  reg         whole_q;
  reg         begun_q;
  reg         torn_q;
  // The offered beat.
  reg         is_last_q;
  reg         is_bad_q;
  wire        within = m_valid ? !m_last : begun_q;

  always @(posedge clk)
    if (rst || !m_valid || m_ready) stall_q <= 4'd0;
    else if (!down) stall_q <= stall_q + 4'd1;

  always @(posedge clk)
    if (rst) ever_q <= 1'b0;
    else if (m_valid && !m_ready && stall_q == STALL - 1) ever_q <= 1'b1;

  always @(posedge clk)
    if (rst) mid_q <= 1'b0;
    else if (gone) mid_q <= !last[0];

  always @(posedge clk)
    if (rst || (gone && last[0])) whole_q <= 1'b1;
    else if ((gone && !\box.load ) || (mid_q && down)) whole_q <= 1'b0;

  always @(posedge clk)
    if (rst) begun_q <= 1'b0;
    else if (left) begun_q <= !m_last;

  always @(posedge clk)
    if (rst || (left && m_last)) torn_q <= 1'b0;
    else if (mid_q && whole_q && down) torn_q <= 1'b1;

  always @(posedge clk)
    if (\box.close ) {is_last_q, is_bad_q} <= 2'b11;
    else if (\box.load ) {is_last_q, is_bad_q} <= {last[0], 1'b0};

  always @*
    if (!rst) begin
      // The link is down after exactly STALL cycles.
      assert (\box.down == down && \box.g_stall.wait_q == stall_q);
      assert (stall_q == 4'd0 || m_valid);
      assert (!down || ever_q);
      assert (ever_q || (!\box.drop && !\box.cut_q && whole_q));
      // If the link was never down, nothing is discarded and no frame is truncated.
      if (!ever_q) assert (!(gone && !\box.load ) && !cnt_down && !(m_valid && m_user));
      // A beat discarded while the link is not down belongs to the rest of a frame.
      if (gone && !\box.load && !down) assert (!whole_q);
      // An offered beat was at the front, or is the end of a frame whose rest is discarded.
      if (m_valid) assert (m_last == is_last_q && m_user == is_bad_q && (!m_user || m_last));
      if (m_valid && !m_user && !m_last) assert (m_keep == 8'hff);
      if (\box.load ) assert (whole_q && within == mid_q && (!m_valid || left));
      if (\box.close ) assert (within && (!m_valid || left) && !\box.load );
      // A frame is offered as a whole or counted as discarded, at its last beat.
      assert (cnt_down == (gone && last[0] && !(\box.load && whole_q)));
      // Down: the beat at the front is discarded at once.
      if (down && \box.ready_q != 5'd0) assert (gone && !\box.load );
      // The end of a truncated frame is offered as soon as the waiting beat is taken.
      assert (torn_q == (\box.cut_q || (m_valid && m_user)));
      if (torn_q && left && !m_last) assert (\box.close );

      assert (\box.mid_q == mid_q && \box.drop_q == (mid_q && !whole_q) && \box.open_q == begun_q);
      assert (whole_q || mid_q);
      assert (!\box.cut_q || (m_valid && within && down && (mid_q ? !whole_q : whole_q)));
      if (!\box.cut_q ) assert (within == (mid_q && whole_q));
    end

  // ---- Cycles in which a built beat waits and nothing is offered, or the link is down, and no beat leaves.
  reg  [2:0]  wait_q;
  wire        waits = (m_valid && !\box.drop ) || gone || (count == 5'd0 && !\box.b_valid );

  always @(posedge clk)
    if (rst || waits) wait_q <= 3'd0;
    else wait_q <= wait_q + 3'd1;

  always @*
    if (!rst) begin
      assert (wait_q <= 3'd4);
      if (wait_q != 3'd0 && (!m_valid || \box.drop ))
        assert (\box.ready_q != 5'd0 || (ripe[2] && wait_q <= 3'd3) || (ripe[1] && wait_q <= 3'd2) || (ripe[0] && wait_q == 3'd1));
    end

  always @(posedge clk)
    if (!rst) begin
      cover (marked_q && \box.load && last[0] && ahead_q == 13'd0 && own_q == 13'd1 && !e_raw);
      cover (\box.load && last[0] && ahead_q == 13'd1 && own_q > 13'd7);
      cover (left && m_user && mid_q);
      cover (ever_q && !down && cnt_frames && begun_q);
      cover (cnt_down && whole_q);
      cover (split_q && \box.load );
      cover (count == 5'd15);
      cover (paid && load_q == 13'd1 && !begun);
    end

endmodule

// An arbitrary word: the value of the ICRC does not affect these claims.
module rf_crc_back #(
  parameter BYTES = 2
) (
  input  wire        en,
  input  wire [31:0] state,
  output wire [31:0] out
);

  (* anyseq *) reg [31:0] word;
  assign out = word;

endmodule
