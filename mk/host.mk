# Host library: bootstrap, frames in and out, public API; its tools, example, tests, installation.
#
# $(HOST_LIBS): the parts of libringfold in link order, for programs that need its internals.

HOST_LIBS := rf-api rf-member rf-verbs collective roce client rfctl rf-io rf-store rf-config rf-trace rfproto
DPDK_CFLAGS := $(call pkg_cflags,libdpdk)
DPDK_LIBS := $(call pkg_libs,libdpdk)

$(eval $(call c_lib,rf-config,$(addprefix host/config/,settings.c env.c log.c)))
$(eval $(call c_lib,rf-store,$(addprefix host/store/,store.c ranks_text.c store_address.c store_line.c store_call.c store_conn.c store_meet.c store_server.c store_serve.c)))
$(eval $(call c_lib,rf-io,$(addprefix host/io/,socket_path.c memif_why.c device_why.c device_value.c interface.c dpdk_load.c)))
LDLIBS_rf-io := -ldl -lpthread
$(eval $(call c_lib,rf-verbs,$(addprefix host/back/,lib.c mem.c device.c qp.c io_udp.c)))
$(eval $(call c_lib,rf-member,$(addprefix host/member/,status.c order.c neighbours.c pair_roce.c pair_verbs.c exchange.c join.c connect.c calls.c proof.c stragglers.c refusal.c tree.c steps.c base.c member.c fallback.c)))
$(eval $(call c_lib,rf-api,$(addprefix host/api/,ranges.c lock.c memory.c complete.c check.c launch.c waits.c events.c listen.c round.c wait.c deliver.c progress.c backend.c context.c bootstrap.c job.c room.c call.c many.c group.c large.c lag.c fallback.c leave.c settings.c comm.c split.c collectives.c request.c batch.c icreate.c)))

# The shared library. The number after .so is the version of the interface: it is raised by incompatible changes.
RF_VERSION := $(shell sed -n 's/^.define RF_VERSION_[A-Z]* //p' host/include/ringfold/ringfold.h | paste -sd.)
# The public header, and its parts.
PUBLIC_HEADERS := $(addprefix host/include/ringfold/,ringfold.h calls.h memory.h)
# The version for programs that do not use the library.
$(BUILD)/gen/rf_version.h: host/include/ringfold/ringfold.h
	@mkdir -p $(@D)
	@echo '#define RF_VERSION_TEXT "$(RF_VERSION)"' > $@
GENERATED += $(BUILD)/gen/rf_version.h
SHLIB := $(BUILD)/lib/libringfold.so

$(BUILD)/lib/libringfold.so.1: $(call libs,$(HOST_LIBS)) host/ringfold.map
	@$(call step,LINK,$@)
	$(CC) $(CFLAGS_ALL) -shared -Wl,-soname,libringfold.so.1 -Wl,--version-script=host/ringfold.map \
	  -Wl,-z,defs -o $@ -Wl,--whole-archive $(BUILD)/lib/librf-api.a $(BUILD)/lib/librf-member.a -Wl,--no-whole-archive \
	  $(call libs,$(filter-out rf-api rf-member,$(HOST_LIBS))) $(foreach l,$(HOST_LIBS),$(LDLIBS_$(l))) -lpthread -ldl
$(SHLIB): $(BUILD)/lib/libringfold.so.1
	ln -sf libringfold.so.1 $@
ALL_TARGETS += $(SHLIB)

# The plug-in for DPDK: only this object is linked with DPDK. Programs find it in ringfold/ beside the library.
ifeq ($(shell pkg-config --exists libdpdk && echo yes),yes)
DPDK_PLUGIN := $(BUILD)/lib/ringfold/io_dpdk.so
$(eval $(call c_objects,host/io/io_dpdk.c,$(DPDK_CFLAGS)))
$(DPDK_PLUGIN): $(call objs,host/io/io_dpdk.c) $(call libs,rf-io rf-config) host/io/io_dpdk.map
	@mkdir -p $(@D)
	@$(call step,LINK,$@)
	$(CC) $(CFLAGS_ALL) -shared -Wl,--version-script=host/io/io_dpdk.map -Wl,-z,defs -o $@ $< \
	  $(call libs,rf-io rf-config) $(DPDK_LIBS) -lpthread
