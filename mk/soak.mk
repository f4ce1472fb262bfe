# The Promela model of the ledger; seeded fault runs.

.PHONY: formal-spin
formal-spin:
	tests/formal/spin/window.sh $(BUILD) full
FORMAL_TARGETS += formal-spin

$(eval $(call test,spin-window,tests/formal/spin/window.sh $(BUILD)))
