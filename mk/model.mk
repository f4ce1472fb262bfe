# The reference model of the box, its tests, the comparison of two engines, the frame checker.
#
# Library: model (needs rfproto after it).

MODEL_SRC := $(addprefix sim/model/,arith.c arith_wide.c queue.c parse.c table.c ledger.c form.c compare.c nak.c held.c judge.c reduce.c block.c limit.c schedule.c uplink.c uplink_pass.c egress.c registers.c model.c)

$(eval $(call c_lib,model,$(MODEL_SRC)))
$(eval $(call c_test,model_arith,tests/unit/model_arith.c,model rfproto,-lm))

COMPARE_SRC := $(addprefix tests/sim/compare/,packet.c bench.c engine.c stray.c directed.c traffic.c lockstep.c burst.c)
$(eval $(call test_lib,boxbench,$(COMPARE_SRC) tests/unit/model_common.c tests/unit/model_extra.c))
BOXBENCH_LIBS := boxbench rf-cosim model softsim soft rfproto
$(eval $(call c_test,model_lines,tests/unit/model_lines.c,$(BOXBENCH_LIBS),-ldl))
$(eval $(call c_test,model_conn,tests/unit/model_conn.c,$(BOXBENCH_LIBS),-ldl))
$(eval $(call c_test,model_window,tests/unit/model_window.c,$(BOXBENCH_LIBS),-ldl))
$(eval $(call c_test,model_acks,tests/unit/model_acks.c,$(BOXBENCH_LIBS),-ldl))
$(eval $(call c_test,model_mirror,tests/unit/model_mirror.c,$(BOXBENCH_LIBS),-ldl))
$(eval $(call c_test,model_directed,tests/unit/model_directed.c,$(BOXBENCH_LIBS),-ldl))
$(eval $(call c_test,model_uplink,tests/unit/model_uplink.c,$(BOXBENCH_LIBS),-ldl))
$(eval $(call c_test,model_wide,tests/unit/model_wide.c,$(BOXBENCH_LIBS),-ldl -lm))
$(eval $(call c_test,model_form,tests/unit/model_form.c,$(BOXBENCH_LIBS),-ldl))
$(eval $(call test,model_mutants,tests/unit/model_mutants.sh $(BUILD),$(addprefix $(BUILD)/tests/model_,mirror directed form uplink tree)))
$(eval $(call c_test,model_nak,tests/unit/model_nak.c,$(BOXBENCH_LIBS),-ldl))
$(eval $(call c_test,model_ledger,tests/unit/model_ledger.c,$(BOXBENCH_LIBS),-ldl))
$(eval $(call c_test,model_sums,tests/unit/model_sums.c,$(BOXBENCH_LIBS),-ldl -lm))
$(eval $(call test_lib,treenet,tests/sim/tree_net.c tests/sim/tree_sum.c))
$(eval $(call c_test,model_tree,tests/sim/model_tree.c,treenet $(BOXBENCH_LIBS),-ldl))
$(eval $(call c_test,model_timing,tests/unit/model_timing.c,$(BOXBENCH_LIBS),-ldl))

$(eval $(call test_prog,ringfold-compare,tests/sim/compare/main.c,$(BOXBENCH_LIBS) rf-opt,-ldl))

# Two engines under the same traffic. Comparing the model with itself checks the comparison (and its mutants show that
# it detects differences); comparing the RTL with the model is the actual test.
COMPARE := $(BUILD)/bin/ringfold-compare
, := ,
$(eval $(call test,compare-mutants,tests/sim/compare_mutants.sh $(COMPARE),$(COMPARE)))
$(eval $(call test,compare-model,$(COMPARE) --count 20000 --coverage && $(COMPARE) --shape 8$(,)2$(,)256 --count 5000 --runs 3 && $(COMPARE) --mode b --shape 8$(,)2$(,)512 --count 300 && $(COMPARE) --shape 4$(,)2$(,)64 --mutate 40 --count 20000,$(COMPARE)))

# Shapes of box that other tests also build, and narrow ones with other numbers of ports and lanes.
COMPARE_BOXES := $(addprefix $(BUILD)/vl/,box-p4-l1-w512.so box-p4-l2-w64.so box-p2-l1-w64.so box-p8-l1-w64.so box-p4-l4-w64.so)
BOX_TESTS     := $(addprefix $(BUILD)/tests/model_,lines conn window acks nak ledger sums directed form timing mirror)
$(eval $(call test,compare-rtl-a,$(COMPARE) --engine-b rtl --count 3000,$(COMPARE) $(COMPARE_BOXES)))
$(eval $(call test,compare-rtl-b,$(COMPARE) --engine-b rtl --mode b --count 400 --runs 2,$(COMPARE) $(COMPARE_BOXES)))
$(eval $(call test,compare-rtl-lanes,$(COMPARE) --engine-b rtl --shape 4$(,)2$(,)64 --count 1500 && $(COMPARE) --engine-b rtl --shape 4$(,)2$(,)64 --mode b --count 100,$(COMPARE) $(COMPARE_BOXES)))
# Randomly changed frames, with any result allowed.
$(eval $(call test,compare-rtl-mutate,$(COMPARE) --engine-b rtl --shape 4$(,)2$(,)64 --mutate 40 --count 1000 --runs 3 && $(COMPARE) --engine-b rtl --shape 4$(,)2$(,)64 --mode b --mutate 40 --count 60 --runs 2,$(COMPARE) $(COMPARE_BOXES)))
$(eval $(call test,compare-rtl-ports,$(COMPARE) --engine-b rtl --shape 8$(,)1$(,)64 --count 1500 && $(COMPARE) --engine-b rtl --shape 2$(,)1$(,)64 --mode b --count 100,$(COMPARE) $(COMPARE_BOXES)))
# One lane and no option: without selective and directed groups, mirror connections, parity and all types but two. A model that is
# not right is noticed there, too.
COMPARE_PLAIN := $(COMPARE) --engine-b rtl-plain --shape 4$(,)1$(,)64
$(eval $(call test,compare-rtl-plain,$(COMPARE_PLAIN) --count 3000 && $(COMPARE_PLAIN) --mode b --count 100 && ! $(COMPARE_PLAIN) --engine-a model:shift --count 1000,$(COMPARE) $(BUILD)/vl/box-p4-l1-w64-plain.so))
$(eval $(call test,box-rows-rtl,for t in $(BOX_TESTS); do $$$$t rtl || exit 1; done,$(BOX_TESTS) $(COMPARE_BOXES)))

# The frame checker: python3 and its standard library, no code of this tree.
FRAMES_PY := tests/check/frames.py
$(eval $(call test,check-frames,$(PYTHON) -B tests/check/test_frames.py && $(PYTHON) -B $(FRAMES_PY) tests/data/rxe-sample.pcap))
