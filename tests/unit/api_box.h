/* A box for ranks that are threads: the model and the firmware, in a thread of its own. */
#ifndef TEST_API_BOX_H
#define TEST_API_BOX_H

#include "tests/unit/api_ranks.h"

struct api_box;

/*
 * Puts a box into the middle of a hub with twice as many ends as there are ranks, made by
 * api_box_hub(): end r is that of rank r, and end n + r the box's. rules: those that ring
 * connections need, which lead the packets of rank r to port r modulo 4. NULL: it did not start.
 */
struct rf_io_hub *api_box_hub(unsigned int ranks);
struct api_box *api_box_start(struct rf_io_hub *hub, unsigned int ranks, bool rules);
void api_box_stop(struct api_box *b);
/* Boxes that start from now on have room for 64 groups of 16 slots, or are ordinary ones. */
void api_box_wide(bool wide);

/* Boxes that start from now on are Verilated (build/vl/box-p4-l2-w64.so), or the model. */
void api_box_verilog(bool verilog);

/*
 * Boxes that start from now on end no group because a rank is not scheduled for some seconds, and
 * ranks wait as long for the box.
 */
void api_box_patient(void);

/* From now on so many of 1000 frames are lost on each cable, in each direction. */
void api_box_lose(unsigned int permille);

/* From now on a frame is lost if this says so; from: the end of the hub. NULL: none is. */
void api_box_drop(bool (*drop)(unsigned int from, const uint8_t *frame, uint32_t len));

/* ranks_init() with a box; and the end of both. */
struct api_box *api_box_ranks(struct ranks *all, unsigned int n, bool rules,
			      int (*run)(struct rank *r));
void api_box_end(struct ranks *all, struct api_box *b);

#endif
