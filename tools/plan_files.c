/* ringfold plan: the paths of results, and writing them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/plan_tool.h"

static bool is_stdout(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

/* The temporary name of a file, for mkstemp; to be freed. */
static char *temporary_name(const char *path)
{
	char *name = NULL;

	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		return NULL;
	return name;
}

static int check_writable(const char *path)
{
	struct stat st;
	char *name;
	int fd;

	if (is_stdout(path))
		return 0;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		fprintf(stderr, "ringfold plan: %s is not a regular file\n", path);
		return -1;
	}
	name = temporary_name(path);
	fd = name ? mkstemp(name) : -1;
	if (fd < 0) {
		fprintf(stderr, "ringfold plan: cannot write %s: %s\n", path, strerror(errno));
		free(name);
		return -1;
	}
	close(fd);
	unlink(name);
	free(name);
	return 0;
}

/* Whether two paths lead to the same file, which need not exist yet. */
static bool is_same(const char *a, const char *b)
{
	struct stat x, y;
	char *folder[2];
	bool same;

	if (is_stdout(a) || is_stdout(b))
		return is_stdout(a) && is_stdout(b);
	if (stat(a, &x) == 0 && stat(b, &y) == 0)
		return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
	if (strcmp(basename(a), basename(b)) != 0)
		return false;
	folder[0] = strndup(a, (size_t)(basename(a) - a));
	folder[1] = strndup(b, (size_t)(basename(b) - b));
	same = folder[0] && folder[1] && stat(*folder[0] ? folder[0] : ".", &x) == 0 &&
	       stat(*folder[1] ? folder[1] : ".", &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
	free(folder[0]);
	free(folder[1]);
	return same;
}

int plan_paths(const char *const *in, int ins, const char *const *out, int outs)
{
	for (int i = 0; i < outs; i++) {
		if (!out[i])
			continue;
		for (int k = 0; k < ins; k++)
			if (in[k] && !is_stdout(out[i]) && is_same(in[k], out[i])) {
				fprintf(stderr,
					"ringfold plan: %s is an input file; choose another file "
					"for the result\n",
					out[i]);
				return -1;
			}
		for (int k = 0; k < i; k++)
			if (out[k] && is_same(out[k], out[i])) {
				fprintf(stderr,
					"ringfold plan: two results have the path %s; give each "
					"its own\n",
					out[i]);
				return -1;
			}
		if (check_writable(out[i]) != 0)
			return -1;
	}
	return 0;
}

static int write_all(int fd, const char *text, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(fd, text + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

int plan_write(const char *path, const char *text, size_t len)
{
	mode_t mask = umask(0);
	char *name;
	int fd;
	int saved;

	umask(mask);
	if (is_stdout(path)) {
		if (fwrite(text, 1, len, stdout) == len && fflush(stdout) == 0)
			return 0;
		fprintf(stderr, "ringfold plan: cannot write the result: %s\n", strerror(errno));
		return -1;
	}
	name = temporary_name(path);
	fd = name ? mkstemp(name) : -1;
	if (fd >= 0 && write_all(fd, text, len) == 0 && fchmod(fd, 0666 & ~mask) == 0 &&
	    close(fd) == 0 && rename(name, path) == 0) {
		free(name);
		return 0;
	}
	saved = errno;
	if (fd >= 0)
		unlink(name);
	fprintf(stderr, "ringfold plan: cannot write %s: %s\n", path, strerror(saved));
	free(name);
	return -1;
}
