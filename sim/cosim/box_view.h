// What --wave writes beside a waveform: FILE.gtkw, the view box.gtkw opened at the first data
// packet, with markers, and FILE.names/, the names that it shows instead of numbers.
#ifndef RF_SIM_COSIM_BOX_VIEW_H
#define RF_SIM_COSIM_BOX_VIEW_H

#include <cerrno>
#include <climits>
#include <csignal>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "rf_regs.h"
#include "sim/cosim/box_gtkw.h"

namespace
{

// Names of the opcodes of RC, 00 on.
constexpr const char *OPCODES[] = {
	"SEND first",       "SEND middle",       "SEND last",
	"SEND last imm",    "SEND only",         "SEND only imm",
	"WRITE first",      "WRITE middle",      "WRITE last",
	"WRITE last imm",   "WRITE only",        "WRITE only imm",
	"READ request",     "READ answer first", "READ answer middle",
	"READ answer last", "READ answer",       "ACK",
	"atomic ACK",       "compare and swap",  "fetch and add",
	"reserved",         "SEND last inv",     "SEND only inv",
};
constexpr const char *CLASSES[] = {"drop", "punt", "RoCE"};

// The writer of FST maps its files into memory: where the disk has no room for a page, the process
// gets SIGBUS. There is nothing to go on with then.
char wave_path[PATH_MAX], wave_partial[PATH_MAX + 16], wave_names[PATH_MAX + 16];

void on_bus_error(int)
{
	static const char before[] = "the waveform ",
			  after[] = " is not complete: no room on the disk\n";
	ssize_t unused = 0;

	rename(wave_path, wave_partial);
	unlink(wave_names);
	unused += write(STDERR_FILENO, before, sizeof(before) - 1);
	unused += write(STDERR_FILENO, wave_path, strlen(wave_path));
	unused += write(STDERR_FILENO, after, sizeof(after) - 1);
	(void)unused;
	_exit(1);
}

void report_bus_errors(const char *path)
{
	struct sigaction act = {};

	snprintf(wave_path, sizeof(wave_path), "%s", path);
	snprintf(wave_partial, sizeof(wave_partial), "%s.partial", path);
	snprintf(wave_names, sizeof(wave_names), "%s.hier", path);
	act.sa_handler = on_bus_error;
	sigaction(SIGBUS, &act, nullptr);
}

class BoxView
{
      public:
	void frame_in(const uint8_t *f, size_t len, uint64_t ps)
	{
		if (!in_)
			in_ = ps;
		if (!data_in_ && is_data(f, len))
			data_in_ = ps;
	}

	void frame_out(const uint8_t *f, size_t len, uint64_t first_ps, uint64_t ps)
	{
		if (data_in_ && !data_out_ && is_data(f, len))
			data_out_ = first_ps;
		last_ = ps;
	}

	// Once the waveform is closed. False with errno.
	bool write(const char *wave, unsigned ports, unsigned lanes, unsigned groups) const
	{
		char whole[PATH_MAX];

		// GTKWave looks for names from where it was started.
		if (!realpath(wave, whole))
			return false;
		const std::string names = std::string(whole) + ".names";
		if (mkdir(names.c_str(), 0777) != 0 && errno != EEXIST)
			return false;
		return put(names + "/opcode", opcodes()) && put(names + "/class", classes()) &&
		       put(names + "/cause", causes()) &&
		       put(names + "/register", registers(ports, lanes, groups)) &&
		       put(std::string(whole) + ".gtkw", view(whole, names));
	}

      private:
	uint64_t in_ = 0, data_in_ = 0, data_out_ = 0, last_ = 0; // ps; 0: not yet

	// RoCE with data: UDP to port 4791, an opcode of RC below READ, and no control message.
	static bool is_data(const uint8_t *f, size_t len)
	{
		const size_t l2 = len > 16 && f[12] == 0x81 && f[13] == 0 ? 18 : 14;

		return len >= l2 + 44 && f[l2 - 2] == 8 && f[l2 - 1] == 0 && f[l2] == 0x45 &&
		       f[l2 + 9] == 17 && f[l2 + 22] == 4791 >> 8 && f[l2 + 23] == (4791 & 255) &&
		       memcmp(f + l2 + 28, "RFCT", 4) != 0 && f[l2 + 28] < 12;
	}

	static std::string line(const char *format, ...) __attribute__((format(printf, 1, 2)))
	{
		char text[512];
		va_list args;

		va_start(args, format);
		vsnprintf(text, sizeof(text), format, args);
		va_end(args);
		return text;
	}

