// rf_ledger_run: marks for the slots of selective groups at one port, and a runner that advances a counter of each
// connection over marked slots. rf_ledger_port has two: `next` over accepted packets, `stored` over packets being
// copied.
//
// Latency     m_there: combinational. Push to the first step: 3 cycles if no other connection waits.
// Throughput  one mark per cycle; one step per cycle, plus two cycles per connection processed.
// Capacity    2^HDR_AW slots of LANES lanes; every connection may wait.
// Handshake   step_valid/step_ready; clear_valid only if clear_ready: it selects the write data, because m_set is late.
// Reset       empties the queue of waiting connections. Marks are undefined until cleared.
// Proved      tests/formal/ledger.vh, as part of rf_ledger: an index is accepted once; no counter passes a missing
//             index; a connection that can advance is queued.
//
// A mark is one bit: the lap (index / slots mod 2) of the latest packet in the slot. The window is not longer than the
// slots, so a mark belongs either to the index in question or to the one a lap earlier. Cleared marks have lap -1.

`default_nettype none

module rf_ledger_run #(
  // Bits of an index.
  parameter IDX = 24,
  parameter GROUPS = 8,
  parameter LANES = 1,
  parameter GW = 3,
  parameter LW = 1,
  // log2 of the slots.
  parameter HDR_AW = 9,
  // 1: memories have parity bits.
  parameter PARITY = 1
) (
  input  wire                     clk,
  input  wire                     rst,

  // Slot 0 and log2 of the slots of each group.
  input  wire [GROUPS*HDR_AW-1:0] g_hbase,
  input  wire [GROUPS*4-1:0]      g_size_log2,

  // Clears one slot of all lanes.
  input  wire                     clear_valid,
  output wire                     clear_ready,
  input  wire [HDR_AW-1:0]        clear_slot,

  // The packet of this lap is in the slot from now on. With push (only together with set) its connection is queued.
  input  wire                     m_set,
  input  wire                     m_push,
  // The logic that sets the mark also moves the counter: the runner starts again.
  input  wire                     m_moves,
  // m_there is used.
  input  wire                     m_look,
  input  wire [GW+LW-1:0]         m_addr,
  input  wire [HDR_AW-1:0]        m_slot,
  input  wire                     m_lap,
  // The packet is already in the slot.
  output wire                     m_there,

  // The connection whose counter is read; it advances by one with each step.
  output wire                     r_valid,
  output wire [GW+LW-1:0]         r_addr,
  input  wire [IDX-1:0]           r_value,
  output wire                     step_valid,
  input  wire                     step_ready,
  output wire [GW+LW-1:0]         step_addr,
  output wire [IDX-1:0]           step_index,

  // A mark or a queue entry had a parity error: combinational.
  output wire                     bad,
  output wire                     idle
`ifdef FORMAL
  ,
  output wire [(LANES<<HDR_AW)-1:0] f_marks,
  output wire                       f_run,
  // {count, valid, address} of the queue.
  output wire [2*(GW+LW)+1:0]       f_queue,
  output wire [(1<<(GW+LW))-1:0]    f_queued
