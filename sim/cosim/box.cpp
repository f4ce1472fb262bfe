// The Verilated rf_core as an engine (sim/engine.h). One shared object for each shape: the build
// defines RF_BOX_PORTS, RF_BOX_LANES, RF_BOX_WIDTH, RF_BOX_BANK_LOG2, RF_BOX_HDR_LOG2,
// RF_BOX_GROUPS, RF_BOX_HASH_BITS, and
// RF_BOX_TRACE if it must write waveforms.
//
// A cycle: the outputs since the last rising edge are sampled, the inputs of this cycle are set,
// then the edge follows. So a beat moves in the cycle in which valid and ready are both high
// before its edge.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "Vbox.h"
#include "Vbox___024root.h"
#include "verilated.h"
#ifdef RF_BOX_TRACE
#include "sim/cosim/box_view.h"
#include "verilated_fst_c.h"
#endif

extern "C" {
#include "rf_regs.h"
#include "sim/engine.h"
}

namespace
{

constexpr unsigned PORTS = RF_BOX_PORTS;
constexpr size_t BEAT = RF_BOX_WIDTH / 8;
constexpr unsigned QUEUE = 64;
constexpr unsigned BUS_BOUND = 4096; // longest register access in cycles
constexpr unsigned CALM = 16;        // idle cycles after which the clock may stop
constexpr unsigned RESET_CYCLES = 20;
constexpr unsigned GROUPS = RF_BOX_GROUPS;
constexpr unsigned MOVE_CALM = 64;        // cycles until the last register write has taken effect
constexpr unsigned START_BOUND = 1 << 18; // cycles after reset until the core must be idle
constexpr uint64_t PS_PER_CYCLE = 4000;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ports of the model are copied as bytes");

struct Frame {
	std::vector<uint8_t> data;
	size_t at = 0;
	bool bad;
};

struct Port {
	std::deque<Frame> in;
	std::vector<uint8_t> out;
	bool begun = false;
	uint64_t first = 0;
};

// Byte k of a port of the model: Verilator keeps them as little-endian words.
template <typename T> uint8_t *bytes(T &port)
{
	return reinterpret_cast<uint8_t *>(&port);
}

} // namespace

struct rf_engine {
	rf_engine_host host;
	std::unique_ptr<VerilatedContext> context;
	std::unique_ptr<Vbox> top;
#ifdef RF_BOX_TRACE
	std::unique_ptr<VerilatedFstC> trace;
	std::string wave; // its file
	BoxView view;
#endif
	Port port[PORTS];
	unsigned queued = 0; // frames in all input queues
	uint64_t cycle = 0;
	uint64_t jumped = 0;
	uint64_t evaluated = 0;
	uint32_t cycle_high = 0; // latched by the last read of CYCLE_LO
	unsigned begun = 0;      // frames whose first beat has left and whose last beat has not
	unsigned calm = 0;       // cycles for which the core has reported idle
	bool driven = false;     // a beat came in with the last edge
	bool came_out = false;   // a frame left
	bool up = false;         // the clock has started to count

	~rf_engine()
	{
#ifdef RF_BOX_TRACE
		if (trace) {
			trace->close();
			if (!view.write(wave.c_str(), PORTS, RF_BOX_LANES, GROUPS))
				fprintf(stderr, "box: cannot write the view %s.gtkw: %s\n",
					wave.c_str(), strerror(errno));
		}
#endif
		if (top)
			top->final();
	}

	// In a waveform, in ps. Time advances during reset too, although the cycle counter does
	// not.
	uint64_t now_ps() const
	{
		return (evaluated + jumped) * PS_PER_CYCLE;
	}

	void dump(unsigned half)
	{
#ifdef RF_BOX_TRACE
		if (trace)
			trace->dump(now_ps() + half * (PS_PER_CYCLE / 2));
#else
		(void)half;
#endif
	}

