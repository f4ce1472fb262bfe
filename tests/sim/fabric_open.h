/* A fabric that must come up, for tests of the fabric. Include after cmocka.h. */
#ifndef TESTS_SIM_FABRIC_OPEN_H
#define TESTS_SIM_FABRIC_OPEN_H

#include "sim/fabric/fabric.h"

static inline struct rf_fabric *open_fabric(const struct rf_fabric_cfg *c)
{
	struct rf_fabric *f = NULL;
	char why[200];

	if (rf_fabric_create(c, &f, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	return f;
}

#endif
