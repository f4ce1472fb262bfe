# Simulation: trace files, switch, virtual-time fabric, Verilated shapes of the box, and the tools on top.

LIBS_PCAP := $(call pkg_libs,libpcap)

$(eval $(call c_lib,rf-opt,base/opt.c base/opt_help.c base/opt_man.c))
$(eval $(call c_prog,ringfold,tools/ringfold.c,rf-opt))
$(eval $(call c_lib,rf-trace,wire/pcapng.c wire/reader.c))
$(eval $(call c_lib,rf-notes,wire/notes.c))
$(eval $(call c_lib,rf-switch,sim/fabric/switch.c))
$(eval $(call c_test,trace,tests/unit/trace.c,rf-trace,$(LIBS_PCAP)))
$(eval $(call c_test,notes,tests/unit/notes.c,rf-notes rfctl rfproto))
$(eval $(call c_lib,rf-cosim,sim/cosim/load.c))
$(eval $(call c_test,switch,tests/sim/switch.c,rf-switch))

$(eval $(call c_test,opt,tests/unit/opt.c,rf-opt rf-cosim model softsim soft rfproto,-ldl -lm))

# The box as a library: model, firmware, loader of Verilated shapes.
SIM_BOX_LIBS := rf-cosim model softsim soft fwsim fw fwlinux rf-notes rfctl rf-switch rf-trace

# Virtual time.
FABRIC_LIBS   := rf-fabric rf-member client collective roce $(SIM_BOX_LIBS) rf-store rf-config rfproto
FABRIC_LDLIBS := $(LIBS_PCAP) -ljansson -ldl -lm
$(eval $(call c_lib,rf-fabric,$(addprefix sim/fabric/,event.c ranks.c frame.c tree_shape.c link.c router.c timeline.c check.c check_hosts.c wake.c nic.c store.c result.c member.c end.c resume.c job.c program.c host.c box.c create.c nonsense.c fabric.c leak.c tree.c plan.c plan_form.c plan_run.c plan_judge.c world.c world_net.c world_box.c world_host.c world_check.c)))
$(eval $(call c_prog,ringfold-sim,tools/ringfold-sim.c tools/sim_options.c tools/sim_collective.c tools/sim_tree.c tools/sim_report.c,rf-opt $(FABRIC_LIBS),$(FABRIC_LDLIBS)))
$(eval $(call c_link,fabric_sums,tests/sim/fabric_sums.c,$(FABRIC_LIBS),-lcmocka $(FABRIC_LDLIBS),,$(BUILD)/tests/fabric_sums))
$(eval $(call test,fabric_sums,PYTHON=$(PYTHON) tests/sim/judged.sh $(BUILD)/tests/fabric_sums,$(BUILD)/tests/fabric_sums))
$(eval $(call c_test,world,tests/sim/world.c,$(FABRIC_LIBS),$(FABRIC_LDLIBS)))
$(eval $(call c_test,fabric_hosts,tests/sim/fabric_hosts.c,$(FABRIC_LIBS),$(FABRIC_LDLIBS)))
$(eval $(call c_test,fabric_wide,tests/sim/fabric_wide.c,$(FABRIC_LIBS),$(FABRIC_LDLIBS)))
$(eval $(call c_test,fabric_mirror,tests/sim/fabric_mirror.c,$(FABRIC_LIBS),$(FABRIC_LDLIBS)))
$(eval $(call c_test,fabric_tree,tests/sim/fabric_tree.c,$(FABRIC_LIBS),$(FABRIC_LDLIBS)))
$(eval $(call c_test,fabric_limit,tests/sim/fabric_limit.c,$(FABRIC_LIBS),$(FABRIC_LDLIBS)))
$(eval $(call c_link,fabric_restart,tests/sim/fabric_restart.c,$(FABRIC_LIBS),-lcmocka $(FABRIC_LDLIBS),,$(BUILD)/tests/fabric_restart))
$(eval $(call test,fabric_restart,$(BUILD)/tests/fabric_restart,$(BUILD)/tests/fabric_restart))
$(eval $(call c_link,fabric_fallback,tests/sim/fabric_fallback.c,$(FABRIC_LIBS),-lcmocka $(FABRIC_LDLIBS),,$(BUILD)/tests/fabric_fallback))
$(eval $(call test,fabric_fallback,$(BUILD)/tests/fabric_fallback,$(BUILD)/tests/fabric_fallback))
$(eval $(call c_link,fabric_faults,tests/sim/fabric_faults.c,$(FABRIC_LIBS),-lcmocka $(FABRIC_LDLIBS),,$(BUILD)/tests/fabric_faults))
$(eval $(call test,fabric_faults,PYTHON=$(PYTHON) tests/sim/judged.sh $(BUILD)/tests/fabric_faults,$(BUILD)/tests/fabric_faults))
$(eval $(call test,fabric_frames,PYTHON=$(PYTHON) tests/sim/frames.sh $(BUILD)/bin/ringfold-sim tests/check/frames.py,$(BUILD)/bin/ringfold-sim))
$(eval $(call c_link,fabric_rtl,tests/sim/fabric_rtl.c,$(FABRIC_LIBS),-lcmocka $(FABRIC_LDLIBS),,$(BUILD)/tests/fabric_rtl))
$(eval $(call c_link,bench_loss,tests/sim/bench_loss.c,$(FABRIC_LIBS),$(FABRIC_LDLIBS),,$(BUILD)/tests/bench_loss))
$(eval $(call c_link,isolation,tests/sim/isolation.c,$(FABRIC_LIBS),$(FABRIC_LDLIBS),,$(BUILD)/tests/isolation))
$(eval $(call c_link,bench_fabric,tests/sim/bench_fabric.c,$(FABRIC_LIBS),$(FABRIC_LDLIBS),,$(BUILD)/tests/bench_fabric))
$(eval $(call c_link,bench_world,tests/sim/bench_world.c,$(FABRIC_LIBS),$(FABRIC_LDLIBS),,$(BUILD)/tests/bench_world))

