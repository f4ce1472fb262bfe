// rf_judge_form: which data packets come to the window (lines 20 to 29 of docs/box.md, with 28a and 28b), as one
// condition. In a directed group that includes the immediate: its index is that of the packet, its operation and type
// exist, it gives exactly if there is payload. A wrong index is reported as such. All inputs are arbitrary, except that
// there are three classes.
`include "rf_regs.vh"

module form #(
  parameter DIRECTED = 1,
  parameter TYPES = 1023
) (
  input wire        clk,
  input wire        rst,
  input wire        enable,
  input wire        hold,
  input wire [1:0]  class_of,
  input wire [7:0]  cause,
  input wire [7:0]  opcode,
  input wire [1:0]  pad,
  input wire [13:0] plen,
  input wire [15:0] udp_len,
  input wire [7:0]  syndrome,
  input wire        icrc_ok,
  input wire        to_port,
  input wire        hit,
  input wire        good,
  input wire        foreign,
  input wire [1:0]  state,
  input wire        data_here,
  input wire        ack_here,
  input wire        mirror,
  input wire        silent,
  input wire        live,
  input wire        error,
  input wire [3:0]  mtu_log2,
  input wire [3:0]  dtype,
  input wire [2:0]  cfg_op,
  input wire        directed,
  input wire [15:0] imm,
  input wire [3:0]  index
);

`include "rf_start.vh"

  wire [2:0] act;
  wire [7:0] why;
  wire [3:0] fault;
  wire       seen;
  wire       held;
  wire       tomb;
  wire       syn_ack;
  wire       syn_fatal;

  rf_judge_form #(.DIRECTED(DIRECTED), .TYPES(TYPES)) judge (
    .enable(enable), .hold(hold), .class_of(class_of), .cause(cause), .opcode(opcode), .pad(pad), .plen(plen),
    .udp_len(udp_len), .syndrome(syndrome), .icrc_ok(icrc_ok), .to_port(to_port), .hit(hit), .good(good),
    .foreign(foreign), .state(state), .data_here(data_here), .ack_here(ack_here), .mirror(mirror), .silent(silent),
    .live(live), .error(error), .mtu_log2(mtu_log2), .dtype(dtype), .cfg_op(cfg_op), .directed(directed), .imm(imm),
    .index(index), .act(act), .why(why), .fault(fault), .seen(seen), .held(held), .tomb(tomb), .syn_ack(syn_ack),
    .syn_fatal(syn_fatal));

  // SEND FIRST, MIDDLE, LAST, LAST WITH IMMEDIATE, ONLY, ONLY WITH IMMEDIATE; the same of WRITE.
  wire        at_all  = class_of == 2'd2 && enable && hit && good && icrc_ok && data_here && live && !error &&
                        state != `RF_STATE_TOMBSTONE && state != `RF_STATE_JOINING;
  wire        of_kind = DIRECTED != 0 && directed;
  wire        code    = opcode <= (of_kind ? 8'h05 : 8'h0b);
  wire [13:0] mtu     = 14'd1 << mtu_log2;
  wire        to_go   = opcode == 8'h00 || opcode == 8'h01 || opcode == 8'h06 || opcode == 8'h07;
  wire        empty   = plen == 14'd0;
  wire        length  = plen < 14'd8192 && plen[1:0] == 2'd0 && plen <= mtu && (!to_go || (plen == mtu && pad == 2'd0)) &&
                        (!empty || (of_kind && opcode == 8'h05 && pad == 2'd0));

  // The immediate: {hash, wants, gives, call, operation, type, index}.
  wire        says   = of_kind && (opcode == 8'h03 || opcode == 8'h05);
  wire        wants  = imm[15];
  wire        gives  = imm[14];
  wire [3:0]  op     = says ? imm[11:8] : {1'b0, cfg_op};
  wire [3:0]  kind   = says ? imm[7:4] : dtype;
  wire        order  = !says || imm[3:0] == index;
  // fp32, bf16, fp16 and fp64; and, or, xor; copy.
  wire        floats = kind == 4'd0 || kind == 4'd1 || kind == 4'd2 || kind == 4'd7;
  wire        bits   = op == 4'd3 || op == 4'd4 || op == 4'd5;
  wire        copies = op == 4'd6;
  wire        known  = !says || (op <= 4'd6 && kind < 4'd10 && ((TYPES >> kind) & 1) == 1 && !(bits && floats) && gives == !empty &&
                                 (opcode == 8'h05 || (gives && wants)));

  // Whole elements, of 1, 2, 4 or 8 bytes.
  wire [3:0]  size   = ((DIRECTED != 0 && copies) || kind == 4'd8 || kind == 4'd9) ? 4'd1 : (kind == 4'd1 || kind == 4'd2) ? 4'd2 :
                       (kind == 4'd5 || kind == 4'd6 || kind == 4'd7) ? 4'd8 : 4'd4;
  wire [13:0] bytes  = plen - {12'd0, pad};
  wire        whole  = (bytes & {10'd0, size - 4'd1}) == 14'd0;

  localparam [2:0] WINDOW = 3'd3;
  localparam [2:0] FORM   = 3'd5;

  // An ACK or a CNP has an opcode of its own.
  wire        data = opcode != 8'h11 && opcode != 8'h81;

  always @* begin
    assume (rst == !f_started && class_of != 2'd3);
    assert ((act == WINDOW) == (at_all && data && code && length && order && known && whole));
    assert ((act == FORM) == (at_all && data && !(code && length && order && known && whole)));
    if (act == WINDOW || act == FORM) assert (seen);
    if (at_all && code && length) assert ((fault == `RF_ERROR_ORDER) == !order);
    if (at_all && code && length && order) assert ((fault == `RF_ERROR_IMMEDIATE) == !known);
    if (act != FORM) assert (fault == `RF_ERROR_NONE);
  end

  always @(posedge clk)
    if (f_started && !rst) begin
      cover (act == WINDOW && empty);
      cover (act == WINDOW && opcode == 8'h05 && imm[3:0] == 4'd9 && imm[7:4] == 4'd8);
      cover (act == FORM && fault == `RF_ERROR_ORDER);
      cover (act == WINDOW && opcode == 8'h0b);
    end

endmodule
