// rf_judge_admit: p0 to p3 of rf_judge: admits descriptors and keeps them until the connection table and the
// connection's fields have answered.
//
// Latency     descriptor to p3: 3 cycles.
// Throughput  one descriptor per cycle.
// Capacity    COMMANDS frames between descriptor and command.
// Handshake   d_ready comes from registers only. Nothing stalls after it: COMMANDS credits limit the descriptors
//             admitted.
// Reset       no descriptor is in progress.
// Proved      tests/rtl/unit_judge.cpp, as part of rf_judge.

`default_nettype none

module rf_judge_admit #(
  parameter PORTS = 4,
  parameter LANES = 1,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2,
  // Commands that may wait: a power of two, 8 or more.
  parameter COMMANDS = 16
) (
  input  wire                   clk,
  input  wire                   rst,

  // No further descriptor is accepted.
  input  wire                   pause,
  // A command was taken: it returns one credit.
  input  wire                   m_done,

  // Descriptors of rf_ingress.
  input  wire                   d_valid,
  output wire                   d_ready,
  input  wire [1:0]             d_class,
  input  wire [7:0]             d_cause,
  input  wire [13:0]            d_len,
  input  wire                   d_vlan,
  input  wire [7:0]             d_opcode,
  input  wire [23:0]            d_psn,
  input  wire [1:0]             d_pad,
  input  wire [31:0]            d_src_ip,
  input  wire                   d_to_port,
  input  wire [15:0]            d_udp_len,
  input  wire [6:0]             d_hlen,
  input  wire [13:0]            d_plen,
  input  wire [7:0]             d_syndrome,
  input  wire [23:0]            d_msn,
  input  wire                   d_icrc_ok,

  // Connection table: queried in the cycle in which a descriptor is taken; it answers 2 cycles later, in p2.
  output wire                   l_valid,
  input  wire                   r_hit,
  input  wire [15:0]            r_cid,
  input  wire [1:0]             r_state,

  // The firmware's fields of connection f_cid, read in the next cycle (rf_conn_static).
  output wire                   f_read,
  output wire [GW+LW+PW-1:0]    f_conn,

  // p3: the descriptor and the table's answer. good: the cid is one of this box; foreign: others handle it.
  output wire                   p3_valid,
  output wire                   p3_hit,
  output wire                   p3_good,
  output wire                   p3_foreign,
  output wire [1:0]             p3_state,
  output wire [GW+LW+PW-1:0]    p3_conn,
  output wire [1:0]             p3_class,
  output wire [7:0]             p3_cause,
  output wire [13:0]            p3_len,
  output wire                   p3_vlan,
  output wire [7:0]             p3_opcode,
  output wire [23:0]            p3_psn,
  output wire [1:0]             p3_pad,
  output wire [31:0]            p3_src_ip,
  output wire                   p3_to_port,
  output wire [15:0]            p3_udp_len,
  output wire [6:0]             p3_hlen,
  output wire [13:0]            p3_plen,
  output wire [7:0]             p3_syndrome,
  output wire [23:0]            p3_msn,
  output wire                   p3_icrc_ok,

  output wire                   idle
);

  // Admission.
  localparam CW = $clog2(COMMANDS);
  reg  [CW:0] credit_q;
  wire        take = d_valid && d_ready;

  assign d_ready = credit_q != {CW+1{1'b0}} && !pause;
  assign l_valid = take && d_class == 2'd2;
  assign idle    = credit_q == COMMANDS[CW:0];

  always @(posedge clk)
    if (rst) credit_q <= COMMANDS[CW:0];
    else if (take && !m_done) credit_q <= credit_q - 1'b1;
    else if (m_done && !take) credit_q <= credit_q + 1'b1;

  // p1 to p3: the descriptor waits for the connection table and the connection's fields.
  localparam DW = 2 + 8 + 14 + 1 + 8 + 24 + 2 + 32 + 1 + 16 + 7 + 14 + 8 + 24 + 1;

  reg          p1_valid_q;
  reg          p2_valid_q;
  reg          p3_valid_q;
  reg [DW-1:0] p1_desc_q;
  reg [DW-1:0] p2_desc_q;
  reg [DW-1:0] p3_desc_q;

  always @(posedge clk)
    if (rst) {p3_valid_q, p2_valid_q, p1_valid_q} <= 3'b000;
    else {p3_valid_q, p2_valid_q, p1_valid_q} <= {p2_valid_q, p1_valid_q, take};

  always @(posedge clk)
    if (take)
      p1_desc_q <= {d_class, d_cause, d_len, d_vlan, d_opcode, d_psn, d_pad, d_src_ip, d_to_port, d_udp_len, d_hlen, d_plen,
                    d_syndrome, d_msn, d_icrc_ok};

  always @(posedge clk)
    if (p1_valid_q) p2_desc_q <= p1_desc_q;

  always @(posedge clk)
    if (p2_valid_q) p3_desc_q <= p2_desc_q;

  // p2: the table's answer. A cid outside this box counts as not ready.
  wire [31:0] cid_group = {24'd0, r_cid[14:7]};
  wire [31:0] cid_lane  = {28'd0, r_cid[6:3]};
  wire [31:0] cid_port  = {29'd0, r_cid[2:0]};
  wire        cid_good  = !r_cid[15] && cid_group < GROUPS && cid_lane < LANES && cid_port < PORTS;

  reg                   p3_hit_q;
  reg                   p3_good_q;
  reg                   p3_foreign_q;
  reg  [1:0]            p3_state_q;
  reg  [GW+LW+PW-1:0]   p3_conn_q;

  assign f_read = p2_valid_q && r_hit;
  assign f_conn = {cid_group[GW-1:0], cid_lane[LW-1:0], cid_port[PW-1:0]};

  always @(posedge clk)
    if (p2_valid_q) begin
      p3_hit_q     <= r_hit;
      p3_good_q    <= cid_good;
      p3_foreign_q <= r_cid == 16'hffff;
      p3_state_q   <= r_state;
      p3_conn_q    <= f_conn;
    end

  assign p3_valid   = p3_valid_q;
  assign p3_hit     = p3_hit_q;
  assign p3_good    = p3_good_q;
  assign p3_foreign = p3_foreign_q;
  assign p3_state   = p3_state_q;
  assign p3_conn    = p3_conn_q;

  assign {p3_class, p3_cause, p3_len, p3_vlan, p3_opcode, p3_psn, p3_pad, p3_src_ip, p3_to_port, p3_udp_len, p3_hlen, p3_plen,
          p3_syndrome, p3_msn, p3_icrc_ok} = p3_desc_q;

  wire unused_bits = &{1'b0, cid_port[31:PW], cid_lane[31:LW], cid_group[31:GW]};

endmodule

`default_nettype wire
