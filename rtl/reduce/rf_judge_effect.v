// rf_judge_effect: p5 of rf_judge: what leaves the judge because of a frame: the header to store or to forward, the PSN
// of a made ACK or NAK, the counter, signs of life, an error.
//
// Latency     1 cycle: registers of what p4 decided; the NAK of p5 is merged in. The counter comes one cycle later.
// Throughput  one frame per cycle.
// Capacity    none.
// Handshake   none.
// Reset       no effect.
// Proved      tests/rtl/unit_judge.cpp; tests/formal/nak_una.proof, as part of rf_judge.

`include "rf_regs.vh"

`default_nettype none

module rf_judge_effect #(
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2,
  parameter HDR_AW = 9,
  // 1: connections may be mirror connections.
  parameter MIRROR = 1
) (
  input  wire                   clk,
  input  wire                   rst,

  // p4: the frame, and what the judge has decided (rf_judge). keep: its header is used.
  input  wire                   valid,
  input  wire                   keep,
  input  wire                   store,
  input  wire                   event_it,
  input  wire                   behalf,
  input  wire                   cnp,
  input  wire                   held,
  input  wire                   seen,
  input  wire                   is_ack,
  input  wire [3:0]             fault,
  input  wire [7:0]             why,
  input  wire [GW+LW+PW-1:0]    conn,
  input  wire [23:0]            index,
  input  wire [HDR_AW-1:0]      slot,
  input  wire                   selective,
  input  wire [23:0]            start,
  input  wire [23:0]            una,
  input  wire [23:0]            psn,
  input  wire [23:0]            qpn,
  input  wire [23:0]            msn,
  // Mirror connection; the IP checksum with TTL 64, before the carries are added.
  input  wire                   mirror,
  input  wire [17:0]            ip_sum,
  input  wire [639:0]           hdr,
  input  wire                   vlan,
  input  wire [7:0]             opcode,
  input  wire [6:0]             hlen,
  input  wire [12:0]            plen,
  input  wire [1:0]             pad,
  // Its group is directed; the type and operation of the group.
  input  wire                   directed,
  input  wire [6:0]             kind,

  // p5: the NAK that it needs, an error (rf_judge_window).
  input  wire                   too_soon,
  input  wire                   nak,
  input  wire [7:0]             nak_why,
  input  wire [7:0]             syndrome,
  input  wire [23:0]            named,

  // p5: header to be stored; ACK to be forwarded (event) or made (behalf); NAK to be made.
  output wire                   h_store,
  output wire [LW+HDR_AW-1:0]   h_addr,
  output wire                   h_event,
  output wire                   h_behalf,
  output wire                   h_nak,
  // A CNP is returned.
  output wire                   h_cnp,
  // Mirror connection; IP checksum of the frame once it is turned back.
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
  // PSN with which the frame is stored or forwarded; that of an ACK on behalf; PSN and syndrome of a NAK; the others are
  // for both kinds of made frames.
  output wire [23:0]            h_psn,
  output wire [23:0]            h_made,
  output wire [23:0]            h_named,
  output wire [7:0]             h_syndrome,
  output wire [23:0]            h_qpn,
  output wire [23:0]            h_msn,

  // p6: the counter of the verdict.
  output wire                   x_count,
  output wire [7:0]             x_cause,
  // p5: signs of life, an error for the group of x_conn.
  output wire                   x_seen_data,
  output wire                   x_seen_ack,
  output wire [GW+LW+PW-1:0]    x_conn,
  output wire [3:0]             x_error,
  output wire [31:0]            x_got,
  output wire [23:0]            x_index
);

  reg                  p5_store_q;
  reg                  p5_event_q;
  reg                  p5_behalf_q;
  reg                  p5_cnp_q;
  reg                  p5_mirror_q;
  reg [15:0]           p5_sum_q;
  reg                  p5_selective_q;
  reg                  p5_held_q;
  reg [23:0]           p5_start_q;
  reg [23:0]           p5_una_q;
  reg                  p5_count_q;
  reg                  p5_seen_data_q;
  reg                  p5_seen_ack_q;
  reg [3:0]            p5_error_q;
  reg [7:0]            p5_cause_q;
  reg [GW+LW+PW-1:0]   p5_conn_q;
  reg [LW+HDR_AW-1:0]  p5_addr_q;
  reg [639:0]          p5_hdr_q;
  reg                  p5_vlan_q;
  reg [7:0]            p5_opcode_q;
  reg [6:0]            p5_hlen_q;
  reg [12:0]           p5_plen_q;
  reg [1:0]            p5_pad_q;
  reg                  p5_directed_q;
  reg [6:0]            p5_kind_q;
  reg [23:0]           p5_psn_q;
  reg [23:0]           p5_qpn_q;
  reg [23:0]           p5_msn_q;
  reg [23:0]           p5_index_q;

  // The sum is not zero: without carries it is 1..ffff, and ffff stands for the checksum 0.
  wire [16:0] once     = {1'b0, ip_sum[15:0]} + {15'd0, ip_sum[17:16]};
  wire [15:0] twice    = once[15:0] + {15'd0, once[16]};
  wire [15:0] checksum = (MIRROR == 0 || twice == 16'hffff) ? 16'd0 : twice;

  always @(posedge clk)
    if (rst || !valid) begin
      p5_store_q     <= 1'b0;
      p5_event_q     <= 1'b0;
      p5_behalf_q    <= 1'b0;
      p5_cnp_q       <= 1'b0;
      p5_held_q      <= 1'b0;
      p5_count_q     <= 1'b0;
      p5_seen_data_q <= 1'b0;
      p5_seen_ack_q  <= 1'b0;
      p5_error_q     <= `RF_ERROR_NONE;
    end else begin
      p5_store_q     <= store;
      p5_event_q     <= event_it;
      p5_behalf_q    <= behalf;
      p5_cnp_q       <= MIRROR != 0 && cnp;
      p5_held_q      <= held;
      p5_count_q     <= !event_it;
      p5_seen_data_q <= seen && !is_ack;
      p5_seen_ack_q  <= seen && is_ack;
      p5_error_q     <= fault;
    end

  always @(posedge clk)
    if (valid) begin
      p5_cause_q <= why;
      p5_conn_q  <= conn;
      p5_index_q <= index;
    end

  always @(posedge clk)
    if (valid && keep) begin
      p5_hdr_q    <= hdr;
      p5_mirror_q <= MIRROR != 0 && mirror;
      p5_sum_q    <= checksum;
      p5_addr_q   <= {conn[PW +: LW], slot};
      p5_vlan_q   <= vlan;
      p5_opcode_q <= opcode;
      p5_hlen_q   <= hlen;
      p5_plen_q   <= plen;
      p5_pad_q    <= pad;
      p5_directed_q <= directed;
      p5_kind_q   <= kind;
      p5_psn_q    <= psn;
      p5_start_q  <= start;
      p5_una_q    <= una;
      p5_selective_q <= selective;
      p5_qpn_q    <= qpn;
      p5_msn_q    <= msn;
    end

  reg       p6_count_q;
  reg       p6_nak_q;
  reg [7:0] p6_nak_why_q;
  reg [7:0] p6_cause_q;

  always @(posedge clk)
    if (rst) p6_count_q <= 1'b0;
    else p6_count_q <= p5_count_q;

  always @(posedge clk) begin
    p6_nak_q     <= nak;
    p6_nak_why_q <= nak_why;
    p6_cause_q   <= p5_cause_q;
  end

  // A packet without an immediate gives and wants. In a group that is not directed the opcode stands for the tag.
  wire [31:0] imm = p5_vlan_q ? {p5_hdr_q[8*58 +: 8], p5_hdr_q[8*59 +: 8], p5_hdr_q[8*60 +: 8], p5_hdr_q[8*61 +: 8]} :
                                {p5_hdr_q[8*54 +: 8], p5_hdr_q[8*55 +: 8], p5_hdr_q[8*56 +: 8], p5_hdr_q[8*57 +: 8]};
  wire        stated = p5_opcode_q[2:0] == 3'd3 || p5_opcode_q[2:0] == 3'd5;

  assign h_directed  = p5_directed_q;
  assign h_says      = !p5_directed_q ? {3'b111, p5_kind_q, 14'd0, p5_opcode_q[3:0]} :
                       stated ? {imm[14], imm[15], 1'b1, imm[7:4], imm[10:8], imm[31:16], imm[13:12]} :
                       {3'b110, p5_kind_q, 18'd0};
  assign x_got       = imm;
  assign h_store     = p5_store_q;
  assign h_event     = p5_event_q;
  assign h_behalf    = p5_behalf_q;
  assign h_nak       = nak;
  assign h_cnp       = p5_cnp_q;
  assign h_mirror    = p5_mirror_q;
  assign h_sum       = p5_sum_q;
  assign h_held      = p5_held_q;
  // An ACK on behalf acknowledges the index before una.
  assign h_made      = p5_start_q + p5_una_q - 24'd1;
  assign h_named     = p5_selective_q ? p5_start_q + named : p5_start_q + p5_una_q;
  assign h_syndrome  = syndrome;
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
  assign x_count     = p6_count_q;
  assign x_cause     = p6_nak_q ? p6_nak_why_q : p6_cause_q;
  assign x_seen_data = p5_seen_data_q;
  assign x_seen_ack  = p5_seen_ack_q;
  assign x_conn      = p5_conn_q;
  assign x_error     = too_soon ? `RF_ERROR_BEFORE_START : p5_error_q;
  assign x_index     = p5_index_q;

endmodule

`default_nettype wire
