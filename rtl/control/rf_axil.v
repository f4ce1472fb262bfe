// rf_axil: AXI4-Lite slave in front of a simple register bus.
//
// Latency     write: wr_en 1 cycle after address and data are both there, response 1 cycle later. Read: rd_en 1 cycle
//             after the address, data 1 cycle after rd_ack.
// Throughput  one write and one read at a time, independent of each other.
// Capacity    one write and one read.
// Handshake   all AXI outputs are registers. wr_en and rd_en are pulses of one cycle; rd_data is taken in the cycle of
//             rd_ack, which must come once per rd_en, in the same cycle or later. While open is low no new access begins.
// Reset       forgets accesses under way.
//
// A write writes all 32 bits (strobes are ignored), address bits 1:0 are ignored, the response is always OKAY.

module rf_axil #(
  // Address bits.
  parameter AW = 24
) (
  input  wire          clk,
  input  wire          rst,

  input  wire [AW-1:0] s_axil_awaddr,
  input  wire          s_axil_awvalid,
  output wire          s_axil_awready,
  input  wire [31:0]   s_axil_wdata,
  input  wire [3:0]    s_axil_wstrb,
  input  wire          s_axil_wvalid,
  output wire          s_axil_wready,
  output wire [1:0]    s_axil_bresp,
  output wire          s_axil_bvalid,
  input  wire          s_axil_bready,
  input  wire [AW-1:0] s_axil_araddr,
  input  wire          s_axil_arvalid,
  output wire          s_axil_arready,
  output wire [31:0]   s_axil_rdata,
  output wire [1:0]    s_axil_rresp,
  output wire          s_axil_rvalid,
  input  wire          s_axil_rready,

  input  wire          open,

  output wire          wr_en,
  output wire [AW-1:0] wr_addr,
  output wire [31:0]   wr_data,
  output wire          rd_en,
  output wire [AW-1:0] rd_addr,
  input  wire [31:0]   rd_data,
  input  wire          rd_ack,

  // No access is under way.
  output wire          idle
);

endmodule
