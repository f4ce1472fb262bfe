/* rf_order_apply() (ringfold.h), for the library itself. */
#ifndef RF_MEMBER_ORDER_H
#define RF_MEMBER_ORDER_H

#include "ringfold/ringfold.h"

/* As rf_order_apply(). Returns NULL, or what is wrong with the arguments: static. */
const char *rf_order_compute(const struct rf_order *order, enum rf_type type, enum rf_op op,
			     const void *const *inputs, void *out, size_t count);

#endif