ALL_TARGETS += $(DPDK_PLUGIN)
endif
$(SHLIB) $(addprefix $(BUILD)/bin/,ringfold-box ringfold-ctl ringfold-doctor io-bench) \
  $(addprefix $(BUILD)/tests/,io_memif io_dpdk io_tap realtime e2e_bad_wire): | $(DPDK_PLUGIN)

# Programs that use only the public interface: linked with the shared library in their own directory.
# RPATH=no: they find the library only where the system looks for it, as packages want it.
RINGFOLD_LIBS := -L$(BUILD)/lib -lringfold $(if $(filter no,$(RPATH)),,-Wl$(comma)-rpath$(comma)'$$$$ORIGIN/../lib')

$(eval $(call c_lib,rf-perf,$(addprefix tools/,perf_call.c perf_want.c perf_measure.c perf_stats.c perf_out.c)))
$(eval $(call c_prog,ringfold-perf,tools/ringfold-perf.c tools/perf_options.c,rf-perf rf-opt rfproto,$(RINGFOLD_LIBS) -ljansson))
$(eval $(call c_prog,ringfold-osu,tools/ringfold-osu.c,rf-perf rf-opt rfproto,$(RINGFOLD_LIBS) -ljansson))
$(eval $(call c_prog,allreduce,examples/allreduce.c,,$(RINGFOLD_LIBS)))
$(eval $(call c_prog,ringfold-train,demo/train.c demo/net.c demo/digits.c,rf-opt,$(RINGFOLD_LIBS)))
$(addprefix $(BUILD)/bin/,ringfold-perf ringfold-osu allreduce ringfold-train): $(SHLIB)

