# Fuzzing. `make fuzz` searches for new inputs with libFuzzer and the sanitizers, FUZZ_SECONDS for each program, and adds
# those that cover a new edge of the program to the corpora in the tree. The tests run the corpora and changed copies of them, without clang.
#
#   $(call fuzz_prog,NAME,SOURCES,LIBS,MAX)   tests/unit/NAME_fuzz.c, with libFuzzer from SOURCES, else with LIBS;
#                                             inputs of at most MAX bytes in tests/data/NAME-corpus
FUZZ_SECONDS ?= 60
FUZZ_TARGETS :=

define fuzz_prog
$(BUILD)/fuzz/$(1)_fuzz: tests/unit/$(1)_fuzz.c tests/unit/fuzz.h $(2) | $$(GENERATED)
	@mkdir -p $$(@D)
	@$$(call step,CC (fuzz),$$@)
	clang $(CSTD) -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined $(INCLUDES) -o $$@ $$(filter %.c,$$^)
FUZZ_TARGETS += fuzz-$(1)
.PHONY: fuzz-$(1)
fuzz-$(1): $(BUILD)/fuzz/$(1)_fuzz
	@mkdir -p $(BUILD)/fuzz/$(1)-found
	$$< -max_len=$(4) -max_total_time=$(FUZZ_SECONDS) -timeout=10 -print_final_stats=1 $(BUILD)/fuzz/$(1)-found tests/data/$(1)-corpus
	$$< -merge=1 -use_counters=0 tests/data/$(1)-corpus $(BUILD)/fuzz/$(1)-found
$(call c_link,$(1)_fuzz,tests/unit/$(1)_fuzz.c,fuzzmain $(3),,,$(BUILD)/tests/$(1)_fuzz)
$(call test,$(1)_fuzz,tests/unit/fuzz.sh $(BUILD)/tests/$(1)_fuzz tests/data/$(1)-corpus $(5),$(BUILD)/tests/$(1)_fuzz)
endef

$(eval $(call test_lib,fuzzmain,tests/unit/fuzz_main.c))
$(eval $(call fuzz_prog,ctl,tests/unit/fw_box.c firmware/target/linux/hal.c $(FW_SOURCES) \
  $(CTL_SOURCES) proto/rf_siphash.c proto/rf_crc32.c,fwbox fw fwlinux client rfctl rfproto,2048))
$(eval $(call fuzz_prog,wire,$(addprefix host/roce/,wire.c frame.c crc.c icrc.c l2.c) proto/rf_crc32.c wire/arp.c,roce rfproto,512,damage))
$(eval $(call fuzz_prog,roce,$(addprefix host/roce/,wire.c frame.c crc.c icrc.c l2.c queue.c qp.c requester.c completer.c responder.c selective.c congestion.c timer.c timeout.c endpoint.c) proto/rf_crc32.c wire/arp.c,roce rfproto,1024,damage))
$(eval $(call fuzz_prog,model,$(wildcard sim/model/*.c) $(addprefix tests/sim/compare/,packet.c bench.c) proto/rf_crc32.c,boxbench model rfproto,1024,window count ring unknown wants))

# Random and changed frames into the Verilog and the model, compared: different ones each time. If they differ, the command that
# repeats the run is printed.
FUZZ_SEED   ?= $(shell date +%s)
FUZZ_RTL    = $(BUILD)/bin/ringfold-compare --engine-b rtl --shape 4$(,)2$(,)64 --mutate 40 --seconds $(FUZZ_SECONDS)
.PHONY: fuzz-rtl
fuzz-rtl: $(BUILD)/bin/ringfold-compare $(BUILD)/vl/box-p4-l2-w64.so
	$(FUZZ_RTL) --count 1000 --seed $(FUZZ_SEED)
	$(FUZZ_RTL) --mode b --count 60 --seed $(FUZZ_SEED)
FUZZ_TARGETS += fuzz-rtl

.PHONY: fuzz
fuzz: $(FUZZ_TARGETS)
