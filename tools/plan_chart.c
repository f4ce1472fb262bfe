/* A bar chart of the schemes' throughput, as SVG. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/plan_tool.h"

#define LEFT 190
#define WIDTH 520
#define RIGHT 130
#define BAR 18
#define STEP 26
#define TOP 60

static void put_text(FILE *f, double x, double y, const char *anchor, const char *text)
{
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	for (; *text; text++) {
		if (*text == '<')
			fprintf(f, "&lt;");
		else if (*text == '>')
			fprintf(f, "&gt;");
		else if (*text == '&')
			fprintf(f, "&amp;");
		else
			fputc(*text, f);
	}
	fprintf(f, "</text>\n");
}

static void put_bar(FILE *f, const struct plan_row *row, int i, double scale)
{
	double y = TOP + i * STEP;
	char text[64];

	put_text(f, LEFT - 8, y + 13, "end", row->name);
	if (!row->plan) {
		put_text(f, LEFT + 4, y + 13, "start", "no plan");
		return;
	}
	fprintf(f, "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"#1b6ca8\"/>\n",
		LEFT, y, row->plan->throughput * scale, BAR);
	snprintf(text, sizeof(text), "%.4g", row->plan->throughput);
	put_text(f, LEFT + row->plan->throughput * scale + 5, y + 13, "start", text);
}

char *plan_chart(const struct topology *t, const struct plan_row *row, int rows, double bound)
{
	double most = isfinite(bound) ? bound : 0;
	double scale;
	char *text = NULL;
	char title[160];
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int height = TOP + rows * STEP + 20;

	if (!f)
		return NULL;
	for (int i = 0; i < rows; i++)
		if (row[i].plan)
			most = fmax(most, row[i].plan->throughput);
	scale = most > 0 ? WIDTH / most : 0;
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		LEFT + WIDTH + RIGHT, height);
	snprintf(title, sizeof(title), "%s: throughput, %s", t->name, t->unit);
	put_text(f, LEFT, 22, "start", title);
	for (int i = 0; i < rows; i++)
		put_bar(f, &row[i], i, scale);
	if (isfinite(bound)) {
		snprintf(title, sizeof(title), "bound %.4g", bound);
		fprintf(f,
			"<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#d1495b\" "
			"stroke-width=\"2\"/>\n",
			LEFT + bound * scale, TOP - 8, LEFT + bound * scale, height - 16);
		put_text(f, LEFT + bound * scale, TOP - 14, "middle", title);
	}
	fprintf(f, "</svg>\n");
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}