$(eval $(call c_test,bootstrap_env,tests/unit/bootstrap_env.c,rf-config))
$(eval $(call c_link,settings_table,tests/unit/settings_table.c,rf-config,,,$(BUILD)/tests/settings_table))
$(eval $(call test,docs-settings,$(BUILD)/tests/settings_table docs/api.md,$(BUILD)/tests/settings_table))
$(eval $(call test_lib,store-world,tests/unit/store_world.c))
$(eval $(call c_test,bootstrap_store,tests/unit/bootstrap_store.c,store-world rf-store rf-config rfproto,-lpthread))
$(eval $(call c_test,bootstrap_strangers,tests/unit/bootstrap_strangers.c,store-world rf-store rf-config rfproto,-lpthread))
$(eval $(call c_test,store_silent,tests/unit/store_silent.c,store-world rf-store rf-config rfproto,-lpthread))
$(eval $(call c_test,store_lanes,tests/unit/store_lanes.c,store-world rf-store rf-config rfproto,-lpthread))
$(eval $(call test_lib,iostream,tests/unit/io_stream.c))
$(eval $(call c_test,io_memif,tests/unit/io_memif.c,iostream rf-memif rf-io rf-store rf-config,-lpthread))
$(eval $(call c_test,io_dpdk,tests/unit/io_dpdk.c,iostream rf-memif rf-io rf-store rf-config,-lpthread))
$(eval $(call c_test,io_tap,tests/unit/io_tap.c,iostream rf-io rf-store rf-config,-lpthread))
$(eval $(call test_lib,fake-verbs,tests/unit/fake_verbs.c))
$(eval $(call c_test,verbs_memory,tests/unit/verbs_memory.c,fake-verbs rf-verbs roce rf-store rf-config rfproto,-lpthread $(addprefix -Xlinker --wrap=,dlopen dlsym)))
$(eval $(call c_test,verbs_end,tests/unit/verbs_end.c,rf-verbs roce rf-store rf-config rfproto,-lpthread))
$(eval $(call c_test,member_refusal,tests/unit/member_refusal.c,rf-member collective roce client rfctl rf-store rf-config rfproto,-lpthread -lm))
$(eval $(call c_test,member_test,tests/unit/member_test.c,rf-member collective roce client rfctl rf-store rf-config rfproto,-lpthread -lm $(addprefix -Xlinker --wrap=,malloc calloc realloc aligned_alloc)))
$(eval $(call c_test,order_tree_test,tests/unit/order_tree_test.c,rf-member collective roce client rfctl rf-store rf-config rfproto model,-lpthread -lm))
$(eval $(call c_test,perf_test,tests/unit/perf_test.c,rf-perf rfproto,$(RINGFOLD_LIBS) -ljansson))
$(BUILD)/tests/perf_test: $(SHLIB)
$(eval $(call test_lib,api-ranks,tests/unit/api_ranks.c tests/unit/io_hub.c))
$(eval $(call c_test,api_ring,tests/unit/api_ring.c,api-ranks $(HOST_LIBS),-lpthread -lm))
$(eval $(call c_link,api_cost,tests/unit/api_cost.c,,$(RINGFOLD_LIBS),,$(BUILD)/tests/api_cost))
$(BUILD)/tests/api_cost: $(SHLIB)
$(eval $(call test,api_cost,tests/unit/api_cost.sh $(BUILD)/tests/api_cost,$(BUILD)/tests/api_cost))
# The check of the check: a limit that nothing can keep.
$(eval $(call test,api_cost-limit,! tests/unit/api_cost.sh $(BUILD)/tests/api_cost 60,$(BUILD)/tests/api_cost))
$(eval $(call c_test,api_log,tests/unit/api_log.c,api-ranks $(HOST_LIBS),-lpthread -lm))
$(eval $(call c_test,api_threads,tests/unit/api_threads.c,api-ranks $(HOST_LIBS),-lpthread -lm))
$(eval $(call c_test,api_comms,tests/unit/api_comms.c,api-ranks $(HOST_LIBS),-lpthread -lm))
$(eval $(call c_test,api_bootstrap,tests/unit/api_bootstrap.c,api-ranks $(HOST_LIBS),-lpthread -lm))
$(eval $(call c_test,api_complete,tests/unit/api_complete.c,api-ranks $(HOST_LIBS),-lpthread -lm))
$(eval $(call c_test,api_icreate,tests/unit/api_icreate.c,api-ranks $(HOST_LIBS),-lpthread -lm))
$(eval $(call c_test,api_ranges,tests/unit/api_ranges.c,rf-api))
$(eval $(call c_test,api_memory,tests/unit/api_memory.c,api-ranks fake-verbs $(HOST_LIBS),-lpthread -lm $(addprefix -Xlinker --wrap=,dlopen dlsym syscall)))
$(eval $(call c_test,api_null,tests/unit/api_null.c,$(HOST_LIBS),-lpthread -lm))
$(eval $(call c_test,api_errors,tests/unit/api_errors.c,api-ranks $(HOST_LIBS),-lpthread -lm))

