// rf_marks: which ranks take part without giving, and which groups have a CE mark to set. docs/box.md, "Marks".
//
// Latency     1 cycle.
// Throughput  one packet stored, one CNP and one packet sent of each port per cycle.
// Capacity    all connections, all groups.
// Handshake   none.
// Reset       every rank gives, no group has a mark.
// Proved      tests/rtl/unit_marks.cpp.

`default_nettype none

module rf_marks #(
  parameter PORTS = 4,
  parameter LANES = 1,
  parameter GROUPS = 8,
  parameter GW = 3,
  parameter LW = 1,
  parameter PW = 2,
  // 1: groups may be directed.
  parameter DIRECTED = 1
) (
  input  wire                          clk,
  input  wire                          rst,

  // A connection is initialised: {group, lane}, port. A group starts.
  input  wire                          init_valid,
  input  wire [PW-1:0]                 init_port,
  input  wire [GW+LW-1:0]              init_addr,
  input  wire                          start_valid,
  input  wire [GW-1:0]                 start_group,
  // Each port: a packet of {group, lane} is stored, and whether its rank gives.
  input  wire [PORTS-1:0]              store_valid,
  input  wire [PORTS*(GW+LW)-1:0]      store_addr,
  input  wire [PORTS-1:0]              store_gives,
  // Each port: a CNP of a rank that does not give; a marked copy has left.
  input  wire [PORTS-1:0]              cnp_valid,
  input  wire [PORTS*GW-1:0]           cnp_group,
  input  wire [PORTS-1:0]              unmark_valid,
  input  wire [PORTS*GW-1:0]           unmark_group,

  // Bit (port, group, lane).
  output wire [(PORTS<<(GW+LW))-1:0]   silents,
  output wire [GROUPS-1:0]             g_mark
);

  localparam AW = GW + LW;

  genvar p;
  genvar c;
  generate
    if (DIRECTED != 0) begin : g_directed
      reg [GROUPS-1:0] mark_q;
      integer          k;

      for (p = 0; p < PORTS; p = p + 1) begin : g_port
        localparam [31:0] PORT = p;

        for (c = 0; c < (1 << AW); c = c + 1) begin : g_conn
          localparam [31:0] CONN = c;

          if ((c >> LW) < GROUPS && (c & ((1 << LW) - 1)) < LANES) begin : g_there
            reg silent_q;

            always @(posedge clk)
              if (rst || (init_valid && init_port == PORT[PW-1:0] && init_addr == CONN[AW-1:0])) silent_q <= 1'b0;
              else if (store_valid[p] && store_addr[p*AW +: AW] == CONN[AW-1:0]) silent_q <= !store_gives[p];

            assign silents[(p << AW) + c] = silent_q;
          end else begin : g_none
            assign silents[(p << AW) + c] = 1'b0;
          end
        end
      end

      always @(posedge clk)
        if (rst) begin
          mark_q <= {GROUPS{1'b0}};
        end else begin
          for (k = 0; k < PORTS; k = k + 1)
            if (unmark_valid[k]) mark_q[unmark_group[k*GW +: GW]] <= 1'b0;
          for (k = 0; k < PORTS; k = k + 1)
            if (cnp_valid[k]) mark_q[cnp_group[k*GW +: GW]] <= 1'b1;
          if (start_valid) mark_q[start_group] <= 1'b0;
        end

      assign g_mark = mark_q;
    end else begin : g_none
      wire unused_bits = &{1'b0, clk, rst, init_valid, init_port, init_addr, start_valid, start_group, store_valid,
                           store_addr, store_gives, cnp_valid, cnp_group, unmark_valid, unmark_group};

      assign silents = {(PORTS << AW){1'b0}};
      assign g_mark  = {GROUPS{1'b0}};
    end
  endgenerate

endmodule

`default_nettype wire
