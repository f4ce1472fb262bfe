#include "wire/pcapng.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/partial.h"

#define BLOCK_SHB 0x0a0d0d0au
#define BLOCK_IDB 0x00000001u
#define BLOCK_EPB 0x00000006u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define LINKTYPE_ETHERNET 1u
#define OPT_END 0u
#define OPT_COMMENT 1u
#define SHB_USERAPPL 4u
#define IF_NAME 2u
#define IF_SPEED 8u
#define IF_TSRESOL 9u
#define EPB_FLAGS 2u

/* Blocks are written together, so that a file on a full disk ends with a whole one. */
#define WRITE_BYTES 65536u
/* A reader that follows the file sees frames at most this much later, in the frames' own time. */
#define WRITE_NS 100000000u

struct rf_pcapng {
	int fd;
	char *path;
	unsigned interfaces;
	int error;
	off_t written;  /* whole blocks */
	uint64_t at;    /* time of the first frame that waits; UINT64_MAX: none does */
	uint8_t *bytes; /* blocks that wait, and the one being built */
	size_t start;   /* of the one being built */
	size_t len;
	size_t room;
};

static void reserve(struct rf_pcapng *w, size_t more)
{
	size_t room = w->room ? w->room : 4096;
	uint8_t *bytes;

	while (room < w->len + more)
		room *= 2;
	if (room == w->room)
		return;
	bytes = realloc(w->bytes, room);
	if (!bytes) {
		w->error = w->error ? w->error : -ENOMEM;
		return;
	}
	w->bytes = bytes;
	w->room = room;
}

/* Files are written little-endian on every host. */
static void put(struct rf_pcapng *w, uint64_t value, unsigned bytes)
{
	reserve(w, bytes);
	if (w->error)
		return;
	for (unsigned i = 0; i < bytes; i++)
		w->bytes[w->len++] = (uint8_t)(value >> (8 * i));
}

static void put_padded(struct rf_pcapng *w, const void *data, size_t len)
{
	size_t padded = (len + 3) & ~(size_t)3;

	reserve(w, padded);
	if (w->error)
		return;
	memcpy(w->bytes + w->len, data, len);
	memset(w->bytes + w->len + len, 0, padded - len);
	w->len += padded;
}

static void put_option(struct rf_pcapng *w, unsigned code, const void *data, size_t len)
{
	if (len > 65535)
		len = 65535;
	put(w, code, 2);
	put(w, len, 2);
	put_padded(w, data, len);
}

static void begin(struct rf_pcapng *w, uint32_t type)
{
	w->len = w->start;
	put(w, type, 4);
	put(w, 0, 4); /* total length, set at the end */
}

/* Writes the waiting blocks. */
static int flush(struct rf_pcapng *w)
{
	size_t done = 0;

	while (!w->error && done < w->start) {
		ssize_t n = write(w->fd, w->bytes + done, w->start - done);

		if (n > 0)
			done += (size_t)n;
		else if (n == 0 || errno != EINTR)
			w->error = n == 0 ? -EIO : -errno;
	}
	if (!w->error)
		w->written += (off_t)w->start;
	w->start = 0;
	w->at = UINT64_MAX;
	return w->error;
}

static int end(struct rf_pcapng *w)
{
	uint32_t total;

	put(w, w->len - w->start + 4, 4);
	if (w->error)
		return w->error;
	total = (uint32_t)(w->len - w->start);
	for (unsigned i = 0; i < 4; i++)
		w->bytes[w->start + 4 + i] = (uint8_t)(total >> (8 * i));
	w->start = w->len;
	return w->start >= WRITE_BYTES ? flush(w) : 0;
}

