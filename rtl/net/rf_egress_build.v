// rf_egress_build: assembles the header and payload of a packet, beat by beat, and leaves space for the ICRC.
//
// Latency     1 cycle.
// Throughput  one beat per cycle.
// Capacity    two beats.
// Handshake   e_ready and p_ready as in rf_egress; b_* has no back-pressure: room is high while at least two more beats
//             can be taken.
// Reset       discards the packet in progress.

`default_nettype none

module rf_egress_build #(
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512
) (
  input  wire                       clk,
  input  wire                       rst,
  input  wire [47:0]                mac,
  input  wire                       room,

  input  wire                       e_valid,
  output wire                       e_ready,
  input  wire                       e_raw,
  input  wire [639:0]               e_hdr,
  input  wire [6:0]                 e_hlen,
  input  wire [13:0]                e_plen,
  input  wire [13:0]                e_len,

  input  wire                       p_valid,
  output wire                       p_ready,
  input  wire [WIDTH-1:0]           p_data,

  output wire                       b_valid,
  output wire [WIDTH-1:0]           b_data,
  output wire                       b_last,
  // Bytes of the frame in the last beat, 0 for all. If the ICRC begins in this beat: the first byte after the ICRC.
  output wire [$clog2(WIDTH/8)-1:0] b_ones,
  // b_icrc: the ICRC begins in this beat. b_rest: the beat holds only the rest of the ICRC.
  output wire                       b_icrc,
  output wire                       b_rest,
  // For the ICRC: the beat is covered; its number (saturates at 7); the frame has a tag; last covered beat.
  output wire                       b_covered,
  output wire [2:0]                 b_beat,
  output wire                       b_vlan,
  output wire                       b_end,

  output wire                       idle
);

  localparam B  = WIDTH / 8;
  localparam LB = $clog2(B);
  localparam CW = 15 - LB;
  localparam RW = 640 - WIDTH;

  // ---- Needs of the packet at the input: beats after the first one, header-only beats at the start, and payload beats
  // after the first payload beat. A made frame never ends on a beat boundary.

  wire [14:0]   e_sum  = {1'b0, e_plen} + {8'd0, e_hlen};
  wire [13:0]   e_less = e_len - 14'd1;
  wire [13:0]   p_less = e_plen - 14'd1;
  wire [CW-1:0] e_left = e_raw ? {1'b0, e_less[13:LB]} : e_sum[14:LB];
  wire [CW-1:0] e_pays = {1'b0, e_raw ? e_less[13:LB] : p_less[13:LB]};
  wire          e_need = e_raw || e_plen != 14'd0;
  wire [LB-1:0] e_stop = e_raw ? e_len[LB-1:0] : e_sum[LB-1:0];
  wire [3:0]    e_skip = e_raw ? 4'd0 : {{LB - 3{1'b0}}, e_hlen[6:LB]};
  wire [3:0]    e_code;
  wire          e_vlan = e_hdr[8*12+:16] == 16'h0081;
  wire          unused_sums = &{1'b0, e_less[LB-1:0], p_less[LB-1:0]};

  rf_align_code #(
    .WIDTH(WIDTH)
  ) align_code (
    .hlen(e_hlen),
    .code(e_code)
  );

  // ---- The packet in progress.

  reg           run_q;
  // !run_q. A register of its own because it selects the header's bits and run_q all the rest: both have a large
  // fanout.
  reg           first_q;
  reg           rest_q;
  reg           raw_q;
  reg           vlan_q;
  reg           tail_q;
  reg  [3:0]    code_q;
  reg  [2:0]    beat_q;
  reg  [3:0]    skip_q;
  reg  [CW-1:0] left_q;
  // left_q is 0.
  reg           last_q;
  reg  [CW-1:0] pays_q;
  reg           need_q;
  reg  [LB-3:0] off_q;
  reg  [LB-1:0] end_q;
  reg  [RW-1:0] hdr_q;
  reg  [WIDTH-1:0] held_q;

  wire          raw  = run_q ? raw_q : e_raw;
  wire          vlan = run_q ? vlan_q : e_vlan;
  // The beat in which the header ends has not been built yet.
  wire          tail = run_q ? tail_q : !e_raw;
  wire [3:0]    code = run_q ? code_q : e_raw ? 4'd0 : e_code;
  wire [2:0]    beat = run_q ? beat_q : 3'd0;
  wire [3:0]    skip = run_q ? skip_q : e_skip;
  wire [CW-1:0] left = run_q ? left_q : e_left;
  wire [CW-1:0] pays = run_q ? pays_q : e_pays;
  wire          need = run_q ? need_q : e_need;
  wire [LB-3:0] off  = run_q ? off_q : e_hlen[LB-1:2];
  wire [LB-1:0] stop = run_q ? end_q : e_stop;

  wire takes = skip == 4'd0 && need;
  wire go    = room && !rest_q && (run_q || e_valid) && (!takes || p_valid);
  // For a packet in progress a register says so, because the bytes to clear depend on it.
  wire ending = run_q ? last_q : e_left == {CW{1'b0}};
  // The ICRC does not fit after the payload.
  wire spill = !raw && stop[LB-1:2] == {LB - 2{1'b1}};

  assign e_ready = go && !run_q;
  assign p_ready = go && takes;

  always @(posedge clk)
    if (rst) run_q <= 1'b0;
    else if (go) run_q <= !ending;

  always @(posedge clk)
    if (rst) first_q <= 1'b1;
    else if (go) first_q <= ending;

  always @(posedge clk)
    if (rst) rest_q <= 1'b0;
    else if (go) rest_q <= ending && spill;
    else if (room) rest_q <= 1'b0;

  always @(posedge clk)
    if (e_ready) begin
      raw_q  <= e_raw;
      vlan_q <= e_vlan;
      code_q <= e_raw ? 4'd0 : e_code;
      off_q  <= e_hlen[LB-1:2];
      end_q  <= e_stop;
    end

  always @(posedge clk)
    if (go) begin
      beat_q <= (beat == 3'd7) ? beat : beat + 3'd1;
      left_q <= left - 1'b1;
      last_q <= left == {{CW-1{1'b0}}, 1'b1};
      skip_q <= (skip == 4'd0) ? skip : skip - 4'd1;
      pays_q <= takes ? pays - 1'b1 : pays;
      need_q <= need && !(takes && pays == {CW{1'b0}});
      tail_q <= tail && skip != 4'd0;
    end

  // The part of the header after the first beat, next beat in the lowest bits.
  always @(posedge clk)
    if (go && tail) hdr_q <= first_q ? e_hdr[639:WIDTH] : hdr_q >> WIDTH;

  always @(posedge clk)
    if (p_ready && !raw) held_q <= p_data;

  // ---- The beat.

  // The header's bytes of this beat. Those after the header's end are not selected, so with wide beats only its first RW
  // bits can come from hdr_q.
  wire [WIDTH-1:0] header;

  generate
    if (RW >= WIDTH) assign header = first_q ? e_hdr[WIDTH-1:0] : hdr_q[WIDTH-1:0];
    else assign header = {e_hdr[WIDTH-1:RW], first_q ? e_hdr[RW-1:0] : hdr_q};
  endgenerate

  // Header length and end of the payload are 2 more than a multiple of 4, so bytes are selected in groups of 4.
  // Selected are the bytes of the header and the bytes that are zero: the space for the ICRC, and the checksum.
  localparam GROUPS = B / 4;
  localparam SUM_BEAT0 = 40 / B;
  localparam SUM_BEAT1 = 44 / B;
  wire [WIDTH-1:0] data;
  reg  [B-1:0]     ahead;
  reg  [B-1:0]     clear;
  integer g;

  always @* begin
    ahead = {B{1'b0}};
    clear = {B{1'b0}};
    if (!raw) begin
      if (skip != 4'd0) ahead = {B{1'b1}};
      else if (tail) begin
        ahead[1:0] = 2'b11;
        for (g = 0; g < GROUPS - 1; g = g + 1)
          if (off > g[LB-3:0]) ahead[4*g+2+:4] = 4'hf;
      end
      if (ending) begin
        for (g = 0; g < GROUPS - 1; g = g + 1)
          if (stop[LB-1:2] <= g[LB-3:0]) clear[4*g+2+:4] = 4'hf;
        clear[B-1-:2] = 2'b11;
      end
      if (!vlan && beat == SUM_BEAT0[2:0]) clear[40%B+:2] = 2'b11;
      if (vlan && beat == SUM_BEAT1[2:0]) clear[44%B+:2] = 2'b11;
    end
  end

  rf_align #(
    .WIDTH(WIDTH),
    .BACK (1)
  ) align (
    .en     (1'b1),
    .code   (code),
    .prev   (held_q),
    .next   (p_data),
    .instead(ahead),
    .other  (header),
    .out    (data)
  );

  // ---- Output registers; the source MAC is inserted here.

  wire [47:0] source = {mac[7:0], mac[15:8], mac[23:16], mac[31:24], mac[39:32], mac[47:40]};

  reg             b_valid_q;
  reg [WIDTH-1:0] b_data_q;
  reg             b_last_q;
  reg [LB-1:0]    b_ones_q;
  reg             b_icrc_q;
  reg             b_rest_q;
  reg             b_covered_q;
  reg [2:0]       b_beat_q;
  reg             b_vlan_q;
  reg             b_end_q;

  always @(posedge clk)
    if (rst) b_valid_q <= 1'b0;
    else b_valid_q <= go || (rest_q && room);

  wire [WIDTH-1:0] named;

  generate
    if (B == 8) begin : g_narrow
      assign named = (beat == 3'd0) ? {source[15:0], data[47:0]} : (beat == 3'd1) ? {data[63:32], source[47:16]} : data;
    end else begin : g_wide
      assign named = {data[WIDTH-1:96], (beat == 3'd0) ? source : data[95:48], data[47:0]};
    end
  endgenerate

  // Without an enable, because go comes late: a beat is valid for one cycle. While rest_q is high, go is low, and b_ones
  // keeps its value. The bytes of the source MAC are never among those to clear: no frame ends there.
  genvar k;
  generate
    for (k = 0; k < B; k = k + 1) begin : g_byte
      always @(posedge clk)
        if (clear[k] || rest_q) b_data_q[8*k+:8] <= 8'h00;
        else b_data_q[8*k+:8] <= named[8*k+:8];
    end
  endgenerate

  always @(posedge clk) begin
    if (!rest_q) b_ones_q <= raw ? stop : {stop[LB-1:2] + 1'b1, 2'd2};
    b_last_q    <= rest_q || (ending && !spill);
    b_icrc_q    <= !rest_q && ending && !raw;
    b_covered_q <= !rest_q && !raw;
    b_rest_q    <= rest_q;
    b_beat_q    <= beat;
    b_vlan_q    <= vlan;
    b_end_q     <= ending;
  end

  assign b_valid   = b_valid_q;
  assign b_data    = b_data_q;
  assign b_last    = b_last_q;
  assign b_ones    = b_ones_q;
  assign b_icrc    = b_icrc_q;
  assign b_rest    = b_rest_q;
  assign b_covered = b_covered_q;
  assign b_beat    = b_beat_q;
  assign b_vlan    = b_vlan_q;
  assign b_end     = b_end_q;
  assign idle      = !run_q && !rest_q && !b_valid_q;

endmodule

`default_nettype wire
