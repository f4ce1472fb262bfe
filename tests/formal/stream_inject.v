// rf_inject: as many beats as the length requires, at the selected port; window and command at any time. The first byte
// of a beat represents the whole beat.
module stream_inject #(
  parameter PORTS = 2
) (
  input wire             clk,
  input wire             rst,
  input wire             win_en,
  input wire [7:0]       win_addr,
  input wire [31:0]      win_data,
  input wire             cmd_valid,
  input wire [15:0]      cmd_len,
  input wire [2:0]       cmd_port,
  input wire [PORTS-1:0] m_ready
);

`include "rf_start.vh"

  wire             busy;
  wire [PORTS-1:0] m_valid;
  wire [13:0]      m_len;
  wire [511:0]     m_data;
  wire             m_last;

  rf_inject #(.PORTS(PORTS), .WIDTH(512)) box (
    .clk(clk), .rst(rst), .win_en(win_en), .win_addr(win_addr), .win_data(win_data), .cmd_valid(cmd_valid),
    .cmd_len(cmd_len), .cmd_port(cmd_port), .busy(busy), .m_valid(m_valid), .m_ready(m_ready), .m_len(m_len),
    .m_data(m_data), .m_last(m_last));

  always @* assume (rst == !f_started);

  genvar k;
  generate
    for (k = 0; k < PORTS; k = k + 1) begin : g_port
      stream #(.WIDTH(23)) m (
        .clk(clk), .rst(rst), .valid(m_valid[k]), .ready(m_ready[k]), .data({m_last, m_len, m_data[7:0]}));
    end
  endgenerate

  // The command that was taken, and its outstanding beats.
  reg         owes_q;
  reg  [2:0]  port_q;
  reg  [15:0] len_q;
  reg  [4:0]  left_q;
  wire        good = cmd_valid && !owes_q && cmd_len >= 16'd60 && cmd_len <= 16'd1024 && {29'd0, cmd_port} < PORTS;
  wire        take = (m_valid & m_ready) != 0;
  wire [15:0] more = cmd_len + 16'd63;

  always @(posedge clk)
    if (rst) owes_q <= 1'b0;
    else if (good) owes_q <= 1'b1;
    else if (take && left_q == 5'd1) owes_q <= 1'b0;

  always @(posedge clk)
    if (good) begin
      port_q <= cmd_port;
      len_q  <= cmd_len;
      left_q <= more[10:6];
    end else if (take) left_q <= left_q - 5'd1;

  // Cycles between the command and the first beat.
  reg  [1:0]  wait_q;

  always @(posedge clk)
    if (rst || !owes_q || m_valid != 0) wait_q <= 2'd0;
    else wait_q <= wait_q + 2'd1;

  always @*
    if (!rst) begin
      assert (busy == owes_q);
      assert (wait_q < 2'd2);
      if (m_valid != 0) begin
        assert (owes_q && m_valid == ({{PORTS-1{1'b0}}, 1'b1} << port_q));
        assert (m_len == len_q[13:0] && m_last == (left_q == 5'd1));
      end
    end

  always @(posedge clk)
    if (!rst) cover (take && m_last && port_q == 3'd1);

endmodule
