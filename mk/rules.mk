# Macros that every fragment uses.
#
#   $(call c_lib,NAME,SOURCES[,CPPFLAGS[,CFLAGS]])         static library build/lib/libNAME.a
#   $(call c_prog,NAME,SOURCES,LIBS[,LDLIBS[,CPPFLAGS]])   program build/bin/NAME; LIBS are names of c_libs, in link order
#       LDLIBS_NAME := FLAGS: what every program needs that is linked with that library
#   $(call test_lib,...), $(call test_prog,...)            the same, only for tests and figures: `make` does not build them
#   $(call c_test,NAME,SOURCES,LIBS[,LDLIBS[,CPPFLAGS]])   cmocka program build/tests/NAME, run by `make test`
#   $(call test,NAME,COMMAND[,PREREQUISITES])              any other test: COMMAND exits 0 (pass), 77 (skip) or else (fail)
#   $(call vl_bench,NAME,TOP,VERILOG,CPP[,VLFLAGS[,ARGS]]) self-checking Verilator bench build/vl/NAME/VTOP, run by `make test`
#   $(call bench,NAME,COMMAND[,PREREQUISITES])             a figure for `make bench`: COMMAND appends JSON lines to $(BENCH_OUT)
#
# NAME contains no blanks. A fragment calls these through $(eval $(call ...)). Objects live in build/obj/<path of source>.o
# (a source belongs to one library or program; shared code goes into a library). Include paths are relative to the root of
# the tree ("host/roce/roce.h"), host/include (<ringfold/ringfold.h>) and build/gen (generated headers).

BUILD      := build
comma      := ,
space      := $(subst ,, )
# `make V=1` prints whole commands; without it each step is one line: $(call step,CC,what it makes).
ifeq ($(filter-out 0,$(V)),)
.SILENT:
step = $(if $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),:,printf '  %-9s %s\n' '$(1)' '$(2)')
else
step = :
endif
CC         ?= gcc
ifeq ($(origin CC),default)
CC         := gcc
endif
OPT        ?= -O2 -g
WARN       := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla
WERROR     ?= $(if $(CI),-Werror)
CSTD       := -std=c11 -D_GNU_SOURCE
INCLUDES   := -I. -Ihost/include -I$(BUILD)/gen
CFLAGS_ALL  = $(CSTD) $(OPT) $(WARN) $(WERROR) -fPIC -ffp-contract=off $(SANITIZE)
PYTHON     ?= python3
VERILATOR  ?= verilator
# The compiler for the C++ that Verilator writes: clang's code is a fifth faster there than gcc's.
VL_CXX     ?= $(notdir $(firstword $(shell command -v clang++ g++)))
VL_MAKE    := -MAKEFLAGS CXX=$(VL_CXX) -LDFLAGS -latomic
BENCH_OUT  := $(BUILD)/bench.jsonl

# Packages that the goals need are installed before anything is probed, so that a bare machine needs one command. For goals that only
# build, missing packages are reported.
DEPS_FOR := $(strip $(if $(filter lint% formal% synth% bench% fuzz% mutate%,$(MAKECMDGOALS)),dev,$(if \
  $(filter interop%,$(MAKECMDGOALS)),interop,$(if \
  $(filter deb deb-test,$(MAKECMDGOALS)),packages,$(if \
  $(filter integrations%,$(MAKECMDGOALS)),integrations,$(if \
  $(filter test% soak%,$(MAKECMDGOALS)),test,$(if $(filter demo%,$(MAKECMDGOALS)),demo,$(if \
  $(filter all install,$(or $(MAKECMDGOALS),all)),build --check))))))))
ifneq ($(DEPS_FOR),)
ifeq ($(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),)
ifneq ($(shell mk/deps.sh $(DEPS_FOR) >&2; echo $$?),0)
$(error packages are missing$(if $(findstring --check,$(DEPS_FOR)),, and could not be installed), see above)
endif
endif
endif

# Objects are made again if the compiler or its options have changed; WERROR changes none of them.
FLAGS_NOW := $(CC) $(CSTD) $(OPT) $(SANITIZE)
$(shell mkdir -p $(BUILD); if [ ! -e $(BUILD)/flags ]; then printf '%s\n' '$(FLAGS_NOW)' > $(BUILD)/flags; touch -d 2000-01-01 $(BUILD)/flags; \
  elif [ "$$(cat $(BUILD)/flags)" != '$(FLAGS_NOW)' ]; then printf '%s\n' '$(FLAGS_NOW)' > $(BUILD)/flags; fi)

