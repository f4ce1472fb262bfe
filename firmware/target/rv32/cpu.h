/*
 * Memory map and own registers of the box's processor.
 *
 *	0x80000000 128 KiB  text and constants, written when the image is loaded
 *	0x80020000 128 KiB  data and stack
 *	0x40000000   4 MiB  the register bus of the box (rtl/control/registers.txt)
 *	0x20000000   4 KiB  the processor's own registers, below
 *	0x20001000   4 KiB  settings: a page of memory, written before each start by whoever
 *	                    sets the box up; the image takes the salt out of it
 *
 * There are two level-triggered interrupt lines. The timer (mip.MTIP) is up once the box's clock
 * has reached ALARM. The external one (mip.MEIP) is up while the box's register IRQ is not 0.
 */
#ifndef RF_RV32_CPU_H
#define RF_RV32_CPU_H

/* Numbers without suffixes, because the assembler reads this too. */

#define RF_CPU_TEXT_BASE 0x80000000
#define RF_CPU_TEXT_BYTES 0x20000
#define RF_CPU_DATA_BASE 0x80020000
#define RF_CPU_DATA_BYTES 0x20000
#define RF_CPU_BUS_BASE 0x40000000
#define RF_CPU_BUS_BYTES 0x400000
#define RF_CPU_OWN_BASE 0x20000000
#define RF_CPU_OWN_BYTES 0x1000
#define RF_CPU_SETTINGS_BASE 0x20001000
#define RF_CPU_SETTINGS_BYTES 0x1000

/* The processor's own registers: offsets, all write only. */
#define RF_CPU_ALARM_LO 0x00 /* box clock cycle of the timer interrupt, low word; ... */
#define RF_CPU_ALARM_HI 0x04 /* high word; writing it makes both take effect */
#define RF_CPU_STATUS                                                                              \
	0x08 /* 0: running; otherwise stopped: enum rf_fw_error, or STATUS_TRAP | mcause */
#define RF_CPU_COUNTERS                                                                            \
	0x0c /* address of struct rf_fw_counters, for observers outside the processor */
#define RF_CPU_STACK 0x10 /* address of the lowest stack byte filled with STACK_FILL */

#define RF_CPU_STATUS_TRAP 0x40000000
#define RF_CPU_STATUS_SETTINGS 0x20000000

/*
 * The upper 4 KiB of the stack are filled with this at the start, so that the depth used can be
 * seen.
 */
#define RF_CPU_STACK_FILL 0xa5a5a5a5

#endif