# End to end: processes, DPDK memif, `ringfold box`.
$(eval $(call c_link,e2e_rank,tests/e2e/rank.c,,$(RINGFOLD_LIBS),,$(BUILD)/tests/e2e_rank))
$(BUILD)/tests/e2e_rank: $(SHLIB)
E2E_DEPS := $(BUILD)/tests/e2e_rank $(BUILD)/bin/ringfold-box $(BUILD)/bin/ringfold-perf $(BUILD)/bin/ringfold-train
$(eval $(call test,e2e-perf-2,tests/e2e/perf.sh 2,$(E2E_DEPS)))
$(eval $(call test,e2e-perf-4,tests/e2e/perf.sh 4,$(E2E_DEPS)))
$(eval $(call test,e2e-perf-calls,PYTHON=$(PYTHON) tests/e2e/perf_calls.sh 3,$(E2E_DEPS)))
$(eval $(call test,e2e-osu,tests/e2e/osu.sh,$(addprefix $(BUILD)/bin/,ringfold ringfold-run ringfold-osu ringfold-box)))
$(eval $(call test,e2e-perf-rtl,tests/e2e/perf.sh 4 rtl,$(E2E_DEPS) $(BUILD)/vl/box-p4-l1-w512.so))
$(eval $(call test,e2e-errors,tests/e2e/errors.sh,$(E2E_DEPS)))
$(eval $(call test,e2e-captures,tests/e2e/captures.sh,$(E2E_DEPS) $(BUILD)/bin/ringfold-sim $(BUILD)/bin/ringfold))
$(eval $(call test,e2e-usage,tests/e2e/usage.sh $(BUILD)/bin,$(addprefix $(BUILD)/bin/ringfold,-box -perf -ctl) $(BUILD)/bin/ringfold))
$(eval $(call test,e2e-flags,tests/e2e/flags.sh,$(E2E_DEPS)))
$(eval $(call test,e2e-room,tests/e2e/room.sh,$(E2E_DEPS)))
$(eval $(call test,e2e-comms,tests/e2e/comms.sh,$(E2E_DEPS)))
$(eval $(call test,e2e-aborts,tests/e2e/aborts.sh,$(E2E_DEPS)))
$(eval $(call test,e2e-fallback,tests/e2e/fallback.sh,$(E2E_DEPS) $(BUILD)/bin/ringfold-ctl))
$(eval $(call test,e2e-stragglers,tests/e2e/stragglers.sh,$(E2E_DEPS) $(BUILD)/bin/ringfold-ctl))
$(eval $(call test,e2e-deaths,tests/e2e/deaths.sh,$(E2E_DEPS) $(BUILD)/bin/ringfold-ctl))
$(eval $(call test,e2e-norule,tests/e2e/norule.sh,$(E2E_DEPS)))
$(eval $(call test,e2e-no-rdma,tests/e2e/no_rdma.sh,$(E2E_DEPS)))
$(eval $(call test,e2e-no-dpdk,tests/e2e/no_dpdk.sh,$(E2E_DEPS)))
$(eval $(call test,e2e-events,tests/e2e/events.sh,$(E2E_DEPS) $(BUILD)/bin/allreduce))
$(eval $(call test,e2e-launch,tests/e2e/launch.sh,$(E2E_DEPS) $(BUILD)/bin/allreduce))
$(eval $(call test,e2e-doctor,tests/e2e/doctor.sh model,$(E2E_DEPS) $(BUILD)/bin/ringfold-doctor))
$(eval $(call test,e2e-afpacket,tests/e2e/afpacket.sh,$(E2E_DEPS) $(BUILD)/bin/ringfold-doctor))
$(eval $(call test,e2e-bridge,tests/e2e/bridge.sh,$(E2E_DEPS) $(BUILD)/bin/ringfold-doctor))
$(eval $(call test,e2e-router,tests/e2e/router.sh,$(E2E_DEPS) $(addprefix $(BUILD)/bin/ringfold-,doctor ctl)))
$(eval $(call test,e2e-frames,PYTHON=$(PYTHON) tests/e2e/frames.sh model,$(E2E_DEPS)))
$(eval $(call test,e2e-frames-rtl,PYTHON=$(PYTHON) tests/e2e/frames.sh rtl,$(E2E_DEPS) $(BUILD)/vl/box-p4-l1-w512.so))
$(eval $(call test,e2e-install,tests/e2e/install.sh,$(E2E_DEPS) $(BUILD)/vl/box-p2-l1-w64-trace.so))

# make install: PREFIX is the target directory, LIBDIR that of the library, SYSCONFDIR that of ringfoldd's configuration (/etc for
# an installation into the system), DESTDIR is for packaging.
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
SYSCONFDIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),/etc,$(PREFIX)/etc)
RF_BIN := $(DESTDIR)$(PREFIX)/bin
RF_LIB := $(DESTDIR)$(LIBDIR)
# The tools look for engines and the firmware's image in ../lib/ringfold.
RF_OWN := $(DESTDIR)$(PREFIX)/lib/ringfold

# Programs that users need: without the tools that compare engines and those of the demo, which work in this tree.
INSTALL_PROGRAMS := $(addprefix $(BUILD)/bin/,ringfold $(addprefix ringfold-,box run info top sim perf osu doctor ctl gen check))
# Built if the packages that they need are installed.
INSTALL_IF_THERE := $(addprefix $(BUILD)/bin/,ringfold-plan ringfold-rv32 ringfoldd)

