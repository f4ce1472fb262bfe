// rf_judge: decides how each frame of one port is handled: lines 20 to 44 of docs/box.md.
//
// Latency     descriptor to command: 5 cycles (docs/pipeline.md, judge).
// Throughput  one descriptor per cycle.
// Capacity    COMMANDS frames between descriptor and command.
// Handshake   d_ready comes from registers only. Nothing stalls after it: COMMANDS credits limit the descriptors
//             admitted. Room in the queues and buffers that a frame may need is checked in p4, in order.
// Reset       discards frames and commands in progress.
// Proved      tests/rtl/core; the window in tests/formal/ledger.vh; PSNs of made frames in tests/formal/nak_una.proof.
//
// next, sent and una are read, compared and written in p4 only, so no packet is judged with an outdated state. NAKs are
// decided in p5, from the values in p4.

`include "rf_regs.vh"

`default_nettype none

module rf_judge #(
  // This port.
  parameter PORT = 0,
  parameter PORTS = 4,
  parameter LANES = 1,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2,
  // log2 of the bytes of a beat.
  parameter BYTES_LOG2 = 6,
  parameter BANK_AW = 13,
  parameter HDR_AW = 9,
  // Commands that may wait: a power of two, 8 or more.
  parameter COMMANDS = 16,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                   clk,
  input  wire                   rst,

  // No further descriptor is accepted.
  input  wire                   pause,
  input  wire                   enable,
  input  wire                   hold,
  input  wire [GROUPS-1:0]      g_live,
  input  wire [GROUPS-1:0]      g_error,
  input  wire [GROUPS*32-1:0]   g_cfg,
  input  wire [GROUPS*32-1:0]   g_dbase,
  input  wire [GROUPS*32-1:0]   g_hbase,
  input  wire [GROUPS*5-1:0]    g_straggler,

  // Descriptors of rf_ingress.
  input  wire                   d_valid,
  output wire                   d_ready,
  input  wire [1:0]             d_class,
  input  wire [7:0]             d_cause,
  input  wire [13:0]            d_len,
  // Its header, 3 cycles after the descriptor: taken in p3.
  input  wire [639:0]           d_hdr,
  output wire                   h_take,
  input  wire                   d_vlan,
  input  wire [7:0]             d_opcode,
  input  wire [23:0]            d_psn,
  input  wire [1:0]             d_pad,
  input  wire [31:0]            d_src_ip,
  input  wire [15:0]            d_udp_len,
  input  wire [6:0]             d_hlen,
  input  wire [13:0]            d_plen,
  input  wire [7:0]             d_syndrome,
  input  wire [23:0]            d_msn,
  input  wire                   d_icrc_ok,

  // Connection table: queried in the cycle in which a descriptor is taken; it answers 2 cycles later.
  output wire                   l_valid,
  input  wire                   r_hit,
  input  wire [15:0]            r_cid,
  input  wire [1:0]             r_state,

  // p3: a packet with a correct ICRC matched the tombstone of the table's answer (rf_tomb); port and address it came
  // from.
  output wire                   t_valid,
  output wire [31:0]            t_src_ip,

  // The firmware's fields of connection f_cid, read in the next cycle (rf_conn_static).
  output wire                   f_read,
  output wire [GW+LW+PW-1:0]    f_conn,
  input  wire [23:0]            f_start,
  input  wire [23:0]            f_shift,
  input  wire [31:0]            f_src_ip,
  input  wire [31:0]            f_peer_ip,
  input  wire [2:0]             f_peer_port,
  input  wire [23:0]            f_qpn,
  input  wire                   f_bad,

  // Ledger. j_soon: the group in p3, one cycle before j_valid.
  output wire [GW-1:0]          j_soon,
  output wire                   j_valid,
  output wire [GW+LW-1:0]       j_addr,
  output wire [23:0]            j_index,
  output wire                   j_selective,
  output wire [HDR_AW-1:0]      j_slot,
  output wire                   j_lap,
  input  wire [23:0]            j_next,
  input  wire [23:0]            j_sent,
  input  wire [23:0]            j_una,
  input  wire                   j_far,
  input  wire [23:0]            j_msn,
  input  wire                   j_accept,
  input  wire                   j_inside,
  input  wire                   j_full,

  // Events that change the NAK state (rf_judge_nak).
  input  wire                   init_valid,
  input  wire [GW+LW-1:0]       init_addr,
  input  wire                   tick,
  input  wire                   una_valid,
  input  wire [GW+LW-1:0]       una_addr,

  // Available room and its use, in p4.
  input  wire                   punt_room,
  input  wire                   punt_room_arp,
  output wire                   punt_take,
  output wire                   punt_arp,
  output wire [13:0]            pass_len,
  input  wire                   pass_room,
  output wire                   pass_take,
  input  wire                   repeat_room,
  output wire                   repeat_take,
  input  wire                   event_room,
  output wire                   event_take,
  // Content of the ACK: connection, first index not acknowledged, MSN; the receiver has given up; the ACK names one
  // missing index.
  output wire [GW+LW+PW-1:0]    event_conn,
  output wire [23:0]            event_index,
  output wire [23:0]            event_msn,
  output wire                   event_fatal,
  output wire                   event_still,
  input  wire                   behalf_room,

  // Command for the frame: 0 forget, 1 payload to the bank, 2 raw to punt, 3 raw to pass-through; then the payload
  // address.
  output wire                   m_valid,
  output wire [1:0]             m_op,
  output wire [LW+BANK_AW-1:0]  m_addr,
  output wire [GW+LW-1:0]       m_conn,
  output wire                   m_selective,
  output wire [HDR_AW-1:0]      m_slot,
  output wire                   m_lap,
  // A command was taken: it returns one credit.
  input  wire                   m_done,

  // p5: header to be stored; ACK to be forwarded (event) or made (behalf).
  output wire                   h_store,
  output wire [LW+HDR_AW-1:0]   h_addr,
  output wire                   h_event,
  output wire                   h_behalf,
  output wire                   h_nak,
  // A frame was held: only its header is used (rf_held).
  output wire                   h_held,
  output wire [639:0]           h_hdr,
  output wire                   h_vlan,
  output wire [7:0]             h_opcode,
  output wire [6:0]             h_hlen,
  output wire [12:0]            h_plen,
  output wire [1:0]             h_pad,
  // PSN with which the frame is stored or forwarded; the others are for made frames.
  output wire [23:0]            h_psn,
  output wire [23:0]            h_made,
  output wire [7:0]             h_syndrome,
  output wire [23:0]            h_qpn,
  output wire [23:0]            h_msn,

  // p5: the counter of the verdict, signs of life, an error for the group of x_conn.
  output wire                   x_count,
  output wire [7:0]             x_cause,
  output wire                   x_seen_data,
  output wire                   x_seen_ack,
  output wire [GW+LW+PW-1:0]    x_conn,
  output wire [2:0]             x_error,
  output wire [23:0]            x_index,

  // Parity error in the fields or the state of a live connection.
  output wire                   bad,
  output wire                   idle
);

  localparam [31:0] THIS = PORT;

  // As in rf_judge_form.
  localparam [2:0] ACT_PUNT    = 3'd1;
  localparam [2:0] ACT_FOREIGN = 3'd2;
  localparam [2:0] ACT_WINDOW  = 3'd3;
  localparam [2:0] ACT_EVENT   = 3'd4;
  localparam [2:0] ACT_FORM    = 3'd5;

  localparam [1:0] OP_FORGET = 2'd0;
  localparam [1:0] OP_STORE  = 2'd1;
  localparam [1:0] OP_PUNT   = 2'd2;
  localparam [1:0] OP_PASS   = 2'd3;

  // Admission.
  localparam CW = $clog2(COMMANDS);
  reg  [CW:0] credit_q;
  wire        take = d_valid && d_ready;

  assign d_ready = credit_q != {CW+1{1'b0}} && !pause;
  assign l_valid = take && d_class == 2'd2;
  assign idle    = credit_q == COMMANDS[CW:0];

  always @(posedge clk)
    if (rst) credit_q <= COMMANDS[CW:0];
    else if (take && !m_done) credit_q <= credit_q - 1'b1;
    else if (m_done && !take) credit_q <= credit_q + 1'b1;

  // p1 to p3: the descriptor waits for the connection table and the connection's fields.
  localparam DW = 2 + 8 + 14 + 1 + 8 + 24 + 2 + 32 + 16 + 7 + 14 + 8 + 24 + 1;

  reg          p1_valid_q;
  reg          p2_valid_q;
  reg          p3_valid_q;
  reg [DW-1:0] p1_desc_q;
  reg [DW-1:0] p2_desc_q;
  reg [DW-1:0] p3_desc_q;

  always @(posedge clk)
    if (rst) {p3_valid_q, p2_valid_q, p1_valid_q} <= 3'b000;
    else {p3_valid_q, p2_valid_q, p1_valid_q} <= {p2_valid_q, p1_valid_q, take};

  always @(posedge clk)
    if (take)
      p1_desc_q <= {d_class, d_cause, d_len, d_vlan, d_opcode, d_psn, d_pad, d_src_ip, d_udp_len, d_hlen, d_plen,
                    d_syndrome, d_msn, d_icrc_ok};

  always @(posedge clk)
    if (p1_valid_q) p2_desc_q <= p1_desc_q;

  always @(posedge clk)
    if (p2_valid_q) p3_desc_q <= p2_desc_q;

  // The header stays in the queue of rf_ingress until p3.
  reg [639:0] p4_hdr_q;

  assign h_take = p3_valid_q;

  always @(posedge clk)
    if (p3_valid_q) p4_hdr_q <= d_hdr;

  // p2: the table's answer. A cid outside this box counts as not ready.
  wire [31:0] cid_group = {24'd0, r_cid[14:7]};
  wire [31:0] cid_lane  = {28'd0, r_cid[6:3]};
  wire [31:0] cid_port  = {29'd0, r_cid[2:0]};
  wire        cid_good  = !r_cid[15] && cid_group < GROUPS && cid_lane < LANES && cid_port < PORTS;

  reg                   p3_hit_q;
  reg                   p3_good_q;
  reg                   p3_foreign_q;
  reg  [1:0]            p3_state_q;
  reg  [GW+LW+PW-1:0]   p3_conn_q;

  assign f_read = p2_valid_q && r_hit;
  assign f_conn = {cid_group[GW-1:0], cid_lane[LW-1:0], cid_port[PW-1:0]};

  always @(posedge clk)
    if (p2_valid_q) begin
      p3_hit_q     <= r_hit;
      p3_good_q    <= cid_good;
      p3_foreign_q <= r_cid == 16'hffff;
      p3_state_q   <= r_state;
      p3_conn_q    <= f_conn;
    end

  // p3: all checks that do not depend on the ledger.
  wire [1:0]  p3_class;
  wire [7:0]  p3_cause;
  wire [13:0] p3_len;
  wire        p3_vlan;
  wire [7:0]  p3_opcode;
  wire [23:0] p3_psn;
  wire [1:0]  p3_pad;
  wire [31:0] p3_src_ip;
  wire [15:0] p3_udp_len;
  wire [6:0]  p3_hlen;
  wire [13:0] p3_plen;
  wire [7:0]  p3_syndrome;
  wire [23:0] p3_msn;
  wire        p3_icrc_ok;

  assign {p3_class, p3_cause, p3_len, p3_vlan, p3_opcode, p3_psn, p3_pad, p3_src_ip, p3_udp_len, p3_hlen, p3_plen,
          p3_syndrome, p3_msn, p3_icrc_ok} = p3_desc_q;

  wire [GW-1:0] p3_group = p3_conn_q[GW+LW+PW-1 -: GW];
  wire [31:0]   p3_cfg   = g_cfg[p3_group*32 +: 32];
  wire [3:0]    mtu_log2 = p3_cfg[`RF_GROUP_CFG_MTU_LOG2_LSB +: `RF_GROUP_CFG_MTU_LOG2_BITS];
  wire [1:0]    dtype    = p3_cfg[`RF_GROUP_CFG_DTYPE_LSB +: `RF_GROUP_CFG_DTYPE_BITS];
  wire          is_ack   = p3_opcode == 8'h11;
  wire          syn_ack;
  wire          syn_fatal;
  wire [2:0]    p3_act;
  wire [7:0]    p3_why;
  wire [2:0]    p3_error;
  wire          p3_seen;
  wire          p3_held;
  wire          p3_tomb;

  rf_judge_form form (
    .enable(enable), .hold(hold), .class_of(p3_class), .cause(p3_cause), .opcode(p3_opcode), .pad(p3_pad),
    .plen(p3_plen), .udp_len(p3_udp_len), .syndrome(p3_syndrome), .icrc_ok(p3_icrc_ok), .hit(p3_hit_q),
    .good(p3_good_q), .foreign(p3_foreign_q), .state(p3_state_q), .data_here(p3_conn_q[PW-1:0] == THIS[PW-1:0] && p3_src_ip == f_src_ip),
    .ack_here(f_peer_port == THIS[2:0] && p3_src_ip == f_peer_ip), .live(g_live[p3_group]), .error(g_error[p3_group]),
    .mtu_log2(mtu_log2), .dtype(dtype), .act(p3_act), .why(p3_why), .fault(p3_error), .seen(p3_seen),
    .held(p3_held), .tomb(p3_tomb), .syn_ack(syn_ack), .syn_fatal(syn_fatal));

  assign t_valid  = p3_valid_q && p3_tomb;
  assign t_src_ip = p3_src_ip;

  wire [23:0]   p3_index  = p3_psn - f_start;
  wire [23:0]   p3_back   = p3_psn + f_shift;
  wire [23:0]   p3_acked  = p3_back - f_start + {23'd0, syn_ack};

  // p4: the ledger.
  reg                 p4_valid_q;
  reg [2:0]           p4_act_q;
  reg [7:0]           p4_why_q;
  reg [2:0]           p4_error_q;
  reg                 p4_seen_q;
  reg                 p4_held_q;
  reg                 p4_is_ack_q;
  reg [GW+LW+PW-1:0]  p4_conn_q;
  reg [23:0]          p4_index_q;
  reg [23:0]          p4_start_q;
  reg [23:0]          p4_psn_q;
  reg [23:0]          p4_qpn_q;
  reg [23:0]          p4_msn_q;
  reg                 p4_fatal_q;
  reg                 p4_still_q;
  reg                 p4_open_q;
  reg                 p4_silent_q;
  reg [4:0]           p4_code_q;
  reg [12:0]          p4_eighth_q;
  reg [13:0]          p4_len_q;
  reg                 p4_vlan_q;
  reg [7:0]           p4_opcode_q;
  reg [6:0]           p4_hlen_q;
  reg [12:0]          p4_plen_q;
  reg [1:0]           p4_pad_q;
  reg [3:0]           p4_mtu_log2_q;
  reg [15:0]          p4_slot_q;
  reg [HDR_AW-1:0]    p4_hslot_q;
  reg                 p4_lap_q;
  reg                 p4_selective_q;
  reg                 p4_strict_q;

  wire [3:0]  size_log2 = p3_cfg[`RF_GROUP_CFG_S_LOG2_LSB +: `RF_GROUP_CFG_S_LOG2_BITS];
  wire [15:0] size_mask = ~(16'hffff << size_log2);
  wire [15:0] p3_slot   = p3_index[15:0] & size_mask;
  wire [31:0] p3_hbase  = g_hbase[p3_group*32 +: 32];

  always @(posedge clk)
    if (rst) p4_valid_q <= 1'b0;
    else p4_valid_q <= p3_valid_q;

  always @(posedge clk)
    if (p3_valid_q) begin
      p4_act_q      <= p3_act;
      p4_why_q      <= p3_why;
      p4_error_q    <= p3_error;
      p4_seen_q     <= p3_seen;
      p4_held_q     <= p3_held;
      p4_is_ack_q   <= is_ack;
      p4_conn_q     <= p3_conn_q;
      p4_index_q    <= is_ack ? p3_acked : p3_index;
      p4_start_q    <= f_start;
      p4_psn_q      <= is_ack ? p3_back : p3_psn - f_shift;
      p4_qpn_q      <= f_qpn;
      p4_msn_q      <= p3_msn;
      p4_fatal_q    <= syn_fatal;
      p4_still_q    <= p3_syndrome == 8'h60 && p3_cfg[`RF_GROUP_CFG_SELECTIVE_LSB];
      p4_open_q     <= p3_cfg[`RF_GROUP_CFG_OPEN_LOOP_LSB];
      p4_silent_q   <= p3_cfg[`RF_GROUP_CFG_OPEN_LOOP_LSB] || p3_cfg[`RF_GROUP_CFG_TRANSPARENT_LSB];
      p4_code_q     <= g_straggler[p3_group*5 +: 5];
      p4_eighth_q   <= 13'd1 << (size_log2 - 4'd3);
      p4_len_q      <= p3_len;
      p4_vlan_q     <= p3_vlan;
      p4_opcode_q   <= p3_opcode;
      p4_hlen_q     <= p3_hlen;
      p4_plen_q     <= p3_plen[12:0];
      p4_pad_q      <= p3_pad;
      p4_mtu_log2_q <= mtu_log2;
      p4_slot_q     <= p3_slot;
      p4_hslot_q    <= p3_hbase[HDR_AW-1:0] + p3_slot[HDR_AW-1:0];
      p4_lap_q      <= p3_index[{1'b0, size_log2}];
      p4_selective_q <= p3_cfg[`RF_GROUP_CFG_SELECTIVE_LSB];
      p4_strict_q    <= p3_cfg[`RF_GROUP_CFG_STRICT_LSB];
    end

  reg [7:0] p4_why;
  reg [1:0] p4_op;
  reg       p4_event;
  reg       p4_behalf;
  reg       p4_repeat;
  wire [7:0] w_why;
  wire       w_behalf;
  wire       w_repeat;
  wire       w_storable;
  wire       p5_too_soon;
  wire       p5_nak;
  wire [7:0] p5_nak_why;
  wire [7:0] p5_syndrome;
  wire [23:0] p5_named;
  wire       p5_nak_bad;

  rf_judge_window #(.GW(GW), .LW(LW), .PARITY(PARITY)) window (
    .clk(clk), .rst(rst), .init_valid(init_valid), .init_addr(init_addr), .tick(tick), .una_valid(una_valid),
    .una_addr(una_addr), .valid(j_valid), .addr(j_addr), .index(p4_index_q), .open(p4_open_q), .silent(p4_silent_q),
    .selective(p4_selective_q), .strict(p4_strict_q), .code(p4_code_q), .eighth(p4_eighth_q), .next(j_next),
    .sent(j_sent), .una(j_una), .distant(j_far), .accept(j_accept), .in_window(j_inside), .full(j_full), .behalf_room(behalf_room),
    .repeat_room(repeat_room), .storable(w_storable), .too_soon(p5_too_soon), .why(w_why), .behalf(w_behalf),
    .repeat_it(w_repeat), .nak(p5_nak), .nak_why(p5_nak_why), .syndrome(p5_syndrome), .named(p5_named), .bad(p5_nak_bad));

  // A punted frame is ARP or IPv4.
  wire        p4_tagged = p4_hdr_q[8*12 +: 16] == 16'h0081;
  wire        p4_arp    = (p4_tagged ? p4_hdr_q[8*16 +: 16] : p4_hdr_q[8*12 +: 16]) == 16'h0608;

  always @(*) begin
    p4_why    = p4_why_q;
    p4_op     = OP_FORGET;
    p4_event  = 1'b0;
    p4_behalf = 1'b0;
    p4_repeat = 1'b0;
    case (p4_act_q)
      ACT_PUNT: begin
        p4_why = `RF_CNT_PUNT_FULL;
        if (p4_len_q <= `RF_PUNT_DATA_BYTES && (p4_arp ? punt_room_arp : punt_room)) begin
          p4_why = `RF_CNT_PUNTED;
          p4_op  = OP_PUNT;
        end
      end
      ACT_FOREIGN: begin
        p4_why = `RF_CNT_FOREIGN_FULL;
        if (pass_room) begin
          p4_why = `RF_CNT_FOREIGN;
          p4_op  = OP_PASS;
        end
      end
      ACT_EVENT: begin
        // Counted according to the ledger's verdict if there is room.
        p4_why   = `RF_CNT_ACK_FULL;
        p4_event = event_room;
      end
      ACT_WINDOW: begin
        p4_why    = w_why;
        p4_behalf = w_behalf;
        p4_repeat = w_repeat;
        if (j_accept) p4_op = OP_STORE;
      end
      default: ;
    endcase
  end

  wire [GW-1:0]      p4_group = p4_conn_q[GW+LW+PW-1 -: GW];
  wire [LW-1:0]      p4_lane  = p4_conn_q[PW +: LW];
  wire [31:0]        p4_dbase = g_dbase[p4_group*32 +: 32];
  wire [31:0]        p4_beats = {16'd0, p4_slot_q} << p4_mtu_log2_q;
  wire [31:0]        p4_first = p4_dbase + (p4_beats >> BYTES_LOG2);

  assign punt_arp    = p4_arp;
  assign j_soon      = p3_group;
  assign j_valid     = p4_valid_q && p4_act_q == ACT_WINDOW;
  assign j_addr      = p4_conn_q[GW+LW+PW-1:PW];
  assign j_index     = p4_index_q;
  assign j_selective = p4_selective_q;
  assign j_slot      = p4_hslot_q;
  assign j_lap       = p4_lap_q;
  assign pass_len    = p4_len_q;
  assign punt_take   = p4_valid_q && p4_op == OP_PUNT;
  assign pass_take   = p4_valid_q && p4_op == OP_PASS;
  assign repeat_take = p4_valid_q && p4_repeat;
  assign event_take  = p4_valid_q && p4_event;
  assign event_conn  = p4_conn_q;
  assign event_index = p4_index_q;
  assign event_msn   = p4_msn_q;
  assign event_fatal = p4_fatal_q;
  assign event_still = p4_still_q;
  assign m_valid     = p4_valid_q;
  assign m_op        = p4_op;
  assign m_addr      = {p4_lane, p4_first[BANK_AW-1:0]};
  assign m_conn      = j_addr;
  assign m_selective = p4_selective_q;
  assign m_slot      = p4_hslot_q;
  assign m_lap       = p4_lap_q;

  // p5: side effects.
  reg                  p5_store_q;
  reg                  p5_event_q;
  reg                  p5_behalf_q;
  reg                  p5_selective_q;
  reg                  p5_held_q;
  reg [23:0]           p5_start_q;
  reg [23:0]           p5_una_q;
  reg                  p5_count_q;
  reg                  p5_seen_data_q;
  reg                  p5_seen_ack_q;
  reg [2:0]            p5_error_q;
  reg [7:0]            p5_cause_q;
  reg [GW+LW+PW-1:0]   p5_conn_q;
  reg [LW+HDR_AW-1:0]  p5_addr_q;
  reg [639:0]          p5_hdr_q;
  reg                  p5_vlan_q;
  reg [7:0]            p5_opcode_q;
  reg [6:0]            p5_hlen_q;
  reg [12:0]           p5_plen_q;
  reg [1:0]            p5_pad_q;
  reg [23:0]           p5_psn_q;
  reg [23:0]           p5_qpn_q;
  reg [23:0]           p5_msn_q;
  reg [23:0]           p5_index_q;

  wire       p4_store = p4_op == OP_STORE;
  wire [2:0] p4_fault = (p4_act_q == ACT_FORM && w_storable) ? p4_error_q : `RF_ERROR_NONE;

  always @(posedge clk)
    if (rst || !p4_valid_q) begin
      p5_store_q     <= 1'b0;
      p5_event_q     <= 1'b0;
      p5_behalf_q    <= 1'b0;
      p5_held_q      <= 1'b0;
      p5_count_q     <= 1'b0;
      p5_seen_data_q <= 1'b0;
      p5_seen_ack_q  <= 1'b0;
      p5_error_q     <= `RF_ERROR_NONE;
    end else begin
      p5_store_q     <= p4_store;
      p5_event_q     <= p4_event;
      p5_behalf_q    <= p4_behalf;
      p5_held_q      <= p4_held_q;
      p5_count_q     <= !p4_event;
      p5_seen_data_q <= p4_seen_q && !p4_is_ack_q;
      p5_seen_ack_q  <= p4_seen_q && p4_is_ack_q;
      p5_error_q     <= p4_fault;
    end

  always @(posedge clk)
    if (p4_valid_q) begin
      p5_cause_q <= p4_why;
      p5_conn_q  <= p4_conn_q;
      p5_index_q <= p4_index_q;
    end

  always @(posedge clk)
    if (p4_valid_q && (p4_act_q == ACT_WINDOW || p4_act_q == ACT_EVENT || p4_held_q)) begin
      p5_hdr_q    <= p4_hdr_q;
      p5_addr_q   <= {p4_lane, p4_hslot_q};
      p5_vlan_q   <= p4_vlan_q;
      p5_opcode_q <= p4_opcode_q;
      p5_hlen_q   <= p4_hlen_q;
      p5_plen_q   <= p4_plen_q;
      p5_pad_q    <= p4_pad_q;
      p5_psn_q    <= p4_psn_q;
      p5_start_q  <= p4_start_q;
      p5_una_q    <= j_una;
      p5_selective_q <= p4_selective_q;
      p5_qpn_q    <= p4_qpn_q;
      p5_msn_q    <= j_msn;
    end

  // The fields of a connection that is not live are undefined.
  generate
    if (PARITY != 0) begin : g_parity
      reg p4_conn_bad_q;
      reg bad_q;

      always @(posedge clk)
        if (rst) p4_conn_bad_q <= 1'b0;
        else p4_conn_bad_q <= p3_valid_q && p3_hit_q && p3_good_q && p3_state_q == `RF_STATE_LIVE && f_bad;

      always @(posedge clk)
        if (rst) bad_q <= 1'b0;
        else bad_q <= p4_conn_bad_q || p5_nak_bad;

      assign bad = bad_q;
    end else begin : g_plain
      wire unused_bad = &{1'b0, p5_nak_bad, f_bad};

      assign bad = 1'b0;
    end
  endgenerate

  assign h_store     = p5_store_q;
  assign h_event     = p5_event_q;
  assign h_behalf    = p5_behalf_q || p5_nak;
  assign h_nak       = p5_nak;
  assign h_held      = p5_held_q;
  // An ACK on behalf acknowledges the index before una. Three sums in parallel, because the select is late.
  assign h_made      = !p5_nak ? p5_start_q + p5_una_q - 24'd1 :
                       p5_selective_q ? p5_start_q + p5_named : p5_start_q + p5_una_q;
  assign h_syndrome  = p5_nak ? p5_syndrome : 8'h1f;
  assign h_addr      = p5_addr_q;
  assign h_hdr       = p5_hdr_q;
  assign h_vlan      = p5_vlan_q;
  assign h_opcode    = p5_opcode_q;
  assign h_hlen      = p5_hlen_q;
  assign h_plen      = p5_plen_q;
  assign h_pad       = p5_pad_q;
  assign h_psn       = p5_psn_q;
  assign h_qpn       = p5_qpn_q;
  assign h_msn       = p5_msn_q;
  assign x_count     = p5_count_q;
  assign x_cause     = p5_nak ? p5_nak_why : p5_cause_q;
  assign x_seen_data = p5_seen_data_q;
  assign x_seen_ack  = p5_seen_ack_q;
  assign x_conn      = p5_conn_q;
  assign x_error     = p5_too_soon ? `RF_ERROR_BEFORE_START : p5_error_q;
  assign x_index     = p5_index_q;

  wire unused_bits = &{1'b0, p4_first[31:BANK_AW], p3_hbase[31:HDR_AW], p3_cfg, cid_port[31:PW], cid_lane[31:LW],
                       cid_group[31:GW], p3_plen};

endmodule

`default_nettype wire
