/* What the page of `ringfold box` shows. */
#ifndef RF_SIM_REALTIME_VIEW_H
#define RF_SIM_REALTIME_VIEW_H

#include "service/view.h"
#include "sim/realtime/box.h"

/*
 * Fills in everything except program and about. Valid as long as the box; what it shows is
 * consistent between two rounds of rf_rt_run(), that is, in the function of rf_rt_each_round().
 */
void rf_rt_view(struct rf_rt *b, struct rf_view *view);

#endif
