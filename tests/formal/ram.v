// The output behaviour of rf_ram_sdp with READ_LATENCY = 1 that rf_ram_sdp.proof shows, for claims that do not depend
// on the stored words: an arbitrary word for each read, stable until the next read. It is a separate module without a
// memory: the memory would be most of the registers of a proof and would not affect the claim. Proofs that define
// KEEPS_APART (their first cycle is a reset) also show what APART demands.
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
  output wire [WIDTH-1:0]         rd_data
);

  (* anyseq *) reg [WIDTH-1:0] word;
  reg [WIDTH-1:0] rd_data_q;

  always @(posedge clk)
    if (rd_en) rd_data_q <= word;

  assign rd_data = rd_data_q;

`ifdef KEEPS_APART
  reg started_q = 1'b0;

  always @(posedge clk) started_q <= 1'b1;

  always @* if (APART != 0 && started_q) assert (!(wr_en && rd_en && wr_addr == rd_addr));
`endif

endmodule
