#include "base/partial.h"
#include "base/self.h"
#include "proto/rf_bytes.h"
#include "sim/cosim/load.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The i-th folder in which engines are searched for. Returns false after the last. */
static bool folder_of(size_t i, char *to, size_t room)
{
	static const char *const places[] = {"../vl", "../lib/ringfold", "."};
	const char *from = getenv("RF_ENGINE_DIR");
	char folder[PATH_MAX];

	if (from)
		return i == 0 && snprintf(to, room, "%s", from) < (int)room;
	if (i >= sizeof(places) / sizeof(places[0]) || rf_self_folder(folder, sizeof(folder)) != 0)
		return false;
	return snprintf(to, room, "%s/%s", folder, places[i]) < (int)room;
}

static bool find(const char *name, char *path, size_t room)
{
	char folder[PATH_MAX + 32];

	for (size_t i = 0; folder_of(i, folder, sizeof(folder)); i++)
		if (snprintf(path, room, "%s/%s", folder, name) < (int)room &&
		    access(path, R_OK) == 0)
			return true;
	return false;
}

void rf_engine_each(void (*take)(void *arg, const char *path), void *arg)
{
	char folder[PATH_MAX + 32];

	for (size_t i = 0; folder_of(i, folder, sizeof(folder)); i++) {
		char pattern[PATH_MAX + 64];
		glob_t found;

		snprintf(pattern, sizeof(pattern), "%s/box-p*-l*-w*.so", folder);
		if (glob(pattern, 0, NULL, &found) != 0)
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			take(arg, found.gl_pathv[k]);
		globfree(&found);
	}
}

static int load(const char *name, const char *what, const struct rf_engine_ops **out, char *why,
		size_t room)
{
	char path[PATH_MAX + 80];
	void *object;
	void *symbol;
	rf_engine_entry *entry;
	const struct rf_engine_ops *ops;

	if (!find(name, path, sizeof(path))) {
		snprintf(why, room,
			 "no Verilated box with %s: build it "
			 "with `make build/vl/%s` in the source tree; an installed program "
			 "finds it with RF_ENGINE_DIR=.../build/vl",
			 what, name);
		return -1;
	}
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object) {
		snprintf(why, room, "%s", dlerror());
		return -1;
	}
	symbol = dlsym(object, RF_ENGINE_SYMBOL);
	if (!symbol) {
		snprintf(why, room, "%s has no symbol %s", path, RF_ENGINE_SYMBOL);
		dlclose(object);
		return -1;
	}
	/* Copies the bytes of a void pointer into a function pointer: C has no such conversion. */
	memcpy(&entry, &symbol, sizeof(entry));
	ops = entry();
	if (ops->abi != RF_ENGINE_ABI) {
		snprintf(why, room,
			 "%s speaks version %u of the interface, this program %u: rebuild it", path,
			 ops->abi, RF_ENGINE_ABI);
		dlclose(object);
		return -1;
	}
	*out = ops;
	return 0;
}

static int load_shape(unsigned ports, unsigned lanes, unsigned width, const char *suffix,
		      const char *more, const struct rf_engine_ops **out, char *why, size_t room)
{
	char name[64], what[100];

	snprintf(name, sizeof(name), "box-p%u-l%u-w%u%s.so", ports, lanes, width, suffix);
	snprintf(what, sizeof(what), "%u ports, %u lanes of %u bits%s", ports, lanes, width, more);
	return load(name, what, out, why, room);
}

int rf_engine_load(unsigned ports, unsigned lanes, unsigned width, bool trace,
		   const struct rf_engine_ops **out, char *why, size_t room)
{
	return load_shape(ports, lanes, width, trace ? "-trace" : "",
			  trace ? " that writes waveforms" : "", out, why, room);
}

int rf_engine_load_deep(unsigned ports, unsigned lanes, unsigned width,
			const struct rf_engine_ops **out, char *why, size_t room)
{
	return load_shape(ports, lanes, width, "-deep", " with eight times the memory", out, why,
			  room);
}

