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


// Element types: masks for the parameter TYPES, in which bit t stands for the type of number t in the registers (DTYPE);
// those whose number matters here.
`define RF_TYPES_FP       32'h007
`define RF_TYPES_HALF     32'h006
`define RF_TYPES_INT      32'h318
`define RF_TYPES_BYTE     32'h300
`define RF_TYPES_FP64     32'h080
`define RF_TYPES_INT64    32'h060
`define RF_TYPES_WIDE     32'h0e0
`define RF_TYPES_UNSIGNED 32'h250
`define RF_TYPE_FP32      4'd0
`define RF_TYPE_FP16      4'd2
`define RF_TYPE_INT32     4'd3
`define RF_TYPE_FP64      4'd7
// Operations, by their number in the registers (OP).
`define RF_DO_SUM         3'd0
`define RF_DO_MIN         3'd1
`define RF_DO_MAX         3'd2
`define RF_DO_AND         3'd3
`define RF_DO_OR          3'd4
`define RF_DO_XOR         3'd5
`define RF_DO_COPY        3'd6
// Results of an rf_fp_alu: the greater or the lower operand, their sum as integers, a NaN, and, or, xor, sums of bytes.
`define RF_FP_BIG         3'd0
`define RF_FP_LOW         3'd1
`define RF_FP_SUM         3'd2
`define RF_FP_NAN         3'd3
`define RF_FP_AND         3'd4
`define RF_FP_OR          3'd5
`define RF_FP_XOR         3'd6
`define RF_FP_BYTES       3'd7

`endif
