// rf_egress: packets and payload come whenever they like, of every length that pipeline.md allows. What is offered stays; frames
// leave in the order in which they came, each of as many beats as it asks for, the last one marked; a packet takes as many beats
// of payload as it has; the ICRC is there when it is put in; both FIFOs have room; nothing waits inside for long. The FIFOs are
// those of queue.v, the ICRC is any word, and the first byte of a beat stands for all of it.
//
// An arbitrary frame is followed: beats that leave before it, its own. What is inside stands in a row: the output register, the
// FIFO, the beat that was built, those to come. (Wires named box.*: those inside of the module.)
module stream_egress (
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
  wire        idle;

  rf_egress #(.WIDTH(64), .FIFO_BEATS(16), .PARITY(0)) box (
    .clk(clk), .rst(rst), .mac(48'd0), .e_valid(e_valid), .e_ready(e_ready), .e_raw(e_raw), .e_hdr(e_hdr), .e_hlen(e_hlen),
    .e_plen(e_plen), .e_len(e_len), .p_valid(p_valid), .p_ready(p_ready), .p_data(p_data), .p_last(1'b0), .lost(1'b0), .spoil(1'b0),
    .m_axis_tdata(m_data), .m_axis_tkeep(m_keep), .m_axis_tvalid(m_valid), .m_axis_tlast(m_last), .m_axis_tuser(m_user), .m_axis_tready(m_ready),
    .cnt_frames(cnt_frames), .idle(idle));

  (* hierconn *) wire [3:0]   \box.reset_q ;
  (* hierconn *) wire         \box.cut_q ;

  // No frame is cut short.
  always @*
    if (!rst) assert (!\box.cut_q && !(m_valid && m_last && m_user));

  always @* begin
    assume (rst == !f_started);
    // The reset that a run begins with has come to an end, its 16th cycle or a later one.
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

  // Beats that have not left of all packets taken, of the frame that is followed, of those before it; whether it is the youngest.
  reg  [12:0] owed_q;
  reg  [12:0] ahead_q;
  reg  [12:0] own_q;
  reg         marked_q;
  reg         youngest_q;
  // Beats of payload to come.
  reg  [12:0] load_q;
  wire [12:0] now = owed_q - {12'd0, left};

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
        if (left && ahead_q != 13'd0) ahead_q <= ahead_q - 13'd1;
        else if (left && own_q != 13'd0) own_q <= own_q - 13'd1;
      end
    end

  always @*
    if (!rst) begin
      if (m_valid) assert (owed_q != 13'd0);
      if (m_valid && ahead_q == 13'd0 && own_q != 13'd0) assert (m_last == (own_q == 13'd1));
      if (paid) assert (begun ? pays != 13'd0 : load_q != 13'd0);
      if (begun) assert (load_q == 13'd0);
      assert (idle == (owed_q == 13'd0));
      assert (cnt_frames == (left && m_last));
    end

  // ---- What is inside.

  (* hierconn *) wire          \box.build.run_q ;
  (* hierconn *) wire          \box.build.rest_q ;
  (* hierconn *) wire          \box.build.raw_q ;
  (* hierconn *) wire          \box.build.need_q ;
  (* hierconn *) wire [2:0]    \box.build.end_q ;
  (* hierconn *) wire [3:0]    \box.build.skip_q ;
  (* hierconn *) wire [11:0]   \box.build.left_q ;
  (* hierconn *) wire [11:0]   \box.build.pays_q ;
  (* hierconn *) wire          \box.b_valid ;
  (* hierconn *) wire          \box.b_last ;
  (* hierconn *) wire          \box.b_icrc ;
  (* hierconn *) wire          \box.b_rest ;
  (* hierconn *) wire          \box.b_covered ;
  (* hierconn *) wire          \box.b_end ;
  (* hierconn *) wire          \box.take ;
  (* hierconn *) wire          \box.icrc_crc.p1_valid_q ;
  (* hierconn *) wire          \box.icrc_crc.p1_last_q ;
  (* hierconn *) wire          \box.crc_valid ;
  (* hierconn *) wire          \box.icrc_valid ;
  (* hierconn *) wire [2:0]    \box.ripe_q ;
  (* hierconn *) wire [4:0]    \box.ready_q ;
  (* hierconn *) wire [4:0]    \box.f_count ;
  (* hierconn *) wire [4:0]    \box.icrc_fifo.count_q ;
  (* hierconn *) wire [1119:0] \box.fifo.words ;

  wire [4:0] count = \box.f_count ;
  wire [2:0] ripe  = \box.ripe_q ;

  // Of the FIFO's places: the frame's last beat; the ICRC begins; its rest.
  reg  [15:0] last;
  reg  [15:0] icrc;
  reg  [15:0] rest;
  // Frames whose ICRC is ready and waits.
  reg  [4:0]  due;
  // The rest of an ICRC must follow the beat that is the youngest in the FIFO; that was built last.
  reg         open;
  wire        open_b = \box.b_valid ? \box.b_icrc && !\box.b_last : open;
  // The ICRC has begun in the beat that left the FIFO last, and its rest is still there.
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

  // Beats to be built; place in the row of the one built last.
  wire        spill = !\box.build.raw_q && \box.build.end_q [2];
  wire [12:0] coming = \box.build.run_q ? {1'b0, \box.build.left_q } + 13'd1 + {12'd0, spill} : {12'd0, \box.build.rest_q };
  wire [12:0] place = {8'd0, count} + {12'd0, m_valid};
  wire [14:0] behind = {2'd0, ahead_q} + {2'd0, own_q};

  // Places of the youngest beats of the FIFO.
  wire [4:0]  at0 = count - 5'd1;
  wire [4:0]  at1 = count - {4'd0, ripe[0]} - 5'd1;
  wire [4:0]  at2 = count - {4'd0, ripe[0]} - {4'd0, ripe[1]} - 5'd1;

  always @*
    if (!rst) begin
      // Room, and nothing is taken that is not there.
      assert (count + {4'd0, \box.b_valid } <= 5'd15);
      assert (!\box.take || count != 5'd0);
      assert (count == \box.ready_q + {4'd0, ripe[0]} + {4'd0, ripe[1]} + {4'd0, ripe[2]});
      assert (\box.ready_q <= count);
      assert (owed_q == place + {12'd0, \box.b_valid } + coming);

      // The frame that is followed.
      assert (marked_q || (!youngest_q && ahead_q == 13'd0 && own_q == 13'd0));
      if (marked_q) begin
        assert (youngest_q ? behind == owed_q && own_q >= coming : behind + coming <= owed_q);
        for (k = 0; k < 16; k = k + 1)
          if (k < count && k + {12'd0, m_valid} >= ahead_q && k + {12'd0, m_valid} < behind)
            assert (last[k] == (k + {12'd0, m_valid} + 14'd1 == behind));
        if (\box.b_valid && place >= ahead_q && place < behind) assert (\box.b_last == (place + 14'd1 == behind));
      end

      // Payload.
      if (!\box.build.run_q ) assert (load_q == 13'd0);
      else begin
        assert (!\box.build.rest_q );
        assert (load_q == (\box.build.need_q ? {1'b0, \box.build.pays_q } + 13'd1 : 13'd0));
        if (\box.build.need_q )
          assert ({1'b0, \box.build.left_q } >= {1'b0, \box.build.pays_q } + {9'd0, \box.build.skip_q });
      end

      // The ICRC: where it begins and its rest; on its way; ready.
      assert (\box.build.rest_q == open_b);
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
      assert (\box.icrc_fifo.count_q == due);
      if (\box.take && (icrc[0] || rest[0])) assert (\box.icrc_fifo.count_q != 5'd0);
    end

  // ---- Cycles in which a built beat waits and nothing is offered.
  reg  [2:0]  wait_q;

  always @(posedge clk)
    if (rst || m_valid || (count == 5'd0 && !\box.b_valid )) wait_q <= 3'd0;
    else wait_q <= wait_q + 3'd1;

  always @*
    if (!rst) begin
      assert (wait_q <= (m_valid ? 3'd5 : 3'd4));
      if (wait_q != 3'd0 && !m_valid)
        assert (\box.ready_q != 5'd0 || (ripe[2] && wait_q <= 3'd3) || (ripe[1] && wait_q <= 3'd2) || (ripe[0] && wait_q == 3'd1));
    end

  always @(posedge clk)
    if (!rst) begin
      cover (marked_q && left && m_last && ahead_q == 13'd0 && own_q == 13'd1 && !e_raw);
      cover (left && m_last && ahead_q == 13'd1 && own_q > 13'd7);
      cover (split_q && left && !m_last);
      cover (count == 5'd15);
      cover (paid && load_q == 13'd1 && !begun);
    end

endmodule

// Any word: what the ICRC is decides nothing here.
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
