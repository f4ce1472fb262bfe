// From a descriptor through rf_judge and rf_ackq to the frame that leaves: one arbitrary packet has a mark in its
// header, which the frame made for it keeps. An ACK or CNP of a mirror connection keeps it too, as it is turned back. The answers of the ledger, the tables and the receiver are arbitrary. A
// sequence NAK or an RNR NAK of a plain group carries the PSN of una, as the ledger has it for that connection in the
// cycle of the verdict; an ACK on behalf carries that of the index before. A frame turned back carries its own, shifted.
module nak_una (
  input wire         clk,
  input wire         rst,
  input wire [63:0]  g_cfg,
  input wire [9:0]   g_straggler,
  input wire         d_valid,
  input wire [1:0]   d_class,
  input wire         d_vlan,
  input wire [7:0]   d_opcode,
  input wire [23:0]  d_psn,
  input wire [1:0]   d_pad,
  input wire [15:0]  d_udp_len,
  input wire [6:0]   d_hlen,
  input wire [13:0]  d_plen,
  input wire [7:0]   d_syndrome,
  input wire         d_icrc_ok,
  input wire         pick,
  input wire         r_hit,
  input wire [15:0]  r_cid,
  input wire [1:0]   r_state,
  input wire [23:0]  start,
  input wire [23:0]  shift,
  input wire [23:0]  qpn,
  input wire         to_port,
  input wire         mirror,
  input wire [7:0]   silents,
  input wire [23:0]  next,
  input wire [23:0]  sent,
  input wire [23:0]  una,
  input wire         far,
  input wire         accept,
  input wire         inside,
  input wire         full,
  input wire         init_valid,
  input wire [1:0]   init_addr,
  input wire         tick,
  input wire         una_valid,
  input wire [1:0]   una_addr,
  input wire         repeat_room,
  input wire         m_done,
  input wire         ev_ready,
  input wire         v_valid,
  input wire         v_ok,
  input wire         e_ready
);

