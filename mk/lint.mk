# C side of `make lint`; the Verilog side is in mk/rtl-lib.mk.
.PHONY: lint-c
lint-c: $(GENERATED)
	tests/lint/c.sh
LINT_TARGETS += lint-c

# Make and its packages.
$(eval $(call test,make-packages,tests/e2e/make.sh))
