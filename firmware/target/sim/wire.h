/*
 * The protocol between the simulated box and the program that runs the processor's image
 * (ringfold-rv32): two pipes, 32-bit numbers in the host's byte order. Neither program contains
 * code of the other.
 *
 * To the program: the settings page (4096 bytes), then one answer to each message that needs one.
 * From the program: messages of four numbers {kind, a, b, instructions executed since the previous
 * message}.
 */
#ifndef RF_SIM_UNICORN_WIRE_H
#define RF_SIM_UNICORN_WIRE_H

enum rf_wire_kind {
	RF_WIRE_READ = 1,  /* a: address on the register bus. Answer: the value */
	RF_WIRE_WRITE = 2, /* a: address, b: value. No answer: sent together with the next message
			      that needs one */
	RF_WIRE_OWN =
		3, /* the same for the processor's own registers (firmware/target/rv32/cpu.h) */
	RF_WIRE_WAIT = 4,  /* wfi. Answer: a command */
	RF_WIRE_FAULT = 5, /* a: error of the emulator, b: program counter. The program has ended */
};

#define RF_WIRE_WORDS 4u

enum rf_wire_command {
	RF_WIRE_QUIT = 0,
	RF_WIRE_RUN = 1,    /* an interrupt line is up */
	RF_WIRE_MEMORY = 2, /* followed by address and length. Answer: that many bytes; then the
			       program waits for another command */
};

#endif
