/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Runs the image of the box's processor in libunicorn, for the co-simulation: a program of its own,
 * under the licence of that library, and started by the simulated box, never linked into it. What
 * it says and hears is in firmware/target/sim/wire.h; nothing else of the tree is needed.
 *
 *	ringfold-rv32 IMAGE.elf < commands > messages
 *
 * Instructions are counted a basic block at a time, when it begins. One instruction is one clock
 * of the processor.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <unicorn/unicorn.h>

#include "base/opt.h"
#include "firmware/target/rv32/cpu.h"
#include "firmware/target/sim/wire.h"

#define OUT_WORDS (1024u * RF_WIRE_WORDS)
#define ELF_MAX 1048576u
#define WFI 0x10500073u

struct block {
	uint16_t bytes, instructions;
};

struct machine {
	uc_engine *uc;
	uint8_t text[RF_CPU_TEXT_BYTES];
	struct block block[RF_CPU_TEXT_BYTES / 2u];
	uint32_t instructions; /* not yet reported */
	uint32_t out[OUT_WORDS];
	size_t out_words;
};

static struct machine machine;

static void die(const char *what)
{
	fprintf(stderr, "ringfold-rv32: %s\n", what);
	exit(1);
}

static void put(const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			exit(0); /* the box has gone */
		p += n;
		len -= (size_t)n;
	}
}

