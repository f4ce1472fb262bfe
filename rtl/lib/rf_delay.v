// rf_delay: delays a beat by exactly N cycles.
//
// Latency     N cycles.
// Throughput  1 beat per cycle.
// Capacity    N beats.
// Handshake   valid only, no back-pressure. out_data is defined only while out_valid.
// Reset       clears the valid bits; data is not reset.
// Proved      tests/formal/lib/rf_delay.vh: the output equals the input N cycles earlier.
//
// For N >= 3 the delay line is a circular memory: each beat is written once and read once; no data is shifted.

`default_nettype none

module rf_delay #(
  // Bits of a beat.
  parameter WIDTH = 8,
  // Cycles, 0 or more.
  parameter N = 4
) (
  input  wire             clk,
  input  wire             rst,
  input  wire             in_valid,
  input  wire [WIDTH-1:0] in_data,
  output wire             out_valid,
  output wire [WIDTH-1:0] out_data
);

  generate
    if (N == 0) begin : g_wire
      wire unused_clk = &{1'b0, clk, rst};

      assign out_valid = in_valid;
      assign out_data  = in_data;
    end else if (N <= 2) begin : g_regs
      reg             valid_q;
      reg [WIDTH-1:0] data_q;

      always @(posedge clk)
        if (rst) valid_q <= 1'b0;
        else valid_q <= in_valid;

      always @(posedge clk)
        if (in_valid) data_q <= in_data;

      if (N == 1) begin : g_one
        assign out_valid = valid_q;
        assign out_data  = data_q;
      end else begin : g_two
        reg             out_valid_q;
        reg [WIDTH-1:0] out_data_q;

        always @(posedge clk)
          if (rst) out_valid_q <= 1'b0;
          else out_valid_q <= valid_q;

        always @(posedge clk)
          if (valid_q) out_data_q <= data_q;

        assign out_valid = out_valid_q;
        assign out_data  = out_data_q;
      end
    end else begin : g_ram
      // Each address is read, then overwritten, every N - 1 cycles. The read register adds the N-th cycle.
      localparam D  = N - 1;
      localparam AW = $clog2(D);
      localparam [31:0] TOP = D - 1;

      reg [AW-1:0] ptr_q;
      reg [N-1:0]  valid_q;

      always @(posedge clk)
        if (rst) ptr_q <= {AW{1'b0}};
        else if (ptr_q == TOP[AW-1:0]) ptr_q <= {AW{1'b0}};
        else ptr_q <= ptr_q + 1'b1;

      always @(posedge clk)
        if (rst) valid_q <= {N{1'b0}};
        else valid_q <= {valid_q[N-2:0], in_valid};

      rf_ram_sdp #(
        .WIDTH       (WIDTH),
        .DEPTH       (D),
        .READ_LATENCY(1),
        .BYPASS      (0),
        .RAM_STYLE   ("distributed")
      ) ram (
        .clk    (clk),
        .wr_en  (in_valid),
        .wr_addr(ptr_q),
        .wr_data(in_data),
        .rd_en  (valid_q[N-2]),
        .rd_addr(ptr_q),
        .rd_data(out_data)
      );

      assign out_valid = valid_q[N-1];
    end
  endgenerate

`ifdef FORMAL
`include "rf_delay.vh"
`endif

endmodule

`default_nettype wire
