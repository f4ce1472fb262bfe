# Self-checking benches of single modules (docs/verification.md): small parameters, a reference of their own, seeded.

# $(call unit,NAME,VERILOG,PARAMETERS[,VARIANT]): bench tests/rtl/unit_NAME.cpp of rf_NAME; PARAMETERS as A=1 B=2, for both.
# Every bench also runs with each of its checks inverted (--flip).
define unit
$(call vl_bench,unit-$(1)$(4),rf_$(1),$(UNIT_LIB) $(2),tests/rtl/unit_$(1).cpp,-DRF_CHECK $(addprefix -G,$(3)) -CFLAGS "-O1 $(addprefix -D,$(3))",--flip)
$(BUILD)/vl/unit-$(1)$(4)/Vrf_$(1): tests/rtl/unit.h tests/rtl/net_ref.h
GATE_BENCHES += $(subst $(space),$(comma),$(strip $(1)$(4) $(3)))
endef

UNIT_LIB := $(addprefix rtl/lib/,rf_ram_lut.v rf_ram_sdp.v rf_fifo.v rf_delay.v rf_rr_arb.v rf_parity.v rf_ram_parity.v rf_fifo_parity.v rf_delay_parity.v)
UNIT_CTL := rtl/control/rf_
UNIT_RED := rtl/reduce/rf_
UNIT_MANY := $(UNIT_RED)ram_many.v $(UNIT_RED)many_parity.v

