# The demo: four DPDK hosts train a neural network, the Verilated box adds their gradients.

# One of the shapes that mk/sim.mk builds.
DEMO_BOX := $(BUILD)/vl/box-p4-l1-w512.so

.PHONY: demo
demo: $(BUILD)/bin/ringfold-train $(BUILD)/bin/ringfold-box $(DEMO_BOX)
	@demo/run.sh

DEMO_DEPS := $(BUILD)/bin/ringfold-train $(BUILD)/bin/ringfold-box
$(eval $(call test,e2e-demo-model,tests/e2e/demo.sh model,$(DEMO_DEPS)))
$(eval $(call test,e2e-demo-rtl,tests/e2e/demo.sh rtl,$(DEMO_DEPS) $(DEMO_BOX)))
