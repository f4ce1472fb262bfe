/* ringfold doctor: the result of each check, as a line or as JSON. */
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

#include "tools/doctor.h"

static const char *const result_names[] = {"ok", "note", "skipped", "FAILED"};

bool doctor_say(struct doctor *d, const char *name, enum doctor_result result, const char *fix,
		const char *format, ...)
{
	struct doctor_check *c = &d->check[d->checks];
	va_list args;

	if (d->checks == DOCTOR_CHECKS_MAX)
		return result != DOCTOR_FAILED;
	d->checks++;
	c->name = name;
	c->result = result;
	va_start(args, format);
	vsnprintf(c->text, sizeof(c->text), format, args);
	va_end(args);
	snprintf(c->fix, sizeof(c->fix), "%s", fix ? fix : "");
	if (!d->json) {
		printf("%-8s %-8s %s\n", result_names[result], name, c->text);
		if (*c->fix)
			printf("%17s fix: %s\n", "", c->fix);
		fflush(stdout);
	}
	return result != DOCTOR_FAILED;
}

void doctor_print_json(const struct doctor *d, bool good)
{
	json_t *list = json_array();
	json_t *root;

	for (unsigned int i = 0; i < d->checks; i++) {
		const struct doctor_check *c = &d->check[i];
		json_t *o =
			json_pack("{ss ss ss}", "check", c->name, "result",
				  c->result == DOCTOR_FAILED ? "failed" : result_names[c->result],
				  "text", c->text);

		if (*c->fix)
			json_object_set_new(o, "fix", json_string(c->fix));
		json_array_append_new(list, o);
	}
	root = json_pack("{sb so}", "ok", good, "checks", list);
	if (!good)
		json_object_set_new(root, "failed", json_string(d->check[d->checks - 1].name));
	json_dumpf(root, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(root);
}
