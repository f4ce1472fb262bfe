# Traffic for packet generators, and the comparison of the results.

$(eval $(call c_lib,rf-traffic,tools/traffic.c tools/traffic_random.c tools/traffic_file.c tools/traffic_box.c tools/directed.c tools/elements.c))
$(eval $(call c_prog,ringfold-gen,tools/ringfold-gen.c tools/gen_write.c tools/gen_faults.c tools/gen_folder.c,rf-traffic collective roce rfproto rf-opt,-ljansson -lpcap -lm))
$(eval $(call c_prog,ringfold-check,tools/ringfold-check.c,rf-traffic collective roce rfproto rf-opt,-ljansson -lpcap -lm))

# Tools that talk to the box over DPDK. $(HOST_LIBS) is defined in mk/host.mk.
BOXLINK_LIBS := rf-boxlink client rfctl rf-io rf-store rf-config roce rfproto rf-opt
$(eval $(call c_lib,rf-boxlink,tools/boxlink.c))
$(eval $(call c_prog,ringfold-ctl,$(addprefix tools/,ringfold-ctl.c ctl_ask.c ctl_hold.c ctl_traffic.c ctl_plain.c ctl_show.c ctl_box.c ctl_ranks.c ctl_counters.c ctl_register.c ctl_tree.c),rf-tree-walk rf-traffic collective $(BOXLINK_LIBS),-ljansson -lpthread -lm))
$(eval $(call c_prog,ringfold-doctor,$(addprefix tools/,ringfold-doctor.c doctor_report.c doctor_hear.c doctor_box.c doctor_path.c doctor_group.c doctor_mirror.c doctor_ranks.c),rf-boxlink $(HOST_LIBS) rf-opt,-ljansson -lpthread -lm))

# Ranks of any program on the simulated box.
$(eval $(call c_prog,ringfold-run,$(addprefix tools/,ringfold-run.c run_process.c run_folder.c),rf-opt))
$(eval $(call test,e2e-run,tests/e2e/run.sh,$(addprefix $(BUILD)/bin/,ringfold ringfold-run ringfold-box ringfold-perf allreduce)))
$(eval $(call test,e2e-run-rtl,tests/e2e/run.sh rtl,$(addprefix $(BUILD)/bin/,ringfold ringfold-run ringfold-box allreduce) $(call rtl_box,4,1,512)))

# What is installed, what was found, which settings are in force.
$(eval $(call c_prog,ringfold-info,tools/ringfold-info.c,rf-opt rf-cosim model softsim soft rf-io rf-config rfproto,$(RINGFOLD_LIBS) -ljansson -ldl -lm))
$(BUILD)/bin/ringfold-info: $(SHLIB) | $(DPDK_PLUGIN)
$(eval $(call test,e2e-info,tests/e2e/info.sh $(BUILD)/bin,$(addprefix $(BUILD)/bin/,ringfold ringfold-info allreduce) $(if $(RFD_HAVE),$(BUILD)/bin/ringfoldd) $(BUILD)/bin/ringfold-plan))

# The page of a box on a terminal.
$(eval $(call c_prog,ringfold-top,tools/ringfold-top.c tools/top_get.c tools/top_show.c,rf-opt,-ljansson))
$(eval $(call test,e2e-top,$(PYTHON) -B tests/e2e/top.py $(BUILD),$(addprefix $(BUILD)/bin/,ringfold ringfold-top ringfold-run ringfold-box) $(BUILD)/tests/e2e_rank))

# The options of all tools; those that need a package are checked if they were built.
$(eval $(call test,options,tests/e2e/options.sh $(BUILD)/bin $(PYTHON),$(addprefix $(BUILD)/bin/,ringfold $(addprefix ringfold-,box run info top sim perf osu doctor ctl gen check replay train))))

# Every tool with output that cannot be written.
$(eval $(call test,e2e-full,tests/e2e/full.sh,$(E2E_DEPS) $(addprefix $(BUILD)/bin/,ringfold $(addprefix ringfold-,box check compare ctl doctor gen info osu perf replay run sim top train)) $(if $(RFD_HAVE),$(BUILD)/bin/ringfoldd) $(BUILD)/bin/ringfold-plan))

# A wire with one fault that the doctor has to name.
$(eval $(call c_link,e2e_bad_wire,tests/e2e/bad_wire.c,rf-memif rf-io rf-store rf-config roce rfctl rfproto,-lpthread,,$(BUILD)/tests/e2e_bad_wire))
$(eval $(call test,e2e-doctor-faults,tests/e2e/doctor_faults.sh,$(E2E_DEPS) $(BUILD)/bin/ringfold-doctor $(BUILD)/tests/e2e_bad_wire))
$(eval $(call test,e2e-doctor-jobs,tests/e2e/doctor_jobs.sh,$(E2E_DEPS) $(BUILD)/bin/ringfold-doctor $(BUILD)/bin/ringfold-ctl $(BUILD)/tests/e2e_bad_wire))
$(eval $(call test,e2e-doctor-rtl,tests/e2e/doctor.sh rtl,$(E2E_DEPS) $(BUILD)/bin/ringfold-doctor $(call rtl_box,4,1,512)))

