// Constants of the reduction that other modules rely on; rf_reduce asserts them.
`ifndef RF_REDUCE_VH
`define RF_REDUCE_VH

// Latency of rf_fp_vec in cycles.
`define RF_FP_LATENCY 5
// Cycles from in_valid to out_valid of a packet of one lane, if no slower packet is ahead of it.
`define RF_REDUCE_LATENCY(ports) (4 + `RF_FP_LATENCY * $clog2(ports))
// Additional cycles for a packet of more than one lane.
`define RF_REDUCE_LANES_EXTRA `RF_FP_LATENCY
// Minimum distance in cycles between the first beats of two passes of one packet.
`define RF_REDUCE_PASS_MIN (`RF_FP_LATENCY + 2)

`endif
