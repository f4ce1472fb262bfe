/*
 * The library in virtual time: ranks are threads that call rf_*() in manual mode, over the links,
 * the switch and the box of the fabric (sim/fabric). The hosts themselves take no time.
 *
 * Virtual time stands still while a rank runs, and passes only when all ranks wait for a frame or a
 * deadline. The linker replaces rf_now() and rf_store_wait() (--wrap), so the library reads this
 * clock and does not sleep in its store. The store itself is the real one, over TCP; waiting for it
 * takes no virtual time that matters, as nothing is measured meanwhile.
 */
#ifndef TESTS_SIM_VIRTUAL_RANKS_H
#define TESTS_SIM_VIRTUAL_RANKS_H

#include "ringfold/ringfold.h"

#define VIRTUAL_RANKS 8u

struct virtual_ranks;

struct virtual_rank {
	struct virtual_ranks *all;
	unsigned int rank;
	struct rf_context *ctx;
	struct rf_comm *comm; /* of all ranks */
	int ret;              /* what the body has returned */
	char text[600];       /* why it has failed */
};

struct virtual_cfg {
	unsigned int ranks; /* as many ports at the box, one lane */
	unsigned int mtu, slots;
	int (*body)(struct virtual_rank *r); /* in each rank's thread; 0 is success */
	void *arg;
};

/* Runs a job from its creation to its end. Returns how many ranks have failed; texts on stderr. */
unsigned int virtual_ranks_run(const struct virtual_cfg *cfg);

void *virtual_arg(const struct virtual_rank *r);
/* Waits, without virtual time, until all ranks are here. From then on ranks run one at a time. */
void virtual_meet(struct virtual_rank *r);
/* ns */
uint64_t virtual_now(struct virtual_rank *r);

#endif
