// Figures of the reduction that other modules count with; rf_reduce asserts them.
`ifndef RF_REDUCE_VH
`define RF_REDUCE_VH

// Cycles of rf_fp_vec.
`define RF_FP_LATENCY 5
// Cycles from in_valid to out_valid of a packet of one lane, where nothing slower is before it.
`define RF_REDUCE_LATENCY(ports) (4 + `RF_FP_LATENCY * $clog2(ports))
// Cycles that a packet of more than one lane takes longer.
`define RF_REDUCE_LANES_EXTRA `RF_FP_LATENCY
// Least distance in cycles between the first beats of two passes of one packet.
`define RF_REDUCE_PASS_MIN (`RF_FP_LATENCY + 2)

`endif