int rf_pcapng_folder(const char *path)
{
	struct stat st;

	if (mkdir(path, 0777) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (stat(path, &st) != 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int rf_pcapng_open(const char *path, const char *comment, struct rf_pcapng **out)
{
	static const char app[] = "ringfold";
	struct rf_pcapng *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->path = strdup(path);
	w->fd = w->path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR)
			: -1;
	if (w->fd < 0) {
		err = w->path ? -errno : -ENOMEM;
		free(w->path);
		free(w);
		return err;
	}
	w->at = UINT64_MAX;
	begin(w, BLOCK_SHB);
	put(w, BYTE_ORDER_MAGIC, 4);
	put(w, 1, 2); /* version 1.0 */
	put(w, 0, 2);
	put(w, UINT64_MAX, 8); /* length of the section: unspecified */
	if (comment)
		put_option(w, OPT_COMMENT, comment, strlen(comment));
	put_option(w, SHB_USERAPPL, app, strlen(app));
	put(w, OPT_END, 4);
	err = end(w);
	if (err) {
		rf_pcapng_close(w);
		return err;
	}
	*out = w;
	return 0;
}

int rf_pcapng_interface(struct rf_pcapng *w, const char *name, uint64_t bits_per_second)
{
	static const uint8_t nanoseconds = 9;
	uint8_t speed[8];

	begin(w, BLOCK_IDB);
	put(w, LINKTYPE_ETHERNET, 2);
	put(w, 0, 2);
	put(w, 0, 4); /* no snap length */
	put_option(w, IF_NAME, name, strlen(name));
	put_option(w, IF_TSRESOL, &nanoseconds, 1);
	if (bits_per_second) {
		for (unsigned i = 0; i < 8; i++)
			speed[i] = (uint8_t)(bits_per_second >> (8 * i));
		put_option(w, IF_SPEED, speed, sizeof(speed));
	}
	put(w, OPT_END, 4);
	w->interfaces++;
	return end(w);
}

int rf_pcapng_frame(struct rf_pcapng *w, unsigned interface, uint64_t ns, enum rf_pcapng_dir dir,
		    const uint8_t *frame, size_t len, const char *comment)
{
	if (interface >= w->interfaces) {
		w->error = w->error ? w->error : -EINVAL;
		return -EINVAL;
	}
	if (w->error)
		return w->error;
	begin(w, BLOCK_EPB);
	if (ns < w->at)
		w->at = ns;
	put(w, interface, 4);
	put(w, ns >> 32, 4);
	put(w, ns & 0xffffffffu, 4);
	put(w, len, 4);
	put(w, len, 4);
	put_padded(w, frame, len);
	if (comment)
		put_option(w, OPT_COMMENT, comment, strlen(comment));
	if (dir != RF_PCAPNG_UNKNOWN) {
		put(w, EPB_FLAGS, 2);
		put(w, 4, 2);
		put(w, (uint32_t)dir, 4);
	}
	if (comment || dir != RF_PCAPNG_UNKNOWN)
		put(w, OPT_END, 4);
	if (end(w) != 0)
		return w->error;
	return w->at != UINT64_MAX && ns - w->at >= WRITE_NS ? flush(w) : 0;
}

/* Closes the file; the writer stays. */
static int close_file(struct rf_pcapng *w)
{
	if (flush(w) != 0 && ftruncate(w->fd, w->written) != 0)
		errno = 0; /* not a regular file */
	if (close(w->fd) != 0 && w->error == 0)
		w->error = -errno;
	return w->error;
}

static void free_writer(struct rf_pcapng *w)
{
	free(w->path);
	free(w->bytes);
	free(w);
}

int rf_pcapng_close(struct rf_pcapng *w)
{
	int err;

	if (!w)
		return 0;
	err = close_file(w);
	free_writer(w);
	return err;
}

bool rf_pcapng_finish(struct rf_pcapng **w, const char *who)
{
	bool complete;

	if (!*w)
		return true;
	complete = close_file(*w) == 0;
	if (!complete)
		rf_partial(who, "the capture", (*w)->path, -(*w)->error);
	free_writer(*w);
	*w = NULL;
	return complete;
}

bool rf_pcapng_end(struct rf_pcapng **w, char *text, size_t room)
{
	bool complete;

	if (!*w)
		return true;
	complete = close_file(*w) == 0;
	if (!complete)
		rf_partial_text("the capture", (*w)->path, -(*w)->error, text, room);
	free_writer(*w);
	*w = NULL;
	return complete;
}
