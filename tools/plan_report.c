/* ringfold plan: schemes in --help, progress on stderr, and the columns that tables share. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "planner/scheme.h"
#include "planner/work.h"
#include "tools/plan_tool.h"

char *plan_scheme_help(const char *before)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fprintf(f, "%s\n\nschemes:", before);
	for (const struct scheme *s = scheme_list; s->name; s++)
		fprintf(f, "\n  %-20s %s", s->name, s->text);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

static double progress_begin = -1;
static bool progress_quiet;

void plan_progress(const char *name, double seconds)
{
	double now = work_clock();

	progress_begin = progress_begin < 0 ? now - seconds : progress_begin;
	if (now - progress_begin >= PLAN_PROGRESS_SECONDS && !progress_quiet)
		fprintf(stderr, "%8.1f s  %s ended after %.1f s\n", now - progress_begin, name,
			seconds);
}

static void print_step(const char *doing, int round, double value, double bound)
{
	fprintf(stderr, "%8.1f s  %s, round %d", work_clock() - progress_begin, doing, round);
	if (value > 0)
		fprintf(stderr, ": %.6g", value);
	if (value > 0 && !isnan(bound))
		fprintf(stderr, ", bound %.6g", bound);
	fputc('\n', stderr);
}

void plan_show_progress(struct scheme_options *o, bool quiet)
{
	static struct work_reporter reporter = {.report = print_step,
						.every = PLAN_PROGRESS_SECONDS};

	progress_begin = reporter.last = work_clock();
	progress_quiet = quiet;
	o->progress = quiet ? NULL : plan_progress;
	o->reporter = quiet ? NULL : &reporter;
}

void plan_worst_link(const struct topology *t, const struct plan_row *row, char *to, size_t room)
{
	int arc = row->load.worst_arc;

	if (arc < 0)
		snprintf(to, room, "-");
	else
		snprintf(to, room, "%s>%s %.0f%%", t->node[topo_arc_from(t, arc)].name,
			 t->node[topo_arc_to(t, arc)].name,
			 100 * row->load.arc[arc] * row->plan->throughput /
				 topo_arc_capacity(t, arc));
}

void plan_worst_box(const struct topology *t, const struct plan_row *row, char *to, size_t room)
{
	int worst = -1;

	/* Boxes without a limit have no percentage: show the one that receives most. */
	for (int i = 0; i < t->nodes; i++)
		if (t->node[i].kind == TOPO_BOX && row->load.node[i] > 0 &&
		    (worst < 0 || row->load.node[i] > row->load.node[worst]))
			worst = i;
	if (row->load.worst_node >= 0)
		worst = row->load.worst_node;
	if (worst < 0)
		snprintf(to, room, "-");
	else if (isinf(t->node[worst].processing))
		snprintf(to, room, "%s %.4g", t->node[worst].name,
			 row->load.node[worst] * row->plan->throughput);
	else
		snprintf(to, room, "%s %.0f%%", t->node[worst].name,
			 100 * row->load.node[worst] * row->plan->throughput /
				 t->node[worst].processing);
}
