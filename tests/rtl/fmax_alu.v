// For the speed of rf_fp_alu alone: registers in front of every input.

module fmax_alu (
  input  wire        clk,
  input  wire        in_int,
  input  wire        in_a_on,
  input  wire        in_b_on,
  input  wire [1:0]  in_op,
  input  wire [31:0] in_a,
  input  wire [31:0] in_b,
  output wire [31:0] y
);

  reg        p0_int_q;
  reg        p0_a_on_q;
  reg        p0_b_on_q;
  reg [1:0]  p0_op_q;
  reg [31:0] p0_a_q;
  reg [31:0] p0_b_q;
  reg        p1_int_q;
  reg [1:0]  p1_op_q;
  reg        p1_single_q;
  reg        p1_add_q;

  always @(posedge clk) begin
    p0_int_q    <= in_int;
    p0_a_on_q   <= in_a_on;
    p0_b_on_q   <= in_b_on;
    p0_op_q     <= in_op;
    p0_a_q      <= in_a;
    p0_b_q      <= in_b;
    p1_int_q    <= p0_int_q;
    p1_op_q     <= p0_op_q;
    p1_single_q <= !p0_a_on_q || !p0_b_on_q;
    p1_add_q    <= p0_a_on_q && p0_b_on_q && !p0_int_q && p0_op_q == 2'd0;
  end

  rf_fp_alu alu (
    .clk      (clk),
    .in_en    (1'b1),
    .in_int   (p0_int_q),
    .in_a_on  (p0_a_on_q),
    .in_b_on  (p0_b_on_q),
    .in_a     (p0_a_q),
    .in_b     (p0_b_q),
    .p1_en    (1'b1),
    .p1_int   (p1_int_q),
    .p1_op    (p1_op_q),
    .p1_single(p1_single_q),
    .p1_add   (p1_add_q),
    .p2_en    (1'b1),
    .p3_en    (1'b1),
    .p4_en    (1'b1),
    .p5_y     (y)
  );

endmodule