	void drive()
	{
		uint32_t valid = 0;
		uint32_t last = 0;
		uint32_t user = 0;

		if (queued != 0) {
			for (unsigned p = 0; p < PORTS; p++) {
				if (port[p].in.empty())
					continue;
				Frame &f = port[p].in.front();
				uint8_t *data = bytes(top->s_axis_tdata) + p * BEAT;
				uint8_t *keep = bytes(top->s_axis_tkeep) + p * (BEAT / 8);
				size_t n = f.data.size() - f.at;

#ifdef RF_BOX_TRACE
				if (f.at == 0)
					view.frame_in(f.data.data(), f.data.size(), now_ps());
#endif
				valid |= 1u << p;
				if (n > BEAT) {
					memcpy(data, f.data.data() + f.at, BEAT);
					memset(keep, 0xff, BEAT / 8);
					f.at += BEAT;
					continue;
				}
				memcpy(data, f.data.data() + f.at, n);
				memset(data + n, 0, BEAT - n);
				memset(keep, 0, BEAT / 8);
				memset(keep, 0xff, n / 8);
				if (n % 8)
					keep[n / 8] = static_cast<uint8_t>((1u << (n % 8)) - 1);
				last |= 1u << p;
				user |= static_cast<uint32_t>(f.bad) << p;
				port[p].in.pop_front();
				queued--;
			}
		}
		top->s_axis_tvalid = static_cast<uint8_t>(valid);
		top->s_axis_tlast = static_cast<uint8_t>(last);
		top->s_axis_tuser = static_cast<uint8_t>(user);
		driven = valid != 0;
	}

	void take(unsigned p)
	{
		Port &o = port[p];
		const uint8_t *data = bytes(top->m_axis_tdata) + p * BEAT;
		const uint8_t *keep = bytes(top->m_axis_tkeep) + p * (BEAT / 8);
		bool last = top->m_axis_tlast >> p & 1;
		size_t n = BEAT;

		if (!o.begun) {
			o.begun = true;
			begun++;
			o.first = cycle;
			o.out.clear();
		}
		if (last) {
			n = 0;
			for (size_t i = 0; i < BEAT / 8; i++)
				n += static_cast<size_t>(__builtin_popcount(keep[i]));
		}
		o.out.insert(o.out.end(), data, data + n);
		if (!last)
			return;
		o.begun = false;
		begun--;
		came_out = true;
#ifdef RF_BOX_TRACE
		view.frame_out(o.out.data(), o.out.size(),
			       now_ps() - (cycle - o.first) * PS_PER_CYCLE, now_ps());
#endif
		// Cut short: the MAC spoils its FCS, and the next one drops it.
		if (top->m_axis_tuser >> p & 1)
			return;
		host.tx(host.arg, p, o.out.data(), o.out.size(), o.first, cycle);
	}

	void collect()
	{
		uint32_t valid = top->m_axis_tvalid;
		uint32_t ready = (1u << PORTS) - 1;

		if (valid != 0 && host.tx_ready)
			for (unsigned p = 0; p < PORTS; p++)
				if ((valid >> p & 1) && !host.tx_ready(host.arg, p, cycle))
					ready &= ~(1u << p);
		top->m_axis_tready = static_cast<uint8_t>(ready);
		valid &= ready;
		for (unsigned p = 0; valid != 0; p++, valid >>= 1)
			if (valid & 1)
				take(p);
	}

	void edge()
	{
		top->clk = 1;
		top->eval();
		dump(0);
		top->clk = 0;
		top->eval();
		dump(1);
		evaluated++;
		if (up)
			cycle++;
	}

	void step()
	{
		collect();
		drive();
		edge();
		if (queued != 0 || driven || begun != 0 || !top->idle)
			calm = 0;
		else if (calm < CALM)
			calm++;
	}

	// After the last event some registers still return to their idle value.
	bool busy() const
	{
		return calm < CALM;
	}

	[[noreturn]] void bus_hangs(const char *what, uint32_t addr)
	{
		fprintf(stderr,
			"box: %s of register 0x%06" PRIx32 " has not ended after %u cycles\n", what,
			addr, BUS_BOUND);
		abort();
	}

	uint32_t read(uint32_t addr)
	{
		bool asked = false;

		top->s_axil_araddr = addr & 0xffffff;
		top->s_axil_arvalid = 1;
		top->s_axil_rready = 1;
		for (unsigned i = 0; i < BUS_BOUND; i++) {
			bool arready = top->s_axil_arready;
			bool answered = top->s_axil_rvalid;
			uint32_t value = top->s_axil_rdata;

			step();
			if (!asked && arready) {
				asked = true;
				top->s_axil_arvalid = 0;
			}
			if (answered) {
				top->s_axil_rready = 0;
				return value;
			}
		}
		bus_hangs("a read", addr);
	}

	void write(uint32_t addr, uint32_t value)
	{
		top->s_axil_awaddr = addr & 0xffffff;
		top->s_axil_awvalid = 1;
		top->s_axil_wdata = value;
		top->s_axil_wstrb = 0xf;
		top->s_axil_wvalid = 1;
		top->s_axil_bready = 1;
		for (unsigned i = 0; i < BUS_BOUND; i++) {
			bool awready = top->s_axil_awready;
			bool wready = top->s_axil_wready;
			bool answered = top->s_axil_bvalid;

			step();
			if (awready)
				top->s_axil_awvalid = 0;
			if (wready)
				top->s_axil_wvalid = 0;
			if (answered) {
				top->s_axil_bready = 0;
				return;
			}
		}
		bus_hangs("a write", addr);
	}

