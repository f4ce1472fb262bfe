# Registers and counters, generated from one description. Unchanged outputs keep their time stamp, so that nothing is rebuilt for
# them; a separate stamp file records that they are up to date.
REGS := rtl/control/registers.txt

# $(call from_regs,OUTPUT,WORDS FOR regs.py,MORE PREREQUISITES)
define from_regs
$(BUILD)/gen/$(notdir $(1)).stamp: $(REGS) mk/regs.py $(3)
	@mkdir -p $$(@D)
	@$(PYTHON) mk/regs.py $(REGS) $(2) > $(1).new && { cmp -s $(1).new $(1) && rm $(1).new || mv $(1).new $(1); }
	@touch $$@
$(1): $(BUILD)/gen/$(notdir $(1)).stamp
	@[ -e $$@ ] || { $(PYTHON) mk/regs.py $(REGS) $(2) > $$@.new && mv $$@.new $$@; }
GENERATED += $(1)
endef

$(eval $(call from_regs,$(BUILD)/gen/rf_regs.vh,vh))
$(eval $(call from_regs,$(BUILD)/gen/rf_regs.h,h))
$(eval $(call from_regs,$(BUILD)/gen/rf_fw_counters.h,fw))
$(eval $(call from_regs,docs/registers.md,md))
$(eval $(call from_regs,docs/counters.md,counters proto/rf_ctl.h,proto/rf_ctl.h))
