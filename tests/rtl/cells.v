// Cells of an UltraScale+ device as Yosys' netlists use them, for tests/rtl/gate.py. Registers and memories start
// with arbitrary values, as in the RTL. The carry chain consists of single wires: if bits of a vector depend on
// other bits of the vector, Verilator 5.006 evaluates it wrongly and reports no error.

`default_nettype none

module INV (
  input  wire I,
  output wire O
);
  assign O = !I;
endmodule

module LUT1 #(parameter [1:0] INIT = 2'd0) (
  input  wire I0,
  output wire O
);
  assign O = INIT[I0];
endmodule

module LUT2 #(parameter [3:0] INIT = 4'd0) (
  input  wire I0,
  input  wire I1,
  output wire O
);
  assign O = INIT[{I1, I0}];
endmodule

module LUT3 #(parameter [7:0] INIT = 8'd0) (
  input  wire I0,
  input  wire I1,
  input  wire I2,
  output wire O
);
  assign O = INIT[{I2, I1, I0}];
endmodule

module LUT4 #(parameter [15:0] INIT = 16'd0) (
  input  wire I0,
  input  wire I1,
  input  wire I2,
  input  wire I3,
  output wire O
);
  assign O = INIT[{I3, I2, I1, I0}];
endmodule

module LUT5 #(parameter [31:0] INIT = 32'd0) (
  input  wire I0,
  input  wire I1,
  input  wire I2,
  input  wire I3,
  input  wire I4,
  output wire O
);
  assign O = INIT[{I4, I3, I2, I1, I0}];
endmodule

module LUT6 #(parameter [63:0] INIT = 64'd0) (
  input  wire I0,
  input  wire I1,
  input  wire I2,
  input  wire I3,
  input  wire I4,
  input  wire I5,
  output wire O
);
  assign O = INIT[{I5, I4, I3, I2, I1, I0}];
endmodule

module MUXF7 (
  input  wire I0,
  input  wire I1,
  input  wire S,
  output wire O
);
  assign O = S ? I1 : I0;
endmodule

module MUXF8 (
  input  wire I0,
  input  wire I1,
  input  wire S,
  output wire O
);
  assign O = S ? I1 : I0;
endmodule

module CARRY4 (
  input  wire       CI,
  input  wire       CYINIT,
  input  wire [3:0] DI,
  input  wire [3:0] S,
  output wire [3:0] CO,
  output wire [3:0] O
);
  wire c0 = CI | CYINIT;
  wire c1 = S[0] ? c0 : DI[0];
  wire c2 = S[1] ? c1 : DI[1];
  wire c3 = S[2] ? c2 : DI[2];
  wire c4 = S[3] ? c3 : DI[3];

  assign CO = {c4, c3, c2, c1};
  assign O  = S ^ {c3, c2, c1, c0};
endmodule

module FDRE #(parameter INIT = 1'bx) (
  input  wire C,
  input  wire CE,
  input  wire D,
  input  wire R,
  output reg  Q
);
  always @(posedge C)
    if (R) Q <= 1'b0;
    else if (CE) Q <= D;
endmodule

module FDSE #(parameter INIT = 1'bx) (
  input  wire C,
  input  wire CE,
  input  wire D,
  input  wire S,
  output reg  Q
);
  always @(posedge C)
    if (S) Q <= 1'b1;
    else if (CE) Q <= D;
endmodule

// One LUT as memory: it is read combinationally and written at the clock edge.
module gate_ram #(
  parameter AW = 5,
  parameter DW = 1
) (
  input  wire          clk,
  input  wire          wr_en,
  input  wire [AW-1:0] wr_addr,
  input  wire [DW-1:0] wr_data,
  input  wire [AW-1:0] rd_addr,
  output wire [DW-1:0] rd_data
);
  reg [DW-1:0] mem [0:(1<<AW)-1];

  always @(posedge clk) if (wr_en) mem[wr_addr] <= wr_data;

  assign rd_data = mem[rd_addr];
endmodule

module RAM32M #(
  parameter [63:0] INIT_A = 64'd0,
  parameter [63:0] INIT_B = 64'd0,
  parameter [63:0] INIT_C = 64'd0,
  parameter [63:0] INIT_D = 64'd0
) (
  input  wire       WCLK,
  input  wire       WE,
  input  wire [4:0] ADDRA,
  input  wire [4:0] ADDRB,
  input  wire [4:0] ADDRC,
  input  wire [4:0] ADDRD,
  input  wire [1:0] DIA,
  input  wire [1:0] DIB,
  input  wire [1:0] DIC,
  input  wire [1:0] DID,
  output wire [1:0] DOA,
  output wire [1:0] DOB,
  output wire [1:0] DOC,
  output wire [1:0] DOD
);
  gate_ram #(5, 2) a (WCLK, WE, ADDRD, DIA, ADDRA, DOA);
  gate_ram #(5, 2) b (WCLK, WE, ADDRD, DIB, ADDRB, DOB);
  gate_ram #(5, 2) c (WCLK, WE, ADDRD, DIC, ADDRC, DOC);
  gate_ram #(5, 2) d (WCLK, WE, ADDRD, DID, ADDRD, DOD);
endmodule

module RAM64M #(
  parameter [63:0] INIT_A = 64'd0,
  parameter [63:0] INIT_B = 64'd0,
  parameter [63:0] INIT_C = 64'd0,
  parameter [63:0] INIT_D = 64'd0
) (
  input  wire       WCLK,
  input  wire       WE,
  input  wire [5:0] ADDRA,
  input  wire [5:0] ADDRB,
  input  wire [5:0] ADDRC,
  input  wire [5:0] ADDRD,
  input  wire       DIA,
  input  wire       DIB,
  input  wire       DIC,
  input  wire       DID,
  output wire       DOA,
  output wire       DOB,
  output wire       DOC,
  output wire       DOD
);
  gate_ram #(6, 1) a (WCLK, WE, ADDRD, DIA, ADDRA, DOA);
  gate_ram #(6, 1) b (WCLK, WE, ADDRD, DIB, ADDRB, DOB);
  gate_ram #(6, 1) c (WCLK, WE, ADDRD, DIC, ADDRC, DOC);
  gate_ram #(6, 1) d (WCLK, WE, ADDRD, DID, ADDRD, DOD);
endmodule

module RAM32M16 #(
  parameter [63:0] INIT_A = 64'd0,
  parameter [63:0] INIT_B = 64'd0,
  parameter [63:0] INIT_C = 64'd0,
  parameter [63:0] INIT_D = 64'd0,
  parameter [63:0] INIT_E = 64'd0,
  parameter [63:0] INIT_F = 64'd0,
  parameter [63:0] INIT_G = 64'd0,
  parameter [63:0] INIT_H = 64'd0
) (
  input  wire       WCLK,
  input  wire       WE,
  input  wire [4:0] ADDRA,
  input  wire [4:0] ADDRB,
  input  wire [4:0] ADDRC,
  input  wire [4:0] ADDRD,
  input  wire [4:0] ADDRE,
  input  wire [4:0] ADDRF,
  input  wire [4:0] ADDRG,
  input  wire [4:0] ADDRH,
  input  wire [1:0] DIA,
  input  wire [1:0] DIB,
  input  wire [1:0] DIC,
  input  wire [1:0] DID,
  input  wire [1:0] DIE,
  input  wire [1:0] DIF,
  input  wire [1:0] DIG,
  input  wire [1:0] DIH,
  output wire [1:0] DOA,
  output wire [1:0] DOB,
  output wire [1:0] DOC,
  output wire [1:0] DOD,
  output wire [1:0] DOE,
  output wire [1:0] DOF,
  output wire [1:0] DOG,
  output wire [1:0] DOH
);
  gate_ram #(5, 2) a (WCLK, WE, ADDRH, DIA, ADDRA, DOA);
  gate_ram #(5, 2) b (WCLK, WE, ADDRH, DIB, ADDRB, DOB);
  gate_ram #(5, 2) c (WCLK, WE, ADDRH, DIC, ADDRC, DOC);
  gate_ram #(5, 2) d (WCLK, WE, ADDRH, DID, ADDRD, DOD);
  gate_ram #(5, 2) e (WCLK, WE, ADDRH, DIE, ADDRE, DOE);
  gate_ram #(5, 2) f (WCLK, WE, ADDRH, DIF, ADDRF, DOF);
  gate_ram #(5, 2) g (WCLK, WE, ADDRH, DIG, ADDRG, DOG);
  gate_ram #(5, 2) h (WCLK, WE, ADDRH, DIH, ADDRH, DOH);
endmodule

module RAM64M8 #(
  parameter [63:0] INIT_A = 64'd0,
  parameter [63:0] INIT_B = 64'd0,
  parameter [63:0] INIT_C = 64'd0,
  parameter [63:0] INIT_D = 64'd0,
  parameter [63:0] INIT_E = 64'd0,
  parameter [63:0] INIT_F = 64'd0,
  parameter [63:0] INIT_G = 64'd0,
  parameter [63:0] INIT_H = 64'd0
) (
  input  wire       WCLK,
  input  wire       WE,
  input  wire [5:0] ADDRA,
  input  wire [5:0] ADDRB,
  input  wire [5:0] ADDRC,
  input  wire [5:0] ADDRD,
  input  wire [5:0] ADDRE,
  input  wire [5:0] ADDRF,
  input  wire [5:0] ADDRG,
  input  wire [5:0] ADDRH,
  input  wire       DIA,
  input  wire       DIB,
  input  wire       DIC,
  input  wire       DID,
  input  wire       DIE,
  input  wire       DIF,
  input  wire       DIG,
  input  wire       DIH,
  output wire       DOA,
  output wire       DOB,
  output wire       DOC,
  output wire       DOD,
  output wire       DOE,
  output wire       DOF,
  output wire       DOG,
  output wire       DOH
);
  gate_ram #(6, 1) a (WCLK, WE, ADDRH, DIA, ADDRA, DOA);
  gate_ram #(6, 1) b (WCLK, WE, ADDRH, DIB, ADDRB, DOB);
  gate_ram #(6, 1) c (WCLK, WE, ADDRH, DIC, ADDRC, DOC);
  gate_ram #(6, 1) d (WCLK, WE, ADDRH, DID, ADDRD, DOD);
  gate_ram #(6, 1) e (WCLK, WE, ADDRH, DIE, ADDRE, DOE);
  gate_ram #(6, 1) f (WCLK, WE, ADDRH, DIF, ADDRF, DOF);
  gate_ram #(6, 1) g (WCLK, WE, ADDRH, DIG, ADDRG, DOG);
  gate_ram #(6, 1) h (WCLK, WE, ADDRH, DIH, ADDRH, DOH);
endmodule

module RAM64X1D #(parameter [63:0] INIT = 64'd0) (
  input  wire WCLK,
  input  wire WE,
  input  wire D,
  input  wire A0, A1, A2, A3, A4, A5,
  input  wire DPRA0, DPRA1, DPRA2, DPRA3, DPRA4, DPRA5,
  output wire SPO,
  output wire DPO
);
  gate_ram #(6, 1) own   (WCLK, WE, {A5, A4, A3, A2, A1, A0}, D, {A5, A4, A3, A2, A1, A0}, SPO);
  gate_ram #(6, 1) other (WCLK, WE, {A5, A4, A3, A2, A1, A0}, D, {DPRA5, DPRA4, DPRA3, DPRA2, DPRA1, DPRA0}, DPO);
endmodule

module RAM128X1D #(parameter [127:0] INIT = 128'd0) (
  input  wire WCLK,
  input  wire WE,
  input  wire D,
  input  wire [6:0] A,
  input  wire [6:0] DPRA,
  output wire SPO,
  output wire DPO
);
  gate_ram #(7, 1) own   (WCLK, WE, A, D, A, SPO);
  gate_ram #(7, 1) other (WCLK, WE, A, D, DPRA, DPO);
endmodule

module RAM256X1D #(parameter [255:0] INIT = 256'd0) (
  input  wire WCLK,
  input  wire WE,
  input  wire D,
  input  wire [7:0] A,
  input  wire [7:0] DPRA,
  output wire SPO,
  output wire DPO
);
  gate_ram #(8, 1) own   (WCLK, WE, A, D, A, SPO);
  gate_ram #(8, 1) other (WCLK, WE, A, D, DPRA, DPO);
endmodule

module RAM32X16DR8 (
  input  wire       WCLK,
  input  wire       WE,
  input  wire [5:0] ADDRA,
  input  wire [5:0] ADDRB,
  input  wire [5:0] ADDRC,
  input  wire [5:0] ADDRD,
  input  wire [5:0] ADDRE,
  input  wire [5:0] ADDRF,
  input  wire [5:0] ADDRG,
  input  wire [4:0] ADDRH,
  input  wire [1:0] DIA,
  input  wire [1:0] DIB,
  input  wire [1:0] DIC,
  input  wire [1:0] DID,
  input  wire [1:0] DIE,
  input  wire [1:0] DIF,
  input  wire [1:0] DIG,
  input  wire [1:0] DIH,
  output wire       DOA,
  output wire       DOB,
  output wire       DOC,
  output wire       DOD,
  output wire       DOE,
  output wire       DOF,
  output wire       DOG,
  output wire [1:0] DOH
);
  wire [1:0] a;
  gate_ram #(5, 2) ram_a (WCLK, WE, ADDRH, DIA, ADDRA[5:1], a);
  assign DOA = a[ADDRA[0]];
  wire [1:0] b;
  gate_ram #(5, 2) ram_b (WCLK, WE, ADDRH, DIB, ADDRB[5:1], b);
  assign DOB = b[ADDRB[0]];
  wire [1:0] c;
  gate_ram #(5, 2) ram_c (WCLK, WE, ADDRH, DIC, ADDRC[5:1], c);
  assign DOC = c[ADDRC[0]];
  wire [1:0] d;
  gate_ram #(5, 2) ram_d (WCLK, WE, ADDRH, DID, ADDRD[5:1], d);
  assign DOD = d[ADDRD[0]];
  wire [1:0] e;
  gate_ram #(5, 2) ram_e (WCLK, WE, ADDRH, DIE, ADDRE[5:1], e);
  assign DOE = e[ADDRE[0]];
  wire [1:0] f;
  gate_ram #(5, 2) ram_f (WCLK, WE, ADDRH, DIF, ADDRF[5:1], f);
  assign DOF = f[ADDRF[0]];
  wire [1:0] g;
  gate_ram #(5, 2) ram_g (WCLK, WE, ADDRH, DIG, ADDRG[5:1], g);
  assign DOG = g[ADDRG[0]];
  gate_ram #(5, 2) ram_h (WCLK, WE, ADDRH, DIH, ADDRH, DOH);
endmodule

module SRL16E #(parameter [15:0] INIT = 16'd0) (
  input  wire CLK,
  input  wire CE,
  input  wire D,
  input  wire A0, A1, A2, A3,
  output wire Q
);
  reg [15:0] bits_q;

  always @(posedge CLK) if (CE) bits_q <= {bits_q[14:0], D};

  assign Q = bits_q[{A3, A2, A1, A0}];
endmodule

module SRLC32E #(parameter [31:0] INIT = 32'd0) (
  input  wire       CLK,
  input  wire       CE,
  input  wire       D,
  input  wire [4:0] A,
  output wire       Q,
  output wire       Q31
);
  reg [31:0] bits_q;

  always @(posedge CLK) if (CE) bits_q <= {bits_q[30:0], D};

  assign Q   = bits_q[A];
  assign Q31 = bits_q[31];
endmodule

`default_nettype wire
