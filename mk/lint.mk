# C side of `make lint`; the Verilog side is in mk/rtl-lib.mk.
.PHONY: lint-c
lint-c: $(GENERATED)
	tests/lint/c.sh
LINT_TARGETS += lint-c

# The order of the rooms, circles among the files of one, names without a prefix in headers, and words that must not appear. Quick, so it is also a test, which checks that both find a fault.
.PHONY: lint-house
lint-house:
	tests/lint/test.sh
LINT_TARGETS += lint-house
$(eval $(call test,lint-house,tests/lint/test.sh))

# Which lock guards what: clang's thread-safety analysis.
.PHONY: lint-guard
lint-guard: $(GENERATED)
	BUILD=$(BUILD) tests/lint/guard.sh
LINT_TARGETS += lint-guard
$(eval $(call test,lint-guard,BUILD=$(BUILD) tests/lint/guard.sh))

# Make and its packages.
$(eval $(call test,make-packages,tests/e2e/make.sh))

# The runner of the tests.
$(eval $(call test,test-runner,tests/e2e/runner.sh))
$(eval $(call test,bench-runner,tests/e2e/bench_runner.sh $(PYTHON)))

# docs/bad-input.md must name existing tests; a page that names others must be refused.
$(eval $(call test,bad-input-rows,$(PYTHON) -B tests/check/bad_input.py && ! $(PYTHON) -B tests/check/bad_input.py tests/data/bad-input-mutant.md))

# The public header in C and C++.
$(eval $(call test,lint-header,tests/lint/header.sh))
