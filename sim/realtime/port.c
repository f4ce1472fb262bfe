#include "sim/realtime/port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/io/io.h"
#include "base/rf_number.h"
#include "sim/realtime/port_kernel.h"
#include "wire/pcapng.h"
#include "wire/reader.h"

uint64_t rf_rt_wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- DPDK ---- */

struct io_port {
	struct rf_rt_port p;
	struct rf_io *io;
};

static unsigned io_rx(struct rf_rt_port *p, const uint8_t **frame, size_t *len, unsigned n)
{
	struct io_port *d = (struct io_port *)p;
	struct rf_io_frame f[RF_IO_BURST];
	unsigned got;

	got = d->io->ops->rx(d->io, f, n < RF_IO_BURST ? n : RF_IO_BURST);
	for (unsigned i = 0; i < got; i++) {
		frame[i] = f[i].data;
		len[i] = f[i].len;
	}
	p->rx_frames += got;
	return got;
}

static bool io_tx(struct rf_rt_port *p, const uint8_t *frame, size_t len)
{
	struct io_port *d = (struct io_port *)p;
	uint8_t *to;

	/* A capture file may hold longer frames than any device sends. */
	if (len > d->io->frame_max) {
		d->io->tx_lost++;
		return true;
	}
	to = d->io->ops->tx_buffer(d->io);
	if (!to)
		return false;
	memcpy(to, frame, len);
	d->io->ops->tx_commit(d->io, (uint32_t)len);
	p->tx_frames++;
	return true;
}

static void io_flush(struct rf_rt_port *p)
{
	struct io_port *d = (struct io_port *)p;

	d->io->ops->tx_flush(d->io);
	p->tx_lost = d->io->tx_lost;
}

static bool io_ended(const struct rf_rt_port *p)
{
	(void)p;
	return false;
}

static void io_close(struct rf_rt_port *p)
{
	struct io_port *d = (struct io_port *)p;

	d->io->ops->close(d->io);
	free(d);
}

static int io_link(const struct rf_rt_port *p)
{
	const struct io_port *d = (const struct io_port *)p;

	return d->io->ops->link(d->io);
}

static const struct rf_rt_port_ops io_ops = {io_rx,    io_tx,   io_flush, io_ended,
					     io_close, io_link, NULL};

#define MB_FOR_ALL 64u
#define MB_FOR_ONE 40u

static unsigned expected = 4;

void rf_rt_ports_expected(unsigned n)
{
	expected = n;
}

static int open_dpdk(const struct rf_rt_spec *s, struct rf_rt_port **out, char *why, size_t room)
{
	struct io_port *d = calloc(1, sizeof(*d));
	char memory[32];

	if (!d) {
		snprintf(why, room, "out of memory");
		return -1;
	}
	snprintf(memory, sizeof(memory), "-m %u", MB_FOR_ALL + MB_FOR_ONE * expected);
	if (rf_io_dpdk_open(&(struct rf_io_dpdk_cfg){.device = s->what,
						     .args = memory,
						     .frame_max = RF_RT_FRAME_MAX,
						     .mtu = RF_RT_PACKET_MAX,
						     .mtu_wish = true},
			    &d->io, why, room) != 0) {
		free(d);
		return -1;
	}
	d->p.ops = &io_ops;
	*out = &d->p;
	return 0;
}

/* Our own memif server: DPDK's crashes when a host disconnects while frames move. */
static int open_memif(const struct rf_rt_spec *s, struct rf_rt_port **out, char *why, size_t room)
{
	struct io_port *d;
	uint64_t id = 0;
	const char *end = s->value ? rf_number_read(s->value, &id) : "";

	if (!end || *end || id > UINT32_MAX) {
		snprintf(why, room, "memif: id=%.40s is not a 32-bit number", s->value);
		return -EINVAL;
	}
	d = calloc(1, sizeof(*d));
	if (!d) {
		snprintf(why, room, "out of memory");
		return -1;
	}
	if (rf_io_memif_serve(s->what, (uint32_t)id, RF_RT_FRAME_MAX, &d->io, why, room) != 0) {
		free(d);
		return -1;
	}
	d->p.ops = &io_ops;
	*out = &d->p;
	return 0;
}

/* ---- capture files ---- */

struct pcap_port {
	struct rf_rt_port p;
	struct pcap_port *next;
	struct rf_reader *in;
	struct rf_pcapng *out;
	struct stat in_file; /* identity of the files, whatever path was used */
	struct stat out_file;
	bool ended;
};

