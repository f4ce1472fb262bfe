// rf_egress: builds the frames that leave by one port: header, payload and a new ICRC, or a raw frame with a new source
// MAC.
//
// Latency     LATENCY = 6 cycles from e_valid (with p_valid if the first beat takes payload) to m_axis_tvalid.
// Throughput  one beat per cycle, no bubble between frames.
// Capacity    FIFO_BEATS beats.
// Handshake   e_ready is high in the cycle in which the packet's first beat is built; it depends on e_raw, e_hlen,
//             e_plen and p_valid, so p_valid must not wait for e_ready. p_ready depends on e_valid, likewise. m_axis
//             comes from registers; m_axis_tready reaches register enables and one read pointer only.
// Reset       drops everything. A frame in progress on m_axis is ended by one more beat with m_axis_tuser: the MAC then
//             sends a wrong FCS. That beat is already offered during reset and stays until it is taken. After 16 cycles
//             of reset that beat is discarded too.
// Link down   the link is down when a beat is not taken for STALL_CYCLES. Until a beat is taken, whole frames are
//             discarded at full rate. The frame that was cut ends as after a reset; the first frame after it is whole.
// Proved      tests/formal/stream_egress.v: order, whole frames, room, the ICRC in time; an offered beat is held until
//             taken; link-down behaviour.
//
// Made packets: e_hlen is 54, 58, 62, 70, 74 or 78 and matches opcode and tag. e_plen is a multiple of 4; 0 is allowed.
// There are ceil(e_plen / B) beats of payload; bytes after the payload in the last one are ignored. Raw frames have
// ceil(e_len / B) beats.

