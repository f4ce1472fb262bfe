#include "planner/work.h"

#include <math.h>
#include <stddef.h>

#include "base/clock.h"

static double (*clock_other)(void);

void work_clock_use(double (*now)(void))
{
	clock_other = now;
}

double work_clock(void)
{
	return clock_other ? clock_other() : 1e-9 * (double)rf_now_ns();
}

struct work work_begin(double most, double seconds)
{
	double now = work_clock();

	return (struct work){.most = most, .begin = now, .end = now + seconds};
}

bool work_is_left(const struct work *w, double part)
{
	if (w->spent >= part * w->most)
		return false;
	return isinf(w->end) || work_clock() < w->begin + part * (w->end - w->begin);
}

void work_report(const struct work *w, const char *doing, int round, double value, double bound)
{
	struct work_reporter *n = w->reporter;
	double now = n ? work_clock() : 0;

	if (!n || now < n->last + n->every)
		return;
	n->last = now;
	n->report(doing, round, value / n->scale, isfinite(bound) ? bound / n->scale : NAN);
}

double work_gone(const struct work *w)
{
	double part = w->spent / w->most;

	if (isinf(w->end))
		return part;
	return fmax(part, (work_clock() - w->begin) / (w->end - w->begin));
}

bool work_has_time(const struct work *w, double part, double seconds)
{
	return isinf(w->end) || work_clock() + seconds < w->begin + part * (w->end - w->begin);
}
