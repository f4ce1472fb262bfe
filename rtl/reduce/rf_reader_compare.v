// rf_reader_compare: compares the facts of all ranks of a pass, as seen from one port; which ranks have an operand; the
// length of the result. docs/box.md, "The pass".
//
// Latency     none: combinational, except for what, got and want: 1 cycle after go.
// Throughput  one lane per cycle.
// Capacity    the facts of the first member, of the first one with an immediate and of the first one that gives are
//             kept for the other lanes of the packet.
// Handshake   none.
// Reset       none: the first lane of a packet depends on nothing kept.
// Proved      tests/rtl/unit_reader.cpp; tests/formal/pass_read.proof, as part of rf_reader.
//
// A rank differs if it differs from any member before it: of the ranks that differ, the first one is reported, and all
// members before that one agree. In a group that is not directed the opcode stands for the tag.

`default_nettype none

module rf_reader_compare #(
  parameter PORT = 0,
  parameter PORTS = 4,
  parameter PW = 2,
  // Bits of a fact: 43, without directed groups 19.
  parameter FW = 43,
  // 1: groups may be directed.
  parameter DIRECTED = 1
) (
  input  wire                clk,

  // The lane: it is the packet's first one; its members; the first one of lane 0; all facts are kept (go).
  input  wire                first,
  input  wire [PORTS-1:0]    members,
  input  wire [PW-1:0]       ref_port,
  input  wire                go,
  // {gives, wants, has an immediate, type, operation, tag, pad, payload length}, or {opcode, pad, length}.
  input  wire [PORTS*FW-1:0] facts,
  input  wire                directed,
  input  wire [3:0]          index,

  // This port's rank differs from a member before it.
  output wire                differs,
  // The pass: payload of its result, {pad, length}; operands in this lane; in this lane or one before.
  output wire [14:0]         tail,
  output wire                any,
  output wire                some,
  output wire                earlier,
  output wire [3:0]          dtype,
  output wire [2:0]          op,
  // This port's rank.
  output wire                gives,
  output wire                wants,

  // The difference that was found at go (register ERROR, ERROR_GOT, ERROR_WANT).
  output wire [1:0]          what,
  output wire [31:0]         got,
  output wire [31:0]         want
`ifdef FORMAL
  ,
  output wire [14:0]         f_tail,
  output wire                f_giver,
  output wire [25:0]         f_stated