	// The core's own counter does not include the skipped cycles.
	uint32_t read_cycle_low()
	{
		uint64_t low = read(RF_CYCLE_LO);
		uint64_t high = read(RF_CYCLE_HI);
		uint64_t now = (high << 32 | low) + jumped;

		cycle_high = static_cast<uint32_t>(now >> 32);
		return static_cast<uint32_t>(now);
	}
};

namespace
{

void shape(rf_engine_cfg *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->ports = PORTS;
	cfg->lanes = RF_BOX_LANES;
	cfg->width = RF_BOX_WIDTH;
	cfg->groups = GROUPS;
	cfg->mtu_max = 4096;
	cfg->bank_log2 = RF_BOX_BANK_LOG2;
	cfg->hdr_log2 = RF_BOX_HDR_LOG2;
	cfg->hash_bits = RF_BOX_HASH_BITS;
	cfg->clock_khz = 250000;
}

bool fits(const rf_engine_cfg *cfg, char *why, size_t room)
{
	rf_engine_cfg s;
	struct {
		const char *name;
		unsigned want;
		unsigned have;
	} const all[] = {
		{"ports", cfg->ports, (shape(&s), s.ports)},
		{"lanes", cfg->lanes, s.lanes},
		{"width", cfg->width, s.width},
		{"groups", cfg->groups, s.groups},
		{"mtu_max", cfg->mtu_max, s.mtu_max},
		{"bank_log2", cfg->bank_log2, s.bank_log2},
		{"hdr_log2", cfg->hdr_log2, s.hdr_log2},
		{"hash_bits", cfg->hash_bits, s.hash_bits},
		{"clock_khz", cfg->clock_khz, s.clock_khz},
	};

	for (const auto &x : all) {
		if (x.want == x.have)
			continue;
		snprintf(why, room, "this box was built with %s = %u, not %u", x.name, x.have,
			 x.want);
		return false;
	}
	return true;
}

bool start_trace(rf_engine *e, const char *path, char *why, size_t room)
{
#ifdef RF_BOX_TRACE
	struct stat st;

	// The writer of FST would remove whatever else has this name.
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		snprintf(why, room, "cannot write %s: not a regular file", path);
		return false;
	}
	e->trace.reset(new VerilatedFstC);
	e->top->trace(e->trace.get(), 99);
	e->trace->open(path);
	e->wave = path;
	report_bus_errors(path);
	if (e->trace->isOpen())
		return true;
	snprintf(why, room, "cannot write %s: %s", path, strerror(errno));
#else
	(void)e;
	(void)path;
	snprintf(why, room,
		 "this object was built without waveforms: take the one that ends in -trace.so");
#endif
	return false;
}

rf_engine *create(const rf_engine_cfg *cfg, const rf_engine_host *host, char *why, size_t room)
{
	if (!fits(cfg, why, room))
		return nullptr;
	std::unique_ptr<rf_engine> e(new rf_engine);
	e->host = *host;
	e->context.reset(new VerilatedContext);
	// State that reset does not set starts with random bits.
	e->context->randReset(2);
	e->context->randSeed(static_cast<int>(cfg->seed % 0x7fffffff) + 1);
#ifdef RF_BOX_TRACE
	e->context->traceEverOn(true);
#endif
	e->top.reset(new Vbox(e->context.get(), "rf_core"));
	if (cfg->waveform && !start_trace(e.get(), cfg->waveform, why, room))
		return nullptr;
	e->top->clk = 0;
	e->top->rst = 1;
	e->top->s_axis_tvalid = 0;
	e->top->s_axil_awvalid = 0;
	e->top->s_axil_wvalid = 0;
	e->top->s_axil_arvalid = 0;
	e->top->s_axil_bready = 0;
	e->top->s_axil_rready = 0;
	e->top->m_axis_tready = (1u << PORTS) - 1;
	e->top->eval();
	for (unsigned i = 0; i < RESET_CYCLES; i++)
		e->edge();
	e->top->rst = 0;
	e->up = true;
	for (unsigned i = 0; i < 8; i++)
		e->step();
	for (unsigned i = 0; e->busy(); i++) {
		if (i == START_BOUND) {
			snprintf(why, room, "the core is not idle %u cycles after its reset",
				 START_BOUND);
			return nullptr;
		}
		e->step();
	}
	return e.release();
}

void destroy(rf_engine *e)
{
	delete e;
}

