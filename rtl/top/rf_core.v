// rf_core: the box without board-specific parts: all ports, ledger, scheduler, reduction, registers.
//
// Latency     last beat of the last rank's packet in to first beat of the result out: docs/pipeline.md.
// Throughput  one beat per cycle in and out on every port.
// Capacity    GROUPS groups, LANES ranks per port and group, LANES * 2^BANK_AW beats per port.
// Handshake   s_axis has no back-pressure (a MAC has none), m_axis valid/ready, s_axil AXI4-Lite.
// Reset       no group, box disabled. The rest of a frame being received is ignored; a frame being sent is ended as
//             bad. Power-on needs a reset of 16 cycles or more without frames. Registers answer 2^HASH_BITS + a few
//             cycles later, when tables and counters are clear.
// Proved      tests/rtl/core; the modules as stated in their headers.
//
// idle: no packet or event is in progress, so the clock may stop until the next input. A punted frame that waits for
// firmware does not count.

`include "rf_regs.vh"

`default_nettype none

module rf_core #(
  // Ports, 2..8.
  parameter PORTS = 4,
  // Lanes per port, 1..16.
  parameter LANES = 1,
  // Bits of the data path: 64, 128, 256 or 512.
  parameter WIDTH = 512,
  // Groups, 1..64.
  parameter GROUPS = 8,
  // Largest path MTU in bytes: 256, 512, 1024, 2048 or 4096.
  parameter MTU_MAX = 4096,
  // log2 of the beats of one lane of a bank.
  parameter BANK_AW = 13,
  // log2 of the header slots of one lane.
  parameter HDR_AW = 9,
  // log2 of the entries of one connection table.
  parameter HASH_BITS = 8,
  // Element types: bit t is type t of the registers (DTYPE).
  parameter TYPES = 1023,
  // 1: groups may be selective.
  parameter SELECTIVE = 1,
  // 1: groups may be directed.
  parameter DIRECTED = 1,
  // 1: who is last in a group can be measured.
  parameter LAG = 1,
  // 1: connections may be mirror connections.
  parameter MIRROR = 1,
  // 1: memories have parity bits.
  parameter PARITY = 1,
  // Value of its register, and of the next one.
  parameter CLOCK_KHZ = 250000,
  // The link of a port counts as down after this many cycles in which a beat is offered without m_axis_tready: a
  // millisecond; 0: never.
  parameter STALL_CYCLES = CLOCK_KHZ
) (
  input  wire                     clk,
  input  wire                     rst,

  input  wire [PORTS*WIDTH-1:0]   s_axis_tdata,
  input  wire [PORTS*WIDTH/8-1:0] s_axis_tkeep,
  input  wire [PORTS-1:0]         s_axis_tvalid,
  input  wire [PORTS-1:0]         s_axis_tlast,
  input  wire [PORTS-1:0]         s_axis_tuser,

  output wire [PORTS*WIDTH-1:0]   m_axis_tdata,
  output wire [PORTS*WIDTH/8-1:0] m_axis_tkeep,
  output wire [PORTS-1:0]         m_axis_tvalid,
  output wire [PORTS-1:0]         m_axis_tlast,
  // With m_axis_tlast: the frame was truncated by a reset or because the link went down.
  output wire [PORTS-1:0]         m_axis_tuser,
  input  wire [PORTS-1:0]         m_axis_tready,

  input  wire [23:0]              s_axil_awaddr,
  input  wire                     s_axil_awvalid,
  output wire                     s_axil_awready,
  input  wire [31:0]              s_axil_wdata,
  input  wire [3:0]               s_axil_wstrb,
  input  wire                     s_axil_wvalid,
  output wire                     s_axil_wready,
  output wire [1:0]               s_axil_bresp,
  output wire                     s_axil_bvalid,
  input  wire                     s_axil_bready,
  input  wire [23:0]              s_axil_araddr,
  input  wire                     s_axil_arvalid,
  output wire                     s_axil_arready,
  output wire [31:0]              s_axil_rdata,
  output wire [1:0]               s_axil_rresp,
  output wire                     s_axil_rvalid,
  input  wire                     s_axil_rready,

  output wire                     irq,
  output wire                     idle
);

  localparam GW  = (GROUPS > 1) ? $clog2(GROUPS) : 1;
  localparam LW  = (LANES > 1) ? $clog2(LANES) : 1;
  localparam PW  = $clog2(PORTS);
  localparam AW  = GW + LW;
  localparam CW  = GW + LW + PW;
  localparam BYTES_LOG2 = $clog2(WIDTH / 8);
  // Bits of the facts of a packet (rf_bank).
  localparam FW = (DIRECTED != 0) ? 43 : 19;
  // Results: eight packets of the largest path MTU, at least 64 beats.
  localparam RES_BEATS = (8 * MTU_MAX * 8 / WIDTH > 64) ? 8 * MTU_MAX * 8 / WIDTH : 64;
  localparam CREDIT_W  = $clog2(RES_BEATS) + 1;

  // Resets the box after a parity error in a memory, except registers and counters.
  wire stopped;
  wire restart;
  wire reset = rst || restart;

  localparam [23:0] CFG_AT = `RF_GROUP_CFG;

  // Register bus.
  wire        wr_en;
  wire [23:0] wr_addr;
  wire [31:0] wr_data;
  wire        rd_en;
  wire [23:0] rd_addr;
  wire [31:0] rd_data;
  wire        rd_ack;
  wire        busy;
  wire [11:0] rd_at;
  wire        axil_idle;
  wire        start_valid;
  wire        tick;
  wire        lag_arm;
  wire [31:0] lag_status;
  wire [31:0] lag_cycles;
  wire [31:0] lag_index;
  wire [GROUPS*5-1:0] g_straggler;
  wire [GROUPS-1:0] g_clearing;
  wire [PORTS-1:0] port_ready;

  rf_axil #(.AW(24)) axil (
    .clk(clk), .rst(rst), .s_axil_awaddr(s_axil_awaddr), .s_axil_awvalid(s_axil_awvalid),
    .s_axil_awready(s_axil_awready), .s_axil_wdata(s_axil_wdata), .s_axil_wstrb(s_axil_wstrb),
    .s_axil_wvalid(s_axil_wvalid), .s_axil_wready(s_axil_wready), .s_axil_bresp(s_axil_bresp),
    .s_axil_bvalid(s_axil_bvalid), .s_axil_bready(s_axil_bready), .s_axil_araddr(s_axil_araddr),
    .s_axil_arvalid(s_axil_arvalid), .s_axil_arready(s_axil_arready), .s_axil_rdata(s_axil_rdata),
    .s_axil_rresp(s_axil_rresp), .s_axil_rvalid(s_axil_rvalid), .s_axil_rready(s_axil_rready),
    .open(port_ready == {PORTS{1'b1}} && !busy && !wr_en && !restart && !start_valid && g_clearing == {GROUPS{1'b0}}), .wr_en(wr_en),
    .wr_addr(wr_addr), .wr_data(wr_data), .rd_en(rd_en), .rd_addr(rd_addr), .rd_data(rd_data), .rd_ack(rd_ack), .idle(axil_idle));

  wire                          enable;
  wire [PORTS-1:0]              hold;
  wire [3:0]                    tx_share;
  wire [47:0]                   base_mac;
  wire [31:0]                   box_ip;
  wire [PORTS*32-1:0]           port_ip;
  wire [PORTS-1:0]              port_ip_set;
  wire                          hash_valid;
  wire                          hash_table;
  wire [15:0]                   hash_index;
  wire [1:0]                    hash_role;
  wire [31:0]                   hash_ip;
  wire [23:0]                   hash_qpn;
  wire [15:0]                   hash_cid;
  wire [1:0]                    hash_state;
  wire [31:0]                   punt_status;
  wire                          punt_pop;
  wire                          punt_win_en;
  wire [31:0]                   punt_win_data;
  wire                          inject_win_en;
  wire                          inject_cmd;
  wire [PORTS-1:0]              inject_busy;
  wire [7:0]                    count_number;
  wire [PORTS*32-1:0]           count_data;
  wire                          group_wr;
  wire [GW-1:0]                 group_wr_number;
  wire [GW-1:0]                 group_rd_number;
  wire [31:0]                   group_rd_data;
  wire [23:0]                   x_head;
  wire [23:0]                   x_tail;
  wire [23:0]                   x_issued;
  wire [23:0]                   x_next;
  wire [23:0]                   x_sent;
  wire [23:0]                   x_una;
  wire [23:0]                   x_msn;
  wire [(PORTS<<AW)-1:0]        silents;
  wire [5:0]                    conn_field;
  wire                          conn_mac_wr;
  wire [48:0]                   conn_mac;
  wire [CW-1:0]                 conn_wr;
  wire [CW-1:0]                 conn_rd;
  wire                          init_valid;
  wire                          init_ready;
  wire [PORTS-1:0]              pause;
  wire                          seen_valid;
  wire [1:0]                    seen_bits;
  wire [PORTS-1:0]              seen_ready;
  wire [PORTS*2-1:0]            seens;
  wire [1:0]                    seen_clear = (seen_valid && seen_ready == {PORTS{1'b1}}) ? seen_bits : 2'b00;
  reg  [1:0]                    x_seen;
  wire                          tomb_write;
  wire                          tomb_look;
  wire [31:0]                   tomb_src;
  wire [PORTS-1:0]              tomb_seens;
  wire                          held_pop;
  wire                          held_valid;
  wire                          held_missed;
  wire [2:0]                    held_port;
  wire [31:0]                   held_ip;
  wire [31:0]                   held_src;
  wire [23:0]                   held_qpn;
  wire [PORTS-1:0]              held_valids;
  wire [PORTS*32-1:0]           held_ips;
  wire [PORTS*32-1:0]           held_srcs;
  wire [PORTS*24-1:0]           held_qpns;

  integer s;
  always @(*) begin
    x_seen = 2'b00;
    for (s = 0; s < PORTS; s = s + 1) x_seen = x_seen | seens[2*s +: 2];
  end

  wire [GROUPS-1:0]             g_live;
  wire [GROUPS-1:0]             g_error;
  wire [GROUPS-1:0]             g_life;
  wire [GROUPS*32-1:0]          g_cfg;
  wire [GROUPS*32-1:0]          g_dbase;
  wire [GROUPS*32-1:0]          g_hbase;
  wire [GROUPS*LANES*PORTS-1:0] g_members;
  wire [GROUPS*PORTS-1:0]       g_ports;
  wire [GROUPS*PORTS-1:0]       g_block;
  wire [GROUPS*PW-1:0]          g_ref;
  wire [GROUPS-1:0]             g_directed;
  wire [GROUPS-1:0]             g_mark;
  wire [GW-1:0]                 start_group;

  // Memories with a parity error: of a port, or shared.
  wire [PORTS-1:0]   port_fault;
  wire [PORTS*4-1:0] port_memory;
  wire [PORTS-1:0]   ledger_bad;
  wire               reduce_bad;
  reg                fault_valid;
  reg  [2:0]         fault_port;
  reg  [3:0]         fault_memory;

  integer f;
  always @(*) begin
    fault_valid  = reduce_bad;
    fault_port   = 3'd0;
    fault_memory = `RF_MEMORY_REDUCE;
    for (f = PORTS - 1; f >= 0; f = f - 1)
      if (ledger_bad[f] || port_fault[f]) begin
        fault_valid  = 1'b1;
        fault_port   = f[2:0];
        fault_memory = port_fault[f] ? port_memory[f*4 +: 4] : `RF_MEMORY_LEDGER;
      end
  end

  rf_regs #(
    .PORTS(PORTS), .LANES(LANES), .WIDTH(WIDTH), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW), .MTU_MAX(MTU_MAX),
    .BANK_AW(BANK_AW), .HDR_AW(HDR_AW), .HASH_BITS(HASH_BITS), .TYPES(TYPES), .SELECTIVE(SELECTIVE), .LAG(LAG), .MIRROR(MIRROR), .DIRECTED(DIRECTED),
    .CLOCK_KHZ(CLOCK_KHZ)
  ) regs (
    .clk(clk), .rst(rst),
    .wr_en(wr_en), .wr_addr(wr_addr), .wr_data(wr_data), .rd_en(rd_en), .rd_addr(rd_addr), .rd_data(rd_data),
    .rd_ack(rd_ack), .busy(busy), .rd_at(rd_at),
    .enable(enable), .hold(hold), .tx_share(tx_share), .tick(tick), .base_mac(base_mac), .box_ip(box_ip),
    .port_ip(port_ip), .port_ip_set(port_ip_set), .any_error(g_error != {GROUPS{1'b0}}), .fault_valid(fault_valid), .fault_port(fault_port),
    .fault_memory(fault_memory), .stopped(stopped), .restart(restart), .irq(irq),
    // Connection table.
    .hash_valid(hash_valid), .hash_table(hash_table), .hash_index(hash_index), .hash_role(hash_role), .hash_ip(hash_ip),
    .hash_qpn(hash_qpn), .hash_cid(hash_cid), .hash_state(hash_state),
    // Punt and inject.
    .punt_status(punt_status), .punt_pop(punt_pop), .punt_win_en(punt_win_en), .punt_win_data(punt_win_data),
    .inject_win_en(inject_win_en), .inject_cmd(inject_cmd), .inject_busy(inject_busy),
    // Who is last.
    .lag_arm(lag_arm), .lag_status(lag_status), .lag_cycles(lag_cycles), .lag_index(lag_index),
    // Tombstones.
    .tomb_write(tomb_write), .tomb_look(tomb_look), .tomb_src(tomb_src), .tomb_seen(tomb_seens != {PORTS{1'b0}}),
    // Held frames.
    .held_pop(held_pop), .held_valid(held_valid), .held_missed(held_missed), .held_port(held_port), .held_ip(held_ip),
    .held_src(held_src), .held_qpn(held_qpn),
    // Counters.
    .count_number(count_number), .count_data(count_data),
    // Groups.
    .group_wr(group_wr), .group_wr_number(group_wr_number), .group_rd_number(group_rd_number),
    .group_rd_data(group_rd_data), .x_head(x_head), .x_tail(x_tail), .x_issued(x_issued),
    // Connections.
    .conn_field(conn_field), .conn_mac_wr(conn_mac_wr), .conn_mac(conn_mac), .conn_wr(conn_wr), .init_valid(init_valid), .init_ready(init_ready),
    .seen_valid(seen_valid), .seen_bits(seen_bits), .seen_ready(seen_ready == {PORTS{1'b1}}), .conn_rd(conn_rd),
    .x_next(x_next), .x_sent(x_sent), .x_una(x_una), .x_msn(x_msn), .x_seen(x_seen), .x_silent(silents[{conn_rd[PW-1:0], conn_rd[CW-1:PW]}]));

  rf_held #(.PORTS(PORTS)) held (
    .clk(clk), .rst(reset), .h_valid(held_valids), .h_ip(held_ips), .h_src(held_srcs), .h_qpn(held_qpns), .pop(held_pop),
    .valid(held_valid), .missed(held_missed), .port(held_port), .ip(held_ip), .src(held_src), .qpn(held_qpn));

  wire [PORTS*4-1:0]  judge_error;
  wire [PORTS*CW-1:0] judge_conn;
  wire [PORTS*24-1:0] judge_index;
  wire [PORTS*32-1:0] judge_got;
  wire [PORTS-1:0]    bad_valid;
  wire [PORTS*AW-1:0] bad_addr;
  wire [PORTS*24-1:0] bad_index;
  wire [PORTS*2-1:0]  bad_what;
  wire [PORTS*32-1:0] bad_got;
  wire [PORTS*32-1:0] bad_want;
  wire [PORTS-1:0]    store_valid;
  wire [PORTS-1:0]    store_gives;
  wire [PORTS*AW-1:0] store_addr;
  wire [PORTS-1:0]    cnp_valid;
  wire [PORTS*GW-1:0] cnp_group;
  wire [PORTS-1:0]    unmark_valid;
  wire [PORTS*GW-1:0] unmark_group;
  wire [PORTS-1:0]    lost_valid;
  wire [PORTS*AW-1:0] lost_addr;
  wire [PORTS*24-1:0] lost_index;
  wire                n_valid;
  wire [PW-1:0]       n_port;
  wire [AW-1:0]       n_addr;
  wire [23:0]         n_index;

  rf_group_regs #(
    .PORTS(PORTS), .LANES(LANES), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW), .SELECTIVE(SELECTIVE),
    .DIRECTED(DIRECTED), .PARITY(PARITY)
  ) group_regs (
    .clk(clk), .rst(reset),
    // Write of a register of an existing group.
    .wr_en(group_wr), .wr_group(group_wr_number), .wr_offset(wr_addr[5:0]), .wr_data(wr_data),
    .rd_group(group_rd_number), .rd_offset(rd_at[5:0]), .rd_data(group_rd_data),
    // LIVE goes from 0 to 1.
    .start_valid(start_valid), .start_group(start_group), .g_live(g_live), .g_error(g_error), .g_life(g_life),
    .g_cfg(g_cfg), .g_dbase(g_dbase), .g_hbase(g_hbase), .g_straggler(g_straggler), .g_directed(g_directed), .g_members(g_members),
    .g_ports(g_ports), .g_block(g_block), .g_ref(g_ref),
    // Errors.
    .judge_error(judge_error), .judge_conn(judge_conn), .judge_index(judge_index), .judge_got(judge_got), .bad_valid(bad_valid),
    .bad_addr(bad_addr), .bad_index(bad_index), .bad_what(bad_what), .bad_got(bad_got),
    .bad_want(bad_want), .lost_valid(lost_valid), .lost_addr(lost_addr),
    .lost_index(lost_index), .nak_valid(n_valid), .nak_conn({n_addr, n_port}), .nak_index(n_index));

  rf_marks #(
    .PORTS(PORTS), .LANES(LANES), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW), .DIRECTED(DIRECTED)
  ) marks (
    .clk(clk), .rst(reset), .init_valid(init_valid && init_ready), .init_port(conn_wr[PW-1:0]), .init_addr(conn_wr[CW-1:PW]),
    .start_valid(start_valid), .start_group(start_group), .store_valid(store_valid), .store_addr(store_addr),
    .store_gives(store_gives), .cnp_valid(cnp_valid), .cnp_group(cnp_group), .unmark_valid(unmark_valid),
    .unmark_group(unmark_group), .silents(silents), .g_mark(g_mark));

  // Punt and inject.
  wire [PORTS-1:0]         punt_room;
  wire [PORTS-1:0]         punt_room_arp;
  wire [PORTS-1:0]         punt_take;
  wire [PORTS-1:0]         punt_arp;
  wire [PORTS-1:0]         punt_valid;
  wire [PORTS-1:0]         punt_ready;
  wire [PORTS*WIDTH-1:0]   punt_data;
  wire [PORTS*WIDTH/8-1:0] punt_keep;
  wire [PORTS-1:0]         punt_last;
  wire                     punt_idle;
  wire [PORTS-1:0]         inj_valid;
  wire [PORTS-1:0]         inj_ready;
  wire [PORTS*14-1:0]      inj_len;
  wire [PORTS*WIDTH-1:0]   inj_data;
  wire [PORTS-1:0]         inj_last;

  rf_punt #(.PORTS(PORTS), .WIDTH(WIDTH)) punt (
    .clk(clk), .rst(reset), .room(punt_room), .room_arp(punt_room_arp), .take(punt_take), .arp(punt_arp), .s_valid(punt_valid), .s_ready(punt_ready),
    .s_data(punt_data), .s_keep(punt_keep), .s_last(punt_last), .status(punt_status), .pop(punt_pop),
    .win_en(punt_win_en), .win_addr(rd_at[9:2]), .win_data(punt_win_data), .idle(punt_idle));

  // Ledger.
  wire [PORTS-1:0]      q_valid;
  wire [PORTS*GW-1:0]   j_soon;
  wire [PORTS-1:0]      j_valid;
  wire [PORTS*AW-1:0]   j_addr;
  wire [PORTS*24-1:0]   j_index;
  wire [PORTS-1:0]      j_selective;
  wire [PORTS*HDR_AW-1:0] j_slot;
  wire [PORTS-1:0]      j_lap;
  wire [PORTS*24-1:0]   j_next;
  wire [PORTS*24-1:0]   j_sent;
  wire [PORTS*24-1:0]   j_una;
  wire [PORTS-1:0]      j_far;
  wire [PORTS*24-1:0]   j_msn;
  wire [PORTS-1:0]      j_accept;
  wire [PORTS-1:0]      j_inside;
  wire [PORTS-1:0]      j_full;
  wire [PORTS-1:0]      c_valid;
  wire [PORTS*AW-1:0]   c_addr;
  wire [PORTS-1:0]      c_marks;
  wire [PORTS*HDR_AW-1:0] c_slot;
  wire [PORTS-1:0]      c_lap;
  wire [PORTS-1:0]      steps;
  wire [PORTS*AW-1:0]   step_addrs;
  wire [PORTS*24-1:0]   step_indexes;
  wire [GW-1:0]         lag_group;
  wire [23:0]           lag_head;
  wire [GROUPS-1:0]     g_pending;
  wire [GROUPS*24-1:0]  g_issued;
  wire [GROUPS-1:0]     pass_room;
  wire                  pass_begin;
  wire                  pass_first;
  reg  [GROUPS-1:0]     pass_end;
  wire [PORTS-1:0]      s_valid;
  wire [PORTS*AW-1:0]   q_addr;
  wire [PORTS*24-1:0]   r_sent;
  wire [PORTS*24-1:0]   r_una;
  wire [PORTS-1:0]      ev_valid;
  wire [PORTS-1:0]      ev_ready;
  wire [PORTS*PW-1:0]   ev_port;
  wire [PORTS*AW-1:0]   ev_addr;
  wire [PORTS*24-1:0]   ev_index;
  wire [PORTS*24-1:0]   ev_msn;
  wire [PORTS-1:0]      ev_fatal;
  wire [PORTS-1:0]      ev_still;
  wire [PORTS-1:0]      u_valid;
  wire [AW-1:0]         u_addr;
  wire [PORTS-1:0]      v_valid;
  wire                  v_ok;
  wire                  ledger_idle;
  wire [GROUPS-1:0]     g_open;
  wire [GROUPS-1:0]     g_selective;
  wire [GROUPS*HDR_AW-1:0] g_hslot;
  wire [GROUPS*4-1:0]   g_size_log2;
  wire [GROUPS*5-1:0]   g_lanes;
  wire [PORTS-1:0]      end_valid;
  wire [PORTS*GW-1:0]   end_group;
  wire [GW-1:0]         launch_group;
  wire [LW-1:0]         launch_lane;
  wire [23:0]           launch_index;

  genvar g;
  generate
    for (g = 0; g < GROUPS; g = g + 1) begin : g_field
      assign g_open[g]            = g_cfg[g*32 + `RF_GROUP_CFG_OPEN_LOOP_LSB];
      assign g_selective[g]       = SELECTIVE != 0 && g_cfg[g*32 + `RF_GROUP_CFG_SELECTIVE_LSB];
      assign g_hslot[HDR_AW*g +: HDR_AW] = g_hbase[g*32 +: HDR_AW];
      assign g_size_log2[4*g +: 4] = g_cfg[g*32 + `RF_GROUP_CFG_S_LOG2_LSB +: 4];
      assign g_lanes[5*g +: 5]    = g_cfg[g*32 + `RF_GROUP_CFG_LANES_LSB +: 5];
    end
  endgenerate

  integer e;
  always @(*) begin
    pass_end = {GROUPS{1'b0}};
    for (e = 0; e < PORTS; e = e + 1)
      if (end_valid[e]) pass_end[end_group[e*GW +: GW]] = 1'b1;
  end

  rf_ledger #(
    .IDX(24), .PORTS(PORTS), .LANES(LANES), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW), .HDR_AW(HDR_AW),
    .SELECTIVE(SELECTIVE), .PARITY(PARITY)
  ) ledger (
    .clk(clk), .rst(reset),
    // Groups.
    .g_open(g_open), .g_selective(g_selective), .g_hbase(g_hslot), .g_size_log2(g_size_log2), .g_lanes(g_lanes),
    .g_members(g_members), .g_ports(g_ports), .start_valid(start_valid), .start_group(start_group),
    .g_clearing(g_clearing), .init_valid(init_valid), .init_ready(init_ready), .init_port(conn_wr[PW-1:0]),
    .init_addr(conn_wr[CW-1:PW]), .pause(pause),
    // Judges, one per port.
    .j_soon(j_soon), .j_valid(j_valid), .j_addr(j_addr), .j_index(j_index), .j_selective(j_selective), .j_slot(j_slot),
    .j_lap(j_lap), .j_next(j_next), .j_sent(j_sent), .j_una(j_una), .j_far(j_far), .j_msn(j_msn), .j_accept(j_accept),
    .j_inside(j_inside), .j_full(j_full),
    // The copy of the connection's next packet begins.
    .c_valid(c_valid), .c_addr(c_addr), .c_marks(c_marks), .c_slot(c_slot), .c_lap(c_lap),
    .steps(steps), .step_addrs(step_addrs), .step_indexes(step_indexes), .l_group(lag_group), .l_head(lag_head),
    // Passes.
    .g_pending(g_pending), .g_issued(g_issued), .pass_room(pass_room), .pass_begin(pass_begin), .pass_first(pass_first),
    .pass_group(launch_group), .pass_index(launch_index), .pass_end(pass_end),
    // First sendings.
    .s_valid(s_valid), .s_addr({launch_group, launch_lane}), .s_index(launch_index),
    // Values for the waiting repeats, one connection per port.
    .r_valid(q_valid), .r_addr(q_addr), .r_sent(r_sent), .r_una(r_una),
    // An ACK has advanced una of a connection.
    .u_valid(u_valid), .u_addr(u_addr),
    // ACK events and verdicts.
    .e_valid(ev_valid), .e_ready(ev_ready), .e_port(ev_port), .e_addr(ev_addr), .e_index(ev_index), .e_msn(ev_msn),
    .e_fatal(ev_fatal), .e_still(ev_still), .v_valid(v_valid), .v_ok(v_ok), .n_valid(n_valid), .n_port(n_port),
    .n_addr(n_addr), .n_index(n_index),
    // Registers.
    .x_group(group_rd_number), .x_head(x_head), .x_tail(x_tail), .x_issued(x_issued), .x_port(conn_rd[PW-1:0]),
    .x_addr(conn_rd[CW-1:PW]), .x_next(x_next), .x_sent(x_sent), .x_una(x_una), .x_msn(x_msn),
    // A memory of this port had a parity error.
    .bad(ledger_bad), .idle(ledger_idle));

  generate
    if (LAG != 0) begin : g_lag
      rf_lag #(
        .PORTS(PORTS), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW)
      ) lag (
        .clk(clk), .rst(reset), .arm_valid(lag_arm), .arm_group(wr_data[7:0]),
        .stop_valid(group_wr && wr_addr[5:0] == CFG_AT[5:0] && !wr_data[`RF_GROUP_CFG_LIVE_LSB]), .stop_group(group_wr_number),
        .g_size_log2(g_size_log2), .j_valid(j_valid & j_accept), .j_addr(j_addr), .j_index(j_index), .step_valid(steps),
        .step_addr(step_addrs), .step_index(step_indexes), .group(lag_group), .head(lag_head), .status(lag_status),
        .cycles(lag_cycles), .index(lag_index));
    end else begin : g_no_lag
      wire unused_lag = &{1'b0, lag_arm, lag_head, steps, step_addrs, step_indexes};

      assign lag_group  = {GW{1'b0}};
      assign lag_status = 32'd0;
      assign lag_cycles = 32'd0;
      assign lag_index  = 32'd0;
    end
  endgenerate

  // Scheduler.
  wire [PORTS*24-1:0]       q_index;
  wire [PORTS-1:0]          q_first;
  wire [PORTS-1:0]          q_life;
  wire [PORTS-1:0]          q_pop;
  wire [PORTS-1:0]          q_stale;
  wire [PORTS-1:0]          q_room;
  wire [PORTS-1:0]          q_push;
  wire [AW-1:0]             l_addr;
  wire [PORTS-1:0]          l_queued;
  wire [PORTS*CREDIT_W-1:0] free_beats;
  wire [PORTS*CREDIT_W-1:0] free_hdrs;
  wire [PORTS-1:0]          prep_busy;
  wire [PORTS-1:0]          launch_valid;
  wire [PORTS-1:0]          launch_member;
  wire [PORTS-1:0]          launch_copy;
  wire [PORTS-1:0]          launch_room;
  wire [PORTS-1:0]          launch_block;
  wire                      launch_first;
  wire                      launch_final;
  wire                      launch_repeat;
  wire                      launch_queued;
  wire                      launch_ackreq;
  wire [1:0]                launch_level;
  wire [3:0]                launch_dtype;
  wire [2:0]                launch_op;
  wire [PW-1:0]             launch_ref;
  wire [4:0]                launch_lanes;
  wire [CREDIT_W-1:0]       launch_beats;
  wire [BANK_AW-1:0]        launch_beat;
  wire [HDR_AW-1:0]         launch_slot;
  wire                      sched_idle;

  rf_sched #(
    .PORTS(PORTS), .LANES(LANES), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW), .BYTES_LOG2(BYTES_LOG2),
    .BANK_AW(BANK_AW), .HDR_AW(HDR_AW), .CREDIT_W(CREDIT_W)
  ) sched (
    .clk(clk), .rst(reset),
    // Groups.
    .g_live(g_live), .g_error(g_error), .g_life(g_life), .g_cfg(g_cfg), .g_dbase(g_dbase), .g_hbase(g_hbase),
    .g_members(g_members), .g_ports(g_ports), .g_block(g_block), .g_ref(g_ref),
    // Ledger.
    .g_pending(g_pending), .g_issued(g_issued), .pass_room(pass_room), .pass_begin(pass_begin), .pass_first(pass_first),
    .s_valid(s_valid), .r_sent(r_sent), .r_una(r_una),
    // Repeats.
    .q_valid(q_valid), .q_addr(q_addr), .q_index(q_index), .q_first(q_first), .q_life(q_life), .q_pop(q_pop),
    .q_stale(q_stale), .q_room(q_room), .q_push(q_push), .l_addr(l_addr), .l_queued(l_queued),
    // Room for results.
    .free_beats(free_beats), .free_hdrs(free_hdrs),
    // A pass is in preparation at a port.
    .prep_busy(prep_busy),
    // Launch.
    .launch_valid(launch_valid), .launch_member(launch_member), .launch_copy(launch_copy), .launch_room(launch_room),
    .launch_block(launch_block), .launch_group(launch_group), .launch_lane(launch_lane), .launch_index(launch_index),
    .launch_first(launch_first), .launch_final(launch_final), .launch_repeat(launch_repeat), .launch_queued(launch_queued),
    .launch_ackreq(launch_ackreq), .launch_level(launch_level), .launch_dtype(launch_dtype), .launch_op(launch_op),
    .launch_ref(launch_ref), .launch_lanes(launch_lanes), .launch_beats(launch_beats), .launch_beat(launch_beat),
    .launch_slot(launch_slot),
    .idle(sched_idle));

  // Reduction.
  wire [PORTS-1:0]       in_valid;
  wire [PORTS*WIDTH-1:0] in_data;
  wire [PORTS-1:0]       in_member;
  wire [PORTS-1:0]       in_empty;
  wire [PORTS*2-1:0]     in_level;
  wire [PORTS*4-1:0]     in_dtype;
  wire [PORTS*3-1:0]     in_op;
  wire [PORTS-1:0]       in_first;
  wire [PORTS-1:0]       in_final;
  wire [PORTS-1:0]       in_last;
  wire [PORTS-1:0]       out_valid;
  wire [PORTS*WIDTH-1:0] out_data;
  wire [PORTS-1:0]       out_last;
  wire [PORTS-1:0]       in_bad;
  wire [PORTS-1:0]       out_bad;

  rf_reduce #(.PORTS(PORTS), .WIDTH(WIDTH), .TYPES(TYPES), .LANES(LANES), .BEATS_MAX(MTU_MAX * 8 / WIDTH),
    .DIRECTED(DIRECTED), .PARITY(PARITY)) reduce (
    .clk(clk), .rst(reset), .in_valid(in_valid), .in_data(in_data), .in_member(in_member), .in_empty(in_empty), .in_level(in_level),
    .in_dtype(in_dtype), .in_op(in_op), .in_first(in_first), .in_final(in_final), .in_last(in_last),
    .in_bad(in_bad), .out_valid(out_valid), .out_data(out_data), .out_last(out_last), .out_bad(out_bad), .bad(reduce_bad));

  // Ports.
  wire [PORTS-1:0]    run_frees;
  wire [PORTS-1:0]    differ;
  wire [PORTS*FW-1:0] facts;
  wire [PORTS-1:0]    port_idle;

  genvar p;
  generate
    for (p = 0; p < PORTS; p = p + 1) begin : g_port
      wire [CW-1:0] ev_conn;

      assign ev_port[p*PW +: PW] = ev_conn[PW-1:0];
      assign ev_addr[p*AW +: AW] = ev_conn[CW-1:PW];
      assign store_addr[p*AW +: AW] = judge_conn[p*CW+PW +: AW];

      // The write data goes to all buffers that are free; the command selects one.
      rf_inject #(.PORTS(1), .WIDTH(WIDTH)) inject (
        .clk(clk), .rst(reset), .win_en(inject_win_en), .win_addr(wr_addr[9:2]), .win_data(wr_data),
        .cmd_valid(inject_cmd && {29'd0, wr_data[26:24]} == p), .cmd_len(wr_data[15:0]), .cmd_port(3'd0),
        .busy(inject_busy[p]), .m_valid(inj_valid[p]), .m_ready(inj_ready[p]), .m_len(inj_len[p*14 +: 14]),
        .m_data(inj_data[p*WIDTH +: WIDTH]), .m_last(inj_last[p]));

      rf_port #(
        .PORT(p), .PORTS(PORTS), .LANES(LANES), .WIDTH(WIDTH), .GROUPS(GROUPS), .GW(GW), .LW(LW), .PW(PW),
        .MTU_MAX(MTU_MAX), .BANK_AW(BANK_AW), .HDR_AW(HDR_AW), .HASH_BITS(HASH_BITS), .CREDIT_W(CREDIT_W), .STALL_CYCLES(STALL_CYCLES),
        .SELECTIVE(SELECTIVE), .MIRROR(MIRROR), .DIRECTED(DIRECTED), .FW(FW), .TYPES(TYPES), .PARITY(PARITY)
      ) port (
        .clk(clk), .rst(rst), .restart(restart), .stopped(stopped), .fault_valid(port_fault[p]),
        .fault_memory(port_memory[p*4 +: 4]), .ready(port_ready[p]), .idle(port_idle[p]),
        .s_axis_tdata(s_axis_tdata[p*WIDTH +: WIDTH]), .s_axis_tkeep(s_axis_tkeep[p*WIDTH/8 +: WIDTH/8]),
        .s_axis_tvalid(s_axis_tvalid[p]), .s_axis_tlast(s_axis_tlast[p]), .s_axis_tuser(s_axis_tuser[p]),
        .m_axis_tdata(m_axis_tdata[p*WIDTH +: WIDTH]), .m_axis_tkeep(m_axis_tkeep[p*WIDTH/8 +: WIDTH/8]),
        .m_axis_tvalid(m_axis_tvalid[p]), .m_axis_tlast(m_axis_tlast[p]), .m_axis_tuser(m_axis_tuser[p]),
        .m_axis_tready(m_axis_tready[p]),
        // Registers.
        .pause(pause[p]), .enable(enable), .hold(hold[p]), .tx_share(tx_share), .base_mac(base_mac), .box_ip(box_ip),
        .port_ip(port_ip), .port_ip_set(port_ip_set), .g_live(g_live & ~g_clearing), .g_error(g_error), .g_life(g_life), .g_cfg(g_cfg), .g_dbase(g_dbase),
        .g_hbase(g_hbase), .g_straggler(g_straggler), .g_directed(g_directed), .g_mark(g_mark), .silents(silents), .hash_valid(hash_valid), .hash_table(hash_table),
        .hash_index(hash_index), .hash_role(hash_role), .hash_ip(hash_ip), .hash_qpn(hash_qpn), .hash_cid(hash_cid),
        .hash_state(hash_state), .conn_field(conn_field), .conn_wr(conn_wr), .conn_data(wr_data), .conn_mac_wr(conn_mac_wr), .conn_mac(conn_mac), .conn_rd(conn_rd),
        .seen_clear(seen_clear), .seen_ready(seen_ready[p]), .seen(seens[p*2 +: 2]),
        // Tombstones.
        .tomb_write(tomb_write), .tomb_look(tomb_look), .tomb_number(wr_data[`RF_TOMB_WRITE_NUMBER_LSB +: 16]),
        .tomb_src(tomb_src), .tomb_port(wr_data[`RF_TOMB_WRITE_PORT_LSB +: 3]),
        .tomb_any(wr_data[`RF_TOMB_WRITE_ANY_LSB]), .tomb_seen(tomb_seens[p]), .held_valid(held_valids[p]),
        .held_ip(held_ips[p*32 +: 32]), .held_src(held_srcs[p*32 +: 32]), .held_qpn(held_qpns[p*24 +: 24]),
        .count_number(count_number), .count_data(count_data[p*32 +: 32]),
        // Punt and inject.
        .punt_room(punt_room[p]), .punt_room_arp(punt_room_arp[p]), .punt_take(punt_take[p]), .punt_arp(punt_arp[p]),
        .punt_valid(punt_valid[p]), .punt_ready(punt_ready[p]), .punt_data(punt_data[p*WIDTH +: WIDTH]),
        .punt_keep(punt_keep[p*WIDTH/8 +: WIDTH/8]), .punt_last(punt_last[p]), .inj_valid(inj_valid[p]),
        .inj_ready(inj_ready[p]), .inj_len(inj_len[p*14 +: 14]), .inj_data(inj_data[p*WIDTH +: WIDTH]),
        .inj_last(inj_last[p]),
        // Ledger.
        .j_soon(j_soon[p*GW +: GW]), .j_valid(j_valid[p]), .j_addr(j_addr[p*AW +: AW]), .j_index(j_index[p*24 +: 24]),
        .j_selective(j_selective[p]), .j_slot(j_slot[p*HDR_AW +: HDR_AW]), .j_lap(j_lap[p]),
        .j_next(j_next[p*24 +: 24]), .j_sent(j_sent[p*24 +: 24]), .j_una(j_una[p*24 +: 24]), .j_far(j_far[p]),
        .j_msn(j_msn[p*24 +: 24]), .j_accept(j_accept[p]), .j_inside(j_inside[p]), .j_full(j_full[p]),
        .init_valid(init_valid && init_ready && {{32-PW{1'b0}}, conn_wr[PW-1:0]} == p), .tick(tick),
        .una_valid(u_valid[p] && !g_selective[u_addr[AW-1:LW]]), .una_addr(u_addr), .c_valid(c_valid[p]),
        .c_addr(c_addr[p*AW +: AW]), .c_marks(c_marks[p]), .c_slot(c_slot[p*HDR_AW +: HDR_AW]),
        .c_lap(c_lap[p]), .ev_valid(ev_valid[p]), .ev_ready(ev_ready[p]), .ev_conn(ev_conn),
        .ev_index(ev_index[p*24 +: 24]), .ev_msn(ev_msn[p*24 +: 24]), .ev_fatal(ev_fatal[p]), .ev_still(ev_still[p]),
        .v_valid(v_valid[p]), .v_ok(v_ok),
        // Errors.
        .judge_error(judge_error[p*4 +: 4]), .judge_conn(judge_conn[p*CW +: CW]), .judge_index(judge_index[p*24 +: 24]),
        .judge_got(judge_got[p*32 +: 32]), .bad_what(bad_what[p*2 +: 2]), .bad_got(bad_got[p*32 +: 32]),
        .bad_want(bad_want[p*32 +: 32]), .store_valid(store_valid[p]), .store_gives(store_gives[p]),
        .cnp_mark_valid(cnp_valid[p]), .cnp_mark_group(cnp_group[p*GW +: GW]), .unmark_valid(unmark_valid[p]), .unmark_group(unmark_group[p*GW +: GW]),
        .bad_valid(bad_valid[p]), .bad_addr(bad_addr[p*AW +: AW]), .bad_index(bad_index[p*24 +: 24]),
        .lost_valid(lost_valid[p]), .lost_addr(lost_addr[p*AW +: AW]),
        .lost_index(lost_index[p*24 +: 24]),
        // Repeats.
        .q_valid(q_valid[p]), .q_addr(q_addr[p*AW +: AW]), .q_index(q_index[p*24 +: 24]), .q_first(q_first[p]),
        .q_life(q_life[p]), .q_pop(q_pop[p]), .q_stale(q_stale[p]), .q_room(q_room[p]), .q_push(q_push[p]),
        .l_addr(l_addr), .l_queued(l_queued[p]),
        // Launch of passes.
        .free_beats(free_beats[p*CREDIT_W +: CREDIT_W]), .free_hdrs(free_hdrs[p*CREDIT_W +: CREDIT_W]),
        .prep_busy(prep_busy[p]), .launch_valid(launch_valid[p]), .launch_member(launch_member),
        .launch_copy(launch_copy[p]), .launch_room(launch_room[p]), .launch_block(launch_block),
        .launch_group(launch_group), .launch_lane(launch_lane), .launch_index(launch_index),
        .launch_first(launch_first), .launch_final(launch_final), .launch_repeat(launch_repeat), .launch_queued(launch_queued),
        .launch_ackreq(launch_ackreq), .launch_level(launch_level), .launch_dtype(launch_dtype), .launch_op(launch_op),
        .launch_ref(launch_ref), .launch_lanes(launch_lanes), .launch_beats(launch_beats), .launch_beat(launch_beat),
        .launch_slot(launch_slot),
        // Readers of all ports.
        .run_free(run_frees[p]), .run_frees(run_frees), .differs(differ[p]), .differ(differ), .fact(facts[p*FW +: FW]),
        .facts(facts), .end_valid(end_valid[p]), .end_group(end_group[p*GW +: GW]),
        // Reduction.
        .in_valid(in_valid[p]), .in_data(in_data[p*WIDTH +: WIDTH]), .in_member(in_member[p]), .in_empty(in_empty[p]),
        .in_level(in_level[p*2 +: 2]), .in_dtype(in_dtype[p*4 +: 4]), .in_op(in_op[p*3 +: 3]), .in_first(in_first[p]),
        .in_final(in_final[p]), .in_last(in_last[p]), .in_bad(in_bad[p]), .out_valid(out_valid[p]),
        .out_data(out_data[p*WIDTH +: WIDTH]), .out_last(out_last[p]), .out_bad(out_bad[p]));
    end
  endgenerate

  assign idle = axil_idle && !busy && port_idle == {PORTS{1'b1}} && port_ready == {PORTS{1'b1}} && ledger_idle &&
                sched_idle && inject_busy == {PORTS{1'b0}} && c_valid == {PORTS{1'b0}} && c_marks == {PORTS{1'b0}} && punt_idle;

  wire unused_bits = &{1'b0, rd_at};

endmodule

`default_nettype wire