pkg_cflags = $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(1) 2>/dev/null))
pkg_libs   = $(shell pkg-config --libs $(1) 2>/dev/null)

# Filled by the macros, read by mk/final.mk.
ALL_TARGETS  :=
TEST_NAMES   :=
TEST_DEPS    :=
BENCH_NAMES  :=
BENCH_DEPS   :=
DEPFILES     :=
# Generated headers: fragments add to this list; every object depends on them.
GENERATED    :=
# Prerequisites of `make lint`, `formal`, `synth`, `mutate`: fragments add to them.
LINT_TARGETS   :=
FORMAL_TARGETS :=
SYNTH_TARGETS  :=
MUTATE_TARGETS :=

objs = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

define c_objects
$(call objs,$(1)): $(BUILD)/obj/%.o: %.c $(BUILD)/flags | $$(GENERATED)
	@mkdir -p $$(@D)
	@$$(call step,CC,$$<)
	$$(CC) $$(CFLAGS_ALL) $(3) $$(INCLUDES) $(2) -MMD -MP -c -o $$@ $$<
DEPFILES += $(patsubst %.c,$(BUILD)/obj/%.d,$(1))
endef

define test_lib
$(call c_objects,$(2),$(3),$(4))
$(BUILD)/lib/lib$(strip $(1)).a: $(call objs,$(2))
	@mkdir -p $$(@D)
	@rm -f $$@
	@$$(call step,AR,$$@)
	$$(AR) rcs $$@ $$^
endef

define c_lib
$(call test_lib,$(1),$(2),$(3),$(4))
ALL_TARGETS += $(BUILD)/lib/lib$(strip $(1)).a
endef

libs = $(patsubst %,$(BUILD)/lib/lib%.a,$(1))

define c_link
$(call c_objects,$(2),$(5))
$(6): $(call objs,$(2)) $(call libs,$(3))
	@mkdir -p $$(@D)
	@$$(call step,LINK,$$@)
	$$(CC) $$(CFLAGS_ALL) -o $$@ $(call objs,$(2)) $(call libs,$(3)) $(4) $$(foreach l,$(3),$$(LDLIBS_$$(l)))
endef

define test_prog
$(call c_link,$(1),$(2),$(3),$(4),$(5),$(BUILD)/bin/$(strip $(1)))
endef

define c_prog
$(call test_prog,$(1),$(2),$(3),$(4),$(5))
ALL_TARGETS += $(BUILD)/bin/$(strip $(1))
endef

define c_test
$(call c_link,$(1),$(2),$(3),-lcmocka $(4),$(5),$(BUILD)/tests/$(strip $(1)))
$(call test,$(1),$(BUILD)/tests/$(strip $(1)),$(BUILD)/tests/$(strip $(1)))
endef

define test
TEST_NAMES += $(strip $(1))
TEST_DEPS += $(3)
TEST_DEPS_$(strip $(1)) := $(3)
TEST_CMD_$(strip $(1)) := $(2)
endef

define bench
BENCH_NAMES += $(strip $(1))
BENCH_DEPS += $(3)
BENCH_CMD_$(strip $(1)) := $(2)
endef

define vl_bench
$(BUILD)/vl/$(strip $(1))/V$(strip $(2)): $(3) $(4) $(wildcard rtl/*/*.vh tests/rtl/*.h) $(BUILD)/gen/rf_regs.vh $(BUILD)/gen/rf_regs.h
	@mkdir -p $$(@D)
	@$$(call step,VERILATE,$$@)
	$$(VERILATOR) --cc --exe --build -Wall --assert --x-assign unique --x-initial unique $(VL_MAKE) \
	  -O3 -CFLAGS "-O2 -I$$(CURDIR) -I$$(CURDIR)/$$(BUILD)/gen" $(5) -Irtl/net -Irtl/reduce -Irtl/control -I$$(BUILD)/gen \
	  --top-module $(strip $(2)) -Mdir $$(@D) $(3) $(addprefix ../../../,$(4)) > $$(@D)/build.log 2>&1 || (cat $$(@D)/build.log; false)
$(call test,rtl-$(strip $(1)),$(BUILD)/vl/$(strip $(1))/V$(strip $(2)) $(6),$(BUILD)/vl/$(strip $(1))/V$(strip $(2)))
endef
