// rf_results: stores the results of one port until they have left: each result once, with the headers of all its
// copies.
//
// Latency     first beat of a result in to p_valid: 2 cycles.
// Throughput  one beat in and one out per cycle, no bubble between packets of two beats or more.
// Capacity    BEATS beats, HDRS headers: the scheduler reserves room before a pass (free_*, take_*).
// Handshake   results and headers are never stalled. Output: e_valid comes with the first beat (p_valid) of its packet.
//             With e_empty the packet has no beats; those at the output then belong to a later one.
// Reset       empty.
// Proved      tests/formal/stream_results.proof, stream_results_count.proof; tests/rtl/unit_results.cpp;
//             tests/rtl/core. 
//
// A packet is announced (pack) when its last pass begins, after its headers. If its ranks disagree it is dropped: its
// beats are not stored and its headers are skipped.
//
// In a directed group a copy is full or empty. The IP checksum of its stored header is, inverted, that of the empty packet
// (rf_bank); lengths, pad count, checksum and a CE mark are written into the header as it leaves (rf_results_fit).

`default_nettype none

module rf_results #(
  parameter WIDTH = 512,
  // Beats: a power of two, enough for four packets of maximum length.
  parameter BEATS = 512,
  // Headers: a power of two, at least twice the lanes.
  parameter HDRS = 16,
  // Bits of a number of beats: $clog2(BEATS) + 1.
  parameter CREDIT_W = 10,
  // Bits of {group, lane}.
  parameter AW = 4,
  // 1: connections may be mirror connections.
  parameter MIRROR = 1,
  // 1: groups may be directed.
  parameter DIRECTED = 1,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                clk,
  input  wire                rst,

  output wire [CREDIT_W-1:0] free_beats,
  output wire [CREDIT_W-1:0] free_hdrs,
  input  wire                take_valid,
  input  wire [CREDIT_W-1:0] take_beats,
  input  wire [4:0]          take_hdrs,

  // Reader.
  input  wire                copy_valid,
  input  wire                copy_repeat,
  input  wire                copy_ackreq,
  // Its group is directed; it is a full copy; it carries a mark.
  input  wire                copy_directed,
  input  wire                copy_wants,
  input  wire                copy_mark,
  input  wire [AW-1:0]       copy_addr,
  input  wire [23:0]         copy_index,
  input  wire                pack_valid,
  input  wire                pack_room,
  input  wire [4:0]          pack_copies,
  input  wire [4:0]          pack_fulls,
  input  wire                pack_drop,
  input  wire [CREDIT_W-1:0] pack_length,
  // {pad, payload bytes}
  input  wire [14:0]         pack_tail,
  input  wire [CREDIT_W-1:0] pack_beats,
  input  wire [4:0]          pack_hdrs,
  // {vlan, hlen, header} 2 cycles after copy_valid.
  input  wire [647:0]        hdr_data,
  // The header is wrong.
  input  wire                hdr_bad,
  // With hdr_data: mirror connection, and the address to which its results go.
  input  wire                hdr_mirror,
  input  wire [47:0]         hdr_mac,

  // Reduction.
  input  wire                out_valid,
  input  wire [WIDTH-1:0]    out_data,
  input  wire                out_last,
  // The beat is wrong: it is stored with wrong parity.
  input  wire                out_bad,

  output wire                e_valid,
  input  wire                e_ready,
  output wire [639:0]        e_hdr,
  output wire [6:0]          e_hlen,
  output wire [13:0]         e_plen,
  output wire                e_repeat,
  output wire                e_empty,
  // What may follow; none depends on e_ready or p_ready. A beat is ready to be read, which it is if no beat is on offer or
  // that one is taken. Another copy waits behind the one on offer. An empty one waits for the end of the packet.
  output wire                next_beat,
  output wire                next_copy,
  output wire                next_empty,
  output wire                p_valid,
  input  wire                p_ready,
  output wire [WIDTH-1:0]    p_data,
  output wire                p_last,
  // The header or beat that left in the last cycle is wrong; the connection of its packet.
  output wire                lost_valid,
  output wire [AW-1:0]       lost_addr,
  output wire [23:0]         lost_index,

  // A parity error in the data that associates packets, headers and beats.
  output wire                bad,
  output wire                idle
);

  localparam BW = $clog2(BEATS);
  localparam HW = $clog2(HDRS);
  localparam BL = $clog2(WIDTH / 8);

  // Room. It is given back one cycle after the last beat or header has left.
  reg  [CREDIT_W-1:0] free_beats_q;
  reg  [CREDIT_W-1:0] free_hdrs_q;
  reg                 back_q;
  reg  [CREDIT_W-1:0] back_beats_q;
  reg                 gone_q;
  reg  [4:0]          gone_hdrs_q;
  wire                r_take;
  wire [CREDIT_W-1:0] r_room_beats;
  wire                n_take;
  wire [4:0]          n_room_hdrs;
  localparam [31:0]   BEATS_N = BEATS;
  localparam [31:0]   HDRS_N  = HDRS;

  assign free_beats = free_beats_q;
  assign free_hdrs  = free_hdrs_q;
  assign idle       = free_beats_q == BEATS_N[CREDIT_W-1:0] && free_hdrs_q == HDRS_N[CREDIT_W-1:0];

  always @(posedge clk)
    if (rst) {back_q, gone_q} <= 2'b00;
    else {back_q, gone_q} <= {r_take, n_take};

  always @(posedge clk) begin
    back_beats_q <= r_room_beats;
    gone_hdrs_q  <= n_room_hdrs;
  end

  always @(posedge clk)
    if (rst) begin
      free_beats_q <= BEATS_N[CREDIT_W-1:0];
      free_hdrs_q  <= HDRS_N[CREDIT_W-1:0];
    end else if (take_valid || back_q || gone_q) begin
      free_beats_q <= free_beats_q - (take_valid ? take_beats : {CREDIT_W{1'b0}}) +
                      (back_q ? back_beats_q : {CREDIT_W{1'b0}});
      free_hdrs_q  <= free_hdrs_q - (take_valid ? {{CREDIT_W-5{1'b0}}, take_hdrs} : {CREDIT_W{1'b0}}) +
                      (gone_q ? {{CREDIT_W-5{1'b0}}, gone_hdrs_q} : {CREDIT_W{1'b0}});
    end

  // Headers: the bank outputs them 2 cycles after the read. They arrive long before their beats, so the extra cycle of
  // block RAM does not matter. Narrow boxes use it because their devices have little LUT RAM.
  localparam HDR_LATENCY = (WIDTH <= 64) ? 1 : 0;
  localparam KIND = (DIRECTED != 0) ? 2 : 0;
  localparam SIDE = ((PARITY != 0) ? 26 + AW : 2) + KIND;

  wire [47:0]  to   = (MIRROR == 0 || !hdr_mirror) ? hdr_data[47:0] :
                      {hdr_mac[7:0], hdr_mac[15:8], hdr_mac[23:16], hdr_mac[31:24], hdr_mac[39:32], hdr_mac[47:40]};
  wire [639:0] sent = {hdr_data[639:48], to};
  wire         unused_mac = &{1'b0, hdr_mirror, hdr_mac};

  reg        h1_valid_q;
  reg        h2_valid_q;
  reg        h1_wants_q;
  reg        h2_wants_q;
  wire [SIDE-1:0] side;
  reg [SIDE-1:0] h1_side_q;
  reg [SIDE-1:0] h2_side_q;

  always @(posedge clk)
    if (rst) {h2_valid_q, h1_valid_q} <= 2'b00;
    else {h2_valid_q, h1_valid_q} <= {h1_valid_q, copy_valid};

  always @(posedge clk)
    if (copy_valid) {h1_wants_q, h1_side_q} <= {copy_wants, side};

  always @(posedge clk)
    if (h1_valid_q) {h2_wants_q, h2_side_q} <= {h1_wants_q, h1_side_q};

  wire         h_valid;
  wire         h_take;
  wire         h_room;
  wire [HW:0]  h_count;
  // Zero: the header queue has no count of its own.
  wire [HW:0]  h_words;
  wire         h_afull;
  wire [SIDE-1:0] h_side;
  wire         h_ackreq = h_side[0];
  wire         h_vlan;
  wire [639:0] h_hdr;

  // {directed, mark}, if groups may be directed.
  wire h_there;
  wire wants_bad;
  wire h_directed;
  wire h_wants;
  wire h_mark;

  // The header itself has its own parity bits: an error in it ends a group. An error in the other fields is found too
  // late to separate the frames.
  wire h_bad;
  wire h_fault;
  wire [AW-1:0] h_addr;
  wire [23:0]   h_index;

  assign side[1:0] = {copy_repeat, copy_ackreq};
  assign e_repeat  = h_side[1];

  generate
    if (DIRECTED != 0) begin : g_kind
      assign side[SIDE-1 -: 2]    = {copy_directed, copy_mark};
      assign {h_directed, h_mark} = h_side[SIDE-1 -: 2];

      // Whether a copy is full decides what leaves next, so unlike its header it comes from a register. Both queues are written
      // and read together; this one needs a cycle more.
      wire wants_room;
      wire wants_afull;
      wire unused_wants = &{1'b0, wants_room, wants_afull, h_there};

      rf_fifo_parity #(.WIDTH(1), .DEPTH(HDRS), .READ_LATENCY(1), .RAM_STYLE("distributed"), .PARITY(PARITY)) wants (
        .clk(clk), .rst(rst), .s_valid(h2_valid_q), .s_ready(wants_room), .s_data(h2_wants_q), .m_valid(h_valid),
        .m_ready(h_take), .m_data(h_wants), .count(h_count), .almost_full(wants_afull), .bad(wants_bad));
    end else begin : g_no_kind
      wire unused_kind = &{1'b0, copy_directed, copy_wants, copy_mark, h2_wants_q};

      assign {h_directed, h_wants, h_mark} = 3'b010;
      assign h_valid   = h_there;
      assign h_count   = {HW+1{1'b0}};
      assign wants_bad = 1'b0;
    end
  endgenerate

  generate
    if (PARITY != 0) begin : g_headers
      wire [9:0]   s_sums;
      wire [9:0]   m_sums;
      wire [9:0]   kept;
      wire         rest_kept;
      reg          fault_q;
      wire [SIDE+7:0] s_rest = {h2_side_q, hdr_data[647:640]};

      rf_parity #(.WIDTH(640)) make (.data(sent), .sums(s_sums));
      rf_parity #(.WIDTH(640)) check (.data(h_hdr), .sums(m_sums));

      rf_fifo #(.WIDTH(659 + SIDE), .DEPTH(HDRS), .READ_LATENCY(HDR_LATENCY), .RAM_STYLE("block"), .COUNT(0)) headers (
        .clk(clk), .rst(rst), .s_valid(h2_valid_q), .s_ready(h_room),
        .s_data({^s_rest, s_sums ^ {10{hdr_bad}}, s_rest, sent}),
        .m_valid(h_there), .m_ready(h_take),
        .m_data({rest_kept, kept, h_side, h_vlan, e_hlen, h_hdr}),
        .count(h_words), .almost_full(h_afull));

      always @(posedge clk)
        if (rst) fault_q <= 1'b0;
        else fault_q <= h_there && rest_kept != ^{h_side, h_vlan, e_hlen};

      assign side[2 +: 24 + AW] = {copy_addr, copy_index};
      assign {h_addr, h_index}  = h_side[2 +: 24 + AW];
      assign h_bad   = kept != m_sums;
      assign h_fault = fault_q;
    end else begin : g_plain
      wire unused_name = &{1'b0, copy_addr, copy_index, hdr_bad};

      rf_fifo #(.WIDTH(648 + SIDE), .DEPTH(HDRS), .READ_LATENCY(HDR_LATENCY), .RAM_STYLE("block"), .COUNT(0)) headers (
        .clk(clk), .rst(rst), .s_valid(h2_valid_q), .s_ready(h_room), .s_data({h2_side_q, hdr_data[647:640], sent}),
        .m_valid(h_there), .m_ready(h_take), .m_data({h_side, h_vlan, e_hlen, h_hdr}),
        .count(h_words), .almost_full(h_afull));

      assign h_addr  = {AW{1'b0}};
      assign h_index = 24'd0;
      assign h_bad   = 1'b0;
      assign h_fault = 1'b0;
    end
  endgenerate

  // A copy has payload if its rank wants the result and there is one.
  wire        n_some;
  wire [14:0] n_tail;
  wire        h_full = DIRECTED == 0 || (h_wants && n_some);

  assign e_plen  = h_full ? {1'b0, n_tail[12:0]} : 14'd0;
  assign e_empty = !h_full;

  rf_results_fit #(.DIRECTED(DIRECTED)) fit (
    .vlan(h_vlan), .hlen(e_hlen), .hdr(h_hdr), .ackreq(h_ackreq), .directed(h_directed), .full(h_full), .mark(h_mark),
    .tail(n_tail), .out(e_hdr));

  // Results in progress: whether the next one is stored.
  wire       w_valid;
  wire       w_store;
  wire       w_room;
  wire [6:0] w_count;
  wire       w_afull;
  wire       some = DIRECTED == 0 || pack_tail[12:0] != 13'd0;
  wire       keep = pack_room && !pack_drop && some && (DIRECTED != 0 ? pack_fulls != 5'd0 : pack_copies != 5'd0);

  wire ways_bad;
  wire counts_bad;
  wire packets_bad;

  rf_fifo_parity #(.WIDTH(1), .DEPTH(64), .READ_LATENCY(0), .COUNT(0), .PARITY(PARITY)) ways (
    .clk(clk), .rst(rst), .s_valid(pack_valid && some), .s_ready(w_room), .s_data(keep),
    .m_valid(w_valid), .m_ready(out_valid && out_last), .m_data(w_store), .count(w_count), .almost_full(w_afull),
    .bad(ways_bad));

  wire        store = out_valid && w_store;
  reg  [BW:0] wr_q;

  always @(posedge clk)
    if (rst) wr_q <= {BW+1{1'b0}};
    else if (store) wr_q <= wr_q + 1'b1;

  // Packets, for the headers: the number to send, or the number to skip. Their room is freed when the last header has
  // left. A packet may wait here longer than its beats (a packet of one beat, or one that is dropped).
  wire        n_valid;
  // Its headers are sent, or skipped; neither if it has none.
  wire        n_send;
  wire        n_skip;
  wire [4:0]  n_copies;
  wire        n_room;
  wire [HW:0] n_count;
  wire        n_afull;
  reg  [4:0]  n_done_q;

  // Its output is a register: e_valid depends on it. With the length of the result: every copy needs it.
  rf_fifo_parity #(.WIDTH(28), .DEPTH(HDRS), .READ_LATENCY(1), .RAM_STYLE("distributed"), .PARITY(PARITY)) counts (
    .clk(clk), .rst(rst), .s_valid(pack_valid && pack_room), .s_ready(n_room),
    .s_data({pack_tail, some, pack_hdrs, !pack_drop && pack_copies != 5'd0, pack_drop && pack_copies != 5'd0, pack_copies}),
    .m_valid(n_valid), .m_ready(n_take), .m_data({n_tail, n_some, n_room_hdrs, n_send, n_skip, n_copies}), .count(n_count),
    .almost_full(n_afull), .bad(counts_bad));

  reg    inside_q;
  wire   leave = e_valid && e_ready;

  assign e_valid    = n_valid && n_send && h_valid && (p_valid || !h_full) && !inside_q;
  assign h_take     = leave || (n_valid && n_skip && h_valid);
  assign n_take     = (h_take && n_done_q + 5'd1 == n_copies) || (n_valid && !n_send && !n_skip);

  always @(posedge clk)
    if (rst || n_take) n_done_q <= 5'd0;
    else if (h_take) n_done_q <= n_done_q + 5'd1;

  // A packet is in progress from its header to its last beat; the first beat may be taken with the header or later.
  always @(posedge clk)
    if (rst) inside_q <= 1'b0;
    else if (p_valid && p_ready && p_last) inside_q <= 1'b0;
    else if (leave && h_full) inside_q <= 1'b1;

  // Packets, for the beats: read `copies` times, then the room is freed. The packet being read may have no header
  // left, so there may be one more packet here than in the header queue.
  wire                r_valid;
  wire                r_keep;
  wire [4:0]          r_copies;
  wire [CREDIT_W-1:0] r_length;
  wire [1:0]          r_pad;
  wire [BL-1:0]       r_bytes;
  wire                r_room;
  wire [HW+1:0]       r_count;
  wire                r_afull;
  reg  [4:0]          r_done_q;
  reg  [CREDIT_W-1:0] r_beat_q;
  // Place of its first beat, and of the next one to read.
  reg  [BW:0]         r_base_q;
  reg  [BW:0]         r_ptr_q;

  rf_fifo_parity #(.WIDTH(8 + BL + 2 * CREDIT_W), .DEPTH(2 * HDRS), .READ_LATENCY(0), .COUNT(0), .PARITY(PARITY)) packets (
    .clk(clk), .rst(rst), .s_valid(pack_valid && pack_room), .s_ready(r_room),
    .s_data({keep, DIRECTED != 0 ? pack_fulls : pack_copies, pack_length, pack_tail[14:13], pack_tail[BL-1:0], pack_beats}),
    .m_valid(r_valid), .m_ready(r_take),
    .m_data({r_keep, r_copies, r_length, r_pad, r_bytes, r_room_beats}), .count(r_count), .almost_full(r_afull),
    .bad(packets_bad));

  wire        r_there   = r_done_q != 5'd0 || r_ptr_q != wr_q;
  reg         p_valid_q;
  reg         p_last_q;
  wire        r_read    = next_beat && (!p_valid_q || p_ready);
  wire        r_last    = r_beat_q + 1'b1 == r_length;
  wire        r_end     = r_read && r_last && r_done_q + 5'd1 == r_copies;

  assign r_take = r_valid && (!r_keep || r_end);

  always @(posedge clk)
    if (rst) r_beat_q <= {CREDIT_W{1'b0}};
    else if (r_read) r_beat_q <= r_last ? {CREDIT_W{1'b0}} : r_beat_q + 1'b1;

  always @(posedge clk)
    if (rst || r_end) r_done_q <= 5'd0;
    else if (r_read && r_last) r_done_q <= r_done_q + 5'd1;

  always @(posedge clk)
    if (rst) r_base_q <= {BW+1{1'b0}};
    else if (r_end) r_base_q <= r_ptr_q + 1'b1;

  always @(posedge clk)
    if (rst) r_ptr_q <= {BW+1{1'b0}};
    else if (r_read) r_ptr_q <= (r_last && !r_end) ? r_base_q : r_ptr_q + 1'b1;

  always @(posedge clk)
    if (rst) p_valid_q <= 1'b0;
    else if (!p_valid_q || p_ready) p_valid_q <= r_read;

  always @(posedge clk)
    if (r_read) p_last_q <= r_last;

  wire [WIDTH-1:0] beat;

  wire beat_bad;

  rf_ram_parity #(.WIDTH(WIDTH), .DEPTH(BEATS), .READ_LATENCY(1), .APART(1), .RAM_STYLE("block"), .PARITY(PARITY)) beats (
    .clk(clk), .wr_en(store), .wr_addr(wr_q[BW-1:0]), .wr_data(out_data), .wr_bad(out_bad),
    .rd_en(r_read), .rd_addr(r_ptr_q[BW-1:0]), .rd_data(beat), .rd_bad(beat_bad));

  // Output data is checked as it leaves and reported in the next cycle. The header leaves with the first beat or
  // before.
  generate
    if (PARITY != 0) begin : g_lost
      reg          lost_q;
      reg [AW-1:0] addr_q;
      reg [23:0]   index_q;

      always @(posedge clk)
        if (rst) lost_q <= 1'b0;
        else lost_q <= (leave && h_bad) || (p_valid && p_ready && beat_bad);

      always @(posedge clk)
        if (leave) begin
          addr_q  <= h_addr;
          index_q <= h_index;
        end

      assign lost_valid = lost_q;
      assign lost_addr  = addr_q;
      assign lost_index = index_q;
    end else begin : g_kept
      wire unused_bad = &{1'b0, beat_bad, h_bad, h_addr, h_index};

      assign lost_valid = 1'b0;
      assign lost_addr  = {AW{1'b0}};
      assign lost_index = 24'd0;
    end
  endgenerate

  assign bad = h_fault || wants_bad || ways_bad || counts_bad || packets_bad;

  // Pad bytes are written as zero: the last bytes of the payload's last word. One bit of clear_q for each of the bytes
  // 1, 2, 3 of each word.
  localparam WORDS = WIDTH / 32;

  wire [BL-1:0]      r_tail = r_bytes - 1'b1;
  wire [2:0]         r_pads = r_last ? {r_pad != 2'd0, r_pad[1], r_pad == 2'd3} : 3'b000;
  reg  [3*WORDS-1:0] clear_q;
  wire [WIDTH-1:0]   padded;

  genvar w;
  generate
    for (w = 0; w < WORDS; w = w + 1) begin : g_word
      localparam [31:0] NUMBER = w;

      always @(posedge clk)
        if (r_read) clear_q[3*w +: 3] <= (r_tail[BL-1:2] == NUMBER[BL-3:0]) ? r_pads : 3'b000;

      assign padded[32*w +: 32] = beat[32*w +: 32] &
                                  ~{{8{clear_q[3*w+2]}}, {8{clear_q[3*w+1]}}, {8{clear_q[3*w]}}, 8'd0};
    end
  endgenerate

  assign p_valid = p_valid_q;
  assign p_last  = p_last_q;
  assign next_beat  = r_valid && r_keep && r_there;
  assign next_copy  = DIRECTED != 0 && h_count > {{HW{1'b0}}, 1'b1};
  assign next_empty = DIRECTED != 0 && n_valid && n_send && h_valid && !h_full && inside_q;
  assign p_data  = padded;

  generate
    if (CREDIT_W != BW + 1) begin : g_error_credit
      ERROR_rf_results_CREDIT_W_must_be_clog2_BEATS_plus_1 error ();
    end
  endgenerate

  wire unused_bits = &{1'b0, h_room, h_count, h_words, h_afull, w_valid, w_room, w_count, w_afull, n_room, n_count, n_afull,
                       r_room, r_count, r_afull, r_tail, pack_tail};

endmodule

`default_nettype wire