# Full load on every port by single packets and messages of directed groups. In the test, a paused sender and a wrong byte must be
# noticed.
$(eval $(call c_link,bench_directed,tests/sim/bench_directed.c,$(BOXBENCH_LIBS) collective,-ljansson -ldl -lm,,$(BUILD)/tests/bench_directed))
$(eval $(call test,world-flip,$(BUILD)/tests/bench_world /dev/null model flip; test $$$$? -eq 1,$(BUILD)/tests/bench_world))
$(eval $(call test,directed-pace,tests/sim/directed_pace.sh $(BUILD)/tests/bench_directed,$(BUILD)/tests/bench_directed))

# Real time.
REALTIME_LIBS   := rf-realtime $(SIM_BOX_LIBS) rf-memif rf-io rf-store rf-config rfproto
REALTIME_LDLIBS := $(LIBS_PCAP) -ljansson -ldl -lm -lpthread
$(eval $(call c_lib,rf-memif,$(addprefix sim/realtime/,io_memif.c memif_control.c)))
$(eval $(call c_lib,rf-realtime,$(addprefix sim/realtime/,port.c port_kernel.c box.c events.c setup.c view.c)))
$(eval $(call c_prog,ringfold-box,tools/ringfold-box.c tools/box_addresses.c,rf-opt rf-web $(REALTIME_LIBS),$(REALTIME_LDLIBS)))
# Ranks as threads, with the box between them.
API_BOX_LIBS := api-box api-ranks $(HOST_LIBS) $(filter-out rf-io rf-store rf-config rf-trace rfctl rfproto,$(REALTIME_LIBS)) rfctl rf-trace rf-io rf-store rf-config rfproto
API_BOX_LDLIBS := $(REALTIME_LDLIBS) -Xlinker --wrap=rf_rt_port_open
$(eval $(call test_lib,api-box,tests/unit/api_box.c))
$(eval $(call test_lib,api-calls,tests/unit/api_job_calls.c tests/unit/api_jobs.c tests/unit/api_reference.c))
$(eval $(call c_test,api_collectives,tests/unit/api_collectives.c,api-calls $(API_BOX_LIBS),$(API_BOX_LDLIBS) -Xlinker --wrap=rf_arith_reduce))
$(eval $(call test,api_collectives-rtl,$(BUILD)/tests/api_collectives --rtl,$(BUILD)/tests/api_collectives $(BUILD)/vl/box-p4-l2-w64.so))
$(eval $(call test_lib,api-soak,tests/unit/api_soak_calls.c tests/unit/api_soak_plan.c))
$(eval $(call c_link,api_soak,tests/unit/api_soak.c,api-soak api-calls $(API_BOX_LIBS),$(API_BOX_LDLIBS),,$(BUILD)/tests/api_soak))
# 1: a creation at a full box in which a rank has just ended a group. `make soak` runs many more.
$(eval $(call test,api_soak,$(BUILD)/tests/api_soak --jobs 4 --count 40 1,$(BUILD)/tests/api_soak))
$(eval $(call test,api_soak-flip,$(BUILD)/tests/api_soak --flip 3 2>&1 | grep ": 1 wrong bytes in ",$(BUILD)/tests/api_soak))
$(eval $(call c_test,api_batch,tests/unit/api_batch.c,$(API_BOX_LIBS),$(API_BOX_LDLIBS)))
$(eval $(call c_test,api_refused,tests/unit/api_refused.c,$(API_BOX_LIBS),$(API_BOX_LDLIBS)))
$(eval $(call c_test,api_room,tests/unit/api_room.c,$(API_BOX_LIBS),$(API_BOX_LDLIBS)))
$(eval $(call c_test,api_order,tests/unit/api_order.c,$(API_BOX_LIBS),$(API_BOX_LDLIBS)))
$(eval $(call c_test,api_large,tests/unit/api_large.c,$(API_BOX_LIBS),$(API_BOX_LDLIBS)))
$(eval $(call c_test,api_restart,tests/unit/api_restart.c,$(API_BOX_LIBS),$(API_BOX_LDLIBS)))
$(eval $(call c_test,api_wide,tests/unit/api_wide.c,$(API_BOX_LIBS),$(API_BOX_LDLIBS)))
# The public calls in virtual time: the library over the fabric's links.
VIRTUAL_LIBS := $(HOST_LIBS) rf-fabric $(filter-out rf-trace rfctl,$(SIM_BOX_LIBS)) rf-member collective roce client rfctl rf-trace rf-store rf-config rfproto
$(eval $(call c_link,bench_library,tests/sim/bench_library.c tests/sim/virtual_ranks.c,$(VIRTUAL_LIBS),$(FABRIC_LDLIBS) -lpthread $(addprefix -Xlinker --wrap=,rf_now rf_store_wait),,$(BUILD)/tests/bench_library))
$(eval $(call test,library-virtual,$(BUILD)/tests/bench_library /dev/null small,$(BUILD)/tests/bench_library))
$(eval $(call test,library-virtual-flip,$(BUILD)/tests/bench_library /dev/null flip; test $$$$? -eq 1,$(BUILD)/tests/bench_library))
$(eval $(call bench,library,$(BUILD)/tests/bench_library $(BENCH_OUT),$(BUILD)/tests/bench_library))
$(eval $(call test,cli,tests/sim/cli.sh $(BUILD)/bin,$(addprefix $(BUILD)/bin/,ringfold ringfold-sim ringfold-box ringfold-perf)))
$(eval $(call test,timeline,$(PYTHON) tests/sim/timeline.py $(BUILD)/bin/ringfold-sim,$(BUILD)/bin/ringfold-sim))
$(eval $(call test,realtime_ports,$(PYTHON) tests/sim/ports.py $(BUILD)/bin/ringfold-box,$(BUILD)/bin/ringfold-box))
$(eval $(call test,realtime_ports-namespace,$(PYTHON) tests/sim/ports.py $(BUILD)/bin/ringfold-box namespace,$(BUILD)/bin/ringfold-box))
$(eval $(call c_test,realtime,tests/sim/realtime.c,$(REALTIME_LIBS),$(REALTIME_LDLIBS)))

