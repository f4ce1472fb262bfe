/*
 * Between the simulated box and the program that runs the processor's image (ringfold-rv32): two
 * pipes, numbers of 32 bits in the host's byte order, no copy of each other's code.
 *
 * To the program: the settings page (4096 bytes), then one answer to each message that wants one.
 * From it: messages of four numbers {kind, a, b, instructions executed since the message before}.
 */
#ifndef RF_SIM_UNICORN_WIRE_H
#define RF_SIM_UNICORN_WIRE_H

enum rf_wire_kind {
	RF_WIRE_READ = 1,  /* a: address on the register bus. Answer: the value */
	RF_WIRE_WRITE = 2, /* a: address, b: value. No answer: sent with the next that wants one */
	RF_WIRE_OWN =
		3, /* the same for the processor's own registers (firmware/target/rv32/cpu.h) */
	RF_WIRE_WAIT = 4,  /* wfi. Answer: a command */
	RF_WIRE_FAULT = 5, /* a: error of the emulator, b: program counter. The program has ended */
};

#define RF_WIRE_WORDS 4u

enum rf_wire_command {
	RF_WIRE_QUIT = 0,
	RF_WIRE_RUN = 1,    /* an interrupt line is up */
	RF_WIRE_MEMORY = 2, /* followed by address and length: that many bytes come back, then a
			       command is waited for again */
};

#endif
