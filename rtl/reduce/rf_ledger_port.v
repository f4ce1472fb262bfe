// rf_ledger_port: the part of the ledger that belongs to one port: next, sent and una of its connections, its port heads.
//
// Latency     reads: combinational. Writes are seen from the next cycle on.
// Throughput  one judged packet, one commit, one sending and one ACK per cycle.
// Capacity    GROUPS groups of LANES connections.
// Handshake   init_valid may come only in a cycle without accepted packet, commit, sending or ACK (rf_ledger sees to it).
// Reset       port heads. The rest is unknown until init.
// Proved      tests/formal/ledger.vh, with rf_ledger.
//
// A connection is named by {group, lane}. `next` counts what has been accepted, `stored` follows it when the payload begins
// to be copied into the bank: only `stored` may move the head, or a pass could overtake the copy. The port head of a group
// is the smallest `stored` of its members here. It grows by one when its last lane leaves it: another lane cannot have
// been behind, so no minimum is computed.

module rf_ledger_port #(
  // Bits of an index.
  parameter IDX = 24,
  parameter GROUPS = 8,
  parameter LANES = 1,
  parameter GW = 3,
  parameter LW = 1
) (
  input  wire                 clk,
  input  wire                 rst,

  // A group begins: its port head becomes 0.
  input  wire                 start_valid,
  input  wire [GW-1:0]        start_group,
  // A connection begins: next, sent, una, msn become 0.
  input  wire                 init_valid,
  input  wire [GW+LW-1:0]     init_addr,

  // Judge: values of a connection; with j_valid a packet that is next is accepted.
  input  wire                 j_valid,
  input  wire [GW+LW-1:0]     j_addr,
  input  wire [IDX-1:0]       j_index,
  // tail + S of the group.
  input  wire [IDX-1:0]       j_limit,
  output wire [IDX-1:0]       j_next,
  output wire [IDX-1:0]       j_sent,
  output wire [IDX-1:0]       j_una,
  output wire                 j_far,
  output wire [23:0]          j_msn,
  output wire                 j_accept,

  // Commit: the copy of the connection's next packet begins.
  input  wire                 c_valid,
  input  wire [GW+LW-1:0]     c_addr,
  // Lanes of that group that have a rank at this port.
  input  wire [LANES-1:0]     c_members,

  // Head unit: port head of a group.
  input  wire [GW-1:0]        h_group,
  output wire [IDX-1:0]       h_head,

  // A first sending begins: sent becomes s_value, in open loop una too.
  input  wire                 s_valid,
  input  wire [GW+LW-1:0]     s_addr,
  input  wire [IDX-1:0]       s_value,
  input  wire                 s_open,

  // ACK.
  input  wire [GW+LW-1:0]     a_addr,
  output wire [IDX-1:0]       a_sent,
  output wire [IDX-1:0]       a_una,
  input  wire                 a_raise,
  input  wire [IDX-1:0]       a_value,
  input  wire                 a_note,
  input  wire [23:0]          a_msn,

  // Repeats: values of a connection.
  input  wire [GW+LW-1:0]     r_addr,
  output wire [IDX-1:0]       r_sent,
  output wire [IDX-1:0]       r_una,

  // Tail unit.
  input  wire [GW+LW-1:0]     t_addr,
  output wire [IDX-1:0]       t_una,

  // Registers.
  input  wire [GW+LW-1:0]     x_addr,
  output wire [IDX-1:0]       x_next,
  output wire [IDX-1:0]       x_sent,
  output wire [IDX-1:0]       x_una,
  output wire [23:0]          x_msn
`ifdef FORMAL
  ,
  output wire [LANES*IDX-1:0] f_stored,
  output wire [IDX-1:0]       f_head
`endif
);

  localparam AW    = GW + LW;

  // next: read by the judge and by the registers.
  wire           next_we   = init_valid || (j_valid && j_accept);
  wire [AW-1:0]  next_addr = init_valid ? init_addr : j_addr;
  wire [IDX-1:0] next_data = init_valid ? {IDX{1'b0}} : j_next + 1'b1;

  assign j_accept = j_index == j_next && j_next != j_limit;

  rf_ram_many #(.WIDTH(IDX), .AW(AW), .READS(2)) nexts (
    .clk(clk), .wr_en(next_we), .wr_addr(next_addr), .wr_data(next_data), .rd_addr({j_addr, x_addr}),
    .rd_data({j_next, x_next}));

  // sent.
  wire           sent_we   = init_valid || s_valid;
  wire [AW-1:0]  sent_addr = init_valid ? init_addr : s_addr;
  wire [IDX-1:0] sent_data = init_valid ? {IDX{1'b0}} : s_value;

  rf_ram_many #(.WIDTH(IDX), .AW(AW), .READS(4)) sents (
    .clk(clk), .wr_en(sent_we), .wr_addr(sent_addr), .wr_data(sent_data),
    .rd_addr({j_addr, a_addr, r_addr, x_addr}), .rd_data({j_sent, a_sent, r_sent, x_sent}));

  // una: an ACK never comes in the cycle of an open-loop sending.
  wire           s_una    = s_valid && s_open;
  wire           una_we   = init_valid || s_una || a_raise;
  wire [AW-1:0]  una_addr = init_valid ? init_addr : s_una ? s_addr : a_addr;
  wire [IDX-1:0] una_data = init_valid ? {IDX{1'b0}} : s_una ? s_value : a_value;

  rf_ram_many #(.WIDTH(IDX), .AW(AW), .READS(5)) unas (
    .clk(clk), .wr_en(una_we), .wr_addr(una_addr), .wr_data(una_data),
    .rd_addr({j_addr, a_addr, r_addr, t_addr, x_addr}), .rd_data({j_una, a_una, r_una, t_una, x_una}));

  // una has once reached a quarter of the index range (2^22): sticky, so it is only ever written with 1 or by init.
  wire far_we = init_valid || ((s_una || a_raise) && una_data[IDX-1:IDX-2] != 2'b00);

  rf_ram_lut #(.WIDTH(1), .DEPTH(1 << AW)) far_j (
    .clk(clk), .wr_en(far_we), .wr_addr(una_addr), .wr_data(!init_valid), .rd_addr(j_addr), .rd_data(j_far));

  // MSN of the receiver's last ACK.
  wire          msn_we   = init_valid || a_note;
  wire [AW-1:0] msn_addr = init_valid ? init_addr : a_addr;
  wire [23:0]   msn_data = init_valid ? 24'd0 : a_msn;

  rf_ram_many #(.WIDTH(24), .AW(AW), .READS(2)) msns (
    .clk(clk), .wr_en(msn_we), .wr_addr(msn_addr), .wr_data(msn_data), .rd_addr({j_addr, x_addr}),
    .rd_data({j_msn, x_msn}));

  // Port heads, and `stored` of all lanes of the group that commits.
  reg [IDX-1:0] head_q [0:GROUPS-1];

  wire [GW-1:0]    c_group = c_addr[AW-1:LW];
  wire [LW-1:0]    c_lane  = c_addr[LW-1:0];
  wire [IDX-1:0]   c_head  = head_q[c_group];
  wire [LANES-1:0] behind;
  wire             advance = c_valid && behind == {LANES{1'b0}};

  assign h_head = head_q[h_group];

  genvar l;
  generate
    for (l = 0; l < LANES; l = l + 1) begin : g_lane
      localparam [31:0] NUMBER = l;
      wire           mine      = c_lane == NUMBER[LW-1:0];
      wire           init_here = init_valid && init_addr[LW-1:0] == NUMBER[LW-1:0];
      wire           we        = init_here || (c_valid && mine);
      wire [GW-1:0]  addr      = init_here ? init_addr[AW-1:LW] : c_group;
      wire [IDX-1:0] stored;

      rf_ram_lut #(.WIDTH(IDX), .DEPTH(1 << GW)) stored_c (
        .clk(clk), .wr_en(we), .wr_addr(addr), .wr_data(init_here ? {IDX{1'b0}} : stored + 1'b1),
        .rd_addr(c_group), .rd_data(stored));

      assign behind[l] = c_members[l] && !mine && stored == c_head;
`ifdef FORMAL
      assign f_stored[l*IDX +: IDX] = stored;
`endif
    end
  endgenerate

  integer g;

  always @(posedge clk)
    if (rst) begin
      for (g = 0; g < GROUPS; g = g + 1) head_q[g] <= {IDX{1'b0}};
    end else begin
      if (advance) head_q[c_group] <= c_head + 1'b1;
      if (start_valid) head_q[start_group] <= {IDX{1'b0}};
    end

`ifdef FORMAL
  assign f_head = head_q[0];
`endif

endmodule
