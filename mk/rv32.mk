# The firmware as an image for the box's processor, and the program that runs it here.
#
#   build/firmware/ringfold-rv32.elf   the image; refused if it is too large or its stack too deep (mk/rv32_check.py)
#   build/bin/ringfold-rv32            runs it in libunicorn: a separate program under the GPL, built if that library is installed
#
# clang and lld have no run-time library for this target; the functions needed are in firmware/target/rv32/.

RV32_CC     := clang
RV32_LD     := ld.lld
RV32_FLAGS  := --target=riscv32 -march=rv32imac -mabi=ilp32 -mcmodel=medany -mno-relax -O2 -std=c11 -ffreestanding \
  -fno-builtin -fno-jump-tables -ffunction-sections -fdata-sections -fstack-size-section -Wall -Wextra -Wshadow \
  -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla $(WERROR) \
  -I. -I$(BUILD)/gen -isystem firmware/target/rv32/include
RV32_SOURCES := $(filter-out firmware/core/check.c,$(FW_SOURCES)) \
  $(CTL_SOURCES) proto/rf_crc32.c proto/rf_siphash.c firmware/target/settings.c \
  $(addprefix firmware/target/rv32/,start.S main.c memory.c divide.c)
RV32_OBJS    := $(patsubst %,$(BUILD)/rv32/%.o,$(basename $(RV32_SOURCES)))
RV32_IMAGE   := $(BUILD)/firmware/ringfold-rv32.elf
RV32_HAVE    := $(if $(shell command -v $(RV32_CC) 2>/dev/null),$(if $(shell command -v $(RV32_LD) 2>/dev/null),yes))
RV32_UNICORN := $(if $(shell pkg-config --exists unicorn 2>/dev/null && echo yes),yes)

$(BUILD)/rv32/%.o: %.c | $(GENERATED)
	@mkdir -p $(@D)
	@$(call step,CC (rv32),$<)
	$(RV32_CC) $(RV32_FLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/rv32/%.o: %.S
	@mkdir -p $(@D)
	@$(call step,CC (rv32),$<)
	$(RV32_CC) $(RV32_FLAGS) -MMD -MP -c -o $@ $<
$(RV32_OBJS): mk/rv32.mk
DEPFILES += $(RV32_OBJS:.o=.d)

$(RV32_IMAGE): $(RV32_OBJS) firmware/target/rv32/link.ld mk/rv32_check.py
	@mkdir -p $(@D)
	@$(call step,LINK,$@)
	$(RV32_LD) -m elf32lriscv --gc-sections -T firmware/target/rv32/link.ld -o $@ $(RV32_OBJS)
	@$(PYTHON) mk/rv32_check.py $@

$(eval $(call c_test,rv32_divide_test,tests/unit/rv32_divide_test.c,))
$(eval $(call test,rv32_image,PYTHON=$(PYTHON) tests/unit/rv32_image.sh $(BUILD)/rv32/probe $(RV32_IMAGE),$(if $(RV32_HAVE),$(RV32_IMAGE))))
# The firmware of a simulated box, native or the image.
$(eval $(call c_lib,fwsim,firmware/target/sim/cpu.c firmware/target/settings.c))
ifneq ($(RV32_UNICORN),)
$(eval $(call c_prog,ringfold-rv32,sim/unicorn/ringfold-rv32.c,rf-opt,$(call pkg_libs,unicorn)))
endif
RV32_DEPS := $(if $(RV32_HAVE),$(RV32_IMAGE)) $(if $(RV32_UNICORN),$(BUILD)/bin/ringfold-rv32)
ifneq ($(RV32_HAVE),)
ALL_TARGETS += $(RV32_IMAGE)
endif
$(eval $(call c_link,fw_rv32_test,tests/unit/fw_rv32_test.c,fwsim fwbox fw fwlinux client rfctl rfproto,-lcmocka,,$(BUILD)/tests/fw_rv32_test))
$(eval $(call test,fw_rv32_test,$(BUILD)/tests/fw_rv32_test,$(BUILD)/tests/fw_rv32_test $(RV32_DEPS)))
$(eval $(call c_link,fw_bench,tests/bench/fw_bench.c,fwsim fwbox fw fwlinux client rfctl rfproto,-lcmocka,,$(BUILD)/tests/fw_bench))
$(eval $(call bench,firmware,$(BUILD)/tests/fw_bench $(BENCH_OUT),$(BUILD)/tests/fw_bench $(RV32_DEPS)))

demo: $(RV32_DEPS)
$(eval $(call test,e2e-ctl-box,tests/e2e/ctl_box.sh,$(addprefix $(BUILD)/bin/ringfold-,box ctl gen) $(RV32_DEPS)))
# The image in virtual time: sums are correct, and the time until a group is ready includes the firmware's instructions.
$(eval $(call test,rv32_sim,$(if $(filter 2,$(words $(RV32_DEPS))),$(BUILD)/bin/ringfold-sim --firmware rv32 --size 256K --iterations 3 && $(BUILD)/bin/ringfold-sim --firmware rv32 --size 64K --loss 1%,exit 77),$(BUILD)/bin/ringfold-sim $(RV32_DEPS)))
