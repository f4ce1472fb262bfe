/* ringfold ctl: questions to the box, and what is said when it refuses or is silent. */
#include <stdio.h>

#include "tools/ctl.h"

static const char *key_remedy(const struct ctl *c, unsigned int reason)
{
	if (reason != RF_CTL_R_TAG && reason != RF_CTL_R_KEY_UNKNOWN)
		return "";
	return c->link.job == 0 ? "; set RF_KEY to the operator's key, the key of job 0"
				: "; set RF_KEY to the key that the box has for this job";
}

const struct rf_ctl_reply *ctl_answer(struct ctl *c, struct rf_client *client)
{
	const struct rf_ctl_reply *a = boxlink_answer(&c->link, client);

	if (a)
		return a;
	a = rf_client_answer(client);
	if (c->quiet)
		return NULL;
	if (a && a->result == RF_CTL_FAILED)
		fprintf(stderr, "ringfold ctl: refused: %s%s\n",
			rf_ctl_reason_text(a->u.failed.reason), key_remedy(c, a->u.failed.reason));
	else
		fprintf(stderr,
			"ringfold ctl: no answer from the box at %s; `ringfold doctor` finds out "
			"why\n",
			c->box_text);
	return NULL;
}

void ctl_speak_for(struct ctl *c, uint64_t job)
{
	/* The token distinguishes a tool's questions from those of the previous tool. */
	uint64_t token = boxlink_now() * UINT64_C(0x9e3779b97f4a7c15) | 1;

	c->link.job = job;
	boxlink_client(&c->link, &c->asker, job ? (uint16_t)c->group : 0, RF_CTL_NO_RANK, token);
}

const struct rf_ctl_reply *ctl_page(struct ctl *c, enum rf_ctl_page page, uint16_t index)
{
	struct rf_ctl_status_req req = {
		.page = (uint8_t)page, .index = index, .job = c->job, .group = (uint16_t)c->group};

	if (rf_client_status(&c->asker, &req, boxlink_now()) != 0)
		return NULL;
	return ctl_answer(c, &c->asker);
}
