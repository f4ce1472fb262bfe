/* The file of figures that planner-bench writes: a JSON object on each line. */
#ifndef RF_BENCH_PLANNER_FIGURE_H
#define RF_BENCH_PLANNER_FIGURE_H

#include <stdbool.h>

/* Opens the file, to append to it. False: errno says why. */
bool figure_open(const char *path);
/* Appends one figure; limit NAN: none. `must`: the bench fails if the figure is not ok. */
void figure_put(const char *name, double value, const char *unit, double limit, bool must, bool ok);
/* The number of figures so far. */
int figure_count(void);
/* False if not everything was written. */
bool figure_close(void);

#endif
