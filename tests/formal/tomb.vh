// rf_tomb: one arbitrary tombstone. A packet from the expected port and address is recorded, one from elsewhere is not.
// A record is visible until the firmware reads or writes it. A record made in that very cycle is in this read or in the
// next one.
`include "rf_start.vh"

(* anyconst *) reg [AW-1:0] f_number;

wire f_write = w_valid && at == f_number;
wire f_look  = (w_valid || look) && at == f_number;
wire f_read  = rd_valid && rd_number[AW-1:0] == f_number;
wire f_mark  = p4_set_q && p4_number_q == f_number;

// A record from the previous use may coincide with the first write.
reg        f_known = 1'b0;
reg [35:0] f_word;
// The tombstone was read after it was written.
reg        f_fresh = 1'b0;
reg        f_seen;

always @* assume (rst == !f_started);

always @(posedge clk)
  if (f_write) f_word <= {w_any, w_port, w_ip};

always @(posedge clk)
  if (rst) f_known <= 1'b0;
  else if (f_write && !f_mark) f_known <= 1'b1;

always @(posedge clk)
  if (rst || (rd_valid && !f_read)) f_fresh <= 1'b0;
  else if (f_read) f_fresh <= f_known && !f_write;
  else if (f_write) f_fresh <= 1'b0;

always @(posedge clk)
  if (f_write && !f_known) f_seen <= 1'b0;
  else if (f_look) f_seen <= f_mark && !f_seen;
  else if (f_mark) f_seen <= 1'b1;

wire f_here = f_word[35] || (f_word[34:32] == THIS[2:0] && f_word[31:0] == ask_ip);

reg f_noted_q = 1'b0;
reg f_asked_q = 1'b0;

always @(posedge clk) f_asked_q <= !rst && ask && f_fresh;
always @(posedge clk) f_noted_q <= !rst && ask && f_fresh && f_here;

always @(posedge clk)
  if (f_started && !rst) begin
    if (f_fresh) assert (p3_number_q == f_number && {e_any, e_port, e_ip} == f_word);
    if (f_asked_q) assert (p4_set_q == f_noted_q && p4_number_q == f_number);
    if (f_known && at == f_number) assert (seen == f_seen);
    cover (f_known && look && at == f_number && seen && f_mark);
    cover (f_asked_q && !f_noted_q);
  end
