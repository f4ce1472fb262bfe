// rf_conn_table: finds a connection by (role, destination IP, destination QPN) in two hash tables; one copy per port.
//
// Latency     LATENCY = 2 cycles from l_valid to r_valid. A lookup in the cycle of a write, or later, sees the new entry
//             or, in that same cycle only, the old one.
// Throughput  one lookup and one write per cycle.
// Capacity    two tables of 2^HASH_BITS entries.
// Handshake   valid only. Writes count only while ready is high; lookups before that miss.
// Reset       all entries become empty: ready rises 2^HASH_BITS cycles later.

module rf_conn_table #(
  // log2 of the entries of one table, 1..16.
  parameter HASH_BITS = 8
) (
  input  wire        clk,
  input  wire        rst,
  output wire        ready,

  input  wire        l_valid,
  // 0 data, 1 ACK.
  input  wire        l_role,
  input  wire [31:0] l_ip,
  input  wire [23:0] l_qpn,

  output wire        r_valid,
  // r_cid and r_state are zero without a hit. An entry in state 0 is no hit.
  output wire        r_hit,
  output wire [15:0] r_cid,
  output wire [1:0]  r_state,

  input  wire        w_valid,
  input  wire        w_table,
  // Bits from HASH_BITS on are ignored.
  input  wire [15:0] w_index,
  input  wire        w_role,
  input  wire [31:0] w_ip,
  input  wire [23:0] w_qpn,
  input  wire [15:0] w_cid,
  input  wire [1:0]  w_state
);

endmodule
