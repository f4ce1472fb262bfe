// rf_judge: decides how each frame of one port is handled: lines 20 to 44 of docs/box.md.
//
// Latency     descriptor to command: 5 cycles (docs/pipeline.md, judge).
// Throughput  one descriptor per cycle.
// Capacity    COMMANDS frames between descriptor and command.
// Handshake   d_ready comes from registers only. Nothing stalls after it: COMMANDS credits limit the descriptors
//             admitted (rf_judge_admit). Room in the queues and buffers that a frame may need is checked in p4, in
//             order.
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
  // 1: groups may be selective.
  parameter SELECTIVE = 1,
  // 1: connections may be mirror connections.
  parameter MIRROR = 1,
  // 1: groups may be directed.
  parameter DIRECTED = 1,
  // Types that are built in: bit t for type t.
  parameter TYPES = 1023,
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
  // Ranks that do not give (rf_marks).
  input  wire [(PORTS<<(GW+LW))-1:0] silents,

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
  input  wire                   d_to_port,
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
  // Of the connection of this port (rf_conn_mac).
  input  wire                   f_mirror,
  input  wire [47:0]            f_mac,
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
  output wire                   m_empty,
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
  // CNP to be returned; the frame belongs to a mirror connection; its IP checksum once it is turned back.
  output wire                   h_cnp,
  output wire                   h_mirror,
  output wire [15:0]            h_sum,
  // A frame was held: only its header is used (rf_held).
  output wire                   h_held,
  output wire [639:0]           h_hdr,
  output wire                   h_vlan,
  output wire [7:0]             h_opcode,
  output wire [6:0]             h_hlen,
  output wire [12:0]            h_plen,
  output wire [1:0]             h_pad,
  // The group is directed; what the packet states (rf_bank).
  output wire                   h_directed,
  output wire [27:0]            h_says,
  // PSN with which the frame is stored or forwarded; the others are for made frames.
  output wire [23:0]            h_psn,
  output wire [23:0]            h_made,
  output wire [23:0]            h_named,
  output wire [7:0]             h_syndrome,
  output wire [23:0]            h_qpn,
  output wire [23:0]            h_msn,

  // p5: the counter of the verdict, signs of life, an error for the group of x_conn.
  output wire                   x_count,
  output wire [7:0]             x_cause,
  output wire                   x_seen_data,
  output wire                   x_seen_ack,
  output wire [GW+LW+PW-1:0]    x_conn,
  output wire [3:0]             x_error,
  // The packet's immediate.
  output wire [31:0]            x_got,
  output wire [23:0]            x_index,
  // p4: the next first sending of the group in p4 carries a mark.
  output wire                   cnp_mark_valid,
  output wire [GW-1:0]          cnp_mark_group,

  // Parity error in the fields or the state of a live connection.
  output wire                   bad,
  output wire                   idle
);

  localparam [31:0] THIS = PORT;

  // As in rf_judge_form, rf_judge_verdict.
  localparam [2:0] ACT_WINDOW  = 3'd3;
  localparam [2:0] ACT_EVENT   = 3'd4;
  localparam [2:0] ACT_FORM    = 3'd5;
  localparam [2:0] ACT_RETURN  = 3'd6;
  localparam [2:0] ACT_MARK    = 3'd7;

  localparam [1:0] OP_STORE  = 2'd1;

  // p0 to p3: the descriptor waits for the connection table and the connection's fields.
  wire                       p3_valid;
  wire                       p3_hit;
  wire                       p3_good;
  wire                       p3_foreign;
  wire [1:0]                 p3_state;
  wire [GW+LW+PW-1:0]        p3_conn;
  wire [1:0]                 p3_class;
  wire [7:0]                 p3_cause;
  wire [13:0]                p3_len;
  wire                       p3_vlan;
  wire [7:0]                 p3_opcode;
  wire [23:0]                p3_psn;
  wire [1:0]                 p3_pad;
  wire [31:0]                p3_src_ip;
  wire                       p3_to_port;
  wire [15:0]                p3_udp_len;
  wire [6:0]                 p3_hlen;
  wire [13:0]                p3_plen;
  wire [7:0]                 p3_syndrome;
  wire [23:0]                p3_msn;
  wire                       p3_icrc_ok;

  rf_judge_admit #(
    .PORTS(PORTS), .LANES(LANES), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW), .COMMANDS(COMMANDS)
  ) admit (
    .clk(clk), .rst(rst), .pause(pause), .m_done(m_done),
    // Descriptor.
    .d_valid(d_valid), .d_ready(d_ready), .d_class(d_class), .d_cause(d_cause), .d_len(d_len), .d_vlan(d_vlan),
    .d_opcode(d_opcode), .d_psn(d_psn), .d_pad(d_pad), .d_src_ip(d_src_ip), .d_to_port(d_to_port), .d_udp_len(d_udp_len), .d_hlen(d_hlen),
    .d_plen(d_plen), .d_syndrome(d_syndrome), .d_msn(d_msn), .d_icrc_ok(d_icrc_ok),
    // Table, fields.
    .l_valid(l_valid), .r_hit(r_hit), .r_cid(r_cid), .r_state(r_state), .f_read(f_read), .f_conn(f_conn),
    // p3.
    .p3_valid(p3_valid), .p3_hit(p3_hit), .p3_good(p3_good), .p3_foreign(p3_foreign), .p3_state(p3_state),
    .p3_conn(p3_conn), .p3_class(p3_class), .p3_cause(p3_cause), .p3_len(p3_len), .p3_vlan(p3_vlan),
    .p3_opcode(p3_opcode), .p3_psn(p3_psn), .p3_pad(p3_pad), .p3_src_ip(p3_src_ip), .p3_to_port(p3_to_port), .p3_udp_len(p3_udp_len),
    .p3_hlen(p3_hlen), .p3_plen(p3_plen), .p3_syndrome(p3_syndrome), .p3_msn(p3_msn), .p3_icrc_ok(p3_icrc_ok),
    .idle(idle));

  // The header stays in the queue of rf_ingress until p3.
  reg [639:0] p4_hdr_q;
  reg         p4_arp_q;

  assign h_take = p3_valid;

  always @(posedge clk)
    if (p3_valid) begin
      p4_hdr_q <= d_hdr;
      p4_arp_q <= (d_hdr[8*12 +: 16] == 16'h0081 ? d_hdr[8*16 +: 16] : d_hdr[8*12 +: 16]) == 16'h0608;
    end

  // p3: all checks that do not depend on the ledger.
  wire [GW-1:0] p3_group = p3_conn[GW+LW+PW-1 -: GW];
  wire [31:0]   p3_cfg   = g_cfg[p3_group*32 +: 32];
  wire [3:0]    mtu_log2 = p3_cfg[`RF_GROUP_CFG_MTU_LOG2_LSB +: `RF_GROUP_CFG_MTU_LOG2_BITS];
  wire [3:0]    dtype    = p3_cfg[`RF_GROUP_CFG_DTYPE_LSB +: `RF_GROUP_CFG_DTYPE_BITS];
  wire [2:0]    cfg_op   = p3_cfg[`RF_GROUP_CFG_OP_LSB +: `RF_GROUP_CFG_OP_BITS];
  wire          directed = DIRECTED != 0 && p3_cfg[`RF_GROUP_CFG_DIRECTED_LSB];
  // The lower half of the immediate.
  wire [15:0]   p3_imm   = p3_vlan ? {d_hdr[8*60 +: 8], d_hdr[8*61 +: 8]} : {d_hdr[8*56 +: 8], d_hdr[8*57 +: 8]};
  wire          is_ack   = p3_opcode == 8'h11;
  wire          here     = p3_conn[PW-1:0] == THIS[PW-1:0];
  wire          mirror   = MIRROR != 0 && f_mirror && here;
  wire [47:0]   from_mac = {d_hdr[8*6+:8], d_hdr[8*7+:8], d_hdr[8*8+:8], d_hdr[8*9+:8], d_hdr[8*10+:8], d_hdr[8*11+:8]};
  wire          mac_here = !mirror || from_mac == f_mac;
  // The rank takes part without giving: never in a group that is not directed.
  wire          p3_silent = DIRECTED != 0 && silents[{p3_conn[PW-1:0], p3_conn[GW+LW+PW-1:PW]}];
  wire          syn_ack;
  wire          syn_fatal;
  wire [2:0]    p3_act;
  wire [7:0]    p3_why;
  wire [3:0]    p3_error;
  wire          p3_seen;
  wire          p3_held;
  wire          p3_tomb;

  wire [23:0]   p3_index  = p3_psn - f_start;

  rf_judge_form #(.DIRECTED(DIRECTED), .TYPES(TYPES)) form (
    .enable(enable), .hold(hold), .class_of(p3_class), .cause(p3_cause), .opcode(p3_opcode), .pad(p3_pad),
    .plen(p3_plen), .udp_len(p3_udp_len), .syndrome(p3_syndrome), .icrc_ok(p3_icrc_ok), .to_port(p3_to_port), .hit(p3_hit),
    .good(p3_good), .foreign(p3_foreign), .state(p3_state), .data_here(here && p3_src_ip == f_src_ip && mac_here),
    .ack_here(f_peer_port == THIS[2:0] && p3_src_ip == f_peer_ip && mac_here), .mirror(mirror), .silent(p3_silent), .live(g_live[p3_group]), .error(g_error[p3_group]),
    .mtu_log2(mtu_log2), .dtype(dtype), .cfg_op(cfg_op), .directed(directed), .imm(p3_imm),
    .index(p3_index[3:0]), .act(p3_act), .why(p3_why), .fault(p3_error), .seen(p3_seen),
    .held(p3_held), .tomb(p3_tomb), .syn_ack(syn_ack), .syn_fatal(syn_fatal));

  assign t_valid  = p3_valid && p3_tomb;
  assign t_src_ip = p3_src_ip;

  wire [23:0]   p3_back   = p3_psn + f_shift;
  wire [23:0]   p3_acked  = p3_back - f_start + {23'd0, syn_ack};

  // p4: the ledger.
  reg                 p4_valid_q;
  reg [2:0]           p4_act_q;
  reg [7:0]           p4_why_q;
  reg [3:0]           p4_error_q;
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
  reg                 p4_mirror_q;
  reg [17:0]          p4_ip_sum_q;
  reg                 p4_empty_q;
  reg                 p4_directed_q;
  reg [6:0]           p4_kind_q;
  reg [3:0]           p4_mtu_log2_q;
  reg [15:0]          p4_slot_q;
  reg [HDR_AW-1:0]    p4_hslot_q;
  reg                 p4_lap_q;
  reg                 p4_selective_q;
  reg                 p4_strict_q;

  wire [3:0]  size_log2 = p3_cfg[`RF_GROUP_CFG_S_LOG2_LSB +: `RF_GROUP_CFG_S_LOG2_BITS];
  // IP checksum with TTL 64 in place of the frame's: the exchange of the addresses does not change it. As 4000 is
  // subtracted, its complement is added.
  wire [23:0] ttl_sum   = p3_vlan ? {d_hdr[8*26+:8], d_hdr[8*28+:8], d_hdr[8*29+:8]} :
                                    {d_hdr[8*22+:8], d_hdr[8*24+:8], d_hdr[8*25+:8]};
  wire [17:0] ip_sum    = (MIRROR == 0) ? 18'd0 : {2'd0, ttl_sum[15:0]} + {2'd0, ttl_sum[23:16], 8'd0} + 18'h0bfff;
  wire [15:0] size_mask = ~(16'hffff << size_log2);
  wire [15:0] p3_slot   = p3_index[15:0] & size_mask;
  wire        p3_selective = SELECTIVE != 0 && p3_cfg[`RF_GROUP_CFG_SELECTIVE_LSB];
  wire [31:0] p3_hbase  = g_hbase[p3_group*32 +: 32];

  always @(posedge clk)
    if (rst) p4_valid_q <= 1'b0;
    else p4_valid_q <= p3_valid;

  always @(posedge clk)
    if (p3_valid) begin
      p4_act_q      <= p3_act;
      p4_why_q      <= p3_why;
      p4_error_q    <= p3_error;
      p4_seen_q     <= p3_seen;
      p4_held_q     <= p3_held;
      p4_is_ack_q   <= is_ack;
      p4_conn_q     <= p3_conn;
      p4_index_q    <= is_ack ? p3_acked : p3_index;
      p4_start_q    <= f_start;
      p4_psn_q      <= is_ack ? p3_back : p3_psn - f_shift;
      p4_qpn_q      <= f_qpn;
      p4_msn_q      <= p3_msn;
      p4_fatal_q    <= syn_fatal;
      p4_still_q    <= p3_syndrome == 8'h60 && p3_selective;
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
      p4_mirror_q   <= mirror;
      p4_ip_sum_q   <= ip_sum;
      p4_empty_q    <= DIRECTED != 0 && p3_plen == 14'd0;
      p4_directed_q <= directed;
      p4_kind_q     <= {dtype, cfg_op};
      p4_mtu_log2_q <= mtu_log2;
      p4_slot_q     <= p3_slot;
      p4_hslot_q    <= p3_hbase[HDR_AW-1:0] + p3_slot[HDR_AW-1:0];
      p4_lap_q      <= p3_index[{1'b0, size_log2}];
      p4_selective_q <= p3_selective;
      p4_strict_q    <= p3_cfg[`RF_GROUP_CFG_STRICT_LSB];
    end

  wire [7:0] p4_why;
  wire [1:0] p4_op;
  wire       p4_punt;
  wire       p4_pass;
  wire       p4_event;
  wire       p4_behalf;
  wire       p4_repeat;
  wire       p4_cnp;
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

  rf_judge_window #(.GW(GW), .LW(LW), .SELECTIVE(SELECTIVE), .PARITY(PARITY)) window (
    .clk(clk), .rst(rst), .init_valid(init_valid), .init_addr(init_addr), .tick(tick), .una_valid(una_valid),
    .una_addr(una_addr), .valid(j_valid), .addr(j_addr), .index(p4_index_q), .open(p4_open_q), .silent(p4_silent_q),
    .selective(p4_selective_q), .strict(p4_strict_q), .code(p4_code_q), .eighth(p4_eighth_q), .next(j_next),
    .sent(j_sent), .una(j_una), .distant(j_far), .accept(j_accept), .in_window(j_inside), .full(j_full),
    .behalf_room(behalf_room),
    .repeat_room(repeat_room), .storable(w_storable), .too_soon(p5_too_soon), .why(w_why), .behalf(w_behalf),
    .repeat_it(w_repeat), .nak(p5_nak), .nak_why(p5_nak_why), .syndrome(p5_syndrome), .named(p5_named), .bad(p5_nak_bad));

  // A punted frame is ARP or IPv4.

  rf_judge_verdict verdict (
    .act(p4_act_q), .form_why(p4_why_q), .window_why(w_why), .window_behalf(w_behalf), .window_repeat(w_repeat),
    .accept(j_accept), .len(p4_len_q), .arp(p4_arp_q), .punt_room(punt_room), .punt_room_arp(punt_room_arp),
    .pass_room(pass_room), .event_room(event_room), .behalf_room(behalf_room), .why(p4_why), .op(p4_op), .punt_it(p4_punt), .pass_it(p4_pass), .event_it(p4_event), .behalf(p4_behalf),
    .repeat_it(p4_repeat), .cnp(p4_cnp));

  wire [GW-1:0]      p4_group = p4_conn_q[GW+LW+PW-1 -: GW];
  wire [LW-1:0]      p4_lane  = p4_conn_q[PW +: LW];
  wire [31:0]        p4_dbase = g_dbase[p4_group*32 +: 32];
  wire [31:0]        p4_beats = {16'd0, p4_slot_q} << p4_mtu_log2_q;
  wire [31:0]        p4_first = p4_dbase + (p4_beats >> BYTES_LOG2);

  assign cnp_mark_valid = p4_valid_q && p4_act_q == ACT_MARK;
  assign cnp_mark_group = p4_group;
  assign punt_arp    = p4_arp_q;
  assign j_soon      = p3_group;
  assign j_valid     = p4_valid_q && p4_act_q == ACT_WINDOW;
  assign j_addr      = p4_conn_q[GW+LW+PW-1:PW];
  assign j_index     = p4_index_q;
  assign j_selective = p4_selective_q;
  assign j_slot      = p4_hslot_q;
  assign j_lap       = p4_lap_q;
  assign pass_len    = p4_len_q;
  assign punt_take   = p4_valid_q && p4_punt;
  assign pass_take   = p4_valid_q && p4_pass;
  assign repeat_take = p4_valid_q && p4_repeat;
  assign event_take  = p4_valid_q && p4_event;
  assign event_conn  = p4_conn_q;
  assign event_index = p4_index_q;
  assign event_msn   = p4_msn_q;
  assign event_fatal = p4_fatal_q;
  assign event_still = p4_still_q;
  assign m_valid     = p4_valid_q;
  assign m_op        = p4_op;
  assign m_empty     = p4_empty_q && p4_act_q == ACT_WINDOW;
  assign m_addr      = {p4_lane, p4_first[BANK_AW-1:0]};
  assign m_conn      = j_addr;
  assign m_selective = p4_selective_q;
  assign m_slot      = p4_hslot_q;
  assign m_lap       = p4_lap_q;

  // p5: side effects.
  wire       p4_keep  = p4_act_q == ACT_WINDOW || p4_act_q == ACT_EVENT || p4_act_q == ACT_FORM || p4_act_q == ACT_RETURN || p4_held_q;
  wire [3:0] p4_fault = (p4_act_q == ACT_FORM && w_storable) ? p4_error_q : `RF_ERROR_NONE;

  rf_judge_effect #(.GW(GW), .LW(LW), .PW(PW), .HDR_AW(HDR_AW), .MIRROR(MIRROR)) effect (
    .clk(clk), .rst(rst),
    // p4.
    .valid(p4_valid_q), .keep(p4_keep), .store(p4_op == OP_STORE), .event_it(p4_event), .behalf(p4_behalf), .cnp(p4_cnp),
    .held(p4_held_q), .seen(p4_seen_q), .is_ack(p4_is_ack_q), .fault(p4_fault), .why(p4_why), .conn(p4_conn_q), .index(p4_index_q),
    .slot(p4_hslot_q), .selective(p4_selective_q), .start(p4_start_q), .una(j_una), .psn(p4_psn_q),
    .qpn(p4_qpn_q), .msn(j_msn), .mirror(p4_mirror_q), .ip_sum(p4_ip_sum_q), .hdr(p4_hdr_q), .vlan(p4_vlan_q), .opcode(p4_opcode_q), .hlen(p4_hlen_q),
    .plen(p4_plen_q), .pad(p4_pad_q), .directed(p4_directed_q), .kind(p4_kind_q),
    // p5.
    .too_soon(p5_too_soon), .nak(p5_nak), .nak_why(p5_nak_why), .syndrome(p5_syndrome), .named(p5_named),
    .h_store(h_store), .h_addr(h_addr), .h_event(h_event), .h_behalf(h_behalf), .h_nak(h_nak), .h_cnp(h_cnp), .h_mirror(h_mirror), .h_sum(h_sum), .h_held(h_held),
    .h_hdr(h_hdr), .h_vlan(h_vlan), .h_opcode(h_opcode), .h_hlen(h_hlen), .h_plen(h_plen), .h_pad(h_pad),
    .h_directed(h_directed), .h_says(h_says),
    .h_psn(h_psn), .h_made(h_made), .h_named(h_named), .h_syndrome(h_syndrome), .h_qpn(h_qpn), .h_msn(h_msn), .x_count(x_count),
    .x_cause(x_cause), .x_seen_data(x_seen_data), .x_seen_ack(x_seen_ack), .x_conn(x_conn), .x_error(x_error), .x_got(x_got),
    .x_index(x_index));

  // The fields of a connection that is not live are undefined.
  generate
    if (PARITY != 0) begin : g_parity
      reg p4_conn_bad_q;
      reg bad_q;

      always @(posedge clk)
        if (rst) p4_conn_bad_q <= 1'b0;
        else p4_conn_bad_q <= p3_valid && p3_hit && p3_good && p3_state == `RF_STATE_LIVE && f_bad;

      always @(posedge clk)
        if (rst) bad_q <= 1'b0;
        else bad_q <= p4_conn_bad_q || p5_nak_bad;

      assign bad = bad_q;
    end else begin : g_plain
      wire unused_bad = &{1'b0, p5_nak_bad, f_bad};

      assign bad = 1'b0;
    end
  endgenerate

  wire unused_bits = &{1'b0, silents, p4_first[31:BANK_AW], p3_hbase[31:HDR_AW], p3_cfg, p3_plen};

endmodule

`default_nettype wire
