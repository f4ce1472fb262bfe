// rf_ingress: frames arrive at any time, of any length, with gaps. Descriptors are taken at any time, and each is
// answered by one command, in order. An offered value is stable. Every frame is counted as lost or gives one
// descriptor, with its own length, in order of arrival. A command produces the number of beats that it requests, the
// last one marked. No queue overflows and all stay in step. No word is read that was not written, and none is
// overwritten before it is read. A payload is within its frame. The queues are those of queue.v; the memory and the CRC
// return arbitrary words.
//
// An arbitrary frame and an arbitrary command are tracked. (Wires named box.* are internal to the module.)
module stream_ingress (
  input wire        clk,
  input wire        rst,
  input wire [63:0] s_data,
  input wire [7:0]  s_keep,
  input wire        s_valid,
  input wire        s_last,
  input wire        s_user,
  input wire [47:0] base_mac,
  input wire [31:0] box_ip,
  input wire [63:0] port_ip,
  input wire [1:0]  port_ip_set,
  input wire        d_ready,
  input wire        h_take,
  input wire        c_valid,
  input wire [1:0]  c_op,
  input wire        o_ready,
  input wire        pick,
  input wire        pick_c
);

`include "rf_start.vh"

  // The longest frame: 96 bytes, 12 beats.
  localparam LONGEST = 10 + 86;

  wire         cnt_frames;
  wire         cnt_overflow;
  wire         d_valid;
  wire [1:0]   d_class;
  wire [7:0]   d_cause;
  wire [13:0]  d_len;
  wire [639:0] d_hdr;
  wire         d_vlan;
  wire [7:0]   d_opcode;
  wire [23:0]  d_qpn;
  wire [23:0]  d_psn;
  wire [1:0]   d_pad;
  wire [31:0]  d_src_ip;
  wire [1:0]  d_role;
  wire [31:0] d_key_ip;
  wire [15:0]  d_udp_len;
  wire [6:0]   d_hlen;
  wire [13:0]  d_plen;
  wire [7:0]   d_syndrome;
  wire [23:0]  d_msn;
  wire         d_icrc_ok;
  wire         c_ready;
  wire         o_valid;
  wire [63:0]  o_data;
  wire [7:0]   o_keep;
  wire         o_last;
  wire         idle;

  rf_ingress #(.WIDTH(64), .PORTS(2), .PORT(1), .MTU_MAX(10), .FIFO_BEATS(64), .FRAMES(4), .PARITY(0)) box (
    .clk(clk), .rst(rst), .s_axis_tdata(s_data), .s_axis_tkeep(s_keep), .s_axis_tvalid(s_valid), .s_axis_tlast(s_last),
    .s_axis_tuser(s_user), .base_mac(base_mac), .box_ip(box_ip), .port_ip(port_ip), .port_ip_set(port_ip_set), .cnt_frames(cnt_frames), .cnt_overflow(cnt_overflow),
    .d_valid(d_valid), .d_ready(d_ready), .d_class(d_class), .d_cause(d_cause), .d_len(d_len), .d_hdr(d_hdr), .h_take(h_take), .d_vlan(d_vlan),
    .d_opcode(d_opcode), .d_qpn(d_qpn), .d_psn(d_psn), .d_pad(d_pad), .d_src_ip(d_src_ip), .d_role(d_role), .d_key_ip(d_key_ip),
    .d_udp_len(d_udp_len), .d_hlen(d_hlen), .d_plen(d_plen), .d_syndrome(d_syndrome), .d_msn(d_msn), .d_icrc_ok(d_icrc_ok),
    .c_valid(c_valid), .c_ready(c_ready), .c_op(c_op), .o_valid(o_valid), .o_ready(o_ready), .o_data(o_data), .o_keep(o_keep),
    .o_last(o_last), .idle(idle));

  (* hierconn *) wire         \box.i0_valid_q ;
  (* hierconn *) wire [3:0]   \box.quiet_q ;
  (* hierconn *) wire         \box.skip_q ;
  (* hierconn *) wire         \box.i0_last_q ;
  (* hierconn *) wire         \box.lost_q ;
  (* hierconn *) wire         \box.long_q ;
  (* hierconn *) wire [10:0]  \box.beat_q ;
  (* hierconn *) wire [6:0]   \box.wr_ptr_q ;
  (* hierconn *) wire [6:0]   \box.start_q ;
  (* hierconn *) wire [2:0]   \box.frames_q ;
  (* hierconn *) wire         \box.store ;
  (* hierconn *) wire         \box.p1_valid_q ;
  (* hierconn *) wire         \box.p1_bad_q ;
  (* hierconn *) wire         \box.p1_long_q ;
  (* hierconn *) wire [13:0]  \box.p1_len_q ;
  (* hierconn *) wire [5:0]   \box.p1_beats_q ;
  (* hierconn *) wire         \box.p2_valid ;
  (* hierconn *) wire [5:0]   \box.p2_beats_q ;
  (* hierconn *) wire [1:0]   \box.p2_class ;
  (* hierconn *) wire [13:0]  \box.p2_len ;
  (* hierconn *) wire         \box.p2_vlan ;
  (* hierconn *) wire [6:0]   \box.p2_hlen ;
  (* hierconn *) wire [13:0]  \box.p2_plen ;
  (* hierconn *) wire [15:0]  \box.p2_udp_len ;
  (* hierconn *) wire         \box.check.p1_bad_q ;
  (* hierconn *) wire         \box.check.p1_long_q ;
  (* hierconn *) wire         \box.check.p1_runt_q ;
  (* hierconn *) wire         \box.check.p1_min_len_q ;
  (* hierconn *) wire [16:0]  \box.check.p1_end_q ;
  (* hierconn *) wire [16:0]  \box.check.p1_udp_end_q ;
  (* hierconn *) wire [15:0]  \box.check.p1_total_q ;
  (* hierconn *) wire [2:0]   \box.hdr_fifo.g_plain.fifo.count_q ;
  (* hierconn *) wire [2:0]   \box.desc_fifo.g_plain.fifo.count_q ;
  (* hierconn *) wire [2:0]   \box.info_fifo.g_plain.fifo.count_q ;
  (* hierconn *) wire [875:0] \box.desc_fifo.g_plain.fifo.words ;
  (* hierconn *) wire [163:0] \box.info_fifo.g_plain.fifo.words ;
  (* hierconn *) wire         \box.taken ;
  (* hierconn *) wire         \box.rd_en ;
  (* hierconn *) wire [5:0]   \box.rd_addr ;
  (* hierconn *) wire [6:0]   \box.free_ptr ;
  (* hierconn *) wire         \box.read.busy_q ;
  (* hierconn *) wire         \box.read.extra_q ;
  (* hierconn *) wire [11:0]  \box.read.left_q ;
  (* hierconn *) wire [6:0]   \box.read.addr_q ;
  (* hierconn *) wire [6:0]   \box.read.base_q ;
  (* hierconn *) wire [6:0]   \box.read.first_addr ;
  (* hierconn *) wire         \box.read.b_out_q ;
  (* hierconn *) wire         \box.read.b_last_q ;

  // Frames that await their command; those whose descriptor has not been taken.
  wire [2:0]   infos = \box.info_fifo.g_plain.fifo.count_q ;
  wire [2:0]   descs = \box.desc_fifo.g_plain.fifo.count_q ;
  wire         p1 = \box.p1_valid_q ;
  wire         p2 = \box.p2_valid ;

  // The classes of the frames that await their command, oldest first; descriptors taken that await theirs.
  reg  [7:0]   class_q;
  reg  [2:0]   wait_q;
  // Those of which the header has not been taken.
  reg  [2:0]   heads_q;
  wire [2:0]   place = infos - {2'd0, \box.taken };
  wire [7:0]   class_m = \box.taken ? {2'd0, class_q[7:2]} : class_q;
  wire         d_taken = d_valid && d_ready;
  wire [13:0]  i_plen = \box.info_fifo.g_plain.fifo.words [13:0];
  wire [6:0]   i_hlen = \box.info_fifo.g_plain.fifo.words [20:14];
  wire [13:0]  i_len = \box.info_fifo.g_plain.fifo.words [34:21];
  integer      k;

  always @(posedge clk)
    for (k = 0; k < 4; k = k + 1) class_q[2*k +: 2] <= (p2 && place == k) ? \box.p2_class : class_m[2*k +: 2];

  always @(posedge clk)
    if (rst) wait_q <= 3'd0;
    else wait_q <= wait_q + {2'd0, d_taken} - {2'd0, \box.taken };

  always @(posedge clk)
    if (rst) heads_q <= 3'd0;
    else heads_q <= heads_q + {2'd0, d_taken} - {2'd0, h_take};

  always @* begin
    assume (rst == !f_started);
    // The initial reset has ended: no beats for 16 cycles.
    if (!f_started) assume (\box.quiet_q == 4'd15 && !s_valid);
    // Zeros and gaps in tkeep only after the end of the frame.
    assume (s_keep[0] && (s_keep & (s_keep + 8'd1)) == 8'd0 && (s_last || s_keep == 8'hff));
    // The header of each descriptor is taken, then a command answers it. A dropped frame is not read, and a RoCE packet
    // without payload is not read as payload.
    if (h_take) assume (heads_q != 3'd0 || d_taken);
    if (c_valid) assume (wait_q != heads_q || h_take);
    if (c_valid && c_op != 2'd0) assume (class_q[1:0] != 2'd0);
    if (c_valid && c_op == 2'd1) assume (class_q[1:0] == 2'd2 && !i_plen[13] && i_plen != 14'd0);
  end

  stream #(.WIDTH(39)) d (
    .clk(clk), .rst(rst), .valid(d_valid), .ready(d_ready), .data({d_class, d_len, d_plen, d_icrc_ok, d_psn[7:0]}));
  stream #(.WIDTH(8)) h (.clk(clk), .rst(rst), .valid(heads_q != 3'd0), .ready(h_take), .data(d_hdr[7:0]));
  stream #(.WIDTH(17)) o (
    .clk(clk), .rst(rst), .valid(o_valid), .ready(o_ready), .data({o_last, o_keep, o_data[7:0]}));

  // ---- The tracked frame: counted, judged, offered after other frames. Its length in bytes.

  reg          s_valid_q;
  reg          s_last_q;
  reg  [3:0]   s_ones_q;
  reg  [10:0]  beats_q;
  reg          marked_q;
  reg          reported_q;
  reg          judged_q;
  reg          there_q;
  reg  [2:0]   ahead_q;
  reg  [13:0]  length_q;
  wire         ends = s_valid_q && s_last_q;
  wire [13:0]  length = beats_q == 11'h7ff ? 14'h3fff : {beats_q, 3'd0} + {10'd0, s_ones_q};

  function [3:0] ones;
    input [7:0] keep;
    integer     b;
    begin
      ones = 4'd0;
      for (b = 0; b < 8; b = b + 1) ones = ones + {3'd0, keep[b]};
    end
  endfunction

  always @(posedge clk) begin
    s_valid_q <= !rst && s_valid;
    if (s_valid) begin
      s_last_q <= s_last;
      s_ones_q <= ones(s_keep);
    end
  end

  always @(posedge clk)
    if (rst || ends) beats_q <= 11'd0;
    else if (s_valid_q && beats_q != 11'h7ff) beats_q <= beats_q + 11'd1;

  always @(posedge clk)
    if (rst) {marked_q, reported_q, judged_q, there_q} <= 4'd0;
    else begin
      reported_q   <= ends && pick && !marked_q && !cnt_overflow;
      judged_q <= reported_q;
      if (ends && pick && !marked_q) begin
        marked_q <= 1'b1;
        length_q <= length;
      end
      if (judged_q) begin
        there_q <= 1'b1;
        ahead_q <= descs - {2'd0, d_taken};
      end else if (there_q && d_taken) begin
        if (ahead_q == 3'd0) there_q <= 1'b0;
        ahead_q <= ahead_q - 3'd1;
      end
    end

  reg  [218:0] word;
  always @* begin
    word = 219'd0;
    for (k = 0; k < 4; k = k + 1) if (ahead_q == k) word = \box.desc_fifo.g_plain.fifo.words [219*k +: 219];
  end

  always @*
    if (!rst) begin
      assert (!\box.skip_q );
      assert (cnt_frames == ends && (!cnt_overflow || cnt_frames));
      if (there_q && ahead_q == 3'd0) assert (d_valid && d_len == length_q);
      if (there_q) assert (ahead_q < descs && word[208:195] == length_q);
      // Position of the frame.
      assert (s_valid_q == \box.i0_valid_q && beats_q == \box.beat_q );
      assert (!reported_q || (p1 && \box.p1_len_q == length_q && marked_q && !judged_q && !there_q));
      assert (!judged_q || (p2 && \box.p2_len == length_q && marked_q && !there_q));
      assert (!there_q || marked_q);
    end

  (* hierconn *) wire [3:0] \box.i0_ones_q ;
  always @*
    if (!rst && s_valid_q) begin
      assert (s_last_q == \box.i0_last_q && s_ones_q == \box.i0_ones_q );
      assert (s_last_q ? s_ones_q != 4'd0 && s_ones_q <= 4'd8 : s_ones_q == 4'd8);
    end

  // ---- The queues, and the properties of their words that the reader relies on.

  // Beats of the frames stored.
  reg  [6:0]   sum;
  reg  [40:0]  info;
  wire [6:0]   l2 = \box.p2_vlan ? 7'd18 : 7'd14;
  wire [6:0]   ext = \box.p2_hlen - 7'd40 - l2;

  function fits;
    input [5:0]  beats;
    input [13:0] len;
    fits = len != 14'd0 && len <= LONGEST && {6'd0, beats} == (len + 14'd7) >> 3;
  endfunction

  always @* begin
    sum = (p1 ? {1'b0, \box.p1_beats_q } : 7'd0) + (p2 ? {1'b0, \box.p2_beats_q } : 7'd0);
    for (k = 0; k < 4; k = k + 1)
      if (k < infos) sum = sum + {1'b0, \box.info_fifo.g_plain.fifo.words [41*k+35 +: 6]};
  end

  always @*
    if (!rst) begin
      assert (\box.hdr_fifo.g_plain.fifo.count_q == descs + {2'd0, p2} + heads_q);
      assert (heads_q <= wait_q);
      assert ({1'b0, infos} == {1'b0, descs} + {1'b0, wait_q} && wait_q <= 3'd4 && descs <= 3'd4);
      assert (\box.frames_q == infos + {2'd0, p1} + {2'd0, p2} && \box.frames_q <= 3'd4 && infos <= 3'd4);
      assert (idle == (!s_valid_q && beats_q == 11'd0 && \box.frames_q == 3'd0 && owed_q == 6'd0 && !\box.read.busy_q ));
      if (p1) assert (\box.p1_beats_q == 6'd0 ? \box.p1_bad_q || \box.p1_long_q :
                      !\box.p1_bad_q && !\box.p1_long_q && fits(\box.p1_beats_q , \box.p1_len_q ));
      if (p2) begin
        assert (\box.p2_beats_q == 6'd0 ? \box.check.p1_bad_q || \box.check.p1_long_q :
                !\box.check.p1_bad_q && !\box.check.p1_long_q && fits(\box.p2_beats_q , \box.p2_len ));
        assert (\box.check.p1_runt_q == (\box.p2_len < 14'd60) && 
                \box.check.p1_min_len_q == (\box.p2_len == 14'd60 || (\box.p2_vlan && \box.p2_len <= 14'd64)));
        assert (\box.check.p1_end_q == {1'b0, \box.check.p1_total_q } + {10'd0, l2});
        assert (\box.check.p1_udp_end_q == {1'b0, \box.p2_udp_len } + 17'd20);
        assert (ext == 7'd0 || ext == 7'd4 || ext == 7'd16 || ext == 7'd20);
        assert (\box.p2_plen == \box.p2_udp_len [13:0] - 14'd24 - {7'd0, ext});
      end
      for (k = 0; k < 4; k = k + 1) begin
        info = \box.info_fifo.g_plain.fifo.words [41*k +: 41];
        if (k < infos) begin
          assert (info[40:35] == 6'd0 || fits(info[40:35], info[34:21]));
          if (class_q[2*k +: 2] != 2'd0) assert (info[40:35] != 6'd0 && info[34:21] >= 14'd60);
          // The payload is within its frame.
          if (class_q[2*k +: 2] == 2'd2 && !info[13] && info[13:0] != 14'd0)
            assert ({1'b0, info[13:0]} + {8'd0, info[20:14]} + 15'd4 <= {1'b0, info[34:21]} && info[20:14] >= 7'd54);
        end
      end
    end

  // ---- The ring: pointers free, read from, read up to, kept up to, written up to.

  wire [6:0]   from = \box.read.busy_q ? \box.read.addr_q : \box.read.base_q ;
  wire [6:0]   used = \box.wr_ptr_q - \box.free_ptr ;
  wire [6:0]   under_way = \box.wr_ptr_q - \box.start_q ;
  wire [6:0]   reading = \box.read.base_q - from;
  wire [6:0]   freeing = from - \box.free_ptr ;
  wire [6:0]   read_at = (\box.read.busy_q ? \box.read.addr_q : \box.read.first_addr ) - \box.free_ptr ;

  always @*
    if (!rst) begin
      assert (\box.start_q - \box.read.base_q == sum);
      assert ({3'd0, used} == {3'd0, under_way} + {3'd0, sum} + {3'd0, reading} + {3'd0, freeing} && used <= 7'd64);
      assert (!\box.store || used < 7'd64);
      if (\box.rd_en ) assert (read_at < used - under_way);
      assert (under_way <= 7'd12 && reading <= 7'd12 && freeing <= 7'd12);
      if (!\box.lost_q && !\box.long_q ) assert (beats_q <= 11'd12 && {4'd0, under_way} == beats_q);
      if (\box.lost_q || \box.long_q ) assert (beats_q != 11'd0);
      if (\box.read.busy_q )
        assert (\box.read.left_q != 12'd0 && {5'd0, reading} >= \box.read.left_q );
    end

  // ---- Commands: outstanding beats of those taken, of the tracked one, of those before it; whether it is the
  // youngest.

  reg  [5:0]   owed_q;
  reg  [5:0]   before_q;
  reg  [5:0]   own_q;
  reg          picked_q;
  reg          youngest_q;
  wire [13:0]  bytes = (c_op == 2'd0 ? 14'd0 : c_op == 2'd1 ? i_plen : i_len) + 14'd7;
  wire [5:0]   outs = c_op == 2'd0 ? 6'd0 : bytes[8:3];
  wire         out = o_valid && o_ready;
  wire [5:0]   now = owed_q - {5'd0, out};

  always @(posedge clk)
    if (rst) begin
      owed_q     <= 6'd0;
      before_q   <= 6'd0;
      own_q      <= 6'd0;
      picked_q   <= 1'b0;
      youngest_q <= 1'b0;
    end else begin
      owed_q <= now + (\box.taken ? outs : 6'd0);
      if (\box.taken && pick_c && !picked_q && outs != 6'd0) begin
        picked_q   <= 1'b1;
        youngest_q <= 1'b1;
        before_q   <= now;
        own_q      <= outs;
      end else begin
        if (\box.taken ) youngest_q <= 1'b0;
        if (out && before_q != 6'd0) before_q <= before_q - 6'd1;
        else if (out && own_q != 6'd0) own_q <= own_q - 6'd1;
      end
    end

  wire [6:0]   behind = {1'b0, before_q} + {1'b0, own_q};
  wire [5:0]   coming = \box.read.busy_q ? \box.read.left_q [5:0] - {5'd0, \box.read.extra_q } : 6'd0;
  wire         b_out = \box.read.b_out_q ;

  always @*
    if (!rst) begin
      assert (\box.taken == (c_valid && c_ready));
      if (o_valid) assert (owed_q != 6'd0);
      if (o_valid && before_q == 6'd0 && own_q != 6'd0) assert (o_last == (own_q == 6'd1));
      assert (owed_q <= 6'd14 && owed_q == coming + {5'd0, o_valid} + {5'd0, b_out});
      assert (picked_q || (!youngest_q && behind == 7'd0));
      assert (behind <= {1'b0, owed_q});
      if (picked_q) begin
        assert (youngest_q ? behind == {1'b0, owed_q} && own_q >= coming : behind + {1'b0, coming} <= {1'b0, owed_q});
        if (b_out && {5'd0, o_valid} >= before_q && {6'd0, o_valid} < behind)
          assert (\box.read.b_last_q == ({6'd0, o_valid} + 7'd1 == behind));
      end
    end

  always @(posedge clk)
    if (!rst) begin
      cover (there_q && d_taken && ahead_q == 3'd1);
      cover (cnt_overflow);
      cover (picked_q && out && o_last && before_q == 6'd0 && own_q == 6'd1 && length_q == 14'd63);
      cover (\box.taken && c_op == 2'd1 && outs == 6'd2);
    end

endmodule

// An arbitrary word: the value of the CRC does not affect these claims.
module rf_crc #(
  parameter WIDTH = 64
) (
  input  wire             clk,
  input  wire             rst,
  input  wire             in_valid,
  input  wire [WIDTH-1:0] in_data,
  input  wire             in_last,
  output wire             out_valid,
  output wire [31:0]      out_crc
);

  (* anyseq *) reg [32:0] word;
  assign {out_valid, out_crc} = word;

endmodule
