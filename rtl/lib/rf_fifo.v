// rf_fifo: synchronous show-ahead FIFO: the first word is present at the output.
//
// Latency     write to m_valid: READ_LATENCY + 1 cycles. `count` includes the word from the next cycle on.
// Throughput  one write and one read per cycle.
// Capacity    DEPTH words, output registers included.
// Handshake   valid/ready. s_ready, count, almost_full and m_valid come from registers only. m_data is a register
//             if READ_LATENCY > 0, otherwise the output of distributed RAM. m_ready drives read enables only.
//             A writer that cannot wait ignores s_ready and uses credits to keep count < DEPTH.
// Reset       empties the FIFO; data is not reset.
// Proved      tests/formal/lib/rf_fifo.vh: order, no loss, no duplicate, count exact, no write when full.

`default_nettype none

module rf_fifo #(
  // Bits of a word.
  parameter WIDTH = 8,
  // Words: a power of two, 2 or more.
  parameter DEPTH = 16,
  // 0: distributed RAM, combinational output. 1: registered memory. 2: registered memory plus an output register.
  parameter READ_LATENCY = (DEPTH <= 64) ? 0 : 2,
  // Memory type if READ_LATENCY > 0: "auto", "distributed", "block" or "ultra".
  parameter RAM_STYLE = "auto",
  // almost_full is count >= AFULL; 1 .. DEPTH.
  parameter AFULL = DEPTH - 1,
  // 0: count and almost_full are zero; with READ_LATENCY 0 that leaves out the counter.
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
  output wire                   almost_full
);

  localparam AW = $clog2(DEPTH);

  reg [AW:0] wr_ptr_q;
  reg [AW:0] rd_ptr_q;

  wire push = s_valid && s_ready;
  wire pop  = m_valid && m_ready;
  wire read;

  wire [AW:0] words;

  assign count       = (COUNT != 0) ? words : {AW + 1{1'b0}};
  assign almost_full = COUNT != 0 && words >= AFULL[AW:0];

  generate
    if (COUNT != 0 || READ_LATENCY != 0) begin : g_count
      reg  [AW:0] count_q;
      reg  [AW:0] count_next;
      reg         ones;
      reg         zeros;
      integer     c;

      // One more or one less: a bit changes if all lower bits are ones, or zeros. Written without adders, because push and pop
      // are late and an adder that selects its operand puts a carry chain after them.
      always @* begin
        ones  = push && !pop;
        zeros = pop && !push;
        for (c = 0; c <= AW; c = c + 1) begin
          count_next[c] = count_q[c] ^ (ones || zeros);
          ones          = ones && count_q[c];
          zeros         = zeros && !count_q[c];
        end
      end

      always @(posedge clk)
        if (rst) count_q <= {AW + 1{1'b0}};
        else count_q <= count_next;

      assign words = count_q;
    end else begin : g_no_count
      assign words = {AW + 1{1'b0}};
    end
  endgenerate

  always @(posedge clk)
    if (rst) wr_ptr_q <= {AW + 1{1'b0}};
    else if (push) wr_ptr_q <= wr_ptr_q + 1'b1;

  always @(posedge clk)
    if (rst) rd_ptr_q <= {AW + 1{1'b0}};
    else if (read) rd_ptr_q <= rd_ptr_q + 1'b1;

  generate
    if (DEPTH < 2 || DEPTH != (1 << AW)) begin : g_error_depth
      ERROR_rf_fifo_DEPTH_must_be_a_power_of_two error ();
    end
    if (AFULL < 1 || AFULL > DEPTH) begin : g_error_afull
      ERROR_rf_fifo_AFULL_must_be_1_to_DEPTH error ();
    end

    if (READ_LATENCY == 0) begin : g_lut
      // Two registers, so that a late m_ready or s_valid passes one level of logic.
      reg         m_valid_q;
      reg         full_q;
      wire [AW:0] rd_next = rd_ptr_q + 1'b1;
      wire [AW:0] wr_next = wr_ptr_q + 1'b1;
      wire        last    = rd_next == wr_ptr_q;
      wire        fills   = wr_next == {!rd_ptr_q[AW], rd_ptr_q[AW-1:0]};

      assign read    = pop;
      assign m_valid = m_valid_q;
      assign s_ready = !full_q;

      always @(posedge clk)
        if (rst) m_valid_q <= 1'b0;
        else m_valid_q <= push || (m_valid_q && !(pop && last));

      always @(posedge clk)
        if (rst) full_q <= 1'b0;
        else full_q <= !pop && (full_q || (push && fills));

      rf_ram_lut #(
        .WIDTH(WIDTH),
        .DEPTH(DEPTH)
      ) ram (
        .clk    (clk),
        .wr_en  (push),
        .wr_addr(wr_ptr_q[AW-1:0]),
        .wr_data(s_data),
        .rd_addr(rd_ptr_q[AW-1:0]),
        .rd_data(m_data)
      );
    end else begin : g_ram
      // The memory's own output register holds a word (a_valid_q) until the next stage takes it.
      reg              a_valid_q;
      wire             a_take;
      wire [WIDTH-1:0] a_data;

      assign read    = wr_ptr_q != rd_ptr_q && (a_take || !a_valid_q);
      assign s_ready = !words[AW];

      always @(posedge clk)
        if (rst) a_valid_q <= 1'b0;
        else if (read) a_valid_q <= 1'b1;
        else if (a_take) a_valid_q <= 1'b0;

      rf_ram_sdp #(
        .WIDTH       (WIDTH),
        .DEPTH       (DEPTH),
        .READ_LATENCY(1),
        .APART       (1),
        .RAM_STYLE   (RAM_STYLE)
      ) ram (
        .clk    (clk),
        .wr_en  (push),
        .wr_addr(wr_ptr_q[AW-1:0]),
        .wr_data(s_data),
        .rd_en  (read),
        .rd_addr(rd_ptr_q[AW-1:0]),
        .rd_data(a_data)
      );

      if (READ_LATENCY == 1) begin : g_one
        assign a_take  = m_ready;
        assign m_valid = a_valid_q;
        assign m_data  = a_data;
      end else if (READ_LATENCY == 2) begin : g_two
        reg             m_valid_q;
        reg [WIDTH-1:0] m_data_q;

        assign a_take  = m_ready || !m_valid_q;
        assign m_valid = m_valid_q;
        assign m_data  = m_data_q;

        always @(posedge clk)
          if (rst) m_valid_q <= 1'b0;
          else if (a_take) m_valid_q <= a_valid_q;

        always @(posedge clk)
          if (a_take && a_valid_q) m_data_q <= a_data;
      end else begin : g_error
        ERROR_rf_fifo_READ_LATENCY_must_be_0_to_2 error ();
      end
    end
  endgenerate

`ifdef FORMAL
`include "rf_fifo.vh"
`endif

endmodule

`default_nettype wire
