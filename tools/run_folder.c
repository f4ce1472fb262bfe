/* The folder in which the sockets of `ringfold run` lie. */
#include "tools/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NAME "ringfold-run."
#define LOCK "lock"
#define LOCK_NEW "lock.new"
#define START_S 3600 /* no run takes this long from its folder to its lock */

/* Removes sockets and lock from an open folder; nothing else can be in it. */
static void empty(int folder)
{
	DIR *d = fdopendir(dup(folder));
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)) != NULL) {
		const char *end = strrchr(e->d_name, '.');

		if ((end && strcmp(end, ".sock") == 0) || strcmp(e->d_name, LOCK) == 0)
			unlinkat(folder, e->d_name, 0);
	}
	closedir(d);
}

/* Opens a lock of a folder if nobody holds it; else, or if there is none, returns -1. */
static int free_lock(int folder, const char *name)
{
	int lock = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0)
		return lock;
	close(lock);
	return -1;
}

/* Removes a folder whose run no longer holds the lock, or was killed before it had one. */
static void remove_if_stale(int parent, const char *name)
{
	int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int lock = -1;
	struct stat st;

	if (folder < 0)
		return;
	if (fstat(folder, &st) == 0 && st.st_uid == geteuid()) {
		lock = free_lock(folder, LOCK);
		if (lock >= 0) {
			empty(folder);
			unlinkat(parent, name, AT_REMOVEDIR);
		} else if (time(NULL) - st.st_mtime > START_S) {
			lock = free_lock(folder, LOCK_NEW);
			if (lock >= 0)
				unlinkat(folder, LOCK_NEW, 0);
			/* fails if anything is in it, as in the folder of a run that goes on */
			unlinkat(parent, name, AT_REMOVEDIR);
		}
	}
	if (lock >= 0)
		close(lock);
	close(folder);
}

static void sweep(const char *where)
{
	DIR *d = opendir(where);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)) != NULL)
		if (strncmp(e->d_name, NAME, strlen(NAME)) == 0)
			remove_if_stale(dirfd(d), e->d_name);
	closedir(d);
}

/* The lock has its final name only when it is held: another run's sweep() never sees it free. */
static int take_lock(int folder)
{
	int lock = openat(folder, LOCK_NEW, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (lock < 0)
		return -1;
	if (flock(lock, LOCK_EX | LOCK_NB) == 0 && renameat(folder, LOCK_NEW, folder, LOCK) == 0)
		return lock;
	close(lock);
	return -1;
}

int rf_run_folder(char *path, size_t room, int *lock, char *why, size_t why_room)
{
	const char *where = getenv("TMPDIR");
	struct sockaddr_un address;
	int folder;

	if (!where || !*where)
		where = "/tmp";
	if (*where != '/' || strpbrk(where, ",= \t\n")) {
		snprintf(why, why_room,
			 "TMPDIR=%s: expected an absolute path without comma, blank or = in it: "
			 "DPDK separates arguments by them",
			 where);
		return -1;
	}
	if (strlen(where) + sizeof("/" NAME "XXXXXX/63.sock") > sizeof(address.sun_path)) {
		snprintf(why, why_room,
			 "TMPDIR=%s: too long for the name of a socket: at most %zu bytes", where,
			 sizeof(address.sun_path) - sizeof("/" NAME "XXXXXX/63.sock"));
		return -1;
	}
	sweep(where);
	if (snprintf(path, room, "%s/" NAME "XXXXXX", where) >= (int)room || !mkdtemp(path)) {
		snprintf(why, why_room, "cannot make a folder in %s: %s", where, strerror(errno));
		return -1;
	}
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*lock = folder < 0 ? -1 : take_lock(folder);
	if (*lock < 0)
		snprintf(why, why_room, "%s: %s", path, strerror(errno));
	if (folder >= 0)
		close(folder);
	if (*lock < 0)
		rmdir(path);
	return *lock < 0 ? -1 : 0;
}

void rf_run_folder_remove(const char *path, int lock)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder >= 0) {
		empty(folder);
		close(folder);
	}
	rmdir(path);
	close(lock);
}
