# The reference model of the box, its tests, the comparison of two engines, the frame checker.
#
# Library: model (needs rfproto behind it).

MODEL_SRC := $(addprefix sim/model/,arith.c queue.c parse.c ledger.c judge.c reduce.c schedule.c egress.c registers.c model.c)

$(eval $(call c_lib,model,$(MODEL_SRC)))
$(eval $(call c_test,model_arith,tests/unit/model_arith.c,model rfproto,-lm))

COMPARE_SRC := $(addprefix tests/sim/compare/,packet.c bench.c engine.c)
$(eval $(call c_lib,boxbench,$(COMPARE_SRC) tests/unit/model_common.c))
BOXBENCH_LIBS := boxbench model rfproto
$(eval $(call c_test,model_lines,tests/unit/model_lines.c,$(BOXBENCH_LIBS),-ldl))
$(eval $(call c_test,model_conn,tests/unit/model_conn.c,$(BOXBENCH_LIBS),-ldl))
$(eval $(call c_test,model_acks,tests/unit/model_acks.c,$(BOXBENCH_LIBS),-ldl))
$(eval $(call c_test,model_ledger,tests/unit/model_ledger.c,$(BOXBENCH_LIBS),-ldl))
$(eval $(call c_test,model_sums,tests/unit/model_sums.c,$(BOXBENCH_LIBS),-ldl -lm))
