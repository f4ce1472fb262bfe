/*
 * rf_judge_form against lines 20 to 29 and 37 to 43 of docs/box.md and those of mirror connections, written from that page: any
 * mixture of good and bad fields.
 */
#include "Vrf_judge_form.h"
#include "tests/rtl/unit.h"
#include "tests/rtl/judge_ref.h"

using namespace unit;

using namespace judge_ref;

static frame make(rng &r)
{
	static const unsigned opcodes[] = { 0x00, 0x01, 0x02, 0x04, 0x03, 0x05, 0x05, 0x06, 0x07, 0x08, 0x0a, 0x0b, 0x0c, 0x0d, 0x11, 0x11, 0x81 };
	const unsigned good = r.percent(50) ? 97 : 80;
	frame f;

	f.kind = r.percent(good) ? 2 : r.below(2);
	f.cause = r.below(256);
	f.opcode = r.percent(95) ? opcodes[r.below(17)] : r.below(256);
	f.mtu_log2 = 8 + r.below(5);
	f.dtype = r.below(10);
	f.plen = r.percent(60) ? 1 << f.mtu_log2 : r.percent(60) ? 4 * (int)r.below(1025) : (int)r.below(16384) - 8192;
	f.pad = r.percent(60) ? 0 : r.below(4);
	f.udp_len = r.percent(good) ? (f.opcode == 0x81 ? 40 : 28) : r.below(65536);
	f.syndrome = r.below(256);
	f.state = r.percent(good) ? 1 : 1 + r.below(3);
	f.icrc_ok = r.percent(good);
	f.hit = r.percent(good);
	f.foreign = r.percent(100 - good);
	f.good = !f.foreign && r.percent(good);
	f.data_here = r.percent(good);
	f.ack_here = r.percent(good);
	f.live = r.percent(good);
	f.error = !r.percent(good);
	f.enable = r.percent(good);
	f.hold = r.percent(50);
	f.to_port = r.percent(50);
	f.mirror = r.percent(50);
	f.silent = r.percent(20);
	f.directed = DIRECTED && r.percent(50);
	f.op = !DIRECTED || r.percent(90) ? r.below(3) : (unsigned)RF_OP_COPY;
	f.index = r.below(16);
	/* Half of the immediates are right, so that every one of their lines decides alone. */
	if (f.directed && f.opcode == 5 && r.percent(30))
		f.plen = f.pad = 0;
	f.imm = r.percent(good) ? f.index : r.below(16);
	f.imm |= r.percent(good) ? r.below(4) << 4 : r.below(16) << 4;
	f.imm |= (r.percent(good) ? r.below(3) : r.below(16)) << 8 | r.below(4) << 12;
	f.imm |= (r.percent(good) ? f.plen != 0 : r.below(2)) << 14;
	f.imm |= (r.percent(good) && f.opcode == 3 ? 1 : r.below(2)) << 15;
	return f;
}

static void body(bench &b)
{
	auto d = fresh<Vrf_judge_form>(b);
	std::map<unsigned, long> met;
	long none = 0, copies = 0;
	long held = 0, tombs = 0, foreign = 0, ignored = 0;

	for (b.cycle = 0; b.cycle < 200000; b.cycle++) {
		const frame f = make(b.r);
		const verdict v = judge(f);

		d->enable = f.enable;
		d->hold = f.hold;
		d->to_port = f.to_port;
		d->mirror = f.mirror;
		d->silent = f.silent;
		d->class_of = (uint8_t)f.kind;
		d->cause = (uint8_t)f.cause;
		d->opcode = (uint8_t)f.opcode;
		d->pad = (uint8_t)f.pad;
		d->plen = (uint16_t)(f.plen & 0x3fff);
		d->udp_len = (uint16_t)f.udp_len;
		d->syndrome = (uint8_t)f.syndrome;
		d->icrc_ok = f.icrc_ok;
		d->hit = f.hit;
		d->good = f.good;
		d->foreign = f.foreign;
		d->state = (uint8_t)f.state;
		d->data_here = f.data_here;
		d->ack_here = f.ack_here;
		d->live = f.live;
		d->error = f.error;
		d->mtu_log2 = (uint8_t)f.mtu_log2;
		d->dtype = (uint8_t)f.dtype;
		d->directed = f.directed;
		d->cfg_op = (uint8_t)f.op;
		d->imm = (uint16_t)f.imm;
		d->index = (uint8_t)f.index;
		d->eval();
		b.same("act", d->act, v.act);
		if (v.act == DROP || v.act == FORM || v.act == MARK)
			b.same("why", d->why, v.why);
		b.same("fault", d->fault, v.fault);
		b.same("seen", d->seen, v.seen);
		b.same("held", d->held, v.held);
		b.same("tomb", d->tomb, v.tomb);
		held += v.held;
		ignored += v.act == FORM && v.fault == 0;
		foreign += v.act == FOREIGN && f.hit && f.state == RF_STATE_JOINING;
		tombs += v.tomb;
		none += v.act == WINDOW && f.plen == 0;
		copies += v.act == WINDOW && f.pad == 3;
		if (v.act == EVENT) {
			b.same("syn_ack", d->syn_ack, ack_syndrome(f.syndrome));
			b.same("syn_fatal", d->syn_fatal, f.syndrome >= 0x61 && f.syndrome <= 0x63);
		}
		met[f.kind == 0 ? 1000 : v.act == DROP || v.act == FORM ? v.why : 2000 + v.act]++;
	}
	b.met("held frames", held, 1000);
	b.met("foreign entries", foreign, 100);
	b.met("tombstones with a right ICRC", tombs, 200);
	b.met("opcodes that mirror connections ignore", ignored, 500);
	if (DIRECTED) {
		b.met("packets without payload", none, 200);
		b.met("copies with an odd number of bytes", copies, 100);
	}
	b.same("lines met", met.size(), 1 + 12 + 6 + 2 * DIRECTED);
	for (auto &m : met)
		b.good("a line that was hardly met", m.second >= 200);
}

int main(int argc, char **argv)
{
	return run(argc, argv, body);
}