int rf_engine_load_wide(unsigned ports, unsigned lanes, unsigned width,
			const struct rf_engine_ops **out, char *why, size_t room)
{
	return load_shape(ports, lanes, width, "-wide", " with 64 groups", out, why, room);
}

int rf_engine_load_plain(unsigned ports, unsigned lanes, unsigned width,
			 const struct rf_engine_ops **out, char *why, size_t room)
{
	return load_shape(ports, lanes, width, "-plain", " without options", out, why, room);
}

int rf_engine_by_name(const char *name, unsigned ports, unsigned lanes, unsigned width, bool trace,
		      const struct rf_engine_ops **out, char *why, size_t room)
{
	if (strcmp(name, "rtl") == 0)
		return rf_engine_load(ports, lanes, width, trace, out, why, room);
	if (strcmp(name, "model") != 0 && strcmp(name, "soft") != 0) {
		snprintf(why, room, "unknown engine \"%s\": expected rtl, model or soft", name);
		return -1;
	}
	if (trace) {
		snprintf(why, room,
			 "the %s has no signals, so it cannot write a waveform: use --engine "
			 "rtl",
			 name[0] == 's' ? "software box" : name);
		return -1;
	}
	*out = name[0] == 's' ? rf_soft_engine() : rf_model_engine();
	return 0;
}

/* Types of blocks: the first of a file, and the names of its signals in three encodings. */
#define FST_HEADER 0u
#define FST_NAMES 4u
#define FST_NAMES_LZ4 6u
#define FST_NAMES_LZ4DUO 7u

/*
 * Whether a file consists of whole blocks (a byte of type, eight of length), the signals' names
 * among them. The writer itself does not notice that a disk is full.
 */
static bool fst_whole(FILE *f)
{
	uint8_t head[9];
	bool first = true, names = false;
	long end;

	if (fseek(f, 0, SEEK_END) != 0)
		return false;
	end = ftell(f);
	rewind(f);
	while (fread(head, 1, sizeof(head), f) == sizeof(head)) {
		uint64_t len = rf_get_be64(head + 1);
		long at = ftell(f);

		if ((first && head[0] != FST_HEADER) || len < 8 ||
		    len - 8u > (uint64_t)(end - at) || fseek(f, (long)(len - 8u), SEEK_CUR) != 0)
			return false;
		first = false;
		names = names || head[0] == FST_NAMES || head[0] == FST_NAMES_LZ4 ||
			head[0] == FST_NAMES_LZ4DUO;
	}
	return names && ftell(f) == end;
}

/* Whether a program of this name is in PATH. */
static bool installed(const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	while (path && *path) {
		size_t len = strcspn(path, ":");

		if (snprintf(file, sizeof(file), "%.*s/%s", (int)len, path, name) <
			    (int)sizeof(file) &&
		    access(file, X_OK) == 0)
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

/* Prints a file's name as one word of a shell. */
static void print_quoted(FILE *to, const char *name)
{
	fputc('\'', to);
	for (; *name; name++)
		if (*name == '\'')
			fputs("'\\''", to);
		else
			fputc(*name, to);
	fputc('\'', to);
}

static void say_how_to_see(const char *who, const char *view)
{
	fprintf(stderr, "%s: to see the waveform: gtkwave ", who);
	print_quoted(stderr, view);
	fputs(installed("gtkwave") ? "\n"
				   : " (GTKWave is not installed; Debian: apt install gtkwave)\n",
	      stderr);
}

bool rf_engine_wave_end(const char *who, const char *wave)
{
	char view[PATH_MAX];
	struct statvfs disk;
	FILE *f;
	bool whole;

	if (!wave)
		return true;
	f = fopen(wave, "rb");
	whole = f && fst_whole(f);
	if (f)
		fclose(f);
	snprintf(view, sizeof(view), "%s.gtkw", wave);
	if (!whole) {
		bool full = statvfs(wave, &disk) == 0 && disk.f_bavail == 0;

		rf_partial(who, "the waveform", wave, full ? ENOSPC : EIO);
		remove(view);
		return false;
	}
	if (access(view, R_OK) != 0)
		return false;
	say_how_to_see(who, view);
	return true;
}
