# ringfold plan, its test by hand, the figures of the planner. Comes after planner.mk, whose PLANNER_LDLIBS it needs.

$(eval $(call c_prog,ringfold-plan,$(addprefix tools/,ringfold-plan.c plan_files.c plan_report.c plan_make.c plan_check.c plan_result.c plan_jobs.c plan_compare.c plan_generate.c plan_picture.c plan_chart.c),rf-planner rf-plan rf-opt,$(PLANNER_LDLIBS)))
$(eval $(call test,e2e-plan,tests/e2e/plan.sh $(BUILD)/bin,$(BUILD)/bin/ringfold-plan))

$(eval $(call test_prog,planner-bench,tests/bench/planner_bench.c tests/bench/planner_figure.c tests/bench/planner_cases.c tests/bench/planner_large.c tests/bench/planner_cluster.c,planner-drawn planner-forest rf-planner rf-plan rf-opt,$(PLANNER_LDLIBS)))
$(eval $(call bench,planner,$(BUILD)/bin/planner-bench $(BENCH_OUT),$(BUILD)/bin/planner-bench))
$(eval $(call test,e2e-planner-bench,tests/e2e/planner_bench.sh $(BUILD)/bin,$(BUILD)/bin/planner-bench))

# The fluid run compared with SimGrid; skipped if that is not installed.
$(eval $(call test_prog,planner-flows,tests/interop/planner_flows.c,planner-forest rf-planner rf-plan,$(PLANNER_LDLIBS)))
$(eval $(call test,planner-simgrid,tests/interop/planner_simgrid.sh $(BUILD)/bin/planner-flows,$(BUILD)/bin/planner-flows))
