# The reference model of the box, its tests, the comparison of two engines, the frame checker.
#
# Library: model (needs rfproto behind it).

MODEL_SRC := $(addprefix sim/model/,arith.c queue.c parse.c ledger.c judge.c reduce.c schedule.c egress.c registers.c model.c)

$(eval $(call c_lib,model,$(MODEL_SRC)))
$(eval $(call c_test,model_arith,tests/unit/model_arith.c,model rfproto,-lm))
