// rf_regs: the box's registers (rtl/control/registers.txt): decodes accesses, stores the global registers, selects the
// read data.
//
// Latency     write: effective 1 cycle after wr_en; INIT and SEEN wait for a cycle in which the ledger and the judges
//             write nothing (open is low meanwhile). Read: rd_ack 5 cycles after rd_en.
// Throughput  one access at a time each way.
// Capacity    none.
// Handshake   as rf_axil.
// Reset       registers as registers.txt says.
// Proved      tests/rtl/unit_regs.cpp; tests/rtl/core.

`include "rf_regs.vh"

`default_nettype none

module rf_regs #(
  parameter PORTS = 4,
  parameter LANES = 1,
  parameter WIDTH = 512,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2,
  parameter MTU_MAX = 4096,
  parameter BANK_AW = 13,
  parameter HDR_AW = 9,
  parameter HASH_BITS = 8,
  parameter TYPES = 1023,
  parameter SELECTIVE = 1,
  parameter LAG = 1,
  parameter MIRROR = 1,
  parameter DIRECTED = 1,
  parameter CLOCK_KHZ = 250000
) (
  input  wire                   clk,
  input  wire                   rst,

  input  wire                   wr_en,
  input  wire [23:0]            wr_addr,
  input  wire [31:0]            wr_data,
  input  wire                   rd_en,
  input  wire [23:0]            rd_addr,
  output wire [31:0]            rd_data,
  output wire                   rd_ack,
  output wire                   busy,
  // The address being read, until its answer arrives.
  output wire [11:0]            rd_at,

  output wire                   enable,
  output wire [PORTS-1:0]       hold,
  output wire [3:0]             tx_share,
  output wire                   tick,
  output wire [47:0]            base_mac,
  output wire [31:0]            box_ip,
  // Addresses of the ports, and whether each port has one.
  output wire [PORTS*32-1:0]    port_ip,
  output wire [PORTS-1:0]       port_ip_set,
  input  wire                   any_error,
  // A memory had a parity error; its port and number. The error is latched: no frame is judged any more until the
  // firmware restarts the box (restart: one cycle of reset).
  input  wire                   fault_valid,
  input  wire [2:0]             fault_port,
  input  wire [3:0]             fault_memory,
  output wire                   stopped,
  output wire                   restart,
  output wire                   irq,

  // Connection table.
  output wire                   hash_valid,
  output wire                   hash_table,
  output wire [15:0]            hash_index,
  output wire [1:0]             hash_role,
  output wire [31:0]            hash_ip,
  output wire [23:0]            hash_qpn,
  output wire [15:0]            hash_cid,
  output wire [1:0]             hash_state,

  // Punt and inject.
  input  wire [31:0]            punt_status,
  output wire                   punt_pop,
  output wire                   punt_win_en,
  input  wire [31:0]            punt_win_data,
  output wire                   inject_win_en,
  output wire                   inject_cmd,
  input  wire [PORTS-1:0]       inject_busy,

  // Who is last.
  output wire                   lag_arm,
  input  wire [31:0]            lag_status,
  input  wire [31:0]            lag_cycles,
  input  wire [31:0]            lag_index,

  // Tombstones: wr_data holds number, port and any; the ports return in the same cycle whether they have seen a packet.
  output wire                   tomb_write,
  output wire                   tomb_look,
  output wire [31:0]            tomb_src,
  input  wire                   tomb_seen,

  // Held frames.
  output wire                   held_pop,
  input  wire                   held_valid,
  input  wire                   held_missed,
  input  wire [2:0]             held_port,
  input  wire [31:0]            held_ip,
  input  wire [31:0]            held_src,
  input  wire [23:0]            held_qpn,

  // Counters: the ports answer count_number in the same cycle.
  output wire [7:0]             count_number,
  input  wire [PORTS*32-1:0]    count_data,

  // Groups.
  output wire                   group_wr,
  output wire [GW-1:0]          group_wr_number,
  output wire [GW-1:0]          group_rd_number,
  input  wire [31:0]            group_rd_data,
  input  wire [23:0]            x_head,
  input  wire [23:0]            x_tail,
  input  wire [23:0]            x_issued,

  // Connections.
  output wire [5:0]             conn_field,
  // Write of {mirror, MAC} of conn_wr.
  output wire                   conn_mac_wr,
  output wire [48:0]            conn_mac,
  output wire [GW+LW+PW-1:0]    conn_wr,
  output wire                   init_valid,
  input  wire                   init_ready,
  output wire                   seen_valid,
  output wire [1:0]             seen_bits,
  input  wire                   seen_ready,
  output wire [GW+LW+PW-1:0]    conn_rd,
  input  wire [23:0]            x_next,
  input  wire [23:0]            x_sent,
  input  wire [23:0]            x_una,
  input  wire [23:0]            x_msn,
  input  wire [1:0]             x_seen,
  input  wire                   x_silent
);

  localparam [31:0] PORTS_N  = PORTS;
  localparam [31:0] LANES_N  = LANES;
  localparam [31:0] UNITS_N  = WIDTH / 64;
  localparam [31:0] HASH_N   = HASH_BITS;
  localparam [31:0] TYPES_N  = TYPES;
  localparam [31:0] SELECTIVE_N = SELECTIVE;
  localparam [31:0] LAG_N    = LAG;
  localparam [31:0] MIRROR_N = MIRROR;
  localparam [31:0] DIRECTED_N = DIRECTED;
  localparam [31:0] GROUPS_N = GROUPS;
  localparam [31:0] BANK_N   = BANK_AW;
  localparam [31:0] HDR_N    = HDR_AW;
  localparam [31:0] MTU_N    = $clog2(MTU_MAX);
  localparam [31:0] CLOCK_N  = CLOCK_KHZ;

  localparam [23:0] CONN_START     = `RF_CONN_START;
  localparam [23:0] CONN_SHIFT     = `RF_CONN_SHIFT;
  localparam [23:0] CONN_SRC_IP    = `RF_CONN_SRC_IP;
  localparam [23:0] CONN_PEER_IP   = `RF_CONN_PEER_IP;
  localparam [23:0] CONN_PEER_PORT = `RF_CONN_PEER_PORT;
  localparam [23:0] CONN_QPN       = `RF_CONN_QPN;
  localparam [23:0] CONN_INIT      = `RF_CONN_INIT;
  localparam [23:0] CONN_NEXT      = `RF_CONN_NEXT;
  localparam [23:0] CONN_SENT      = `RF_CONN_SENT;
  localparam [23:0] CONN_UNA       = `RF_CONN_UNA;
  localparam [23:0] CONN_MSN       = `RF_CONN_MSN;
  localparam [23:0] CONN_SEEN      = `RF_CONN_SEEN;
  localparam [23:0] CONN_MAC_HI    = `RF_CONN_PEER_MAC_HI;
  localparam [23:0] CONN_MAC_LO    = `RF_CONN_PEER_MAC_LO;
  localparam [23:0] CONN_SILENT    = `RF_CONN_SILENT;
  localparam [23:0] GROUP_HEAD     = `RF_GROUP_HEAD;
  localparam [23:0] GROUP_TAIL     = `RF_GROUP_TAIL;
  localparam [23:0] GROUP_ISSUED   = `RF_GROUP_ISSUED;

  // Where the blocks and windows begin, in the form that comparisons of their upper bits use.
  localparam [23:0] AT_PORT   = `RF_PORT_BASE;
  localparam [23:0] AT_GROUP  = `RF_GROUP_BASE;
  localparam [23:0] AT_CONN   = `RF_CONN_BASE;
  localparam [23:0] AT_PUNT   = `RF_PUNT_DATA;
  localparam [23:0] AT_INJECT = `RF_INJECT_DATA;

  // The number of the connection or group exists in this box.
  function good_conn;
    input [12:0] cid;
    good_conn = {26'd0, cid[12:7]} < GROUPS && {28'd0, cid[6:3]} < LANES && {29'd0, cid[2:0]} < PORTS;
  endfunction

  function good_group;
    input [5:0] number;
    good_group = {26'd0, number} < GROUPS;
  endfunction

  // Writes.
  wire        wr_conn = wr_en && wr_addr[23:19] == AT_CONN[23:19] && good_conn(wr_addr[18:6]);
  wire [5:0]  wr_off  = wr_addr[5:0];
  wire        wr_init = wr_conn && wr_off == CONN_INIT[5:0];
  wire        wr_seen = wr_conn && wr_off == CONN_SEEN[5:0];

  wire [3:0]  wr_lane  = wr_addr[12:9];
  wire [5:0]  wr_group = wr_addr[18:13];
  wire [2:0]  wr_port  = wr_addr[8:6];

  reg         stopped_q;
  reg         restart_q;
  reg  [2:0]  fault_port_q;
  reg  [3:0]  fault_memory_q;
  reg  [1:0]  ctrl_q;
  reg  [PORTS-1:0] hold_ports_q;
  reg  [3:0]  share_q;
  reg  [47:0] mac_q;
  reg  [31:0] ip_q;
  reg  [31:0] hash_ip_q;
  reg  [25:0] hash_key_q;
  reg  [17:0] hash_value_q;
  reg  [31:0] inject_q;
  reg  [31:0] tomb_src_q;
  reg         tomb_seen_q;
  reg  [63:0] cycle_q;
  reg  [31:0] cycle_hi_q;
  reg  [31:0] cycle_lo_q;

  // INIT and SEEN, which wait for a free cycle. INIT clears the signs of life too.
  reg                init_q;
  reg                seen_q;
  reg [1:0]          seen_bits_q;
  reg [GW+LW+PW-1:0] late_conn_q;

  always @(posedge clk)
    if (rst) begin
      share_q      <= 4'd4;
      mac_q        <= 48'd0;
      ip_q         <= 32'd0;
      hash_ip_q    <= 32'd0;
      hash_key_q   <= 26'd0;
      hash_value_q <= 18'd0;
      inject_q     <= 32'd0;
      tomb_src_q   <= 32'd0;
      tomb_seen_q  <= 1'b0;
    end else if (wr_en) begin
      case (wr_addr)
        `RF_TX_SHARE:   share_q      <= wr_data[3:0];
        `RF_MAC_HI:     mac_q[47:32] <= wr_data[15:0];
        `RF_MAC_LO:     mac_q[31:0]  <= wr_data;
        `RF_IP:         ip_q         <= wr_data;
        `RF_HASH_IP:    hash_ip_q    <= wr_data;
        `RF_HASH_KEY:   hash_key_q   <= {MIRROR != 0 && wr_data[25], wr_data[24:0]};
        `RF_HASH_VALUE: hash_value_q <= wr_data[17:0];
        `RF_INJECT:     inject_q     <= wr_data;
        `RF_TOMB_SRC:   tomb_src_q   <= wr_data;
        `RF_TOMB_LOOK:  tomb_seen_q  <= tomb_seen;
        default: ;
      endcase
    end

  always @(posedge clk)
    if (rst) cycle_q <= 64'd0;
    else cycle_q <= cycle_q + 64'd1;

  always @(posedge clk)
    if (rst) cycle_hi_q <= 32'd0;
    else if (rd_en && rd_addr == `RF_CYCLE_LO) cycle_hi_q <= cycle_q[63:32];

  always @(posedge clk)
    if (rd_en) cycle_lo_q <= cycle_q[31:0];

  // After a restart of the box as after power-on, until the firmware writes another value.
  always @(posedge clk)
    if (rst || restart_q) ctrl_q <= 2'b10;
    else if (wr_en && wr_addr == `RF_CTRL) ctrl_q <= wr_data[1:0];

  always @(posedge clk)
    if (rst || restart_q) hold_ports_q <= {PORTS{1'b0}};
    else if (wr_en && wr_addr == `RF_HOLD_PORTS) hold_ports_q <= wr_data[PORTS-1:0];

  // The latched parity error.
  always @(posedge clk)
    if (rst) restart_q <= 1'b0;
    else restart_q <= wr_en && wr_addr == `RF_PARITY && wr_data[`RF_PARITY_VALID_LSB];

  always @(posedge clk)
    if (rst || restart_q) stopped_q <= 1'b0;
    else if (fault_valid) stopped_q <= 1'b1;

  always @(posedge clk)
    if (fault_valid && !stopped_q) begin
      fault_port_q   <= fault_port;
      fault_memory_q <= fault_memory;
    end

  assign stopped         = stopped_q;
  assign restart         = restart_q;
  assign enable          = ctrl_q[`RF_CTRL_ENABLE_LSB] && !stopped_q;
  assign hold            = hold_ports_q | {PORTS{ctrl_q[`RF_CTRL_HOLD_LSB]}};
  assign tx_share        = share_q;
  assign tick            = wr_en && wr_addr == `RF_TICK;
  assign lag_arm         = wr_en && wr_addr == `RF_LAG_ARM;
  assign base_mac        = mac_q;
  assign box_ip          = ip_q;
  assign irq             = any_error || stopped_q || held_valid || punt_status[`RF_PUNT_STATUS_VALID_LSB];
  assign hash_valid      = wr_en && wr_addr == `RF_HASH_WRITE;
  assign hash_table      = wr_data[`RF_HASH_WRITE_TABLE_LSB];
  assign hash_index      = wr_data[15:0];
  assign hash_role       = hash_key_q[`RF_HASH_KEY_ROLE_LSB +: 2];
  assign hash_qpn        = hash_key_q[23:0];
  assign hash_ip         = hash_ip_q;
  assign hash_cid        = hash_value_q[15:0];
  assign hash_state      = hash_value_q[17:16];
  assign punt_pop        = wr_en && wr_addr == `RF_PUNT_POP;
  assign tomb_write      = wr_en && wr_addr == `RF_TOMB_WRITE;
  assign tomb_look       = wr_en && wr_addr == `RF_TOMB_LOOK;
  assign tomb_src        = tomb_src_q;
  assign held_pop        = wr_en && wr_addr == `RF_HELD_POP;
  assign inject_cmd      = wr_en && wr_addr == `RF_INJECT;
  assign inject_win_en   = wr_en && wr_addr[23:10] == AT_INJECT[23:10];
  assign group_wr        = wr_en && wr_addr[23:12] == AT_GROUP[23:12] && good_group(wr_addr[11:6]);
  assign group_wr_number = wr_addr[6 +: GW];
  assign conn_wr         = init_valid || seen_valid ? late_conn_q : {wr_group[GW-1:0], wr_lane[LW-1:0], wr_port[PW-1:0]};
  assign conn_field      = !wr_conn ? 6'd0 :
                           {wr_off == CONN_QPN[5:0], wr_off == CONN_PEER_PORT[5:0], wr_off == CONN_PEER_IP[5:0],
                            wr_off == CONN_SRC_IP[5:0], wr_off == CONN_SHIFT[5:0], wr_off == CONN_START[5:0]};

  assign init_valid = init_q;
  assign seen_valid = seen_q;
  assign seen_bits  = seen_bits_q;
  assign busy       = init_q || seen_q || wr_init || wr_seen;

  always @(posedge clk)
    if (rst) init_q <= 1'b0;
    else if (wr_init) init_q <= 1'b1;
    else if (init_ready) init_q <= 1'b0;

  always @(posedge clk)
    if (rst) seen_q <= 1'b0;
    else if (wr_init || wr_seen) seen_q <= 1'b1;
    else if (seen_ready) seen_q <= 1'b0;

  always @(posedge clk)
    if (wr_init || wr_seen) begin
      seen_bits_q <= wr_init ? 2'b11 : wr_data[1:0];
      late_conn_q <= {wr_group[GW-1:0], wr_lane[LW-1:0], wr_port[PW-1:0]};
    end

  // Reads: the address is registered, the memories are read after it, the answer is taken 4 cycles later.
  reg  [23:0] rd_addr_q;
  reg  [4:0]  rd_wait_q;
  reg  [31:0] rd_data_q;
  reg  [31:0] rd_pick;

  always @(posedge clk)
    if (rst) rd_wait_q <= 5'd0;
    else rd_wait_q <= {rd_wait_q[3:0], rd_en};

  always @(posedge clk)
    if (rd_en) rd_addr_q <= rd_addr;

  assign rd_at           = rd_addr_q[11:0];
  assign rd_ack          = rd_wait_q[4];
  assign rd_data         = rd_data_q;
  assign punt_win_en     = rd_wait_q[0] && rd_addr_q[23:10] == AT_PUNT[23:10];
  assign count_number    = {1'b0, rd_addr_q[8:2]};
  assign group_rd_number = rd_addr_q[6 +: GW];

  wire [5:0] rd_group = rd_addr_q[18:13];
  wire [3:0] rd_lane  = rd_addr_q[12:9];
  wire [2:0] rd_port  = rd_addr_q[8:6];
  wire [2:0] rd_count_port = rd_addr_q[11:9];

  assign conn_rd = {rd_group[GW-1:0], rd_lane[LW-1:0], rd_port[PW-1:0]};

  wire [23:0] m_start;
  wire [23:0] m_shift;
  wire [31:0] m_src_ip;
  wire [31:0] m_peer_ip;
  wire [2:0]  m_peer_port;
  wire [23:0] m_qpn;

  wire unused_mirror;

  // Read back only: not used otherwise.
  rf_conn_static #(.CW(GW + LW + PW), .PARITY(0)) mirror (
    .clk(clk), .wr_field(conn_field), .wr_conn(conn_wr), .wr_data(wr_data), .rd_en(rd_wait_q[0]), .rd_conn(conn_rd),
    .rd_start(m_start), .rd_shift(m_shift), .rd_src_ip(m_src_ip), .rd_peer_ip(m_peer_ip), .rd_peer_port(m_peer_port),
    .rd_qpn(m_qpn), .rd_bad(unused_mirror));

  // Addresses of the ports; the upper half of PEER_MAC waits for the lower one.
  wire [48:0]  m_mac;
  wire [255:0] port_ips;

  generate
    if (MIRROR != 0) begin : g_mirror
      localparam [23:0] AT_PORT_IP = `RF_PORT_IP0;

      reg [PORTS*32-1:0] port_ip_q;
      reg [PORTS-1:0]    port_ip_set_q;
      reg [16:0]         mac_hi_q;
      wire               unused_hi;
      wire               unused_lo;
      wire               wr_mac_hi = wr_conn && wr_off == CONN_MAC_HI[5:0];
      integer            k;

      always @(posedge clk)
        if (rst) begin
          port_ip_q     <= {PORTS*32{1'b0}};
          port_ip_set_q <= {PORTS{1'b0}};
        end else begin
          for (k = 0; k < PORTS; k = k + 1)
            if (wr_en && wr_addr[23:5] == AT_PORT_IP[23:5] && wr_addr[4:2] == k[2:0]) begin
              port_ip_q[k*32 +: 32] <= wr_data;
              port_ip_set_q[k]      <= wr_data != 32'd0;
            end
        end

      always @(posedge clk)
        if (wr_mac_hi) mac_hi_q <= wr_data[16:0];

      // Read back only.
      rf_ram_parity #(.WIDTH(17), .DEPTH(1 << (GW + LW + PW)), .PARITY(0)) mac_hi (
        .clk(clk), .wr_en(wr_mac_hi), .wr_addr(conn_wr), .wr_data(wr_data[16:0]), .wr_bad(1'b0),
        .rd_en(rd_wait_q[0]), .rd_addr(conn_rd), .rd_data(m_mac[48:32]), .rd_bad(unused_hi));
      rf_ram_parity #(.WIDTH(32), .DEPTH(1 << (GW + LW + PW)), .PARITY(0)) mac_lo (
        .clk(clk), .wr_en(conn_mac_wr), .wr_addr(conn_wr), .wr_data(wr_data), .wr_bad(1'b0),
        .rd_en(rd_wait_q[0]), .rd_addr(conn_rd), .rd_data(m_mac[31:0]), .rd_bad(unused_lo));

      assign port_ip     = port_ip_q;
      assign port_ip_set = port_ip_set_q;
      assign port_ips    = {{256 - PORTS*32{1'b0}}, port_ip_q};
      assign conn_mac_wr = wr_conn && wr_off == CONN_MAC_LO[5:0];
      assign conn_mac    = {mac_hi_q, wr_data};
    end else begin : g_no_mirror
      assign m_mac       = 49'd0;
      assign port_ip     = {PORTS*32{1'b0}};
      assign port_ip_set = {PORTS{1'b0}};
      assign port_ips    = 256'd0;
      assign conn_mac_wr = 1'b0;
      assign conn_mac    = 49'd0;
    end
  endgenerate

  wire [5:0] rd_off = rd_addr_q[5:0];
  reg [31:0] pick_conn;
  reg [31:0] pick_group;
  reg [31:0] pick_global;
  // What comes from all connections and groups, registered: the address is stable for three cycles before it is used.
  reg [31:0] conn_q;
  reg [31:0] group_q;

  always @(*)
    case (rd_off)
      CONN_START[5:0]:     pick_conn = {8'd0, m_start};
      CONN_SHIFT[5:0]:     pick_conn = {8'd0, m_shift};
      CONN_SRC_IP[5:0]:    pick_conn = m_src_ip;
      CONN_PEER_IP[5:0]:   pick_conn = m_peer_ip;
      CONN_PEER_PORT[5:0]: pick_conn = {29'd0, m_peer_port};
      CONN_QPN[5:0]:       pick_conn = {8'd0, m_qpn};
      CONN_NEXT[5:0]:      pick_conn = {8'd0, x_next};
      CONN_SENT[5:0]:      pick_conn = {8'd0, x_sent};
      CONN_UNA[5:0]:       pick_conn = {8'd0, x_una};
      CONN_MSN[5:0]:       pick_conn = {8'd0, x_msn};
      CONN_SEEN[5:0]:      pick_conn = {30'd0, x_seen};
      CONN_MAC_HI[5:0]:    pick_conn = {15'd0, m_mac[48:32]};
      CONN_MAC_LO[5:0]:    pick_conn = m_mac[31:0];
      CONN_SILENT[5:0]:    pick_conn = {31'd0, x_silent};
      default:             pick_conn = 32'd0;
    endcase

  always @(*)
    case (rd_off)
      GROUP_HEAD[5:0]:   pick_group = {8'd0, x_head};
      GROUP_TAIL[5:0]:   pick_group = {8'd0, x_tail};
      GROUP_ISSUED[5:0]: pick_group = {8'd0, x_issued};
      default:           pick_group = group_rd_data;
    endcase

  always @(*)
    case (rd_addr_q)
      `RF_ID:            pick_global = 32'h52464258;
      `RF_VERSION:       pick_global = 32'd1;
      `RF_SHAPE:         pick_global = (PORTS_N << `RF_SHAPE_PORTS_LSB) | (LANES_N << `RF_SHAPE_LANES_LSB) |
                                       (UNITS_N << `RF_SHAPE_WIDTH64_LSB) | (HASH_N << `RF_SHAPE_HASH_BITS_LSB) |
                                       (SELECTIVE_N << `RF_SHAPE_SELECTIVE_LSB) |
                                       (LAG_N << `RF_SHAPE_LAG_LSB) | (MIRROR_N << `RF_SHAPE_MIRROR_LSB) |
                                       (DIRECTED_N << `RF_SHAPE_DIRECTED_LSB);
      `RF_SHAPE2:        pick_global = (GROUPS_N << `RF_SHAPE2_GROUPS_LSB) | (BANK_N << `RF_SHAPE2_BANK_AW_LSB) |
                                       (HDR_N << `RF_SHAPE2_HDR_AW_LSB) | (MTU_N << `RF_SHAPE2_MTU_LOG2_LSB);
      `RF_TYPES:         pick_global = TYPES_N;
      `RF_CLOCK_KHZ:     pick_global = CLOCK_N;
      `RF_CYCLE_LO:      pick_global = cycle_lo_q;
      `RF_CYCLE_HI:      pick_global = cycle_hi_q;
      `RF_CTRL:          pick_global = {30'd0, ctrl_q};
      `RF_TX_SHARE:      pick_global = {28'd0, share_q};
      `RF_MAC_HI:        pick_global = {16'd0, mac_q[47:32]};
      `RF_MAC_LO:        pick_global = mac_q[31:0];
      `RF_IP:            pick_global = ip_q;
      `RF_IRQ:           pick_global = {28'd0, stopped_q, held_valid, any_error, punt_status[`RF_PUNT_STATUS_VALID_LSB]};
      `RF_PARITY:        pick_global = stopped_q ? {1'b1, 19'd0, fault_memory_q, 5'd0, fault_port_q} : 32'd0;
      `RF_HASH_IP:       pick_global = hash_ip_q;
      `RF_HASH_KEY:      pick_global = {6'd0, hash_key_q};
      `RF_HASH_VALUE:    pick_global = {14'd0, hash_value_q};
      `RF_PUNT_STATUS:   pick_global = punt_status;
      `RF_INJECT:        pick_global = inject_q;
      `RF_INJECT_STATUS: pick_global = {{32 - PORTS{1'b0}}, inject_busy};
      `RF_LAG_STATUS:    pick_global = lag_status;
      `RF_LAG_CYCLES:    pick_global = lag_cycles;
      `RF_LAG_INDEX:     pick_global = lag_index;
      `RF_HOLD_PORTS:    pick_global = {{32 - PORTS{1'b0}}, hold_ports_q};
      `RF_HELD_IP:       pick_global = held_ip;
      `RF_HELD_SRC:      pick_global = held_src;
      `RF_HELD_KEY:      pick_global = {held_valid, held_missed, 3'd0, held_port, held_qpn};
      `RF_TOMB_SRC:      pick_global = tomb_src_q;
      `RF_TOMB_SEEN:     pick_global = {31'd0, tomb_seen_q};
      `RF_PORT_IP0:      pick_global = port_ips[31:0];
      `RF_PORT_IP1:      pick_global = port_ips[63:32];
      `RF_PORT_IP2:      pick_global = port_ips[95:64];
      `RF_PORT_IP3:      pick_global = port_ips[127:96];
      `RF_PORT_IP4:      pick_global = port_ips[159:128];
      `RF_PORT_IP5:      pick_global = port_ips[191:160];
      `RF_PORT_IP6:      pick_global = port_ips[223:192];
      `RF_PORT_IP7:      pick_global = port_ips[255:224];
      default:           pick_global = 32'd0;
    endcase

  always @(posedge clk) begin
    conn_q  <= pick_conn;
    group_q <= pick_group;
  end

  always @(*) begin
    rd_pick = 32'd0;
    if (rd_addr_q[23:8] == 16'd0) rd_pick = pick_global;
    else if (rd_addr_q[23:12] == AT_PORT[23:12] && {29'd0, rd_count_port} < PORTS)
      rd_pick = count_data[rd_count_port*32 +: 32];
    else if (rd_addr_q[23:12] == AT_GROUP[23:12] && good_group(rd_addr_q[11:6])) rd_pick = group_q;
    else if (rd_addr_q[23:19] == AT_CONN[23:19] && good_conn(rd_addr_q[18:6])) rd_pick = conn_q;
    else if (rd_addr_q[23:10] == AT_PUNT[23:10]) rd_pick = punt_win_data;
  end

  always @(posedge clk)
    if (rd_wait_q[3]) rd_data_q <= rd_pick;

  wire unused_bits = &{1'b0, wr_group, wr_lane, wr_port, rd_group, rd_lane, rd_port};

endmodule

`default_nettype wire
