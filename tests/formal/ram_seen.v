// The behaviour of rf_ram_sdp with READ_LATENCY = 1 and without BYPASS that rf_ram_sdp.proof shows, with its words
// visible.
module rf_ram_sdp #(
  parameter WIDTH = 8,
  parameter DEPTH = 16,
  parameter READ_LATENCY = 1,
  parameter BYPASS = 0,
  parameter APART = 0,
  parameter RAM_STYLE = "auto"
) (
  input  wire                     clk,
  input  wire                     wr_en,
  input  wire [$clog2(DEPTH)-1:0] wr_addr,
  input  wire [WIDTH-1:0]         wr_data,
  input  wire                     rd_en,
  input  wire [$clog2(DEPTH)-1:0] rd_addr,
  output wire [WIDTH-1:0]         rd_data,
  output wire [DEPTH*WIDTH-1:0]   f_mem
);

  reg [DEPTH*WIDTH-1:0] mem_q;
  reg [WIDTH-1:0]       rd_data_q;

  always @(posedge clk) begin
    if (wr_en) mem_q[wr_addr*WIDTH +: WIDTH] <= wr_data;
    if (rd_en) rd_data_q <= mem_q[rd_addr*WIDTH +: WIDTH];
  end

  assign rd_data = rd_data_q;
  assign f_mem   = mem_q;

endmodule
