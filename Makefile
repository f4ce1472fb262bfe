# ringfold: the only entry point. `make help` lists the targets.
#
# Non-recursive: every part has a fragment in mk/ that registers its libraries, programs, tests and
# figures through the macros of mk/rules.mk.

.DEFAULT_GOAL := all
MAKEFLAGS += --no-builtin-rules
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif
.SUFFIXES:
.DELETE_ON_ERROR:

include mk/rules.mk
include $(sort $(filter-out mk/rules.mk mk/final.mk,$(wildcard mk/*.mk)))
include mk/final.mk