`endif
);

  wire [FW-1:0] mine = facts[PORT*FW +: FW];

  generate
    if (DIRECTED != 0) begin : g_directed
      localparam [2:0] COPY = 3'd6;

      // Kept: {tag, gives, wants} of the first member and of the first one with an immediate; {tag, gives, wants, pad,
      // length} of the first one that gives; type and operation.
      reg [6:0]  kind_q;
      reg [19:0] first_q;
      reg [19:0] tagged_q;
      reg        is_tagged_q;
      reg [34:0] giver_q;
      reg        is_giver_q;

      // Members before this port that differ.
      reg        kind_differs;
      reg        tag_differs;
      reg        another;
      reg        length_differs;
      // The first member with an immediate, the first one that gives.
      reg        there_tagged;
      reg        there_giver;
      reg [19:0] stated;
      reg [34:0] giver;
      reg [FW-1:0] f;
      integer    q;

      always @(*) begin
        kind_differs   = !first && mine[39:33] != kind_q;
        tag_differs    = !first && is_tagged_q && mine[32:15] != tagged_q[19:2];
        another        = !first && is_giver_q;
        length_differs = !first && is_giver_q && mine[14:0] != giver_q[14:0];
        there_tagged   = 1'b0;
        there_giver    = 1'b0;
        stated         = 20'd0;
        giver          = 35'd0;
        for (q = 0; q < PORTS; q = q + 1) begin
          f = facts[q*FW +: FW];
          if (q < PORT && members[q]) begin
            if (f[39:33] != mine[39:33]) kind_differs = 1'b1;
            if (f[40] && f[32:15] != mine[32:15]) tag_differs = 1'b1;
            if (f[42]) another = 1'b1;
            if (f[42] && f[14:0] != mine[14:0]) length_differs = 1'b1;
          end
          stated       = stated | ({20{members[q] && f[40] && !there_tagged}} & {f[32:15], f[42:41]});
          giver        = giver | ({35{members[q] && f[42] && !there_giver}} & {f[32:15], f[42:41], f[14:0]});
          there_tagged = there_tagged || (members[q] && f[40]);
          there_giver  = there_giver || (members[q] && f[42]);
        end
      end

      wire           is_giver  = there_giver || (!first && is_giver_q);
      wire           is_tagged = there_tagged || (!first && is_tagged_q);
      wire [FW-1:0]  f_first   = facts[ref_port*FW +: FW];
      wire [6:0]     kind      = first ? f_first[39:33] : kind_q;
      wire [34:0]    norm      = (!first && is_giver_q) ? giver_q : giver;

      wire bad_kind   = kind_differs;
      wire bad_tag    = mine[40] && tag_differs;
      wire bad_copies = mine[42] && mine[35:33] == COPY && another;
      wire bad_length = mine[42] && length_differs;

      assign differs = bad_kind || bad_tag || bad_copies || bad_length;
      assign tail    = norm[14:0];
      assign any     = there_giver;
      assign some    = is_giver;
      assign earlier  = !first && is_giver_q;
      assign dtype   = kind[6:3];
      assign op      = kind[2:0];
      assign gives   = members[PORT] && mine[42];
      assign wants   = mine[41];

      // What was found, one cycle later: the member to which this rank was compared is the one that is kept then.
      reg [3:0] bad_q;
      reg [3:0] index_q;

      always @(posedge clk)
        if (go) begin
          bad_q   <= directed ? {bad_kind, bad_tag, bad_copies, bad_length} : 4'd0;
          index_q <= index;
          kind_q  <= kind;
          if (first) first_q <= {f_first[32:15], f_first[42:41]};
          if (first || !is_tagged_q) tagged_q <= stated;
          is_tagged_q <= is_tagged;
          giver_q     <= norm;
          is_giver_q  <= is_giver;
        end

      wire unused_first = &{1'b0, f_first};

      wire        in_length = bad_q == 4'b0001;
      wire [19:0] other     = bad_q[3] ? first_q : bad_q[2] ? tagged_q : giver_q[34:15];
      wire [31:0] my_imm    = {mine[32:17], mine[41], mine[42], mine[16:15], 1'b0, mine[35:33], mine[39:36], index_q};
      wire [31:0] its_imm   = {other[19:4], other[0], other[1], other[3:2], 1'b0, kind_q[2:0], kind_q[6:3], index_q};

      assign what = (bad_q[3] || bad_q[2]) ? 2'd1 : bad_q[1] ? 2'd2 : bad_q[0] ? 2'd3 : 2'd0;
      assign got  = (bad_q == 4'd0) ? 32'd0 : in_length ? {19'd0, mine[12:0]} - {30'd0, mine[14:13]} : my_imm;
      assign want = (bad_q == 4'd0) ? 32'd0 : in_length ? {19'd0, giver_q[12:0]} - {30'd0, giver_q[14:13]} : its_imm;
`ifdef FORMAL
      assign f_tail  = giver_q[14:0];
      assign f_giver = is_giver_q;
      assign f_stated = {is_tagged_q, tagged_q[19:2], kind_q};
`endif
    end else begin : g_plain
      reg  [FW-1:0] norm_q;
      wire [FW-1:0] norm = first ? facts[ref_port*FW +: FW] : norm_q;

      always @(posedge clk)
        if (go) norm_q <= norm;

      assign differs = mine != norm;
      assign tail    = norm[14:0];
      assign any     = 1'b1;
      assign some    = 1'b1;
      assign earlier  = !first;
      assign dtype   = 4'd0;
      assign op      = 3'd0;
      assign gives   = members[PORT];
      assign wants   = 1'b1;
      assign what    = 2'd0;
      assign got     = 32'd0;
      assign want    = 32'd0;
`ifdef FORMAL
      assign f_tail  = norm_q[14:0];
      assign f_giver = 1'b1;
      assign f_stated = {15'd0, norm_q[18:15], 7'd0};
`endif

      wire unused_bits = &{1'b0, members, directed, index};
    end
  endgenerate

endmodule

`default_nettype wire
