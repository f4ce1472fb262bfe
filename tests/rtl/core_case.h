// A small box for the single cases: frame in, counters and frames out.
#ifndef CORE_CASE_H
#define CORE_CASE_H

#include "tests/rtl/core_ref.h"
#include "tests/rtl/core_tests.h"

static const uint64_t MAC = 0x02005e000000;
static const unsigned LAST = PORTS - 1;

static inline const char *counter_name(unsigned c)
{
#define NAME(name, text) #name,
	static const char *const names[] = {RF_COUNTERS(NAME)};
#undef NAME
	return names[c];
}

// A box with one group over all ports and one lane, int32, MTU 256, 16 slots.
class Case
{
      public:
	Box box;
	Group g;
	std::vector<bool> seen = std::vector<bool>(RF_CNT_COUNT);
	uint32_t seed;

	// NAKS: a group for which the box may make NAKs; SELECTIVE: one that also takes packets in
	// any order.
	enum Kind { SILENT, NAKS, SELECTIVE, OPEN };

	explicit Case(uint32_t s, unsigned dtype = INT32, Kind kind = SILENT,
		      uint32_t shift = 0x400000)
	    : box(s), seed(s)
	{
		setup(box, MAC);
		g.dtype = dtype;
		g.mtu_log2 = 8;
		g.s_log2 = 4;
		g.open = kind == OPEN;
		g.transparent = kind == SILENT;
		g.selective = kind == SELECTIVE;
		g.full(1, 0, PORTS, shift, s);
		g.live(box);
	}
	Rank &rank(unsigned p)
	{
		return g.ranks[p];
	}

	std::vector<uint32_t> counters()
	{
		std::vector<uint32_t> v;
		for (unsigned p = 0; p < PORTS; p++)
			for (unsigned c = 0; c < RF_CNT_COUNT; c++)
				v.push_back(box.count(p, c));
		return v;
	}

	// Sends a frame into a port: exactly these counters of this port increase, by one, and no
	// others.
	void want(unsigned p, const Bytes &b, std::vector<unsigned> causes, const char *what,
		  bool bad = false)
	{
		std::vector<uint32_t> before_ = counters();
		box.send(p, b, bad);
		box.settle();
		causes.push_back(RF_CNT_RX_FRAMES);
		check(before_, p, causes, what);
	}

	void check(const std::vector<uint32_t> &before_, unsigned p,
		   const std::vector<unsigned> &causes, const char *what)
	{
		std::vector<uint32_t> now = counters();
		for (unsigned c : causes)
			seen[c] = true;
		for (unsigned q = 0; q < PORTS; q++)
			for (unsigned c = 0; c < RF_CNT_COUNT; c++) {
				uint32_t due = 0;
				for (unsigned k : causes)
					due += q == p && c == k;
				uint32_t is =
					now[q * RF_CNT_COUNT + c] - before_[q * RF_CNT_COUNT + c];
				if (is != due)
					die("%s: %s of port %u rose by %u instead of %u", what,
					    counter_name(c), q, is, due);
			}
	}

	Bytes data(unsigned p, uint32_t i, unsigned bytes = 256, uint8_t opcode = 4)
	{
		return rank(p).data(i, payload_of(g, seed, p, i, bytes), opcode).frame();
	}

	// Index i from all ranks: one result per port, with the expected contents.
	void round(uint32_t i, unsigned bytes = 256, uint8_t opcode = 4)
	{
		std::vector<uint32_t> before_ = counters();
		for (unsigned p = 0; p < PORTS; p++)
			box.tx[p].clear();
		for (unsigned p = 0; p < PORTS; p++)
			box.send(p, data(p, i, bytes, opcode));
		box.settle();
		for (unsigned p = 0; p < PORTS; p++) {
			if (box.tx[p].size() != 1)
				die("index %u: %zu frames on port %u", i, box.tx[p].size(), p);
			const Bytes &is = box.tx[p][0].b, want_ = result(p, i, bytes, opcode);
			for (size_t k = 0; k < is.size() && k < want_.size(); k++)
				if (is[k] != want_[k])
					die("index %u: port %u: byte %zu of the result is %02x "
					    "instead of %02x",
					    i, p, k, is[k], want_[k]);
			if (is.size() != want_.size())
				die("index %u: port %u: %zu bytes instead of %zu", i, p, is.size(),
				    want_.size());
		}
	}

	Bytes result(unsigned p, uint32_t i, unsigned bytes = 256, uint8_t opcode = 4,
		     bool repeat = false)
	{
		Roce r = rank(p).data(i, expected(g, seed, i, bytes), opcode);
		r.smac = MAC + p;
		r.psn -= rank(p).shift;
		r.ackreq = repeat || i % 2 == 0;
		return r.frame();
	}

	void frame_is(unsigned p, const Bytes &b, const char *what)
	{
		if (box.tx[p].size() != 1 || box.tx[p][0].b != b)
			die("%s: %s frame on port %u", what, box.tx[p].empty() ? "no" : "wrong", p);
		box.tx[p].clear();
	}

	void conn_is(unsigned p, uint32_t offset, uint32_t value, const char *what)
	{
		uint32_t is = box.rd(Group::conn(rank(p), offset));
		if (is != value)
			die("%s: %u instead of %u", what, is, value);
	}

	void group_is(uint32_t offset, uint32_t value, const char *what)
	{
		uint32_t is = box.rd(g.reg(offset));
		if (is != value)
			die("%s: %08x instead of %08x", what, is, value);
	}

	void error_is(unsigned cause, unsigned port, uint32_t index, const char *what)
	{
		group_is(RF_GROUP_ERROR, 1u << 31 | cause << 16 | port, what);
		group_is(RF_GROUP_ERROR_INDEX, index & 0xffffff, what);
		if (!(box.rd(RF_IRQ) & 2) || !box.top->irq)
			die("%s: no interrupt", what);
	}

	void clear_error()
	{
		box.wr(g.reg(RF_GROUP_ERROR), 1u << 31);
	}
};

#endif
