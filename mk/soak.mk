# The Promela models of the ledger and of a tree of boxes; seeded fault runs.

.PHONY: formal-spin
formal-spin:
	tests/formal/spin/window.sh $(BUILD) full
	tests/formal/spin/tree.sh $(BUILD) full
FORMAL_TARGETS += formal-spin

$(eval $(call test,spin-window,tests/formal/spin/window.sh $(BUILD)))
$(eval $(call test,spin-tree,tests/formal/spin/tree.sh $(BUILD)))

# One seed determines a whole run: `ringfold replay SEED` repeats it. Three shapes of box; the small Verilated ones.
$(eval $(call c_prog,ringfold-replay,tools/ringfold-replay.c,rf-opt $(FABRIC_LIBS),$(FABRIC_LDLIBS)))
REPLAY   := $(BUILD)/bin/ringfold-replay
REPLAY_4 := $(REPLAY) --ports 4 --lanes 2 --width 64
REPLAY_8 := $(REPLAY) --ports 8 --lanes 1 --width 512
REPLAY_2 := $(REPLAY) --ports 2 --lanes 1 --width 64
# 1002548: two processes that are paused when the job ends. 2003490: a rank has left, and its last ACK is lost. 2009324: a process is
# paused while it asks for the MAC of its port.
$(eval $(call test,replay-model,$(REPLAY_4) --count 600 --cover 1 && $(REPLAY_4) 1002548,$(REPLAY)))
$(eval $(call test,replay-model-8,$(REPLAY_8) --count 300 10000 && $(REPLAY_8) 2003490 && $(REPLAY_8) 2009324 && $(REPLAY_2) --count 200 20000,$(REPLAY)))
$(eval $(call test,replay-rtl,$(REPLAY_4) --engine rtl --count 5 1 && $(REPLAY_2) --engine rtl --count 10 20,$(REPLAY) $(call rtl_box,4,2,64) $(call rtl_box,2,1,64)))
$(eval $(call test,replay-mutants,tests/sim/replay_mutants.sh $(REPLAY),$(REPLAY)))
$(eval $(call test,replay-processes,tests/sim/replay_processes.sh $(REPLAY),$(REPLAY)))
$(eval $(call test,replay-files,$(PYTHON) tests/sim/replay_files.py $(REPLAY) tests/check/frames.py,$(REPLAY) $(BUILD)/vl/box-p2-l1-w64-trace.so))

# First the port whose results wait for 100 ms, in the Verilog: two to three minutes.
# Fewer or more: make soak SOAK_MODEL=2000 SOAK_RTL=30 SOAK_LIBRARY=2000 SOAK_JOBS=1
# Runs of the library mostly wait: four processes for each processor.
SOAK_JOBS    ?= 2
SOAK_MODEL   ?= 20000
SOAK_RTL     ?= 300
SOAK_LIBRARY ?= 20000
.PHONY: soak
soak: $(REPLAY) $(BUILD)/tests/model_mirror $(BUILD)/tests/api_soak $(call rtl_box,4,2,64) $(call rtl_box,2,1,64)
	$(BUILD)/tests/model_mirror rtl 100
	tests/sim/soak.sh $(REPLAY) $(SOAK_MODEL) $(SOAK_RTL) $(SOAK_JOBS) $(BUILD)/tests/api_soak $(SOAK_LIBRARY)
