// rf_group_errors: the latches of the groups' errors.
//
// Latency     source to g_error: 1 cycle; to the values that differ: 2. Read: 0.
// Throughput  errors of all sources in one cycle.
// Capacity    the first error of each group.
// Handshake   none.
// Reset       no error.
// Proved      tests/rtl/unit_group_regs.cpp, as part of rf_group_regs.
//
// Of several errors of a group in one cycle the priority is: a parity error (lowest port first), the judge with the
// lowest port, ranks that disagree (lowest port first), a NAK.
//
// The values that differ are kept for each port and group: those of the judge, and those of the reader. Each is written
// only while the group has no error, so the values of the source that was latched stay.

`include "rf_regs.vh"

`default_nettype none

module rf_group_errors #(
  parameter PORTS = 4,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2,
  // 1: groups may be directed.
  parameter DIRECTED = 1,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                          clk,
  input  wire                          rst,

  // Firmware clears the error; the group starts.
  input  wire                          clear_valid,
  input  wire [GW-1:0]                 clear_group,
  input  wire                          start_valid,
  input  wire [GW-1:0]                 start_group,
  output wire [GROUPS-1:0]             g_error,

  // Registers ERROR and ERROR_INDEX of a group.
  input  wire [GW-1:0]                 rd_group,
  output wire [31:0]                   rd_error,
  output wire [31:0]                   rd_error_index,
  output wire [31:0]                   rd_error_got,
  output wire [31:0]                   rd_error_want,

  // Judges.
  input  wire [PORTS*4-1:0]            judge_error,
  input  wire [PORTS*(GW+LW+PW)-1:0]   judge_conn,
  input  wire [PORTS*24-1:0]           judge_index,
  input  wire [PORTS*32-1:0]           judge_got,
  // Ranks that disagree, or whose facts had a parity error (then lost_valid, too).
  input  wire [PORTS-1:0]              bad_valid,
  input  wire [PORTS*(GW+LW)-1:0]      bad_addr,
  input  wire [PORTS*24-1:0]           bad_index,
  // One cycle later: how they differ.
  input  wire [PORTS*2-1:0]            bad_what,
  input  wire [PORTS*32-1:0]           bad_got,
  input  wire [PORTS*32-1:0]           bad_want,
  // Operands, results or facts had a parity error.
  input  wire [PORTS-1:0]              lost_valid,
  input  wire [PORTS*(GW+LW)-1:0]      lost_addr,
  input  wire [PORTS*24-1:0]           lost_index,
  // NAKs from ranks.
  input  wire                          nak_valid,
  input  wire [GW+LW+PW-1:0]           nak_conn,
  input  wire [23:0]                   nak_index
);

  localparam CW = GW + LW + PW;
  localparam AW = GW + LW;

  // Sources by priority: parity errors of each port, judges, ranks that disagree, a NAK.
  localparam SOURCES = 3 * PORTS + 1;

  wire [SOURCES-1:0]    from;
  wire [SOURCES*CW-1:0] from_conn;
  wire [SOURCES*24-1:0] from_index;
  wire [SOURCES*4-1:0]  from_cause;
  wire [GROUPS-1:0]     hit;
  wire [GROUPS*CW-1:0]  at;
  wire [GROUPS*4-1:0]   cause;
  wire [GROUPS*24-1:0]  index;

  genvar s;
  generate
    for (s = 0; s < PORTS; s = s + 1) begin : g_source
      localparam [31:0] NUMBER = s;
      wire [AW-1:0] addr = bad_addr[s*AW +: AW];

      if (PARITY != 0) begin : g_lost
        assign from[s]                = lost_valid[s];
        assign from_conn[s*CW +: CW]  = {lost_addr[s*AW +: AW], NUMBER[PW-1:0]};
        assign from_index[s*24 +: 24] = lost_index[s*24 +: 24];
      end else begin : g_kept
        wire unused_lost = &{1'b0, lost_valid[s], lost_addr[s*AW +: AW], lost_index[s*24 +: 24]};

        assign from[s]                = 1'b0;
        assign from_conn[s*CW +: CW]  = {CW{1'b0}};
        assign from_index[s*24 +: 24] = 24'd0;
      end
      assign from_cause[s*4 +: 4] = `RF_ERROR_PARITY;

      assign from[PORTS+s]                    = judge_error[s*4 +: 4] != 4'd0;
      assign from_conn[(PORTS+s)*CW +: CW]    = judge_conn[s*CW +: CW];
      assign from_index[(PORTS+s)*24 +: 24]   = judge_index[s*24 +: 24];
      assign from_cause[(PORTS+s)*4 +: 4]     = judge_error[s*4 +: 4];

      assign from[2*PORTS+s]                  = bad_valid[s];
      assign from_conn[(2*PORTS+s)*CW +: CW]  = {addr, NUMBER[PW-1:0]};
      assign from_index[(2*PORTS+s)*24 +: 24] = bad_index[s*24 +: 24];
      assign from_cause[(2*PORTS+s)*4 +: 4]   = `RF_ERROR_DISAGREE;
    end
  endgenerate

  assign from[3*PORTS]                = nak_valid;
  assign from_conn[3*PORTS*CW +: CW]  = nak_conn;
  assign from_index[3*PORTS*24 +: 24] = nak_index;
  assign from_cause[3*PORTS*4 +: 4]   = `RF_ERROR_NAK;

  // Per group the source of the highest priority in this cycle: one bit of `first`, ANDed with each source's data.
  genvar e;
  generate
    for (e = 0; e < GROUPS; e = e + 1) begin : g_latch
      localparam [31:0] NUMBER = e;
      reg [SOURCES-1:0] first;
      reg               found;
      reg [CW-1:0]      conn;
      reg [3:0]         why;
      reg [23:0]        where;
      integer           n;

      always @(*) begin
        first = {SOURCES{1'b0}};
        found = 1'b0;
        conn  = {CW{1'b0}};
        why   = 4'd0;
        where = 24'd0;
        for (n = 0; n < SOURCES; n = n + 1) begin
          first[n] = from[n] && from_conn[n*CW+LW+PW +: GW] == NUMBER[GW-1:0] && !found;
          found    = found || first[n];
          conn     = conn | ({CW{first[n]}} & from_conn[n*CW +: CW]);
          why      = why | ({4{first[n]}} & from_cause[n*4 +: 4]);
          where    = where | ({24{first[n]}} & from_index[n*24 +: 24]);
        end
      end

      assign hit[e]           = found;
      assign at[e*CW +: CW]   = conn;
      assign cause[e*4 +: 4]  = why;
      assign index[e*24 +: 24] = where;
    end
  endgenerate

  reg [GROUPS-1:0]    error_q;
  reg [GROUPS*CW-1:0] at_q;
  reg [GROUPS*4-1:0]  cause_q;
  reg [GROUPS*24-1:0] index_q;

  always @(posedge clk)
    if (rst) begin
      error_q <= {GROUPS{1'b0}};
    end else begin
      error_q <= error_q | hit;
      if (clear_valid) error_q[clear_group] <= 1'b0;
      if (start_valid) error_q[start_group] <= 1'b0;
    end

  integer h;
  always @(posedge clk)
    for (h = 0; h < GROUPS; h = h + 1)
      if (hit[h] && !error_q[h]) begin
        at_q[h*CW +: CW]    <= at[h*CW +: CW];
        cause_q[h*4 +: 4]   <= cause[h*4 +: 4];
        index_q[h*24 +: 24] <= index[h*24 +: 24];
      end

  assign g_error = error_q;

  wire [CW-1:0] rd_at    = at_q[rd_group*CW +: CW];
  wire [3:0]    rd_cause = cause_q[rd_group*4 +: 4];
  wire [1:0]    rd_what;
  wire [23:0]   rd_index = index_q[rd_group*24 +: 24];
  wire [31:0]   rd_word  = (32'd1 << `RF_GROUP_ERROR_VALID_LSB) |
                           ({28'd0, rd_cause} << `RF_GROUP_ERROR_CAUSE_LSB) |
                           ({30'd0, rd_what} << `RF_GROUP_ERROR_WHAT_LSB) |
                           ({{32-LW{1'b0}}, rd_at[PW +: LW]} << `RF_GROUP_ERROR_LANE_LSB) |
                           ({{32-PW{1'b0}}, rd_at[PW-1:0]} << `RF_GROUP_ERROR_PORT_LSB);

  assign rd_error       = error_q[rd_group] ? rd_word : 32'd0;
  assign rd_error_index = error_q[rd_group] ? {8'd0, rd_index} : 32'd0;

  // The values that differ.
  generate
    if (DIRECTED != 0) begin : g_values
      wire [PORTS*32-1:0] judge_value;
      wire [PORTS*66-1:0] bad_value;
      wire [PW-1:0]       rd_port = rd_at[PW-1:0];

      for (s = 0; s < PORTS; s = s + 1) begin : g_port
        reg          judge_q;
        reg          bad_q;
        reg [GW-1:0] judge_group_q;
        reg [GW-1:0] bad_group_q;
        reg [31:0]   judge_got_q;
        wire [GW-1:0] judge_group = judge_conn[s*CW+LW+PW +: GW];
        wire [GW-1:0] bad_group   = bad_addr[s*AW+LW +: GW];

        always @(posedge clk)
          if (rst) {bad_q, judge_q} <= 2'b00;
          else {bad_q, judge_q} <= {bad_valid[s] && !error_q[bad_group], judge_error[s*4 +: 4] != 4'd0 && !error_q[judge_group]};

        always @(posedge clk) begin
          judge_group_q <= judge_group;
          bad_group_q   <= bad_group;
          judge_got_q   <= judge_got[s*32 +: 32];
        end

        rf_ram_lut #(.WIDTH(32), .DEPTH(1 << GW)) judges (
          .clk(clk), .wr_en(judge_q), .wr_addr(judge_group_q), .wr_data(judge_got_q), .rd_addr(rd_group),
          .rd_data(judge_value[s*32 +: 32]));
        rf_ram_lut #(.WIDTH(66), .DEPTH(1 << GW)) readers (
          .clk(clk), .wr_en(bad_q), .wr_addr(bad_group_q),
          .wr_data({bad_what[s*2 +: 2], bad_got[s*32 +: 32], bad_want[s*32 +: 32]}), .rd_addr(rd_group),
          .rd_data(bad_value[s*66 +: 66]));
      end

      wire        of_judge  = error_q[rd_group] && (rd_cause == `RF_ERROR_ORDER || rd_cause == `RF_ERROR_IMMEDIATE);
      wire        of_reader = error_q[rd_group] && rd_cause == `RF_ERROR_DISAGREE;
      wire [65:0] value     = bad_value[rd_port*66 +: 66];

      assign rd_what       = of_reader ? value[65:64] : 2'd0;
      assign rd_error_got  = of_judge ? judge_value[rd_port*32 +: 32] : of_reader ? value[63:32] : 32'd0;
      assign rd_error_want = of_reader ? value[31:0] : 32'd0;
    end else begin : g_no_values
      wire unused_values = &{1'b0, judge_got, bad_what, bad_got, bad_want};

      assign rd_what       = 2'd0;
      assign rd_error_got  = 32'd0;
      assign rd_error_want = 32'd0;
    end
  endgenerate

  wire unused_bits = &{1'b0, rd_at};

endmodule

`default_nettype wire
