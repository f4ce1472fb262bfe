// The behaviour of rf_fifo with READ_LATENCY = 0 or 1 that rf_fifo.proof shows, as a shift register, for proofs of modules
// that use one. Its words are at fixed positions, so a claim about all of them can be stated. In rf_fifo the position
// of a word depends on a pointer, and such claims are not inductive. If a proof names this file in `formal`
// (ledger_selective): the entries are connections of group 0, each once.
module rf_fifo #(
  parameter WIDTH = 8,
  parameter DEPTH = 16,
  parameter READ_LATENCY = 0,
  parameter RAM_STYLE = "auto",
  parameter AFULL = DEPTH - 1,
  // Not used: count is there in any case.
  parameter COUNT = 1
) (
  input  wire                   clk,
  input  wire                   rst,
  input  wire                   s_valid,
  output wire                   s_ready,
  input  wire [WIDTH-1:0]       s_data,
  output wire                   m_valid,
  input  wire                   m_ready,
  output wire [WIDTH-1:0]       m_data,
  output wire [$clog2(DEPTH):0] count,
  output wire                   almost_full,
  // For the claims: the words, first one in the lowest bits.
  output reg  [DEPTH*WIDTH-1:0] words
);

  localparam AW = $clog2(DEPTH);

  reg  [WIDTH-1:0] word_q [0:DEPTH-1];
  reg  [AW:0]      count_q;
  wire             push = s_valid && s_ready;
  wire             pop  = m_valid && m_ready;
  wire [AW:0]      place = count_q - {{AW{1'b0}}, pop};

  assign count       = count_q;
  assign s_ready     = !count_q[AW];
  assign almost_full = count_q >= AFULL[AW:0];

  // With READ_LATENCY = 1 a word is not at the output in the cycle after its write.
  reg push_q;

  always @(posedge clk) push_q <= push && !rst && READ_LATENCY != 0;

  assign m_valid = count_q > {{AW{1'b0}}, push_q};
  assign m_data      = word_q[0];

  integer w;
  always @*
    for (w = 0; w < DEPTH; w = w + 1) words[w*WIDTH +: WIDTH] = word_q[w];

  always @(posedge clk)
    if (rst) count_q <= {AW+1{1'b0}};
    else count_q <= place + {{AW{1'b0}}, push};

  integer k;
  always @(posedge clk)
    for (k = 0; k < DEPTH; k = k + 1)
      if (push && place == k) word_q[k] <= s_data;
      else if (pop && k + 1 < DEPTH) word_q[k] <= word_q[(k+1) % DEPTH];

`ifdef FORMAL
  integer a;
  integer b;
  always @*
    for (a = 0; a < DEPTH; a = a + 1)
      if (!rst && a < count_q) begin
        assert (!word_q[a][WIDTH-1]);
        for (b = 0; b < DEPTH; b = b + 1)
          if (b < a) assert (word_q[a] != word_q[b]);
      end
`endif

endmodule
