# Basic Verilog modules: rtl/lib, rtl/fp, the reduction; their benches, proofs, lint and synthesis.

RTL_LIB    := $(addprefix rtl/lib/,rf_skid.v rf_ram_lut.v rf_ram_sdp.v rf_fifo.v rf_delay.v rf_rr_arb.v rf_parity.v rf_ram_parity.v \
  rf_fifo_parity.v rf_delay_parity.v)
RTL_FP     := $(addprefix rtl/fp/,rf_fp_alu.v rf_fp_vec.v rf_fp_unpack.v rf_fp_pack.v)

$(eval $(call vl_bench,fp-alu,rf_fp_vec,rtl/fp/rf_fp_vec.v rtl/fp/rf_fp_alu.v,tests/rtl/fp_alu.cpp,-GWORDS=16))
$(eval $(call vl_bench,fp-convert,fp_convert,tests/rtl/fp_convert.v $(RTL_FP),tests/rtl/fp_convert.cpp))

RTL_REDUCE := $(addprefix rtl/reduce/,rf_tree_delay.v rf_tree.v rf_acc.v rf_reduce_out.v rf_reduce.v)

# $(call reduce_bench,PORTS,WIDTH,TYPES[,LANES]): LANES is 16 by default.
define reduce_bench
$(call vl_bench,reduce-$(1)x$(2)-$(3)$(if $(4),-l$(4)),rf_reduce,$(RTL_LIB) $(RTL_FP) $(RTL_REDUCE),tests/rtl/reduce.cpp,-GPORTS=$(1) -GWIDTH=$(2) -GTYPES=$(3) -GLANES=$(or $(4),16) -GBEATS_MAX=16 -DRF_CHECK -CFLAGS "-DPORTS=$(1) -DWIDTH=$(2) -DTYPES=$(3) -DLANES=$(or $(4),16)")
endef
$(eval $(call reduce_bench,2,64,1023))
$(eval $(call reduce_bench,3,64,1023))
$(eval $(call reduce_bench,4,64,1023))
$(eval $(call reduce_bench,4,64,9))
$(eval $(call reduce_bench,4,64,15))
$(eval $(call reduce_bench,4,64,672))
$(eval $(call reduce_bench,6,64,1023))
$(eval $(call reduce_bench,8,64,1023))
$(eval $(call reduce_bench,4,512,1023))
$(eval $(call reduce_bench,4,64,1023,1))
$(eval $(call reduce_bench,4,64,9,1))

# The assertions must stop a run that violates the contract.
VIOLATE := $(BUILD)/vl/reduce-4x64-1023/Vrf_reduce
$(eval $(call test,rtl-reduce-contract,for v in 1 2 3 4; do ! $(VIOLATE) --violate $$$$v || exit 1; done,$(VIOLATE)))

# Proofs of rtl/lib; tests/formal/lib/prove.py describes the format of proof files. The longest leaves its mutants to `make formal`.
PROVE      := $(PYTHON) tests/formal/lib/prove.py
FORMAL_LIB := $(sort $(wildcard tests/formal/lib/*.proof))
.PHONY: formal-lib
formal-lib:
	$(PROVE) $(FORMAL_LIB)
FORMAL_TARGETS += formal-lib
FORMAL_PROOFS  += $(FORMAL_LIB)
$(foreach p,$(filter-out %/rf_fifo.proof,$(FORMAL_LIB)),$(eval $(call test,formal-$(basename $(notdir $(p))),$(PROVE) $(p))))
$(eval $(call test,formal-rf_fifo,$(PROVE) --no-mutants tests/formal/lib/rf_fifo.proof))

.PHONY: lint-rtl
lint-rtl: $(GENERATED)
	tests/rtl/lint.sh
	tests/rtl/lint.sh --bad
LINT_TARGETS += lint-rtl
$(eval $(call test,lint-rtl,tests/rtl/lint.sh && tests/rtl/lint.sh --bad))

.PHONY: synth-rtl
synth-rtl: $(GENERATED)
	$(PYTHON) tests/rtl/synth.py
SYNTH_TARGETS += synth-rtl
# Synthesis of the whole flattened design takes long.
.PHONY: synth-flat
synth-flat: $(GENERATED)
	$(PYTHON) tests/rtl/synth.py flat
$(eval $(call test,rtl-synth-checks,$(PYTHON) -B tests/rtl/synth_test.py))
$(eval $(call test,rtl-timing-model,$(PYTHON) -B tests/rtl/timing_test.py))

# Mutants that the benches of rtl/fp and of the reduction must kill; takes about four minutes.
.PHONY: mutate-fp mutate-reduce
mutate-fp mutate-reduce: mutate-%:
	$(PYTHON) tests/rtl/fp_mutants.py $* $(BUILD)/mutants/$*
MUTATE_TARGETS += mutate-fp mutate-reduce