.PHONY: install-files uninstall
install: all
	$(MAKE) --no-print-directory install-files

# Installs what is already built.
install-files:
	@$(call step,INSTALL,$(DESTDIR)$(PREFIX))
	install -d $(RF_BIN) $(RF_LIB)/pkgconfig $(DESTDIR)$(PREFIX)/include/ringfold
	install -m 755 $(INSTALL_PROGRAMS) $(wildcard $(INSTALL_IF_THERE)) $(RF_BIN)
	install -m 755 $(BUILD)/lib/libringfold.so.1 $(RF_LIB)/libringfold.so.$(RF_VERSION)
	$(if $(DPDK_PLUGIN),install -D -m 755 $(DPDK_PLUGIN) $(RF_LIB)/ringfold/io_dpdk.so)
	$(if $(DPDK_PLUGIN),[ $(RF_LIB)/ringfold = $(RF_OWN) ] || install -D -m 755 $(DPDK_PLUGIN) $(RF_OWN)/io_dpdk.so)
	ln -sf libringfold.so.$(RF_VERSION) $(RF_LIB)/libringfold.so.1
	ln -sf libringfold.so.1 $(RF_LIB)/libringfold.so
	for f in $(sort $(RTL_BOXES) $(wildcard $(BUILD)/vl/box-p*-l*-w*.so)); do install -D -m 755 $$f $(RF_OWN)/$${f##*/} || exit 1; done
	install -m 644 $(PUBLIC_HEADERS) $(DESTDIR)$(PREFIX)/include/ringfold/
	[ ! -f $(BUILD)/firmware/ringfold-rv32.elf ] || install -D -m 644 $(BUILD)/firmware/ringfold-rv32.elf $(RF_OWN)/ringfold-rv32.elf
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(RF_VERSION)|' host/ringfold.pc.in > $(RF_LIB)/pkgconfig/ringfold.pc
	install -d $(RF_LIB)/cmake/ringfold
	for f in config config-version; do sed "s|@INCLUDE@|$$(realpath -m --relative-to=$(LIBDIR) $(PREFIX)/include)|; s|@VERSION@|$(RF_VERSION)|" \
	  host/cmake/ringfold-$$f.cmake.in > $(RF_LIB)/cmake/ringfold/ringfold-$$f.cmake || exit 1; done
	$(if $(DESTDIR),,[ "$$(id -u)" != 0 ] || ldconfig)

# Removes everything that `make install` has installed, except the configuration, which may have been edited.
uninstall:
	rm -f $(addprefix $(RF_BIN)/,$(notdir $(INSTALL_PROGRAMS) $(INSTALL_IF_THERE)))
	rm -f $(RF_LIB)/libringfold.so $(RF_LIB)/libringfold.so.1 $(RF_LIB)/libringfold.so.$(RF_VERSION)
	rm -f $(addprefix $(RF_OWN)/,ringfold-rv32.elf io_dpdk.so) $(RF_OWN)/box-p*-l*-w*.so $(RF_LIB)/ringfold/io_dpdk.so
	rm -f $(PUBLIC_HEADERS:host/%=$(DESTDIR)$(PREFIX)/%) $(RF_LIB)/pkgconfig/ringfold.pc
	rm -rf $(RF_LIB)/cmake/ringfold
	rm -f $(DESTDIR)$(PREFIX)/lib/systemd/system/ringfoldd.service
	rm -f $(DESTDIR)$(PREFIX)/lib/sysusers.d/ringfold.conf $(DESTDIR)$(PREFIX)/lib/udev/rules.d/70-ringfold.rules
	for d in $(RF_OWN) $(RF_LIB)/ringfold $(DESTDIR)$(PREFIX)/include/ringfold; do \
	  [ ! -d $$d ] || rmdir --ignore-fail-on-non-empty $$d; done
	$(if $(DESTDIR),,[ "$$(id -u)" != 0 ] || ldconfig)
