// What rf_ram_sdp.proof shows of the output of rf_ram_sdp with READ_LATENCY = 1, for claims that no word of it decides: an
// arbitrary word for each read, which stays until the next one. It stands apart from rf_ram_sdp since it has no words: those of the
// memory itself would be most of the registers of a proof, and decide nothing.
module rf_ram_sdp #(
  parameter WIDTH = 8,
  parameter DEPTH = 16,
  parameter READ_LATENCY = 1,
  parameter BYPASS = 0,
  parameter RAM_STYLE = "auto"
) (
  input  wire                     clk,
  input  wire                     wr_en,
  input  wire [$clog2(DEPTH)-1:0] wr_addr,
  input  wire [WIDTH-1:0]         wr_data,
  input  wire                     rd_en,
  input  wire [$clog2(DEPTH)-1:0] rd_addr,
  output wire [WIDTH-1:0]         rd_data
);

  (* anyseq *) reg [WIDTH-1:0] word;
  reg [WIDTH-1:0] rd_data_q;

  always @(posedge clk)
    if (rd_en) rd_data_q <= word;

  assign rd_data = rd_data_q;

endmodule
