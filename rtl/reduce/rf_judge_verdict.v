// rf_judge_verdict: p4 of rf_judge: what happens to the frame, by the checks so far, the window and the room in the
// queues.
//
// Latency     none: combinational.
// Throughput  one frame per cycle.
// Capacity    none.
// Handshake   none.
// Reset       none.
// Proved      tests/rtl/unit_judge.cpp, as part of rf_judge.

`include "rf_regs.vh"

`default_nettype none

module rf_judge_verdict (
  // Result of the checks of form (rf_judge_form).
  input  wire [2:0]  act,
  input  wire [7:0]  form_why,
  // Result of the window (rf_judge_window); the ledger accepts the packet.
  input  wire [7:0]  window_why,
  input  wire        window_behalf,
  input  wire        window_repeat,
  input  wire        accept,

  // The frame; the queues that it may need.
  input  wire [13:0] len,
  input  wire        arp,
  input  wire        punt_room,
  input  wire        punt_room_arp,
  input  wire        pass_room,
  input  wire        event_room,
  input  wire        behalf_room,

  // Counter of the verdict; command (rf_judge); ACK to be forwarded, to be made; repeat; CNP to be returned.
  output reg  [7:0]  why,
  output reg  [1:0]  op,
  // op is a raw read to rf_punt, to rf_passthru: known before `accept`.
  output wire        punt_it,
  output wire        pass_it,
  output reg         event_it,
  output reg         behalf,
  output reg         repeat_it,
  output reg         cnp
);

  // As in rf_judge_form.
  localparam [2:0] ACT_PUNT    = 3'd1;
  localparam [2:0] ACT_FOREIGN = 3'd2;
  localparam [2:0] ACT_WINDOW  = 3'd3;
  localparam [2:0] ACT_EVENT   = 3'd4;
  localparam [2:0] ACT_RETURN  = 3'd6;

  localparam [1:0] OP_FORGET = 2'd0;
  localparam [1:0] OP_STORE  = 2'd1;
  localparam [1:0] OP_PUNT   = 2'd2;
  localparam [1:0] OP_PASS   = 2'd3;

  assign punt_it = act == ACT_PUNT && len <= `RF_PUNT_DATA_BYTES && (arp ? punt_room_arp : punt_room);
  assign pass_it = act == ACT_FOREIGN && pass_room;

  always @(*) begin
    why    = form_why;
    op     = OP_FORGET;
    event_it  = 1'b0;
    behalf = 1'b0;
    repeat_it = 1'b0;
    cnp       = 1'b0;
    case (act)
      ACT_PUNT: begin
        why = `RF_CNT_PUNT_FULL;
        if (punt_it) begin
          why = `RF_CNT_PUNTED;
          op  = OP_PUNT;
        end
      end
      ACT_FOREIGN: begin
        why = `RF_CNT_FOREIGN_FULL;
        if (pass_it) begin
          why = `RF_CNT_FOREIGN;
          op  = OP_PASS;
        end
      end
      ACT_EVENT: begin
        // Counted according to the ledger's verdict if there is room.
        why   = `RF_CNT_ACK_FULL;
        event_it = event_room;
      end
      ACT_WINDOW: begin
        why    = window_why;
        behalf = window_behalf;
        repeat_it = window_repeat;
        if (accept) op = OP_STORE;
      end
      ACT_RETURN: begin
        why = behalf_room ? `RF_CNT_CNP_BACK : `RF_CNT_ACK_FULL;
        cnp = behalf_room;
      end
      default: ;
    endcase
  end

endmodule

`default_nettype wire
