// rf_sched_fair: fairness of the scheduler: which first sendings are due, and which group starves and gets its ports
// reserved.
//
// Latency     start to owed: 2 cycles, to reserved: 3. They may lag, because no group of the block is checked in the
//             two cycles after a start.
// Throughput  one checked candidate per cycle.
// Capacity    none.
// Handshake   none.
// Reset       nothing is due, no port is reserved.
// Proved      tests/rtl/unit_sched.cpp.

`default_nettype none

module rf_sched_fair #(
  parameter PORTS = 4,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter PW = 2,
  // Entries of a group from the queues before its first sending is due.
  parameter QUEUED = 31,
  // Packets of other groups that may pass a group on one of its ports before it starves.
  parameter PASSED_MAX = 7
) (
  input  wire                    clk,
  input  wire                    rst,

  input  wire [GROUPS*PORTS-1:0] g_block,
  // Groups with a first sending to start; those of which a packet has lanes to come.
  input  wire [GROUPS-1:0]       waits,
  input  wire [GROUPS-1:0]       midway,
  // Entries at the outputs of the queues, by group (rf_sched_pick).
  input  wire [GROUPS*PORTS-1:0] fronts,

  // The candidate that is checked: a first sending (or a further lane), or the entry at a port's queue.
  input  wire                    first,
  input  wire                    queued,
  input  wire [GW-1:0]           group,
  input  wire [PW-1:0]           port,
  input  wire [PORTS-1:0]        block,
  // It starts; a first sending, an entry lacks room.
  input  wire                    go_first,
  input  wire                    go_queued,
  input  wire                    first_stuck,
  input  wire                    queued_stuck,

  // Groups that have sent QUEUED entries while a first sending was ready, and that were not stuck.
  output wire [GROUPS-1:0]       owed,
  // The starved group with the lowest number; its ports.
  output wire [GROUPS-1:0]       reserved,
  output wire [PORTS-1:0]        reserved_ports,
  output wire                    idle
);

  wire [GROUPS-1:0] ready = waits & ~midway;

  // A group was checked and lacked room at a port; a repeat lacked room at its port. A group may be checked too rarely
  // for its `stuck` bit to be updated, so all these bits are cleared from time to time.
  reg  [GROUPS-1:0] stuck_q;
  reg  [PORTS-1:0]  q_stuck_q;
  reg  [7:0]        stuck_age_q;

  always @(posedge clk)
    if (rst) stuck_age_q <= 8'd0;
    else stuck_age_q <= stuck_age_q + 8'd1;

  // Selection by comparison: an index on the left side becomes a subtraction.
  integer n;
  always @(posedge clk)
    for (n = 0; n < GROUPS; n = n + 1)
      if (rst || stuck_age_q == 8'd0) stuck_q[n] <= 1'b0;
      else if (first && !midway[n] && group == n[GW-1:0]) stuck_q[n] <= first_stuck;

  integer q;
  always @(posedge clk)
    for (q = 0; q < PORTS; q = q + 1)
      if (rst) q_stuck_q[q] <= 1'b0;
      else if (queued && port == q[PW-1:0]) q_stuck_q[q] <= queued_stuck;

  // The start, one cycle later.
  reg              begun_first_q;
  reg              begun_queued_q;
  reg  [GW-1:0]    begun_group_q;
  reg  [PORTS-1:0] begun_block_q;

  always @(posedge clk)
    if (rst) begin
      begun_first_q  <= 1'b0;
      begun_queued_q <= 1'b0;
    end else begin
      begun_first_q  <= go_first;
      begun_queued_q <= go_queued;
    end

  always @(posedge clk)
    if (first || queued) begin
      begun_group_q <= group;
      begun_block_q <= block;
    end

  assign idle = !begun_first_q && !begun_queued_q;

  // Entries of each group sent from the queues since its last first sending, while a first sending was ready; packets
  // of other groups that passed each group on one of its ports.
  reg  [GROUPS-1:0] owed_q;
  reg  [GROUPS-1:0] passed_over_q;
  genvar t;
  generate
    for (t = 0; t < GROUPS; t = t + 1) begin : g_count
      localparam [31:0] NUMBER = t;
      reg  [5:0] sent_q;
      reg  [5:0] passed_q;
      wire       begun = begun_first_q || begun_queued_q;
      wire       mine  = begun_group_q == NUMBER[GW-1:0];
      wire       asks  = ready[t] || fronts[t*PORTS +: PORTS] != {PORTS{1'b0}};

      always @(posedge clk)
        if (rst || !waits[t] || (begun_first_q && mine)) begin
          sent_q    <= 6'd0;
          owed_q[t] <= 1'b0;
        end else if (begun_queued_q && mine && !owed_q[t]) begin
          sent_q    <= sent_q + 6'd1;
          owed_q[t] <= {26'd0, sent_q} + 32'd1 >= QUEUED;
        end

      always @(posedge clk)
        if (rst || !asks || (begun && mine)) begin
          passed_q         <= 6'd0;
          passed_over_q[t] <= 1'b0;
        end else if (begun && (g_block[t*PORTS +: PORTS] & begun_block_q) != {PORTS{1'b0}} && !passed_over_q[t]) begin
          passed_q         <= passed_q + 6'd1;
          passed_over_q[t] <= {26'd0, passed_q} + 32'd1 >= PASSED_MAX;
        end
    end
  endgenerate

  assign owed = owed_q & ~stuck_q;

  // The starved group with the lowest number has its ports reserved.
  reg  [GROUPS-1:0] starved;
  wire [GROUPS-1:0] chosen = starved & (~starved + 1'b1);
  reg  [PORTS-1:0]  chosen_ports;
  reg  [GROUPS-1:0] reserved_q;
  reg  [PORTS-1:0]  reserved_ports_q;
  integer           h;
  integer           o;

  always @(*) begin
    for (h = 0; h < GROUPS; h = h + 1)
      starved[h] = passed_over_q[h] && !midway[h] &&
                   ((ready[h] && !stuck_q[h]) || (fronts[h*PORTS +: PORTS] & ~q_stuck_q) != {PORTS{1'b0}});
    chosen_ports = {PORTS{1'b0}};
    for (o = 0; o < GROUPS; o = o + 1)
      if (chosen[o]) chosen_ports = chosen_ports | g_block[o*PORTS +: PORTS];
  end

  always @(posedge clk)
    if (rst) begin
      reserved_q       <= {GROUPS{1'b0}};
      reserved_ports_q <= {PORTS{1'b0}};
    end else begin
      reserved_q       <= chosen;
      reserved_ports_q <= chosen_ports;
    end

  assign reserved       = reserved_q;
  assign reserved_ports = reserved_ports_q;

endmodule

`default_nettype wire
