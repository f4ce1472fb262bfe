# The Promela model of the ledger; seeded fault runs.

.PHONY: formal-spin
formal-spin:
	tests/formal/spin/window.sh $(BUILD) full
FORMAL_TARGETS += formal-spin

$(eval $(call test,spin-window,tests/formal/spin/window.sh $(BUILD)))

# One seed sets a whole run: `ringfold replay SEED` repeats it.
$(eval $(call c_prog,ringfold-replay,host/tools/ringfold-replay.c,rf-opt $(FABRIC_LIBS),$(FABRIC_LDLIBS)))
REPLAY := $(BUILD)/bin/ringfold-replay
$(eval $(call test,replay-model,$(REPLAY) --count 200 1,$(REPLAY)))

.PHONY: soak
soak: $(REPLAY)
	$(REPLAY) --count 10000 1000000
	$(REPLAY) --ports 8 --count 10000 2000000
	$(MAKE) $(BUILD)/vl/box-p4-l1-w512.so
	$(REPLAY) --engine rtl --count 300 3000000
