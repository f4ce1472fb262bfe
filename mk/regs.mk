# Registers: one description, three outputs.
REGS := rtl/control/registers.txt
GENERATED += $(BUILD)/gen/rf_regs.vh $(BUILD)/gen/rf_regs.h docs/registers.md

$(BUILD)/gen/rf_regs.vh $(BUILD)/gen/rf_regs.h: $(BUILD)/gen/rf_regs.%: $(REGS) mk/regs.py
	@mkdir -p $(@D)
	$(PYTHON) mk/regs.py $(REGS) $* > $@

docs/registers.md: $(REGS) mk/regs.py
	$(PYTHON) mk/regs.py $(REGS) md > $@