	// Under another name until it is whole.
	static bool put(const std::string &path, const std::string &text)
	{
		const std::string part = path + ".partial";
		FILE *f = fopen(part.c_str(), "w");

		if (!f)
			return false;
		fputs(text.c_str(), f);
		const bool bad = ferror(f) != 0;
		if (fclose(f) == 0 && !bad && rename(part.c_str(), path.c_str()) == 0)
			return true;
		const int why = errno;
		remove(part.c_str());
		errno = why;
		return false;
	}

	static std::string opcodes()
	{
		std::string s;

		for (unsigned i = 0; i < sizeof(OPCODES) / sizeof(OPCODES[0]); i++)
			s += line("%02X %s\n", i, OPCODES[i]);
		return s + "81 CNP\n";
	}

	static std::string classes()
	{
		std::string s;

		for (unsigned i = 0; i < sizeof(CLASSES) / sizeof(CLASSES[0]); i++)
			s += line("%X %s\n", i, CLASSES[i]);
		return s;
	}

	static std::string causes()
	{
		std::string s;
		unsigned i = 0;

#define RF_VIEW_CAUSE(name, text) s += line("%02X %s\n", i++, #name);
		RF_COUNTERS(RF_VIEW_CAUSE)
#undef RF_VIEW_CAUSE
		return s;
	}

	static std::string registers(unsigned ports, unsigned lanes, unsigned groups)
	{
		std::string s;
		const auto one = [&](const char *block, unsigned base, unsigned count,
				     unsigned stride, const char *name, unsigned offset) {
			const bool conn = strcmp(block, "CONN") == 0;

			for (unsigned i = 0; i < count; i++) {
				const unsigned group = i >> 7, lane = i >> 3 & 15, port = i & 7;
				const std::string where = count == 1 ? std::string()
							  : conn ? line("group %u lane %u port %u ",
									group, lane, port)
								 : line("%s %u ", block, i);

				if (conn ? group < groups && lane < lanes && port < ports
					 : count == 1 || i < (strcmp(block, "PORT") == 0 ? ports
											 : groups))
					s += line("%06X %s%s\n", base + i * stride + offset,
						  where.c_str(), name);
			}
		};

#define RF_VIEW_REGISTER(block, base, count, stride, name, offset)                                 \
	one(#block, base, count, stride, #name, offset);
		RF_REGISTERS(RF_VIEW_REGISTER)
#undef RF_VIEW_REGISTER
		for (unsigned i = 0; i < RF_PUNT_DATA_BYTES; i += 4)
			s += line("%06X punt data %u\n%06X inject data %u\n", RF_PUNT_DATA + i, i,
				  RF_INJECT_DATA + i, i);
		for (unsigned p = 0; p < ports; p++) {
			unsigned at = RF_PORT_BASE + p * RF_PORT_STRIDE;
#define RF_VIEW_COUNTER(name, text) s += line("%06X port %u %s\n", at, p, #name), at += 4;
			RF_COUNTERS(RF_VIEW_COUNTER)
#undef RF_VIEW_COUNTER
		}
		return s;
	}

	static std::string marker(uint64_t ps)
	{
		return ps ? line(" %" PRIu64, ps) : std::string(" -1");
	}

	std::string view(const char *wave, const std::string &names) const
	{
		const uint64_t at = data_in_ ? data_in_ : in_;
		// From the first data packet to the first sum in half of the window, of 1340
		// pixels.
		const uint64_t span = data_out_ ? 2 * (data_out_ - at) : 800000;
		const double zoom = -std::log2(static_cast<double>(span) * 200 / 1340);
		std::string s =
			line("[timestart] %" PRIu64 "\n", at > span / 20 ? at - span / 20 : 0);

		s = std::string("[dumpfile] \"") + wave + "\"\n" + s;
		// The primary marker, then A to Z.
		s += line("*%.6f", zoom) + marker(at) + marker(in_) + marker(data_in_) +
		     marker(data_out_) + marker(last_);
		for (char c = 'E'; c <= 'Z'; c++)
			s += " -1";
		s += "\n[markername] Afirst frame in\n[markername] Bfirst data in\n"
		     "[markername] Cfirst data out\n[markername] Dlast frame out\n";
		for (const char *p = rf_box_gtkw, *end; *p; p = end + 1) {
			end = strchr(p, '\n');
			const std::string l(p, end);

			// ^1 NAME: the file that names the values of the next signal.
			s += l.compare(0, 3, "^1 ") == 0 ? "^1 " + names + "/" + l.substr(3) : l;
			s += '\n';
		}
		return s;
	}
};

} // namespace

#endif
