// The caller's contract of rf_reduce, checked in simulation if RF_CHECK is defined.

generate
  for (b = 0; b < PORTS; b = b + 1) begin : g_check
    localparam [31:0] AT = b;

    wire [1:0]  level   = in_level[b*2 +: 2];
    wire [3:0]  dtype   = in_dtype[b*4 +: 4];
    wire [2:0]  op      = in_op[b*3 +: 3];
    wire        lowest  = (AT[2:0] & ~(3'b111 << level)) == 3'd0;
    // Ports of the block, and which of them agree with its lowest one.
    wire [PORTS-1:0] block = ~({PORTS{1'b1}} << (5'd1 << level)) << b;
    wire [PORTS-1:0] same;

    for (q = 0; q < PORTS; q = q + 1) begin : g_same
      assign same[q] = in_valid[q] && in_level[q*2 +: 2] == level && in_dtype[q*4 +: 4] == dtype &&
                       in_op[q*3 +: 3] == op && in_first[q] == in_first[b] && in_final[q] == in_final[b] &&
                       in_last[q] == in_last[b];
    end

    reg        inside_q;
    reg        more_q;
    reg [1:0]  level_q;
    reg [3:0]  dtype_q;
    reg [2:0]  op_q;
    reg [15:0] age_q;
    reg [15:0] beats_q;

    always @(posedge clk)
      if (rst) begin
        inside_q <= 1'b0;
        more_q   <= 1'b0;
        age_q    <= 16'd0;
        beats_q  <= 16'd0;
      end else begin
        if (age_q != 16'hffff) age_q <= age_q + 16'd1;
        if (inside_q && !in_valid[b]) $fatal(1, "rf_reduce: gap in a pass at port %0d", b);
        if (in_valid[b] && lowest) begin
          if ((block & ~same) != {PORTS{1'b0}}) $fatal(1, "rf_reduce: ports of block %0d differ", b);
          if (((block & in_member) == {PORTS{1'b0}}) != in_empty[b]) $fatal(1, "rf_reduce: no member in block %0d", b);
          if (in_empty[b] && (in_first[b] || !in_final[b])) $fatal(1, "rf_reduce: lane without operands at block %0d", b);
          if (op != `RF_DO_COPY && ((TYPES >> dtype) & 1) == 0)
            $fatal(1, "rf_reduce: type %0d is not in TYPES", dtype);
          if (op > `RF_DO_COPY || (op >= `RF_DO_AND && op != `RF_DO_COPY && is_float(dtype)))
            $fatal(1, "rf_reduce: operation %0d on type %0d", op, dtype);
          if ({16'd0, beats_q} >= BEATS_MAX) $fatal(1, "rf_reduce: pass too long at block %0d", b);
          if (!inside_q) begin
            if (in_first[b] == more_q) $fatal(1, "rf_reduce: lanes out of order at block %0d", b);
            if (more_q && (level != level_q || dtype != dtype_q || op != op_q))
              $fatal(1, "rf_reduce: lanes differ at block %0d", b);
            if (more_q && age_q < `RF_REDUCE_PASS_MIN) $fatal(1, "rf_reduce: passes too close at block %0d", b);
            age_q   <= 16'd1;
            level_q <= level;
            dtype_q <= dtype;
            op_q    <= op;
          end
          inside_q <= !in_last[b];
          beats_q  <= in_last[b] ? 16'd0 : beats_q + 16'd1;
          if (in_last[b]) more_q <= !in_final[b];
        end
        if (g_block[b].valid_q && !g_block[b].long && g_block[b].acc_valid)
          $fatal(1, "rf_reduce: two results at once at block %0d", b);
      end
  end
endgenerate
