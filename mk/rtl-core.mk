# The whole box in one Verilator bench: cases by hand, ranks under loss, figures; the proof of the ledger.

CORE_CPP := $(addprefix tests/rtl/,core.cpp core_cases.cpp core_naks.cpp core_down.cpp core_mirror.cpp core_stress.cpp core_speed.cpp)
CORE_V   := $(shell sed 's,//.*,,' rtl/rf.f)

# $(call core_bench,PORTS,LANES,WIDTH,BANK_AW[,VLFLAGS[,TYPES[,SUFFIX]]]): build/vl/core-PxLxWSUFFIX/Vrf_core. TYPES: all if empty.
define core_bench
$(BUILD)/vl/core-$(1)x$(2)x$(3)$(7)/Vrf_core: $(CORE_V) $(CORE_CPP) $(wildcard rtl/*/*.vh tests/rtl/core*.h) $(BUILD)/gen/rf_regs.vh $(BUILD)/gen/rf_regs.h
	@mkdir -p $$(@D)
	@$$(call step,VERILATE,$$@)
	$$(VERILATOR) --cc --exe --build -j 2 -Wall --assert --x-assign unique --x-initial unique $(VL_MAKE) -O3 --output-split 20000 \
	  -CFLAGS "-O1 -I$$(CURDIR) -I$$(CURDIR)/$$(BUILD)/gen -DPORTS=$(1) -DLANES=$(2) -DWIDTH=$(3) -DGROUPS=8 -DMTU_MAX=4096 -DHASH_BITS=8 -DTYPES=$(or $(6),1023) -DBANK_AW=$(4) -DHDR_AW=9 -DSTALL_CYCLES=20000" \
	  -GPORTS=$(1) -GLANES=$(2) -GWIDTH=$(3) -GTYPES=$(or $(6),1023) -GBANK_AW=$(4) -GHDR_AW=9 -GSTALL_CYCLES=20000 -DRF_CRC_TABLE $(5) \
	  -Irtl/net -Irtl/reduce -Irtl/control -I$$(BUILD)/gen --top-module rf_core -Mdir $$(@D) \
	  $(CORE_V) $(addprefix ../../../,$(CORE_CPP)) > $$(@D)/build.log 2>&1 || (cat $$(@D)/build.log; false)
endef

CORE_TEST := $(BUILD)/vl/core-4x2x64/Vrf_core
$(eval $(call core_bench,4,2,64,16,-DRF_CHECK))
$(eval $(call test,rtl-core-cases,$(CORE_TEST) cases,$(CORE_TEST)))
$(eval $(call test,rtl-core-stress,$(CORE_TEST) stress 1 6,$(CORE_TEST)))

# The smallest box with which `stress` can run, against its netlist.
GATE_CORE := core,PORTS=2,LANES=1,WIDTH=64,GROUPS=2,MTU_MAX=256,BANK_AW=11,HDR_AW=6,HASH_BITS=4,TYPES=9,DIRECTED=0,LAG=0,MIRROR=0,PARITY=0,STALL_CYCLES=20000
GATE_BENCHES += $(GATE_CORE)
.PHONY: gate-core
gate-core: $(GENERATED)
	$(PYTHON) tests/rtl/gate.py $(GATE_CORE)

# Figures: every port in and out at once, latency, groups side by side.
$(foreach p,2 4 8,$(eval $(call core_bench,$(p),4,512,15)))
$(foreach p,2 4 8,$(eval $(call bench,core-$(p),$(BUILD)/vl/core-$(p)x4x512/Vrf_core speed $(BENCH_OUT),$(BUILD)/vl/core-$(p)x4x512/Vrf_core)))
# Cost of a simulated cycle, of the box whose size docs/synthesis.md gives: without parity, mirror connections and directed groups.
$(eval $(call core_bench,4,1,512,15,-GPARITY=0 -GMIRROR=0 -GDIRECTED=0,9,-plain))
$(eval $(call bench,core-4-simulation,tests/bench/core_bench.sh $(BUILD)/vl/core-4x1x512-plain/Vrf_core $(BENCH_OUT),$(BUILD)/vl/core-4x1x512-plain/Vrf_core))

.PHONY: formal-ledger
FORMAL_LEDGER := $(addprefix tests/formal/,nak.proof nak_una.proof tomb.proof held.proof ledger.proof ledger_selective.proof ledger_response.proof sched.proof \
  form.proof fit.proof pass_read.proof pass_read_plain.proof pass_reduce.proof)
formal-ledger: $(GENERATED)
	$(PROVE) $(FORMAL_LEDGER)
FORMAL_TARGETS += formal-ledger
FORMAL_PROOFS  += $(FORMAL_LEDGER)
$(foreach p,nak tomb held form fit,$(eval $(call test,formal-$p,$(PYTHON) tests/formal/lib/prove.py tests/formal/$p.proof)))

# Bit flips in its memories: with parity nothing wrong is sent; without parity something is, which shows that the bench detects it,
# for the MACs of mirror ranks too.
# $(call core_flip,PARITY)
define core_flip
$(BUILD)/vl/core-flip-$(1)/Vrf_core: $(CORE_V) tests/rtl/core_flip.cpp tests/rtl/core_flip.vlt $(wildcard rtl/*/*.vh tests/rtl/core*.h) $(BUILD)/gen/rf_regs.vh $(BUILD)/gen/rf_regs.h
	@mkdir -p $$(@D)
	@$$(call step,VERILATE,$$@)
	$$(VERILATOR) --cc --exe --build -j 2 -Wall --assert --vpi --x-assign unique --x-initial unique $(VL_MAKE) -O3 --output-split 20000 \
	  -CFLAGS "-O1 -I$$(CURDIR) -I$$(CURDIR)/$$(BUILD)/gen -DPORTS=4 -DLANES=2 -DWIDTH=64 -DHASH_BITS=6 -DPARITY=$(1)" \
	  -GPORTS=4 -GLANES=2 -GWIDTH=64 -GGROUPS=2 -GMTU_MAX=256 -GTYPES=1023 -GBANK_AW=10 -GHDR_AW=5 -GHASH_BITS=6 -GPARITY=$(1) -DRF_CRC_TABLE \
	  -Irtl/net -Irtl/reduce -Irtl/control -I$$(BUILD)/gen --top-module rf_core -Mdir $$(@D) \
	  tests/rtl/core_flip.vlt $(CORE_V) ../../../tests/rtl/core_flip.cpp > $$(@D)/build.log 2>&1 || (cat $$(@D)/build.log; false)
endef
$(eval $(call core_flip,0))
$(eval $(call core_flip,1))
$(eval $(call test,rtl-core-flip,$(BUILD)/vl/core-flip-1/Vrf_core 1 600,$(BUILD)/vl/core-flip-1/Vrf_core))
$(eval $(call test,rtl-core-flip-without,$(BUILD)/vl/core-flip-0/Vrf_core 1 150 && $(BUILD)/vl/core-flip-0/Vrf_core 1 20 .macs.,$(BUILD)/vl/core-flip-0/Vrf_core))
