// rf_results_fit: the header of a copy as it leaves. In a directed group IP length, UDP length and pad count are those of
// what is sent, the IP checksum is right, and a mark becomes CE if the packet can carry one. Nothing else changes, except
// AckReq. The header is arbitrary; the stored checksum is, inverted, that of the empty packet without the mark (rf_bank).

module fit #(
  parameter DIRECTED = 1
) (
  input wire         clk,
  input wire         rst,
  input wire         vlan,
  input wire [6:0]   hlen,
  input wire [639:0] hdr,
  input wire         ackreq,
  input wire         directed,
  input wire         full,
  input wire         mark,
  input wire [14:0]  tail
);

`include "rf_start.vh"

  wire [639:0] out;

  rf_results_fit #(.DIRECTED(DIRECTED)) box (
    .vlan(vlan), .hlen(hlen), .hdr(hdr), .ackreq(ackreq), .directed(directed), .full(full), .mark(mark), .tail(tail),
    .out(out));

  // From the IP header on.
  wire [495:0] was = vlan ? hdr[639:144] : {32'd0, hdr[575:112]};
  wire [495:0] is  = vlan ? out[639:144] : {32'd0, out[575:112]};

  // A word in network byte order.
  function [15:0] word(input [495:0] from, input integer at);
    word = {from[8 * at +: 8], from[8 * at + 8 +: 8]};
  endfunction

  // The sum in ones' complement; never 0 here, because no header is.
  function [15:0] fold(input [19:0] sum);
    reg [16:0] once;
    begin
      once = {1'b0, sum[15:0]} + {13'd0, sum[19:16]};
      fold = once[15:0] + {15'd0, once[16]};
    end
  endfunction

  // The words that stay: without the ECN bits, the length and the checksum.
  wire [19:0] rest = {4'd0, word(was, 0) & 16'hfffc} + {4'd0, word(was, 4)} + {4'd0, word(was, 6)} + {4'd0, word(was, 8)} +
                     {4'd0, word(was, 12)} + {4'd0, word(was, 14)} + {4'd0, word(was, 16)} + {4'd0, word(was, 18)};
  wire [1:0]  ecn  = was[9:8];
  wire [1:0]  ce   = (mark && ecn != 2'd0) ? 2'd3 : ecn;

  // 42 bytes of Ethernet, IP and UDP headers, BTH, perhaps an immediate; ICRC.
  wire        imm     = hlen == (vlan ? 7'd62 : 7'd58);
  wire [15:0] payload = full ? {3'd0, tail[12:0]} : 16'd0;
  wire [15:0] bare    = imm ? 16'd48 : 16'd44;
  wire        changes = DIRECTED != 0 && directed;

  // What may change: ECN, length, checksum, UDP length, pad count; AckReq.
  wire [495:0] free_bits = (changes ? (496'd3 << 8) | (496'hffff << 16) | (496'hffff << 80) | (496'hffff << 192) | (496'd3 << 236) :
                                      496'd0) | (496'd1 << 295);

  always @* begin
    assume (rst == !f_started);
    assume (hlen == (vlan ? 7'd58 : 7'd54) || imm);
    assume (was[7:4] == 4'd4 && tail[1:0] == 2'd0);
    assume (word(was, 10) == fold(rest + {18'd0, ecn} + {4'd0, bare}));
    assert (((was ^ is) & ~free_bits) == 496'd0);
    assert (vlan ? hdr[143:0] == out[143:0] : hdr[111:0] == out[111:0] && hdr[639:608] == out[639:608]);
    assert (is[295] == (was[295] || ackreq));
    if (changes) begin
      assert (is[9:8] == ce);
      assert (word(is, 2) == bare + payload);
      assert (word(is, 24) == bare + payload - 16'd20);
      assert (is[237:236] == (full ? tail[14:13] : 2'd0));
      assert (fold(rest + {18'd0, is[9:8]} + {4'd0, word(is, 2)} + {4'd0, word(is, 10)}) == 16'hffff);
    end
  end

  always @(posedge clk)
    if (f_started && !rst) begin
      cover (changes && full && mark && ce == 2'd3 && ecn == 2'd1 && vlan);
      cover (changes && !full && word(is, 10) == 16'd0);
      cover (!directed && ackreq);
    end

endmodule
