// The requirements of rf_reduce on its caller (the header of rf_reduce; rf_reduce_check.vh is the same for simulation):
// passes without gaps, identical on all ports of a block, with at least one operand, or none in the final one of several
// lanes; the lanes of a packet one after another, of equal length, far enough apart. pass_read.proof shows this for the readers; pass_reduce.proof assumes it.
`include "rf_reduce.vh"

module reduce_caller #(
  parameter PORTS = 2,
  parameter BEATS_MAX = 2
) (
  input  wire               clk,
  input  wire               rst,
  input  wire [PORTS-1:0]   in_valid,
  input  wire [PORTS-1:0]   in_member,
  input  wire [PORTS-1:0]   in_empty,
  input  wire [PORTS*2-1:0] in_level,
  input  wire [PORTS*4-1:0] in_dtype,
  input  wire [PORTS*3-1:0] in_op,
  input  wire [PORTS-1:0]   in_first,
  input  wire [PORTS-1:0]   in_final,
  input  wire [PORTS-1:0]   in_last,
  // Number of the next beat within its pass, and of the last one; between the beats of a pass, between the passes of a
  // packet; the rest of the beat before.
  output wire [PORTS*4-1:0] beat,
  output wire [PORTS*4-1:0] beats,
  output wire [PORTS-1:0]   inside,
  output wire [PORTS-1:0]   more,
  output wire [PORTS*11-1:0] same_as,
  // Cycles since the first beat of the last pass, at most 15.
  output wire [PORTS*4-1:0] ages
);

  genvar p;
  generate
    for (p = 0; p < PORTS; p = p + 1) begin : g_port
      localparam [31:0] AT = p;

      wire [1:0] level = in_level[p*2 +: 2];
      wire [11:0] same = {in_final[p], in_first[p], in_dtype[p*4 +: 4], in_op[p*3 +: 3], level, in_last[p]};
      wire [2:0] low   = AT[2:0] & (3'b111 << level);

      reg        inside_q;
      reg        more_q;
      reg  [10:0] same_q;
      reg  [3:0] beat_q;
      reg  [3:0] beats_q;
      reg  [3:0] age_q;
      wire [2:0] was   = AT[2:0] & (3'b111 << same_q[1:0]);

      assign beat[p*4 +: 4]    = beat_q;
      assign beats[p*4 +: 4]   = beats_q;
      assign inside[p]         = inside_q;
      assign more[p]           = more_q;
      assign same_as[p*11 +: 11] = same_q;
      assign ages[p*4 +: 4]    = age_q;

      always @(posedge clk)
        if (rst) begin
          inside_q <= 1'b0;
          more_q   <= 1'b0;
          beat_q   <= 4'd0;
        end else if (in_valid[p]) begin
          inside_q <= !in_last[p];
          beat_q   <= in_last[p] ? 4'd0 : beat_q + 4'd1;
          if (in_last[p]) more_q <= !in_final[p];
        end

      always @(posedge clk)
        if (in_valid[p]) begin
          same_q <= same[11:1];
          if (in_last[p] && in_first[p]) beats_q <= beat_q;
        end

      always @(posedge clk)
        if (in_valid[p] && !inside_q) age_q <= 4'd1;
        else if (age_q != 4'd15) age_q <= age_q + 4'd1;

      integer q;
      always @*
        if (!rst) begin
          if (inside_q) assert (in_valid[p]);
          // Implied by the other assertions: the ports of a block are at the same beat.
          if (inside_q || more_q)
            for (q = 0; q < PORTS; q = q + 1)
              if (q >= was && q < was + (8'd1 << same_q[1:0])) begin
                assert (inside[q] == inside_q && more[q] == more_q && beat[q*4 +: 4] == beat_q && same_as[q*11 +: 11] == same_q);
                assert (ages[q*4 +: 4] == age_q && (!more_q || beats[q*4 +: 4] == beats_q));
              end
          assert (inside_q == (beat_q != 4'd0) && beat_q < BEATS_MAX && (!more_q || beats_q < BEATS_MAX));
          if (in_valid[p]) begin
            for (q = 0; q < PORTS; q = q + 1)
              if (q >= low && q < low + (8'd1 << level))
                assert (in_valid[q] && same == {in_final[q], in_first[q], in_dtype[q*4 +: 4], in_op[q*3 +: 3], in_level[q*2 +: 2],
                                                in_last[q]});
            assert (((in_member >> low & ~(8'hff << (8'd1 << level))) == 0) == in_empty[p]);
            if (in_empty[p]) assert (!in_first[p] && in_final[p]);
            assert (beat_q < BEATS_MAX);
            if (inside_q) assert (same[11:1] == same_q);
            else assert (in_first[p] == !more_q);
            if (more_q) begin
              assert (same[9:1] == same_q[8:0]);
              if (!inside_q) assert (age_q >= `RF_REDUCE_PASS_MIN);
              assert (in_last[p] == (beat_q == beats_q));
            end
          end
        end
    end
  endgenerate

endmodule
