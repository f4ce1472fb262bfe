// rf_held: presents to firmware the connections whose frames were held back, one frame at a time; one more per port
// waits.
//
// Latency     2 cycles from h_valid to valid if no frame waits.
// Throughput  one frame per port and cycle. More frames of a connection that waits already need no place; a frame of
//             another connection is missed if its port's place is taken.
// Capacity    one frame shown, one per port waiting.
// Handshake   none towards the ports. pop releases the frame shown; the waiting ports take turns.
// Reset       discards all frames.
// Proved      tests/rtl/unit_held.cpp; tests/formal/held.proof: a held frame is shown, waits, or sets missed.

`default_nettype none

module rf_held #(
  parameter PORTS = 4,
  // Bits of an address and of a QPN; smaller only in proofs.
  parameter IP_W = 32,
  parameter QPN_W = 24
) (
  input  wire               clk,
  input  wire               rst,

  // Frames that were held, by port.
  input  wire [PORTS-1:0]    h_valid,
  input  wire [PORTS*IP_W-1:0] h_ip,
  input  wire [PORTS*IP_W-1:0] h_src,
  input  wire [PORTS*QPN_W-1:0] h_qpn,

  input  wire               pop,
  output wire               valid,
  // Since the last pop a frame was discarded whose connection neither waits nor is shown.
  output wire               missed,
  output wire [2:0]         port,
  output wire [IP_W-1:0]    ip,
  output wire [IP_W-1:0]    src,
  output wire [QPN_W-1:0]   qpn
);

  localparam KW = IP_W + QPN_W;
  localparam FW = KW + IP_W;

  reg  [PORTS-1:0]    wait_q;
  reg  [PORTS*FW-1:0] frame_q;
  reg                 valid_q;
  reg                 missed_q;
  reg  [2:0]          port_q;
  reg  [FW-1:0]       shown_q;

  wire [PORTS-1:0] grant;
  wire             take = !valid_q && wait_q != {PORTS{1'b0}};
  wire [PORTS-1:0] goes = take ? grant : {PORTS{1'b0}};
  wire [PORTS-1:0] known;
  wire [PORTS-1:0] lost = h_valid & ~known & wait_q & ~goes;

  rf_rr_arb #(.N(PORTS)) arb (.clk(clk), .rst(rst), .req(wait_q), .take(take), .grant(grant));

  genvar p;
  generate
    for (p = 0; p < PORTS; p = p + 1) begin : g_port
      wire [KW-1:0] key = {h_ip[IP_W*p +: IP_W], h_qpn[QPN_W*p +: QPN_W]};

      // A frame popped in this cycle still matches: firmware has read it.
      assign known[p] = (valid_q && key == shown_q[KW-1:0]) || (wait_q[p] && key == frame_q[FW*p +: KW]);

      always @(posedge clk)
        if (rst) wait_q[p] <= 1'b0;
        else if (h_valid[p] && !known[p]) wait_q[p] <= 1'b1;
        else if (goes[p]) wait_q[p] <= 1'b0;

      always @(posedge clk)
        if (h_valid[p] && !known[p] && (!wait_q[p] || goes[p])) frame_q[FW*p +: FW] <= {h_src[IP_W*p +: IP_W], key};
    end
  endgenerate

  reg [FW-1:0] frame;
  reg [2:0]    from;
  integer      k;

  always @(*) begin
    frame = {FW{1'b0}};
    from  = 3'd0;
    for (k = 0; k < PORTS; k = k + 1)
      if (grant[k]) begin
        frame = frame | frame_q[FW*k +: FW];
        from  = from | k[2:0];
      end
  end

  always @(posedge clk)
    if (rst) valid_q <= 1'b0;
    else if (take) valid_q <= 1'b1;
    else if (pop) valid_q <= 1'b0;

  always @(posedge clk)
    if (rst) missed_q <= 1'b0;
    else if (lost != {PORTS{1'b0}}) missed_q <= 1'b1;
    else if (pop) missed_q <= 1'b0;

  always @(posedge clk)
    if (take) begin
      shown_q <= frame;
      port_q  <= from;
    end

  assign valid  = valid_q;
  assign missed = missed_q;
  assign port   = port_q;
  assign {src, ip, qpn} = shown_q;

`ifdef FORMAL
`include "held.vh"
`endif

endmodule

`default_nettype wire
