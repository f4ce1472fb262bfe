// rf_group_regs: the registers of the groups and the latches of their errors.
//
// Latency     write: effective 1 cycle after wr_en, LIVE 2 cycles, values derived from it (g_block, g_ports, g_ref) 2
//             cycles. Read: 0.
// Throughput  one access per cycle.
// Capacity    GROUPS groups.
// Handshake   none.
// Reset       all registers zero: no group live, no error.
// Proved      tests/rtl/unit_group_regs.cpp; tests/rtl/core.
//
// The first error of a group is latched. Of several in one cycle the priority is: a parity error (lowest port first),
// the judge with the lowest port, ranks that disagree (lowest port first), a NAK.

`include "rf_regs.vh"

`default_nettype none

module rf_group_regs #(
  parameter PORTS = 4,
  parameter LANES = 1,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                          clk,
  input  wire                          rst,

  // Write of a register of an existing group: offset in the group's block.
  input  wire                          wr_en,
  input  wire [GW-1:0]                 wr_group,
  input  wire [5:0]                    wr_offset,
  input  wire [31:0]                   wr_data,
  // Read; HEAD, TAIL, ISSUED are read elsewhere.
  input  wire [GW-1:0]                 rd_group,
  input  wire [5:0]                    rd_offset,
  output reg  [31:0]                   rd_data,

  // LIVE goes from 0 to 1.
  output wire                          start_valid,
  output wire [GW-1:0]                 start_group,
  output wire [GROUPS-1:0]             g_live,
  output wire [GROUPS-1:0]             g_error,
  // Changes with each start of the group.
  output wire [GROUPS-1:0]             g_life,
  output wire [GROUPS*32-1:0]          g_cfg,
  output wire [GROUPS*32-1:0]          g_dbase,
  output wire [GROUPS*32-1:0]          g_hbase,
  output wire [GROUPS*5-1:0]           g_straggler,
  // Bit (group * LANES + lane) * PORTS + port.
  output wire [GROUPS*LANES*PORTS-1:0] g_members,
  // Ports with a rank; ports of the group's block; lowest member port of lane 0.
  output wire [GROUPS*PORTS-1:0]       g_ports,
  output wire [GROUPS*PORTS-1:0]       g_block,
  output wire [GROUPS*PW-1:0]          g_ref,

  input  wire [PORTS*3-1:0]            judge_error,
  input  wire [PORTS*(GW+LW+PW)-1:0]   judge_conn,
  input  wire [PORTS*24-1:0]           judge_index,
  input  wire [PORTS-1:0]              bad_valid,
  input  wire [PORTS*(GW+LW)-1:0]      bad_addr,
  // The facts of the rank had a parity error: PARITY, else DISAGREE.
  input  wire [PORTS-1:0]              bad_parity,
  input  wire [PORTS*24-1:0]           bad_index,
  // Operands or results had a parity error.
  input  wire [PORTS-1:0]              lost_valid,
  input  wire [PORTS*(GW+LW)-1:0]      lost_addr,
  input  wire [PORTS*24-1:0]           lost_index,
  input  wire                          nak_valid,
  input  wire [GW+LW+PW-1:0]           nak_conn,
  input  wire [23:0]                   nak_index
);

  localparam CW = GW + LW + PW;
  localparam AW = GW + LW;

  localparam [31:0] CFG_MASK =
    `RF_GROUP_CFG_LIVE_MASK | `RF_GROUP_CFG_OPEN_LOOP_MASK | `RF_GROUP_CFG_TRANSPARENT_MASK | `RF_GROUP_CFG_SELECTIVE_MASK | `RF_GROUP_CFG_DTYPE_MASK |
    `RF_GROUP_CFG_OP_MASK | `RF_GROUP_CFG_MTU_LOG2_MASK | `RF_GROUP_CFG_STRICT_MASK | `RF_GROUP_CFG_LEVEL_MASK | `RF_GROUP_CFG_BASE_PORT_MASK |
    `RF_GROUP_CFG_LANES_MASK | `RF_GROUP_CFG_S_LOG2_MASK;

  // Offsets in the form that the case statements below use.
  localparam [23:0] OFF_CFG   = `RF_GROUP_CFG;
  localparam [23:0] OFF_DBASE = `RF_GROUP_DBASE;
  localparam [23:0] OFF_HBASE = `RF_GROUP_HBASE;
  localparam [23:0] OFF_M0    = `RF_GROUP_MEMBERS0;
  localparam [23:0] OFF_ERROR = `RF_GROUP_ERROR;
  localparam [23:0] OFF_INDEX = `RF_GROUP_ERROR_INDEX;
  localparam [23:0] OFF_LATE  = `RF_GROUP_STRAGGLER;

  reg [GROUPS-1:0] live_q;
  reg [GROUPS-1:0] life_q;
  reg [GROUPS-1:0] error_q;

  wire wr_cfg = wr_en && wr_offset == OFF_CFG[5:0];
  wire wr_clr = wr_en && wr_offset == OFF_ERROR[5:0] && wr_data[31];

  // A group starts when the registers written with LIVE are effective.
  reg          start_q;
  reg [GW-1:0] start_group_q;

  always @(posedge clk)
    if (rst) start_q <= 1'b0;
    else start_q <= wr_cfg && wr_data[0] && !live_q[wr_group];

  always @(posedge clk)
    if (wr_cfg) start_group_q <= wr_group;

  assign start_valid = start_q;
  assign start_group = start_group_q;
  assign g_live      = live_q;
  assign g_life      = life_q;
  assign g_error     = error_q;

  always @(posedge clk)
    if (rst) begin
      live_q <= {GROUPS{1'b0}};
      life_q <= {GROUPS{1'b0}};
    end else begin
      if (wr_cfg && !wr_data[0]) live_q[wr_group] <= 1'b0;
      if (start_q) begin
        live_q[start_group_q] <= 1'b1;
        life_q[start_group_q] <= !life_q[start_group_q];
      end
    end

  // Errors. Sources by priority: parity errors of each port, judges, ranks that disagree, a NAK.
  localparam SOURCES = 3 * PORTS + 1;

  wire [SOURCES-1:0]    from;
  wire [SOURCES*CW-1:0] from_conn;
  wire [SOURCES*24-1:0] from_index;
  wire [SOURCES*3-1:0]  from_cause;
  wire [GROUPS-1:0]     hit;
  wire [GROUPS*CW-1:0]  at;
  wire [GROUPS*3-1:0]   cause;
  wire [GROUPS*24-1:0]  index;

  genvar s;
  generate
    for (s = 0; s < PORTS; s = s + 1) begin : g_source
      localparam [31:0] NUMBER = s;
      wire [AW-1:0] addr = bad_addr[s*AW +: AW];

      if (PARITY != 0) begin : g_lost
        assign from[s]                = lost_valid[s] || (bad_valid[s] && bad_parity[s]);
        assign from_conn[s*CW +: CW]  = {lost_valid[s] ? lost_addr[s*AW +: AW] : addr, NUMBER[PW-1:0]};
        assign from_index[s*24 +: 24] = lost_valid[s] ? lost_index[s*24 +: 24] : bad_index[s*24 +: 24];
      end else begin : g_kept
        wire unused_lost = &{1'b0, lost_valid[s], lost_addr[s*AW +: AW], lost_index[s*24 +: 24], bad_parity[s]};

        assign from[s]                = 1'b0;
        assign from_conn[s*CW +: CW]  = {CW{1'b0}};
        assign from_index[s*24 +: 24] = 24'd0;
      end
      assign from_cause[s*3 +: 3] = `RF_ERROR_PARITY;

      assign from[PORTS+s]                    = judge_error[s*3 +: 3] != 3'd0;
      assign from_conn[(PORTS+s)*CW +: CW]    = judge_conn[s*CW +: CW];
      assign from_index[(PORTS+s)*24 +: 24]   = judge_index[s*24 +: 24];
      assign from_cause[(PORTS+s)*3 +: 3]     = judge_error[s*3 +: 3];

      assign from[2*PORTS+s]                  = bad_valid[s];
      assign from_conn[(2*PORTS+s)*CW +: CW]  = {addr, NUMBER[PW-1:0]};
      assign from_index[(2*PORTS+s)*24 +: 24] = bad_index[s*24 +: 24];
      assign from_cause[(2*PORTS+s)*3 +: 3]   = `RF_ERROR_DISAGREE;
    end
  endgenerate

  assign from[3*PORTS]                = nak_valid;
  assign from_conn[3*PORTS*CW +: CW]  = nak_conn;
  assign from_index[3*PORTS*24 +: 24] = nak_index;
  assign from_cause[3*PORTS*3 +: 3]   = `RF_ERROR_NAK;

  // Per group the source of the highest priority in this cycle: one bit of `first`, ANDed with each source's data.
  genvar e;
  generate
    for (e = 0; e < GROUPS; e = e + 1) begin : g_latch
      localparam [31:0] NUMBER = e;
      reg [SOURCES-1:0] first;
      reg               found;
      reg [CW-1:0]      conn;
      reg [2:0]         why;
      reg [23:0]        where;
      integer           n;

      always @(*) begin
        first = {SOURCES{1'b0}};
        found = 1'b0;
        conn  = {CW{1'b0}};
        why   = 3'd0;
        where = 24'd0;
        for (n = 0; n < SOURCES; n = n + 1) begin
          first[n] = from[n] && from_conn[n*CW+LW+PW +: GW] == NUMBER[GW-1:0] && !found;
          found    = found || first[n];
          conn     = conn | ({CW{first[n]}} & from_conn[n*CW +: CW]);
          why      = why | ({3{first[n]}} & from_cause[n*3 +: 3]);
          where    = where | ({24{first[n]}} & from_index[n*24 +: 24]);
        end
      end

      assign hit[e]           = found;
      assign at[e*CW +: CW]   = conn;
      assign cause[e*3 +: 3]  = why;
      assign index[e*24 +: 24] = where;
    end
  endgenerate

  reg [GROUPS*CW-1:0] at_q;
  reg [GROUPS*3-1:0]  cause_q;
  reg [GROUPS*24-1:0] index_q;

  always @(posedge clk)
    if (rst) begin
      error_q <= {GROUPS{1'b0}};
    end else begin
      error_q <= error_q | hit;
      if (wr_clr) error_q[wr_group] <= 1'b0;
      if (start_q) error_q[start_group_q] <= 1'b0;
    end

  integer h;
  always @(posedge clk)
    for (h = 0; h < GROUPS; h = h + 1)
      if (hit[h] && !error_q[h]) begin
        at_q[h*CW +: CW]    <= at[h*CW +: CW];
        cause_q[h*3 +: 3]   <= cause[h*3 +: 3];
        index_q[h*24 +: 24] <= index[h*24 +: 24];
      end

  // Registers, one set per group.
  reg            wrote_q;
  reg [GW-1:0]   wrote_group_q;

  always @(posedge clk)
    if (rst) wrote_q <= 1'b0;
    else wrote_q <= wr_en;

  always @(posedge clk)
    if (wr_en) wrote_group_q <= wr_group;

  wire [GROUPS*32-1:0]  rd_cfg;
  wire [GROUPS*128-1:0] rd_members;

  assign rd_cfg = g_cfg;

  genvar g;
  genvar l;
  genvar q;
  generate
    for (g = 0; g < GROUPS; g = g + 1) begin : g_group
      localparam [31:0] NUMBER = g;
      reg [31:0]            cfg_q;
      reg [31:0]            dbase_q;
      reg [31:0]            hbase_q;
      reg [4:0]             late_q;
      reg [LANES*PORTS-1:0] members_q;
      reg [PORTS-1:0]       ports_q;
      reg [PORTS-1:0]       block_q;
      reg [PW-1:0]          ref_q;

      wire mine = wr_en && wr_group == NUMBER[GW-1:0];

      always @(posedge clk)
        if (rst) cfg_q <= 32'd0;
        else if (mine && wr_offset == OFF_CFG[5:0]) cfg_q <= wr_data & CFG_MASK;

      always @(posedge clk)
        if (rst) dbase_q <= 32'd0;
        else if (mine && wr_offset == OFF_DBASE[5:0]) dbase_q <= wr_data;

      always @(posedge clk)
        if (rst) hbase_q <= 32'd0;
        else if (mine && wr_offset == OFF_HBASE[5:0]) hbase_q <= wr_data;

      always @(posedge clk)
        if (rst) late_q <= 5'd0;
        else if (mine && wr_offset == OFF_LATE[5:0]) late_q <= wr_data[4:0];

      for (l = 0; l < LANES; l = l + 1) begin : g_lane
        localparam [31:0] OFFSET = {8'd0, OFF_M0} + l / 4 * 4;

        always @(posedge clk)
          if (rst) members_q[l*PORTS +: PORTS] <= {PORTS{1'b0}};
          else if (mine && wr_offset == OFFSET[5:0]) members_q[l*PORTS +: PORTS] <= wr_data[l%4*8 +: PORTS];
      end

      // Values derived from them, one cycle later.
      reg [PORTS-1:0] any_lane;
      reg [PW-1:0]    first;
      reg [PORTS-1:0] block;
      integer         n;
      always @(*) begin
        any_lane = {PORTS{1'b0}};
        first    = {PW{1'b0}};
        block    = {PORTS{1'b0}};
        if (wrote_q) begin
          for (n = 0; n < LANES; n = n + 1) any_lane = any_lane | members_q[n*PORTS +: PORTS];
          for (n = PORTS - 1; n >= 0; n = n - 1) begin
            if (members_q[n]) first = n[PW-1:0];
            block[n] = (n[2:0] >> cfg_q[`RF_GROUP_CFG_LEVEL_LSB +: 2]) ==
                       (cfg_q[`RF_GROUP_CFG_BASE_PORT_LSB +: 3] >> cfg_q[`RF_GROUP_CFG_LEVEL_LSB +: 2]);
          end
        end
      end

      always @(posedge clk)
        if (rst) begin
          ports_q <= {PORTS{1'b0}};
          ref_q   <= {PW{1'b0}};
          block_q <= {PORTS{1'b0}};
        end else if (wrote_q && wrote_group_q == NUMBER[GW-1:0]) begin
          ports_q <= any_lane;
          ref_q   <= first;
          block_q <= block;
        end

      assign g_cfg[g*32 +: 32]     = cfg_q;
      assign g_dbase[g*32 +: 32]   = dbase_q;
      assign g_hbase[g*32 +: 32]   = hbase_q;
      assign g_straggler[g*5 +: 5] = late_q;
      assign g_ports[g*PORTS +: PORTS] = ports_q;
      assign g_block[g*PORTS +: PORTS] = block_q;
      assign g_ref[g*PW +: PW]     = ref_q;
      assign g_members[g*LANES*PORTS +: LANES*PORTS] = members_q;

      for (l = 0; l < 16; l = l + 1) begin : g_rd_lane
        for (q = 0; q < 8; q = q + 1) begin : g_rd_port
          if (l < LANES && q < PORTS) begin : g_there
            assign rd_members[g*128 + l*8 + q] = members_q[l*PORTS + q];
          end else begin : g_none
            assign rd_members[g*128 + l*8 + q] = 1'b0;
          end
        end
      end
    end
  endgenerate

  wire [CW-1:0] rd_at    = at_q[rd_group*CW +: CW];
  wire [2:0]    rd_cause = cause_q[rd_group*3 +: 3];
  wire [31:0]   rd_error = (32'd1 << `RF_GROUP_ERROR_VALID_LSB) |
                           ({29'd0, rd_cause} << `RF_GROUP_ERROR_CAUSE_LSB) |
                           ({{32-LW{1'b0}}, rd_at[PW +: LW]} << `RF_GROUP_ERROR_LANE_LSB) |
                           ({{32-PW{1'b0}}, rd_at[PW-1:0]} << `RF_GROUP_ERROR_PORT_LSB);

  wire [23:0]   rd_index = index_q[rd_group*24 +: 24];

  always @(*)
    if (rd_offset == OFF_CFG[5:0]) rd_data = rd_cfg[rd_group*32 +: 32];
    else if (rd_offset == OFF_DBASE[5:0]) rd_data = g_dbase[rd_group*32 +: 32];
    else if (rd_offset == OFF_HBASE[5:0]) rd_data = g_hbase[rd_group*32 +: 32];
    else if (rd_offset[5:4] == OFF_M0[5:4]) rd_data = rd_members[rd_group*128 + {25'd0, rd_offset[3:2], 5'd0} +: 32];
    else if (rd_offset == OFF_ERROR[5:0]) rd_data = error_q[rd_group] ? rd_error : 32'd0;
    else if (rd_offset == OFF_INDEX[5:0]) rd_data = error_q[rd_group] ? {8'd0, rd_index} : 32'd0;
    else if (rd_offset == OFF_LATE[5:0]) rd_data = {27'd0, g_straggler[rd_group*5 +: 5]};
    else rd_data = 32'd0;

  wire unused_bits = &{1'b0, rd_at};

endmodule

`default_nettype wire
