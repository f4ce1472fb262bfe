# The software box (soft/), the same as an engine of the simulator (sim/soft/), and their tests.
#
# Libraries: soft (needs rfproto after it), softsim. The kernels become vectors at -O3.

$(eval $(call c_lib,soft,$(addprefix soft/,bytes.c parse.c table.c judge.c burst.c data.c nak.c ledger.c pass.c again.c turn.c out.c firm.c registers.c box.c sum.c sum_none.c sum_avx2.c sum_avx512.c),$(if $(filter yes,$(ISAL)),-DSOFT_ISAL),-O3))
LDLIBS_soft := $(if $(filter yes,$(ISAL)),$(call pkg_libs,libisal))
$(eval $(call c_lib,softsim,sim/soft/engine.c))
