// rf_group_regs: the registers of the groups; the latches of their errors (rf_group_errors).
//
// Latency     write: effective 1 cycle after wr_en, LIVE 2 cycles, values derived from it (g_block, g_ports, g_ref) 2
//             cycles. Read: 0.
// Throughput  one access per cycle.
// Capacity    GROUPS groups.
// Handshake   none.
// Reset       all registers zero: no group live, no error.
// Proved      tests/rtl/unit_group_regs.cpp; tests/rtl/core.

`include "rf_regs.vh"

`default_nettype none

module rf_group_regs #(
  parameter PORTS = 4,
  parameter LANES = 1,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2,
  // 1: groups may be selective.
  parameter SELECTIVE = 1,
  // 1: groups may be directed.
  parameter DIRECTED = 1,
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
  output wire [GROUPS-1:0]             g_directed,
  // Bit (group * LANES + lane) * PORTS + port.
  output wire [GROUPS*LANES*PORTS-1:0] g_members,
  // Ports with a rank; ports of the group's block; lowest member port of lane 0.
  output wire [GROUPS*PORTS-1:0]       g_ports,
  output wire [GROUPS*PORTS-1:0]       g_block,
  output wire [GROUPS*PW-1:0]          g_ref,

  // Errors: judges; ranks that disagree; results lost; NAKs from ranks (rf_group_errors).
  input  wire [PORTS*4-1:0]            judge_error,
  input  wire [PORTS*(GW+LW+PW)-1:0]   judge_conn,
  input  wire [PORTS*24-1:0]           judge_index,
  input  wire [PORTS*32-1:0]           judge_got,
  input  wire [PORTS-1:0]              bad_valid,
  input  wire [PORTS*(GW+LW)-1:0]      bad_addr,
  // The facts of the rank had a parity error: PARITY, else DISAGREE.
  input  wire [PORTS*24-1:0]           bad_index,
  // One cycle later: how they differ.
  input  wire [PORTS*2-1:0]            bad_what,
  input  wire [PORTS*32-1:0]           bad_got,
  input  wire [PORTS*32-1:0]           bad_want,
  // Operands or results had a parity error.
  input  wire [PORTS-1:0]              lost_valid,
  input  wire [PORTS*(GW+LW)-1:0]      lost_addr,
  input  wire [PORTS*24-1:0]           lost_index,
  input  wire                          nak_valid,
  input  wire [GW+LW+PW-1:0]           nak_conn,
  input  wire [23:0]                   nak_index
);

  localparam [31:0] CFG_MASK =
    `RF_GROUP_CFG_LIVE_MASK | `RF_GROUP_CFG_OPEN_LOOP_MASK | `RF_GROUP_CFG_TRANSPARENT_MASK |
    ((SELECTIVE != 0) ? `RF_GROUP_CFG_SELECTIVE_MASK : 32'd0) |
    ((DIRECTED != 0) ? `RF_GROUP_CFG_DIRECTED_MASK : 32'd0) | `RF_GROUP_CFG_DTYPE_MASK | `RF_GROUP_CFG_OP_MASK |
    `RF_GROUP_CFG_MTU_LOG2_MASK | `RF_GROUP_CFG_STRICT_MASK | `RF_GROUP_CFG_LEVEL_MASK |
    `RF_GROUP_CFG_BASE_PORT_MASK | `RF_GROUP_CFG_LANES_MASK | `RF_GROUP_CFG_S_LOG2_MASK;

  // Offsets in the form that the case statements below use.
  localparam [23:0] OFF_CFG   = `RF_GROUP_CFG;
  localparam [23:0] OFF_DBASE = `RF_GROUP_DBASE;
  localparam [23:0] OFF_HBASE = `RF_GROUP_HBASE;
  localparam [23:0] OFF_M0    = `RF_GROUP_MEMBERS0;
  localparam [23:0] OFF_ERROR = `RF_GROUP_ERROR;
  localparam [23:0] OFF_INDEX = `RF_GROUP_ERROR_INDEX;
  localparam [23:0] OFF_LATE  = `RF_GROUP_STRAGGLER;
  localparam [23:0] OFF_GOT   = `RF_GROUP_ERROR_GOT;
  localparam [23:0] OFF_WANT  = `RF_GROUP_ERROR_WANT;

  reg [GROUPS-1:0] live_q;
  reg [GROUPS-1:0] life_q;

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

  // Errors.
  wire [31:0] rd_error;
  wire [31:0] rd_error_index;
  wire [31:0] rd_error_got;
  wire [31:0] rd_error_want;

  rf_group_errors #(.PORTS(PORTS), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW), .DIRECTED(DIRECTED), .PARITY(PARITY)) errors (
    .clk(clk), .rst(rst), .clear_valid(wr_clr), .clear_group(wr_group), .start_valid(start_q),
    .start_group(start_group_q), .g_error(g_error), .rd_group(rd_group), .rd_error(rd_error),
    .rd_error_index(rd_error_index), .rd_error_got(rd_error_got), .rd_error_want(rd_error_want), .judge_error(judge_error),
    .judge_conn(judge_conn), .judge_index(judge_index), .judge_got(judge_got),
    .bad_valid(bad_valid), .bad_addr(bad_addr), .bad_index(bad_index),
    .bad_what(bad_what), .bad_got(bad_got), .bad_want(bad_want),
    .lost_valid(lost_valid), .lost_addr(lost_addr), .lost_index(lost_index), .nak_valid(nak_valid), .nak_conn(nak_conn),
    .nak_index(nak_index));

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
      assign g_directed[g]         = cfg_q[`RF_GROUP_CFG_DIRECTED_LSB];
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

  always @(*)
    if (rd_offset == OFF_CFG[5:0]) rd_data = rd_cfg[rd_group*32 +: 32];
    else if (rd_offset == OFF_DBASE[5:0]) rd_data = g_dbase[rd_group*32 +: 32];
    else if (rd_offset == OFF_HBASE[5:0]) rd_data = g_hbase[rd_group*32 +: 32];
    else if (rd_offset[5:4] == OFF_M0[5:4]) rd_data = rd_members[rd_group*128 + {25'd0, rd_offset[3:2], 5'd0} +: 32];
    else if (rd_offset == OFF_ERROR[5:0]) rd_data = rd_error;
    else if (rd_offset == OFF_INDEX[5:0]) rd_data = rd_error_index;
    else if (rd_offset == OFF_GOT[5:0]) rd_data = rd_error_got;
    else if (rd_offset == OFF_WANT[5:0]) rd_data = rd_error_want;
    else if (rd_offset == OFF_LATE[5:0]) rd_data = {27'd0, g_straggler[rd_group*5 +: 5]};
    else rd_data = 32'd0;

endmodule

`default_nettype wire
