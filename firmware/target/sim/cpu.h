/*
 * The firmware of a simulated box, in one of two forms with the same behaviour: the native build,
 * called in this process, and the image for the box's processor, run by the program ringfold-rv32
 * at the other end of a pipe. A test compares their register writes.
 *
 *	rf_sim_fw_start(&cfg, &settings, &f, why, sizeof(why));
 *	next = rf_sim_fw_poll(f);        interrupt line up, or the time has come that it last wanted
 *	rf_sim_fw_stop(f);
 */
#ifndef RF_FW_TARGET_SIM_CPU_H
#define RF_FW_TARGET_SIM_CPU_H

#include "firmware/core/fw.h"
#include "firmware/target/linux/hal.h"

enum rf_sim_fw_kind {
	RF_SIM_FW_NATIVE,
	RF_SIM_FW_RV32,
};

/* "native" or "rv32"; false for any other word. */
bool rf_sim_fw_kind(const char *word, enum rf_sim_fw_kind *kind);

struct rf_sim_fw_cfg {
	enum rf_sim_fw_kind kind;
	struct rf_hal hal; /* the register bus; copied */
	/*
	 * RV32: reports the number of instructions executed since the last call. Called before each
	 * register access and before the processor sleeps. NULL: instructions take no time.
	 */
	void (*spend)(void *arg, uint64_t instructions);
	void *arg;
	/* RV32 only; NULL: looked for next to the running program. */
	const char *image, *program;
};

struct rf_sim_fw;

/*
 * Starts the firmware: rf_fw_init() with the settings, then the first rf_fw_poll(). settings is
 * copied, its keys are not. Returns 0, or -1 with a reason in why.
 */
int rf_sim_fw_start(const struct rf_sim_fw_cfg *cfg, const struct rf_fw_cfg *settings,
		    struct rf_sim_fw **out, char *why, size_t room);
/*
 * Runs one rf_fw_poll(). Returns the cycle at which the next one is due; RF_FW_NEVER: only on an
 * interrupt.
 */
uint64_t rf_sim_fw_poll(struct rf_sim_fw *f);
/* The value that the last rf_sim_fw_poll() returned. */
uint64_t rf_sim_fw_next(const struct rf_sim_fw *f);
/* Counter n of the FIRMWARE page. */
uint32_t rf_sim_fw_counter(struct rf_sim_fw *f, unsigned int n);
/* NULL, or why the processor has stopped for good. */
const char *rf_sim_fw_fault(const struct rf_sim_fw *f);
/* NATIVE: the firmware itself, for tests; RV32: NULL. */
struct rf_fw *rf_sim_fw_native(struct rf_sim_fw *f);
/* RV32: instructions executed, and the largest stack depth in bytes; NATIVE: 0. */
uint64_t rf_sim_fw_instructions(const struct rf_sim_fw *f);
uint32_t rf_sim_fw_stack(struct rf_sim_fw *f);
/* RV32: the settings page as the image has left it, RF_SETTINGS_BYTES. */
bool rf_sim_fw_page(struct rf_sim_fw *f, uint8_t *page);
void rf_sim_fw_stop(struct rf_sim_fw *f);

#endif
