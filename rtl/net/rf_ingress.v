// rf_ingress: receives and stores the frames of one port, checks their form (lines 1 to 19 of docs/box.md) and their
// ICRC.
//
// Latency     descriptor: LATENCY = 4 cycles after the last beat of its frame. Output: the first beat 2 cycles after
//             the command when no other frame is being read.
// Throughput  one beat per cycle in and one out; a command takes one cycle for each beat that it reads (forget: one),
//             with no bubble between commands.
// Capacity    FIFO_BEATS beats and FRAMES frames, each held from its last beat until its command is taken.
// Handshake   s_axis has no back-pressure: a frame that does not fit is dropped whole. d_* come from registers and
//             distributed RAM. c_ready needs o_ready or an idle output (combinational). o_* do not depend on o_ready.
// Reset       drops all frames. The rest of a frame that is in progress when reset ends is ignored, up to its last beat
//             or to 16 cycles without a beat (a MAC does not pause that long within a frame). After 16 idle cycles of
//             reset nothing is ignored.
// Proved      tests/formal/stream_ingress.v: every frame counted or judged, in order; queues in step; no ring overrun.
//
// Every frame that is not lost to overflow produces one descriptor, in order. For every descriptor taken the header
// must be taken once (h_take) and then one command given, in order; each in the same cycle as the one before or any
// time later.