$(eval $(call unit,ram_many,$(UNIT_RED)ram_many.v,AW=4 READS=3))
# Memories with parity: their benches flip bits in them. $(call unit_flip,NAME,VERILOG,PARAMETERS)
define unit_flip
$(call vl_bench,unit-$(1),rf_$(1),$(UNIT_LIB) $(2),tests/rtl/unit_$(1).cpp,tests/rtl/core_flip.vlt $(addprefix -G,$(3)) -CFLAGS "-O1 $(addprefix -D,$(3))",--flip)
$(BUILD)/vl/unit-$(1)/Vrf_$(1): tests/rtl/unit.h tests/rtl/net_ref.h tests/rtl/core_flip.vlt
GATE_BENCHES += $(subst $(space),$(comma),$(strip $(1) $(3)))
endef
$(eval $(call unit_flip,ram_parity,,WIDTH=40 DEPTH=16 PART=16))
$(eval $(call unit_flip,fifo_parity,,WIDTH=20 DEPTH=8))
$(eval $(call unit_flip,delay_parity,,WIDTH=20 N=5 PART=16))
$(eval $(call unit_flip,many_parity,$(UNIT_MANY),WIDTH=12 AW=3 READS=2))
$(eval $(call unit,seen,$(UNIT_RED)seen.v,CW=4))
$(eval $(call unit,marks,$(UNIT_RED)marks.v,PORTS=3 LANES=2 GROUPS=3 GW=2 LW=1 PW=2))
$(eval $(call unit_flip,tomb,$(UNIT_RED)ram_many.v $(UNIT_RED)tomb.v,PORT=2 AW=3))
$(eval $(call unit,held,$(UNIT_CTL)held.v,PORTS=3))
$(eval $(call unit,conn_static,$(UNIT_RED)conn_static.v,CW=4))
$(eval $(call unit,conn_mac,$(UNIT_RED)conn_mac.v,AW=4))
$(eval $(call unit,counters,$(UNIT_CTL)counters.v))
$(eval $(call unit,repeatq,$(UNIT_MANY) $(UNIT_RED)repeatq.v,LANES=1 AW=3 DEPTH=16))
$(eval $(call unit,repeatq,$(UNIT_MANY) $(UNIT_RED)repeatq.v,LANES=3 AW=4 DEPTH=16,-3))
$(eval $(call unit,passthru,$(UNIT_RED)passthru.v,BEATS=64 FRAMES=4 WIDTH=64))
$(eval $(call unit,port_tx,$(UNIT_RED)port_tx.v,RESULTS=4 WIDTH=64))
$(eval $(call unit,results,$(UNIT_RED)results_fit.v $(UNIT_RED)results.v,BEATS=32 HDRS=8 CREDIT_W=6 WIDTH=64 DIRECTED=1))
$(eval $(call unit,results,$(UNIT_RED)results_fit.v $(UNIT_RED)results.v,BEATS=32 HDRS=8 CREDIT_W=6 WIDTH=64 DIRECTED=0,-plain))
$(eval $(call unit,bank,$(UNIT_RED)bank.v,LANES=2 BANK_AW=6 HDR_AW=3 COMMANDS=8 WIDTH=64 DIRECTED=1))
$(eval $(call unit,bank,$(UNIT_RED)bank.v,LANES=2 BANK_AW=6 HDR_AW=3 COMMANDS=8 WIDTH=64 DIRECTED=0,-plain))
BANK := $(BUILD)/vl/unit-bank/Vrf_bank
$(eval $(call test,rtl-bank-contract,for v in 1 2 3; do ! $(BANK) --violate $$$$v || exit 1; done,$(BANK)))
$(eval $(call unit,reader,$(UNIT_RED)reader_compare.v $(UNIT_RED)reader.v,PORT=2 PORTS=4 GROUPS=4 GW=2 LW=1 PW=2 BYTES_LOG2=3 BANK_AW=6 HDR_AW=4 CREDIT_W=6 DIRECTED=1))
$(eval $(call unit,reader,$(UNIT_RED)reader_compare.v $(UNIT_RED)reader.v,PORT=2 PORTS=4 GROUPS=4 GW=2 LW=1 PW=2 BYTES_LOG2=3 BANK_AW=6 HDR_AW=4 CREDIT_W=6 DIRECTED=0,-plain))
$(eval $(call unit,group_regs,$(UNIT_CTL)group_errors.v $(UNIT_CTL)group_regs.v,PORTS=4 LANES=5 GROUPS=4 GW=2 LW=3 PW=2 SELECTIVE=1 DIRECTED=1))
$(eval $(call unit,group_regs,$(UNIT_CTL)group_errors.v $(UNIT_CTL)group_regs.v,PORTS=4 LANES=5 GROUPS=4 GW=2 LW=3 PW=2 SELECTIVE=0 DIRECTED=0,-plain))
$(eval $(call unit,regs,$(UNIT_CTL)regs.v $(UNIT_RED)conn_static.v,PORTS=3 LANES=2 WIDTH=128 GROUPS=5 GW=3 LW=1 PW=2 BANK_AW=13 HDR_AW=9 HASH_BITS=8 TYPES=675 CLOCK_KHZ=250000 SELECTIVE=1 LAG=1 MIRROR=1 DIRECTED=1))
$(eval $(call unit,regs,$(UNIT_CTL)regs.v $(UNIT_RED)conn_static.v,PORTS=3 LANES=2 WIDTH=128 GROUPS=5 GW=3 LW=1 PW=2 BANK_AW=13 HDR_AW=9 HASH_BITS=8 TYPES=15 CLOCK_KHZ=250000 SELECTIVE=0 LAG=0 MIRROR=0 DIRECTED=0,-plain))
# All groups that the map of registers has.
$(eval $(call unit,regs,$(UNIT_CTL)regs.v $(UNIT_RED)conn_static.v,PORTS=3 LANES=2 WIDTH=128 GROUPS=64 GW=6 LW=1 PW=2 BANK_AW=14 HDR_AW=10 HASH_BITS=10 TYPES=675 CLOCK_KHZ=250000 SELECTIVE=1 LAG=1 MIRROR=1 DIRECTED=1,-64))
$(eval $(call unit,sched,$(foreach p,_turn _pick _start _flight _fair,$(UNIT_RED)sched$p.v) $(UNIT_RED)sched.v,PORTS=4 LANES=2 GROUPS=4 GW=2 LW=1 PW=2 BYTES_LOG2=3 BANK_AW=10 HDR_AW=6 CREDIT_W=8 QUEUED=7 PASSED_MAX=3))
# Seeds in which a reservation begins just after an entry was chosen: the entry keeps its turn among those of its group.
$(eval $(call test,rtl-unit-sched-turn,for s in 4 5 13; do $(BUILD)/vl/unit-sched/Vrf_sched --seed $$$$s || exit 1; done,$(BUILD)/vl/unit-sched/Vrf_sched))
$(eval $(call unit,judge_form,$(UNIT_RED)judge_form.v,DIRECTED=1))
$(eval $(call unit,judge_form,$(UNIT_RED)judge_form.v,DIRECTED=0,-plain))
$(eval $(call unit,ackq,$(UNIT_RED)ackq.v,CW=6 DEPTH=8))
$(eval $(call unit,lag,$(UNIT_CTL)lag.v,PORTS=3 GROUPS=3 GW=2 LW=1 PW=2))
$(eval $(call unit,ledger_run,$(UNIT_MANY) $(UNIT_RED)ledger_run.v,IDX=8 GROUPS=2 LANES=2 GW=1 LW=1 HDR_AW=5))
$(eval $(call unit,ledger_ack,$(UNIT_RED)ledger_ack.v,IDX=10 PORTS=3 PW=2 AW=2))
$(eval $(call unit,ledger_head,$(UNIT_RED)ledger_head.v,IDX=6 PORTS=3 GROUPS=4 GW=2))
$(eval $(call unit,ledger_tail,$(UNIT_RED)ledger_tail.v,IDX=8 PORTS=3 LANES=3 GROUPS=3 GW=2 LW=2))
$(eval $(call unit,judge_nak,$(UNIT_MANY) $(UNIT_RED)judge_nak.v,GW=2 LW=1 SELECTIVE=1))
$(eval $(call unit,judge_nak,$(UNIT_MANY) $(UNIT_RED)judge_nak.v,GW=2 LW=1 SELECTIVE=0,-plain))
$(eval $(call unit,judge_window,$(UNIT_MANY) $(UNIT_RED)judge_nak.v $(UNIT_RED)judge_window.v,GW=2 LW=1 SELECTIVE=1))
$(eval $(call unit,judge_window,$(UNIT_MANY) $(UNIT_RED)judge_nak.v $(UNIT_RED)judge_window.v,GW=2 LW=1 SELECTIVE=0,-plain))
$(eval $(call unit,judge,$(UNIT_MANY) $(foreach p,_admit _form _nak _window _verdict _effect,$(UNIT_RED)judge$p.v) $(UNIT_RED)judge.v,PORT=1 PORTS=4 LANES=2 GROUPS=4 GW=2 LW=1 PW=2 BYTES_LOG2=3 BANK_AW=10 HDR_AW=6 COMMANDS=8 SELECTIVE=1 DIRECTED=1))
$(eval $(call unit,judge,$(UNIT_MANY) $(foreach p,_admit _form _nak _window _verdict _effect,$(UNIT_RED)judge$p.v) $(UNIT_RED)judge.v,PORT=1 PORTS=4 LANES=2 GROUPS=4 GW=2 LW=1 PW=2 BYTES_LOG2=3 BANK_AW=10 HDR_AW=6 COMMANDS=8 SELECTIVE=0 DIRECTED=0,-plain))
$(eval $(call unit,ledger,$(UNIT_MANY) $(foreach p,run port head tail ack,$(UNIT_RED)ledger_$p.v) $(UNIT_RED)ledger.v,IDX=9 PORTS=3 LANES=2 GROUPS=2 GW=1 LW=1 PW=2 HDR_AW=6 SELECTIVE=1))
$(eval $(call unit,ledger,$(UNIT_MANY) $(foreach p,run port head tail ack,$(UNIT_RED)ledger_$p.v) $(UNIT_RED)ledger.v,IDX=9 PORTS=3 LANES=2 GROUPS=2 GW=1 LW=1 PW=2 HDR_AW=6 SELECTIVE=0,-plain))
$(foreach m,judge judge_form judge_nak judge_window,$(BUILD)/vl/unit-$m/Vrf_$m): tests/rtl/judge_ref.h

# Every module has a correct row in docs/verification.md; a module without one must be detected.
COVERED := $(PYTHON) tests/rtl/covered.py
$(eval $(call test,rtl-covered,$(COVERED) $(BUILD)/tests.list && $(COVERED) --also rtl/lib/rf_none.v $(BUILD)/tests.list | grep -q "rf_none: no row",$(BUILD)/tests.list))

# Mutants of these modules that their benches must kill; takes some minutes.
.PHONY: mutate-unit
mutate-unit: $(GENERATED)
	$(PYTHON) tests/rtl/unit_mutants.py $(BUILD)/mutants/unit
MUTATE_TARGETS += mutate-unit

# The same benches against netlists of the modules, and a small box against its own (GATE_CORE in mk/rtl-core.mk); takes about
# 20 minutes.
.PHONY: gate
gate: $(GENERATED)
	$(PYTHON) tests/rtl/gate.py $(GATE_BENCHES)
