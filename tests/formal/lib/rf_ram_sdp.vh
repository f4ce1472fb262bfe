// rf_ram_sdp: a read of an arbitrary address returns, after READ_LATENCY cycles and until the next read, the last value
// written to it; a write in the same cycle is included only with BYPASS. With APART there is no such write.
(* anyconst *) reg [$clog2(DEPTH)-1:0] f_addr;

// Assumption on the caller: no address beyond the memory.
always @* assume (f_addr < DEPTH && (!wr_en || wr_addr < DEPTH) && (!rd_en || rd_addr < DEPTH));

// With APART the caller never reads an address while it writes it: its own proof shows that.
always @* if (APART != 0) assume (!(wr_en && rd_en && wr_addr == rd_addr));

reg             f_known = 1'b0;
reg [WIDTH-1:0] f_word;
reg             f_due1 = 1'b0;
reg [WIDTH-1:0] f_want1;
reg             f_read1 = 1'b0;
reg             f_due2 = 1'b0;
reg [WIDTH-1:0] f_want2;
wire            f_hit   = wr_en && wr_addr == f_addr;
wire            f_new   = BYPASS != 0 && f_hit;

always @(posedge clk)
  if (f_hit) begin
    f_known <= 1'b1;
    f_word  <= wr_data;
  end

always @(posedge clk)
  if (rd_en) begin
    f_due1  <= rd_addr == f_addr && (f_known || f_new);
    f_want1 <= f_new ? wr_data : f_word;
  end

always @(posedge clk) f_read1 <= rd_en;

always @(posedge clk)
  if (f_read1) begin
    f_due2  <= f_due1;
    f_want2 <= f_want1;
  end

always @(posedge clk) begin
  if (READ_LATENCY == 1 && f_due1) assert (rd_data == f_want1);
  if (READ_LATENCY == 2 && f_due2) assert (rd_data == f_want2);
  cover ((READ_LATENCY == 1 ? f_due1 : f_due2) && rd_data != 0 && rd_data != f_word);
  cover (f_known && rd_en && (APART != 0 || rd_addr == f_addr) && f_hit && wr_data != f_word);
end
