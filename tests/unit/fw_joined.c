#include "tests/unit/fw_joined.h"

void fw_join_all(struct fw_net *net)
{
	fw_net_start(net);
	for (unsigned int i = 0; i < net->hosts; i++)
		fw_net_join(net, i);
	fw_net_run(net, 2);
	assert_null(net->wrong);
	for (unsigned int i = 0; i < net->hosts; i++)
		assert_state(net, i, RF_CLIENT_READY);
}

void fw_plain(struct fw_net *net)
{
	for (unsigned int i = 0; i < net->hosts; i++) {
		net->host[i].join.flags = 0;
		net->host[i].join.shift = 0;
	}
}

const struct rf_ctl_failed *fw_failure(struct fw_net *net, unsigned int i)
{
	const struct rf_ctl_failed *f;

	assert_null(net->wrong);
	assert_state(net, i, RF_CLIENT_FAILED);
	f = rf_client_failed(&net->host[i].client);
	assert_non_null(f);
	return f;
}

void fw_leave_all(struct fw_net *net, bool destroyed)
{
	for (unsigned int i = 0; i < net->hosts; i++)
		assert_int_equal(rf_client_leave(&net->host[i].client, destroyed, fw_net_now(net)),
				 0);
}
