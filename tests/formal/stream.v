// A stream of a module under proof: an offered value is stable until it is taken. With IN this is assumed, for the
// input streams of a module.
module stream #(
  parameter WIDTH = 1,
  parameter IN = 0
) (
  input wire             clk,
  input wire             rst,
  input wire             valid,
  input wire             ready,
  input wire [WIDTH-1:0] data
);

  reg             waits_q;
  reg [WIDTH-1:0] data_q;

  always @(posedge clk) begin
    waits_q <= !rst && valid && !ready;
    data_q  <= data;
  end

  generate
    if (IN != 0) begin : g_in
      always @*
        if (!rst && waits_q) assume (valid && data == data_q);
    end else begin : g_out
      always @*
        if (!rst && waits_q) begin
          assert (valid);
          assert (data == data_q);
        end

      always @(posedge clk)
        if (!rst) cover (waits_q && valid && ready);
    end
  endgenerate

endmodule

// A queue under proof: an arbitrary word that was written is read in order and unchanged, after the words before it.
module follow #(
  parameter WIDTH = 1,
  // Bits of a number of words.
  parameter FCW = 4
) (
  input wire             clk,
  input wire             rst,
  input wire             f_push,
  input wire [WIDTH-1:0] f_in,
  input wire             m_valid,
  input wire             f_pop,
  input wire [WIDTH-1:0] f_out
);

`include "rf_start.vh"

  reg [FCW-1:0] f_count;

  always @(posedge clk)
    if (rst) f_count <= 0;
    else f_count <= f_count + {{FCW - 1{1'b0}}, f_push} - {{FCW - 1{1'b0}}, f_pop};

`include "rf_follow.vh"

  // No word is read that was not written.
  always @*
    if (f_started && !rst) assert (!m_valid || f_count != 0);

endmodule
