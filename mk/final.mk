# Targets made of what the fragments registered.

-include $(DEPFILES)

$(ALL_TARGETS) $(TEST_DEPS) $(BENCH_DEPS): | $(GENERATED)

.PHONY: all tests test bench clean help generated
all: $(ALL_TARGETS)
generated: $(GENERATED)
tests: $(TEST_DEPS)

# One line per test for tests/run: name <tab> command.
$(BUILD)/tests.list: Makefile $(wildcard mk/*.mk)
	@mkdir -p $(@D)
	@: > $@
	@$(foreach t,$(TEST_NAMES),printf '%s\t%s\n' '$(t)' '$(TEST_CMD_$(t))' >> $@;)

test: all tests $(BUILD)/tests.list
	@tests/run $(BUILD)/tests.list

# `make test-NAME` runs one test.
test-%: all tests $(BUILD)/tests.list
	@tests/run $(BUILD)/tests.list $*

clean:
	rm -rf $(BUILD)