# ---- Verilated boxes ----
#
#   build/vl/box-p<PORTS>-l<LANES>-w<WIDTH>.so         rf_core of that shape as an engine (sim/engine.h)
#   build/vl/box-p<PORTS>-l<LANES>-w<WIDTH>-trace.so   the same, able to write waveforms; slower
#   build/vl/box-p<PORTS>-l<LANES>-w<WIDTH>-deep.so    the same with memory for two groups of 512 slots at a path MTU of 4096
#   build/vl/box-p<PORTS>-l<LANES>-w<WIDTH>-wide.so    the same with 64 groups
#
# Any shape can be requested by name; $(call rtl_box,P,L,W) is its file name for prerequisites, and shapes in RTL_BOXES are built
# by `make`. The sizes of banks and header memories follow from the width as in sim/fabric/shape.h.

RTL_BOX_V    := $(shell sed 's,//.*,,' rtl/rf.f)
RTL_BOX_DEPS := $(RTL_BOX_V) $(wildcard rtl/*/*.vh) sim/cosim/box.cpp sim/cosim/box.sh sim/cosim/box.map sim/cosim/box_view.h sim/engine.h \
	$(BUILD)/gen/rf_regs.vh $(BUILD)/gen/rf_regs.h $(BUILD)/gen/sim/cosim/box_gtkw.h
rtl_box       = $(BUILD)/vl/box-p$(strip $(1))-l$(strip $(2))-w$(strip $(3)).so
RTL_DEEP     := $(BUILD)/vl/box-p4-l1-w512-deep.so $(BUILD)/vl/box-p8-l1-w512-deep.so
RTL_BOXES    := $(call rtl_box,4,1,512)
ALL_TARGETS  += $(RTL_BOXES)

# The view of a waveform as a C string.
$(BUILD)/gen/sim/cosim/box_gtkw.h: sim/cosim/box.gtkw mk/page.py
	@mkdir -p $(@D)
	@$(PYTHON) mk/page.py rf_box_gtkw $< > $@
GENERATED += $(BUILD)/gen/sim/cosim/box_gtkw.h

$(BUILD)/vl/box-%.so: $(RTL_BOX_DEPS) | generated
	@$(call step,VERILATE,$@)
	VERILATOR="$(VERILATOR)" CXX="$(VL_CXX)" sim/cosim/box.sh $* $@ $(RTL_BOX_V)
.PRECIOUS: $(BUILD)/vl/box-%.so

# ---- tests and figures that need Verilated boxes ----

$(eval $(call test,fabric_rtl-p4-l1-w512,PYTHON=$(PYTHON) tests/sim/judged.sh $(BUILD)/tests/fabric_rtl 4 1 512,$(BUILD)/tests/fabric_rtl $(call rtl_box,4,1,512)))
$(eval $(call test,fabric_rtl-p4-l2-w64,PYTHON=$(PYTHON) tests/sim/judged.sh $(BUILD)/tests/fabric_rtl 4 2 64,$(BUILD)/tests/fabric_rtl $(call rtl_box,4,2,64)))
# 20 seeds with the model; three on the Verilated box, whose times must equal the model's.
$(eval $(call bench,loss,$(BUILD)/tests/bench_loss $(BENCH_OUT),$(BUILD)/tests/bench_loss))
$(eval $(call bench,loss-rtl,$(BUILD)/tests/bench_loss $(BENCH_OUT) 3 - - - rtl,$(BUILD)/tests/bench_loss $(call rtl_box,8,1,512)))
$(eval $(call test,fabric_wide-rtl,$(BUILD)/tests/fabric_wide rtl,$(BUILD)/tests/fabric_wide $(BUILD)/vl/box-p2-l4-w64-wide.so))
$(eval $(call test,wave,$(PYTHON) tests/sim/wave.py $(BUILD)/bin/ringfold-sim,$(BUILD)/bin/ringfold-sim $(BUILD)/vl/box-p2-l1-w64-trace.so))
$(eval $(call test,wave-view,$(PYTHON) -B tests/sim/wave_view.py $(BUILD)/bin/ringfold-sim,$(BUILD)/bin/ringfold-sim $(BUILD)/vl/box-p2-l1-w64-trace.so))
$(eval $(call bench,fabric,$(BUILD)/tests/bench_fabric $(BENCH_OUT),$(BUILD)/tests/bench_fabric $(call rtl_box,4,1,512) $(call rtl_box,8,1,512)))
$(eval $(call test,isolation,$(BUILD)/tests/isolation 4,$(BUILD)/tests/isolation))
$(eval $(call c_link,bench_tree,tests/sim/bench_tree.c,$(FABRIC_LIBS),$(FABRIC_LDLIBS),,$(BUILD)/tests/bench_tree))
$(eval $(call bench,tree,$(BUILD)/tests/bench_tree $(BENCH_OUT),$(BUILD)/tests/bench_tree))
$(eval $(call bench,directed,$(BUILD)/tests/bench_directed $(BENCH_OUT) rtl,$(BUILD)/tests/bench_directed $(RTL_DEEP)))
$(eval $(call bench,world,$(BUILD)/tests/bench_world $(BENCH_OUT) model,$(BUILD)/tests/bench_world))
$(eval $(call bench,world-rtl,$(BUILD)/tests/bench_world $(BENCH_OUT) rtl,$(BUILD)/tests/bench_world $(RTL_DEEP)))
$(eval $(call bench,isolation,set -e; for p in 4 8; do $(BUILD)/tests/isolation $$$$p model $(BENCH_OUT); done; $(BUILD)/tests/isolation 4 rtl $(BENCH_OUT),$(BUILD)/tests/isolation $(call rtl_box,4,1,512)))
$(eval $(call c_test,conn_kicks,tests/sim/conn_kicks.c,$(FABRIC_LIBS),$(FABRIC_LDLIBS)))