/* For the whole process: no port may write a file that another port uses. */
static struct pcap_port *pcap_ports;

static unsigned pcap_rx(struct rf_rt_port *p, const uint8_t **frame, size_t *len, unsigned n)
{
	struct pcap_port *d = (struct pcap_port *)p;
	int r;

	if (d->ended || n == 0)
		return 0;
	r = rf_reader_next(d->in, &frame[0], &len[0], NULL);
	if (r == 1) {
		p->rx_frames++;
		return 1;
	}
	if (r < 0)
		snprintf(p->error, sizeof(p->error), "%s", rf_reader_error(d->in));
	d->ended = true;
	return 0;
}

static void pcap_complete(struct rf_rt_port *p)
{
	p->output_cut |= !rf_pcapng_finish(&((struct pcap_port *)p)->out, "ringfold box");
}

static bool pcap_tx(struct rf_rt_port *p, const uint8_t *frame, size_t len)
{
	struct pcap_port *d = (struct pcap_port *)p;

	p->tx_frames++;
	/* A file that cannot be written ends; the port goes on. */
	if (d->out &&
	    rf_pcapng_frame(d->out, 0, rf_rt_wall_ns(), RF_PCAPNG_OUT, frame, len, NULL) != 0)
		pcap_complete(p);
	return true;
}

static void pcap_flush(struct rf_rt_port *p)
{
	(void)p;
}

static bool pcap_ended(const struct rf_rt_port *p)
{
	return ((const struct pcap_port *)p)->ended;
}

static void pcap_close(struct rf_rt_port *p)
{
	struct pcap_port *d = (struct pcap_port *)p;
	struct pcap_port **at = &pcap_ports;

	while (*at && *at != d)
		at = &(*at)->next;
	if (*at)
		*at = d->next;
	rf_reader_close(d->in);
	pcap_complete(p);
	free(d);
}

static const struct rf_rt_port_ops pcap_ops = {
	pcap_rx, pcap_tx, pcap_flush, pcap_ended, pcap_close, rf_rt_port_no_link, pcap_complete};

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino != 0 && a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/*
 * Opening an output truncates it: it must not be a file that this or another port plays or writes,
 * and a port must not play a file that another one writes.
 */
static int separate(const struct pcap_port *d, char *why, size_t room)
{
	if (same_file(&d->in_file, &d->out_file)) {
		snprintf(why, room, "pcap: out is the file that the port plays");
		return -EINVAL;
	}
	for (const struct pcap_port *o = pcap_ports; o; o = o->next) {
		if (!same_file(&d->out_file, &o->in_file) &&
		    !same_file(&d->out_file, &o->out_file) && !same_file(&d->in_file, &o->out_file))
			continue;
		snprintf(why, room, "pcap: a file of port %s would be overwritten", o->p.name);
		return -EINVAL;
	}
	return 0;
}

static int open_output(struct pcap_port *d, const char *name, const char *to, char *why,
		       size_t room)
{
	int err = rf_pcapng_open(to, NULL, &d->out);

	if (!err)
		err = rf_pcapng_interface(d->out, name, 0);
	if (err) {
		snprintf(why, room, "%s: %s", to, strerror(-err));
		return -1;
	}
	/* known only now if the file is new */
	return stat(to, &d->out_file) == 0 ? 0 : -1;
}

static int open_pcap(const struct rf_rt_spec *s, struct rf_rt_port **port, char *why, size_t room)
{
	struct pcap_port *d = calloc(1, sizeof(*d));
	const char *to = s->value;
	int err;

	if (!d) {
		snprintf(why, room, "out of memory");
		return -1;
	}
	d->p.ops = &pcap_ops;
	d->p.paced = true;
	if (rf_reader_open(s->what, &d->in, why, room) != 0) {
		free(d);
		return -1;
	}
	if (stat(s->what, &d->in_file) != 0)
		d->in_file.st_ino = 0;
	if (to && stat(to, &d->out_file) != 0)
		d->out_file.st_ino = 0;
	err = separate(d, why, room);
	if (!err && to)
		err = open_output(d, s->name, to, why, room);
	if (err) {
		pcap_close(&d->p);
		return err;
	}
	d->next = pcap_ports;
	pcap_ports = d;
	*port = &d->p;
	return 0;
}

/* ---- specifications ---- */

/*
 * Cuts ",word" or ",key=value" off the text. Returns the value, "" for a word, NULL if it is
 * absent.
 */
