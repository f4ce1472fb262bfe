// rf_ram_lut: a read of an arbitrary address returns the last value written to it.
(* anyconst *) reg [$clog2(DEPTH)-1:0] f_addr;

// Assumption on the caller: no address beyond the memory.
always @* assume (f_addr < DEPTH && (!wr_en || wr_addr < DEPTH));

reg             f_known = 1'b0;
reg [WIDTH-1:0] f_word;

always @(posedge clk)
  if (wr_en && wr_addr == f_addr) begin
    f_known <= 1'b1;
    f_word  <= wr_data;
  end

always @(posedge clk) begin
  if (f_known && rd_addr == f_addr) assert (rd_data == f_word);
  cover (f_known && rd_addr == f_addr && rd_data != 0 && wr_en && wr_addr != f_addr);
end
