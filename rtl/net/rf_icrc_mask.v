// rf_icrc_mask: converts the beats of a RoCEv2 frame to the data that the ICRC covers.
//
// Latency     0, combinational: one level of LUT6.
// Throughput  one beat per cycle.
// Capacity    none.
// Handshake   none.
// Reset       none.
//
// The Ethernet header becomes zero, so a CRC state of 0 stays 0 over it. Before the IP header the ICRC has the state
// 0xdebb20e3 (after eight bytes of FF). That state is XORed into the first four bytes of the IP header, because a CRC
// adds its state to the next four bytes anyway. Type of service, TTL, header checksum, UDP checksum and BTH byte 4
// become FF.

`default_nettype none

module rf_icrc_mask #(
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512
) (
  // Beat number in the frame; it saturates at 7.
  input  wire [2:0]       beat,
  // The frame has a VLAN tag; valid from byte 12 on.
  input  wire             vlan,
  input  wire [WIDTH-1:0] in_data,
  output reg  [WIDTH-1:0] out_data
);

  // Beats that hold the first 64 bytes.
  localparam HEAD = 512 / WIDTH;

  // Masks for the first 64 bytes. Kind 0: the bits that stay; 1: the bits that become one; 2: the bits to invert.
  function [511:0] plan;
    input integer kind;
    input integer l2;
    integer i;
    begin
      plan = 512'd0;
      for (i = l2; i < 64; i = i + 1)
        case (kind)
          0: plan[8*i+:8] = 8'hff;
          1: if (i == l2 + 1 || i == l2 + 8 || i == l2 + 10 || i == l2 + 11 || i == l2 + 26 || i == l2 + 27 ||
                 i == l2 + 32) plan[8*i+:8] = 8'hff;
          default: if (i == l2) plan[8*i+:32] = 32'hdebb20e3;
        endcase
    end
  endfunction

  localparam [511:0] STAY0 = plan(0, 14), ONES0 = plan(1, 14), FLIP0 = plan(2, 14);
  localparam [511:0] STAY1 = plan(0, 18), ONES1 = plan(1, 18), FLIP1 = plan(2, 18);

  integer b;

  always @* begin
    out_data = in_data;
    for (b = 0; b < HEAD; b = b + 1)
      if (beat == b[2:0])
        out_data = vlan ?
          ((in_data & STAY1[WIDTH*b+:WIDTH]) | ONES1[WIDTH*b+:WIDTH]) ^ FLIP1[WIDTH*b+:WIDTH] :
          ((in_data & STAY0[WIDTH*b+:WIDTH]) | ONES0[WIDTH*b+:WIDTH]) ^ FLIP0[WIDTH*b+:WIDTH];
  end

endmodule

`default_nettype wire
