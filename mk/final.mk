# Targets made from the tests and programs that the fragments registered.

-include $(DEPFILES)

# Objects are made here too, because a fragment's sources may include headers that a later fragment generates.
$(filter-out $(GENERATED),$(ALL_TARGETS) $(TEST_DEPS) $(BENCH_DEPS)) $(DEPFILES:.d=.o): | $(GENERATED)

.PHONY: all tests test bench lint formal formal-table synth mutate install clean help generated
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

# `make test-NAME` runs one test and builds only what it needs. Several names are one run of tests/run, which does not
# run twice at the same time.
TESTS_NAMED := $(patsubst test-%,%,$(filter test-%,$(MAKECMDGOALS)))
ifneq ($(word 2,$(TESTS_NAMED)),)
.PHONY: tests-named $(addprefix test-,$(TESTS_NAMED))
$(addprefix test-,$(TESTS_NAMED)): tests-named
	@:
tests-named: all $(foreach t,$(TESTS_NAMED),$(TEST_DEPS_$(t))) $(BUILD)/tests.list
	@tests/run $(BUILD)/tests.list $(TESTS_NAMED)
endif
.SECONDEXPANSION:
test-%: all $$(TEST_DEPS_$$*) $(BUILD)/tests.list
	@tests/run $(BUILD)/tests.list $*

# Figures: every command appends JSON lines to $(BENCH_OUT); the table and build/bench.json come from all of them.
$(BUILD)/bench.list: Makefile $(wildcard mk/*.mk)
	@mkdir -p $(@D)
	@: > $@
	@$(foreach t,$(BENCH_NAMES),printf '%s\t%s\n' '$(t)' '$(BENCH_CMD_$(t))' >> $@;)

bench: all $(BENCH_DEPS) $(BUILD)/bench.list
	@$(PYTHON) tests/bench/run.py $(BUILD)/bench.list $(BENCH_OUT) $(BUILD)/bench.json

lint: $(LINT_TARGETS)
formal: $(FORMAL_TARGETS)
	@$(PROVE) --table $(FORMAL_PROOFS)

# Results of the last `make formal`.
formal-table:
	@$(PROVE) --table $(FORMAL_PROOFS)
synth: $(SYNTH_TARGETS)
mutate: $(MUTATE_TARGETS)

clean:
	rm -rf $(BUILD)

help:
	@echo 'Start here:'
	@echo '  make demo       four DPDK hosts train a network, sums made by the Verilated box'
	@echo '  make test       every test; `make test-NAME` runs one, names are in build/tests.list'
	@echo '  make interop    Linux guests with soft-RoCE under QEMU, other switches (docs/interop.md); about ten minutes'
	@echo '  make integrations   MPI in C, Fortran and Python, PyTorch; installs what they need (docs/mpi.md, docs/torch.md)'
	@echo 'Build:'
	@echo '  make            libraries, tools, the Verilated box'
	@echo '  make install    PREFIX=/usr/local, LIBDIR=, SYSCONFDIR=, DESTDIR=: library, header, tools, man pages, completion, docs'
	@echo '  make uninstall  remove installed files'
	@echo '  make deb        packages of Debian in build/deb; `make deb-test` installs them into an empty root (docs/packages.md)'
	@echo '  make clean      forget the build'
	@echo 'Figures and proofs:'
	@echo '  make bench      all figures with their limits, build/bench.json; exit 4 if a limit is missed'
	@echo '  make lint       Verilog in three front ends, C in two compilers, format'
	@echo '  make formal     proofs of the Verilog, each with a mutant that it kills'
	@echo '  make synth      size and longest paths of every module, size of whole boxes; some hours (tests/rtl/synth.py --help)'
	@echo '  make gate       benches of the Verilog against netlists by Yosys, and a small box; 20 minutes'
	@echo '  make mutate     deliberate faults in the Verilog that its benches must notice'
	@echo '  make soak       seeded runs with faults: 20,000 with the model, 300 with the Verilog, 20,000 of the library; hours'
	@echo '  make fuzz       new inputs for codecs, firmware, host, model and Verilog, FUZZ_SECONDS=60 each'
	@echo 'Packages: demo, test and interop install missing packages (mk/deps.sh).  Variables: OPT="-O2 -g", SANITIZE=-fsanitize=address, CC=clang, JOBS=2, V=1 (whole commands)'
