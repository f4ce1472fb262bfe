#include "sim/fabric/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/partial.h"
#include "host/roce/wire.h"

#define PSN_MASK 0xffffffu
#define PSN_SIGN 0x800000u
#define US_PER_PS 1e-6
#define US_PER_NS 1e-3
#define NAK_KIND 3u
#define RNR_KIND 1u

/* Processes of the picture, from top to bottom. */
enum { CALLS = 1, HOSTS = 2, BOX = 3 };

/* The highest PSN sent on a connection in one direction of one link. */
struct sent {
	unsigned track;
	uint32_t qpn;
	uint32_t psn;
};

struct rf_timeline {
	FILE *file;
	char *path;
	struct sent *sent;
	size_t count, room;
	bool failed; /* out of memory */
};

static void name_process(struct rf_timeline *t, unsigned pid, const char *name)
{
	fprintf(t->file,
		"{\"ph\":\"M\",\"pid\":%u,\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}},\n"
		"{\"ph\":\"M\",\"pid\":%u,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":"
		"%u}},\n",
		pid, name, pid, pid);
}

static void name_track(struct rf_timeline *t, unsigned pid, unsigned tid, const char *what,
		       unsigned number, const char *does)
{
	fprintf(t->file,
		"{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":"
		"\"%s "
		"%u%s\"}},\n",
		pid, tid, what, number, does);
}

/* Tracks of a process: each host or port first sends, then receives. */
static unsigned track(unsigned port, bool up)
{
	return 2 * port + (up ? 1 : 2);
}

int rf_timeline_open(const char *path, unsigned ranks, unsigned ports, struct rf_timeline **out)
{
	struct rf_timeline *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->path = strdup(path);
	t->file = t->path ? fopen(path, "wbe") : NULL;
	if (!t->file) {
		err = t->path ? -errno : -ENOMEM;
		free(t->path);
		free(t);
		return err;
	}
	fprintf(t->file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	name_process(t, CALLS, "all-reduces");
	name_process(t, HOSTS, "hosts' links");
	for (unsigned r = 0; r < ranks; r++) {
		name_track(t, CALLS, r + 1, "rank", r, "");
		name_track(t, HOSTS, track(r, true), "rank", r, " sends");
		name_track(t, HOSTS, track(r, false), "rank", r, " receives");
	}
	if (ports > 0)
		name_process(t, BOX, "box's links");
	for (unsigned p = 0; p < ports; p++) {
		name_track(t, BOX, track(p, false), "box port", p, " receives");
		name_track(t, BOX, track(p, true), "box port", p, " sends");
	}
	*out = t;
	return 0;
}

/* Whether this PSN, or a later one, was sent here before; remembers it. */
static bool is_again(struct rf_timeline *t, unsigned where, uint32_t qpn, uint32_t psn)
{
	struct sent *s = t->sent;

	for (size_t i = 0; i < t->count; i++, s++) {
		if (s->track != where || s->qpn != qpn)
			continue;
		if (((psn - s->psn - 1) & PSN_MASK) >= PSN_SIGN)
			return true;
		s->psn = psn;
		return false;
	}
	if (t->count == t->room) {
		size_t room = t->room ? 2 * t->room : 64;

		s = realloc(t->sent, room * sizeof(*s));
		if (!s) {
			t->failed = true;
			return false;
		}
		t->sent = s;
		t->room = room;
	}
	t->sent[t->count++] = (struct sent){where, qpn, psn};
	return false;
}

static const char *kind_of(struct rf_timeline *t, unsigned where, const struct roce_packet *p)
{
	if (p->opcode == ROCE_OP_ACK && p->syndrome >> 5 == NAK_KIND)
		return "NAK";
	if (p->opcode == ROCE_OP_ACK && p->syndrome >> 5 == RNR_KIND)
		return "RNR NAK";
	if (p->opcode == ROCE_OP_ACK)
		return "ACK";
	if (p->opcode > ROCE_OP_WRITE_ONLY_IMM)
		return "other RoCE";
	return is_again(t, where, p->qpn, p->psn) ? "data again" : "data";
}

void rf_timeline_frame(struct rf_timeline *t, bool box, unsigned port, bool up, uint64_t begin,
		       uint64_t end, const uint8_t *frame, size_t len, bool lost)
{
	unsigned tid = track(port, up);
	struct roce_packet p;
	const char *kind = "ARP and control";
	bool roce;

	if (!t)
		return;
	roce = roce_parse(frame, len, &p) == ROCE_WIRE_OK;
	if (roce)
		kind = kind_of(t, (box ? 1u << 16 : 0) + tid, &p);
	fprintf(t->file,
		"{\"ph\":\"X\",\"pid\":%d,\"tid\":%u,\"name\":\"%s%s\",\"ts\":%.6f,\"dur\":%.6f,"
		"\"args\":{\"bytes\":%zu",
		box ? BOX : HOSTS, tid, kind, lost ? ", lost" : "", (double)begin * US_PER_PS,
		(double)(end - begin) * US_PER_PS, len);
	if (roce)
		fprintf(t->file, ",\"PSN\":%" PRIu32 ",\"QPN\":%" PRIu32, p.psn, p.qpn);
	fprintf(t->file, "}},\n");
}

void rf_timeline_call(struct rf_timeline *t, unsigned rank, unsigned op, uint64_t begin,
		      uint64_t end)
{
	if (t)
		fprintf(t->file,
			"{\"ph\":\"X\",\"pid\":%d,\"tid\":%u,\"name\":\"all-reduce "
			"%u\",\"ts\":%.3f,\"dur\":%.3f},\n",
			CALLS, rank + 1, op, (double)begin * US_PER_NS,
			(double)(end - begin) * US_PER_NS);
}

bool rf_timeline_finish(struct rf_timeline **at, const char *who)
{
	struct rf_timeline *t = *at;
	int err = 0;

	if (!t)
		return true;
	/* Every event ends with a comma: the last one has no contents. */
	fprintf(t->file, "{\"ph\":\"M\",\"pid\":0,\"name\":\"end\"}\n]}\n");
	if (ferror(t->file) || t->failed)
		err = t->failed ? ENOMEM : EIO;
	if (fclose(t->file) != 0)
		err = errno;
	if (err)
		rf_partial(who, "the timeline", t->path, err);
	free(t->path);
	free(t->sent);
	free(t);
	*at = NULL;
	return err == 0;
}