`default_nettype none

module rf_egress #(
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512,
  // Beats of the output FIFO: a power of two, 16 or more.
  parameter FIFO_BEATS = 32,
  // The link counts as down after this many cycles in which a beat is offered without m_axis_tready; 0: never.
  parameter STALL_CYCLES = 250000,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire               clk,
  input  wire               rst,

  // Source MAC of every frame sent.
  input  wire [47:0]        mac,

  input  wire               e_valid,
  output wire               e_ready,
  input  wire               e_raw,
  input  wire [639:0]       e_hdr,
  input  wire [6:0]         e_hlen,
  input  wire [13:0]        e_plen,
  input  wire [13:0]        e_len,

  input  wire               p_valid,
  output wire               p_ready,
  input  wire [WIDTH-1:0]   p_data,
  input  wire               p_last,

  // The header or beat of a made packet that was taken in the last cycle is wrong, so its ICRC is made wrong too. While
  // spoil is high, this applies to every header and beat.
  input  wire               lost,
  input  wire               spoil,

  output wire [WIDTH-1:0]   m_axis_tdata,
  output wire [WIDTH/8-1:0] m_axis_tkeep,
  output wire               m_axis_tvalid,
  output wire               m_axis_tlast,
  // With m_axis_tlast: the frame is truncated and bad.
  output wire               m_axis_tuser,
  input  wire               m_axis_tready,

  // One pulse per frame that has left completely.
  output wire               cnt_frames,
  // One pulse per frame whose last beat was discarded.
  output wire               cnt_down,
  // A parity error in the bits that mark the end of a frame.
  output wire               bad,
  // The module is empty.
  output wire               idle
);

  localparam B  = WIDTH / 8;
  localparam LB = $clog2(B);
  localparam AW = $clog2(FIFO_BEATS);

  // Minimum number of cycles that a beat stays in the FIFO, so that the ICRC is ready when the last covered beat
  // leaves.
  localparam WAIT = 3;

  generate
    if (FIFO_BEATS != (1 << AW) || FIFO_BEATS < 16) begin : g_error_fifo
      ERROR_rf_egress_FIFO_BEATS_must_be_a_power_of_two_from_16_on error ();
    end
  endgenerate

  // ---- Cycle 0: build the beat.

  wire             b_valid;
  wire [WIDTH-1:0] b_data;
  wire             b_last;
  wire [LB-1:0]    b_ones;
  wire             b_icrc;
  wire             b_rest;
  wire             b_covered;
  wire [2:0]       b_beat;
  wire             b_vlan;
  wire             b_end;
  wire             b_idle;
  wire             tight;
  wire             unused_p_last = &{1'b0, p_last};

  rf_egress_build #(
    .WIDTH(WIDTH)
  ) build (
    .clk      (clk),
    .rst      (rst),
    .mac      (mac),
    .room     (!tight),
    .e_valid  (e_valid),
    .e_ready  (e_ready),
    .e_raw    (e_raw),
    .e_hdr    (e_hdr),
    .e_hlen   (e_hlen),
    .e_plen   (e_plen),
    .e_len    (e_len),
    .p_valid  (p_valid),
    .p_ready  (p_ready),
    .p_data   (p_data),
    .b_valid  (b_valid),
    .b_data   (b_data),
    .b_last   (b_last),
    .b_ones   (b_ones),
    .b_icrc   (b_icrc),
    .b_rest   (b_rest),
    .b_covered(b_covered),
    .b_beat   (b_beat),
    .b_vlan   (b_vlan),
    .b_end    (b_end),
    .idle     (b_idle)
  );

  // ---- Cycles 1 to 4: the ICRC; the beat waits in the FIFO.

  wire [WIDTH-1:0] masked;
  wire             crc_valid;
  wire [31:0]      crc;
  reg  [LB-3:0]    p2_end_q;
  reg  [LB-3:0]    p3_end_q;
  wire             icrc_valid;
  wire [31:0]      icrc;

  rf_icrc_mask #(
    .WIDTH(WIDTH)
  ) icrc_mask (
    .beat    (b_beat),
    .vlan    (b_vlan),
    .in_data (b_data),
    .out_data(masked)
  );

  rf_crc #(
    .WIDTH(WIDTH)
  ) icrc_crc (
    .clk      (clk),
    .rst      (rst),
    .in_valid (b_valid && b_covered),
    .in_data  (masked),
    .in_last  (b_end),
    .out_valid(crc_valid),
    .out_crc  (crc)
  );

  // b_ones is 4 more than the end of the covered bytes.
  always @(posedge clk) p2_end_q <= b_ones[LB-1:2] - 1'b1;

  always @(posedge clk) p3_end_q <= p2_end_q;

  rf_icrc_tail #(
    .WIDTH(WIDTH)
  ) icrc_tail (
    .clk      (clk),
    .rst      (rst),
    .in_valid (crc_valid),
    .in_crc   (crc),
    .in_end   (p3_end_q),
    .out_valid(icrc_valid),
    .out_icrc (icrc)
  );

  // A packet counts as wrong as a whole. Its ICRC is then inverted, when it is inserted; the mark is ready with the ICRC,
  // 3 cycles after the last beat.
  reg  lost_q;
  reg  p2_lost_q;
  reg  p3_lost_q;
  reg  p4_wrong_q;
  wire lost_now = lost_q || lost;

  always @(posedge clk)
    if (rst) lost_q <= 1'b0;
    else if (b_valid && b_covered) lost_q <= lost_now && !b_end;

  always @(posedge clk) {p4_wrong_q, p3_lost_q, p2_lost_q} <= {p3_lost_q || spoil, p2_lost_q, lost_now};

  wire [WIDTH-1:0] f_data;
  wire             f_last;
  wire             f_icrc;
  wire             f_rest;
  wire [LB-1:0]    f_ones;
  wire             f_valid;
  wire             take;
  wire             unused_f_ready;
  wire [AW:0]      f_count;

  // The ICRC detects bit errors in the data stored here; the bits that mark the end of a frame have parity.
  localparam SIDE = LB + 3;

  wire [SIDE-1:0] b_side = {b_last, b_icrc, b_rest, b_ones};
  wire            f_kept;
  wire [WIDTH+SIDE+PARITY-1:0] b_word;
  wire [WIDTH+SIDE+PARITY-1:0] f_word;

  rf_fifo #(
    .WIDTH       (WIDTH + SIDE + PARITY),
    .DEPTH       (FIFO_BEATS),
    .READ_LATENCY(0),
    .AFULL       (FIFO_BEATS - 2)
  ) fifo (
    .clk        (clk),
    .rst        (rst),
    .s_valid    (b_valid),
    .s_ready    (unused_f_ready),
    .s_data     (b_word),
    .m_valid    (f_valid),
    .m_ready    (take),
    .m_data     (f_word),
    .count      (f_count),
    .almost_full(tight)
  );

  generate
    if (PARITY != 0) begin : g_parity
      reg bad_q;

      assign b_word = {^b_side, b_side, b_data};
      assign {f_kept, f_last, f_icrc, f_rest, f_ones, f_data} = f_word;

      always @(posedge clk)
        if (rst) bad_q <= 1'b0;
        else bad_q <= take && f_kept != ^{f_last, f_icrc, f_rest, f_ones};

      assign bad = bad_q;
    end else begin : g_plain
      assign b_word = {b_side, b_data};
      assign {f_last, f_icrc, f_rest, f_ones, f_data} = f_word;
      assign f_kept = 1'b0;
      assign bad    = f_kept;
    end
  endgenerate

  // A made frame has at least 62 bytes: no more than half of the beats of a narrow FIFO are ends of frames.
  localparam ICRCS = (WIDTH == 512) ? FIFO_BEATS : FIFO_BEATS / 2;

  wire        unused_q_ready;
  wire        unused_q_valid;
  wire        unused_q_afull;
  wire [$clog2(ICRCS):0] unused_q_count;
  wire [31:0] q_made;
  wire        q_wrong;
  wire [31:0] q_icrc = q_made ^ {32{q_wrong}};

  rf_fifo #(
    .WIDTH       (33),
    .DEPTH       (ICRCS),
    .READ_LATENCY(0),
    .COUNT       (0)
  ) icrc_fifo (
    .clk        (clk),
    .rst        (rst),
    .s_valid    (icrc_valid),
    .s_ready    (unused_q_ready),
    .s_data     ({p4_wrong_q, icrc}),
    .m_valid    (unused_q_valid),
    .m_ready    (take && f_last && (f_icrc || f_rest)),
    .m_data     ({q_wrong, q_made}),
    .count      (unused_q_count),
    .almost_full(unused_q_afull)
  );

  // Beats that have stayed long enough.
  reg  [WAIT-1:0] ripe_q;
  reg  [AW:0]     ready_q;

  always @(posedge clk)
    if (rst) ripe_q <= {WAIT{1'b0}};
    else ripe_q <= {ripe_q[WAIT-2:0], b_valid};

  always @(posedge clk)
    if (rst) ready_q <= {AW + 1{1'b0}};
    else if (ripe_q[WAIT-1] && !take) ready_q <= ready_q + 1'b1;
    else if (take && !ripe_q[WAIT-1]) ready_q <= ready_q - 1'b1;

  // ---- The last cycle: insert the ICRC.

  localparam GROUPS = B / 4;
  localparam HIGH   = GROUPS - 1;

  reg              o_valid_q;
  reg              o_last_q;
  reg  [LB-1:0]    o_ones_q;
  reg  [WIDTH-1:0] o_data_q;
  reg  [WIDTH-1:0] o_data;
  wire [LB-3:0]    place = f_ones[LB-1:2] - 1'b1;
  wire             unused_f_valid = &{1'b0, f_valid};
  integer          g;

  // Effect of a reset, or of a link that is down, on a frame that has begun to leave.
  reg              o_bad_q;
  reg              open_q;
  reg              cut_q;
  reg  [3:0]       reset_q;
  wire             cold  = rst && reset_q == 4'd15;
  wire             free  = m_axis_tready || !o_valid_q;
  // The beat on offer, or the last one that has left, is not the last of its frame.
  wire             open  = o_valid_q ? !o_last_q : open_q;

  // The link is down. The beat at the FIFO output is not the first of its frame; it is discarded because an earlier one
  // was.
  wire             down;
  reg              mid_q;
  reg              drop_q;
  wire             drop  = down || drop_q;
  wire             close = free && open && (rst || drop || cut_q);

  assign take = ready_q != {AW + 1{1'b0}} && !rst && (drop || (free && !cut_q));

  wire             load  = take && !drop;

  generate
    if (STALL_CYCLES != 0) begin : g_stall
      localparam SW = $clog2(STALL_CYCLES + 1);
      localparam [31:0] STALL = STALL_CYCLES - 1;

      reg [SW-1:0] wait_q;
      reg          down_q;

      always @(posedge clk)
        if (cold || free) wait_q <= {SW{1'b0}};
        else if (!down_q) wait_q <= wait_q + 1'b1;

      always @(posedge clk)
        if (cold || free) down_q <= 1'b0;
        else if (wait_q == STALL[SW-1:0]) down_q <= 1'b1;

      assign down = down_q;
    end else begin : g_patient
      assign down = 1'b0;
    end
  endgenerate

  always @(posedge clk)
    if (rst) mid_q <= 1'b0;
    else if (take) mid_q <= !f_last;

  always @(posedge clk)
    if (rst) drop_q <= 1'b0;
    else drop_q <= drop && (take ? !f_last : mid_q);

  always @(posedge clk)
    if (!rst) reset_q <= 4'd0;
    else if (!cold) reset_q <= reset_q + 4'd1;

  always @(posedge clk)
    if (cold) open_q <= 1'b0;
    else if (o_valid_q && m_axis_tready) open_q <= !o_last_q;

  always @(posedge clk)
    if (cold || close) cut_q <= 1'b0;
    else if ((rst || drop) && open) cut_q <= 1'b1;

  always @* begin
    o_data = f_data;
    if (f_icrc) begin
      for (g = 0; g < HIGH; g = g + 1) if (place == g[LB-3:0]) o_data[32*g+16+:32] = q_icrc;
      if (place == HIGH[LB-3:0]) o_data[WIDTH-1-:16] = q_icrc[15:0];
    end
    if (f_rest) o_data[15:0] = q_icrc[31:16];
  end

  always @(posedge clk)
    if (cold) o_valid_q <= 1'b0;
    else if (load || close) o_valid_q <= 1'b1;
    else if (m_axis_tready) o_valid_q <= 1'b0;

  always @(posedge clk)
    if (close) begin
      o_last_q <= 1'b1;
      o_bad_q  <= 1'b1;
      o_ones_q <= {LB{1'b0}};
    end else if (load) begin
      o_last_q <= f_last;
      o_bad_q  <= 1'b0;
      o_ones_q <= f_ones;
      o_data_q <= o_data;
    end

  assign m_axis_tvalid = o_valid_q;
  assign m_axis_tlast  = o_last_q;
  assign m_axis_tuser  = o_last_q && o_bad_q;
  assign m_axis_tdata  = o_data_q;
  assign m_axis_tkeep  = (o_last_q && o_ones_q != {LB{1'b0}}) ? ~({B{1'b1}} << o_ones_q) : {B{1'b1}};
  assign cnt_frames    = o_valid_q && o_last_q && !o_bad_q && m_axis_tready;
  assign cnt_down      = take && drop && f_last;
  assign idle          = b_idle && f_count == {AW + 1{1'b0}} && !o_valid_q && !cut_q;

endmodule

`default_nettype wire
