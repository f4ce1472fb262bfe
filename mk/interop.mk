# Guests with soft-RoCE: third-party endpoints. docs/interop.md.
#
#   make interop          every case
#   make interop-NAME     one case; names are in build/interop/tests.list
#   make interop-image    kernel and root file system of the guests, with the programs from this tree

INTEROP := $(BUILD)/interop

$(eval $(call c_link,interop_plain,tests/interop/plain.c,,-libverbs -lrdmacm,,$(INTEROP)/plain))
INTEROP_PROGRAMS := $(BUILD)/bin/ringfold-perf $(BUILD)/tests/e2e_rank $(INTEROP)/plain

# Guests are built once. If that is not possible the tests are skipped and report why.
$(INTEROP)/image.stamp: tests/interop/image.sh tests/interop/guest/init
	@mkdir -p $(@D)
	@rm -f $(INTEROP)/base.cpio.gz
	tests/interop/image.sh $(INTEROP) > $(INTEROP)/why || [ $$? -eq 77 ]
	@touch $@
$(INTEROP)/programs.cpio: tests/interop/programs.sh $(BUILD)/lib/libringfold.so.1 $(INTEROP_PROGRAMS)
	tests/interop/programs.sh $@ $(filter-out $<,$^) || [ $$? -eq 77 ]

# A few cases belong to `make test`; the others take minutes each.
INTEROP_DEPS  := $(INTEROP)/image.stamp $(INTEROP)/programs.cpio $(BUILD)/bin/ringfold-box $(BUILD)/bin/ringfold-ctl
interop_run    = BUILD=$(BUILD) $(PYTHON) -B tests/interop/run.py $(1)
$(foreach c,foreign verbs-2 plain,$(eval $(call test,interop-$(c),$(call interop_run,--quick $(c)),$(INTEROP_DEPS))))

# Wireshark's view of a group, read by tshark.
$(eval $(call test,dissector,$(PYTHON) -B tests/interop/dissector.py $(BUILD)/bin/ringfold-sim $(BUILD)/bin/ringfold-gen $(BUILD)/tests/sim_play,$(BUILD)/bin/ringfold-sim $(BUILD)/bin/ringfold-gen $(BUILD)/tests/sim_play))

# Third-party switches. `make interop` installs Open vSwitch; `make test` skips it if it is not installed.
$(foreach k,bridge ovs,$(eval $(call test,switch-$(k),$(PYTHON) -B tests/interop/switches.py $(k),$(BUILD)/bin/ringfold-box $(BUILD)/bin/ringfold-perf)))

$(INTEROP)/tests.list: tests/interop/run.py mk/interop.mk
	@mkdir -p $(@D)
	@for c in $$($(PYTHON) -B tests/interop/run.py --list); do printf '%s\t%s\n' $$c "$(call interop_run,$$c)"; done > $@
	@for c in verbs-2 loss forgets; do printf '%s-rtl\t%s\n' $$c "$(call interop_run,--rtl --quick $$c)"; done >> $@
	@for k in bridge ovs; do printf 'switch-%s\t%s\n' $$k "$(PYTHON) -B tests/interop/switches.py $$k"; done >> $@

.PHONY: interop interop-image
interop interop-verbs-2-rtl interop-loss-rtl interop-forgets-rtl: $(BUILD)/vl/box-p4-l1-w512.so
interop: $(INTEROP_DEPS) $(INTEROP)/tests.list
	@JOBS=1 tests/run $(INTEROP)/tests.list
interop-%: $(INTEROP_DEPS) $(INTEROP)/tests.list
	@JOBS=1 tests/run $(INTEROP)/tests.list $*
interop-image: $(INTEROP)/image.stamp $(INTEROP)/programs.cpio
