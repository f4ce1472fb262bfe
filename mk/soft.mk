# The software box (soft/), the same as an engine of the simulator (sim/soft/), and their tests.
#
# Libraries: soft (needs rfproto after it), softsim. The kernels become vectors at -O3.

$(eval $(call c_lib,soft,$(addprefix soft/,bytes.c parse.c table.c judge.c burst.c data.c nak.c ledger.c pass.c again.c turn.c out.c firm.c registers.c box.c sum.c sum_none.c sum_avx2.c sum_avx512.c),$(if $(filter yes,$(ISAL)),-DSOFT_ISAL),-O3))
LDLIBS_soft := $(if $(filter yes,$(ISAL)),$(call pkg_libs,libisal))
$(eval $(call c_lib,softsim,sim/soft/engine.c))
$(eval $(call c_test,soft_sums,tests/unit/soft_sums.c,soft model rfproto))

# Compared with the model frame by frame; BOX_TESTS are the rows of docs/box.md.
COMPARE_SOFT := $(COMPARE) --engine-b soft
$(eval $(call test,compare-soft-a,$(COMPARE_SOFT) --count 20000 --coverage && $(COMPARE_SOFT) --shape 2$(,)1$(,)64 --count 5000 && $(COMPARE_SOFT) --shape 8$(,)1$(,)256 --count 5000 --seed 2,$(COMPARE)))
$(eval $(call test,compare-soft-b,$(COMPARE_SOFT) --mode b --count 400 --runs 2 && $(COMPARE_SOFT) --shape 8$(,)2$(,)512 --mode b --count 200,$(COMPARE)))
$(eval $(call test,compare-soft-lanes,$(COMPARE_SOFT) --shape 4$(,)2$(,)64 --count 5000 && $(COMPARE_SOFT) --shape 8$(,)16$(,)512 --count 2000 && $(COMPARE_SOFT) --shape 4$(,)4$(,)128 --mode b --count 100,$(COMPARE)))
$(eval $(call test,compare-soft-mutate,$(COMPARE_SOFT) --shape 4$(,)2$(,)64 --mutate 40 --count 10000 --runs 2 && $(COMPARE_SOFT) --shape 4$(,)2$(,)64 --mode b --mutate 40 --count 100,$(COMPARE)))
$(eval $(call test,compare-soft-simd,tests/sim/compare_soft.sh $(COMPARE) simd,$(COMPARE)))
$(eval $(call test,compare-soft-mutants,tests/sim/compare_soft.sh $(COMPARE) mutants,$(COMPARE)))
$(eval $(call test,box-rows-soft,for t in $(BOX_TESTS); do $$$$t soft || exit 1; done,$(BOX_TESTS)))

# Cycles per packet with frames in memory.
$(eval $(call c_link,soft_bench,tests/bench/soft_bench.c,$(BOXBENCH_LIBS),-ljansson -ldl,,$(BUILD)/tests/soft_bench))
$(eval $(call bench,soft,$(BUILD)/tests/soft_bench $(BENCH_OUT),$(BUILD)/tests/soft_bench))
