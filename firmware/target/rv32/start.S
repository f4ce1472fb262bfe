/*
 * Start-up: stack, data, BSS, then main(), which does not return.
 *
 * Interrupts are never taken: mstatus.MIE stays 0, and mie selects the two lines that end a wfi. So
 * no handler can run concurrently with the firmware, and no handler's stack has to be counted. The
 * only possible trap is an exception, which is a bug in the program: it is reported, and the
 * processor waits for a reset while the data path of the box keeps running.
 */
#include "firmware/target/rv32/cpu.h"

	.section .text.start, "ax", @progbits
	.globl _start
	.type _start, @function
_start:
	la	sp, __stack_top
	la	t0, rf_rv32_trap
	csrw	mtvec, t0
	li	t0, 0x880		/* MEIE, MTIE */
	csrw	mie, t0

	la	t0, __data_load
	la	t1, __data_start
	la	t2, __data_end
1:	bgeu	t1, t2, 2f
	lw	t3, 0(t0)
	sw	t3, 0(t1)
	addi	t0, t0, 4
	addi	t1, t1, 4
	j	1b
2:	la	t1, __bss_start
	la	t2, __bss_end
3:	bgeu	t1, t2, 4f
	sw	zero, 0(t1)
	addi	t1, t1, 4
	j	3b
4:	li	t3, RF_CPU_STACK_FILL
	la	t1, __stack_filled
	la	t2, __stack_top
5:	bgeu	t1, t2, 6f
	sw	t3, 0(t1)
	sw	t3, 4(t1)
	sw	t3, 8(t1)
	sw	t3, 12(t1)
	addi	t1, t1, 16
	j	5b
6:	call	main
	.size _start, . - _start

	.balign 4
	.globl rf_rv32_trap
	.type rf_rv32_trap, @function
rf_rv32_trap:
	csrr	t0, mcause
	li	t1, RF_CPU_STATUS_TRAP
	or	t0, t0, t1
	li	t1, RF_CPU_OWN_BASE
	sw	t0, RF_CPU_STATUS(t1)
7:	wfi
	j	7b
	.size rf_rv32_trap, . - rf_rv32_trap

	.section .note.GNU-stack, "", @progbits
