// rf_counters: the counters of one port.
//
// Latency     a read returns the count in the same cycle; an event is counted from the next but one cycle on.
// Throughput  one verdict, one frame sent and one of each single event per cycle.
// Capacity    RF_CNT_COUNT counters of 32 bits, which wrap.
// Handshake   none. While ready is low nothing is counted.
// Reset       all counters become zero, one per cycle; then ready rises.
// Proved      tests/rtl/unit_counters.cpp; tests/rtl/core.
//
// Only one verdict occurs per cycle, and only one frame leaves, so each of the two kinds has one small memory. The few
// other counters are registers. The numbers of frames that leave differ in their low 4 bits.

`include "rf_regs.vh"

`default_nettype none

module rf_counters (
  input  wire        clk,
  input  wire        rst,
  output wire        ready,

  // A verdict: number of its counter.
  input  wire        verdict,
  input  wire [7:0]  verdict_cause,
  // A frame was taken for sending: number of its counter.
  input  wire        sent,
  input  wire [7:0]  sent_cause,
  // Single events.
  input  wire        rx_frames,
  input  wire        rx_overflow,
  input  wire        ack_beyond,
  input  wire        ack_forwarded,
  input  wire        repeat_stale,
  input  wire        tx_down,
  input  wire        tx_frames,

  input  wire [7:0]  rd_number,
  output reg  [31:0] rd_data
);

  reg [6:0] clear_q;

  assign ready = clear_q[6];

  always @(posedge clk)
    if (rst) clear_q <= 7'd0;
    else if (!clear_q[6]) clear_q <= clear_q + 7'd1;

  // Events come at the ends of long paths, so they are registered first.
  reg        verdict_q;
  reg  [5:0] verdict_cause_q;
  reg        sent_q;
  reg  [3:0] sent_cause_q;
  reg  [6:0] single_q;

  always @(posedge clk)
    if (!ready) {verdict_q, sent_q, single_q} <= 9'd0;
    else {verdict_q, sent_q, single_q} <= {verdict, sent, rx_frames, rx_overflow, ack_beyond, ack_forwarded, repeat_stale,
                                           tx_down, tx_frames};

  always @(posedge clk) begin
    verdict_cause_q <= verdict_cause[5:0];
    sent_cause_q    <= sent_cause[3:0];
  end

  wire [31:0] verdict_old;
  wire [31:0] verdict_rd;
  wire [31:0] sent_old;
  wire [31:0] sent_rd;
  wire        verdict_we   = !ready || verdict_q;
  wire [5:0]  verdict_addr = ready ? verdict_cause_q : clear_q[5:0];
  wire [31:0] verdict_new  = ready ? verdict_old + 32'd1 : 32'd0;
  wire        sent_we      = !ready || sent_q;
  wire [3:0]  sent_addr    = ready ? sent_cause_q : clear_q[3:0];
  wire [31:0] sent_new     = ready ? sent_old + 32'd1 : 32'd0;

  rf_ram_lut #(.WIDTH(32), .DEPTH(64)) verdict_a (
    .clk(clk), .wr_en(verdict_we), .wr_addr(verdict_addr), .wr_data(verdict_new),
    .rd_addr(verdict_cause_q), .rd_data(verdict_old));
  rf_ram_lut #(.WIDTH(32), .DEPTH(64)) verdict_b (
    .clk(clk), .wr_en(verdict_we), .wr_addr(verdict_addr), .wr_data(verdict_new),
    .rd_addr(rd_number[5:0]), .rd_data(verdict_rd));
  generate
    if (`RF_CNT_COUNT - `RF_CNT_TX_FIRST > 16) begin : g_error_sent
      ERROR_rf_counters_more_than_16_kinds_of_sent_frames error ();
    end
  endgenerate

  rf_ram_lut #(.WIDTH(32), .DEPTH(16)) sent_a (
    .clk(clk), .wr_en(sent_we), .wr_addr(sent_addr), .wr_data(sent_new),
    .rd_addr(sent_cause_q), .rd_data(sent_old));
  rf_ram_lut #(.WIDTH(32), .DEPTH(16)) sent_b (
    .clk(clk), .wr_en(sent_we), .wr_addr(sent_addr), .wr_data(sent_new),
    .rd_addr(rd_number[3:0]), .rd_data(sent_rd));

  reg [31:0] rx_frames_q;
  reg [31:0] rx_overflow_q;
  reg [31:0] ack_beyond_q;
  reg [31:0] ack_forwarded_q;
  reg [31:0] repeat_stale_q;
  reg [31:0] tx_down_q;
  reg [31:0] tx_frames_q;

  always @(posedge clk)
    if (rst) rx_frames_q <= 32'd0;
    else if (single_q[6]) rx_frames_q <= rx_frames_q + 32'd1;

  always @(posedge clk)
    if (rst) rx_overflow_q <= 32'd0;
    else if (single_q[5]) rx_overflow_q <= rx_overflow_q + 32'd1;

  always @(posedge clk)
    if (rst) ack_beyond_q <= 32'd0;
    else if (single_q[4]) ack_beyond_q <= ack_beyond_q + 32'd1;

  always @(posedge clk)
    if (rst) ack_forwarded_q <= 32'd0;
    else if (single_q[3]) ack_forwarded_q <= ack_forwarded_q + 32'd1;

  always @(posedge clk)
    if (rst) repeat_stale_q <= 32'd0;
    else if (single_q[2]) repeat_stale_q <= repeat_stale_q + 32'd1;

  always @(posedge clk)
    if (rst) tx_down_q <= 32'd0;
    else if (single_q[1]) tx_down_q <= tx_down_q + 32'd1;

  always @(posedge clk)
    if (rst) tx_frames_q <= 32'd0;
    else if (single_q[0]) tx_frames_q <= tx_frames_q + 32'd1;

  always @(*)
    if (rd_number == `RF_CNT_RX_FRAMES) rd_data = rx_frames_q;
    else if (rd_number == `RF_CNT_RX_OVERFLOW) rd_data = rx_overflow_q;
    else if (rd_number == `RF_CNT_ACK_BEYOND) rd_data = ack_beyond_q;
    else if (rd_number == `RF_CNT_ACK_FORWARDED) rd_data = ack_forwarded_q;
    else if (rd_number == `RF_CNT_REPEAT_STALE) rd_data = repeat_stale_q;
    else if (rd_number == `RF_CNT_TX_DOWN) rd_data = tx_down_q;
    else if (rd_number == `RF_CNT_TX_FRAMES) rd_data = tx_frames_q;
    else if (rd_number > `RF_CNT_TX_FRAMES && rd_number < `RF_CNT_COUNT) rd_data = sent_rd;
    else if (rd_number < `RF_CNT_COUNT) rd_data = verdict_rd;
    else rd_data = 32'd0;

  wire unused_bits = &{1'b0, verdict_cause[7:6], sent_cause[7:4]};

endmodule

`default_nettype wire
