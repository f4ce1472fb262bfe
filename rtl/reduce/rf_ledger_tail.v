// rf_ledger_tail: finds the tails of the groups: the smallest una of all members, limited by the passes that still
// read.
//
// Latency     from the una that changed to the tail: lanes in use + 5 cycles, after the groups that wait already.
// Throughput  one lane of all ports per cycle.
// Capacity    none: a group that waits is one bit.
// Handshake   none.
// Reset       tails are 0; limits are S of the group at its start.
// Proved      tests/formal/ledger.vh, as part of rf_ledger.
//
// The tail may lag. Therefore the una values are read one lane after the other while they change: each only grows, so
// their minimum at any time is at least the minimum found. A pass that begins after the una values were read has an
// index >= the una that its own connection had in the cycle before, hence >= the minimum found. The holds protect the
// older passes.

`default_nettype none

module rf_ledger_tail #(
  parameter IDX = 24,
  parameter PORTS = 4,
  parameter LANES = 1,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1
) (
  input  wire                          clk,
  input  wire                          rst,

  input  wire                          start_valid,
  input  wire [GW-1:0]                 start_group,
  // Groups in which an una advanced or a pass ended in this cycle.
  input  wire [GROUPS-1:0]             mark,
  input  wire [GROUPS*4-1:0]           g_size_log2,
  input  wire [GROUPS*5-1:0]           g_lanes,
  // Bit (group * LANES + lane) * PORTS + port.
  input  wire [GROUPS*LANES*PORTS-1:0] g_members,

  // Ports at which the connection exists.
  output wire [PORTS-1:0]              scan_valid,
  output wire [GW+LW-1:0]              scan_addr,
  input  wire [PORTS*IDX-1:0]          scan_una,

  // Indexes of the passes of each group that still read slots.
  input  wire [GROUPS*2-1:0]           hold_valid,
  input  wire [GROUPS*2*IDX-1:0]       hold_index,

  output wire [GROUPS*IDX-1:0]         g_tail,
  output wire [GROUPS*IDX-1:0]         g_limit,
  output wire                          idle
`ifdef FORMAL
  ,
  // Values in progress: {valid, group, lane or last, minimum}.
  output wire                          f_wait,
  output wire                          f_scan,
  output wire [GW+LW-1:0]              f_scan_at,
  output wire                          f1_valid,
  output wire                          f1_first,
  output wire                          f1_last,
  output wire [GW-1:0]                 f1_group,
  output wire [(PORTS+1)/2*(IDX+1)-1:0] f1_pairs,
  output wire                          f2_valid,
  output wire                          f2_first,
  output wire                          f2_last,
  output wire [GW-1:0]                 f2_group,
  output wire [IDX:0]                  f2_least,
  output wire                          f3_valid,
  output wire [GW-1:0]                 f3_group,
  output wire [IDX:0]                  f3_least,
  output wire                          f4_valid,
  output wire [GW-1:0]                 f4_group,
  output wire [IDX-1:0]                f4_least,
  output wire [IDX:0]                  f4_hold
