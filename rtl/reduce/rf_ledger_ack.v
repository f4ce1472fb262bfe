// rf_ledger_ack: processes the ACKs, one event per cycle, round-robin over all ports, and returns the verdict on their
// frames.
//
// Latency     event to verdict and to una: 1 cycle if no other port has an event.
// Throughput  one event per cycle; none in a cycle in which an open-loop sending writes una.
// Capacity    one event.
// Handshake   e_valid/e_ready per port; e_ready is combinational from e_valid of all ports and `block`.
// Reset       discards the event.
// Proved      tests/formal/ledger.vh, as part of rf_ledger.

`default_nettype none

module rf_ledger_ack #(
  parameter IDX = 24,
  parameter PORTS = 4,
  parameter PW = 2,
  // Bits of {group, lane}.
  parameter AW = 4
) (
  input  wire                 clk,
  input  wire                 rst,

  input  wire [PORTS-1:0]     e_valid,
  output wire [PORTS-1:0]     e_ready,
  // The connection: its port and its {group, lane}.
  input  wire [PORTS*PW-1:0]  e_port,
  input  wire [PORTS*AW-1:0]  e_addr,
  // The first index that is not acknowledged.
  input  wire [PORTS*IDX-1:0] e_index,
  input  wire [PORTS*24-1:0]  e_msn,
  // The receiver has given up.
  input  wire [PORTS-1:0]     e_fatal,
  // The ACK names a missing index and acknowledges nothing.
  input  wire [PORTS-1:0]     e_still,

  // una cannot be written in this cycle.
  input  wire                 block,
  // Values of connection a_addr at all ports.
  output wire [AW-1:0]        a_addr,
  input  wire [PORTS*IDX-1:0] a_sent,
  input  wire [PORTS*IDX-1:0] a_una,
  // The event belongs to a connection of this port.
  output wire [PORTS-1:0]     a_valid,
  output wire [PORTS-1:0]     a_raise,
  output wire [PORTS-1:0]     a_note,
  output wire [IDX-1:0]       a_value,
  output wire [23:0]          a_msn,

  // Verdict on the oldest frame of a port that waits for one: forward it.
  output wire [PORTS-1:0]     v_valid,
  output wire                 v_ok,
  // A NAK ends the group.
  output wire                 n_valid,
  output wire [PW-1:0]        n_port,
  output wire                 idle
);

  reg             a_valid_q;
  reg [PORTS-1:0] a_from_q;
  reg [PW-1:0]    a_port_q;
  reg [AW-1:0]    a_addr_q;
  reg [IDX-1:0]   a_value_q;
  reg [23:0]      a_msn_q;
  reg             a_fatal_q;
  reg             a_still_q;

  wire             a_take = !a_valid_q || !block;
  wire [PORTS-1:0] grant;

  rf_rr_arb #(.N(PORTS)) arb (.clk(clk), .rst(rst), .req(e_valid), .take(a_take), .grant(grant));

  assign e_ready = a_take ? grant : {PORTS{1'b0}};

  always @(posedge clk)
    if (rst) a_valid_q <= 1'b0;
    else if (a_take) a_valid_q <= e_valid != {PORTS{1'b0}};

  integer p;
  always @(posedge clk)
    if (a_take && e_valid != {PORTS{1'b0}}) begin
      a_from_q <= grant;
      for (p = 0; p < PORTS; p = p + 1)
        if (grant[p]) begin
          a_port_q  <= e_port[p*PW +: PW];
          a_addr_q  <= e_addr[p*AW +: AW];
          a_value_q <= e_index[p*IDX +: IDX];
          a_msn_q   <= e_msn[p*24 +: 24];
          a_fatal_q <= e_fatal[p];
          a_still_q <= e_still[p];
        end
    end

  // a < b for serial numbers.
  function less;
    input [IDX-1:0] a;
    input [IDX-1:0] b;
    reg   [IDX-1:0] d;
    begin
      d = b - a;
      less = d != {IDX{1'b0}} && !d[IDX-1];
    end
  endfunction

  // Selection by comparison: [a_port_q*IDX +: IDX] is a multiplication if IDX is not a power of two.
  reg  [IDX-1:0] sent;
  reg  [IDX-1:0] una;
  integer        c;

  always @(*) begin
    sent = {IDX{1'b0}};
    una  = {IDX{1'b0}};
    for (c = 0; c < PORTS; c = c + 1)
      if (a_port_q == c[PW-1:0]) begin
        sent = sent | a_sent[c*IDX +: IDX];
        una  = una | a_una[c*IDX +: IDX];
      end
  end

  // A NAK that ends the connection is valid only if it concerns packets that are not acknowledged yet.
  wire           beyond = less(sent, a_value_q) || (a_fatal_q && less(a_value_q, una));
  wire           done   = a_valid_q && !block;
  wire [PORTS-1:0] target = {{PORTS-1{1'b0}}, 1'b1} << a_port_q;

  assign a_addr  = a_addr_q;
  assign a_value = a_value_q;
  assign a_valid = a_valid_q ? target : {PORTS{1'b0}};
  assign a_msn   = a_msn_q;
  assign a_raise = (done && !beyond && !a_still_q && less(una, a_value_q)) ? target : {PORTS{1'b0}};
  assign a_note  = (done && !beyond) ? target : {PORTS{1'b0}};
  assign v_valid = done ? a_from_q : {PORTS{1'b0}};
  assign v_ok    = !beyond;
  assign n_valid = done && !beyond && a_fatal_q;
  assign n_port  = a_port_q;
  assign idle    = !a_valid_q;

endmodule

`default_nettype wire