`endif
);

  localparam AW = GW + LW;

  // Connections that wait for the runner, each once.
  reg  [(1<<AW)-1:0] queued_q;
  wire               q_valid;
  wire               q_room;
  wire               q_take;
  wire [AW-1:0]      q_addr;
  wire [AW+1:0]      q_count;
  wire               q_afull;
  wire               push = m_push && (!queued_q[m_addr] || (q_take && q_addr == m_addr));

  // Twice as deep as there are connections: a connection that is taken may be pushed again in the same cycle while all
  // are queued.
  wire               queue_bad;

  rf_fifo_parity #(.WIDTH(AW), .DEPTH(2 << AW), .READ_LATENCY(0), .PARITY(PARITY)) queue (
    .clk(clk), .rst(rst), .s_valid(push), .s_ready(q_room), .s_data(m_addr), .m_valid(q_valid), .m_ready(q_take),
    .m_data(q_addr), .count(q_count), .almost_full(q_afull), .bad(queue_bad));

  always @(posedge clk)
    if (rst) begin
      queued_q <= {1 << AW{1'b0}};
    end else begin
      if (q_take) queued_q[q_addr] <= 1'b0;
      if (push) queued_q[m_addr] <= 1'b1;
    end

  // The connection being processed, from its counter on. Its slot is computed in its first cycle. The slot of the next
  // index is computed while the mark of the current one is read.
  reg               run_q;
  reg               first_q;
  reg  [AW-1:0]     run_addr_q;
  reg  [IDX-1:0]    run_index_q;
  reg  [HDR_AW-1:0] run_base_q;
  reg  [31:0]       run_mask_q;
  reg  [HDR_AW-1:0] run_at_q;
  reg               run_lap_q;

  wire [LANES-1:0]  marks;
  wire [GW-1:0]     run_group = run_addr_q[AW-1:LW];
  wire [LW-1:0]     run_lane  = run_addr_q[LW-1:0];
  wire [3:0]        run_log2  = g_size_log2[run_group*4 +: 4];
  wire              here      = !first_q && marks[run_lane] == run_lap_q;
  wire              step      = step_valid && step_ready;
  wire [IDX-1:0]    run_next  = run_index_q + 1'b1;

  // For the index that is processed in the next cycle.
  wire [HDR_AW-1:0] base = first_q ? g_hbase[run_group*HDR_AW +: HDR_AW] : run_base_q;
  wire [31:0]       mask = first_q ? ~(32'hffffffff << run_log2) : run_mask_q;
  wire [31:0]       wide = {{32-IDX{1'b0}}, first_q ? run_index_q : run_next};
  wire [31:0]       slot = wide & mask;
  wire              lap  = (wide & ~mask & {mask[30:0], 1'b1}) != 32'd0;

  assign q_take     = q_valid && (!run_q || !(here || first_q));
  assign r_valid    = q_valid;
  assign r_addr     = q_addr;
  assign step_valid = run_q && here;
  assign step_addr  = run_addr_q;
  assign step_index = run_index_q;
  assign idle       = !run_q && !q_valid;

  wire cancel = m_push && m_moves && m_addr == (q_take ? q_addr : run_addr_q);

  always @(posedge clk)
    if (rst || cancel) run_q <= 1'b0;
    else if (q_take) run_q <= 1'b1;
    else if (!(here || first_q)) run_q <= 1'b0;

  always @(posedge clk)
    if (rst) first_q <= 1'b0;
    else first_q <= q_take;

  always @(posedge clk)
    if (q_take) run_addr_q <= q_addr;

  always @(posedge clk)
    if (q_take) run_index_q <= r_value;
    else if (step) run_index_q <= run_next;

  always @(posedge clk)
    if (first_q) begin
      run_base_q <= base;
      run_mask_q <= mask;
    end

  always @(posedge clk)
    if (first_q || step) begin
      run_at_q  <= base + slot[HDR_AW-1:0];
      run_lap_q <= lap;
    end

  // Marks, in two copies for two reads. Clearing waits for the packets.
  wire [LW-1:0]      m_lane = m_addr[LW-1:0];
  wire [LANES-1:0]   there;
  wire [LANES-1:0]   there_bad;
  wire [LANES-1:0]   marks_bad;
  wire               clear   = clear_valid && clear_ready;
  wire [HDR_AW-1:0]  wr_addr = clear_valid ? clear_slot : m_slot;
  wire               wr_data = clear_valid || m_lap;

  assign bad         = queue_bad || (m_look && there_bad[m_lane]) || (run_q && !first_q && marks_bad[run_lane]);
  assign clear_ready = !m_set;
  assign m_there     = there[m_lane] == m_lap;

  genvar l;
  generate
    for (l = 0; l < LANES; l = l + 1) begin : g_lane
      localparam [31:0] NUMBER = l;
      wire wr_en = clear || (m_set && m_lane == NUMBER[LW-1:0]);

      rf_many_parity #(.WIDTH(1), .AW(HDR_AW), .READS(2), .PARITY(PARITY)) ram (
        .clk(clk), .wr_en(wr_en), .wr_addr(wr_addr), .wr_data(wr_data), .rd_addr({m_slot, run_at_q}),
        .rd_data({there[l], marks[l]}), .rd_bad({there_bad[l], marks_bad[l]})
`ifdef FORMAL
        ,
        .f_mem(f_marks[l<<HDR_AW +: 1<<HDR_AW])
`endif
      );
    end
  endgenerate

`ifdef FORMAL
  assign f_run    = run_q;
  assign f_queue  = {q_count[AW:0], q_valid, q_addr};
  assign f_queued = queued_q;

  // The registers hold the slot of the index being processed.
  wire [31:0] f_wide = {{32-IDX{1'b0}}, run_index_q};
  wire [31:0] f_mask = ~(32'hffffffff << run_log2);
  wire [31:0] f_slot = f_wide & f_mask;

  always @*
    if (!rst && run_q && !first_q) begin
      assert (run_base_q == g_hbase[run_group*HDR_AW +: HDR_AW] && run_mask_q == f_mask);
      assert (run_at_q == run_base_q + f_slot[HDR_AW-1:0]);
      assert (run_lap_q == f_wide[{1'b0, run_log2}]);
    end
`endif

  wire unused_bits = &{1'b0, q_room, q_count, q_afull, slot};

endmodule

`default_nettype wire
