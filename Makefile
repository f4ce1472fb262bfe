# ringfold: the only entry point. `make help` lists the targets.
#
# Non-recursive: every part has a fragment in mk/ that registers its libraries, programs, tests and
# figures through the macros of mk/rules.mk.

.DEFAULT_GOAL := all
# make separates names by blanks.
ifneq ($(word 2,$(CURDIR)),)
$(error the name of this folder contains a blank, which make cannot handle: move the tree to another folder)
endif
MAKEFLAGS += --no-builtin-rules
# Every processor, unless told otherwise; a make that is started by another one shares the other's.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
.SUFFIXES:
.DELETE_ON_ERROR:

# The generated headers next: what follows depends on them.
include mk/rules.mk mk/regs.mk
include $(sort $(filter-out mk/rules.mk mk/regs.mk mk/final.mk,$(wildcard mk/*.mk)))
include mk/final.mk
