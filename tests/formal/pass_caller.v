// The requests of rf_sched to the readers. The lanes of a packet follow one another, and no other packet uses its ports
// meanwhile. Each pass reads the slot of its index, at the ports that have a rank in that lane. No pass is requested at
// a port while prep_busy is high there, nor in the cycle after that, nor in the two cycles after another one. sched.proof shows this; pass_read.proof assumes it. Groups do not change.
`include "rf_regs.vh"

module pass_caller #(
  parameter PORTS = 2,
  parameter LANES = 2,
  parameter GROUPS = 2,
  parameter GW = 1,
  parameter LW = 1,
  parameter PW = 1,
  parameter BYTES_LOG2 = 6,
  parameter BANK_AW = 4,
  parameter HDR_AW = 4,
  parameter CREDIT_W = 6
) (
  input  wire                          clk,
  input  wire                          rst,
  input  wire [GROUPS*32-1:0]          g_cfg,
  input  wire [GROUPS*32-1:0]          g_dbase,
  input  wire [GROUPS*32-1:0]          g_hbase,
  input  wire [GROUPS*LANES*PORTS-1:0] g_members,
  input  wire [GROUPS*PORTS-1:0]       g_block,
  input  wire [GROUPS*PW-1:0]          g_ref,
  input  wire [PORTS-1:0]              prep_busy,
  input  wire [PORTS-1:0]              valid,
  input  wire [PORTS-1:0]              member,
  input  wire [PORTS-1:0]              block,
  input  wire [GW-1:0]                 group,
  input  wire [LW-1:0]                 lane,
  input  wire [23:0]                   index,
  input  wire                          first,
  input  wire                          final,
  input  wire [1:0]                    level,
  input  wire [3:0]                    dtype,
  input  wire [2:0]                    op,
  input  wire [PW-1:0]                 ref_port,
  input  wire [CREDIT_W-1:0]           beats,
  input  wire [BANK_AW-1:0]            beat,
  input  wire [HDR_AW-1:0]             slot,
  // Per group: a packet is in progress; the next lane; its index.
  output reg  [GROUPS-1:0]             open,
  output reg  [GROUPS*LW-1:0]          next_lane,
  output reg  [GROUPS*24-1:0]          of,
  // prep_busy of the last cycle.
  output reg  [PORTS-1:0]              was_busy,
  // Requests of the last cycle, of the one before.
  output reg  [PORTS-1:0]              was_valid,
  output reg  [PORTS-1:0]              was_valid_2
);

  always @(posedge clk) was_busy <= rst ? {PORTS{1'b0}} : prep_busy;

  always @(posedge clk) begin
    was_valid   <= rst ? {PORTS{1'b0}} : valid;
    was_valid_2 <= rst ? {PORTS{1'b0}} : was_valid;
  end

  always @(posedge clk)
    if (rst) open <= {GROUPS{1'b0}};
    else if (valid != 0) open[group] <= !final;

  always @(posedge clk)
    if (valid != 0) begin
      next_lane[group*LW +: LW] <= lane + 1'b1;
      of[group*24 +: 24]        <= index;
    end

  wire [31:0] cfg   = g_cfg[group*32 +: 32];
  wire [31:0] lanes = cfg[`RF_GROUP_CFG_LANES_LSB +: `RF_GROUP_CFG_LANES_BITS];
  wire [31:0] slots = 32'd1 << cfg[`RF_GROUP_CFG_S_LOG2_LSB +: `RF_GROUP_CFG_S_LOG2_BITS];
  wire [31:0] bytes = 32'd1 << cfg[`RF_GROUP_CFG_MTU_LOG2_LSB +: `RF_GROUP_CFG_MTU_LOG2_BITS];
  // Slots are contiguous.
  wire [31:0] place = {8'd0, index} & (slots - 1);
  wire [31:0] from  = g_dbase[group*32 +: 32] + ((place << cfg[`RF_GROUP_CFG_MTU_LOG2_LSB +: `RF_GROUP_CFG_MTU_LOG2_BITS]) >> BYTES_LOG2);
  wire [31:0] at    = g_hbase[group*32 +: 32] + place;
  wire [31:0] many  = bytes >> BYTES_LOG2;

  integer n;
  always @*
    if (!rst && valid != 0) begin
      assert (valid == g_block[group*PORTS +: PORTS] && valid == block && (valid & (prep_busy | was_busy | was_valid | was_valid_2)) == 0);
      assert (first == !open[group]);
      assert (lane == (open[group] ? next_lane[group*LW +: LW] : {LW{1'b0}}));
      assert (final == (lane + 32'd1 == lanes));
      if (open[group]) assert (index == of[group*24 +: 24]);
      for (n = 0; n < GROUPS; n = n + 1)
        if (open[n] && n != group) assert ((g_block[n*PORTS +: PORTS] & valid) == 0);
      assert (member == g_members[(group*LANES + lane)*PORTS +: PORTS]);
      assert (level == cfg[`RF_GROUP_CFG_LEVEL_LSB +: `RF_GROUP_CFG_LEVEL_BITS]);
      assert (dtype == cfg[`RF_GROUP_CFG_DTYPE_LSB +: `RF_GROUP_CFG_DTYPE_BITS]);
      assert (op == cfg[`RF_GROUP_CFG_OP_LSB +: `RF_GROUP_CFG_OP_BITS]);
      assert (ref_port == g_ref[group*PW +: PW]);
      assert (beats == many[CREDIT_W-1:0] && beat == from[BANK_AW-1:0] && slot == at[HDR_AW-1:0]);
    end

endmodule
