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

  localparam DEPTH = 1 << HASH_BITS;
  localparam KW    = 57;
  localparam EW    = KW + 18;

  generate
    if (HASH_BITS < 1 || HASH_BITS > 16) begin : g_error_bits
      ERROR_rf_conn_table_HASH_BITS_must_be_1_to_16 error ();
    end
  endgenerate

  // ---- After reset every entry is written once with state 0.

  reg  [HASH_BITS:0] sweep_q;
  wire               swept = sweep_q[HASH_BITS];

  always @(posedge clk)
    if (rst) sweep_q <= {HASH_BITS + 1{1'b0}};
    else if (!swept) sweep_q <= sweep_q + 1'b1;

  assign ready = swept;

  wire [HASH_BITS-1:0] wr_addr = swept ? w_index[HASH_BITS-1:0] : sweep_q[HASH_BITS-1:0];
  wire [EW-1:0]        wr_data = swept ? {w_state, w_cid, w_role, w_ip, w_qpn} : {EW{1'b0}};
  wire                 unused_index = &{1'b0, w_index};

  // ---- Cycle 0: both places, from one CRC.

  wire [31:0]   hash;
  wire [KW-1:0] key = {l_role, l_ip, l_qpn};

  rf_crc_key place (
    .en  (l_valid),
    .role(l_role),
    .qpn (l_qpn),
    .ip  (l_ip),
    .crc (hash)
  );

  wire          unused_hash = &{1'b0, hash};
  wire [EW-1:0] entry0;
  wire [EW-1:0] entry1;

  rf_ram_sdp #(
    .WIDTH       (EW),
    .DEPTH       (DEPTH),
    .READ_LATENCY(1)
  ) table0 (
    .clk    (clk),
    .wr_en  (!swept || (w_valid && !w_table)),
    .wr_addr(wr_addr),
    .wr_data(wr_data),
    .rd_en  (l_valid),
    .rd_addr(hash[HASH_BITS-1:0]),
    .rd_data(entry0)
  );

  rf_ram_sdp #(
    .WIDTH       (EW),
    .DEPTH       (DEPTH),
    .READ_LATENCY(1)
  ) table1 (
    .clk    (clk),
    .wr_en  (!swept || (w_valid && w_table)),
    .wr_addr(wr_addr),
    .wr_data(wr_data),
    .rd_en  (l_valid),
    .rd_addr(hash[16+HASH_BITS-1:16]),
    .rd_data(entry1)
  );

  // ---- Cycle 1: compare.

  reg          p1_valid_q;
  reg          p1_swept_q;
  reg [KW-1:0] p1_key_q;
  reg          r_valid_q;
  reg          r_hit_q;
  reg [15:0]   r_cid_q;
  reg [1:0]    r_state_q;

  wire hit0 = p1_swept_q && entry0[KW-1:0] == p1_key_q && entry0[EW-1-:2] != 2'd0;
  wire hit1 = p1_swept_q && entry1[KW-1:0] == p1_key_q && entry1[EW-1-:2] != 2'd0;

  always @(posedge clk)
    if (rst) p1_valid_q <= 1'b0;
    else p1_valid_q <= l_valid;

  always @(posedge clk)
    if (l_valid) begin
      p1_key_q   <= key;
      p1_swept_q <= swept;
    end

  always @(posedge clk)
    if (rst) r_valid_q <= 1'b0;
    else r_valid_q <= p1_valid_q;

  always @(posedge clk)
    if (p1_valid_q) begin
      r_hit_q   <= hit0 || hit1;
      r_cid_q   <= hit0 ? entry0[KW+:16] : hit1 ? entry1[KW+:16] : 16'd0;
      r_state_q <= hit0 ? entry0[EW-1-:2] : hit1 ? entry1[EW-1-:2] : 2'd0;
    end

  assign r_valid = r_valid_q;
  assign r_hit   = r_hit_q;
  assign r_cid   = r_cid_q;
  assign r_state = r_state_q;

endmodule
