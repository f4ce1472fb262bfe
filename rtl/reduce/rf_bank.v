// rf_bank: storage of one port: payloads, headers, and for each header the few bits that a pass needs (the facts).
//
// Latency     command taken to first beat in the bank: 3 cycles. Reads: payload 2 cycles, header 2, facts 1, with
//             DIRECTED 2.
// Throughput  one beat written and one read per cycle.
// Capacity    LANES * 2^BANK_AW beats, LANES * 2^HDR_AW headers.
// Handshake   commands valid/ready; c_* go to rf_ingress. Its stream (o_*) is never stalled except for a punted frame.
// Reset       discards commands; memories are not reset.
// Proved      tests/rtl/unit_bank.cpp; tests/rtl/core.
//
// Nothing is read in the cycle in which it is written (APART of rf_ram_sdp): with RF_CHECK that ends a simulation.
//
// commit: rf_ingress has taken a command to copy a payload. Its beats are then written one per cycle, the first one 2
// or 3 cycles later. A pass that the commit completes reads at least 7 cycles later, so it never overtakes the copy. A
// punted frame can be stalled in the middle, so the command of a payload waits until no punted frame is in progress.
// A packet without payload is stored without a copy: rf_ingress forgets the frame.

`default_nettype none

module rf_bank #(
  parameter WIDTH = 512,
  parameter LANES = 1,
  parameter LW = 1,
  parameter BANK_AW = 13,
  parameter HDR_AW = 9,
  // Bits of the data reported at commit: the connection and its slot.
  parameter AW = 4,
  // Commands that may wait: as many as in the judge.
  parameter COMMANDS = 16,
  // 1: connections may be mirror connections.
  parameter MIRROR = 1,
  // 1: groups may be directed.
  parameter DIRECTED = 1,
  // Bits of a fact.
  parameter FW = (DIRECTED != 0) ? 43 : 19,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                  clk,
  input  wire                  rst,

  // Judge: the operation for the next frame (rf_judge). There is always room.
  input  wire                  m_valid,
  input  wire [1:0]            m_op,
  // The packet to store has no payload.
  input  wire                  m_empty,
  input  wire [LW+BANK_AW-1:0] m_addr,
  input  wire [AW-1:0]         m_conn,
  output wire                  m_done,
  // Judge: a header to store.
  input  wire                  h_store,
  input  wire [LW+HDR_AW-1:0]  h_addr,
  input  wire [639:0]          h_hdr,
  input  wire                  h_vlan,
  input  wire [7:0]            h_opcode,
  input  wire [6:0]            h_hlen,
  input  wire [12:0]           h_plen,
  input  wire [1:0]            h_pad,
  input  wire [23:0]           h_psn,
  // Mirror connection: the header is stored as it goes back, except for its MACs; its IP checksum.
  input  wire                  h_mirror,
  input  wire [15:0]           h_sum,
  // The group is directed. What the packet states: {gives, wants, has an immediate, type, operation, tag}.
  input  wire                  h_directed,
  input  wire [27:0]           h_says,

  // Ingress: commands and stream.
  output wire                  c_valid,
  input  wire                  c_ready,
  output wire [1:0]            c_op,
  input  wire                  o_valid,
  output wire                  o_ready,
  input  wire [WIDTH-1:0]      o_data,
  input  wire                  o_last,
  // The beat is known to be wrong: it is stored with wrong parity.
  input  wire                  o_bad,

  // The stream goes to the punt buffer or to the pass-through FIFO.
  output wire                  punt_valid,
  input  wire                  punt_ready,
  output wire                  pass_valid,

  output wire                  commit_valid,
  output wire [AW-1:0]         commit_conn,

  // Reads.
  input  wire                  beat_read,
  input  wire [LW+BANK_AW-1:0] beat_addr,
  output wire [WIDTH-1:0]      beat_data,
  output wire                  beat_bad,
  input  wire                  fact_read,
  input  wire [LW+HDR_AW-1:0]  fact_addr,
  // {what it states, pad, payload length}; without DIRECTED {opcode[3:0], pad, length}.
  output wire [FW-1:0]         fact_data,
  output wire                  fact_bad,
  input  wire                  hdr_read,
  input  wire [LW+HDR_AW-1:0]  hdr_addr,
  // {vlan, hlen, header}; the header had a parity error.
  output wire [647:0]          hdr_data,
  output wire                  hdr_bad,

  // A command, or the length or tag of a header, had a parity error.
  output wire                  bad,
  output wire                  idle
);

  localparam [1:0] OP_STORE = 2'd1;
  localparam [1:0] OP_PUNT  = 2'd2;
  localparam [1:0] OP_PASS  = 2'd3;

  localparam BEATS = LANES << BANK_AW;
  localparam SLOTS = LANES << HDR_AW;
  localparam BW    = $clog2(BEATS);
  localparam SW    = $clog2(SLOTS);
  localparam QW    = $clog2(COMMANDS);

  // Commands.
  wire                  q_valid;
  wire                  q_room;
  wire                  q_empty;
  wire [1:0]            q_op;
  wire [LW+BANK_AW-1:0] q_addr;
  wire [QW:0]           q_count;
  wire                  q_afull;
  wire                  q_take;

  wire commands_bad;

  generate
    if (DIRECTED != 0) begin : g_commands
      rf_fifo_parity #(.WIDTH(3 + LW + BANK_AW + AW), .DEPTH(COMMANDS), .READ_LATENCY(0), .COUNT(0), .PARITY(PARITY)) commands (
        .clk(clk), .rst(rst), .s_valid(m_valid), .s_ready(q_room), .s_data({m_empty, m_op, m_addr, m_conn}),
        .m_valid(q_valid), .m_ready(q_take), .m_data({q_empty, q_op, q_addr, commit_conn}), .count(q_count),
        .almost_full(q_afull), .bad(commands_bad));
    end else begin : g_plain_commands
      wire unused_empty = m_empty;

      rf_fifo_parity #(.WIDTH(2 + LW + BANK_AW + AW), .DEPTH(COMMANDS), .READ_LATENCY(0), .COUNT(0), .PARITY(PARITY)) commands (
        .clk(clk), .rst(rst), .s_valid(m_valid), .s_ready(q_room), .s_data({m_op, m_addr, m_conn}),
        .m_valid(q_valid), .m_ready(q_take), .m_data({q_op, q_addr, commit_conn}), .count(q_count),
        .almost_full(q_afull), .bad(commands_bad));

      assign q_empty = 1'b0;
    end
  endgenerate

  // Destinations of the streams in progress.
  wire                  w_valid;
  wire                  w_room;
  wire [1:0]            w_op;
  wire [LW+BANK_AW-1:0] w_addr;
  wire [2:0]            w_count;
  wire                  w_afull;
  wire                  w_take = o_valid && o_ready && o_last;

  wire ways_bad;

  rf_fifo_parity #(.WIDTH(2 + LW + BANK_AW), .DEPTH(4), .READ_LATENCY(0), .COUNT(0), .PARITY(PARITY)) ways (
    .clk(clk), .rst(rst), .s_valid(q_take && q_op != 2'd0 && !q_empty), .s_ready(w_room), .s_data({q_op, q_addr}),
    .m_valid(w_valid), .m_ready(w_take), .m_data({w_op, w_addr}), .count(w_count), .almost_full(w_afull), .bad(ways_bad));

  // Punted frames in progress: at most those in the FIFO above.
  reg  [2:0] punts_q;
  wire       punt_begin = q_take && q_op == OP_PUNT;
  wire       punt_end   = w_take && w_op == OP_PUNT;

  always @(posedge clk)
    if (rst) punts_q <= 3'd0;
    else if (punt_begin && !punt_end) punts_q <= punts_q + 3'd1;
    else if (punt_end && !punt_begin) punts_q <= punts_q - 3'd1;

  wire go = w_room && !(q_op == OP_STORE && punts_q != 3'd0);

  assign c_valid      = q_valid && go;
  assign c_op         = q_empty ? 2'd0 : q_op == OP_PASS ? 2'd2 : q_op;
  assign q_take       = c_valid && c_ready;
  assign m_done       = q_take;
  assign commit_valid = q_take && q_op == OP_STORE;

  assign punt_valid = o_valid && w_op == OP_PUNT;
  assign pass_valid = o_valid && w_op == OP_PASS;
  assign o_ready    = w_op != OP_PUNT || punt_ready;

  // Payload.
  reg  [BANK_AW-1:0] beat_q;
  wire [BW-1:0]      wr_addr;
  wire [LW+BANK_AW-1:0] wr_full = {w_addr[LW+BANK_AW-1:BANK_AW], w_addr[BANK_AW-1:0] + beat_q};

  assign wr_addr = wr_full[BW-1:0];

  always @(posedge clk)
    if (rst || w_take) beat_q <= {BANK_AW{1'b0}};
    else if (o_valid && o_ready) beat_q <= beat_q + 1'b1;

  rf_ram_parity #(.WIDTH(WIDTH), .DEPTH(BEATS), .READ_LATENCY(2), .APART(1), .RAM_STYLE("ultra"), .PART(32), .PARITY(PARITY)) beats (
    .clk(clk), .wr_en(o_valid && w_op == OP_STORE), .wr_addr(wr_addr), .wr_data(o_data), .wr_bad(o_bad),
    .rd_en(beat_read), .rd_addr(beat_addr[BW-1:0]), .rd_data(beat_data), .rd_bad(beat_bad));

  // Headers, with the outgoing PSN. The PSN starts at byte 51 of the frame (55 with a tag).
  wire [23:0]  be_psn  = {h_psn[7:0], h_psn[15:8], h_psn[23:16]};
  wire         turn    = MIRROR != 0 && h_mirror;
  wire [15:0]  be_sum  = {h_sum[7:0], h_sum[15:8]};
  // From the TTL on: addresses exchanged, checksum, protocol, TTL 64.
  wire [95:0]  back    = h_vlan ? {h_hdr[8*30+:32], h_hdr[8*34+:32], be_sum, h_hdr[8*27+:8], 8'd64} :
                                  {h_hdr[8*26+:32], h_hdr[8*30+:32], be_sum, h_hdr[8*23+:8], 8'd64};
  wire [639:0] turned  = !turn ? h_hdr : h_vlan ? {h_hdr[639:8*38], back, h_hdr[8*26-1:0]} :
                                                  {h_hdr[639:8*34], back, h_hdr[8*22-1:0]};
  wire [639:0] psn_hdr = h_vlan ? {turned[639:464], be_psn, turned[439:0]} : {turned[639:432], be_psn, turned[407:0]};
  wire [639:0] new_hdr;

  // In a directed group the IP checksum is, inverted, that of the packet without its payload (rf_results_fit).
  generate
    if (DIRECTED != 0) begin : g_directed
      wire [15:0] checksum = ~(h_vlan ? {psn_hdr[8*28 +: 8], psn_hdr[8*29 +: 8]} : {psn_hdr[8*24 +: 8], psn_hdr[8*25 +: 8]});
      wire [16:0] once     = {1'b0, checksum} + {1'b0, 3'd7, ~h_plen};
      wire [15:0] carried  = checksum + {3'd7, ~h_plen} + 16'd1;
      wire [15:0] sum      = once[16] ? carried : once[15:0];
      wire [15:0] be_empty   = {sum[7:0], sum[15:8]};

      assign new_hdr = !h_directed ? psn_hdr : h_vlan ? {psn_hdr[639:240], be_empty, psn_hdr[223:0]} :
                                                        {psn_hdr[639:208], be_empty, psn_hdr[191:0]};
    end else begin : g_same
      assign new_hdr = psn_hdr;
    end
  endgenerate

  wire size_bad;

  // A header has at most 78 bytes. Its length and tag have their own parity bit: a frame of wrong length would
  // misalign everything that leaves after it.
  generate
    if (PARITY != 0) begin : g_parity
      wire [9:0]   wr_sums;
      wire [9:0]   rd_sums;
      wire [9:0]   kept;
      wire         size_kept;
      wire [7:0]   size;
      wire [623:0] hdr;

      rf_parity #(.WIDTH(624)) make (.data(new_hdr[623:0]), .sums(wr_sums));
      rf_parity #(.WIDTH(624)) check (.data(hdr), .sums(rd_sums));

      rf_ram_sdp #(.WIDTH(643), .DEPTH(SLOTS), .READ_LATENCY(2), .APART(1), .RAM_STYLE("block")) headers (
        .clk(clk), .wr_en(h_store), .wr_addr(h_addr[SW-1:0]),
        .wr_data({^{h_vlan, h_hlen}, wr_sums, h_vlan, h_hlen, new_hdr[623:0]}),
        .rd_en(hdr_read), .rd_addr(hdr_addr[SW-1:0]), .rd_data({size_kept, kept, size, hdr}));

      assign hdr_data = {size, 16'd0, hdr};
      assign hdr_bad  = kept != rd_sums;
      assign size_bad = size_kept != ^size;
    end else begin : g_plain
      rf_ram_sdp #(.WIDTH(632), .DEPTH(SLOTS), .READ_LATENCY(2), .APART(1), .RAM_STYLE("block")) headers (
        .clk(clk), .wr_en(h_store), .wr_addr(h_addr[SW-1:0]), .wr_data({h_vlan, h_hlen, new_hdr[623:0]}),
        .rd_en(hdr_read), .rd_addr(hdr_addr[SW-1:0]), .rd_data({hdr_data[647:640], hdr_data[623:0]}));

      assign hdr_data[639:624] = 16'd0;
      assign hdr_bad           = 1'b0;
      assign size_bad          = 1'b0;
    end
  endgenerate

  wire [FW-1:0] new_fact;

  generate
    if (DIRECTED != 0) begin : g_says
      assign new_fact = {h_says, h_pad, h_plen};
    end else begin : g_opcode
      wire unused_says = &{1'b0, h_directed, h_says};

      assign new_fact = {h_opcode[3:0], h_pad, h_plen};
    end
  endgenerate

  rf_ram_parity #(.WIDTH(FW), .DEPTH(SLOTS), .READ_LATENCY((DIRECTED != 0) ? 2 : 1), .APART(1), .RAM_STYLE("block"), .PARITY(PARITY)) facts (
    .clk(clk), .wr_en(h_store), .wr_addr(h_addr[SW-1:0]), .wr_data(new_fact), .wr_bad(1'b0),
    .rd_en(fact_read), .rd_addr(fact_addr[SW-1:0]), .rd_data(fact_data), .rd_bad(fact_bad));

  // Headers are output 2 cycles after they are requested.
  reg read_1_q;
  reg read_2_q;
  reg size_bad_q;

  always @(posedge clk)
    if (rst) {size_bad_q, read_2_q, read_1_q} <= 3'b000;
    else {size_bad_q, read_2_q, read_1_q} <= {read_2_q && size_bad, read_1_q, hdr_read};

  assign bad  = commands_bad || ways_bad || size_bad_q;
  assign idle = !q_valid && !w_valid && !h_store;

`ifdef RF_CHECK
  always @(posedge clk)
    if (!rst) begin
      if (o_valid && w_op == OP_STORE && beat_read && wr_addr == beat_addr[BW-1:0])
        $fatal(1, "rf_bank: beat %0d is read while it is written", wr_addr);
      if (h_store && hdr_read && h_addr == hdr_addr) $fatal(1, "rf_bank: header %0d is read while it is written", h_addr);
      if (h_store && fact_read && h_addr == fact_addr)
        $fatal(1, "rf_bank: the facts of header %0d are read while they are written", h_addr);
    end
`endif

  wire unused_bits = &{1'b0, q_room, q_count, q_afull, w_count, w_afull, h_opcode, h_mirror, h_sum, h_hdr[639:624], new_hdr[639:624], wr_full, h_addr, beat_addr, fact_addr,
                       hdr_addr};

endmodule

`default_nettype wire