`include "rf_start.vh"
`include "rf_regs.vh"

  reg          picked_q;
  // The cycles since the descriptor of the marked packet.
  reg  [4:0]   age_q;
  wire         h_take;
  wire         d_ready;
  wire         mark = d_valid && d_ready && pick && !picked_q;
  wire         l_valid;
  wire         f_read;
  wire [2:0]   f_conn;
  wire         j_valid;
  wire [1:0]   j_addr;
  wire [23:0]  j_index;
  wire         j_selective;
  wire [3:0]   j_slot;
  wire         j_lap;
  wire         punt_take;
  wire [13:0]  pass_len;
  wire         pass_take;
  wire         repeat_take;
  wire         event_room;
  wire         event_take;
  wire [2:0]   event_conn;
  wire [23:0]  event_index;
  wire [23:0]  event_msn;
  wire         event_fatal;
  wire         event_still;
  wire         behalf_room;
  wire         m_valid;
  wire [1:0]   m_op;
  wire [4:0]   m_addr;
  wire [1:0]   m_conn;
  wire         m_selective;
  wire [3:0]   m_slot;
  wire         m_lap;
  wire         h_store;
  wire [4:0]   h_addr;
  wire         h_event;
  wire         h_behalf;
  wire         h_nak;
  wire         h_cnp;
  wire         h_mirror;
  wire [15:0]  h_sum;
  wire [639:0] h_hdr;
  wire         h_vlan;
  wire [7:0]   h_opcode;
  wire [6:0]   h_hlen;
  wire [12:0]  h_plen;
  wire [1:0]   h_pad;
  wire [23:0]  h_psn;
  wire [23:0]  h_made;
  wire [23:0]  h_named;
  wire [7:0]   h_syndrome;
  wire [23:0]  h_qpn;
  wire [23:0]  h_msn;
  wire         x_count;
  wire [7:0]   x_cause;
  wire         x_seen_data;
  wire         x_seen_ack;
  wire [2:0]   x_conn;
  wire [3:0]   x_error;
  wire [23:0]  x_index;
  wire         judge_idle;

  rf_judge #(
    .PORT(0), .PORTS(2), .LANES(2), .GROUPS(2), .GW(1), .LW(1), .PW(1), .BANK_AW(4), .HDR_AW(4), .COMMANDS(8), .PARITY(0)
  ) judge (
    .clk(clk), .rst(rst), .pause(1'b0), .enable(1'b1), .hold(1'b0), .g_live(2'b11), .g_error(2'b00), .g_cfg(g_cfg), .g_dbase(64'd0),
    .g_hbase(64'd0), .g_straggler(g_straggler), .silents(silents), .d_valid(d_valid), .d_ready(d_ready), .d_class(d_class), .d_cause(8'd0),
    .d_len(14'd0), .d_hdr({639'd0, age_q[2]}), .h_take(h_take), .d_vlan(d_vlan), .d_opcode(d_opcode), .d_psn(d_psn), .d_pad(d_pad),
    .d_src_ip(32'd0), .d_to_port(to_port), .d_udp_len(d_udp_len), .d_hlen(d_hlen), .d_plen(d_plen), .d_syndrome(d_syndrome), .d_msn(24'd0),
    .d_icrc_ok(d_icrc_ok), .l_valid(l_valid), .r_hit(r_hit), .r_cid(r_cid), .r_state(r_state), .f_read(f_read),
    .f_conn(f_conn), .f_start(start), .f_shift(shift), .f_src_ip(32'd0), .f_peer_ip(32'd0), .f_peer_port(3'd0), .f_qpn(qpn), .f_mirror(mirror), .f_mac(48'd0), .f_bad(1'b0),
    .j_valid(j_valid), .j_addr(j_addr), .j_index(j_index), .j_selective(j_selective), .j_slot(j_slot), .j_lap(j_lap),
    .j_next(next), .j_sent(sent), .j_una(una), .j_far(far), .j_msn(24'd0), .j_accept(accept), .j_inside(inside),
    .j_full(full), .init_valid(init_valid), .init_addr(init_addr), .tick(tick), .una_valid(una_valid), .una_addr(una_addr),
    .punt_room(1'b0), .punt_take(punt_take), .pass_len(pass_len), .pass_room(1'b0), .pass_take(pass_take),
    .repeat_room(repeat_room), .repeat_take(repeat_take), .event_room(event_room), .event_take(event_take),
    .event_conn(event_conn), .event_index(event_index), .event_msn(event_msn), .event_fatal(event_fatal),
    .event_still(event_still), .behalf_room(behalf_room), .m_valid(m_valid), .m_op(m_op), .m_addr(m_addr), .m_conn(m_conn),
    .m_selective(m_selective), .m_slot(m_slot), .m_lap(m_lap), .m_done(m_done), .h_store(h_store), .h_addr(h_addr),
    .h_event(h_event), .h_behalf(h_behalf), .h_nak(h_nak), .h_cnp(h_cnp), .h_mirror(h_mirror), .h_sum(h_sum), .h_hdr(h_hdr), .h_vlan(h_vlan), .h_opcode(h_opcode),
    .h_hlen(h_hlen), .h_plen(h_plen), .h_pad(h_pad), .h_psn(h_psn), .h_made(h_made), .h_named(h_named), .h_syndrome(h_syndrome), .h_qpn(h_qpn),
    .h_msn(h_msn), .x_count(x_count), .x_cause(x_cause), .x_seen_data(x_seen_data), .x_seen_ack(x_seen_ack),
    .x_conn(x_conn), .x_error(x_error), .x_index(x_index), .idle(judge_idle));

  wire         ev_valid;
  wire [2:0]   ev_conn;
  wire [23:0]  ev_index;
  wire [23:0]  ev_msn;
  wire         ev_fatal;
  wire         ev_still;
  wire         e_valid;
  wire [639:0] e_hdr;
  wire [6:0]   e_hlen;
  wire         e_behalf;
  wire         e_nak;
  wire         ackq_idle;

  rf_ackq #(.CW(3), .DEPTH(8), .PARITY(0)) ackq (
    .clk(clk), .rst(rst), .event_room(event_room), .behalf_room(behalf_room), .event_take(event_take),
    .event_conn(event_conn), .event_index(event_index), .event_msn(event_msn), .event_fatal(event_fatal),
    .event_still(event_still), .h_event(h_event), .h_behalf(h_behalf), .h_nak(h_nak), .h_cnp(h_cnp), .h_mirror(h_mirror), .h_sum(h_sum), .h_syndrome(h_syndrome),
    .h_made(h_made), .h_named(h_named), .h_hdr(h_hdr), .h_vlan(h_vlan), .h_psn(h_psn), .h_qpn(h_qpn), .h_msn(h_msn), .ev_valid(ev_valid),
    .ev_ready(ev_ready), .ev_conn(ev_conn), .ev_index(ev_index), .ev_msn(ev_msn), .ev_fatal(ev_fatal), .ev_still(ev_still),
    .v_valid(v_valid), .v_ok(v_ok), .e_valid(e_valid), .e_ready(e_ready), .e_hdr(e_hdr), .e_hlen(e_hlen),
    .e_behalf(e_behalf), .e_nak(e_nak), .idle(ackq_idle));

  always @* assume (rst == !f_started);

  // The marked packet: its connection is known 2 cycles after its descriptor, its start PSN after 3, the ledger's
  // answer after 4, the PSN of the frame made for it after 5: that frame leaves with this PSN.
  reg  [1:0]  conn_q;
  reg  [23:0] start_q;
  reg  [23:0] una_q;
  reg  [23:0] psn_q;
  reg         selective_q;

  always @(posedge clk)
    if (rst) {age_q, picked_q} <= 6'd0;
    else {age_q, picked_q} <= {age_q[3:0], mark, picked_q || mark};

  always @(posedge clk) begin
    if (age_q[1]) conn_q <= {r_cid[7], r_cid[3]};
    if (age_q[2]) start_q <= start;
    if (age_q[3]) una_q <= una;
    if (age_q[3]) selective_q <= j_selective;
    if (age_q[4]) psn_q <= h_nak ? h_named : h_event || h_cnp ? h_psn : h_made;
  end

  // The frame made for it: the Ethernet addresses are swapped.
  wire         ours = e_valid && e_hdr[48];
  wire [351:0] body = (e_hlen == 7'd62 || e_hlen == 7'd74) ? e_hdr[144 +: 352] : e_hdr[112 +: 352];
  wire [23:0]  psn  = {body[303:296], body[311:304], body[319:312]};
  wire [7:0]   syndrome = body[327:320];
  wire [2:0]   kind = syndrome[7:5];

  always @*
    if (f_started && !rst) begin
      if (age_q[2]) assert (h_take);
      if (age_q[3] && j_valid) assert (j_addr == conn_q);
      if (age_q[4] && h_behalf) assert (h_made == start_q + una_q - 24'd1);
      if (age_q[4] && h_nak && !selective_q) assert (h_named == start_q + una_q);
      if (ours) begin
        assert (picked_q);
        assert (psn == psn_q);
        if (e_behalf && !e_nak) assert (syndrome == 8'h1f);
        if (e_nak && !selective_q) assert (syndrome == 8'h60 || kind == 3'd1);
        if (e_nak && selective_q) assert (syndrome == 8'h60);
      end
    end

  always @(posedge clk)
    if (f_started && !rst) begin
      cover (ours && e_nak && !selective_q && syndrome == 8'h60 && una != psn);
      cover (ours && e_nak && !selective_q && syndrome == 8'h21);
      cover (ours && e_behalf && !e_nak);
      cover (ours && !e_behalf && e_hlen == 7'd58);
      cover (ours && !e_behalf && e_hlen == 7'd70);
    end

endmodule
