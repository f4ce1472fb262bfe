// rf_ledger_head: advances the heads of the groups: index by index, when every member port has passed the index.
//
// Latency     commit to head: 2 cycles if no other group is waiting.
// Throughput  one group is processed per cycle; the head of a single active group advances by one index in 2 cycles.
// Capacity    none: a group that waits is one bit.
// Handshake   none.
// Reset       no group is being processed, heads are 0.
// Proved      tests/formal/ledger.vh, as part of rf_ledger.

`default_nettype none

module rf_ledger_head #(
  parameter IDX = 24,
  parameter PORTS = 4,
  parameter GROUPS = 8,
  parameter GW = 3
) (
  input  wire                  clk,
  input  wire                  rst,

  input  wire                  start_valid,
  input  wire [GW-1:0]         start_group,
  // Groups in which a packet was committed in this cycle, or a runner took a step in the one before it.
  input  wire [GROUPS-1:0]     mark,
  // Ports with at least one rank, per group.
  input  wire [GROUPS*PORTS-1:0] g_ports,

  // The group being processed and its port heads.
  output wire [GW-1:0]         look_group,
  input  wire [PORTS*IDX-1:0]  look_heads,

  output wire [GROUPS*IDX-1:0] g_head,
  output wire                  idle
);

  reg [GROUPS-1:0] wait_q;
  reg [GROUPS-1:0] look_q;
  reg [GW-1:0]     look_group_q;
  reg              look_valid_q;
  reg [IDX-1:0]    head_q [0:GROUPS-1];

  wire [GROUPS-1:0] pool = wait_q | mark;
  wire [GROUPS-1:0] grant;

  rf_rr_arb #(.N(GROUPS)) arb (.clk(clk), .rst(rst), .req(pool), .take(1'b1), .grant(grant));

  function [GW-1:0] encode;
    input [GROUPS-1:0] onehot;
    integer n;
    begin
      encode = {GW{1'b0}};
      for (n = 0; n < GROUPS; n = n + 1)
        if (onehot[n]) encode = encode | n[GW-1:0];
    end
  endfunction

  assign look_group = look_group_q;
  assign idle       = !look_valid_q && wait_q == {GROUPS{1'b0}};

  wire [IDX-1:0]   head    = head_q[look_group_q];
  wire [PORTS-1:0] members = g_ports[look_group_q * PORTS +: PORTS];
  reg  [PORTS-1:0] beyond;

  integer p;
  always @(*) begin
    for (p = 0; p < PORTS; p = p + 1)
      beyond[p] = look_heads[p*IDX +: IDX] != head;
  end

  wire advance = look_valid_q && members != {PORTS{1'b0}} && (~members | beyond) == {PORTS{1'b1}};

  always @(posedge clk)
    if (rst) look_valid_q <= 1'b0;
    else look_valid_q <= pool != {GROUPS{1'b0}};

  always @(posedge clk)
    if (pool != {GROUPS{1'b0}}) begin
      look_q       <= grant;
      look_group_q <= encode(grant);
    end

  // A group that has advanced may be able to advance again.
  always @(posedge clk)
    if (rst) wait_q <= {GROUPS{1'b0}};
    else wait_q <= (pool & ~grant) | (advance ? look_q : {GROUPS{1'b0}});

  integer g;
  always @(posedge clk)
    if (rst) begin
      for (g = 0; g < GROUPS; g = g + 1) head_q[g] <= {IDX{1'b0}};
    end else begin
      if (advance) head_q[look_group_q] <= head + 1'b1;
      if (start_valid) head_q[start_group] <= {IDX{1'b0}};
    end

  genvar n;
  generate
    for (n = 0; n < GROUPS; n = n + 1) begin : g_out
      assign g_head[n*IDX +: IDX] = head_q[n];
    end
  endgenerate

`ifdef FORMAL
`include "ledger_head.vh"
`endif

endmodule

`default_nettype wire
