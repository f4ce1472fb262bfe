// rf_axil: each pair of a taken address and data word produces one wr_en with these values and one response. Each read
// address produces one rd_en and one response with the data of its rd_ack. Offers are stable until taken.
`include "rf_start.vh"

// The register bus acknowledges each read once, in the same cycle or later.
reg f_asked;

always @(posedge clk)
  if (rst) f_asked <= 1'b0;
  else if (rd_en && !rd_ack) f_asked <= 1'b1;
  else if (rd_ack) f_asked <= 1'b0;

always @*
  if (!rst) assume (!rd_ack || rd_en || f_asked);

// Taken and not yet answered, 0 or 1 each; the values taken.
reg          f_aw;
reg          f_w;
reg          f_done;
reg          f_ar;
reg          f_got;
reg          f_issued;
reg [AW-1:2] f_wr_addr;
reg [31:0]   f_wr_data;
reg [AW-1:2] f_rd_addr;
reg [31:0]   f_rd_data;

wire f_aw_take = s_axil_awvalid && s_axil_awready;
wire f_w_take  = s_axil_wvalid && s_axil_wready;
wire f_ar_take = s_axil_arvalid && s_axil_arready;
wire f_b_take  = s_axil_bvalid && s_axil_bready;
wire f_r_take  = s_axil_rvalid && s_axil_rready;

always @(posedge clk)
  if (rst) begin
    f_aw   <= 1'b0;
    f_w    <= 1'b0;
    f_done <= 1'b0;
    f_ar   <= 1'b0;
    f_got  <= 1'b0;
    f_issued <= 1'b0;
  end else begin
    if (f_aw_take) f_aw <= 1'b1;
    else if (f_b_take) f_aw <= 1'b0;
    if (f_w_take) f_w <= 1'b1;
    else if (f_b_take) f_w <= 1'b0;
    if (wr_en) f_done <= 1'b1;
    else if (f_b_take) f_done <= 1'b0;
    if (f_ar_take) f_ar <= 1'b1;
    else if (f_r_take) f_ar <= 1'b0;
    if (rd_en) f_issued <= 1'b1;
    else if (f_r_take) f_issued <= 1'b0;
    if (rd_ack) f_got <= 1'b1;
    else if (f_r_take) f_got <= 1'b0;
  end

always @(posedge clk) begin
  if (f_aw_take) f_wr_addr <= s_axil_awaddr[AW-1:2];
  if (f_w_take) f_wr_data <= s_axil_wdata;
  if (f_ar_take) f_rd_addr <= s_axil_araddr[AW-1:2];
  if (rd_ack) f_rd_data <= rd_data;
end

always @(posedge clk)
  if (f_started && !rst) begin
    // One at a time.
    if (f_aw_take) assert (!f_aw);
    if (f_w_take) assert (!f_w);
    if (f_ar_take) assert (!f_ar);
    if (wr_en) begin
      assert (f_aw && f_w && !f_done);
      assert (wr_addr == {f_wr_addr, 2'b00} && wr_data == f_wr_data);
    end
    // Both taken: written in the next step; written: answered in the next step.
    assert (!(f_aw && f_w && !f_done) || wr_en);
    assert (s_axil_bvalid == f_done);
    if (rd_en) assert (f_ar && !f_issued && !f_got && rd_addr == {f_rd_addr, 2'b00});
    assert (s_axil_rvalid == f_got);
    if (s_axil_rvalid) assert (f_ar && s_axil_rdata == f_rd_data);
    assert (!idle || (!f_aw && !f_w && !f_ar));
    if (!$past(rst)) begin
      if ($past(s_axil_rvalid && !s_axil_rready)) assert (s_axil_rvalid && s_axil_rdata == $past(s_axil_rdata));
      if ($past(s_axil_bvalid && !s_axil_bready)) assert (s_axil_bvalid);
      if ($past(f_ar_take)) assert (rd_en);
      if ($past(!open)) assert (!s_axil_awready && !s_axil_wready && !s_axil_arready);
    end
    cover (f_b_take && f_wr_data == 32'd5);
    cover (f_r_take && f_rd_data == 32'd7);
    cover (s_axil_rvalid && s_axil_bvalid);
  end
