// rf_ingress_check: checks the form of a frame (lines 2 to 19 of docs/box.md) and computes the fields of its
// descriptor.
//
// Latency     1 cycle: in_valid to out_valid. The CRC state is supplied with out_valid.
// Throughput  one frame per cycle.
// Capacity    one frame.
// Handshake   valid only.
// Reset       clears the valid bit.

`include "rf_regs.vh"
`include "rf_crc_masks.vh"

`default_nettype none

module rf_ingress_check #(
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512,
  // Ports of the box; this port.
  parameter PORTS = 4,
  parameter PORT = 0,
  // 1: ports have addresses, to which mirror connections send.
  parameter MIRROR = 1
) (
  input  wire         clk,
  input  wire         rst,
  input  wire [47:0]  base_mac,
  input  wire [31:0]  box_ip,
  // Addresses of the ports, and whether each port has one.
  input  wire [PORTS*32-1:0] port_ip,
  input  wire [PORTS-1:0]    port_ip_set,

  input  wire         in_valid,
  // First 62 bytes, zero after the end of the frame.
  input  wire [495:0] in_hdr,
  // Bytes 12 and 13 are those of a VLAN tag. Anything in a frame that ends before them.
  input  wire         in_vlan,
  input  wire [13:0]  in_len,
  input  wire         in_bad,
  input  wire         in_long,

  // State of the CRC over the frame with its ICRC, padded with zeros to whole beats.
  input  wire [31:0]  crc,

  output wire         out_valid,
  output reg  [1:0]   out_class,
  output reg  [7:0]   out_cause,
  output wire [13:0]  out_len,
  output wire         out_vlan,
  output wire [7:0]   out_opcode,
  output wire [23:0]  out_qpn,
  output wire [23:0]  out_psn,
  output wire [1:0]   out_pad,
  output wire [31:0]  out_src_ip,
  // Role and address of the key in the connection table. Role 2: the frame is for this port's address, and the address is
  // the source.
  output wire [1:0]   out_role,
  output wire [31:0]  out_key_ip,
  output wire [15:0]  out_udp_len,
  output wire [6:0]   out_hlen,
  output wire [13:0]  out_plen,
  output wire [7:0]   out_syndrome,
  output wire [23:0]  out_msn,
  output wire         out_icrc_ok
);

  localparam LB = $clog2(WIDTH / 8);

  function [15:0] be16;
    input [15:0] b;
    be16 = {b[7:0], b[15:8]};
  endfunction

  function [23:0] be24;
    input [23:0] b;
    be24 = {b[7:0], b[15:8], b[23:16]};
  endfunction

  function [31:0] be32;
    input [31:0] b;
    be32 = {b[7:0], b[15:8], b[23:16], b[31:24]};
  endfunction

  // Bytes after the header that the opcode requires: RETH 16, AETH 4, ImmDt 4.
  function [4:0] extension;
    input [7:0] opcode;
    case (opcode)
      8'h03, 8'h05, 8'h09, 8'h11: extension = 5'd4;
      8'h06, 8'h0a: extension = 5'd16;
      8'h0b: extension = 5'd20;
      default: extension = 5'd0;
    endcase
  endfunction

  // Sums of 16-bit words modulo 2^16 - 1, without carry chains: carry-save adders reduce six (three) words to three
  // (two) with the same sum. A carry of weight 2^16 re-enters with weight 1.
  function [47:0] six_to_three;
    input [95:0] w;
    integer n;
    reg [2:0] c;
    for (n = 0; n < 16; n = n + 1) begin
      c = {2'd0, w[n]} + {2'd0, w[16+n]} + {2'd0, w[32+n]} + {2'd0, w[48+n]} + {2'd0, w[64+n]} + {2'd0, w[80+n]};
      six_to_three[n]             = c[0];
      six_to_three[16+(n+1)%16]   = c[1];
      six_to_three[32+(n+2)%16]   = c[2];
    end
  endfunction

  function [31:0] three_to_two;
    input [47:0] w;
    integer n;
    reg [1:0] c;
    for (n = 0; n < 16; n = n + 1) begin
      c = {1'd0, w[n]} + {1'd0, w[16+n]} + {1'd0, w[32+n]};
      three_to_two[n]           = c[0];
      three_to_two[16+(n+1)%16] = c[1];
    end
  endfunction

  // The positions of the fields; l3 begins with the IP header (or ARP).
  wire         vlan   = in_vlan;
  wire [15:0]  outer  = be16(in_hdr[8*12+:16]);
  wire [15:0]  second = be16(in_hdr[8*16+:16]);
  wire [15:0]  inner  = vlan ? second : outer;
  wire [8*44-1:0] l3  = vlan ? in_hdr[8*18+:8*44] : in_hdr[8*14+:8*44];
  wire [47:0]  source = {be24(in_hdr[8*6+:24]), be24(in_hdr[8*9+:24])};
  wire [47:0]  above  = source - base_mac;
  wire [15:0]  total  = be16(l3[8*2+:16]);
  wire [15:0]  udp    = be16(l3[8*24+:16]);
  wire [4:0]   ext    = extension(l3[8*28+:8]);
  wire [4:0]   l2     = vlan ? 5'd18 : 5'd14;

  // The bytes of all words are swapped in the same way, which swaps their sum modulo 2^16 - 1 too.
  wire [47:0]  sum_a  = six_to_three(l3[95:0]);
  wire [47:0]  sum_b  = six_to_three({32'd0, l3[159:96]});
  wire [31:0]  sum    = three_to_two(six_to_three({sum_a, sum_b}));

  // Destination MAC, then in l3: type of service, identification, TTL, UDP checksum, source port, P_Key, BTH bytes 1
  // and 4.
  wire unused_hdr = &{1'b0, in_hdr[47:1], l3[175:160], l3[235:232],
                      l3[263:238], l3[295:288], port_ip, port_ip_set};

  reg         p1_valid_q;
  // Flags of the lines, by number; a line that needs more logic is finished in the next stage.
  reg         p1_bad_q, p1_runt_q, p1_long_q, p1_own_q, p1_two_q, p1_arp_q, p1_arp_mine_q, p1_ipv6_q, p1_ipv4_q;
  reg         p1_version_q, p1_ihl_q, p1_fragment_q, p1_multicast_q, p1_mine_q, p1_icmp_q, p1_roce_q;
  reg         p1_short_total_q, p1_min_len_q;
  // The port's address: ARP about it; the frame is for it; it is not for the port's MAC; it is for another port's
  // address; the UDP payload begins like a control packet.
  wire        p1_arp_port, p1_to_port, p1_not_mac, p1_other, p1_magic;
  reg  [16:0] p1_end_q, p1_udp_end_q;
  reg  [15:0] p1_total_q;
  reg  [31:0] p1_sum_q;
  reg         p1_vlan_q;
  reg  [13:0] p1_len_q, p1_plen_q;
  reg  [6:0]  p1_hlen_q;
  reg  [7:0]  p1_opcode_q, p1_syndrome_q;
  reg  [23:0] p1_qpn_q, p1_psn_q, p1_msn_q;
  reg  [1:0]  p1_pad_q;
  reg  [31:0] p1_src_ip_q, p1_dst_ip_q;
  reg  [15:0] p1_udp_len_q;

  always @(posedge clk)
    if (rst) p1_valid_q <= 1'b0;
    else p1_valid_q <= in_valid;

  always @(posedge clk)
    if (in_valid) begin
      p1_bad_q         <= in_bad;
      p1_runt_q        <= in_len < 14'd60;
      p1_long_q        <= in_long;
      p1_own_q         <= above < {16'd0, PORTS[31:0]};
      p1_two_q         <= outer == 16'h88a8 || (vlan && (second == 16'h8100 || second == 16'h88a8));
      p1_arp_q         <= inner == 16'h0806;
      p1_arp_mine_q    <= be32(l3[8*24+:32]) == box_ip;
      p1_ipv6_q        <= inner == 16'h86dd;
      p1_ipv4_q        <= inner == 16'h0800;
      p1_version_q     <= l3[7:4] == 4'd4;
      p1_ihl_q         <= l3[3:0] == 4'd5;
      p1_fragment_q    <= l3[8*6+:6] != 6'd0 || l3[8*7+:8] != 8'd0;
      p1_multicast_q   <= in_hdr[0];
      p1_mine_q        <= be32(l3[8*16+:32]) == box_ip;
      p1_icmp_q        <= l3[8*9+:8] == 8'd1;
      p1_roce_q        <= l3[8*9+:8] == 8'd17 && be16(l3[8*22+:16]) == 16'd4791;
      p1_short_total_q <= total < 16'd28;
      p1_min_len_q     <= in_len == 14'd60 || (vlan && in_len <= 14'd64);
      p1_end_q         <= {1'b0, total} + {12'd0, l2};
      p1_udp_end_q     <= {1'b0, udp} + 17'd20;
      p1_total_q       <= total;
      p1_sum_q         <= sum;
    end

  always @(posedge clk)
    if (in_valid) begin
      p1_vlan_q     <= vlan;
      p1_len_q      <= in_len;
      p1_opcode_q   <= l3[8*28+:8];
      p1_pad_q      <= l3[8*29+4+:2];
      p1_qpn_q      <= be24(l3[8*33+:24]);
      p1_psn_q      <= be24(l3[8*37+:24]);
      p1_syndrome_q <= l3[8*40+:8];
      p1_msn_q      <= be24(l3[8*41+:24]);
      p1_src_ip_q   <= be32(l3[8*12+:32]);
      p1_dst_ip_q   <= be32(l3[8*16+:32]);
      p1_udp_len_q  <= udp;
      p1_hlen_q     <= {2'd0, l2} + 7'd40 + {2'd0, ext};
      p1_plen_q     <= udp[13:0] - 14'd24 - {9'd0, ext};
    end

  generate
    if (MIRROR != 0) begin : g_mirror
      localparam [31:0] THIS = PORT;

      wire [31:0] own   = port_ip[PORT*32 +: 32];
      wire [31:0] to    = be32(l3[8*16+:32]);
      reg  [47:0] mac_q;
      reg         p1_arp_port_q;
      reg         p1_to_port_q;
      reg         p1_not_mac_q;
      reg         p1_other_q;
      reg         p1_magic_q;
      reg         other;
      integer     k;

      always @* begin
        other = 1'b0;
        for (k = 0; k < PORTS; k = k + 1)
          if (k != PORT && port_ip_set[k] && to == port_ip[k*32 +: 32]) other = 1'b1;
      end

      always @(posedge clk) mac_q <= base_mac + {16'd0, THIS};

      always @(posedge clk)
        if (in_valid) begin
          p1_arp_port_q <= port_ip_set[PORT] && (be32(l3[8*24+:32]) == own || be32(l3[8*14+:32]) == own);
          p1_to_port_q  <= port_ip_set[PORT] && to == own;
          p1_not_mac_q  <= {be24(in_hdr[23:0]), be24(in_hdr[47:24])} != mac_q;
          p1_other_q    <= other;
          p1_magic_q    <= be32(l3[8*28+:32]) == 32'h52464354 && udp >= 16'd12;
        end

      assign p1_arp_port = p1_arp_port_q;
      assign p1_to_port  = p1_to_port_q;
      assign p1_not_mac  = p1_not_mac_q;
      assign p1_other    = p1_other_q;
      assign p1_magic    = p1_magic_q;
    end else begin : g_no_mirror
      assign p1_arp_port = 1'b0;
      assign p1_to_port  = 1'b0;
      assign p1_not_mac  = 1'b0;
      assign p1_other    = 1'b0;
      assign p1_magic    = 1'b0;
    end
  endgenerate

  wire ip_length = p1_short_total_q || p1_end_q > {3'd0, p1_len_q} || (p1_end_q != {3'd0, p1_len_q} && !p1_min_len_q);
  wire udp_wrong = p1_udp_end_q != {1'b0, p1_total_q};

  // The words of the header, checksum included, sum to a multiple of 2^16 - 1 and are not all zero. So the two words
  // here are complements of each other, or both ffff.
  wire sum_wrong = p1_sum_q[31:16] != ~p1_sum_q[15:0] && p1_sum_q != 32'hffffffff;

  always @* begin
    out_class = 2'd0;
    out_cause = 8'd`RF_CNT_RX_FRAMES;
    if (p1_bad_q) out_cause = 8'd`RF_CNT_RX_MAC_ERROR;
    else if (p1_runt_q) out_cause = 8'd`RF_CNT_RX_RUNT;
    else if (p1_long_q) out_cause = 8'd`RF_CNT_RX_OVERSIZE;
    else if (p1_own_q) out_cause = 8'd`RF_CNT_OWN_SOURCE;
    else if (p1_two_q) out_cause = 8'd`RF_CNT_TWO_TAGS;
    else if (p1_arp_q && (p1_arp_mine_q || p1_arp_port)) out_class = 2'd1;
    else if (p1_arp_q) out_cause = 8'd`RF_CNT_ARP_OTHER;
    else if (p1_ipv6_q) out_cause = 8'd`RF_CNT_IPV6;
    else if (!p1_ipv4_q) out_cause = 8'd`RF_CNT_ETHERTYPE;
    else if (!p1_version_q) out_cause = 8'd`RF_CNT_IP_VERSION;
    else if (!p1_ihl_q) out_cause = 8'd`RF_CNT_IP_OPTIONS;
    else if (sum_wrong) out_cause = 8'd`RF_CNT_IP_CHECKSUM;
    else if (p1_fragment_q) out_cause = 8'd`RF_CNT_IP_FRAGMENT;
    else if (p1_multicast_q) out_cause = 8'd`RF_CNT_MULTICAST;
    else if (ip_length) out_cause = 8'd`RF_CNT_IP_LENGTH;
    else if (p1_other || (p1_to_port && p1_not_mac)) out_cause = 8'd`RF_CNT_WRONG_PORT;
    else if ((p1_mine_q || p1_to_port) && p1_icmp_q) out_class = 2'd1;
    else if (!p1_roce_q) out_cause = 8'd`RF_CNT_NOT_ROCE;
    else if (udp_wrong) out_cause = 8'd`RF_CNT_UDP_LENGTH;
    else if (p1_mine_q || (p1_to_port && p1_magic)) out_class = 2'd1;
    else if (p1_udp_len_q < 16'd24) out_cause = 8'd`RF_CNT_UDP_LENGTH;
    else out_class = 2'd2;
  end

  // The IP packet ends in the frame's last beat: the missing bytes were fed as zeros.
  localparam [2047:0] RESIDUE = `RF_CRC_RESIDUE;
  wire [LB-1:0] zeros = {LB{1'b0}} - p1_end_q[LB-1:0];
  wire [5:0]    index = {{6 - LB{1'b0}}, zeros};

  assign out_icrc_ok  = out_class == 2'd2 && crc == RESIDUE[{index, 5'd0}+:32];
  assign out_valid    = p1_valid_q;
  assign out_len      = p1_len_q;
  assign out_vlan     = p1_vlan_q;
  assign out_opcode   = p1_opcode_q;
  assign out_qpn      = p1_qpn_q;
  assign out_psn      = p1_psn_q;
  assign out_pad      = p1_pad_q;
  assign out_src_ip   = p1_src_ip_q;
  assign out_role     = {p1_to_port, !p1_to_port && (p1_opcode_q == 8'h11 || p1_opcode_q == 8'h81)};
  assign out_key_ip   = p1_to_port ? p1_src_ip_q : p1_dst_ip_q;
  assign out_udp_len  = p1_udp_len_q;
  assign out_hlen     = p1_hlen_q;
  assign out_plen     = p1_plen_q;
  assign out_syndrome = p1_syndrome_q;
  assign out_msn      = p1_msn_q;

endmodule

`default_nettype wire
