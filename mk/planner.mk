# The planner: topologies, plans, their verification and simulation. A library of its own: jansson and libm only,
# and COIN CLP for schemes that solve linear programs.

PLAN_SRC    := $(addprefix plan/,topology.c topology_json.c text.c generate.c plan.c plan_json.c plan_write.c)
PLANNER_SRC := $(addprefix planner/,verify.c \
  fluid.c chunks.c colouring.c canon.c)
PLANNER_SRC += $(addprefix planner/,mem.c work.c lp.c heap.c router.c build.c racks.c tree_load.c cut.c master.c fold.c quotient.c image.c unfold.c steiner.c arbor.c search.c pack.c scheme.c scheme_list.c degree.c ring.c rack.c servers.c \
  atp.c best.c gria.c draws.c grid.c inart.c inart_exact.c forestcoll.c rails.c exact.c certify.c quantise.c relax.c)
PLANNER_SRC += $(addprefix planner/,shape.c limits.c limits_fit.c caterpillar.c families.c every.c choice.c choose.c jobs.c replanning.c replan.c)
PLANNER_LDLIBS := -lClp -ljansson -lm

$(eval $(call c_lib,rf-plan,$(PLAN_SRC)))
$(eval $(call c_lib,rf-planner,$(PLANNER_SRC),,$(call pkg_cflags,clp)))
$(eval $(call c_test,planner_topology,tests/unit/planner_topology.c,rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call test_lib,planner-forest,tests/unit/planner_forest.c))
$(eval $(call test_lib,planner-help,tests/unit/planner_help.c))
$(eval $(call c_test,planner_verify,tests/unit/planner_verify.c,planner-help planner-forest rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call c_test,planner_json,tests/unit/planner_json.c,planner-help planner-forest rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call c_test,planner_sim,tests/unit/planner_sim.c,planner-help planner-forest rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call c_test,planner_steiner,tests/unit/planner_steiner.c,planner-help rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call c_test,planner_runs,tests/unit/planner_runs.c,planner-help rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call test_lib,planner-every,tests/unit/planner_every.c))
$(eval $(call c_test,planner_limits,tests/unit/planner_limits.c,planner-every planner-help planner-forest rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call c_test,planner_jobs,tests/unit/planner_jobs.c,planner-every planner-help planner-forest rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call c_test,planner_replan,tests/unit/planner_replan.c,planner-every planner-help planner-forest rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call c_test,planner_share,tests/unit/planner_share.c,planner-help rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call c_test,planner_idle,tests/unit/planner_idle.c,planner-every planner-help planner-forest rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call c_test,planner_values,tests/unit/planner_values.c,planner-help rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call c_test,planner_random,tests/unit/planner_random.c,planner-help rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call test_lib,planner-drawn,tests/unit/planner_drawn.c))
$(eval $(call c_test,planner_best,tests/unit/planner_best.c,planner-drawn rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call c_test,planner_fold,tests/unit/planner_fold.c,rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call c_test,planner_time,tests/unit/planner_time.c,rf-planner rf-plan,$(PLANNER_LDLIBS)))

# Only libc, libm, jansson and CLP: no DPDK, no Verilator, no other code of this tree.
$(eval $(call test,planner-alone,tests/check/planner_alone.sh $(call libs,rf-planner) $(call libs,rf-plan),$(call libs,rf-planner rf-plan)))
