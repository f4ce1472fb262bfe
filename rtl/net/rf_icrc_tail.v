// rf_icrc_tail: computes the ICRC of a frame from the CRC state over its beats, by undoing the zero bytes after the
// end.
//
// Latency     1 cycle; two steps are before the register and two after it. They may be taken in any order.
// Throughput  one frame per cycle.
// Capacity    one frame.
// Handshake   valid only.
// Reset       clears the valid bit.
// Proved      tests/rtl/net_egress: every length, compared with a bit-serial CRC.
//
// There are B - end zero bytes. end is 2 more than a multiple of 4, so two bytes are always undone, and more by one
// optional step for each higher bit. The first step is a choice of 2 or 34 bytes, computed side by side: two and then 32
// would be one path.

`default_nettype none

module rf_icrc_tail #(
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512
) (
  input  wire                       clk,
  input  wire                       rst,
  input  wire                       in_valid,
  input  wire [31:0]                in_crc,
  // Bytes in the last beat, divided by 4.
  input  wire [$clog2(WIDTH/8)-3:0] in_end,
  output wire                       out_valid,
  // Byte 0 is sent first.
  output wire [31:0]                out_icrc
);

  localparam LB = $clog2(WIDTH / 8);

  wire [LB-3:0] zeros = ~in_end;
  wire [3:0]    steps = {{6 - LB{1'b0}}, zeros};
  wire [31:0]   by2;
  wire [31:0]   by34;
  wire [31:0]   by32 = steps[3] ? by34 : by2;
  wire [31:0]   by16;
  wire [31:0]   by8;
  wire [31:0]   by4;
  reg           p1_valid_q;
  reg  [1:0]    p1_steps_q;
  reg  [31:0]   p1_crc_q;

  rf_crc_back #(.BYTES(2)) back2 (.en(1'b1), .state(in_crc), .out(by2));
  rf_crc_back #(.BYTES(34)) back34 (.en(1'b1), .state(in_crc), .out(by34));
  rf_crc_back #(.BYTES(16)) back16 (.en(steps[2]), .state(by32), .out(by16));
  rf_crc_back #(.BYTES(8)) back8 (.en(p1_steps_q[1]), .state(p1_crc_q), .out(by8));
  rf_crc_back #(.BYTES(4)) back4 (.en(p1_steps_q[0]), .state(by8), .out(by4));

  always @(posedge clk)
    if (rst) p1_valid_q <= 1'b0;
    else p1_valid_q <= in_valid;

  always @(posedge clk)
    if (in_valid) begin
      p1_steps_q <= steps[1:0];
      p1_crc_q   <= by16;
    end

  assign out_valid = p1_valid_q;
  assign out_icrc  = ~by4;

endmodule

`default_nettype wire