static char *option(char *text, const char *key)
{
	size_t len = strlen(key);

	for (char *p = strchr(text, ','); p; p = strchr(p + 1, ',')) {
		char *end = strchrnul(p + 1, ',');
		static char value[512];

		if (strncmp(p + 1, key, len) != 0 || (p[1 + len] != '=' && p + 1 + len != end))
			continue;
		snprintf(value, sizeof(value), "%.*s",
			 (int)(end - p - 1 - (ptrdiff_t)len - (p[1 + len] == '=')),
			 p + 1 + len + (p[1 + len] == '='));
		memmove(p, end, strlen(end) + 1);
		return value;
	}
	return NULL;
}

/* Randomly drops frames of a port (xorshift64*, Vigna 2016). */
bool rf_rt_port_loses(struct rf_rt_port *p)
{
	uint64_t x = p->loss_rng;

	if (p->loss <= 0)
		return false;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	p->loss_rng = x;
	if ((double)(x * UINT64_C(0x2545f4914f6cdd1d) >> 11) * 0x1p-53 >= p->loss)
		return false;
	p->lost++;
	return true;
}

/* Parses "1%" or "0.01". Returns 0, or -1 if it is not a fraction of one. */
static int part_of(const char *text, double *part)
{
	char *end;

	*part = strtod(text, &end);
	if (*end == '%') {
		*part /= 100;
		end++;
	}
	return end == text || *end || !(*part >= 0 && *part < 1) ? -1 : 0;
}

static const struct {
	const char *kind;
	const char *option; /* an option of this kind */
	bool commas;        /* the text may contain commas: the rest is not ours to parse */
	int (*open)(const struct rf_rt_spec *s, struct rf_rt_port **out, char *why, size_t room);
} kinds[] = {
	{"memif:", "id", false, open_memif},   {"dgram:", "to", false, rf_rt_open_dgram},
	{"tap:", NULL, false, rf_rt_open_tap}, {"packet:", NULL, false, rf_rt_open_packet},
	{"dpdk:", NULL, true, open_dpdk},      {"pcap:", "out", false, open_pcap},
};

static int open_kind(const char *name, char *text, struct rf_rt_port **out, char *why, size_t room)
{
	struct rf_rt_spec s = {.name = name};
	size_t k = 0;

	while (k < sizeof(kinds) / sizeof(kinds[0]) &&
	       strncmp(text, kinds[k].kind, strlen(kinds[k].kind)) != 0)
		k++;
	if (k == sizeof(kinds) / sizeof(kinds[0])) {
		snprintf(why, room,
			 "\"%.60s\": expected memif:SOCKET, dgram:SOCKET,to=SOCKET, tap:NAME, "
			 "packet:IFACE, dpdk:DEVICE or pcap:FILE",
			 text);
		return -EINVAL;
	}
	if (kinds[k].option)
		s.value = option(text, kinds[k].option);
	s.what = text + strlen(kinds[k].kind);
	if (!*s.what || *s.what == ',') {
		snprintf(why, room, "nothing follows \"%s\"", kinds[k].kind);
		return -EINVAL;
	}
	if (!kinds[k].commas && strchr(s.what, ',')) {
		snprintf(why, room, "unknown option \"%.60s\" (a path cannot contain a comma)",
			 strchr(s.what, ',') + 1);
		return -EINVAL;
	}
	return kinds[k].open(&s, out, why, room);
}

int rf_rt_port_open(const char *name, const char *spec, struct rf_rt_port **out, char *why,
		    size_t room)
{
	char text[512];
	const char *o;
	double loss = 0;
	bool paced;
	int err;

	if (snprintf(text, sizeof(text), "%s", spec) >= (int)sizeof(text)) {
		snprintf(why, room, "the specification is too long");
		return -EINVAL;
	}
	paced = option(text, "paced") != NULL;
	o = option(text, "loss");
	if (o && part_of(o, &loss) != 0) {
		snprintf(why, room, "loss=%.40s: expected a percentage below 100", o);
		return -EINVAL;
	}
	err = open_kind(name, text, out, why, room);
	if (err)
		return err;
	snprintf((*out)->name, sizeof((*out)->name), "%s", name);
	(*out)->paced = (*out)->paced || paced;
	(*out)->loss = loss;
	/* each port drops different frames: the seed is FNV-1a of its name */
	(*out)->loss_rng = UINT64_C(0xcbf29ce484222325);
	for (const char *c = name; *c; c++)
		(*out)->loss_rng = ((*out)->loss_rng ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
	return 0;
}
