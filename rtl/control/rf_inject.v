// rf_inject: sends a frame that the firmware has written into a window. The box has one for each port, so that a paused
// port does not block the firmware on the other ports.
//
// Latency     from the command to m_valid: 2 cycles.
// Throughput  one beat per cycle, no gap within the frame while m_ready is high.
// Capacity    one frame of up to 1024 bytes.
// Handshake   m_valid is one-hot over the ports and, with m_len, a request to send; m_len, m_data and m_last are
//             shared. m_ready drives read enables only. While busy is high, writes to the window and the command are
//             ignored.
// Reset       drops the frame.

`default_nettype none

module rf_inject #(
  parameter PORTS = 4,
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512
) (
  input  wire             clk,
  input  wire             rst,

  // Write of word win_addr of INJECT_DATA.
  input  wire             win_en,
  input  wire [7:0]       win_addr,
  input  wire [31:0]      win_data,
  // INJECT was written. A length outside 60..1024 or a nonexistent port has no effect.
  input  wire             cmd_valid,
  input  wire [15:0]      cmd_len,
  input  wire [2:0]       cmd_port,
  // From the cycle after the command until the last beat has been taken.
  output wire             busy,

  output wire [PORTS-1:0] m_valid,
  input  wire [PORTS-1:0] m_ready,
  output wire [13:0]      m_len,
  output wire [WIDTH-1:0] m_data,
  output wire             m_last
);

  localparam B     = WIDTH / 8;
  localparam LB    = $clog2(B);
  localparam BANKS = B / 4;
  localparam ROWS  = 1024 / B;
  localparam RW    = 10 - LB;

  reg             busy_q;
  reg             first_q;
  reg             data_q;
  reg  [RW-1:0]   row_q;
  reg  [RW-1:0]   last_row_q;
  reg  [2:0]      port_q;
  reg  [10:0]     len_q;

  // Each port has one bit of m_valid.
  wire [7:0]  exists = ~(8'hff << PORTS);
  wire        good   = cmd_len >= 16'd60 && cmd_len <= 16'd1024 && exists[cmd_port];
  wire        start  = cmd_valid && !busy_q && good;
  wire [10:0] ending = cmd_len[10:0] - 11'd1;
  wire [7:0]  ready  = {{8 - PORTS{1'b0}}, m_ready};
  wire        take   = data_q && ready[port_q];
  wire        done   = take && m_last;
  wire        unused_ending = &{1'b0, ending};

  always @(posedge clk)
    if (rst) busy_q <= 1'b0;
    else if (start) busy_q <= 1'b1;
    else if (done) busy_q <= 1'b0;

  always @(posedge clk)
    if (start) begin
      port_q     <= cmd_port;
      len_q      <= cmd_len[10:0];
      last_row_q <= ending[9:LB];
    end

  // Once data_q is high, the memory output is the word at row_q.
  always @(posedge clk)
    if (rst) first_q <= 1'b0;
    else first_q <= start;

  always @(posedge clk)
    if (rst || done) data_q <= 1'b0;
    else if (first_q) data_q <= 1'b1;

  always @(posedge clk)
    if (first_q) row_q <= {RW{1'b0}};
    else if (take) row_q <= row_q + 1'b1;

  wire          rd_en  = first_q || (take && !m_last);
  wire [RW-1:0] rd_row = first_q ? {RW{1'b0}} : row_q + 1'b1;

  genvar k;

  generate
    for (k = 0; k < BANKS; k = k + 1) begin : g_bank
      rf_ram_sdp #(
        .WIDTH       (32),
        .DEPTH       (ROWS),
        .READ_LATENCY(1),
        .APART       (1)
      ) ram (
        .clk    (clk),
        .wr_en  (win_en && !busy_q && win_addr[LB-3:0] == k[LB-3:0]),
        .wr_addr(win_addr[7:LB-2]),
        .wr_data(win_data),
        .rd_en  (rd_en),
        .rd_addr(rd_row),
        .rd_data(m_data[32*k+:32])
      );
    end

    for (k = 0; k < PORTS; k = k + 1) begin : g_port
      assign m_valid[k] = data_q && port_q == k[2:0];
    end
  endgenerate

  assign busy   = busy_q;
  assign m_len  = {3'd0, len_q};
  assign m_last = row_q == last_row_q;

endmodule

`default_nettype wire
