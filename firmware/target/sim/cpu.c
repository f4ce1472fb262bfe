#include "firmware/target/sim/cpu.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "firmware/target/rv32/cpu.h"
#include "firmware/target/settings.h"
#include "firmware/target/sim/wire.h"

#define PATH_ROOM 512u
#define IN_BYTES 16384u

struct rf_sim_fw {
	struct rf_sim_fw_cfg cfg;
	uint64_t next;
	struct rf_fw fw; /* NATIVE */
	/* RV32 */
	pid_t pid;
	int sock;
	uint8_t in[IN_BYTES];
	size_t in_at, in_len;
	uint32_t alarm_lo, counters, stack, status;
	uint64_t instructions;
	char fault[120];
};

bool rf_sim_fw_kind(const char *word, enum rf_sim_fw_kind *kind)
{
	if (strcmp(word, "native") == 0)
		*kind = RF_SIM_FW_NATIVE;
	else if (strcmp(word, "rv32") == 0)
		*kind = RF_SIM_FW_RV32;
	else
		return false;
	return true;
}

/* ---- the pipe ---- */

static void fail(struct rf_sim_fw *f, const char *what)
{
	if (!f->fault[0])
		snprintf(f->fault, sizeof(f->fault), "%s", what);
	f->next = RF_FW_NEVER;
}

static bool put(struct rf_sim_fw *f, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len > 0) {
		ssize_t n = send(f->sock, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			fail(f, "the program that runs the image has ended");
			return false;
		}
		p += n;
		len -= (size_t)n;
	}
	return true;
}

static bool get(struct rf_sim_fw *f, void *data, size_t len)
{
	uint8_t *p = data;

	while (len > 0) {
		size_t have = f->in_len - f->in_at;
		ssize_t n;

		if (have > 0) {
			have = have < len ? have : len;
			memcpy(p, f->in + f->in_at, have);
			f->in_at += have;
			p += have;
			len -= have;
			continue;
		}
		n = recv(f->sock, f->in, sizeof(f->in), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			fail(f, "the program that runs the image has ended");
			return false;
		}
		f->in_at = 0;
		f->in_len = (size_t)n;
	}
	return true;
}

static void own_write(struct rf_sim_fw *f, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case RF_CPU_ALARM_LO:
		f->alarm_lo = value;
		break;
	case RF_CPU_ALARM_HI:
		f->next = (uint64_t)value << 32 | f->alarm_lo;
		break;
	case RF_CPU_STATUS:
		f->status = value;
		break;
	case RF_CPU_COUNTERS:
		f->counters = value;
		break;
	case RF_CPU_STACK:
		f->stack = value;
		break;
	default:
		break;
	}
}

/* Records why the image stopped, from the value that it wrote to STATUS. */
static void stopped(struct rf_sim_fw *f)
{
	char text[100];

	if (f->status & RF_CPU_STATUS_TRAP && (int32_t)f->status >= 0)
		snprintf(text, sizeof(text), "exception %u in the image",
			 (unsigned int)(f->status & 0xffffu));
	else if (f->status == RF_CPU_STATUS_SETTINGS)
		snprintf(text, sizeof(text), "the settings page is damaged");
	else
		snprintf(text, sizeof(text), "%s", rf_fw_error_text((int32_t)f->status));
	fail(f, text);
}

/* Serves the image until it sleeps. */
static void serve(struct rf_sim_fw *f)
{
	uint32_t m[RF_WIRE_WORDS];

	while (get(f, m, sizeof(m))) {
		f->instructions += m[3];
		if (f->cfg.spend && m[3] > 0)
			f->cfg.spend(f->cfg.arg, m[3]);
		if (m[0] == RF_WIRE_READ) {
			uint32_t value = f->cfg.hal.read(f->cfg.hal.arg, m[1]);

			if (!put(f, &value, sizeof(value)))
				return;
		} else if (m[0] == RF_WIRE_WRITE) {
			f->cfg.hal.write(f->cfg.hal.arg, m[1], m[2]);
		} else if (m[0] == RF_WIRE_OWN) {
			own_write(f, m[1], m[2]);
		} else if (m[0] == RF_WIRE_WAIT) {
			if (f->status != 0)
				stopped(f);
			return;
		} else {
			char text[100];

			snprintf(text, sizeof(text), "the emulator stopped: error %u at 0x%08x",
				 (unsigned int)m[1], (unsigned int)m[2]);
			fail(f, text);
			return;
		}
	}
}

static bool memory(struct rf_sim_fw *f, uint32_t addr, void *to, uint32_t len)
{
	const uint32_t ask[3] = {RF_WIRE_MEMORY, addr, len};

	return !f->fault[0] && put(f, ask, sizeof(ask)) && get(f, to, len);
}

/* ---- start ---- */

/* path = directory of the running program, then name. */
static void beside(char *path, size_t room, const char *name)
{
	char self[PATH_ROOM / 2u];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	snprintf(path, room, "%s/%s", slash ? self : ".", name);
}

static int find(const char *given, const char *const *names, int mode, char *path, size_t room)
{
	if (given) {
		snprintf(path, room, "%s", given);
		return access(path, mode);
	}
	for (; *names; names++) {
		beside(path, room, *names);
		if (access(path, mode) == 0)
			return 0;
	}
	return -1;
}

/* The child: the socket becomes its input and output. */
static void run_program(const char *program, const char *image, int sock, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	/* Ctrl-C goes to the box, which ends this program in an orderly way. */
	signal(SIGINT, SIG_IGN);
	dup2(sock, STDIN_FILENO);
	dup2(sock, STDOUT_FILENO);
	execl(program, program, image, (char *)NULL);
	_exit(127);
}

