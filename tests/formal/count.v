// Stand-ins for the arithmetic, for proofs about which operands enter and not about their values. The low two bits of
// an element are a count that saturates at 3. Latency and enables are those of the real modules (tests/rtl/fp_alu.cpp,
// fp_convert.cpp). The output of the adders without valid is arbitrary.
`include "rf_reduce.vh"

module rf_fp_unpack (
  input  wire        clk,
  input  wire        in_en,
  input  wire        in_half,
  input  wire        in_fp16,
  input  wire [31:0] in_word,
  output wire [31:0] low,
  output wire [31:0] high
);

  reg [1:0] low_q;
  reg [1:0] high_q;

  always @(posedge clk)
    if (in_en) low_q <= in_word[1:0];

  always @(posedge clk)
    if (in_en && in_half) high_q <= in_word[17:16];

  assign low  = {30'd0, low_q};
  assign high = {30'd0, high_q};

endmodule

module rf_fp_vec #(
  parameter WORDS = 1,
  parameter TYPES = 1023,
  // 1: one of them has 16 bits. Follows from TYPES.
  parameter HALF = ((TYPES & `RF_TYPES_HALF) != 0) ? 1 : 0
) (
  input  wire                                  clk,
  input  wire                                  rst,
  input  wire                                  in_valid,
  input  wire [3:0]                            in_dtype,
  input  wire [2:0]                            in_op,
  input  wire                                  in_a_on,
  input  wire                                  in_b_on,
  input  wire [WORDS*32*(1+HALF)-1:0] in_a,
  input  wire [WORDS*32*(1+HALF)-1:0] in_b,
  output wire                                  out_valid,
  output wire [WORDS*32*(1+HALF)-1:0] out_data
);

  `include "rf_types.vh"

  wire in_half = is_half(in_dtype);

  reg [4:0] valid_q;
  reg [4:0] half_q;

  always @(posedge clk)
    if (rst) valid_q <= 5'd0;
    else valid_q <= {valid_q[3:0], in_valid};

  always @(posedge clk) half_q <= {half_q[3:0], in_valid && in_half};

  assign out_valid = valid_q[4];

  genvar h;
  generate
    for (h = 0; h <= HALF; h = h + 1) begin : g_half
      (* anyseq *) reg [1:0] other;
      reg  [9:0] count_q;
      wire [1:0] a   = in_a_on ? in_a[h*WORDS*32 +: 2] : 2'd0;
      wire [1:0] b   = in_b_on ? in_b[h*WORDS*32 +: 2] : 2'd0;
      wire [2:0] sum = {1'b0, a} + {1'b0, b};

      always @(posedge clk) count_q <= {count_q[7:0], sum[2] ? 2'd3 : sum[1:0]};

      assign out_data[h*WORDS*32 +: WORDS*32] = {{WORDS*32-2{1'b0}}, (h == 0 ? valid_q[4] : half_q[4]) ? count_q[9:8] : other};
    end
  endgenerate

endmodule

module rf_fp_pack #(
  parameter TYPES = 1023,
  parameter ODD = 0
) (
  input  wire        clk,
  input  wire        in_a_en,
  input  wire        in_b_en,
  input  wire        in_half,
  input  wire [63:0] in_a,
  input  wire [63:0] in_b,
  input  wire        p1_en,
  input  wire        p1_half,
  input  wire        p1_fp16,
  input  wire        p1_fp32,
  input  wire        p1_nan64,
  output wire [31:0] p1_low,
  output wire [31:0] p2_word
);

  reg  [63:0] p1_q;
  reg  [31:0] p2_q;

  always @(posedge clk)
    if (in_a_en || in_b_en) p1_q <= in_b_en ? in_b : in_a;

  always @(posedge clk)
    if (p1_en) p2_q <= p1_half ? {14'd0, p1_q[33:32], 14'd0, p1_q[1:0]} : {30'd0, p1_q[1:0]};

  assign p1_low  = p1_q[31:0];
  assign p2_word = p2_q;

endmodule
