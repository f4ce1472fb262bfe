// rf_results: an offered word is stable. The inputs from the reader, the reduction and the bank are arbitrary. rf_egress
// takes beats from the header on. A byte of each word represents the whole word.
module stream_results (
  input wire         clk,
  input wire         rst,
  input wire         copy_valid,
  input wire [4:0]   copy,
  input wire         pack_valid,
  input wire         pack_room,
  input wire [4:0]   pack_copies,
  input wire [4:0]   pack_fulls,
  input wire         pack_drop,
  input wire [5:0]   pack_length,
  input wire [7:0]   hdr,
  input wire [14:0]  tail,
  input wire [63:0]  out_data,
  input wire         out_valid,
  input wire         out_last,
  input wire         e_ready,
  input wire         p_ready
);

`include "rf_start.vh"

  wire [5:0]   free_beats;
  wire [5:0]   free_hdrs;
  wire         e_valid;
  wire [639:0] e_hdr;
  wire [6:0]   e_hlen;
  wire [13:0]  e_plen;
  wire         e_repeat;
  wire         e_empty;
  wire         next_beat;
  wire         next_copy;
  wire         next_empty;
  wire         p_valid;
  wire [63:0]  p_data;
  wire         p_last;
  wire         idle;

  rf_results #(.WIDTH(64), .BEATS(32), .HDRS(4), .CREDIT_W(6), .PARITY(0)) box (
    .clk(clk), .rst(rst), .free_beats(free_beats), .free_hdrs(free_hdrs), .take_valid(1'b0), .take_beats(6'd0),
    .take_hdrs(5'd0), .copy_valid(copy_valid), .copy_repeat(copy[4]), .copy_ackreq(copy[3]), .copy_directed(copy[2]),
    .copy_wants(copy[1]), .copy_mark(copy[0]),
    .pack_valid(pack_valid), .pack_room(pack_room), .pack_copies(pack_copies), .pack_fulls(pack_fulls), .pack_drop(pack_drop),
    .pack_length(pack_length), .pack_tail(tail), .pack_beats(6'd0), .pack_hdrs(5'd0), .hdr_data({640'd0, hdr}),
    .out_valid(out_valid), .out_data(out_data), .out_last(out_last), .out_bad(1'b0), .hdr_bad(1'b0), .hdr_mirror(1'b0), .hdr_mac(48'd0), .copy_addr(4'd0), .copy_index(24'd0), .e_valid(e_valid), .e_ready(e_ready), .e_hdr(e_hdr),
    .e_hlen(e_hlen), .e_plen(e_plen), .e_repeat(e_repeat), .e_empty(e_empty), .next_beat(next_beat), .next_copy(next_copy), .next_empty(next_empty), .p_valid(p_valid), .p_ready(p_ready),
    .p_data(p_data), .p_last(p_last), .idle(idle));

  // Between a packet's header and its last beat.
  reg inside_q;

  always @(posedge clk)
    if (rst || (p_valid && p_ready && p_last)) inside_q <= 1'b0;
    else if (e_valid && e_ready && !e_empty) inside_q <= 1'b1;

  always @* begin
    assume (rst == !f_started);
    assume ((pack_length == 6'd0) == (tail[12:0] == 13'd0));
    if (p_ready) assume (inside_q || (e_valid && e_ready && !e_empty));
  end

  stream #(.WIDTH(13)) e (
    .clk(clk), .rst(rst), .valid(e_valid), .ready(e_ready), .data({e_repeat, e_empty, e_plen[2:0], e_hdr[7:0]}));
  stream #(.WIDTH(9)) p (.clk(clk), .rst(rst), .valid(p_valid), .ready(p_ready), .data({p_last, p_data[7:0]}));

  // A header comes with the first beat of its packet, never within another; rf_port_tx knows of a beat a cycle before.
  reg soon_q;
  reg stays_q;

  always @(posedge clk) begin
    soon_q  <= (next_beat && (!p_valid || p_ready)) || (e_valid && e_ready && next_copy) || next_empty;
    stays_q <= p_valid && !p_ready;
  end

  always @*
    if (!rst && f_started) begin
      assert (!e_valid || ((p_valid || e_empty) && !inside_q));
      if (f_ran && p_valid) assert (soon_q || stays_q);
    end

  reg f_ran = 1'b0;
  always @(posedge clk) f_ran <= f_started && !rst;

endmodule
