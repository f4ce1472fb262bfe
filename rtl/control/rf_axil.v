// rf_axil: AXI4-Lite slave that drives a simple register bus.
//
// Latency     write: wr_en 1 cycle after address and data have both been taken, response 1 cycle later. Read: rd_en 1
//             cycle after the address, data 1 cycle after rd_ack.
// Throughput  one write and one read at a time, independent of each other.
// Capacity    one write and one read.
// Handshake   all AXI outputs are registers. wr_en and rd_en are pulses of one cycle; rd_data is taken in the cycle of
//             rd_ack, which must come once per rd_en, in the same cycle or later. While open is low no new access
//             starts.
// Reset       discards accesses in progress.
// Proved      tests/formal/net_axil.vh: one write per address and data with their values, one response each; one read
//             per address, one response with its data; an offer is held until it is taken.
//
// A write writes all 32 bits (strobes are ignored), address bits 1:0 are ignored, the response is always OKAY.

`default_nettype none

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

  // No access is in progress or requested.
  output wire          idle
);

  // ---- Writes: address and data may arrive in either order; each is kept until the other arrives.

  reg          aw_full_q;
  reg          w_full_q;
  reg          b_valid_q;
  reg [AW-1:0] wr_addr_q;
  reg [31:0]   wr_data_q;
  reg          aw_ready_q;
  reg          w_ready_q;

  wire aw_take = s_axil_awvalid && s_axil_awready;
  wire w_take  = s_axil_wvalid && s_axil_wready;
  wire both    = aw_full_q && w_full_q;
  wire b_take  = b_valid_q && s_axil_bready;
  wire unused_bits = &{1'b0, s_axil_wstrb, s_axil_awaddr[1:0], s_axil_araddr[1:0]};

  assign s_axil_awready = aw_ready_q;
  assign s_axil_wready  = w_ready_q;
  assign s_axil_bvalid  = b_valid_q;
  assign s_axil_bresp   = 2'b00;

  // Ready for one address and one data word; the next ones are accepted only after the response has been sent.
  always @(posedge clk)
    if (rst) aw_ready_q <= 1'b0;
    else aw_ready_q <= open && !aw_take && !aw_full_q && !b_valid_q;

  always @(posedge clk)
    if (rst) w_ready_q <= 1'b0;
    else w_ready_q <= open && !w_take && !w_full_q && !b_valid_q;

  always @(posedge clk)
    if (rst || both) aw_full_q <= 1'b0;
    else if (aw_take) aw_full_q <= 1'b1;

  always @(posedge clk)
    if (rst || both) w_full_q <= 1'b0;
    else if (w_take) w_full_q <= 1'b1;

  always @(posedge clk)
    if (aw_take) wr_addr_q <= {s_axil_awaddr[AW-1:2], 2'b00};

  always @(posedge clk)
    if (w_take) wr_data_q <= s_axil_wdata;

  always @(posedge clk)
    if (rst) b_valid_q <= 1'b0;
    else if (both) b_valid_q <= 1'b1;
    else if (b_take) b_valid_q <= 1'b0;

  assign wr_en   = both;
  assign wr_addr = wr_addr_q;
  assign wr_data = wr_data_q;

  // ---- Reads.

  reg          ar_ready_q;
  reg          rd_en_q;
  reg          rd_wait_q;
  reg          r_valid_q;
  reg [AW-1:0] rd_addr_q;
  reg [31:0]   r_data_q;

  wire ar_take = s_axil_arvalid && s_axil_arready;
  wire r_take  = r_valid_q && s_axil_rready;

  assign s_axil_arready = ar_ready_q;
  assign s_axil_rvalid  = r_valid_q;
  assign s_axil_rdata   = r_data_q;
  assign s_axil_rresp   = 2'b00;

  always @(posedge clk)
    if (rst) ar_ready_q <= 1'b0;
    else ar_ready_q <= open && !ar_take && !rd_wait_q && !r_valid_q;

  always @(posedge clk)
    if (rst) rd_en_q <= 1'b0;
    else rd_en_q <= ar_take;

  // From the address until the data has arrived.
  always @(posedge clk)
    if (rst) rd_wait_q <= 1'b0;
    else if (ar_take) rd_wait_q <= 1'b1;
    else if (rd_ack) rd_wait_q <= 1'b0;

  always @(posedge clk)
    if (ar_take) rd_addr_q <= {s_axil_araddr[AW-1:2], 2'b00};

  always @(posedge clk)
    if (rst) r_valid_q <= 1'b0;
    else if (rd_wait_q && rd_ack) r_valid_q <= 1'b1;
    else if (r_take) r_valid_q <= 1'b0;

  always @(posedge clk)
    if (rd_ack) r_data_q <= rd_data;

  assign rd_en   = rd_en_q;
  assign rd_addr = rd_addr_q;
  assign idle    = !aw_full_q && !w_full_q && !b_valid_q && !rd_wait_q && !r_valid_q && !s_axil_awvalid &&
                   !s_axil_wvalid && !s_axil_arvalid;

`ifdef FORMAL
`include "net_axil.vh"
`endif

endmodule

`default_nettype wire
