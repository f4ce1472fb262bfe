// rf_port: everything that exists once per port, connected: from s_axis to the banks, from the results to m_axis.
//
// Latency     see docs/pipeline.md.
// Throughput  one beat per cycle in and out.
// Capacity    that of its modules.
// Handshake   s_axis has no back-pressure; m_axis valid/ready. The rest as in the modules.
// Reset       empties all modules.
// Proved      tests/rtl/core.

`include "rf_regs.vh"

`default_nettype none

module rf_port #(
  parameter PORT = 0,
  parameter PORTS = 4,
  parameter LANES = 1,
  parameter WIDTH = 512,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2,
  parameter MTU_MAX = 4096,
  parameter BANK_AW = 13,
  parameter HDR_AW = 9,
  parameter HASH_BITS = 8,
  parameter CREDIT_W = 10,
  // Cycles without m_axis_tready after which the link counts as down; 0: it never does.
  parameter STALL_CYCLES = 250000,
  // 1: groups may be selective.
  parameter SELECTIVE = 1,
  // 1: connections may be mirror connections.
  parameter MIRROR = 1,
  // 1: groups may be directed.
  parameter DIRECTED = 1,
  // Bits of the facts of a packet (rf_bank).
  parameter FW = (DIRECTED != 0) ? 43 : 19,
  // Types that are built in: bit t for type t.
  parameter TYPES = 1023,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                  clk,
  input  wire                  rst,
  // Resets everything except the counters.
  input  wire                  restart,
  // The box has stopped: frames that still leave have a wrong ICRC. A memory of this port had a parity error; its
  // number.
  input  wire                  stopped,
  output wire                  fault_valid,
  output wire [3:0]            fault_memory,
  output wire                  ready,
  output wire                  idle,

  input  wire [WIDTH-1:0]      s_axis_tdata,
  input  wire [WIDTH/8-1:0]    s_axis_tkeep,
  input  wire                  s_axis_tvalid,
  input  wire                  s_axis_tlast,
  input  wire                  s_axis_tuser,
  output wire [WIDTH-1:0]      m_axis_tdata,
  output wire [WIDTH/8-1:0]    m_axis_tkeep,
  output wire                  m_axis_tvalid,
  output wire                  m_axis_tlast,
  output wire                  m_axis_tuser,
  input  wire                  m_axis_tready,

  // Registers.
  input  wire                  pause,
  input  wire                  enable,
  input  wire                  hold,
  input  wire [3:0]            tx_share,
  input  wire [47:0]           base_mac,
  input  wire [31:0]           box_ip,
  input  wire [PORTS*32-1:0]   port_ip,
  input  wire [PORTS-1:0]      port_ip_set,
  input  wire [GROUPS-1:0]     g_live,
  input  wire [GROUPS-1:0]     g_error,
  input  wire [GROUPS-1:0]     g_life,
  input  wire [GROUPS*32-1:0]  g_cfg,
  input  wire [GROUPS*32-1:0]  g_dbase,
  input  wire [GROUPS*32-1:0]  g_hbase,
  input  wire [GROUPS*5-1:0]   g_straggler,
  input  wire [GROUPS-1:0]     g_directed,
  // The next first sending of the group carries a CE mark. Ranks that do not give (rf_marks).
  input  wire [GROUPS-1:0]     g_mark,
  input  wire [(PORTS<<(GW+LW))-1:0] silents,
  input  wire                  hash_valid,
  input  wire                  hash_table,
  input  wire [15:0]           hash_index,
  input  wire [1:0]            hash_role,
  input  wire [31:0]           hash_ip,
  input  wire [23:0]           hash_qpn,
  input  wire [15:0]           hash_cid,
  input  wire [1:0]            hash_state,
  input  wire [5:0]            conn_field,
  input  wire [GW+LW+PW-1:0]   conn_wr,
  input  wire [31:0]           conn_data,
  // {mirror, MAC} of connection conn_wr.
  input  wire                  conn_mac_wr,
  input  wire [48:0]           conn_mac,
  input  wire [GW+LW+PW-1:0]   conn_rd,
  input  wire [1:0]            seen_clear,
  output wire                  seen_ready,
  output wire [1:0]            seen,

  // Tombstones: firmware's side of rf_tomb. Held frames.
  input  wire                  tomb_write,
  input  wire                  tomb_look,
  input  wire [15:0]           tomb_number,
  input  wire [31:0]           tomb_src,
  input  wire [2:0]            tomb_port,
  input  wire                  tomb_any,
  output wire                  tomb_seen,
  output wire                  held_valid,
  output wire [31:0]           held_ip,
  output wire [31:0]           held_src,
  output wire [23:0]           held_qpn,
  input  wire [7:0]            count_number,
  output wire [31:0]           count_data,

  // Punt and inject.
  input  wire                  punt_room,
  input  wire                  punt_room_arp,
  output wire                  punt_take,
  output wire                  punt_arp,
  output wire                  punt_valid,
  input  wire                  punt_ready,
  output wire [WIDTH-1:0]      punt_data,
  output wire [WIDTH/8-1:0]    punt_keep,
  output wire                  punt_last,
  input  wire                  inj_valid,
  output wire                  inj_ready,
  input  wire [13:0]           inj_len,
  input  wire [WIDTH-1:0]      inj_data,
  input  wire                  inj_last,

  // Ledger.
  output wire [GW-1:0]         j_soon,
  output wire                  j_valid,
  output wire [GW+LW-1:0]      j_addr,
  output wire [23:0]           j_index,
  output wire                  j_selective,
  output wire [HDR_AW-1:0]     j_slot,
  output wire                  j_lap,
  input  wire [23:0]           j_next,
  input  wire [23:0]           j_sent,
  input  wire [23:0]           j_una,
  input  wire                  j_far,
  input  wire [23:0]           j_msn,
  input  wire                  j_accept,
  input  wire                  j_inside,
  input  wire                  j_full,
  // A connection of this port is initialised; no NAK counts as outstanding any more; una has advanced.
  input  wire                  init_valid,
  input  wire                  tick,
  input  wire                  una_valid,
  input  wire [GW+LW-1:0]      una_addr,
  output wire                  c_valid,
  output wire [GW+LW-1:0]      c_addr,
  output wire                  c_marks,
  output wire [HDR_AW-1:0]     c_slot,
  output wire                  c_lap,
  output wire                  ev_valid,
  input  wire                  ev_ready,
  output wire [GW+LW+PW-1:0]   ev_conn,
  output wire [23:0]           ev_index,
  output wire [23:0]           ev_msn,
  output wire                  ev_fatal,
  output wire                  ev_still,
  input  wire                  v_valid,
  input  wire                  v_ok,

  // Errors.
  output wire [3:0]            judge_error,
  output wire [GW+LW+PW-1:0]   judge_conn,
  output wire [23:0]           judge_index,
  output wire [31:0]           judge_got,
  output wire                  bad_valid,
  output wire [GW+LW-1:0]      bad_addr,
  output wire [23:0]           bad_index,
  output wire [1:0]            bad_what,
  output wire [31:0]           bad_got,
  output wire [31:0]           bad_want,
  output wire                  lost_valid,
  output wire [GW+LW-1:0]      lost_addr,
  output wire [23:0]           lost_index,

  // Marks (rf_marks): a packet of the rank of judge_conn is stored; it gives. A CNP sets the group's mark; a marked copy
  // has left.
  output wire                  store_valid,
  output wire                  store_gives,
  output wire                  cnp_mark_valid,
  output wire [GW-1:0]         cnp_mark_group,
  output wire                  unmark_valid,
  output wire [GW-1:0]         unmark_group,

  // Repeats.
  output wire                  q_valid,
  output wire [GW+LW-1:0]      q_addr,
  output wire [23:0]           q_index,
  output wire                  q_first,
  output wire                  q_life,
  input  wire                  q_pop,
  input  wire                  q_stale,
  output wire                  q_room,
  input  wire                  q_push,
  input  wire [GW+LW-1:0]      l_addr,
  output wire                  l_queued,

  // Launch of passes.
  output wire [CREDIT_W-1:0]   free_beats,
  output wire [CREDIT_W-1:0]   free_hdrs,
  output wire                  prep_busy,
  input  wire                  launch_valid,
  input  wire [PORTS-1:0]      launch_member,
  input  wire                  launch_copy,
  input  wire                  launch_room,
  input  wire [PORTS-1:0]      launch_block,
  input  wire [GW-1:0]         launch_group,
  input  wire [LW-1:0]         launch_lane,
  input  wire [23:0]           launch_index,
  input  wire                  launch_first,
  input  wire                  launch_final,
  input  wire                  launch_repeat,
  input  wire                  launch_queued,
  input  wire                  launch_ackreq,
  input  wire [1:0]            launch_level,
  input  wire [3:0]            launch_dtype,
  input  wire [2:0]            launch_op,
  input  wire [PW-1:0]         launch_ref,
  input  wire [4:0]            launch_lanes,
  input  wire [CREDIT_W-1:0]   launch_beats,
  input  wire [BANK_AW-1:0]    launch_beat,
  input  wire [HDR_AW-1:0]     launch_slot,

  // Readers of all ports.
  output wire                  run_free,
  input  wire [PORTS-1:0]      run_frees,
  output wire                  differs,
  input  wire [PORTS-1:0]      differ,
  output wire [FW-1:0]         fact,
  input  wire [PORTS*FW-1:0]   facts,
  output wire                  end_valid,
  output wire [GW-1:0]         end_group,

  // Reduction.
  output wire                  in_valid,
  output wire [WIDTH-1:0]      in_data,
  output wire                  in_member,
  output wire                  in_empty,
  output wire [1:0]            in_level,
  output wire [3:0]            in_dtype,
  output wire [2:0]            in_op,
  output wire                  in_first,
  output wire                  in_final,
  output wire                  in_last,
  output wire                  in_bad,
  input  wire                  out_valid,
  input  wire [WIDTH-1:0]      out_data,
  input  wire                  out_last,
  input  wire                  out_bad
);

  localparam AW         = GW + LW;
  localparam CW         = GW + LW + PW;
  localparam BYTES_LOG2 = $clog2(WIDTH / 8);
  localparam COMMANDS   = 16;
  localparam BEATS      = 1 << (CREDIT_W - 1);
  localparam HDRS       = (LANES > 8) ? 64 : (LANES > 4) ? 32 : 16;
  localparam [47:0] NUMBER = PORT;
  localparam [31:0] THIS = PORT;
  // Frames that wait for the judge, and made ACKs: half as many if MTU_MAX is below 1024.
  localparam FRAMES     = (MTU_MAX < 1024) ? 16 : 32;
  // Two frames of maximum length.
  localparam PASS_BEATS = 1 << $clog2(2 * (MTU_MAX + 86 + WIDTH / 8) * 8 / WIDTH);

  wire         reset = rst || restart;
  wire         spoil;
  wire         ingress_bad;
  wire         r_bad;
  wire         f_bad;
  wire         f_mac_bad;
  wire         to_mac_bad;
  wire         judge_bad;
  wire         ackq_bad;
  wire         repeatq_bad;
  wire         pass_bad;
  wire         d_valid;
  wire         d_ready;
  wire [1:0]   d_class;
  wire [7:0]   d_cause;
  wire [13:0]  d_len;
  wire [639:0] d_hdr;
  wire         h_take;
  wire [47:0]  d_from;
  wire         d_vlan;
  wire [7:0]   d_opcode;
  wire [23:0]  d_qpn;
  wire [23:0]  d_psn;
  wire [1:0]   d_pad;
  wire [31:0]  d_src_ip;
  wire [1:0]   d_role;
  wire [31:0]  d_key_ip;
  wire [15:0]  d_udp_len;
  wire [6:0]   d_hlen;
  wire [13:0]  d_plen;
  wire [7:0]   d_syndrome;
  wire [23:0]  d_msn;
  wire         d_icrc_ok;
  wire         cmd_valid;
  wire         cmd_ready;
  wire [1:0]   cmd_op;
  wire         o_valid;
  wire         o_ready;
  wire [WIDTH-1:0]   o_data;
  wire [WIDTH/8-1:0] o_keep;
  wire         o_last;
  wire         o_bad;
  wire         cnt_frames;
  wire         cnt_overflow;
  wire         ingress_idle;

  rf_ingress #(.WIDTH(WIDTH), .PORTS(PORTS), .PORT(PORT), .MIRROR(MIRROR), .MTU_MAX(MTU_MAX), .FRAMES(FRAMES), .PARITY(PARITY)) ingress (
    .clk(clk), .rst(reset), .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tvalid(s_axis_tvalid),
    .s_axis_tlast(s_axis_tlast), .s_axis_tuser(s_axis_tuser), .base_mac(base_mac), .box_ip(box_ip), .port_ip(port_ip), .port_ip_set(port_ip_set),
    .cnt_frames(cnt_frames), .cnt_overflow(cnt_overflow), .d_valid(d_valid), .d_ready(d_ready), .d_class(d_class),
    .d_cause(d_cause), .d_len(d_len), .d_hdr(d_hdr), .h_take(h_take), .d_from(d_from), .d_vlan(d_vlan), .d_opcode(d_opcode), .d_qpn(d_qpn),
    .d_psn(d_psn), .d_pad(d_pad), .d_src_ip(d_src_ip), .d_role(d_role), .d_key_ip(d_key_ip), .d_udp_len(d_udp_len), .d_hlen(d_hlen),
    .d_plen(d_plen), .d_syndrome(d_syndrome), .d_msn(d_msn), .d_icrc_ok(d_icrc_ok), .c_valid(cmd_valid),
    .c_ready(cmd_ready), .c_op(cmd_op), .o_valid(o_valid), .o_ready(o_ready), .o_data(o_data), .o_keep(o_keep),
    .o_last(o_last), .o_bad(o_bad), .bad(ingress_bad), .idle(ingress_idle));

  wire        l_valid;
  wire        r_valid;
  wire        r_hit;
  wire [15:0] r_cid;
  wire [1:0]  r_state;
  wire        table_ready;

  rf_conn_table #(.HASH_BITS(HASH_BITS), .MIRROR(MIRROR), .PARITY(PARITY)) conn_table (
    .clk(clk), .rst(reset), .ready(table_ready), .l_valid(l_valid), .l_role(d_role), .l_ip(d_key_ip),
    .l_qpn(d_qpn), .r_valid(r_valid), .r_hit(r_hit), .r_cid(r_cid), .r_state(r_state), .r_bad(r_bad), .w_valid(hash_valid),
    .w_table(hash_table), .w_index(hash_index), .w_role(hash_role), .w_ip(hash_ip), .w_qpn(hash_qpn),
    .w_cid(hash_cid), .w_state(hash_state));

  wire          f_read;
  wire [CW-1:0] f_conn;
  wire [23:0]   f_start;
  wire [23:0]   f_shift;
  wire [31:0]   f_src_ip;
  wire [31:0]   f_peer_ip;
  wire [2:0]    f_peer_port;
  wire [23:0]   f_qpn;

  rf_conn_static #(.CW(CW), .PARITY(PARITY)) conn_static (
    .clk(clk), .wr_field(conn_field), .wr_conn(conn_wr), .wr_data(conn_data), .rd_en(f_read), .rd_conn(f_conn),
    .rd_start(f_start), .rd_shift(f_shift), .rd_src_ip(f_src_ip), .rd_peer_ip(f_peer_ip),
    .rd_peer_port(f_peer_port), .rd_qpn(f_qpn), .rd_bad(f_bad));

  // Mirror connections of this port: for the judge, and for the headers of results.
  wire                    mac_ready;
  wire                    f_mirror;
  wire [47:0]             f_mac;
  wire                    copy_valid;
  wire [AW-1:0]           copy_addr;
  wire [23:0]             copy_index;
  wire                    to_mirror;
  wire [47:0]             to_mac;

  generate
    if (MIRROR != 0) begin : g_mirror
      rf_conn_mac #(.AW(AW), .PARITY(PARITY)) macs (
        .clk(clk), .rst(reset), .ready(mac_ready), .wr_en(conn_mac_wr && conn_wr[PW-1:0] == THIS[PW-1:0]), .wr_addr(conn_wr[CW-1:PW]),
        .wr_data(conn_mac), .a_en(f_read), .a_addr(f_conn[CW-1:PW]), .a_mirror(f_mirror), .a_mac(f_mac), .a_bad(f_mac_bad),
        .b_en(copy_valid), .b_addr(copy_addr), .b_mirror(to_mirror), .b_mac(to_mac), .b_bad(to_mac_bad));
    end else begin : g_no_mirror
      wire unused_mac = &{1'b0, conn_mac_wr, conn_mac, THIS};

      assign mac_ready  = 1'b1;
      assign f_mirror   = 1'b0;
      assign f_mac      = 48'd0;
      assign f_mac_bad  = 1'b0;
      assign to_mirror  = 1'b0;
      assign to_mac     = 48'd0;
      assign to_mac_bad = 1'b0;
    end
  endgenerate

  // The header with its source MAC from a register, because the judge compares that.
  wire [47:0]             be_from = {d_from[7:0], d_from[15:8], d_from[23:16], d_from[31:24], d_from[39:32], d_from[47:40]};
  wire [639:0]            judged_hdr = (MIRROR == 0) ? d_hdr : {d_hdr[639:96], be_from, d_hdr[47:0]};

  wire [13:0]             pass_len;
  wire                    pass_room;
  wire                    pass_take;
  wire                    repeat_room;
  wire                    repeat_take;
  wire                    event_room;
  wire                    event_take;
  wire [CW-1:0]           event_conn;
  wire [23:0]             event_index;
  wire [23:0]             event_msn;
  wire                    event_fatal;
  wire                    event_still;
  wire                    behalf_room;
  wire                    m_valid;
  wire [1:0]              m_op;
  wire                    m_empty;
  wire [LW+BANK_AW-1:0]   m_addr;
  wire [AW-1:0]           m_conn;
  wire                    m_selective;
  wire [HDR_AW-1:0]       m_slot;
  wire                    m_lap;
  wire                    m_done;
  wire                    h_store;
  wire [LW+HDR_AW-1:0]    h_addr;
  wire                    h_event;
  wire                    h_behalf;
  wire                    h_nak;
  wire                    h_cnp;
  wire                    h_mirror;
  wire [15:0]             h_sum;
  wire [23:0]             h_made;
  wire [23:0]             h_named;
  wire [7:0]              h_syndrome;
  wire [639:0]            h_hdr;
  wire                    h_vlan;
  wire [7:0]              h_opcode;
  wire [6:0]              h_hlen;
  wire [12:0]             h_plen;
  wire [1:0]              h_pad;
  wire                    h_directed;
  wire [27:0]             h_says;
  wire [23:0]             h_psn;
  wire [23:0]             h_qpn;
  wire [23:0]             h_msn;
  wire                    x_count;
  wire [7:0]              x_cause;
  wire                    x_seen_data;
  wire                    x_seen_ack;
  wire [3:0]              x_error;
  wire [CW-1:0]           x_conn;
  wire [23:0]             x_index;
  wire [31:0]             x_got;
  // A CNP of a rank that does not give: none exists while no group is directed.
  wire                    x_mark;
  wire [GW-1:0]           x_mark_group;
  wire                    judge_idle;
  wire                    t_valid;
  wire [31:0]             t_src_ip;

  rf_judge #(
    .PORT(PORT), .PORTS(PORTS), .LANES(LANES), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW), .BYTES_LOG2(BYTES_LOG2),
    .BANK_AW(BANK_AW), .HDR_AW(HDR_AW), .COMMANDS(COMMANDS), .SELECTIVE(SELECTIVE), .MIRROR(MIRROR), .DIRECTED(DIRECTED), .TYPES(TYPES),
    .PARITY(PARITY)
  ) judge (
    .clk(clk), .rst(reset), .pause(pause), .enable(enable && !fault_valid), .hold(hold), .g_live(g_live), .g_error(g_error), .g_cfg(g_cfg),
    .g_dbase(g_dbase), .g_hbase(g_hbase), .g_straggler(g_straggler), .silents(silents), .d_valid(d_valid), .d_ready(d_ready), .d_class(d_class), .d_cause(d_cause),
    .d_len(d_len), .d_hdr(judged_hdr), .h_take(h_take), .d_vlan(d_vlan), .d_opcode(d_opcode), .d_psn(d_psn), .d_pad(d_pad),
    .d_src_ip(d_src_ip), .d_to_port(d_role[1]), .d_udp_len(d_udp_len), .d_hlen(d_hlen), .d_plen(d_plen), .d_syndrome(d_syndrome),
    .d_msn(d_msn), .d_icrc_ok(d_icrc_ok), .l_valid(l_valid), .r_hit(r_hit), .r_cid(r_cid), .r_state(r_state),
    .t_valid(t_valid), .t_src_ip(t_src_ip), .f_read(f_read), .f_conn(f_conn), .f_start(f_start), .f_shift(f_shift), .f_src_ip(f_src_ip),
    .f_peer_ip(f_peer_ip), .f_peer_port(f_peer_port), .f_qpn(f_qpn), .f_mirror(f_mirror), .f_mac(f_mac), .f_bad(f_bad || f_mac_bad), .j_soon(j_soon), .j_valid(j_valid), .j_addr(j_addr),
    .j_index(j_index), .j_selective(j_selective), .j_slot(j_slot), .j_lap(j_lap), .j_next(j_next), .j_sent(j_sent), .j_una(j_una), .j_far(j_far), .j_msn(j_msn),
    .j_accept(j_accept), .j_inside(j_inside), .j_full(j_full), .init_valid(init_valid),
    .init_addr(conn_wr[CW-1:PW]), .tick(tick), .una_valid(una_valid), .una_addr(una_addr), .punt_room(punt_room), .punt_take(punt_take),
    .punt_room_arp(punt_room_arp), .punt_arp(punt_arp), .pass_len(pass_len), .pass_room(pass_room),
    .pass_take(pass_take), .repeat_room(repeat_room), .repeat_take(repeat_take), .event_room(event_room),
    .event_take(event_take), .event_conn(event_conn), .event_index(event_index), .event_msn(event_msn),
    .event_fatal(event_fatal), .event_still(event_still), .behalf_room(behalf_room), .m_valid(m_valid), .m_op(m_op), .m_empty(m_empty), .m_addr(m_addr),
    .m_conn(m_conn), .m_selective(m_selective), .m_slot(m_slot), .m_lap(m_lap), .m_done(m_done),
    .h_store(h_store), .h_addr(h_addr), .h_event(h_event), .h_behalf(h_behalf), .h_nak(h_nak), .h_cnp(h_cnp), .h_mirror(h_mirror), .h_sum(h_sum), .h_held(held_valid),
    .h_made(h_made), .h_named(h_named), .h_syndrome(h_syndrome), .h_hdr(h_hdr), .h_vlan(h_vlan), .h_opcode(h_opcode), .h_hlen(h_hlen), .h_plen(h_plen), .h_pad(h_pad),
    .h_directed(h_directed), .h_says(h_says),
    .h_psn(h_psn), .h_qpn(h_qpn), .h_msn(h_msn), .x_count(x_count), .x_cause(x_cause), .x_seen_data(x_seen_data),
    .x_seen_ack(x_seen_ack), .x_conn(x_conn), .x_error(x_error), .x_got(x_got), .x_index(x_index), .cnp_mark_valid(x_mark), .cnp_mark_group(x_mark_group), .bad(judge_bad), .idle(judge_idle));

  rf_seen #(.CW(CW)) signs (
    .clk(clk), .set_data(x_seen_data), .set_ack(x_seen_ack), .set_conn(x_conn), .clr_bits(seen_clear),
    .clr_ready(seen_ready), .clr_conn(conn_wr), .rd_conn(conn_rd), .rd_seen(seen));

  // Tombstones use the field of the connection number for their own numbers.
  localparam TOMB_AW = (HASH_BITS < 15) ? HASH_BITS + 1 : 16;

  rf_tomb #(.PORT(PORT), .AW(TOMB_AW), .PARITY(PARITY)) tomb (
    .clk(clk), .rst(reset), .rd_valid(r_valid && r_hit), .rd_number(r_cid), .ask(t_valid), .ask_ip(t_src_ip),
    .w_valid(tomb_write), .look(tomb_look), .number(tomb_number), .w_ip(tomb_src), .w_port(tomb_port), .w_any(tomb_any),
    .seen(tomb_seen));

  // Held frames: the part that begins with the source address.
  wire [191:0] held_body = h_vlan ? h_hdr[18*8 + 96 +: 192] : h_hdr[14*8 + 96 +: 192];

  assign held_src = {held_body[7:0], held_body[15:8], held_body[23:16], held_body[31:24]};
  assign held_ip  = {held_body[39:32], held_body[47:40], held_body[55:48], held_body[63:56]};
  assign held_qpn = {held_body[175:168], held_body[183:176], held_body[191:184]};

  // ACKs.
  wire         ack_e_valid;
  wire         ack_e_ready;
  wire [639:0] ack_e_hdr;
  wire [6:0]   ack_e_hlen;
  wire         ack_behalf;
  wire         ack_nak;
  wire         ackq_idle;

  rf_ackq #(.CW(CW), .DEPTH(FRAMES), .MIRROR(MIRROR), .PARITY(PARITY)) ackq (
    .clk(clk), .rst(reset), .event_room(event_room), .behalf_room(behalf_room), .event_take(event_take),
    .event_conn(event_conn), .event_index(event_index), .event_msn(event_msn), .event_fatal(event_fatal),
    .event_still(event_still), .h_event(h_event), .h_behalf(h_behalf), .h_nak(h_nak), .h_cnp(h_cnp), .h_mirror(h_mirror), .h_sum(h_sum), .h_syndrome(h_syndrome),
    .h_made(h_made), .h_named(h_named), .h_hdr(h_hdr), .h_vlan(h_vlan), .h_psn(h_psn), .h_qpn(h_qpn),
    .h_msn(h_msn), .ev_valid(ev_valid), .ev_ready(ev_ready), .ev_conn(ev_conn), .ev_index(ev_index),
    .ev_msn(ev_msn), .ev_fatal(ev_fatal), .ev_still(ev_still), .v_valid(v_valid), .v_ok(v_ok), .e_valid(ack_e_valid),
    .e_ready(ack_e_ready), .e_hdr(ack_e_hdr), .e_hlen(ack_e_hlen), .e_behalf(ack_behalf), .e_nak(ack_nak),
    .bad(ackq_bad), .idle(ackq_idle));

  // Repeats. `life` distinguishes the entries of a group from those of its previous use.
  wire repeatq_idle;

  rf_repeatq #(.LANES(LANES), .AW(AW), .PARITY(PARITY)) repeatq (
    .clk(clk), .rst(reset), .j_room(repeat_room), .j_valid(repeat_take), .j_addr(j_addr), .j_index(j_index),
    .j_life(g_life[j_addr[AW-1:LW]]), .f_room(q_room), .f_valid(q_push), .f_addr({launch_group, launch_lane}),
    .f_index(launch_index), .f_life(g_life[launch_group]), .l_addr(l_addr), .l_queued(l_queued), .m_valid(q_valid), .m_addr(q_addr),
    .m_index(q_index), .m_first(q_first), .m_life(q_life), .m_pop(q_pop), .bad(repeatq_bad), .idle(repeatq_idle));

  // Banks.
  wire                  pass_valid;
  wire                  beat_read;
  wire [LW+BANK_AW-1:0] beat_addr;
  wire                  fact_read;
  wire [LW+HDR_AW-1:0]  fact_addr;
  wire                  hdr_read;
  wire [LW+HDR_AW-1:0]  hdr_addr;
  wire [647:0]          hdr_data;
  wire                  beat_bad;
  wire                  fact_bad;
  wire                  hdr_bad;
  wire                  bank_bad;
  wire                  bank_idle;

  // The slot goes with a packet of a selective group.
  localparam MW = (SELECTIVE != 0) ? AW + HDR_AW + 2 : AW;
  wire [AW+HDR_AW+1:0] m_where = {m_selective, m_lap, m_slot, m_conn};
  wire [AW+HDR_AW+1:0] c_where;
  wire                 commit;

  // Commits leave the port from registers.
  wire                 c_selective = c_where[AW+HDR_AW+1];
  reg                  c_valid_q;
  reg                  c_marks_q;
  reg [AW+HDR_AW:0]    c_where_q;

  always @(posedge clk)
    if (reset) {c_valid_q, c_marks_q} <= 2'b00;
    else {c_valid_q, c_marks_q} <= {commit && !c_selective, commit && c_selective};

  always @(posedge clk)
    if (commit) c_where_q <= c_where[AW+HDR_AW:0];

  assign c_valid = c_valid_q;
  assign c_marks = c_marks_q;
  assign {c_lap, c_slot, c_addr} = c_where_q;

  generate
    if (SELECTIVE == 0) begin : g_plain_bank
      wire unused_slot = &{1'b0, m_where};

      assign c_where[AW+HDR_AW+1:AW] = {HDR_AW+2{1'b0}};
    end
  endgenerate

  rf_bank #(
    .WIDTH(WIDTH), .LANES(LANES), .LW(LW), .BANK_AW(BANK_AW), .HDR_AW(HDR_AW), .AW(MW), .COMMANDS(COMMANDS),
    .MIRROR(MIRROR), .DIRECTED(DIRECTED), .FW(FW), .PARITY(PARITY)
  ) bank (
    .clk(clk), .rst(reset), .m_valid(m_valid), .m_op(m_op), .m_empty(m_empty), .m_addr(m_addr), .m_conn(m_where[MW-1:0]), .m_done(m_done),
    .h_store(h_store), .h_addr(h_addr), .h_hdr(h_hdr), .h_vlan(h_vlan), .h_opcode(h_opcode), .h_hlen(h_hlen),
    .h_plen(h_plen), .h_pad(h_pad), .h_psn(h_psn), .h_directed(h_directed), .h_says(h_says), .h_mirror(h_mirror), .h_sum(h_sum), .c_valid(cmd_valid), .c_ready(cmd_ready), .c_op(cmd_op),
    .o_valid(o_valid), .o_ready(o_ready), .o_data(o_data), .o_last(o_last), .o_bad(o_bad), .punt_valid(punt_valid),
    .punt_ready(punt_ready), .pass_valid(pass_valid), .commit_valid(commit), .commit_conn(c_where[MW-1:0]),
    .beat_read(beat_read), .beat_addr(beat_addr), .beat_data(in_data), .beat_bad(beat_bad), .fact_read(fact_read),
    .fact_addr(fact_addr), .fact_data(fact), .fact_bad(fact_bad), .hdr_read(hdr_read), .hdr_addr(hdr_addr), .hdr_data(hdr_data),
    .hdr_bad(hdr_bad), .bad(bank_bad), .idle(bank_idle));

  assign punt_data = o_data;
  assign punt_keep = o_keep;
  assign punt_last = o_last;

  // Foreign frames.
  wire             for_e_valid;
  wire             for_e_ready;
  wire             for_more;
  wire [13:0]      for_e_len;
  wire             for_p_valid;
  wire             for_p_ready;
  wire [WIDTH-1:0] for_p_data;
  wire             for_p_last;
  wire             pass_idle;

  rf_passthru #(.WIDTH(WIDTH), .BEATS(PASS_BEATS), .PARITY(PARITY)) passthru (
    .clk(clk), .rst(reset), .ask_len(pass_len), .ask_room(pass_room), .ask_take(pass_take), .s_valid(pass_valid),
    .s_data(o_data), .s_last(o_last), .e_valid(for_e_valid), .e_ready(for_e_ready), .e_more(for_more), .e_len(for_e_len),
    .p_valid(for_p_valid), .p_ready(for_p_ready), .p_data(for_p_data), .p_last(for_p_last), .bad(pass_bad), .idle(pass_idle));

  // Passes.
  wire                copy_repeat;
  wire                copy_ackreq;
  wire                copy_directed;
  wire                copy_wants;
  wire                copy_mark;
  wire                pack_valid;
  wire                pack_room;
  wire [4:0]          pack_copies;
  wire [4:0]          pack_fulls;
  wire                pack_drop;
  wire [CREDIT_W-1:0] pack_length;
  wire [14:0]         pack_tail;
  wire [CREDIT_W-1:0] pack_beats;
  wire [4:0]          pack_hdrs;
  wire                reader_idle;
  wire                op_lost;
  wire [AW-1:0]       op_addr;
  wire [23:0]         op_index;
  wire                unlike_valid;
  wire                unlike_parity;
  wire [1:0]          unlike_what;
  wire [31:0]         unlike_got;
  wire [31:0]         unlike_want;
  wire                unmark;
  wire [GW-1:0]       unmark_of;
  wire                res_lost;
  wire [AW-1:0]       res_addr;
  wire [23:0]         res_index;

  rf_reader #(
    .PORT(PORT), .PORTS(PORTS), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW), .BYTES_LOG2(BYTES_LOG2),
    .BANK_AW(BANK_AW), .HDR_AW(HDR_AW), .CREDIT_W(CREDIT_W), .DIRECTED(DIRECTED), .FW(FW), .PARITY(PARITY)
  ) reader (
    .clk(clk), .rst(reset), .g_error(g_error), .g_directed(g_directed), .g_mark(g_mark), .launch_valid(launch_valid), .launch_member(launch_member),
    .launch_copy(launch_copy), .launch_room(launch_room), .launch_block(launch_block), .launch_group(launch_group),
    .launch_lane(launch_lane), .launch_index(launch_index), .launch_first(launch_first), .launch_final(launch_final),
    .launch_repeat(launch_repeat), .launch_queued(launch_queued), .launch_ackreq(launch_ackreq), .launch_level(launch_level),
    .launch_dtype(launch_dtype), .launch_op(launch_op), .launch_ref(launch_ref), .launch_lanes(launch_lanes),
    .launch_beats(launch_beats), .launch_beat(launch_beat), .launch_slot(launch_slot), .prep_busy(prep_busy),
    .run_free(run_free), .run_frees(run_frees), .differs(differs), .differ(differ), .fact_read(fact_read),
    .fact_addr(fact_addr), .facts(facts), .fact_bad(fact_bad), .beat_bad(beat_bad), .hdr_read(hdr_read), .hdr_addr(hdr_addr), .beat_read(beat_read),
    .beat_addr(beat_addr), .in_valid(in_valid), .in_member(in_member), .in_empty(in_empty), .in_level(in_level), .in_dtype(in_dtype),
    .in_op(in_op), .in_first(in_first), .in_final(in_final), .in_last(in_last), .lost_valid(op_lost),
    .lost_group(op_addr[AW-1:LW]), .lost_lane(op_addr[LW-1:0]), .lost_index(op_index), .copy_valid(copy_valid),
    .copy_repeat(copy_repeat), .copy_ackreq(copy_ackreq), .copy_directed(copy_directed), .copy_wants(copy_wants),
    .copy_mark(copy_mark), .pack_valid(pack_valid), .pack_room(pack_room), .pack_copies(pack_copies), .pack_fulls(pack_fulls), .pack_drop(pack_drop), .pack_length(pack_length),
    .pack_tail(pack_tail), .pack_beats(pack_beats), .pack_hdrs(pack_hdrs), .bad_valid(unlike_valid), .bad_parity(unlike_parity),
    .bad_group(copy_addr[AW-1:LW]), .bad_lane(copy_addr[LW-1:0]), .bad_index(copy_index), .bad_what(unlike_what),
    .bad_got(unlike_got), .bad_want(unlike_want), .unmark_valid(unmark), .unmark_group(unmark_of), .end_valid(end_valid),
    .end_group(end_group), .idle(reader_idle));

  assign in_bad = op_lost;

  // What the port reports to the units that the box has once leaves it from registers.
  // Facts with a parity error are a loss, too.
  wire      lost = op_lost || res_lost || (unlike_valid && unlike_parity);
  reg [3:0] error_q;
  reg       store_q;
  reg       mark_q;
  reg       unlike_q;
  reg       lost_q;
  reg       unmark_q;

  always @(posedge clk)
    if (reset) {error_q, store_q, mark_q, unlike_q, lost_q, unmark_q} <= 9'd0;
    else {error_q, store_q, mark_q, unlike_q, lost_q, unmark_q} <= {x_error, h_store, x_mark, unlike_valid, lost, unmark};

  assign {judge_error, store_valid, cnp_mark_valid, bad_valid, lost_valid, unmark_valid} =
         {error_q, store_q, mark_q, unlike_q, lost_q, unmark_q};

  localparam OF_JUDGE_W = CW + 24 + 32 + 1 + GW; // connection, index, value; gives; group of a mark
  localparam OF_READER_W = AW + 24 + 2 + 64 + GW; // {group, lane}, index; what; both values; group of an unmark
  localparam OF_LOST_W = AW + 24; // {group, lane}, index
  reg [OF_JUDGE_W-1:0]  of_judge_q;
  reg [OF_READER_W-1:0] of_reader_q;
  reg [OF_LOST_W-1:0]   of_lost_q;

  always @(posedge clk) begin
    of_judge_q  <= {x_conn, x_index, x_got, h_says[27], x_mark_group};
    of_reader_q <= {copy_addr, copy_index, unlike_what, unlike_got, unlike_want, unmark_of};
    of_lost_q   <= op_lost ? {op_addr, op_index} : res_lost ? {res_addr, res_index} : {copy_addr, copy_index};
  end

  assign {judge_conn, judge_index, judge_got, store_gives, cnp_mark_group} = of_judge_q;
  assign {bad_addr, bad_index, bad_what, bad_got, bad_want, unmark_group}  = of_reader_q;
  assign {lost_addr, lost_index}                                           = of_lost_q;

  // Results.
  wire             res_bad;
  wire             res_next_beat;
  wire             res_next_copy;
  wire             res_next_empty;
  wire             res_e_valid;
  wire             res_e_ready;
  wire [639:0]     res_e_hdr;
  wire [6:0]       res_e_hlen;
  wire [13:0]      res_e_plen;
  wire             res_repeat;
  wire             res_empty;
  wire             res_p_valid;
  wire             res_p_ready;
  wire [WIDTH-1:0] res_p_data;
  wire             res_p_last;
  wire             results_idle;

  // A register between the reader and the results: what it says is needed only when the first header comes.
  localparam PACK_W = 32 + 2 * CREDIT_W;
  reg              pack_valid_q;
  reg [PACK_W-1:0] pack_q;
  wire             p1_room;
  wire [4:0]       p1_copies;
  wire [4:0]       p1_fulls;
  wire             p1_drop;
  wire [CREDIT_W-1:0] p1_length;
  wire [14:0]      p1_tail;
  wire [CREDIT_W-1:0] p1_beats;
  wire [4:0]       p1_hdrs;

  always @(posedge clk)
    if (reset) pack_valid_q <= 1'b0;
    else pack_valid_q <= pack_valid;

  always @(posedge clk)
    pack_q <= {pack_room, pack_copies, pack_fulls, pack_drop, pack_length, pack_tail, pack_beats, pack_hdrs};

  assign {p1_room, p1_copies, p1_fulls, p1_drop, p1_length, p1_tail, p1_beats, p1_hdrs} = pack_q;

  rf_results #(.WIDTH(WIDTH), .BEATS(BEATS), .HDRS(HDRS), .CREDIT_W(CREDIT_W), .AW(AW), .MIRROR(MIRROR), .DIRECTED(DIRECTED), .PARITY(PARITY)) results (
    .clk(clk), .rst(reset), .free_beats(free_beats), .free_hdrs(free_hdrs),
    .take_valid(launch_valid && launch_first && launch_room), .take_beats(launch_beats), .take_hdrs(launch_lanes),
    .copy_valid(copy_valid), .copy_repeat(copy_repeat), .copy_ackreq(copy_ackreq), .copy_directed(copy_directed), .copy_wants(copy_wants),
    .copy_mark(copy_mark), .copy_addr(copy_addr), .copy_index(copy_index),
    .pack_valid(pack_valid_q), .pack_room(p1_room), .pack_copies(p1_copies), .pack_fulls(p1_fulls), .pack_drop(p1_drop),
    .pack_length(p1_length), .pack_tail(p1_tail), .pack_beats(p1_beats), .pack_hdrs(p1_hdrs),
    .hdr_data(hdr_data), .hdr_bad(hdr_bad), .hdr_mirror(to_mirror), .hdr_mac(to_mac), .out_valid(out_valid), .out_data(out_data), .out_last(out_last),
    .out_bad(out_bad), .e_valid(res_e_valid),
    .e_ready(res_e_ready), .e_hdr(res_e_hdr), .e_hlen(res_e_hlen), .e_plen(res_e_plen), .e_repeat(res_repeat), .e_empty(res_empty),
    .next_beat(res_next_beat), .next_copy(res_next_copy), .next_empty(res_next_empty), .p_valid(res_p_valid), .p_ready(res_p_ready), .p_data(res_p_data), .p_last(res_p_last),
    .lost_valid(res_lost), .lost_addr(res_addr), .lost_index(res_index), .bad(res_bad), .idle(results_idle));

  // Transmit.
  wire             e_valid;
  wire             e_ready;
  wire             e_raw;
  wire [639:0]     e_hdr;
  wire [6:0]       e_hlen;
  wire [13:0]      e_plen;
  wire [13:0]      e_len;
  wire             p_valid;
  wire             p_ready;
  wire [WIDTH-1:0] p_data;
  wire             p_last;
  wire [3:0]       sent;
  wire             tx_idle;
  wire             egress_idle;
  wire             tx_frames;
  wire             tx_down;

  rf_port_tx #(.WIDTH(WIDTH)) tx (
    .clk(clk), .rst(reset), .share(tx_share), .res_next_beat(res_next_beat), .res_next_copy(res_next_copy),
    .res_next_empty(res_next_empty), .res_e_valid(res_e_valid), .res_e_ready(res_e_ready),
    .res_e_hdr(res_e_hdr), .res_e_hlen(res_e_hlen), .res_e_plen(res_e_plen), .res_e_empty(res_empty), .res_p_valid(res_p_valid),
    .res_p_ready(res_p_ready), .res_p_data(res_p_data), .res_p_last(res_p_last), .ack_e_valid(ack_e_valid),
    .ack_e_ready(ack_e_ready), .ack_e_hdr(ack_e_hdr), .ack_e_hlen(ack_e_hlen), .for_e_valid(for_e_valid),
    .for_e_ready(for_e_ready), .for_more(for_more), .for_e_len(for_e_len), .for_p_valid(for_p_valid), .for_p_ready(for_p_ready),
    .for_p_data(for_p_data), .for_p_last(for_p_last), .inj_valid(inj_valid), .inj_ready(inj_ready),
    .inj_len(inj_len), .inj_data(inj_data), .inj_last(inj_last), .e_valid(e_valid), .e_ready(e_ready), .e_raw(e_raw),
    .e_hdr(e_hdr), .e_hlen(e_hlen), .e_plen(e_plen), .e_len(e_len), .p_valid(p_valid), .p_ready(p_ready),
    .p_data(p_data), .p_last(p_last), .sent(sent), .idle(tx_idle));

  // Between the choice of a frame and rf_egress no path goes through combinationally, in either direction.
  wire             x_e_valid;
  wire             x_e_ready;
  wire             x_e_raw;
  wire [639:0]     x_e_hdr;
  wire [6:0]       x_e_hlen;
  wire [13:0]      x_e_plen;
  wire [13:0]      x_e_len;
  wire             x_e_lost;
  wire             x_p_valid;
  wire             x_p_ready;
  wire [WIDTH-1:0] x_p_data;
  wire             x_p_last;
  wire             x_p_lost;

  // Narrow boxes keep all of it in registers because their devices have little LUT RAM.
  localparam E_WIDE = (WIDTH <= 64) ? 0 : 640;
  localparam P_WIDE = (WIDTH <= 64) ? 0 : WIDTH;

  rf_skid #(.WIDTH(676), .WIDE(E_WIDE)) e_slice (
    .clk(clk), .rst(reset), .s_valid(e_valid), .s_ready(e_ready), .s_data({e_hdr, e_raw, e_hlen, e_plen, e_len}),
    .s_late(res_lost), .m_valid(x_e_valid), .m_ready(x_e_ready),
    .m_data({x_e_hdr, x_e_raw, x_e_hlen, x_e_plen, x_e_len}), .m_late(x_e_lost));

  rf_skid #(.WIDTH(WIDTH + 1), .WIDE(P_WIDE)) p_slice (
    .clk(clk), .rst(reset), .s_valid(p_valid), .s_ready(p_ready), .s_data({p_data, p_last}), .s_late(res_lost),
    .m_valid(x_p_valid), .m_ready(x_p_ready), .m_data({x_p_data, x_p_last}), .m_late(x_p_lost));

  wire egress_bad;

  rf_egress #(.WIDTH(WIDTH), .STALL_CYCLES(STALL_CYCLES), .PARITY(PARITY)) egress (
    .clk(clk), .rst(reset), .mac(base_mac + NUMBER), .e_valid(x_e_valid), .e_ready(x_e_ready), .e_raw(x_e_raw),
    .e_hdr(x_e_hdr), .e_hlen(x_e_hlen), .e_plen(x_e_plen), .e_len(x_e_len), .p_valid(x_p_valid), .p_ready(x_p_ready),
    .p_data(x_p_data), .p_last(x_p_last), .lost(x_e_lost || x_p_lost), .spoil(spoil), .m_axis_tdata(m_axis_tdata), .m_axis_tkeep(m_axis_tkeep), .m_axis_tvalid(m_axis_tvalid),
    .m_axis_tlast(m_axis_tlast), .m_axis_tuser(m_axis_tuser), .m_axis_tready(m_axis_tready), .cnt_frames(tx_frames), .cnt_down(tx_down), .bad(egress_bad), .idle(egress_idle));

  // Counters.
  wire [7:0] sent_cause = sent[0] ? (res_repeat ? `RF_CNT_TX_REPEAT : `RF_CNT_TX_FIRST) :
                          sent[1] ? (ack_nak ? `RF_CNT_TX_NAK : ack_behalf ? `RF_CNT_TX_BEHALF : `RF_CNT_TX_ACK) :
                          sent[2] ? `RF_CNT_TX_FOREIGN : `RF_CNT_TX_INJECT;
  wire       counters_ready;

  rf_counters counters (
    .clk(clk), .rst(rst), .ready(counters_ready), .verdict(x_count), .verdict_cause(x_cause),
    .sent(sent != 4'b0000), .sent_cause(sent_cause), .rx_frames(cnt_frames), .rx_overflow(cnt_overflow),
    .ack_beyond(v_valid && !v_ok), .ack_forwarded(v_valid && v_ok), .repeat_stale(q_stale), .tx_down(tx_down), .tx_frames(tx_frames),
    .rd_number(count_number), .rd_data(count_data));

  assign ready = table_ready && mac_ready && counters_ready;
  assign idle  = ingress_idle && judge_idle && bank_idle && ackq_idle && repeatq_idle && pass_idle && reader_idle &&
                 results_idle && tx_idle && !x_e_valid && !x_p_valid && egress_idle;

  // Memories in which a parity error stops the box.
  wire [10:0] faults = {1'b0, egress_bad, pass_bad, res_bad, ackq_bad, repeatq_bad, bank_bad, 1'b0, judge_bad || to_mac_bad, r_bad, ingress_bad};

  generate
    if (PARITY != 0) begin : g_parity
      reg       fault_q;
      reg [3:0] memory_q;
      reg       spoil_q;
      reg [3:0] memory;
      integer   n;

      always @(*) begin
        memory = 4'd0;
        for (n = 10; n >= 0; n = n - 1)
          if (faults[n]) memory = n[3:0];
      end

      always @(posedge clk)
        if (reset) fault_q <= 1'b0;
        else if (faults != 11'd0) fault_q <= 1'b1;

      always @(posedge clk)
        if (!fault_q) memory_q <= memory;

      always @(posedge clk)
        if (reset) spoil_q <= 1'b0;
        else spoil_q <= fault_q || stopped;

      assign fault_valid  = fault_q;
      assign fault_memory = memory_q;
      assign spoil        = spoil_q;
    end else begin : g_plain
      wire unused_faults = &{1'b0, faults, stopped};

      assign fault_valid  = 1'b0;
      assign fault_memory = 4'd0;
      assign spoil        = 1'b0;
    end
  endgenerate

  wire unused_bits = &{1'b0, held_body};

endmodule

`default_nettype wire
