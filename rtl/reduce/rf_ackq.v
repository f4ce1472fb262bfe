// rf_ackq: ACK frames that leave by one port. Some cross the box and wait for the ledger's verdict; those of a mirror
// connection return to their sender. Others are made by the box: ACKs on behalf of a receiver, and NAKs. CNPs of mirror
// connections return too.
//
// Latency     header to e_valid: 3 cycles for a frame on behalf; verdict to e_valid: 2 cycles.
// Throughput  one frame per cycle.
// Capacity    DEPTH frames of both kinds together.
// Handshake   the judge pushes an event (p4) or a frame on behalf (p5) only if *_room was high in p4; the header of
//             each event follows one cycle later. Events: ev_valid/ev_ready. Verdicts come in the order of the events.
//             Output: e_valid/e_ready; e_valid, e_hdr do not depend on e_ready.
// Reset       empty.
// Proved      tests/formal/stream_ackq.proof; tests/formal/nak_una.proof; tests/rtl/core.
//
// A frame that the box makes is a new packet: TTL 64 and not ECN-capable, so it does not carry the congestion mark of
// the packet that caused it.
//
// Both kinds wait in one FIFO. A frame is kept as 18 bytes of Ethernet header and 44 bytes from the IP header on.

`default_nettype none

module rf_ackq #(
  // Bits of a connection's number in this box.
  parameter CW = 6,
  // Frames: a power of two, 8 or more.
  parameter DEPTH = 32,
  // 1: connections may be mirror connections.
  parameter MIRROR = 1,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire          clk,
  input  wire          rst,

  output wire          event_room,
  output wire          behalf_room,
  // p4: content of the ACK.
  input  wire          event_take,
  input  wire [CW-1:0] event_conn,
  input  wire [23:0]   event_index,
  input  wire [23:0]   event_msn,
  input  wire          event_fatal,
  input  wire          event_still,
  // p5: the frame, or the duplicate that an ACK answers, or the packet that a NAK answers, or a CNP to be returned; one of
  // the four.
  input  wire          h_event,
  input  wire          h_behalf,
  input  wire          h_nak,
  input  wire          h_cnp,
  // Mirror connection; IP checksum of the frame once it is turned back.
  input  wire          h_mirror,
  input  wire [15:0]   h_sum,
  // PSN of the ACK on behalf; syndrome and PSN of the NAK.
  input  wire [23:0]   h_made,
  input  wire [7:0]    h_syndrome,
  input  wire [23:0]   h_named,
  input  wire [639:0]  h_hdr,
  input  wire          h_vlan,
  input  wire [23:0]   h_psn,
  input  wire [23:0]   h_qpn,
  input  wire [23:0]   h_msn,

  output wire          ev_valid,
  input  wire          ev_ready,
  output wire [CW-1:0] ev_conn,
  output wire [23:0]   ev_index,
  output wire [23:0]   ev_msn,
  output wire          ev_fatal,
  output wire          ev_still,
  input  wire          v_valid,
  input  wire          v_ok,

  output wire          e_valid,
  input  wire          e_ready,
  output wire [639:0]  e_hdr,
  output wire [6:0]    e_hlen,
  output wire          e_behalf,
  output wire          e_nak,

  // A frame, an event or a verdict had a parity error.
  output wire          bad,
  output wire          idle
);

  localparam DW = $clog2(DEPTH);

  wire events_bad;
  wire frames_bad;
  wire verdicts_bad;
  wire kinds_bad;

  assign bad = events_bad || frames_bad || verdicts_bad || kinds_bad;

  // Events.
  wire [DW:0] ev_count;
  wire        ev_afull;
  wire        ev_room;

  rf_fifo_parity #(.WIDTH(CW + 50), .DEPTH(DEPTH), .READ_LATENCY(0), .COUNT(0), .PARITY(PARITY)) events (
    .clk(clk), .rst(rst), .s_valid(event_take), .s_ready(ev_room),
    .s_data({event_conn, event_index, event_msn, event_fatal, event_still}),
    .m_valid(ev_valid), .m_ready(ev_ready), .m_data({ev_conn, ev_index, ev_msn, ev_fatal, ev_still}),
    .count(ev_count), .almost_full(ev_afull), .bad(events_bad));

  // p5: build the frame, except what depends on h_nak, which comes late in the cycle: therefore nothing has an enable, and
  // both PSNs and the syndrome are kept. The body starts with the IP header.
  wire [351:0] h_body = h_vlan ? h_hdr[144 +: 352] : h_hdr[112 +: 352];
  wire [23:0]  be_qpn = {h_qpn[7:0], h_qpn[15:8], h_qpn[23:16]};
  wire [23:0]  be_msn = {h_msn[7:0], h_msn[15:8], h_msn[23:16]};

  // A frame is kept or made; one of a mirror connection is turned back, as a made one is.
  wire         cnp    = MIRROR != 0 && h_cnp;
  wire         kept   = h_event || cnp;
  wire         turn   = MIRROR != 0 && h_mirror;
  wire [143:0] h_eth  = (kept && !turn) ? h_hdr[143:0] : {h_hdr[143:96], h_hdr[47:0], h_hdr[95:48]};
  wire [63:0]  h_ips  = (kept && !turn) ? h_body[159:96] : {h_body[127:96], h_body[159:128]};

  reg          p6_ack_q;
  // Made: its checksum is computed here. Alone: it waits for no verdict.
  reg          p6_made_q;
  reg          p6_alone_q;
  reg          p6_cnp_q;
  reg          p6_nak_q;
  reg          p6_vlan_q;
  reg  [143:0] p6_eth_q;
  reg  [31:0]  p6_aeth_q;
  reg  [7:0]   p6_syndrome_q;
  reg  [23:0]  p6_psn_q;
  reg  [23:0]  p6_named_q;
  reg  [295:0] p6_rest_q;

  always @(posedge clk)
    if (rst) {p6_ack_q, p6_nak_q} <= 2'b00;
    else {p6_ack_q, p6_nak_q} <= {kept || h_behalf, h_nak};

  wire         p6_valid = p6_ack_q || p6_nak_q;

  always @(posedge clk) begin
    p6_syndrome_q <= h_syndrome;
    p6_named_q    <= h_named;
    p6_vlan_q     <= h_vlan;
  end

  always @(posedge clk) begin
    p6_eth_q   <= h_eth;
    p6_made_q  <= !kept;
    p6_alone_q <= !h_event;
    p6_cnp_q   <= cnp;
  end

  always @(posedge clk)
    if (kept) begin
      // The reserved bytes of a CNP begin where an ACK has its AETH.
      p6_aeth_q   <= cnp ? 32'd0 : h_body[351:320];
      p6_psn_q    <= h_psn;
      p6_rest_q   <= {h_body[295:160], h_ips, turn ? swapped(h_sum) : h_body[95:80], h_body[79:72],
                      turn ? 8'd64 : h_body[71:64], h_body[63:0]};
    end else begin
      p6_aeth_q   <= {be_msn, 8'h1f};
      p6_psn_q    <= h_made;
      p6_rest_q   <= {8'h00, be_qpn, 8'h00, h_body[255:240],                  // QPN, P_Key
                      1'b0, h_body[238], 6'd0, 8'h11,                         // MigReq, opcode
                      16'h0000, 16'h1c00, h_body[191:160],                    // UDP: checksum, length, ports
                      h_ips,                                                  // IP: destination, source
                      16'h0000, h_body[79:72], 8'd64, h_body[63:32], 16'h3000,         // checksum, protocol, TTL, id
                      h_body[15:10], 2'b00, h_body[7:0]};                     // TOS without ECN
    end

  // IP checksum of a made frame; its field is zero until then. p5 adds the ten words of the header to three sums, p6 adds
  // these.
  function [15:0] swapped;
    input [15:0] bytes;
    swapped = {bytes[7:0], bytes[15:8]};
  endfunction

  reg  [17:0]  p6_sum_a_q;
  reg  [17:0]  p6_sum_b_q;
  reg  [17:0]  p6_sum_c_q;
  wire [19:0]  p6_sum = {2'd0, p6_sum_a_q} + {2'd0, p6_sum_b_q} + {2'd0, p6_sum_c_q};
  wire [16:0]  p6_fold = {1'b0, p6_sum[15:0]} + {13'd0, p6_sum[19:16]};
  wire [15:0]  p6_checksum = ~(p6_fold[15:0] + {15'd0, p6_fold[16]});
  wire [7:0]   p6_syndrome = p6_nak_q ? p6_syndrome_q : p6_aeth_q[7:0];
  wire [23:0]  p6_psn = p6_nak_q ? p6_named_q : p6_psn_q;
  reg  [351:0] p6_body;

  always @(posedge clk) begin
    p6_sum_a_q <= {2'd0, h_body[7:0], h_body[15:10], 2'b00} + {2'd0, swapped(h_body[47:32])} +
                  {2'd0, swapped(h_body[63:48])};
    p6_sum_b_q <= {2'd0, swapped(h_body[111:96])} + {2'd0, swapped(h_body[127:112])} + {2'd0, 8'd64, h_body[79:72]};
    p6_sum_c_q <= {2'd0, swapped(h_body[143:128])} + {2'd0, swapped(h_body[159:144])} + 18'h00030;
  end

  always @(*) begin
    p6_body = {p6_aeth_q[31:8], p6_syndrome, p6_psn[7:0], p6_psn[15:8], p6_psn[23:16], p6_rest_q};
    if (p6_made_q) p6_body[95:80] = swapped(p6_checksum);
  end

  wire         f_valid;
  wire         f_cnp;
  wire         f_nak;
  wire         f_vlan;
  wire [143:0] f_eth;
  wire [351:0] f_body;
  wire         f_take;
  wire         f_room;
  wire [DW:0]  f_count;
  wire         f_afull;

  localparam FW = (MIRROR != 0) ? 499 : 498;
  wire [498:0] p6_frame = {p6_cnp_q, p6_nak_q, p6_vlan_q, p6_eth_q, p6_body};
  wire [FW-1:0] f_frame;

  assign {f_nak, f_vlan, f_eth, f_body} = f_frame[497:0];
  assign f_cnp = MIRROR != 0 && f_frame[FW-1];

  // Two more frames can arrive after the judge has sampled the room.
  rf_fifo_parity #(.WIDTH(FW), .DEPTH(DEPTH), .READ_LATENCY(0), .AFULL(DEPTH - 2), .PARITY(PARITY)) frames (
    .clk(clk), .rst(rst), .s_valid(p6_valid), .s_ready(f_room),
    .s_data(p6_frame[FW-1:0]), .m_valid(f_valid), .m_ready(f_take), .m_data(f_frame),
    .count(f_count), .almost_full(f_afull), .bad(frames_bad));

  // Whether each waits for no verdict: apart and from a register, because e_valid depends on it and the address of the wide
  // memory has a large fanout. It comes one cycle after its frame and counts as valid for both.
  wire         k_valid;
  wire         k_alone;
  wire         k_room;
  wire [DW:0]  k_count;
  wire         k_afull;

  rf_fifo_parity #(.WIDTH(1), .DEPTH(DEPTH), .READ_LATENCY(1), .RAM_STYLE("distributed"), .PARITY(PARITY)) kinds (
    .clk(clk), .rst(rst), .s_valid(p6_valid), .s_ready(k_room), .s_data(p6_alone_q),
    .m_valid(k_valid), .m_ready(f_take), .m_data(k_alone), .count(k_count), .almost_full(k_afull), .bad(kinds_bad));

  assign event_room  = ev_room && !f_afull;
  assign behalf_room = !f_afull;

  // Verdicts, from a register too.
  wire        w_valid;
  wire        w_ok;
  wire        w_room;
  wire        w_take;
  wire [DW:0] w_count;
  wire        w_afull;

  rf_fifo_parity #(.WIDTH(1), .DEPTH(DEPTH), .READ_LATENCY(1), .RAM_STYLE("distributed"), .PARITY(PARITY)) verdicts (
    .clk(clk), .rst(rst), .s_valid(v_valid), .s_ready(w_room), .s_data(v_ok),
    .m_valid(w_valid), .m_ready(w_take), .m_data(w_ok), .count(w_count), .almost_full(w_afull), .bad(verdicts_bad));

  assign e_valid  = k_valid && (k_alone || (w_valid && w_ok));
  assign e_behalf = k_alone && !f_cnp;
  assign e_nak    = f_nak;
  assign e_hlen   = f_vlan ? (f_cnp ? 7'd74 : 7'd62) : (f_cnp ? 7'd70 : 7'd58);
  assign e_hdr    = f_vlan ? {144'd0, f_body, f_eth} : {176'd0, f_body, f_eth[111:0]};
  assign f_take   = k_valid && (k_alone ? e_ready : w_valid && (e_ready || !w_ok));
  assign w_take   = k_valid && !k_alone && (e_ready || !w_ok);
  assign idle     = !f_valid && !p6_valid && !ev_valid && !h_event && !h_behalf && !h_nak && !h_cnp;

  wire unused_fifo = &{1'b0, p6_frame, h_mirror, h_sum, h_hdr, h_body, ev_count, ev_afull, f_room, f_count, k_room, k_count, k_afull, w_room, w_count, w_afull};

endmodule

`default_nettype wire
