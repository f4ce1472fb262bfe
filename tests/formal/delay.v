// The behaviour of rf_delay that rf_delay.proof shows, as a shift register, so its contents can be compared by
// position.
module rf_delay #(
  parameter WIDTH = 8,
  parameter N = 4
) (
  input  wire             clk,
  input  wire             rst,
  input  wire             in_valid,
  input  wire [WIDTH-1:0] in_data,
  output wire             out_valid,
  output wire [WIDTH-1:0] out_data
);

  reg [N:0]             valid_q;
  reg [(N+1)*WIDTH-1:0] data_q;

  always @* begin
    valid_q[0] = in_valid;
    data_q[WIDTH-1:0] = in_data;
  end

  genvar n;
  generate
    for (n = 1; n <= N; n = n + 1) begin : g_place
      always @(posedge clk) begin
        valid_q[n] <= !rst && valid_q[n-1];
        data_q[n*WIDTH +: WIDTH] <= data_q[(n-1)*WIDTH +: WIDTH];
      end
    end
  endgenerate

  assign out_valid = valid_q[N];
  assign out_data  = data_q[N*WIDTH +: WIDTH];

endmodule