`default_nettype none

module rf_ingress #(
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512,
  // Ports of the box: the source addresses base_mac .. base_mac + PORTS - 1 are its own.
  parameter PORTS = 4,
  // This port.
  parameter PORT = 0,
  // 1: ports have addresses, to which mirror connections send.
  parameter MIRROR = 1,
  // Largest path MTU in bytes; frames longer than MTU_MAX + 86 are not stored.
  parameter MTU_MAX = 4096,
  // Beats of the frame FIFO: a power of two, at least three frames of maximum length and 256, for pauses of the judge.
  parameter FIFO_BEATS = (MTU_MAX + 86 > 85 * WIDTH / 8) ? 1 << $clog2(3 * ((MTU_MAX + 85) * 8 / WIDTH + 1)) : 256,
  // Frames that may wait for their command: a power of two.
  parameter FRAMES = 32,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire               clk,
  input  wire               rst,

  input  wire [WIDTH-1:0]   s_axis_tdata,
  input  wire [WIDTH/8-1:0] s_axis_tkeep,
  input  wire               s_axis_tvalid,
  input  wire               s_axis_tlast,
  input  wire               s_axis_tuser,

  input  wire [47:0]        base_mac,
  input  wire [31:0]        box_ip,
  // Addresses of the ports, and whether each port has one.
  input  wire [PORTS*32-1:0] port_ip,
  input  wire [PORTS-1:0]   port_ip_set,

  // One pulse per frame received, and one per frame dropped because it did not fit.
  output wire               cnt_frames,
  output wire               cnt_overflow,

  output wire               d_valid,
  input  wire               d_ready,
  // 0 drop, 1 punt, 2 RoCE.
  output wire [1:0]         d_class,
  output wire [7:0]         d_cause,
  output wire [13:0]        d_len,
  // The header of the oldest descriptor of which the header has not been taken.
  output wire [639:0]       d_hdr,
  input  wire               h_take,
  // Its source MAC as a number, from a register: the judge compares it. Zero without mirror connections.
  output wire [47:0]        d_from,
  output wire               d_vlan,
  output wire [7:0]         d_opcode,
  output wire [23:0]        d_qpn,
  output wire [23:0]        d_psn,
  output wire [1:0]         d_pad,
  output wire [31:0]        d_src_ip,
  // Key in the connection table (rf_conn_table).
  output wire [1:0]         d_role,
  output wire [31:0]        d_key_ip,
  output wire [15:0]        d_udp_len,
  output wire [6:0]         d_hlen,
  // Two's complement.
  output wire [13:0]        d_plen,
  output wire [7:0]         d_syndrome,
  output wire [23:0]        d_msn,
  output wire               d_icrc_ok,

  input  wire               c_valid,
  output wire               c_ready,
  // 0 forget, 1 payload, 2 raw frame. Payload needs d_class 2 and d_plen > 0.
  input  wire [1:0]         c_op,

  output wire               o_valid,
  input  wire               o_ready,
  output wire [WIDTH-1:0]   o_data,
  output wire [WIDTH/8-1:0] o_keep,
  output wire               o_last,
  // The beat had a parity error in the frame FIFO.
  output wire               o_bad,

  // A descriptor had a parity error.
  output wire               bad,
  // No frame is stored, being received or waiting to be judged.
  output wire               idle
);

  localparam B        = WIDTH / 8;
  localparam LB       = $clog2(B);
  localparam AW       = $clog2(FIFO_BEATS);
  localparam FW       = $clog2(FRAMES);
  localparam LENGTH   = MTU_MAX + 86;
  // Beat numbers saturate at all ones. The longest frame ends in beat LIMIT, which holds REST of its bytes.
  localparam NW       = 14 - LB;
  localparam LIMIT    = (LENGTH - 1) / B;
  localparam REST     = LENGTH - LIMIT * B;
  localparam HDR_BEATS = (640 + WIDTH - 1) / WIDTH;

  generate
    if (FIFO_BEATS != (1 << AW) || FIFO_BEATS < 3 * (LIMIT + 1)) begin : g_error_fifo
      ERROR_rf_ingress_FIFO_BEATS_must_be_a_power_of_two_and_hold_three_frames error ();
    end
    if (FRAMES != (1 << FW) || FRAMES < 4) begin : g_error_frames
      ERROR_rf_ingress_FRAMES_must_be_a_power_of_two_from_4_on error ();
    end
    if (LENGTH > 16000) begin : g_error_mtu
      ERROR_rf_ingress_MTU_MAX_too_large error ();
    end
  endgenerate

  // Number of ones, for a value whose ones are contiguous from bit 0 and at least one.
  function [LB:0] ones;
    input [B-1:0] keep;
    reg [B-1:0] part;
    integer i;
    begin
      part = keep;
      ones = {LB + 1{1'b0}};
      for (i = LB - 1; i >= 0; i = i - 1)
        if (part[(1<<i)-1]) begin
          ones[i] = 1'b1;
          part    = part >> (1 << i);
        end
      ones = ones + {{LB{1'b0}}, part[0]};
    end
  endfunction

  // ---- The stream is monitored in reset too: whether a frame is in progress, and cycles without a beat.

  reg       inside_q;
  reg [3:0] quiet_q;
  reg       skip_q;
  wire      still  = quiet_q == 4'd15;
  wire      accept = s_axis_tvalid && !skip_q;

  always @(posedge clk)
    if (s_axis_tvalid) quiet_q <= 4'd0;
    else if (!still) quiet_q <= quiet_q + 4'd1;

  always @(posedge clk)
    if (s_axis_tvalid) inside_q <= !s_axis_tlast;

  always @(posedge clk)
    if (rst) skip_q <= s_axis_tvalid ? !s_axis_tlast : inside_q && !still;
    else if (still || (s_axis_tvalid && s_axis_tlast)) skip_q <= 1'b0;

  // ---- Cycle 0: the beat, with zeros after the end of the frame.

  reg             i0_valid_q;
  reg             i0_last_q;
  reg             i0_bad_q;
  reg [LB:0]      i0_ones_q;
  reg [WIDTH-1:0] i0_data_q;
  // If the tag is in this beat: the frame has one.
  reg             i0_tag_q;

  integer k;

  always @(posedge clk)
    if (rst) i0_valid_q <= 1'b0;
    else i0_valid_q <= accept;

  always @(posedge clk)
    if (s_axis_tvalid) begin
      i0_last_q <= s_axis_tlast;
      i0_bad_q  <= s_axis_tuser;
      i0_ones_q <= s_axis_tlast ? ones(s_axis_tkeep) : B[LB:0];
    end

  always @(posedge clk)
    if (s_axis_tvalid) i0_tag_q <= s_axis_tdata[8*(12%B)+:16] == 16'h0081;

  // The zeros come from the synchronous reset of the registers.
  always @(posedge clk) begin
    if (s_axis_tvalid) i0_data_q <= s_axis_tdata;
    if (s_axis_tvalid && s_axis_tlast)
      for (k = 0; k < B; k = k + 1) if (!s_axis_tkeep[k]) i0_data_q[8*k+:8] <= 8'h00;
  end

  // ---- Cycle 1: store the beat, capture the header, count, feed the CRC.

  reg  [NW-1:0] beat_q;
  // The same, up to 7, for the masks of the ICRC: a register of its own because both have a large fanout.
  reg  [2:0]    mask_beat_q;
  reg           lost_q;
  reg           long_q;
  reg  [AW:0]   wr_ptr_q;
  reg  [AW:0]   start_q;
  reg  [FW:0]   frames_q;
  wire [AW:0]   free_ptr;
  wire          taken;

  localparam [NW-1:0] LIMIT_BEAT = LIMIT[NW-1:0];

  wire [AW:0] used  = wr_ptr_q - free_ptr;
  wire        room  = !used[AW];
  wire        ends  = i0_valid_q && i0_last_q;
  wire        longer = long_q || beat_q > LIMIT_BEAT ||
                       (beat_q == LIMIT_BEAT && (!i0_last_q || i0_ones_q > REST[LB:0]));
  wire        store = i0_valid_q && !lost_q && !longer && room;
  wire        lost  = lost_q || (!longer && !room) || (i0_last_q && frames_q[FW]);
  wire        told  = ends && !lost;
  wire        keeps = told && !longer && !i0_bad_q;

  // Beats of a frame that is kept: at most FIFO_BEATS / 3.
  wire [AW-1:0] stored;

  generate
    if (AW > NW) assign stored = {{AW - NW{1'b0}}, beat_q} + 1'b1;
    else assign stored = beat_q[AW-1:0] + 1'b1;
  endgenerate

  wire [NW-1:0] beat_next = (beat_q == {NW{1'b1}}) ? beat_q : beat_q + 1'b1;

  always @(posedge clk)
    if (rst || ends) beat_q <= {NW{1'b0}};
    else if (i0_valid_q) beat_q <= beat_next;

  always @(posedge clk)
    if (rst || ends) mask_beat_q <= 3'd0;
    else if (i0_valid_q && mask_beat_q != 3'd7) mask_beat_q <= mask_beat_q + 3'd1;

  always @(posedge clk)
    if (rst || ends) lost_q <= 1'b0;
    else if (i0_valid_q) lost_q <= lost;

  always @(posedge clk)
    if (rst || ends) long_q <= 1'b0;
    else if (i0_valid_q) long_q <= longer;

  // A frame that is not kept frees its space.
  always @(posedge clk)
    if (rst) wr_ptr_q <= {AW + 1{1'b0}};
    else if (ends && !keeps) wr_ptr_q <= start_q;
    else if (store) wr_ptr_q <= wr_ptr_q + 1'b1;

  always @(posedge clk)
    if (rst) start_q <= {AW + 1{1'b0}};
    else if (keeps) start_q <= wr_ptr_q + 1'b1;

  always @(posedge clk)
    if (rst) frames_q <= {FW + 1{1'b0}};
    else if (told && !taken) frames_q <= frames_q + 1'b1;
    else if (taken && !told) frames_q <= frames_q - 1'b1;

  assign cnt_frames   = ends;
  assign cnt_overflow = ends && lost;

  wire             rd_en;
  wire [AW-1:0]    rd_addr;
  wire [WIDTH-1:0] rd_data;
  wire             rd_bad;

  rf_ram_parity #(
    .WIDTH       (WIDTH),
    .DEPTH       (FIFO_BEATS),
    .READ_LATENCY(1),
    .APART       (1),
    .RAM_STYLE   ("block"),
    .PARITY      (PARITY)
  ) ram (
    .clk    (clk),
    .wr_en  (store),
    .wr_addr(wr_ptr_q[AW-1:0]),
    .wr_data(i0_data_q),
    .wr_bad (1'b0),
    .rd_en  (rd_en),
    .rd_addr(rd_addr),
    .rd_data(rd_data),
    .rd_bad (rd_bad)
  );

  reg [639:0] hdr_q;
  genvar h;

  generate
    for (h = 0; h < HDR_BEATS; h = h + 1) begin : g_hdr
      localparam CW = (640 - h * WIDTH < WIDTH) ? 640 - h * WIDTH : WIDTH;

      always @(posedge clk)
        if (i0_valid_q && beat_q == h[NW-1:0]) hdr_q[h*WIDTH+:CW] <= i0_data_q[CW-1:0];
        else if (i0_valid_q && beat_q == {NW{1'b0}}) hdr_q[h*WIDTH+:CW] <= {CW{1'b0}};
    end
  endgenerate

  // The tag is at byte 12. The IP length is at byte 16 without a tag, at byte 20 with one.
  localparam TAG_BEAT = 12 / B;
  wire tag_here = beat_q == TAG_BEAT[NW-1:0];
  reg  vlan_q;

  always @(posedge clk)
    if (i0_valid_q && tag_here) vlan_q <= i0_tag_q;

  // With 512 bits the masks need the tag in the first beat only, and no comparison of beat_q.
  wire             vlan = (WIDTH == 512 || tag_here) ? i0_tag_q : vlan_q;
  wire [WIDTH-1:0] masked;

  rf_icrc_mask #(
    .WIDTH(WIDTH)
  ) icrc_mask (
    .beat    (mask_beat_q),
    .vlan    (vlan),
    .in_data (i0_data_q),
    .out_data(masked)
  );

  // Only RoCE frames of 58 and 59 bytes (62 and 63 with a tag) can have MAC padding, and such a frame is received
  // padded: the pad is not part of the ICRC. (A tagged frame that ends in this beat has 64 bytes at most.)
  localparam PAD_BEAT = 59 / B;
  localparam PAD_ONES = 60 - PAD_BEAT * B;
  localparam TAG_PAD_BEAT = 63 / B;
  wire [15:0]      total = (WIDTH == 512) ? i0_data_q[8*(16%B)+:16] : hdr_q[8*16+:16];
  wire [15:0]      tag_total = (WIDTH == 512) ? i0_data_q[8*(20%B)+:16] : hdr_q[8*20+:16];
  // In wide builds the short counter of the masks tells these beats from all others; with 64 bits it stops at 7, which is
  // that of 59 bytes.
  wire             in_pad = (WIDTH == 64) ? beat_q == PAD_BEAT[NW-1:0] : mask_beat_q == PAD_BEAT[2:0];
  wire             in_tag_pad = (WIDTH == 64) ? beat_q == TAG_PAD_BEAT[NW-1:0] : mask_beat_q == TAG_PAD_BEAT[2:0];
  wire             is_60 = i0_last_q && in_pad && i0_ones_q == PAD_ONES[LB:0];
  wire             is_64 = vlan && i0_last_q && in_tag_pad;
  reg  [WIDTH-1:0] covered;

  always @* begin
    covered = masked;
    if (is_60) begin
      if (total == 16'h2c00) covered[8*(58%B)+:8] = 8'h00;
      if (total == 16'h2c00 || total == 16'h2d00) covered[8*(59%B)+:8] = 8'h00;
    end
    if (is_64) begin
      if (tag_total == 16'h2c00) covered[8*(62%B)+:8] = 8'h00;
      if (tag_total == 16'h2c00 || tag_total == 16'h2d00) covered[8*(63%B)+:8] = 8'h00;
    end
  end

  wire        crc_valid;
  wire [31:0] crc;

  rf_crc #(
    .WIDTH(WIDTH)
  ) icrc (
    .clk      (clk),
    .rst      (rst),
    .in_valid (i0_valid_q),
    .in_data  (covered),
    .in_last  (i0_last_q),
    .out_valid(crc_valid),
    .out_crc  (crc)
  );

  // ---- Cycle 2: the frame is complete; extract its fields.

  reg          p1_valid_q;
  reg          p1_bad_q;
  reg          p1_long_q;
  reg [13:0]   p1_len_q;
  reg [AW-1:0] p1_beats_q;

  localparam [13:0] LEN_MAX = 14'h3fff;

  always @(posedge clk)
    if (rst) p1_valid_q <= 1'b0;
    else p1_valid_q <= told;

  always @(posedge clk)
    if (told) begin
      p1_bad_q   <= i0_bad_q;
      p1_long_q  <= longer;
      p1_len_q   <= (beat_q == {NW{1'b1}}) ? LEN_MAX : {beat_q, {LB{1'b0}}} + {{13 - LB{1'b0}}, i0_ones_q};
      p1_beats_q <= keeps ? stored : {AW{1'b0}};
    end

  // ---- Cycle 3: verdict, ICRC; the descriptor is written.

  localparam DW = 219;

  reg  [AW-1:0] p2_beats_q;
  wire          p2_valid;
  wire [1:0]    p2_class;
  wire [7:0]    p2_cause;
  wire [13:0]   p2_len;
  wire          p2_vlan;
  wire [7:0]    p2_opcode;
  wire [23:0]   p2_qpn;
  wire [23:0]   p2_psn;
  wire [1:0]    p2_pad;
  wire [31:0]   p2_src_ip;
  wire [1:0]    p2_role;
  wire [31:0]   p2_key_ip;
  wire [15:0]   p2_udp_len;
  wire [6:0]    p2_hlen;
  wire [13:0]   p2_plen;
  wire [7:0]    p2_syndrome;
  wire [23:0]   p2_msn;
  wire          p2_icrc_ok;
  wire          unused_crc_valid = &{1'b0, crc_valid};

  always @(posedge clk)
    if (p1_valid_q) p2_beats_q <= p1_beats_q;

  rf_ingress_check #(
    .WIDTH (WIDTH),
    .PORTS (PORTS),
    .PORT  (PORT),
    .MIRROR(MIRROR)
  ) check (
    .clk         (clk),
    .rst         (rst),
    .base_mac    (base_mac),
    .box_ip      (box_ip),
    .port_ip     (port_ip),
    .port_ip_set (port_ip_set),
    .in_valid    (p1_valid_q),
    .in_hdr      (hdr_q[495:0]),
    .in_vlan     (vlan_q),
    .in_len      (p1_len_q),
    .in_bad      (p1_bad_q),
    .in_long     (p1_long_q),
    .crc         (crc),
    .out_valid   (p2_valid),
    .out_class   (p2_class),
    .out_cause   (p2_cause),
    .out_len     (p2_len),
    .out_vlan    (p2_vlan),
    .out_opcode  (p2_opcode),
    .out_qpn     (p2_qpn),
    .out_psn     (p2_psn),
    .out_pad     (p2_pad),
    .out_src_ip  (p2_src_ip),
    .out_role    (p2_role),
    .out_key_ip  (p2_key_ip),
    .out_udp_len (p2_udp_len),
    .out_hlen    (p2_hlen),
    .out_plen    (p2_plen),
    .out_syndrome(p2_syndrome),
    .out_msn     (p2_msn),
    .out_icrc_ok (p2_icrc_ok)
  );

  // Three queues of FRAMES entries; frames_q prevents overflow. The header is written one cycle before the rest.
  wire        unused_hdr_ready;
  wire        unused_hdr_valid;
  wire        unused_hdr_afull;
  wire [FW:0] unused_hdr_count;
  wire        unused_desc_ready;
  wire        unused_desc_afull;
  wire [FW:0] unused_desc_count;
  wire        unused_info_ready;
  wire        unused_info_afull;
  wire [FW:0] unused_info_count;

  wire hdr_bad;

  rf_fifo_parity #(
    .WIDTH       (640),
    .DEPTH       (FRAMES),
    .READ_LATENCY(0),
    .COUNT       (0),
    .PARITY      (PARITY)
  ) hdr_fifo (
    .clk        (clk),
    .rst        (rst),
    .s_valid    (p1_valid_q),
    .s_ready    (unused_hdr_ready),
    .s_data     (hdr_q),
    .m_valid    (unused_hdr_valid),
    .m_ready    (h_take),
    .m_data     (d_hdr),
    .count      (unused_hdr_count),
    .almost_full(unused_hdr_afull),
    .bad        (hdr_bad)
  );

  wire from_bad;

  generate
    if (MIRROR != 0) begin : g_from
      wire        unused_from_ready;
      wire        unused_from_valid;
      wire        unused_from_afull;
      wire [FW:0] unused_from_count;

      rf_fifo_parity #(
        .WIDTH       (48),
        .DEPTH       (FRAMES),
        .READ_LATENCY(1),
        .RAM_STYLE   ("distributed"),
        .COUNT       (0),
        .PARITY      (PARITY)
      ) from_fifo (
        .clk        (clk),
        .rst        (rst),
        .s_valid    (p1_valid_q),
        .s_ready    (unused_from_ready),
        .s_data     ({hdr_q[8*6+:8], hdr_q[8*7+:8], hdr_q[8*8+:8], hdr_q[8*9+:8], hdr_q[8*10+:8], hdr_q[8*11+:8]}),
        .m_valid    (unused_from_valid),
        .m_ready    (h_take),
        .m_data     (d_from),
        .count      (unused_from_count),
        .almost_full(unused_from_afull),
        .bad        (from_bad)
      );
    end else begin : g_no_from
      assign d_from   = 48'd0;
      assign from_bad = 1'b0;
    end
  endgenerate

  wire desc_bad;

  rf_fifo_parity #(
    .WIDTH       (DW),
    .DEPTH       (FRAMES),
    .READ_LATENCY(0),
    .COUNT       (0),
    .PARITY      (PARITY)
  ) desc_fifo (
    .clk        (clk),
    .rst        (rst),
    .s_valid    (p2_valid),
    .s_ready    (unused_desc_ready),
    .s_data     ({p2_class, p2_cause, p2_len, p2_vlan, p2_opcode, p2_qpn, p2_psn, p2_pad, p2_src_ip, p2_role,
                  p2_key_ip, p2_udp_len, p2_hlen, p2_plen, p2_syndrome, p2_msn, p2_icrc_ok}),
    .m_valid    (d_valid),
    .m_ready    (d_ready),
    .m_data     ({d_class, d_cause, d_len, d_vlan, d_opcode, d_qpn, d_psn, d_pad, d_src_ip, d_role,
                  d_key_ip, d_udp_len, d_hlen, d_plen, d_syndrome, d_msn, d_icrc_ok}),
    .count      (unused_desc_count),
    .almost_full(unused_desc_afull),
    .bad        (desc_bad)
  );

  wire          i_valid;
  wire [AW-1:0] i_beats;
  wire [13:0]   i_len;
  wire [6:0]    i_hlen;
  wire [13:0]   i_plen;
  wire          read_idle;

  wire info_bad;

  rf_fifo_parity #(
    .WIDTH       (AW + 35),
    .DEPTH       (FRAMES),
    .READ_LATENCY(0),
    .COUNT       (0),
    .PARITY      (PARITY)
  ) info_fifo (
    .clk        (clk),
    .rst        (rst),
    .s_valid    (p2_valid),
    .s_ready    (unused_info_ready),
    .s_data     ({p2_beats_q, p2_len, p2_hlen, p2_plen}),
    .m_valid    (i_valid),
    .m_ready    (taken),
    .m_data     ({i_beats, i_len, i_hlen, i_plen}),
    .count      (unused_info_count),
    .almost_full(unused_info_afull),
    .bad        (info_bad)
  );

  rf_ingress_read #(
    .WIDTH     (WIDTH),
    .FIFO_BEATS(FIFO_BEATS)
  ) read (
    .clk     (clk),
    .rst     (rst),
    .i_valid (i_valid),
    .i_ready (taken),
    .i_beats (i_beats),
    .i_len   (i_len),
    .i_hlen  (i_hlen),
    .i_plen  (i_plen),
    .c_valid (c_valid),
    .c_ready (c_ready),
    .c_op    (c_op),
    .rd_en   (rd_en),
    .rd_addr (rd_addr),
    .rd_data (rd_data),
    .rd_bad  (rd_bad),
    .free_ptr(free_ptr),
    .o_valid (o_valid),
    .o_ready (o_ready),
    .o_data  (o_data),
    .o_keep  (o_keep),
    .o_last  (o_last),
    .o_bad   (o_bad),
    .idle    (read_idle)
  );

  assign bad  = hdr_bad || from_bad || desc_bad || info_bad;
  assign idle = !i0_valid_q && beat_q == {NW{1'b0}} && frames_q == {FW + 1{1'b0}} && read_idle;

endmodule

`default_nettype wire
