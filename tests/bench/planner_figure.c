#include "tests/bench/planner_figure.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

static FILE *out;
static int count;

bool figure_open(const char *path)
{
	out = fopen(path, "a");
	return out != NULL;
}

void figure_put(const char *name, double value, const char *unit, double limit, bool must, bool ok)
{
	json_t *o = json_pack("{sssssosssbsb}", "group", "planner", "name", name, "value",
			      isfinite(value) ? json_real(value) : json_null(), "unit", unit,
			      "must", must, "ok", ok);

	json_object_set_new(o, "limit", isfinite(limit) ? json_real(limit) : json_null());
	json_dumpf(o, out, 0);
	fputc('\n', out);
	fflush(out);
	json_decref(o);
	count++;
}

int figure_count(void)
{
	return count;
}

bool figure_close(void)
{
	return fclose(out) == 0;
}
