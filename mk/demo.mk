# The demo: four DPDK hosts train a net, the Verilated box adds their gradients.

# A shape that mk/sim.mk builds.
DEMO_BOX := $(BUILD)/vl/box-p4-l1-w512.so

.PHONY: demo
demo: $(BUILD)/bin/ringfold-train $(BUILD)/bin/ringfold-box $(DEMO_BOX)
	@demo/run.sh
