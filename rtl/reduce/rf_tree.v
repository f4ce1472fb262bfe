// rf_tree: unpacks the ports' beats and reduces each aligned block of ports in a balanced binary tree.
//
// Latency     1 + 5 * log2(ports, rounded up) cycles, for every block size.
// Throughput  1 beat per port and cycle; disjoint blocks in parallel.
// Capacity    none beyond the pipeline.
// Handshake   valid only, no back-pressure. The result of a block is output at its lowest port.
// Reset       clears the valid bits; data is not reset.
// Proved      tests/rtl/reduce.cpp; tests/formal/pass_reduce.proof, inside rf_reduce.
//
// After level k only the ports that are multiples of 2^k continue. A node combines two ports that are 2^(k-1) apart,
// the lower one on the left.
// If a block ends below a node, its value is passed on as the only operand (left) or waits in a delay line (right). So
// every block has the same latency.

`include "rf_reduce.vh"

`default_nettype none

module rf_tree #(
  // Ports, 2 to 8; need not be a power of two.
  parameter PORTS = 4,
  // Bits of a port's beat.
  parameter WIDTH = 512,
  // Types that are supported; with one of 16 bits, each beat is 2 x WIDTH bits wide inside.
  parameter TYPES = 1023,
  // 1: one of them has 16 bits. Follows from TYPES.
  parameter HALF = ((TYPES & `RF_TYPES_HALF) != 0) ? 1 : 0,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                            clk,
  input  wire                            rst,
  // Per port; all except in_data and in_member are identical for the ports of a block.
  input  wire [PORTS-1:0]                in_valid,
  input  wire [PORTS*WIDTH-1:0]          in_data,
  input  wire [PORTS-1:0]                in_member,
  input  wire [PORTS*2-1:0]              in_level,
  input  wire [PORTS*4-1:0]              in_dtype,
  input  wire [PORTS*3-1:0]              in_op,
  input  wire [PORTS-1:0]                in_first,
  input  wire [PORTS-1:0]                in_final,
  input  wire [PORTS-1:0]                in_last,
  // Control, one cycle before the data: valid at the lowest port of a block only.
  output wire [PORTS-1:0]                soon_valid,
  output wire [PORTS*2-1:0]              soon_level,
  output wire [PORTS*4-1:0]              soon_dtype,
  output wire [PORTS*3-1:0]              soon_op,
  output wire [PORTS-1:0]                soon_first,
  output wire [PORTS-1:0]                soon_final,
  output wire [PORTS-1:0]                soon_last,
  // {second elements, first elements or 32-bit elements}.
  output wire [PORTS*WIDTH*(1+HALF)-1:0] out_data,
  // Parity errors in a delay line, valid with the data: in the beat of the block whose lowest port this is; in the data
  // that this port gave to a larger block.
  output wire [PORTS-1:0]                out_bad,
  output wire [PORTS-1:0]                out_lost,
  // A control signal had a parity error.
  output wire                            bad
);

`include "rf_types.vh"

  localparam LEVELS = $clog2(PORTS);
  localparam D      = `RF_FP_LATENCY;
  localparam WORDS  = WIDTH / 32;
  localparam IN     = WIDTH * (1 + HALF);
  // Control word: last, final, first, op, dtype, level.
  localparam CTL    = 12;

  // Delay lines of control, per level and port; delay lines of data of ports that have no partner.
  wire [(LEVELS+1)*PORTS-1:0] node_bad;
  wire [PORTS-1:0]            end_bad;
  wire [(LEVELS+1)*PORTS-1:0] alone_bad;

  genvar p, k, w;
  generate
    if (PORTS < 2 || PORTS > 8) begin : g_error_ports
      ERROR_rf_tree_PORTS_must_be_2_to_8 error ();
    end
    if (WIDTH % 32 != 0) begin : g_error_width
      ERROR_rf_tree_WIDTH_must_be_a_multiple_of_32 error ();
    end

    // Leaves: after unpacking, level 0.
    for (p = 0; p < PORTS; p = p + 1) begin : g_leaf
      reg            valid_q;
      reg            member_q;
      reg  [CTL-1:0] ctl_q;
      wire [IN-1:0]  data;
      wire [3:0]     dtype = in_dtype[p*4 +: 4];

      always @(posedge clk)
        if (rst) valid_q <= 1'b0;
        else valid_q <= in_valid[p];

      always @(posedge clk)
        if (in_valid[p]) begin
          member_q <= in_member[p];
          ctl_q    <= {in_last[p], in_final[p], in_first[p], in_op[p*3 +: 3], dtype, in_level[p*2 +: 2]};
        end

      for (w = 0; w < WORDS; w = w + 1) begin : g_word
        if (HALF != 0) begin : g_half
          rf_fp_unpack unpack (
            .clk    (clk),
            .in_en  (in_valid[p] && in_member[p]),
            .in_half(is_half(dtype)),
            .in_fp16(dtype == `RF_TYPE_FP16),
            .in_word(in_data[p*WIDTH+w*32 +: 32]),
            .low    (data[w*32 +: 32]),
            .high   (data[WIDTH+w*32 +: 32])
          );
        end else begin : g_word_only
          reg [31:0] word_q;

          always @(posedge clk)
            if (in_valid[p] && in_member[p]) word_q <= in_data[p*WIDTH+w*32 +: 32];

          assign data[w*32 +: 32] = word_q;
        end
      end
    end

    // g_level[k].g_port[p]: the value at port p after level k; p is a multiple of 2^k.
    for (k = 0; k <= LEVELS; k = k + 1) begin : g_level
      for (p = 0; p < PORTS; p = p + (1 << k)) begin : g_port
        wire           valid;
        wire           on;
        wire [CTL-1:0] ctl;
        wire [IN-1:0]  data;

        if (k == 0) begin : g_in
          assign valid = g_leaf[p].valid_q;
          assign on    = g_leaf[p].member_q;
          assign ctl   = g_leaf[p].ctl_q;
          assign data  = g_leaf[p].data;
          assign node_bad[k*PORTS+p]  = 1'b0;
          assign alone_bad[k*PORTS+p] = 1'b0;
        end else begin : g_node
          wire           left_valid = g_level[k-1].g_port[p].valid;
          wire           left_on    = g_level[k-1].g_port[p].on;
          wire [CTL-1:0] left_ctl   = g_level[k-1].g_port[p].ctl;
          wire           on_d;

          // Control of a node, delayed to match its data.
          rf_delay_parity #(
            .WIDTH (CTL + 1),
            .N     (D),
            .PARITY(PARITY)
          ) control (
            .clk      (clk),
            .rst      (rst),
            .in_valid (left_valid),
            .in_data  ({on_d, left_ctl}),
            .out_valid(valid),
            .out_data ({on, ctl}),
            .out_bad  (node_bad[k*PORTS+p])
          );

          if (p + (1 << (k - 1)) < PORTS) begin : g_add
            localparam R = p + (1 << (k - 1));
            // The block of the left operand includes this node.
            wire both     = {30'd0, left_ctl[1:0]} >= k;
            wire right_on = both && g_level[k-1].g_port[R].on;
            wire unused_valid;

            assign on_d = left_on || right_on;
            assign alone_bad[k*PORTS+p] = 1'b0;

            rf_fp_vec #(
              .WORDS(WORDS),
              .TYPES(TYPES)
            ) vec (
              .clk      (clk),
              .rst      (rst),
              .in_valid (left_valid && on_d),
              .in_dtype (left_ctl[5:2]),
              .in_op    (left_ctl[8:6]),
              .in_a_on  (left_on),
              .in_b_on  (right_on),
              .in_a     (g_level[k-1].g_port[p].data),
              .in_b     (g_level[k-1].g_port[R].data),
              .out_valid(unused_valid),
              .out_data (data)
            );
          end else begin : g_alone
            // There is no port on the right.
            wire [1:0] unused_valid;

            assign on_d = left_on;

            wire line_bad;

            rf_tree_delay #(
              .WIDTH (WIDTH),
              .HALF  (HALF),
              .N     (D),
              .PARITY(PARITY)
            ) line (
              .clk      (clk),
              .rst      (rst),
              .in_valid (left_valid && on_d),
              .in_half  (is_half(left_ctl[5:2])),
              .in_data  (g_level[k-1].g_port[p].data),
              .out_data (data),
              .out_bad  (line_bad)
            );

            // Delayed to match the results of the same beat.
            if (PARITY != 0 && k < LEVELS) begin : g_parity
              reg  bad_q;
              wire there;
              wire lost;

              always @(posedge clk) bad_q <= valid && on && line_bad;

              rf_delay #(
                .WIDTH(1),
                .N    (D * (LEVELS - k) - 1)
              ) lost_line (
                .clk      (clk),
                .rst      (rst),
                .in_valid (1'b1),
                .in_data  (bad_q),
                .out_valid(there),
                .out_data (lost)
              );

              assign alone_bad[k*PORTS+p] = there && lost;
            end else begin : g_plain
              wire unused_bad = line_bad;

              assign alone_bad[k*PORTS+p] = 1'b0;
            end
          end
        end
      end

      // Ports that do not continue to this level.
      for (p = 0; p < PORTS; p = p + 1) begin : g_none
        if (p % (1 << k) != 0) begin : g_off
          assign node_bad[k*PORTS+p]  = 1'b0;
          assign alone_bad[k*PORTS+p] = 1'b0;
        end
      end
    end

    // From the last level at which a port has no partner to the output, and the control for the output.
    for (p = 0; p < PORTS; p = p + 1) begin : g_out
      // The last level to which port p continues.
      localparam        T  = (p == 0) ? LEVELS : (p % 2 != 0) ? 0 : (p % 4 != 0) ? 1 : 2;
      localparam [31:0] AT = p;

      wire       valid = g_level[T].g_port[p].valid;
      wire [1:0] level = g_level[T].g_port[p].ctl[1:0];
      wire [3:0] dtype = g_level[T].g_port[p].ctl[5:2];
      wire [5:0] unused_ctl = g_level[T].g_port[p].ctl[11:6];
      wire       unused_on  = g_level[T].g_port[p].on;
      wire [1:0] in_block   = in_level[p*2 +: 2];
      // Port p is the lowest of its block.
      wire       in_lowest  = (AT[2:0] & ~(3'b111 << in_block)) == 3'd0;
      wire       lowest     = (AT[2:0] & ~(3'b111 << level)) == 3'd0;

      wire [LEVELS:0] alone;

      for (k = 0; k <= LEVELS; k = k + 1) begin : g_alone_bad
        assign alone[k] = alone_bad[k*PORTS+p];
      end

      assign out_lost[p] = alone != {LEVELS + 1{1'b0}};

      rf_tree_delay #(
        .WIDTH (WIDTH),
        .HALF  (HALF),
        .N     (D * (LEVELS - T)),
        .PARITY(PARITY)
      ) line (
        .clk     (clk),
        .rst     (rst),
        .in_valid(valid && lowest),
        .in_half (is_half(dtype)),
        .in_data (g_level[T].g_port[p].data),
        .out_data(out_data[p*IN +: IN]),
        .out_bad (out_bad[p])
      );

      rf_delay_parity #(
        .WIDTH (CTL),
        .N     (D * LEVELS),
        .PARITY(PARITY)
      ) control (
        .clk      (clk),
        .rst      (rst),
        .in_valid (in_valid[p] && in_lowest),
        .in_data  ({in_last[p], in_final[p], in_first[p], in_op[p*3 +: 3], in_dtype[p*4 +: 4], in_block}),
        .out_valid(soon_valid[p]),
        .out_data ({soon_last[p], soon_final[p], soon_first[p], soon_op[p*3 +: 3], soon_dtype[p*4 +: 4],
                    soon_level[p*2 +: 2]}),
        .out_bad  (end_bad[p])
      );
    end

    if (PARITY != 0) begin : g_bad
      reg bad_q;

      always @(posedge clk)
        if (rst) bad_q <= 1'b0;
        else bad_q <= node_bad != {(LEVELS+1)*PORTS{1'b0}} || end_bad != {PORTS{1'b0}};

      assign bad = bad_q;
    end else begin : g_good
      wire unused_bad = &{1'b0, node_bad, end_bad};

      assign bad = 1'b0;
    end
  endgenerate

endmodule

`default_nettype wire
