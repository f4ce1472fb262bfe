/* ringfold ctl tree: the boxes of a job's groups, and how far each is. */
#include <jansson.h>
#include <stdio.h>

#include "base/opt.h"
#include "host/config/settings.h"
#include "tools/ctl.h"
#include "tools/tree_walk.h"

struct shown {
	struct ctl *c;
	json_t *list; /* --json: of the boxes */
};

static const struct rf_ctl_reply *ask(void *arg, uint32_t box_ip, enum rf_ctl_page page,
				      uint16_t index)
{
	struct shown *s = arg;

	if (s->c->link.box_ip != box_ip) {
		s->c->link.box_ip = box_ip;
		ctl_speak_for(s->c, s->c->link.job);
	}
	return ctl_page(s->c, page, index);
}

static void show_json(struct shown *s, unsigned int depth, uint32_t box_ip,
		      const struct rf_ctl_tree_page *p)
{
	json_t *o = json_object();
	char text[16];

	ctl_number(o, "job", s->c->job);
	ctl_number(o, "group", s->c->group);
	ctl_number(o, "depth", depth);
	json_object_set_new(o, "box", json_string(rf_ip_text(box_ip, text)));
	json_object_set_new(o, "state", json_string(p ? rf_ctl_state_text(p->state) : "silent"));
	if (p) {
		json_object_set_new(o, "uplink", json_string(rf_ctl_up_text(p->up_state)));
		ctl_number(o, "ranks", p->ranks);
		ctl_number(o, "head", p->head);
		ctl_number(o, "up", p->up);
		ctl_number(o, "got", p->got);
		if (p->awaited != RF_CTL_NO_RANK)
			ctl_number(o, "awaited", p->awaited);
	}
	json_array_append_new(s->list, o);
}

static void show(void *arg, unsigned int depth, uint32_t box_ip, const struct rf_ctl_tree_page *p)
{
	struct shown *s = arg;
	char text[16];

	if (s->c->json) {
		show_json(s, depth, box_ip, p);
		return;
	}
	printf("%*s%-15s ", (int)(2u * depth), "", rf_ip_text(box_ip, text));
	if (!p) {
		printf("does not answer, or does not know the group\n");
		return;
	}
	printf("%s, %u ranks, head %u", rf_ctl_state_text(p->state), p->ranks, p->head);
	if (p->up_state != RF_CTL_UP_NONE)
		printf(", uplink %s, up %u, got %u", rf_ctl_up_text(p->up_state), p->up, p->got);
	if (p->awaited != RF_CTL_NO_RANK)
		printf(", waits for rank %u", p->awaited);
	if (p->state == RF_CTL_S_FAILED)
		printf(": %s", rf_ctl_reason_text(p->reason));
	if (p->fail_ip)
		printf(", at the box %s", rf_ip_text(p->fail_ip, text));
	printf("\n");
}

static int one_group(struct ctl *c, void *list)
{
	struct shown s = {c, list};
	uint32_t start = c->link.box_ip;
	unsigned int answered;

	if (!c->json)
		printf("job %llu group %u\n", (unsigned long long)c->job, c->group);
	c->quiet = true;
	answered = tree_walk(start, ask, show, &s);
	c->quiet = false;
	c->link.box_ip = start;
	ctl_speak_for(c, c->link.job);
	return answered > 0 ? RF_EXIT_GOOD : RF_EXIT_FAILED;
}

int ctl_tree(struct ctl *c)
{
	json_t *list = json_array();
	int rc = ctl_is_operator(c) ? ctl_each_group(c, one_group, list) : one_group(c, list);

	if (rc == RF_EXIT_GOOD && c->json) {
		json_dumpf(list, stdout, JSON_INDENT(1));
		putchar('\n');
	}
	json_decref(list);
	return rc;
}
