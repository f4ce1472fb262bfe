// rf_port_tx: if the sources keep the handshake, the output does too. No frame is truncated or mixed with
// another, and each transfer at the output is one of exactly one source.
module stream_port_tx (
  input wire       clk,
  input wire       rst,
  input wire       res_next_beat,
  input wire       res_next_copy,
  input wire       res_next_empty,
  input wire [3:0] in_e,
  input wire [3:0] in_p,
  input wire [3:0] in_last,
  input wire [7:0] in_data,
  // The header fields of a frame, and the length of the firmware's frame.
  input wire [7:0] in_tag,
  // The result on offer has no beats.
  input wire       in_empty,
  input wire       e_ready,
  input wire       p_ready,
  input wire [3:0] share,
  input wire       more
);

`include "rf_start.vh"

  wire [3:0]       e_taken;
  wire [3:0]       p_taken;
  wire             e_valid;
  wire             e_raw;
  wire [639:0]     e_hdr;
  wire [6:0]       e_hlen;
  wire [13:0]      e_plen;
  wire [13:0]      e_len;
  wire             p_valid;
  wire [1:0]       p_data;
  wire             p_last;
  wire [3:0]       sent;
  wire             idle;

  // Results, ACKs, foreign frames, the firmware. The firmware's frame is header and beat in one; ACKs and empty results
  // have no beats, but a beat of a later result may be on offer.
  rf_port_tx #(.WIDTH(2)) box (
    .clk(clk), .rst(rst), .share(share), .res_next_beat(res_next_beat),
    .res_next_copy(res_next_copy), .res_next_empty(res_next_empty), .res_e_valid(in_e[0]), .res_e_ready(e_taken[0]),
    .res_e_hdr({638'd0, in_tag[1:0]}), .res_e_hlen(7'd0), .res_e_plen(14'd0), .res_e_empty(in_empty), .res_p_valid(in_p[0]),
    .res_p_ready(p_taken[0]), .res_p_data(in_data[1:0]), .res_p_last(in_last[0]), .ack_e_valid(in_e[1]),
    .ack_e_ready(e_taken[1]), .ack_e_hdr({638'd0, in_tag[3:2]}), .ack_e_hlen(7'd0), .for_e_valid(in_e[2]),
    .for_e_ready(e_taken[2]), .for_more(more), .for_e_len({12'd0, in_tag[5:4]}), .for_p_valid(in_p[2]), .for_p_ready(p_taken[2]),
    .for_p_data(in_data[5:4]), .for_p_last(in_last[2]), .inj_valid(in_p[3]), .inj_ready(p_taken[3]), .inj_len({12'd0, in_tag[7:6]}),
    .inj_data(in_data[7:6]), .inj_last(in_last[3]), .e_valid(e_valid), .e_ready(e_ready), .e_raw(e_raw), .e_hdr(e_hdr),
    .e_hlen(e_hlen), .e_plen(e_plen), .e_len(e_len), .p_valid(p_valid), .p_ready(p_ready), .p_data(p_data),
    .p_last(p_last), .sent(sent), .idle(idle));

  assign e_taken[3] = 1'b0;
  assign p_taken[1] = 1'b0;

  // The frame whose beats follow.
  reg        inside_q;
  reg  [3:0] from_q;
  wire       begun = e_valid && e_ready;
  wire       beat  = p_valid && p_ready;
  wire [3:0] from  = inside_q ? from_q : sent;
  wire       empty = sent[1] || (sent[0] && in_empty);

  always @(posedge clk)
    if (rst) inside_q <= 1'b0;
    else if (beat && p_last) inside_q <= 1'b0;
    else if (begun && !empty) inside_q <= 1'b1;

  always @(posedge clk)
    if (begun) from_q <= sent;

  stream #(.WIDTH(3), .IN(1)) in_e0 (.clk(clk), .rst(rst), .valid(in_e[0]), .ready(e_taken[0]), .data({in_empty, in_tag[1:0]}));
  stream #(.WIDTH(2), .IN(1)) in_e1 (.clk(clk), .rst(rst), .valid(in_e[1]), .ready(e_taken[1]), .data(in_tag[3:2]));
  stream #(.WIDTH(2), .IN(1)) in_e2 (.clk(clk), .rst(rst), .valid(in_e[2]), .ready(e_taken[2]), .data(in_tag[5:4]));
  stream #(.WIDTH(3), .IN(1)) in_p0 (
    .clk(clk), .rst(rst), .valid(in_p[0]), .ready(p_taken[0]), .data({in_last[0], in_data[1:0]}));
  stream #(.WIDTH(3), .IN(1)) in_p2 (
    .clk(clk), .rst(rst), .valid(in_p[2]), .ready(p_taken[2]), .data({in_last[2], in_data[5:4]}));
  stream #(.WIDTH(5), .IN(1)) in_p3 (
    .clk(clk), .rst(rst), .valid(in_p[3]), .ready(p_taken[3]), .data({in_last[3], in_tag[7:6], in_data[7:6]}));

  always @* begin
    assume (rst == !f_started);
    // rf_results offers a packet with its first beat, and no beat outside of a packet; a frame of the firmware has no
    // gaps.
    if (in_e[0] && !in_empty) assume (in_p[0]);
    if (inside_q && from_q[3]) assume (in_p[3]);
  end

  stream #(.WIDTH(3)) e (
    .clk(clk), .rst(rst), .valid(e_valid), .ready(e_ready), .data({e_raw, e_raw ? e_len[1:0] : e_hdr[1:0]}));
  stream #(.WIDTH(3)) p (
    .clk(clk), .rst(rst), .valid(p_valid && inside_q), .ready(p_ready), .data({p_last, p_data}));

  always @*
    if (!rst) begin
      // Each transfer at the output belongs to exactly one source.
      assert (begun == ((sent & {in_p[3], in_e[2:0]}) != 4'd0) && (sent & (sent - 4'd1)) == 4'd0);
      assert ((e_taken[2:0] & in_e[2:0]) == sent[2:0]);
      assert ((p_taken & in_p) == (beat ? from : 4'd0));
      // No frame begins within another, and no beat is offered outside of a frame.
      assert (!begun || !inside_q);
      assert (!p_valid || inside_q || (begun && !empty));
    end

  always @(posedge clk)
    if (!rst) begin
      cover (beat && p_last && from_q[3] && inside_q);
      cover (beat && p_last && from_q[2] && inside_q);
      cover (sent[1]);
      cover (sent[0] && in_empty && in_p[0]);
    end

endmodule
