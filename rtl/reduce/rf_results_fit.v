// rf_results_fit: the header of a copy as it leaves: AckReq; in a directed group the lengths, pad count and IP checksum of
// what is sent, and a CE mark.
//
// Latency     0 cycles: combinational.
// Throughput  one header per cycle.
// Capacity    none.
// Handshake   none.
// Reset       none.
// Proved      tests/rtl/unit_results.cpp.
//
// The stored IP checksum of a directed group is inverted and that of the packet without payload and mark (rf_bank). Adding
// what is different makes it that of the copy (RFC 1624). It is not zero, so neither is the sum: no checksum is ffff.

`default_nettype none

module rf_results_fit #(
  // 1: groups may be directed.
  parameter DIRECTED = 1
) (
  input  wire         vlan,
  input  wire [6:0]   hlen,
  input  wire [639:0] hdr,
  input  wire         ackreq,
  // The group is directed; the copy has payload; it carries a mark, if it can; {pad, payload bytes} of the result.
  input  wire         directed,
  input  wire         full,
  input  wire         mark,
  input  wire [14:0]  tail,
  output wire [639:0] out
);

  // AckReq is the top bit of byte 50 (54 with a tag).
  wire [639:0] asked = {hdr[639:440], hdr[439] | (ackreq & vlan), hdr[438:408], hdr[407] | (ackreq & !vlan), hdr[406:0]};

  generate
    if (DIRECTED != 0) begin : g_directed
      wire [1:0]  ecn     = vlan ? hdr[8*19 +: 2] : hdr[8*15 +: 2];
      wire        marks   = mark && ecn != 2'd0;
      wire [12:0] plen    = full ? tail[12:0] : 13'd0;
      wire [1:0]  pad     = full ? tail[14:13] : 2'd0;
      // The header ends 4 bytes later with an immediate. IP length of the empty packet: 44 or 48; with UDP alone 24 or 28.
      wire        imm     = vlan ? hlen[2] : !hlen[2];
      wire [13:0] total   = {1'b0, plen} + {8'd0, imm ? 6'd48 : 6'd44};
      wire [13:0] udp     = {1'b0, plen} + {8'd0, imm ? 6'd28 : 6'd24};
      wire [15:0] stored  = vlan ? {hdr[8*28 +: 8], hdr[8*29 +: 8]} : {hdr[8*24 +: 8], hdr[8*25 +: 8]};
      // The length is a multiple of 4; 01 becomes 11, or 10 does.
      wire [15:0] more    = {3'd0, plen[12:2], marks ? ~ecn : 2'd0};
      wire [16:0] once    = {1'b0, stored} + {1'b0, more};
      wire [15:0] carried = stored + more + 16'd1;
      wire [15:0] sum     = ~(once[16] ? carried : once[15:0]);
      reg  [639:0] fitted;

      always @(*) begin
        fitted = asked;
        if (directed && vlan) begin
          fitted[8*19 +: 2]    = marks ? 2'd3 : ecn;
          fitted[8*20 +: 16]   = {total[7:0], 2'd0, total[13:8]};
          fitted[8*28 +: 16]   = {sum[7:0], sum[15:8]};
          fitted[8*42 +: 16]   = {udp[7:0], 2'd0, udp[13:8]};
          fitted[8*47 + 4 +: 2] = pad;
        end else if (directed) begin
          fitted[8*15 +: 2]    = marks ? 2'd3 : ecn;
          fitted[8*16 +: 16]   = {total[7:0], 2'd0, total[13:8]};
          fitted[8*24 +: 16]   = {sum[7:0], sum[15:8]};
          fitted[8*38 +: 16]   = {udp[7:0], 2'd0, udp[13:8]};
          fitted[8*43 + 4 +: 2] = pad;
        end
      end

      assign out = fitted;

      wire unused_bits = &{1'b0, hlen, tail[1:0]};
    end else begin : g_plain
      assign out = asked;

      wire unused_bits = &{1'b0, vlan, hlen, directed, full, mark, tail};
    end
  endgenerate

endmodule

`default_nettype wire