static int start_rv32(struct rf_sim_fw *f, const struct rf_fw_cfg *settings, char *why, size_t room)
{
	static const char *const programs[] = {"ringfold-rv32", "../bin/ringfold-rv32", NULL};
	static const char *const images[] = {"../firmware/ringfold-rv32.elf",
					     "../lib/ringfold/ringfold-rv32.elf", NULL};
	char program[PATH_ROOM], image[PATH_ROOM];
	uint8_t page[RF_SETTINGS_BYTES] = {0};
	pid_t self = getpid();
	int sock[2];

	if (find(f->cfg.program, programs, X_OK, program, sizeof(program)) != 0) {
		snprintf(why, room,
			 "the program ringfold-rv32 is missing (libunicorn-dev "
			 "installed? then `make build/bin/ringfold-rv32`)");
		return -1;
	}
	if (find(f->cfg.image, images, R_OK, image, sizeof(image)) != 0) {
		snprintf(why, room,
			 "the image is missing (clang and lld installed? then "
			 "`make build/firmware/ringfold-rv32.elf`)");
		return -1;
	}
	if (rf_settings_put(page, settings) == 0) {
		snprintf(why, room, "more than %u keys", RF_SETTINGS_KEYS_MAX);
		return -1;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock) != 0) {
		snprintf(why, room, "%s", strerror(errno));
		return -1;
	}
	f->pid = fork();
	if (f->pid == 0)
		run_program(program, image, sock[1], self);
	close(sock[1]);
	f->sock = sock[0];
	if (f->pid < 0) {
		snprintf(why, room, "%s", strerror(errno));
		return -1;
	}
	if (put(f, page, sizeof(page)))
		serve(f);
	if (f->fault[0])
		snprintf(why, room, "%s", f->fault);
	return f->fault[0] ? -1 : 0;
}

static int start_native(struct rf_sim_fw *f, const struct rf_fw_cfg *settings, char *why,
			size_t room)
{
	int err = rf_fw_init(&f->fw, &f->cfg.hal, settings);

	if (err) {
		snprintf(why, room, "%s", rf_fw_error_text(err));
		return -1;
	}
	f->next = rf_fw_poll(&f->fw);
	return 0;
}

int rf_sim_fw_start(const struct rf_sim_fw_cfg *cfg, const struct rf_fw_cfg *settings,
		    struct rf_sim_fw **out, char *why, size_t room)
{
	struct rf_sim_fw *f = calloc(1, sizeof(*f));
	int err;

	if (!f) {
		snprintf(why, room, "out of memory");
		return -1;
	}
	f->cfg = *cfg;
	f->sock = -1;
	f->next = RF_FW_NEVER;
	err = cfg->kind == RF_SIM_FW_RV32 ? start_rv32(f, settings, why, room)
					  : start_native(f, settings, why, room);
	if (err) {
		rf_sim_fw_stop(f);
		f = NULL;
	}
	*out = f;
	return err;
}

bool rf_sim_fw_page(struct rf_sim_fw *f, uint8_t *page)
{
	return f->cfg.kind == RF_SIM_FW_RV32 &&
	       memory(f, RF_CPU_SETTINGS_BASE, page, RF_SETTINGS_BYTES);
}

void rf_sim_fw_stop(struct rf_sim_fw *f)
{
	if (!f)
		return;
	/* A closed socket ends the program in any state. */
	if (f->sock >= 0)
		close(f->sock);
	if (f->pid > 0)
		while (waitpid(f->pid, NULL, 0) < 0 && errno == EINTR)
			;
	free(f);
}

/* ---- running ---- */

uint64_t rf_sim_fw_poll(struct rf_sim_fw *f)
{
	const uint32_t run = RF_WIRE_RUN;

	if (f->cfg.kind == RF_SIM_FW_NATIVE)
		f->next = rf_fw_poll(&f->fw);
	else if (!f->fault[0] && put(f, &run, sizeof(run)))
		serve(f);
	return f->next;
}

uint64_t rf_sim_fw_next(const struct rf_sim_fw *f)
{
	return f->next;
}

uint32_t rf_sim_fw_counter(struct rf_sim_fw *f, unsigned int n)
{
	uint32_t value = 0;

	if (f->cfg.kind == RF_SIM_FW_NATIVE)
		return rf_fw_counter(&f->fw, n);
	/* struct rf_fw_counters is an array of 32-bit numbers in the order of the page. */
	if (n < rf_fw_counter_count())
		memory(f, f->counters + 4u * n, &value, sizeof(value));
	return value;
}

const char *rf_sim_fw_fault(const struct rf_sim_fw *f)
{
	return f->fault[0] ? f->fault : NULL;
}

struct rf_fw *rf_sim_fw_native(struct rf_sim_fw *f)
{
	return f->cfg.kind == RF_SIM_FW_NATIVE ? &f->fw : NULL;
}

uint64_t rf_sim_fw_instructions(const struct rf_sim_fw *f)
{
	return f->instructions;
}

uint32_t rf_sim_fw_stack(struct rf_sim_fw *f)
{
	uint32_t top = RF_CPU_DATA_BASE + RF_CPU_DATA_BYTES;
	uint32_t word[RF_CPU_DATA_BYTES / 4u];
	uint32_t n = (top - f->stack) / 4u, i = 0;

	if (f->cfg.kind == RF_SIM_FW_NATIVE || f->stack < RF_CPU_DATA_BASE || f->stack > top ||
	    !memory(f, f->stack, word, 4u * n))
		return 0;
	while (i < n && word[i] == RF_CPU_STACK_FILL)
		i++;
	return 4u * (n - i);
}