static void get(void *data, size_t len)
{
	uint8_t *p = data;

	while (len > 0) {
		ssize_t n = read(STDIN_FILENO, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			exit(0);
		p += n;
		len -= (size_t)n;
	}
}

static void flush(struct machine *m)
{
	put(m->out, m->out_words * sizeof(m->out[0]));
	m->out_words = 0;
}

static void say(struct machine *m, uint32_t kind, uint32_t a, uint32_t b)
{
	uint32_t *o = m->out + m->out_words;

	o[0] = kind;
	o[1] = a;
	o[2] = b;
	o[3] = m->instructions;
	m->instructions = 0;
	m->out_words += RF_WIRE_WORDS;
	if (m->out_words == OUT_WORDS)
		flush(m);
}

static uint32_t ask(struct machine *m, uint32_t kind, uint32_t a)
{
	uint32_t answer;

	say(m, kind, a, 0);
	flush(m);
	get(&answer, sizeof(answer));
	return answer;
}

static uint64_t bus_read(uc_engine *uc, uint64_t offset, unsigned size, void *arg)
{
	struct machine *m = arg;

	(void)uc;
	if (size != 4 || offset % 4 != 0)
		die("the register bus takes words only");
	return ask(m, RF_WIRE_READ, (uint32_t)offset);
}

static void bus_write(uc_engine *uc, uint64_t offset, unsigned size, uint64_t value, void *arg)
{
	struct machine *m = arg;

	(void)uc;
	if (size != 4 || offset % 4 != 0)
		die("the register bus takes words only");
	say(m, RF_WIRE_WRITE, (uint32_t)offset, (uint32_t)value);
}

static uint64_t own_read(uc_engine *uc, uint64_t offset, unsigned size, void *arg)
{
	(void)uc;
	(void)offset;
	(void)size;
	(void)arg;
	return 0;
}

static void own_write(uc_engine *uc, uint64_t offset, unsigned size, uint64_t value, void *arg)
{
	struct machine *m = arg;

	(void)uc;
	(void)size;
	say(m, RF_WIRE_OWN, (uint32_t)offset, (uint32_t)value);
}

static uint16_t count(const struct machine *m, uint32_t at, uint32_t bytes)
{
	uint16_t n = 0;

	/* The two low bits of an instruction say whether it has two bytes or four. */
	for (uint32_t end = at + bytes; at < end && at < sizeof(m->text); n++)
		at += (m->text[at] & 3u) == 3u ? 4u : 2u;
	return n;
}

static void on_block(uc_engine *uc, uint64_t address, uint32_t size, void *arg)
{
	struct machine *m = arg;
	uint32_t at = (uint32_t)address - RF_CPU_TEXT_BASE;
	struct block *b;

	(void)uc;
	if (at >= RF_CPU_TEXT_BYTES)
		return;
	b = &m->block[at / 2u];
	if (b->bytes != size) {
		b->bytes = (uint16_t)size;
		b->instructions = count(m, at, size);
	}
	m->instructions += b->instructions;
}

static uint32_t le32(const uint8_t *p)
{
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static uint32_t le16(const uint8_t *p)
{
	return (uint32_t)p[1] << 8 | p[0];
}

/* Loads the segments of an ELF file where they are to be stored; returns the entry. */
static uint32_t load(struct machine *m, const char *path)
{
	static uint8_t elf[ELF_MAX];
	FILE *f = fopen(path, "rb");
	size_t len = f ? fread(elf, 1, sizeof(elf), f) : 0;
	uint32_t at, number, step;

	if (f)
		fclose(f);
	if (len < 52 ||
	    memcmp(elf,
		   "\x7f"
		   "ELF\x01\x01",
		   6) != 0 ||
	    le16(elf + 18) != 243)
		die("the image is not a 32-bit ELF file for RISC-V");
	at = le32(elf + 28);
	step = le16(elf + 42);
	number = le16(elf + 44);
	for (uint32_t i = 0; i < number; i++) {
		const uint8_t *p = elf + at + i * step;
		uint32_t offset, to, bytes;

		if (at > len || (uint64_t)at + (uint64_t)(i + 1) * step > len)
			die("the image is cut off");
		offset = le32(p + 4);
		to = le32(p + 12);
		bytes = le32(p + 16);
		if (le32(p) != 1 || bytes == 0)
			continue;
		if (offset > len || bytes > len - offset || to < RF_CPU_TEXT_BASE ||
		    to - RF_CPU_TEXT_BASE > sizeof(m->text) ||
		    bytes > sizeof(m->text) - (to - RF_CPU_TEXT_BASE))
			die("the image does not fit its memory");
		memcpy(m->text + (to - RF_CPU_TEXT_BASE), elf + offset, bytes);
	}
	return le32(elf + 24);
}

static void check(uc_err err, const char *what)
{
	if (err == UC_ERR_OK)
		return;
	fprintf(stderr, "ringfold-rv32: %s: %s\n", what, uc_strerror(err));
	exit(1);
}

static uint32_t open_machine(struct machine *m, const char *path)
{
	uint8_t settings[RF_CPU_SETTINGS_BYTES];
	uint32_t entry = load(m, path);
	uc_hook hook;

	get(settings, sizeof(settings));
	check(uc_open(UC_ARCH_RISCV, UC_MODE_RISCV32, &m->uc), "libunicorn");
	check(uc_mem_map(m->uc, RF_CPU_TEXT_BASE, RF_CPU_TEXT_BYTES, UC_PROT_READ | UC_PROT_EXEC),
	      "text");
	check(uc_mem_map(m->uc, RF_CPU_DATA_BASE, RF_CPU_DATA_BYTES, UC_PROT_READ | UC_PROT_WRITE),
	      "data");
	check(uc_mem_map(m->uc, RF_CPU_SETTINGS_BASE, RF_CPU_SETTINGS_BYTES,
			 UC_PROT_READ | UC_PROT_WRITE),
	      "settings");
	check(uc_mem_write(m->uc, RF_CPU_TEXT_BASE, m->text, sizeof(m->text)), "text");
	check(uc_mem_write(m->uc, RF_CPU_SETTINGS_BASE, settings, sizeof(settings)), "settings");
	check(uc_mmio_map(m->uc, RF_CPU_BUS_BASE, RF_CPU_BUS_BYTES, bus_read, m, bus_write, m),
	      "bus");
	check(uc_mmio_map(m->uc, RF_CPU_OWN_BASE, RF_CPU_OWN_BYTES, own_read, m, own_write, m),
	      "own");
	check(uc_hook_add(m->uc, &hook, UC_HOOK_BLOCK, (void *)(uintptr_t)on_block, m, 1, 0),
	      "hook");
	return entry;
}

static void send_memory(struct machine *m)
{
	uint32_t where[2];
	uint8_t bytes[RF_CPU_DATA_BYTES];

	get(where, sizeof(where));
	if (where[1] > sizeof(bytes) || uc_mem_read(m->uc, where[0], bytes, where[1]) != UC_ERR_OK)
		die("asked for memory that is not there");
	put(bytes, where[1]);
}

int main(int argc, char **argv)
{
	static const struct rf_opt none[] = {{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL}};
	const struct rf_opt_page page = {
		"ringfold rv32 IMAGE.elf",
		"The processor of a simulated box: `ringfold box --firmware rv32` starts it.", NULL,
		none};
	struct machine *m = &machine;
	uint32_t pc;
	int n;

	n = rf_opt_parse(&page, argc, argv);

	if (n == -1)
		return RF_EXIT_GOOD;
	if (n != argc - 1) {
		fprintf(stderr, "usage: %s\n", page.usage);
		return RF_EXIT_USAGE;
	}
	pc = open_machine(m, argv[n]);
	for (;;) {
		uc_err err = uc_emu_start(m->uc, pc, UINT32_MAX, 0, 0);
		uint32_t command, word = 0;

		uc_reg_read(m->uc, UC_RISCV_REG_PC, &pc);
		/* wfi ends the run with the program counter at it or after it. */
		if (err == UC_ERR_OK && pc - RF_CPU_TEXT_BASE < sizeof(m->text) - 4u) {
			word = le32(m->text + (pc - RF_CPU_TEXT_BASE));
			if (word == WFI)
				pc += 4;
		}
		if (err != UC_ERR_OK ||
		    (word != WFI && le32(m->text + (pc - 4u - RF_CPU_TEXT_BASE)) != WFI)) {
			say(m, RF_WIRE_FAULT, (uint32_t)err, pc);
			flush(m);
			return 1;
		}
		command = ask(m, RF_WIRE_WAIT, 0);
		while (command == RF_WIRE_MEMORY) {
			send_memory(m);
			get(&command, sizeof(command));
		}
		if (command != RF_WIRE_RUN)
			return 0;
	}
}
