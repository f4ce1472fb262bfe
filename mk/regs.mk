# Registers and counters: one description. What has not changed keeps its time: nothing is built anew for it.
REGS := rtl/control/registers.txt
GENERATED += $(addprefix $(BUILD)/gen/,rf_regs.vh rf_regs.h rf_fw_counters.h) docs/registers.md docs/counters.md

if_changed = > $@.new && { cmp -s $@.new $@ && rm $@.new || mv $@.new $@; }

$(BUILD)/gen/rf_regs.vh $(BUILD)/gen/rf_regs.h: $(BUILD)/gen/rf_regs.%: $(REGS) mk/regs.py
	@mkdir -p $(@D)
	@$(PYTHON) mk/regs.py $(REGS) $* $(if_changed)

$(BUILD)/gen/rf_fw_counters.h: $(REGS) mk/regs.py
	@mkdir -p $(@D)
	@$(PYTHON) mk/regs.py $(REGS) fw $(if_changed)

docs/registers.md: $(REGS) mk/regs.py
	@$(PYTHON) mk/regs.py $(REGS) md $(if_changed)

docs/counters.md: $(REGS) mk/regs.py proto/rf_ctl.h
	@$(PYTHON) mk/regs.py $(REGS) counters proto/rf_ctl.h $(if_changed)
