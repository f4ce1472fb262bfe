// rf_sched_turn: for each pair of groups, one was checked before the other.
`include "rf_start.vh"

genvar f_t;
genvar f_u;
generate
  for (f_t = 0; f_t < GROUPS; f_t = f_t + 1) begin : f_group
    for (f_u = 0; f_u < GROUPS; f_u = f_u + 1) begin : f_other
      always @*
        if (f_started && !rst) assert (before_q[f_t*GROUPS + f_u] == (f_t != f_u && !before_q[f_u*GROUPS + f_t]));
    end
  end
endgenerate