`endif
);

  function less;
    input [IDX-1:0] a;
    input [IDX-1:0] b;
    reg   [IDX-1:0] d;
    begin
      d = a - b;
      less = d[IDX-1];
    end
  endfunction

  // Minimum of two optional values; bit IDX is their valid bit.
  function [IDX:0] least;
    input [IDX:0] a;
    input [IDX:0] b;
    least = (b[IDX] && (!a[IDX] || less(b[IDX-1:0], a[IDX-1:0]))) ? b : a;
  endfunction

  reg [IDX-1:0] tail_q  [0:GROUPS-1];
  reg [IDX-1:0] limit_q [0:GROUPS-1];

  // Selection of the group.
  reg [GROUPS-1:0]  wait_q;
  reg               scan_q;
  reg [GW-1:0]      scan_group_q;
  reg [LW-1:0]      scan_lane_q;
  wire [GROUPS-1:0] grant;
  wire [31:0]       lanes     = {27'd0, g_lanes[scan_group_q*5 +: 5]};
  wire              scan_last = {{32-LW{1'b0}}, scan_lane_q} + 32'd1 >= lanes;
  wire              choose    = wait_q != {GROUPS{1'b0}} && (!scan_q || scan_last);

  rf_rr_arb #(.N(GROUPS)) arb (.clk(clk), .rst(rst), .req(wait_q), .take(choose), .grant(grant));

  function [GW-1:0] encode;
    input [GROUPS-1:0] onehot;
    integer n;
    begin
      encode = {GW{1'b0}};
      for (n = 0; n < GROUPS; n = n + 1)
        if (onehot[n]) encode = encode | n[GW-1:0];
    end
  endfunction

  always @(posedge clk)
    if (rst) wait_q <= {GROUPS{1'b0}};
    else wait_q <= (wait_q & ~(choose ? grant : {GROUPS{1'b0}})) | mark;

  always @(posedge clk)
    if (rst) scan_q <= 1'b0;
    else if (choose) scan_q <= 1'b1;
    else if (scan_last) scan_q <= 1'b0;

  always @(posedge clk)
    if (choose) begin
      scan_group_q <= encode(grant);
      scan_lane_q  <= {LW{1'b0}};
    end else if (scan_q) begin
      scan_lane_q  <= scan_lane_q + 1'b1;
    end

  assign scan_addr = {scan_group_q, scan_lane_q};

  // Stage 1: the minimum of each pair of ports.
  localparam PAIRS = (PORTS + 1) / 2;

  reg                   s1_valid_q;
  reg                   s1_last_q;
  reg                   s1_first_q;
  reg [GW-1:0]          s1_group_q;
  reg [PAIRS*(IDX+1)-1:0] s1_pair_q;

  wire [PORTS-1:0] members =
    g_members[({{32-GW{1'b0}}, scan_group_q} * LANES + {{32-LW{1'b0}}, scan_lane_q}) * PORTS +: PORTS];

  assign scan_valid = scan_q ? members : {PORTS{1'b0}};

  always @(posedge clk)
    if (rst) s1_valid_q <= 1'b0;
    else s1_valid_q <= scan_q;

  integer k;
  always @(posedge clk)
    if (scan_q) begin
      s1_last_q  <= scan_last;
      s1_first_q <= scan_lane_q == {LW{1'b0}};
      s1_group_q <= scan_group_q;
      for (k = 0; k < PAIRS; k = k + 1)
        if (2*k + 1 < PORTS)
          s1_pair_q[k*(IDX+1) +: IDX+1] <= least({members[2*k], scan_una[2*k*IDX +: IDX]},
                                                 {members[(2*k+1) % PORTS], scan_una[((2*k+1) % PORTS)*IDX +: IDX]});
        else
          s1_pair_q[k*(IDX+1) +: IDX+1] <= {members[2*k], scan_una[2*k*IDX +: IDX]};
    end

  // Stage 2: of all ports. Stage 3: of all lanes so far.
  reg           s2_valid_q;
  reg           s2_last_q;
  reg           s2_first_q;
  reg [GW-1:0]  s2_group_q;
  reg [IDX:0]   s2_least_q;
  reg [IDX:0]   s2_least_d;

  integer n;
  always @(*) begin
    s2_least_d = {IDX+1{1'b0}};
    for (n = 0; n < PAIRS; n = n + 1)
      s2_least_d = least(s2_least_d, s1_pair_q[n*(IDX+1) +: IDX+1]);
  end

  always @(posedge clk)
    if (rst) s2_valid_q <= 1'b0;
    else s2_valid_q <= s1_valid_q;

  always @(posedge clk)
    if (s1_valid_q) begin
      s2_last_q  <= s1_last_q;
      s2_first_q <= s1_first_q;
      s2_group_q <= s1_group_q;
      s2_least_q <= s2_least_d;
    end

  reg           s3_valid_q;
  reg [GW-1:0]  s3_group_q;
  reg [IDX:0]   s3_least_q;

  always @(posedge clk)
    if (rst) s3_valid_q <= 1'b0;
    else s3_valid_q <= s2_valid_q && s2_last_q;

  always @(posedge clk)
    if (s2_valid_q) begin
      s3_group_q <= s2_group_q;
      s3_least_q <= s2_first_q ? s2_least_q : least(s3_least_q, s2_least_q);
    end

  // Stage 4: limited by the passes.
  reg           s4_valid_q;
  reg [GW-1:0]  s4_group_q;
  reg [IDX-1:0] s4_least_q;
  reg [IDX:0]   s4_hold_q;

  // Selection by comparison: [s3_group_q*2*IDX +: IDX] is a multiplication if IDX is not a power of two.
  reg  [IDX:0] s3_hold;
  reg  [IDX:0] s3_young;
  integer      c;

  always @(*) begin
    s3_hold  = {IDX+1{1'b0}};
    s3_young = {IDX+1{1'b0}};
    for (c = 0; c < GROUPS; c = c + 1)
      if (s3_group_q == c[GW-1:0]) begin
        s3_hold  = s3_hold | {hold_valid[2*c], hold_index[2*c*IDX +: IDX]};
        s3_young = s3_young | {hold_valid[2*c+1], hold_index[(2*c+1)*IDX +: IDX]};
      end
  end

  wire [IDX:0] s3_least = least(s3_least_q, s3_hold);

  always @(posedge clk)
    if (rst) s4_valid_q <= 1'b0;
    else s4_valid_q <= s3_valid_q && s3_least[IDX];

  always @(posedge clk)
    if (s3_valid_q) begin
      s4_group_q <= s3_group_q;
      s4_least_q <= s3_least[IDX-1:0];
      s4_hold_q  <= s3_young;
    end

  wire [IDX-1:0] s4_tail =
    (s4_hold_q[IDX] && less(s4_hold_q[IDX-1:0], s4_least_q)) ? s4_hold_q[IDX-1:0] : s4_least_q;

  integer g;
  always @(posedge clk)
    if (rst) begin
      for (g = 0; g < GROUPS; g = g + 1) begin
        tail_q[g]  <= {IDX{1'b0}};
        limit_q[g] <= {IDX{1'b0}};
      end
    end else begin
      if (s4_valid_q) begin
        tail_q[s4_group_q]  <= s4_tail;
        limit_q[s4_group_q] <= s4_tail + ({{IDX-1{1'b0}}, 1'b1} << g_size_log2[s4_group_q*4 +: 4]);
      end
      if (start_valid) begin
        tail_q[start_group]  <= {IDX{1'b0}};
        limit_q[start_group] <= {{IDX-1{1'b0}}, 1'b1} << g_size_log2[start_group*4 +: 4];
      end
    end

  assign idle = wait_q == {GROUPS{1'b0}} && !scan_q && !s1_valid_q && !s2_valid_q && !s3_valid_q && !s4_valid_q;

  genvar o;
  generate
    for (o = 0; o < GROUPS; o = o + 1) begin : g_out
      assign g_tail[o*IDX +: IDX]  = tail_q[o];
      assign g_limit[o*IDX +: IDX] = limit_q[o];
    end
  endgenerate

`ifdef FORMAL
  assign f_wait    = wait_q != {GROUPS{1'b0}};
  assign f_scan    = scan_q;
  assign f_scan_at = scan_addr;
  assign f1_valid  = s1_valid_q;
  assign f1_first  = s1_first_q;
  assign f1_last   = s1_last_q;
  assign f1_group  = s1_group_q;
  assign f1_pairs  = s1_pair_q;
  assign f2_valid  = s2_valid_q;
  assign f2_first  = s2_first_q;
  assign f2_last   = s2_last_q;
  assign f2_group  = s2_group_q;
  assign f2_least  = s2_least_q;
  assign f3_valid  = s3_valid_q;
  assign f3_group  = s3_group_q;
  assign f3_least  = s3_least_q;
  assign f4_valid  = s4_valid_q;
  assign f4_group  = s4_group_q;
  assign f4_least  = s4_least_q;
  assign f4_hold   = s4_hold_q;
`endif

endmodule

`default_nettype wire
