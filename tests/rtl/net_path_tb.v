// net_path_tb: ingress and egress of one port joined: every RoCE frame is parsed and rebuilt.

module net_path_tb #(
  parameter WIDTH = 512
) (
  input  wire               clk,
  input  wire               rst,
  input  wire [47:0]        mac,
  input  wire [WIDTH-1:0]   s_axis_tdata,
  input  wire [WIDTH/8-1:0] s_axis_tkeep,
  input  wire               s_axis_tvalid,
  input  wire               s_axis_tlast,
  output wire [WIDTH-1:0]   m_axis_tdata,
  output wire [WIDTH/8-1:0] m_axis_tkeep,
  output wire               m_axis_tvalid,
  output wire               m_axis_tlast,
  output wire               lost,
  output wire               wrong,
  output wire               idle
);

  wire         d_valid;
  wire [1:0]   d_class;
  wire [639:0] d_hdr;
  wire [6:0]   d_hlen;
  wire [13:0]  d_plen;
  wire         d_icrc_ok;
  wire         c_ready;
  wire         o_valid;
  wire         o_ready;
  wire [WIDTH-1:0] o_data;
  wire         o_last;
  wire         in_idle;
  wire         out_idle;
  wire         e_ready;

  // Not used here.
  wire unused_cnt_frames;
  wire unused_user;
  wire [7:0] unused_d_cause;
  wire [13:0] unused_d_len;
  wire unused_d_vlan;
  wire [7:0] unused_d_opcode;
  wire [23:0] unused_d_qpn;
  wire [23:0] unused_d_psn;
  wire [1:0] unused_d_pad;
  wire [31:0] unused_d_src_ip;
  wire [1:0] unused_d_role;
  wire [47:0] unused_d_from;
  wire [31:0] unused_d_key_ip;
  wire [15:0] unused_d_udp_len;
  wire [7:0] unused_d_syndrome;
  wire [23:0] unused_d_msn;
  wire [WIDTH/8-1:0] unused_o_keep;
  wire unused_eg_cnt_frames;
  wire unused_eg_cnt_down;
  wire unused_eg_bad;
  wire unused_in_bad;
  wire unused_o_bad;

  // A buffer for one packet between ingress and egress.
  reg          e_valid_q;
  reg  [639:0] e_hdr_q;
  reg  [6:0]   e_hlen_q;
  reg  [13:0]  e_plen_q;
  wire         roce = d_class == 2'd2;
  wire         take = d_valid && c_ready && (!roce || !e_valid_q || e_ready);

  always @(posedge clk)
    if (rst) e_valid_q <= 1'b0;
    else if (take && roce) e_valid_q <= 1'b1;
    else if (e_ready) e_valid_q <= 1'b0;

  always @(posedge clk)
    if (take && roce) begin
      e_hdr_q  <= d_hdr;
      e_hlen_q <= d_hlen;
      e_plen_q <= d_plen;
    end

  assign wrong = take && roce && !d_icrc_ok;
  assign idle  = in_idle && out_idle && !e_valid_q;

  rf_ingress #(
    .WIDTH(WIDTH),
    .PORTS(4)
  ) ingress (
    .clk          (clk),
    .rst          (rst),
    .s_axis_tdata (s_axis_tdata),
    .s_axis_tkeep (s_axis_tkeep),
    .s_axis_tvalid(s_axis_tvalid),
    .s_axis_tlast (s_axis_tlast),
    .s_axis_tuser (1'b0),
    .base_mac     (mac),
    .box_ip       (32'h0a630001),
    .port_ip      (128'd0),
    .port_ip_set  (4'd0),
    .cnt_frames   (unused_cnt_frames),
    .cnt_overflow (lost),
    .d_valid      (d_valid),
    .d_ready      (take),
    .d_class      (d_class),
    .d_cause      (unused_d_cause),
    .d_len        (unused_d_len),
    .d_hdr        (d_hdr),
    .h_take       (take),
    .d_vlan       (unused_d_vlan),
    .d_opcode     (unused_d_opcode),
    .d_qpn        (unused_d_qpn),
    .d_psn        (unused_d_psn),
    .d_pad        (unused_d_pad),
    .d_src_ip     (unused_d_src_ip),
    .d_role       (unused_d_role),
    .d_from       (unused_d_from),
    .d_key_ip     (unused_d_key_ip),
    .d_udp_len    (unused_d_udp_len),
    .d_hlen       (d_hlen),
    .d_plen       (d_plen),
    .d_syndrome   (unused_d_syndrome),
    .d_msn        (unused_d_msn),
    .d_icrc_ok    (d_icrc_ok),
    .c_valid      (take),
    .c_ready      (c_ready),
    .c_op         ({1'b0, roce && d_plen != 14'd0}),
    .o_valid      (o_valid),
    .o_ready      (o_ready),
    .o_data       (o_data),
    .o_keep       (unused_o_keep),
    .o_last       (o_last),
    .o_bad        (unused_o_bad),
    .bad          (unused_in_bad),
    .idle         (in_idle)
  );

  rf_egress #(
    .WIDTH(WIDTH)
  ) egress (
    .clk          (clk),
    .rst          (rst),
    .mac          (mac),
    .e_valid      (e_valid_q),
    .e_ready      (e_ready),
    .e_raw        (1'b0),
    .e_hdr        (e_hdr_q),
    .e_hlen       (e_hlen_q),
    .e_plen       (e_plen_q),
    .e_len        (14'd0),
    .p_valid      (o_valid),
    .p_ready      (o_ready),
    .p_data       (o_data),
    .p_last       (o_last),
    .lost         (1'b0),
    .spoil        (1'b0),
    .m_axis_tdata (m_axis_tdata),
    .m_axis_tkeep (m_axis_tkeep),
    .m_axis_tvalid(m_axis_tvalid),
    .m_axis_tlast (m_axis_tlast),
    .m_axis_tuser (unused_user),
    .m_axis_tready(1'b1),
    .cnt_frames   (unused_eg_cnt_frames),
    .cnt_down     (unused_eg_cnt_down),
    .bad          (unused_eg_bad),
    .idle         (out_idle)
  );

endmodule
