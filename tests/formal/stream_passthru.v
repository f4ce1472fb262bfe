// rf_passthru: frames of one to three beats, requested if there is room, their beats any time later, with gaps
// anywhere. An offered value is stable. Every frame and every beat is output in order and unchanged. There is room for
// each requested beat. idle means that nothing is outstanding.
module stream_passthru (
  input wire       clk,
  input wire       rst,
  input wire [1:0] len,
  input wire       ask_take,
  input wire       s_valid,
  input wire [7:0] s_data,
  input wire       e_ready,
  input wire       p_ready
);

`include "rf_start.vh"

  wire        ask_room;
  wire        e_valid;
  wire [13:0] e_len;
  wire        p_valid;
  wire [7:0]  p_data;
  wire        p_last;
  wire        idle;

  // Requested frames whose last beat has not arrived, oldest first.
  reg  [1:0]  owed0_q;
  reg  [1:0]  owed1_q;
  wire        s_last = owed0_q == 2'd1;

  always @* begin
    assume (rst == !f_started);
    assume (len != 2'd0);
    if (ask_take) assume (ask_room && owed1_q == 2'd0 && f_started);
    if (s_valid) assume (owed0_q != 2'd0);
  end

  always @(posedge clk)
    if (rst) begin
      owed0_q <= 2'd0;
      owed1_q <= 2'd0;
    end else if (s_valid && s_last) begin
      owed0_q <= owed1_q != 2'd0 ? owed1_q : ask_take ? len : 2'd0;
      owed1_q <= 2'd0;
    end else begin
      if (s_valid) owed0_q <= owed0_q - 2'd1;
      if (ask_take && owed0_q == 2'd0) owed0_q <= len;
      else if (ask_take) owed1_q <= len;
    end

  rf_passthru #(.WIDTH(8), .BEATS(4), .FRAMES(2), .PARITY(0)) box (
    .clk(clk), .rst(rst), .ask_len({12'd0, len}), .ask_room(ask_room), .ask_take(ask_take), .s_valid(s_valid),
    .s_data(s_data), .s_last(s_last), .e_valid(e_valid), .e_ready(e_ready), .e_len(e_len), .p_valid(p_valid),
    .p_ready(p_ready), .p_data(p_data), .p_last(p_last), .idle(idle));

  stream #(.WIDTH(2)) e (.clk(clk), .rst(rst), .valid(e_valid), .ready(e_ready), .data(e_len[1:0]));
  stream #(.WIDTH(3)) p (.clk(clk), .rst(rst), .valid(p_valid), .ready(p_ready), .data({p_last, p_data[1:0]}));

  follow #(.WIDTH(2), .FCW(3)) frames (
    .clk(clk), .rst(rst), .f_push(ask_take), .f_in(len), .m_valid(e_valid), .f_pop(e_valid && e_ready), .f_out(e_len[1:0]));
  follow #(.WIDTH(3), .FCW(4)) beats (
    .clk(clk), .rst(rst), .f_push(s_valid), .f_in({s_last, s_data[1:0]}), .m_valid(p_valid), .f_pop(p_valid && p_ready),
    .f_out({p_last, p_data[1:0]}));

  // Requested beats that have not left; frames that have not left.
  reg  [3:0] owed_q;
  reg  [2:0] asked_q;

  always @(posedge clk)
    if (rst) begin
      owed_q  <= 4'd0;
      asked_q <= 3'd0;
    end else begin
      owed_q  <= owed_q + (ask_take ? {2'd0, len} : 4'd0) - {3'd0, p_valid && p_ready};
      asked_q <= asked_q + {2'd0, ask_take} - {2'd0, e_valid && e_ready};
    end

  // Frames of which a beat has come and that have not been taken: only these are offered.
  reg        within_q;
  reg  [2:0] came_q;

  always @(posedge clk)
    if (rst) within_q <= 1'b0;
    else if (s_valid) within_q <= !s_last;

  always @(posedge clk)
    if (rst) came_q <= 3'd0;
    else came_q <= came_q + {2'd0, s_valid && !within_q} - {2'd0, e_valid && e_ready};

  // (The wire named box.* is internal to the module.)
  (* hierconn *) wire \box.f_room ;

  always @*
    if (!rst) begin
      assert (!s_valid || \box.f_room );
      assert (!e_valid || came_q != 3'd0);
      assert (idle == (owed_q == 4'd0 && asked_q == 3'd0));
    end

endmodule