# Generated traffic end to end: 10 x S = 5120 indexes through the real-time box, played by itself and by dpdk-testpmd.
TRAFFIC_DEPS := $(addprefix $(BUILD)/bin/ringfold-,gen check ctl box)
$(eval $(call test,e2e-traffic-pcap-model,tests/e2e/traffic.sh pcap model 1280 --foreign 5%,$(TRAFFIC_DEPS)))
$(eval $(call test,e2e-traffic-testpmd-model,tests/e2e/traffic.sh testpmd model 5120,$(TRAFFIC_DEPS)))
$(eval $(call test,e2e-traffic-testpmd-rtl,tests/e2e/traffic.sh testpmd rtl 5120,$(TRAFFIC_DEPS) $(call rtl_box,4,1,512)))
$(eval $(call test,e2e-traffic-faults,tests/e2e/traffic.sh testpmd model 5120 --faults all --foreign 5% --seed 7,$(TRAFFIC_DEPS)))
$(eval $(call test,e2e-traffic-faults-rtl,tests/e2e/traffic.sh pcap rtl 1280 --faults all --foreign 5% --seed 8,$(TRAFFIC_DEPS) $(call rtl_box,4,1,512)))
$(eval $(call test,e2e-traffic-lanes,LANES=2 tests/e2e/traffic.sh testpmd model 1280 --ranks 8 --dtype bf16,$(TRAFFIC_DEPS)))
$(eval $(call test,e2e-traffic-write,tests/e2e/traffic.sh pcap model 640 --opcode write-imm --vlan 5 --mtu 4096 --size 256K --dtype int32 --op max --faults all,$(TRAFFIC_DEPS)))
$(eval $(call test,e2e-traffic-mirror,LANES=2 tests/e2e/traffic.sh testpmd model 3840 --directed --steering mirror --ranks 8 --dtype all --op all --size 3000 --faults all,$(TRAFFIC_DEPS)))
$(eval $(call test,e2e-traffic-mirror-rtl,tests/e2e/traffic.sh pcap rtl 128 --steering mirror --dtype int32 --op max --faults all --seed 9,$(TRAFFIC_DEPS) $(call rtl_box,4,1,512)))
$(eval $(call test,e2e-traffic-directed-rtl,tests/e2e/traffic.sh pcap rtl 3840 --directed --steering mirror --dtype all --op all --size 3000 --faults all,$(TRAFFIC_DEPS) $(call rtl_box,4,1,512)))
$(eval $(call test,e2e-traffic-directed-ring,tests/e2e/traffic.sh pcap model 3840 --directed --dtype all --op all --size 3000 --foreign 5% --vlan 7,$(TRAFFIC_DEPS)))
$(eval $(call test,e2e-traffic-soft,tests/e2e/traffic.sh pcap soft 640 --foreign 5% && LANES=2 tests/e2e/traffic.sh pcap soft 640 --directed --steering mirror --ranks 8 --dtype all --op all --size 3000 --faults all,$(TRAFFIC_DEPS)))
$(eval $(call test,e2e-tools,tests/e2e/tools.sh,$(TRAFFIC_DEPS)))
$(eval $(call test,e2e-registrations,$(PYTHON) tests/e2e/registrations.py $(BUILD),$(BUILD)/bin/ringfold-box $(BUILD)/bin/ringfold-ctl))

# Traffic of directed groups and mirror connections, played into the model by registers.
$(eval $(call c_link,sim_play,tests/sim/play.c,rf-traffic boxbench rf-cosim model softsim soft collective roce rfproto,-ljansson -lpcap -lm -ldl,,$(BUILD)/tests/sim_play))
$(eval $(call test,traffic-directed,PYTHON=$(PYTHON) tests/sim/play.sh $(BUILD) model,$(addprefix $(BUILD)/bin/ringfold-,gen check) $(BUILD)/tests/sim_play))

$(eval $(call test,traffic-directed-rtl,PYTHON=$(PYTHON) tests/sim/play.sh $(BUILD) rtl,$(addprefix $(BUILD)/bin/ringfold-,gen check) $(BUILD)/tests/sim_play $(call rtl_box,4,1,512)))

# The transport over DPDK, in packets a second.
$(eval $(call test_prog,io-bench,tests/bench/io_bench.c,rf-memif rf-io rf-store rf-config roce rfproto,-lpthread))
$(eval $(call bench,io,$(BUILD)/bin/io-bench $(BENCH_OUT),$(BUILD)/bin/io-bench))
