// rf_punt: stores punted frames of all ports until the firmware has read them. Each port has its own places. At most
// half of them hold frames of one source MAC; further frames of that source are read and discarded. ARP, which a switch
// floods to all ports, uses at most one place per port. So a flood of punted frames blocks neither other ports nor
// other hosts on the same port, and a flood of ARP does not block control packets, whatever source addresses it uses.
//
// Latency     offer to the first beat taken: 1 cycle; last beat in to status: 3 cycles. Window: win_data 2 cycles after win_en.
// Throughput  one beat per cycle over all ports together, and a cycle between frames; frames are taken whole,
//             round-robin over the ports.
// Capacity    4 frames of up to 1024 bytes for each port, 2 of them of one source, one of them ARP.
// Handshake   the judge of port p commands a raw read to this module only while room[p] is high (room_arp[p] for ARP),
//             and pulses take[p] in that cycle, with arp[p] for ARP; the stream may follow at any time. s_ready is a
//             register: high from the cycle after a port is chosen.
// Reset       discards all frames.
// Proved      tests/formal/stream_punt.v: order, whole frames, places; a frame is discarded only if two of its port
//             wait.

`default_nettype none

module rf_punt #(
  parameter PORTS = 4,
  // Bits of a beat: 64, 128, 256 or 512.
  parameter WIDTH = 512
) (
  input  wire                     clk,
  input  wire                     rst,

  output wire [PORTS-1:0]         room,
  output wire [PORTS-1:0]         room_arp,
  input  wire [PORTS-1:0]         take,
  input  wire [PORTS-1:0]         arp,

  input  wire [PORTS-1:0]         s_valid,
  output wire [PORTS-1:0]         s_ready,
  input  wire [PORTS*WIDTH-1:0]   s_data,
  input  wire [PORTS*WIDTH/8-1:0] s_keep,
  input  wire [PORTS-1:0]         s_last,

  // The register PUNT_STATUS; its bit 31 is the reason for the interrupt.
  output wire [31:0]              status,
  // PUNT_POP was written.
  input  wire                     pop,
  // Read of word win_addr of PUNT_DATA.
  input  wire                     win_en,
  input  wire [7:0]               win_addr,
  output wire [31:0]              win_data,

  // No frame is being written into a slot; frames that wait for the firmware do not count.
  output wire                     idle
);

  localparam B     = WIDTH / 8;
  localparam LB    = $clog2(B);
  localparam LS    = $clog2(PORTS) + 2;
  localparam SLOTS = 1 << LS;
  // Beats of a slot.
  localparam RW    = 10 - LB;

  // Number of ones, for a value whose ones are contiguous from bit 0 and at least one.
  function [LB:0] ones;
    input [B-1:0] keep;
    reg [B-1:0] part;
    integer i;
    begin
      part = keep;
      ones = {LB + 1{1'b0}};
      for (i = LB - 1; i >= 0; i = i - 1)
        if (part[(1<<i)-1]) begin
          ones[i] = 1'b1;
          part    = part >> (1 << i);
        end
      ones = ones + {{LB{1'b0}}, part[0]};
    end
  endfunction

  // ---- Places: reserved by take; freed by pop, or when the frame is discarded.

  reg  [PORTS*3-1:0] held_q;
  reg  [PORTS-1:0]   arp_q;
  reg  [PORTS*3-1:0] held;
  reg  [PORTS-1:0]   has_room;
  reg  [LS:0]        total;
  wire [LS:0]        info_count;
  wire               popped;
  wire [2:0]         info_port;
  wire               info_arp;
  wire               forget;
  wire [2:0]         forget_port;
  wire               forget_arp;
  integer            p;
  integer            i;

  always @* begin
    total = {LS + 1{1'b0}};
    for (p = 0; p < PORTS; p = p + 1) begin
      held[p*3+:3] = held_q[p*3+:3] + {2'd0, take[p]} - {2'd0, popped && info_port == p[2:0]} -
                     {2'd0, forget && forget_port == p[2:0]};
      has_room[p]  = !held_q[p*3+2];
      total        = total + {{LS - 2{1'b0}}, held_q[p*3+:3]};
    end
  end

  always @(posedge clk)
    if (rst) held_q <= {PORTS * 3{1'b0}};
    else held_q <= held;

  // The place for a port's ARP frame.
  always @(posedge clk)
    for (p = 0; p < PORTS; p = p + 1)
      if (rst) arp_q[p] <= 1'b0;
      else if (take[p] && arp[p]) arp_q[p] <= 1'b1;
      else if ((popped && info_arp && info_port == p[2:0]) || (forget && forget_arp && forget_port == p[2:0]))
        arp_q[p] <= 1'b0;

  assign room = has_room;
  assign room_arp = has_room & ~arp_q;
  assign idle = total == info_count;

  // ---- One port at a time, frame by frame.

  reg  [PORTS-1:0] lock_q;
  wire [PORTS-1:0] grant;
  wire             locked = lock_q != {PORTS{1'b0}};
  wire             fire   = (lock_q & s_valid) != {PORTS{1'b0}};
  wire [PORTS-1:0] ends   = lock_q & s_valid & s_last;
  wire             final_beat = ends != {PORTS{1'b0}};

  rf_rr_arb #(
    .N(PORTS)
  ) arb (
    .clk  (clk),
    .rst  (rst),
    .req  (s_valid),
    .take (!locked && s_valid != {PORTS{1'b0}}),
    .grant(grant)
  );

  assign s_ready = lock_q;

  // Frames that were requested and have not ended, and which of them are ARP, oldest in the lowest bits.
  reg  [PORTS*3-1:0] owed_q;
  reg  [PORTS*4-1:0] kinds_q;
  reg  [PORTS*3-1:0] owed;
  reg  [PORTS*4-1:0] kinds;

  always @* begin
    kinds = kinds_q;
    for (p = 0; p < PORTS; p = p + 1) begin
      owed[p*3+:3] = owed_q[p*3+:3] - {2'd0, ends[p]};
      if (ends[p]) kinds[p*4+:4] = {1'b0, kinds_q[p*4+1+:3]};
      for (i = 0; i < 4; i = i + 1)
        if (take[p] && owed[p*3+:3] == i[2:0]) kinds[p*4+i] = arp[p];
      owed[p*3+:3] = owed[p*3+:3] + {2'd0, take[p]};
    end
  end

  always @(posedge clk)
    if (rst) owed_q <= {PORTS * 3{1'b0}};
    else owed_q <= owed;

  always @(posedge clk) kinds_q <= kinds;

  always @(posedge clk)
    if (rst || final_beat) lock_q <= {PORTS{1'b0}};
    else if (!locked) lock_q <= grant;

  // The chosen beat.
  reg              w_valid_q;
  reg              w_last_q;
  reg  [2:0]       w_port_q;
  reg              w_arp_q;
  reg  [B-1:0]     w_keep_q;
  reg  [WIDTH-1:0] w_data_q;
  reg  [WIDTH-1:0] data;
  reg  [B-1:0]     keep;
  reg  [2:0]       port;
  reg              kind;

  always @* begin
    data = s_data[WIDTH-1:0];
    keep = s_keep[B-1:0];
    port = 3'd0;
    kind = kinds_q[0];
    for (p = 1; p < PORTS; p = p + 1)
      if (lock_q[p]) begin
        data = s_data[p*WIDTH+:WIDTH];
        keep = s_keep[p*B+:B];
        port = p[2:0];
        kind = kinds_q[p*4];
      end
  end

  always @(posedge clk)
    if (rst) w_valid_q <= 1'b0;
    else w_valid_q <= fire;

  always @(posedge clk)
    if (fire) begin
      w_last_q <= final_beat;
      w_port_q <= port;
      w_arp_q  <= kind;
      w_keep_q <= keep;
      w_data_q <= data;
    end

  // ---- The buffer: slots in a ring, each filled from its first beat. A frame is judged before the first beat of the next one.

  reg  [LS-1:0]    wr_slot_q;
  reg  [RW-1:0]    wr_row_q;
  reg  [LS-1:0]    rd_slot_q;
  wire             ended = w_valid_q && w_last_q;
  // The frame that ended in the cycle before; it is kept.
  reg              e_valid_q;
  reg              e_arp_q;
  reg  [2:0]       e_port_q;
  reg  [10:0]      e_length_q;
  wire             done;
  wire [10:0]      length = {1'b0, wr_row_q, {LB{1'b0}}} + {{10 - LB{1'b0}}, ones(w_keep_q)};
  wire [WIDTH-1:0] row;
  wire             unused_info_ready;
  wire             unused_info_afull;
  wire             info_valid;
  wire [10:0]      info_length;

  always @(posedge clk)
    if (rst || ended) wr_row_q <= {RW{1'b0}};
    else if (w_valid_q) wr_row_q <= wr_row_q + 1'b1;

  always @(posedge clk)
    if (rst) wr_slot_q <= {LS{1'b0}};
    else if (done) wr_slot_q <= wr_slot_q + 1'b1;

  always @(posedge clk)
    if (rst) rd_slot_q <= {LS{1'b0}};
    else if (popped) rd_slot_q <= rd_slot_q + 1'b1;

  rf_fifo #(
    .WIDTH       (15),
    .DEPTH       (SLOTS),
    .READ_LATENCY(0)
  ) info (
    .clk        (clk),
    .rst        (rst),
    .s_valid    (done),
    .s_ready    (unused_info_ready),
    .s_data     ({e_arp_q, e_port_q, e_length_q}),
    .m_valid    (info_valid),
    .m_ready    (pop),
    .m_data     ({info_arp, info_port, info_length}),
    .count      (info_count),
    .almost_full(unused_info_afull)
  );

  assign popped = pop && info_valid;
  assign status = info_valid ? {1'b1, 4'd0, info_port, 8'd0, 5'd0, info_length} : 32'd0;

  rf_ram_sdp #(
    .WIDTH       (WIDTH),
    .DEPTH       (SLOTS << RW),
    .READ_LATENCY(1)
  ) ram (
    .clk    (clk),
    .wr_en  (w_valid_q),
    .wr_addr({wr_slot_q, wr_row_q}),
    .wr_data(w_data_q),
    .rd_en  (win_en),
    .rd_addr({rd_slot_q, win_addr[7:LB-2]}),
    .rd_data(row)
  );

  // ---- Sources of the waiting frames. The source of a frame is compared in the cycle of its last beat; the next cycle
  // decides whether the frame is kept.

  reg  [47:0]         src_q;
  wire [47:0]         src;
  reg  [SLOTS-1:0]    wait_q;
  reg  [SLOTS*51-1:0] from_q;
  reg  [47:0]         e_src_q;
  // Waiting frames of its port and source. The frame before it is among them: two frames end at least 2 cycles apart.
  reg  [SLOTS-1:0]    same_q;
  reg                 one;
  reg                 two;
  integer             k;

  generate
    if (WIDTH == 64) begin : g_narrow
      localparam [RW-1:0] SECOND = 1;

      assign src = wr_row_q == {RW{1'b0}} ? {32'd0, w_data_q[63:48]} :
                   wr_row_q == SECOND ? {w_data_q[31:0], src_q[15:0]} : src_q;
    end else begin : g_wide
      assign src = wr_row_q == {RW{1'b0}} ? w_data_q[95:48] : src_q;
    end
  endgenerate

  always @(posedge clk)
    if (w_valid_q) src_q <= src;

  always @(posedge clk)
    if (rst) e_valid_q <= 1'b0;
    else e_valid_q <= ended;

  always @(posedge clk)
    if (ended) begin
      e_arp_q    <= w_arp_q;
      e_port_q   <= w_port_q;
      e_length_q <= length;
      e_src_q    <= src;
    end

  always @(posedge clk)
    for (k = 0; k < SLOTS; k = k + 1) same_q[k] <= from_q[k*51+:51] == {w_port_q, src};

  always @* begin
    one = 1'b0;
    two = 1'b0;
    for (k = 0; k < SLOTS; k = k + 1)
      if (same_q[k] && wait_q[k]) begin
        two = two || one;
        one = 1'b1;
      end
  end

  assign done        = e_valid_q && !two;
  assign forget      = e_valid_q && two;
  assign forget_port = e_port_q;
  assign forget_arp  = e_arp_q;

  always @(posedge clk)
    for (k = 0; k < SLOTS; k = k + 1)
      if (rst) wait_q[k] <= 1'b0;
      else if (done && wr_slot_q == k[LS-1:0]) wait_q[k] <= 1'b1;
      else if (popped && rd_slot_q == k[LS-1:0]) wait_q[k] <= 1'b0;

  always @(posedge clk)
    for (k = 0; k < SLOTS; k = k + 1)
      if (done && wr_slot_q == k[LS-1:0]) from_q[k*51+:51] <= {e_port_q, e_src_q};

  // ---- Window: select the row, then its word.

  reg          read_q;
  reg [LB-3:0] word_q;
  reg [31:0]   win_data_q;

  always @(posedge clk)
    if (rst) read_q <= 1'b0;
    else read_q <= win_en;

  always @(posedge clk)
    if (win_en) word_q <= win_addr[LB-3:0];

  always @(posedge clk)
    if (read_q) win_data_q <= row[{word_q, 5'd0}+:32];

  assign win_data = win_data_q;

endmodule

`default_nettype wire
