// rf_ackq: verdicts come for events that were taken, each once; frames and events any time. What is offered stays; an ACK that
// crosses the box leaves only with a good verdict. The first byte of a frame stands for all of it.
module stream_ackq (
  input wire       clk,
  input wire       rst,
  input wire       event_take,
  input wire [1:0] event_index,
  input wire       h_event,
  input wire       h_behalf,
  input wire       h_nak,
  input wire [7:0] h_hdr,
  input wire       h_vlan,
  input wire       ev_ready,
  input wire       v_valid,
  input wire       v_ok,
  input wire       e_ready
);

`include "rf_start.vh"

  wire         event_room;
  wire         behalf_room;
  wire         ev_valid;
  wire [5:0]   ev_conn;
  wire [23:0]  ev_index;
  wire [23:0]  ev_msn;
  wire         ev_fatal;
  wire         ev_still;
  wire         e_valid;
  wire [639:0] e_hdr;
  wire [6:0]   e_hlen;
  wire         e_behalf;
  wire         e_nak;
  wire         idle;

  rf_ackq #(.CW(6), .DEPTH(8)) box (
    .clk(clk), .rst(rst), .event_room(event_room), .behalf_room(behalf_room), .event_take(event_take), .event_conn(6'd0),
    .event_index({22'd0, event_index}), .event_msn(24'd0), .event_fatal(1'b0), .event_still(1'b0), .h_event(h_event),
    .h_behalf(h_behalf), .h_nak(h_nak), .h_syndrome(8'd0), .h_made(24'd0), .h_hdr({632'd0, h_hdr}), .h_vlan(h_vlan),
    .h_psn(24'd0), .h_qpn(24'd0), .h_msn(24'd0), .ev_valid(ev_valid), .ev_ready(ev_ready), .ev_conn(ev_conn),
    .ev_index(ev_index), .ev_msn(ev_msn), .ev_fatal(ev_fatal), .ev_still(ev_still), .v_valid(v_valid), .v_ok(v_ok),
    .e_valid(e_valid), .e_ready(e_ready), .e_hdr(e_hdr), .e_hlen(e_hlen), .e_behalf(e_behalf), .e_nak(e_nak), .idle(idle));

  always @* assume (rst == !f_started);

  stream #(.WIDTH(2)) ev (.clk(clk), .rst(rst), .valid(ev_valid), .ready(ev_ready), .data(ev_index[1:0]));
  stream #(.WIDTH(12)) e (
    .clk(clk), .rst(rst), .valid(e_valid), .ready(e_ready), .data({e_behalf, e_nak, e_hlen[3:2], e_hdr[7:0]}));

  // Until a good verdict has come no ACK leaves that crosses the box.
  reg ok_q;

  always @(posedge clk)
    if (rst) ok_q <= 1'b0;
    else if (v_valid && v_ok) ok_q <= 1'b1;

  always @*
    if (!rst && e_valid && !e_behalf) assert (ok_q);

endmodule
