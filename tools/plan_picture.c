/*
 * Pictures of plans. Graphviz's program `dot` does the layout, rather than its library. A layout
 * that crashes or takes too long then ends a child process instead of this program, and the planner
 * can be built without the library.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/plan_tool.h"
#include "plan/text.h"

#define NODES_MAX 400 /* a larger picture would be unreadable */
#define TREES_MAX 8
#define TREES_FEW 4 /* with more trees the picture shows the load of links and the largest tree */
#define DOT_SECONDS 60

static const char *const colours[TREES_MAX] = {"#1b6ca8", "#d1495b", "#2e933c", "#8e5572",
					       "#e08e1d", "#00798c", "#5f4bb6", "#6b705c"};

extern char **environ;

/* --- Graphviz source -------------------------------------------------------------------------- */

/* Writes text inside the quotes of a label. */
static void put_text(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		fputc(*text, f);
	}
}

static void put_nodes(FILE *f, const struct topology *t)
{
	static const char *const looks[] = {
		"shape=box,style=filled,fillcolor=\"#f2f2f2\"",
		"shape=ellipse",
		"shape=box,style=\"filled,bold\",fillcolor=\"#ffe8a3\"",
	};

	for (int i = 0; i < t->nodes; i++) {
		fprintf(f, " n%d [label=\"", i);
		put_text(f, t->node[i].name);
		fprintf(f, "\",%s];\n", looks[t->node[i].kind]);
	}
}

/* Places hosts side by side in the order of the file. */
static void put_order(FILE *f, const struct topology *t)
{
	int before = -1;

	fprintf(f, " { rank=same;");
	for (int i = 0; i < t->nodes; i++) {
		if (t->node[i].kind != TOPO_HOST)
			continue;
		if (before >= 0)
			fprintf(f, " n%d -> n%d [style=invis,weight=10];", before, i);
		before = i;
	}
	fprintf(f, " }\n");
}

/* A colour from grey over yellow to red, by load / capacity. */
static const char *heat(double full)
{
	static const char *const colour[] = {"#d9d9d9", "#c7c7c7", "#e8d48a",
					     "#e8a54b", "#d9662c", "#b3202c"};

	return full > 0.999  ? colour[5]
	       : full > 0.9  ? colour[4]
	       : full > 0.7  ? colour[3]
	       : full > 0.4  ? colour[2]
	       : full > 1e-9 ? colour[1]
			     : colour[0];
}

/*
 * Links with a larger capacity are thicker; if load is given, links with a higher load are redder.
 */
static void put_links(FILE *f, const struct topology *t, const struct plan_load *load, double rate)
{
	double most = 0;

	for (int i = 0; i < t->links; i++)
		most = fmax(most, t->link[i].capacity[0]);
	for (int i = 0; i < t->links; i++) {
		const struct topo_link *l = &t->link[i];
		double full = 0;

		for (int d = 0; d < 2 && load; d++)
			full = fmax(full, load->arc[2 * i + d] * rate / l->capacity[d]);
		/* Hosts are placed at the bottom, whichever end the file names first. */
		fprintf(f, " n%d -> n%d [dir=none,color=\"%s\",penwidth=%.2f];\n",
			t->node[l->b].kind == TOPO_HOST ? l->b : l->a,
			t->node[l->b].kind == TOPO_HOST ? l->a : l->b,
			load ? heat(full) : "#bbbbbb", 0.5 + 2 * l->capacity[0] / most);
	}
}

/* The way up of a tree: one arrow for each arc, with the number of streams if there are several. */
static void put_tree(FILE *f, const struct topology *t, const struct plan *p, int tree,
		     const char *colour)
{
	const struct plan_tree *pt = &p->tree[tree];
	int *streams = calloc((size_t)t->links * 2 + 1, sizeof(int));

	for (int i = 0; i < pt->ups && streams; i++) {
		const struct plan_edge *e = &p->edge[pt->up_first + i];

		for (int k = 0; k < e->arcs; k++)
			streams[p->route[e->first + k]]++;
	}
	for (int arc = 0; arc < 2 * t->links && streams; arc++) {
		if (streams[arc] == 0)
			continue;
		fprintf(f, " n%d -> n%d [color=\"%s\",constraint=false,penwidth=%.2f",
			topo_arc_from(t, arc), topo_arc_to(t, arc), colour,
			1.5 + (streams[arc] > 4 ? 4 : streams[arc]) * 0.5);
		if (streams[arc] > 1)
			fprintf(f, ",label=\"%d\",fontsize=9,fontcolor=\"%s\"", streams[arc],
				colour);
		fprintf(f, "];\n");
	}
	free(streams);
}

/* Lists the indexes of the largest trees and returns their number. */
static int largest(const struct plan *p, int *list)
{
	int n = 0;

	for (int i = 0; i < p->trees; i++) {
		int at = n;

		while (at > 0 && p->tree[list[at - 1]].share < p->tree[i].share)
			at--;
		if (at == TREES_MAX)
			continue;
		if (n < TREES_MAX)
			n++;
		memmove(&list[at + 1], &list[at], (size_t)(n - 1 - at) * sizeof(int));
		list[at] = i;
	}
	return n;
}

/* Index in the plan of the tree-th largest tree by share, from 1. */
static int nth_largest(const struct plan *p, int tree)
{
	for (int i = 0; i < p->trees; i++) {
		int larger = 0;

		for (int k = 0; k < p->trees; k++)
			larger += p->tree[k].share > p->tree[i].share ||
				  (k < i && p->tree[k].share >= p->tree[i].share);
		if (larger == tree - 1)
			return i;
	}
	return 0;
}

