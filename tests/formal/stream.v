// A stream of a module under proof: what is offered stays as it is until it is taken. With IN this is assumed, for the streams
// into a module.
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
