// rf_conn_table: finds a connection by (role, IP, destination QPN) in two hash tables of buckets; one copy per port.
//
// Latency     LATENCY = 2 cycles from l_valid to r_valid. A lookup in the cycle of a write, or later, sees the new
//             entry or, in that same cycle only, the old one.
// Throughput  one lookup and one write per cycle.
// Capacity    two tables of 2^HASH_BITS entries, in buckets of four. A key has eight possible places, so the tables
//             fill to 90 % and more.
// Handshake   valid only. Writes are accepted only while ready is high; lookups before that miss.
// Reset       all entries become empty: ready rises 2^(HASH_BITS - 2) cycles later.
// Proved      tests/rtl/conn_table.cpp.

`default_nettype none

module rf_conn_table #(
  // log2 of the entries of one table, 3..16.
  parameter HASH_BITS = 8,
  // 1: role 2 exists.
  parameter MIRROR = 1,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire        clk,
  input  wire        rst,
  output wire        ready,

  input  wire        l_valid,
  // 0 data, 1 ACK: the address is the destination's. 2 mirror: it is the source's.
  input  wire [1:0]  l_role,
  input  wire [31:0] l_ip,
  input  wire [23:0] l_qpn,

  output wire        r_valid,
  // r_cid and r_state are zero without a hit. An entry in state 0 does not hit.
  output wire        r_hit,
  output wire [15:0] r_cid,
  output wire [1:0]  r_state,
  // One of the entries compared had a parity error: the answer may be wrong.
  output wire        r_bad,

  input  wire        w_valid,
  input  wire        w_table,
  // Four times the bucket number, plus the place in the bucket. Bits from HASH_BITS on are ignored.
  input  wire [15:0] w_index,
  input  wire [1:0]  w_role,
  input  wire [31:0] w_ip,
  input  wire [23:0] w_qpn,
  input  wire [15:0] w_cid,
  input  wire [1:0]  w_state
);

  localparam PLACES = 4;
  localparam BW     = (HASH_BITS > 3) ? HASH_BITS - 2 : 1;
  localparam DEPTH  = 1 << BW;
  localparam RW     = (MIRROR != 0) ? 2 : 1;
  localparam KW     = RW + 56;
  localparam EW     = KW + 18;
  // Places of both tables.
  localparam ALL    = 2 * PLACES;

  generate
    if (HASH_BITS < 3 || HASH_BITS > 16) begin : g_error_bits
      ERROR_rf_conn_table_HASH_BITS_must_be_3_to_16 error ();
    end
  endgenerate

  // ---- After reset every bucket is written once with state 0.

  reg  [BW:0] sweep_q;
  wire        swept = sweep_q[BW];

  always @(posedge clk)
    if (rst) sweep_q <= {BW + 1{1'b0}};
    else if (!swept) sweep_q <= sweep_q + 1'b1;

  assign ready = swept;

  wire [BW-1:0] wr_addr = swept ? w_index[2+:BW] : sweep_q[BW-1:0];
  wire [EW-1:0] wr_data = swept ? {w_state, w_cid, w_role[RW-1:0], w_ip, w_qpn} : {EW{1'b0}};
  wire          unused_index = &{1'b0, w_index, w_role};

  // ---- Cycle 0: both bucket numbers, from one CRC.

  wire [31:0]   hash;
  wire [1:0]    role = (MIRROR != 0) ? l_role : {1'b0, l_role[0]};
  wire [KW-1:0] key = {role[RW-1:0], l_ip, l_qpn};

  rf_crc_key place (
    .en  (l_valid),
    .role(role),
    .qpn (l_qpn),
    .ip  (l_ip),
    .crc (hash)
  );

  // The CRC alone is linear: consecutive addresses and queue pairs could share few buckets.
  wire [31:0]       mixed = hash ^ ({hash[12:0], hash[31:13]} & {hash[22:0], hash[31:23]});
  wire              unused_mixed = &{1'b0, mixed};
  wire [ALL*EW-1:0] entry;
  wire [ALL-1:0]    entry_bad;

  genvar n;
  generate
    for (n = 0; n < ALL; n = n + 1) begin : g_place
      localparam TABLE = n / PLACES;
      localparam PLACE = n % PLACES;

      rf_ram_parity #(
        .WIDTH       (EW),
        .DEPTH       (DEPTH),
        .READ_LATENCY(1),
        .PART        (EW),
        .PARITY      (PARITY)
      ) ram (
        .clk    (clk),
        .wr_en  (!swept || (w_valid && w_table == TABLE[0] && w_index[1:0] == PLACE[1:0])),
        .wr_addr(wr_addr),
        .wr_data(wr_data),
        .wr_bad (1'b0),
        .rd_en  (l_valid),
        .rd_addr(mixed[16*TABLE+:BW]),
        .rd_data(entry[n*EW+:EW]),
        .rd_bad (entry_bad[n])
      );
    end
  endgenerate

  // ---- Cycle 1: compare. While firmware moves an entry it is in two places: the first one is used.

  reg          p1_valid_q;
  reg          p1_swept_q;
  reg [KW-1:0] p1_key_q;
  reg          r_valid_q;
  reg          r_bad_q;
  reg          r_hit_q;
  reg [17:0]   r_value_q;
  reg [ALL-1:0] hit;
  reg [17:0]   value;
  integer      k;

  always @* begin
    value = 18'd0;
    for (k = 0; k < ALL; k = k + 1)
      hit[k] = p1_swept_q && entry[k*EW+:KW] == p1_key_q && entry[k*EW+KW+16+:2] != 2'd0;
    for (k = ALL - 1; k >= 0; k = k - 1)
      if (hit[k]) value = entry[k*EW+KW+:18];
  end

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
    if (rst) r_bad_q <= 1'b0;
    else r_bad_q <= p1_valid_q && p1_swept_q && entry_bad != {ALL{1'b0}};

  always @(posedge clk)
    if (p1_valid_q) begin
      r_hit_q   <= hit != {ALL{1'b0}};
      r_value_q <= value;
    end

  assign r_valid = r_valid_q;
  assign r_bad   = r_bad_q;
  assign r_hit   = r_hit_q;
  assign r_cid   = r_value_q[15:0];
  assign r_state = r_value_q[17:16];

endmodule

`default_nettype wire
