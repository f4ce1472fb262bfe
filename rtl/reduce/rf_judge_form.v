// rf_judge_form: the checks of a frame that do not need the ledger: lines 20 to 29, 37 to 40 and 43 of docs/box.md.
// Whether a malformed packet ends its group depends on its index: rf_judge.
//
// Latency     0 cycles: combinational.
// Throughput  one frame per cycle.
// Capacity    none.
// Handshake   none.
// Reset       none.
// Proved      tests/rtl/core: a case for every line.

`include "rf_regs.vh"

`default_nettype none

module rf_judge_form #(
  // 1: groups may be directed.
  parameter DIRECTED = 1,
  // Types that are built in: bit t for type t.
  parameter TYPES = 1023
) (
  input  wire        enable,
  input  wire        hold,
  // The descriptor: class (0 drop, 1 punt, 2 RoCE), cause of a drop, fields.
  input  wire [1:0]  class_of,
  input  wire [7:0]  cause,
  input  wire [7:0]  opcode,
  input  wire [1:0]  pad,
  input  wire [13:0] plen,
  input  wire [15:0] udp_len,
  input  wire [7:0]  syndrome,
  input  wire        icrc_ok,
  // It is for the port's address.
  input  wire        to_port,
  // The connection: an entry was found; this box has such a connection; its CID is ffff; its state; the frame came by
  // the right port and from the right address, for data and for ACKs.
  input  wire        hit,
  input  wire        good,
  input  wire        foreign,
  input  wire [1:0]  state,
  input  wire        data_here,
  input  wire        ack_here,
  // It is a mirror connection; its rank does not give.
  input  wire        mirror,
  input  wire        silent,
  // Its group.
  input  wire        live,
  input  wire        error,
  input  wire [3:0]  mtu_log2,
  input  wire [3:0]  dtype,
  input  wire [2:0]  cfg_op,
  input  wire        directed,
  // Bits 15 to 0 of the immediate; the low bits of the packet's index.
  input  wire [15:0] imm,
  input  wire [3:0]  index,

  // Action: 0 drop, 1 punt, 2 foreign, 3 check the window, 4 check the content of the ACK, 5 drop, and inside the
  // window report the group error `fault`, 6 return the CNP, 7 drop, the next result of the group carries a mark.
  output reg  [2:0]  act,
  output reg  [7:0]  why,
  output reg  [3:0]  fault,
  // The frame is from the right sender and has a correct ICRC.
  output reg         seen,
  // Dropped in the hold time; the frame matched a tombstone and has a correct ICRC.
  output reg         held,
  output reg         tomb,
  // The syndrome is that of an ACK; it is a NAK that ends the connection.
  output wire        syn_ack,
  output wire        syn_fatal
);

  localparam [31:0] TYPES_N    = TYPES;
  localparam [2:0] ACT_DROP    = 3'd0;
  localparam [2:0] ACT_PUNT    = 3'd1;
  localparam [2:0] ACT_FOREIGN = 3'd2;
  localparam [2:0] ACT_WINDOW  = 3'd3;
  localparam [2:0] ACT_EVENT   = 3'd4;
  localparam [2:0] ACT_FORM    = 3'd5;
  localparam [2:0] ACT_RETURN  = 3'd6;
  localparam [2:0] ACT_MARK    = 3'd7;

  wire [13:0] mtu      = 14'd1 << mtu_log2;
  // FIRST and MIDDLE of SEND and WRITE.
  wire        whole    = opcode == 8'h00 || opcode == 8'h01 || opcode == 8'h06 || opcode == 8'h07;
  wire        in_kind  = DIRECTED != 0 && directed;
  wire        only_imm = opcode == 8'h05;
  wire        none     = plen == 14'd0;
  wire        may_none = in_kind && only_imm;
  // A payload of 4 bytes or more is longer than any pad.
  wire        bad_len  = plen[13] || (none && (!may_none || pad != 2'd0)) || plen[1:0] != 2'b00 || plen > mtu ||
                         (whole && (plen != mtu || pad != 2'd0));

  // The immediate. Floating types have no and, or, xor.
  wire        stated    = in_kind && (only_imm || opcode == 8'h03);
  wire        wants     = imm[15];
  wire        gives     = imm[14];
  wire [3:0]  op        = imm[11:8];
  wire [3:0]  kind      = imm[7:4];
  wire [15:0] built     = TYPES_N[15:0];
  wire        floating  = kind <= 4'd2 || kind == 4'd7;
  wire        bitwise   = op == 4'd3 || op == 4'd4 || op == 4'd5;
  wire        bad_order = imm[3:0] != index;
  wire        bad_imm   = op > 4'd6 || !built[kind] || (bitwise && floating) || gives == none ||
                          (!only_imm && !(gives && wants));

  // The element; the opcodes of a directed group.
  wire [3:0]  of        = stated ? kind : dtype;
  wire        bytes     = (DIRECTED != 0 && (stated ? op == 4'd6 : cfg_op == 3'd6)) || of == 4'd8 || of == 4'd9;
  wire        two       = of == 4'd1 || of == 4'd2;
  wire        eight     = of == 4'd5 || of == 4'd6 || of == 4'd7;
  wire        bad_elem  = !bytes && (pad[0] || (!two && pad[1]) || (eight && plen[2]));
  wire        bad_code  = opcode > 8'h0b || (in_kind && opcode > 8'h05);

  // READ and atomic requests: the sender expects a peer with memory.
  wire asks = opcode <= 8'h0c || opcode == 8'h13 || opcode == 8'h14;

  wire syn_rnr = syndrome[7:5] == 3'd1;
  wire syn_nak = syndrome[7:2] == 6'h18;

  wire unused_bits = &{1'b0, imm, index, directed, cfg_op, plen};

  assign syn_ack   = syndrome[7:5] == 3'd0;
  assign syn_fatal = syn_nak && syndrome[1:0] != 2'd0;

  always @(*) begin
    act   = ACT_DROP;
    why   = cause;
    fault = `RF_ERROR_NONE;
    seen  = 1'b0;
    held  = 1'b0;
    tomb  = 1'b0;
    if (class_of == 2'd0) begin
      act = ACT_DROP;
    end else if (class_of == 2'd1) begin
      act = ACT_PUNT;
    end else if (!enable) begin
      why = `RF_CNT_DISABLED;
    end else if (!hit) begin
      if (to_port) begin
        why = `RF_CNT_UNKNOWN;
      end else if (hold && opcode <= 8'h0b) begin
        why  = `RF_CNT_HOLD;
        held = icrc_ok;
      end else begin
        act = ACT_FOREIGN;
      end
    end else if (state == `RF_STATE_TOMBSTONE) begin
      why  = `RF_CNT_TOMBSTONE;
      tomb = icrc_ok;
    end else if (state == `RF_STATE_JOINING && foreign && !to_port) begin
      act = ACT_FOREIGN;
    end else if (state == `RF_STATE_JOINING || !good) begin
      why = `RF_CNT_JOINING;
    end else if (!icrc_ok) begin
      why = `RF_CNT_ICRC;
    end else if (opcode == 8'h81) begin
      if (!ack_here) begin
        why = `RF_CNT_WRONG_SOURCE;
      end else if (mirror && udp_len != 16'd40) begin
        why = `RF_CNT_ACK_MALFORMED;
      end else if (silent) begin
        act = ACT_MARK;
        why = `RF_CNT_CNP_MARK;
      end else begin
        act = mirror ? ACT_RETURN : ACT_FOREIGN;
      end
    end else if (opcode == 8'h11) begin
      seen = ack_here;
      if (!ack_here) why = `RF_CNT_WRONG_SOURCE;
      else if (udp_len != 16'd28) why = `RF_CNT_ACK_MALFORMED;
      else if (!syn_ack && !syn_rnr && !syn_nak) why = `RF_CNT_ACK_MALFORMED;
      else act = ACT_EVENT;
    end else if (!data_here) begin
      why = `RF_CNT_WRONG_SOURCE;
    end else if (!live) begin
      why = `RF_CNT_JOINING;
    end else if (error) begin
      why = `RF_CNT_GROUP_FAILED;
    end else begin
      seen = 1'b1;
      act  = ACT_FORM;
      if (bad_code) begin
        why   = `RF_CNT_OPCODE;
        fault = (mirror && !asks) ? `RF_ERROR_NONE : `RF_ERROR_OPCODE;
      end else if (bad_len) begin
        why   = `RF_CNT_LENGTH;
        fault = `RF_ERROR_LENGTH;
      end else if (stated && bad_order) begin
        why   = `RF_CNT_ORDER;
        fault = `RF_ERROR_ORDER;
      end else if (stated && bad_imm) begin
        why   = `RF_CNT_IMMEDIATE;
        fault = `RF_ERROR_IMMEDIATE;
      end else if (bad_elem) begin
        why   = `RF_CNT_ELEMENT;
        fault = `RF_ERROR_ELEMENT;
      end else begin
        act = ACT_WINDOW;
      end
    end
  end

endmodule

`default_nettype wire
