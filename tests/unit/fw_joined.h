/* Groups of hosts from fw_hosts.h that join, fail and leave as a whole. Failures are cmocka's. */
#ifndef FW_JOINED_H
#define FW_JOINED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/fw_hosts.h"

#define assert_state(net, i, s) assert_int_equal(rf_client_state(&(net)->host[i].client), s)

/* Starts box and hosts; all hosts become READY. */
void fw_join_all(struct fw_net *net);
/* Makes all hosts plain endpoints, without the shift: before they join. */
void fw_plain(struct fw_net *net);
/* The FAILED reply that host i has received. */
const struct rf_ctl_failed *fw_failure(struct fw_net *net, unsigned int i);
void fw_leave_all(struct fw_net *net, bool destroyed);

#endif