bool rx(rf_engine *e, unsigned port, const uint8_t *frame, size_t len, bool bad)
{
	if (port >= PORTS || e->port[port].in.size() >= QUEUE || len == 0 ||
	    len > RF_ENGINE_FRAME_MAX)
		return false;
	Frame f;
	f.data.assign(frame, frame + len);
	f.bad = bad;
	e->port[port].in.push_back(std::move(f));
	e->queued++;
	e->calm = 0;
	return true;
}

unsigned rx_queued(const rf_engine *e, unsigned port)
{
	return port < PORTS ? static_cast<unsigned>(e->port[port].in.size()) : 0;
}

void run(rf_engine *e, uint64_t until)
{
	bool irq = e->top->irq;

	e->came_out = false;
	while (e->cycle < until) {
		e->step();
		if (e->came_out || (e->top->irq && !irq))
			return;
		irq = e->top->irq;
	}
}

uint64_t cycle(const rf_engine *e)
{
	return e->cycle;
}

uint64_t next_event(const rf_engine *e)
{
	return e->busy() ? e->cycle : RF_ENGINE_NEVER;
}

void jump(rf_engine *e, uint64_t to)
{
	if (to <= e->cycle || e->busy())
		return;
	e->jumped += to - e->cycle;
	e->cycle = to;
}

bool irq(const rf_engine *e)
{
	return e->top->irq;
}

uint32_t reg_read(rf_engine *e, uint32_t addr)
{
	if (addr == RF_CYCLE_LO)
		return e->read_cycle_low();
	if (addr == RF_CYCLE_HI)
		return e->cycle_high;
	return e->read(addr);
}

void reg_write(rf_engine *e, uint32_t addr, uint32_t value)
{
	e->write(addr, value);
}

uint64_t evaluated(const rf_engine *e)
{
	return e->evaluated;
}

// The memories that hold indexes: box.sh finds their names. Addresses of connections are
// {group, lane}, those of groups the group.
// The word of a memory whose bit `parity` is even parity over the bits below it; 0: no parity.
uint32_t word(uint32_t value, unsigned parity)
{
	return parity == 0 ? value
			   : value | static_cast<uint32_t>(__builtin_parity(value)) << parity;
}

template <typename M> void move_conns(M &memory, unsigned group, uint32_t value)
{
	unsigned size = sizeof(memory.m_storage) / sizeof(memory.m_storage[0]);
	unsigned lanes = size / GROUPS;

	for (unsigned l = 0; l < lanes; l++)
		memory[group * lanes + l] = static_cast<decltype(+memory[0])>(value);
}

template <typename M> void move_group(M &memory, unsigned group, uint32_t value)
{
	memory[group] = value;
}

bool move(rf_engine *e, unsigned group, uint32_t index)
{
	Vbox___024root *r = e->top->rootp;
	uint32_t size = e->read(RF_GROUP_BASE + group * RF_GROUP_STRIDE + RF_GROUP_CFG) >>
			RF_GROUP_CFG_S_LOG2_LSB;

	if (group >= GROUPS)
		return false;
	// The firmware's last write has taken effect.
	for (unsigned i = 0; i < MOVE_CALM; i++)
		e->step();
	index &= 0xffffff;
#define RF_MOVE_CONN(name, parity) move_conns(r->name, group, word(index, parity));
#define RF_MOVE_BEFORE(name, parity)                                                               \
	move_conns(r->name, group, word((index - 1) & 0xffffff, parity));
#define RF_MOVE_FAR(name, parity) move_conns(r->name, group, word(index >= 0x400000, parity));
#define RF_MOVE_GROUP(name, parity) move_group(r->name, group, word(index, parity));
#define RF_MOVE_LIMIT(name, parity)                                                                \
	move_group(r->name, group, word((index + (1u << size)) & 0xffffff, parity));
#include "box_move.inc"
	for (unsigned i = 0; i < MOVE_CALM; i++)
		e->step();
	return true;
}

// The core is idle when all its queues are empty and all credits are back.
const char *leak(const rf_engine *e)
{
	if (e->queued != 0 || e->begun != 0)
		return "a frame has stayed in a port of the box";
	if (e->busy())
		return "the box has not come to rest: a queue is not empty or a credit is not back";
	return nullptr;
}

const rf_engine_ops ops = {
	RF_ENGINE_ABI, "rtl", shape, create,   destroy,   rx,        rx_queued, run,  cycle,
	next_event,    jump,  irq,   reg_read, reg_write, evaluated, move,      leak,
};

} // namespace

extern "C" __attribute__((visibility("default"))) const rf_engine_ops *rf_rtl_engine(void)
{
	return &ops;
}