static void put_legend(FILE *f, const struct topology *t, const struct plan *p, const int *list,
		       int n, bool heated)
{
	fprintf(f,
		" subgraph cluster_legend { label=\"share of the vector, root\"; fontsize=10;\n");
	for (int i = 0; i < n; i++) {
		fprintf(f, "  key%d [shape=plaintext,fontcolor=\"%s\",label=", i, colours[i]);
		fprintf(f, "\"%.3g%%, ", 100 * p->tree[list[i]].share);
		put_text(f, t->node[p->tree[list[i]].root].name);
		fprintf(f, "\"];\n");
	}
	if (heated)
		fprintf(f, "  full [shape=plaintext,fontcolor=\"#b3202c\",label=\"links by load, "
			   "red: full\"];\n");
	fprintf(f, " }\n");
}

/*
 * The distance of the rows of nodes in inches. It grows with the row of hosts: between wide rows
 * that are close, the links of switches would be horizontal and hide each other.
 */
static double rank_distance(const struct topology *t)
{
	int hosts = 0;

	for (int i = 0; i < t->nodes; i++)
		hosts += t->node[i].kind == TOPO_HOST;
	return fmin(0.6 + 0.07 * hosts, 12);
}

char *plan_dot(const struct topology *t, const struct plan *p, int tree)
{
	int list[TREES_MAX + 1];
	int n = largest(p, list);
	bool heated = tree == 0 && p->trees > TREES_FEW;
	struct plan_load load;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	heated = heated && plan_measure(t, p, &load, NULL) == 0;
	if (heated)
		n = 1;
	if (tree > 0) {
		list[0] = nth_largest(p, tree);
		n = 1;
	}
	fprintf(f, "digraph plan {\n graph [rankdir=BT,fontname=\"sans-serif\",labelloc=t,label=");
	fprintf(f, "\"");
	put_text(f, p->scheme);
	fprintf(f, ", %.4g ", p->throughput);
	put_text(f, t->unit);
	fprintf(f, ", %d tree%s", p->trees, p->trees == 1 ? "" : "s");
	if (tree > 0)
		fprintf(f, ", number %d by size", tree);
	else if (heated)
		fprintf(f, ", the largest shown");
	else if (p->trees > n)
		fprintf(f, ", the %d largest shown", n);
	fprintf(f, "\",ranksep=%.2f,nodesep=0.12];\n", rank_distance(t));
	fprintf(f, " node [fontname=\"sans-serif\",fontsize=10,width=0.4,height=0.3,"
		   "margin=\"0.06,0.04\"];\n");
	put_nodes(f, t);
	put_order(f, t);
	put_links(f, t, heated ? &load : NULL, p->throughput);
	for (int i = 0; i < n; i++)
		put_tree(f, t, p, list[i], colours[i]);
	put_legend(f, t, p, list, n, heated);
	fprintf(f, "}\n");
	if (heated)
		plan_load_free(&load);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

/* --- running dot ------------------------------------------------------------------------------ */

/* Waits for a child process for at most DOT_SECONDS. Returns its exit code, or -1. */
static int wait_for(pid_t pid)
{
	struct timespec nap = {0, 20000000};
	int status;

	for (int i = 0; i < DOT_SECONDS * 50; i++) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		if (got < 0 && errno != EINTR)
			return -1;
		nanosleep(&nap, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}

/* Runs dot -Tsvg -o to from. Returns 0, or -1 with a message on stderr. */
static int run_dot(char *from, char *to)
{
	char *argv[] = {"dot", "-Tsvg", "-o", to, from, NULL};
	pid_t pid;
	int rc = posix_spawnp(&pid, "dot", NULL, NULL, argv, environ);

	if (rc == 0)
		rc = wait_for(pid);
	if (rc == ENOENT || rc == 127)
		fprintf(stderr, "ringfold plan: a picture needs Graphviz's dot (apt-get install "
				"graphviz); --dot writes its input\n");
	else if (rc != 0)
		fprintf(stderr, "ringfold plan: dot failed or took more than %d seconds\n",
			DOT_SECONDS);
	return rc == 0 ? 0 : -1;
}

/* False with errno. */
static bool write_all(int fd, const char *text)
{
	size_t len = strlen(text);

	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno != EINTR)
			return false;
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

char *plan_picture(const struct topology *t, const struct plan *p, int tree)
{
	char from[] = "/tmp/ringfold-plan-XXXXXX";
	char to[] = "/tmp/ringfold-plan-XXXXXX";
	char *dot;
	char *svg = NULL;
	size_t len;
	int in, out;
	bool ok;

	if (t->nodes > NODES_MAX) {
		fprintf(stderr,
			"ringfold plan: a picture of %d nodes would be unreadable, the limit is "
			"%d; --dot writes its text\n",
			t->nodes, NODES_MAX);
		return NULL;
	}
	dot = plan_dot(t, p, tree);
	if (!dot)
		return NULL;
	in = mkstemp(from);
	out = mkstemp(to);
	ok = in >= 0 && out >= 0 && write_all(in, dot);
	if (!ok)
		fprintf(stderr,
			"ringfold plan: cannot write a temporary file in /tmp for the picture: "
			"%s\n",
			strerror(errno));
	if (ok && run_dot(from, to) == 0)
		svg = text_file(to, &len);
	if (in >= 0) {
		close(in);
		unlink(from);
	}
	if (out >= 0) {
		close(out);
		unlink(to);
	}
	free(dot);
	return svg;
}
