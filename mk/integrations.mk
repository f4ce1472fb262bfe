# The frameworks: Python, MPI.

# The package of Python: its sources, and the declarations of the public header.
PY := $(BUILD)/python/ringfold
PY_SOURCES := $(wildcard integrations/python/ringfold/*.py) integrations/python/ringfold/py.typed
PY_FILES := $(patsubst integrations/python/ringfold/%,$(PY)/%,$(PY_SOURCES)) $(PY)/_declared.py $(PY)/torch.py

$(filter-out $(PY)/_declared.py $(PY)/torch.py,$(PY_FILES)): $(PY)/%: integrations/python/ringfold/%
	@mkdir -p $(@D)
	cp $< $@
$(PY)/torch.py: integrations/torch/ringfold/torch.py
	@mkdir -p $(@D)
	cp $< $@
$(PY)/_declared.py: integrations/python/declare.py $(PUBLIC_HEADERS)
	@mkdir -p $(@D)
	@$(call step,GEN,$@)
	$(PYTHON) -B $< $(CC) host/include/ringfold/ringfold.h $@
ALL_TARGETS += $(PY_FILES)

$(eval $(call test,python,PYTHON=$(PYTHON) tests/integrations/python.sh,$(PY_FILES) $(SHLIB) $(DPDK_PLUGIN) $(addprefix $(BUILD)/bin/,ringfold ringfold-run ringfold-box)))

# Installed beside the other files of the package that belong to no version of Python; docs/python.md says how to use it.
RF_PYTHON := $(DESTDIR)$(PREFIX)/share/ringfold/python/ringfold
.PHONY: install-python
install-files: install-python
install-python:
	install -d $(RF_PYTHON)
	install -m 644 $(PY_FILES) $(RF_PYTHON)

# MPI: one core without mpi.h, and two seams. What depends on mpi.h is compiled once for each MPI.
$(eval $(call c_lib,rf-mpi,$(addprefix integrations/mpi/core/,on.c state.c settings.c job.c comm.c call.c)))

MPI_OPENMPI_I := $(wildcard /usr/lib/$(shell $(CC) -print-multiarch 2>/dev/null)/openmpi/include)
MPI_MPICH_I   := $(wildcard /usr/include/$(shell $(CC) -print-multiarch 2>/dev/null)/mpich)
MPI_FLAGS_openmpi := -isystem $(MPI_OPENMPI_I) -isystem $(MPI_OPENMPI_I)/openmpi
MPI_FLAGS_mpich   := -isystem $(MPI_MPICH_I) -include integrations/mpi/mpich/weak.h
MPI_CALLS := $(addprefix integrations/mpi/calls/,types.c translate.c serve.c)

# $(call mpi_seam,MPI,SOURCES,NAME OF THE LIBRARY,LINK FLAGS)
define mpi_seam
$(patsubst %.c,$(BUILD)/mpi/$(1)/obj/%.o,$(2) $(MPI_CALLS)): $(BUILD)/mpi/$(1)/obj/%.o: %.c $(BUILD)/flags | $$(GENERATED)
	@mkdir -p $$(@D)
	@$$(call step,CC,$$< ($(1)))
	$$(CC) $$(CFLAGS_ALL) $$(INCLUDES) $(MPI_FLAGS_$(1)) -MMD -MP -c -o $$@ $$<
DEPFILES += $(patsubst %.c,$(BUILD)/mpi/$(1)/obj/%.d,$(2) $(MPI_CALLS))
$(BUILD)/mpi/$(1)/$(3): $(patsubst %.c,$(BUILD)/mpi/$(1)/obj/%.o,$(2) $(MPI_CALLS)) $(call libs,rf-mpi rf-config) integrations/mpi/$(1)/seam.map $(SHLIB)
	@$$(call step,LINK,$$@)
	$$(CC) $$(CFLAGS_ALL) -shared -Wl,--version-script=integrations/mpi/$(1)/seam.map -o $$@ $$(filter %.o,$$^) \
	  $(call libs,rf-mpi rf-config) -L$(BUILD)/lib -lringfold $(if $(filter no,$(RPATH)),,-Wl$(comma)-rpath$(comma)'$$$$ORIGIN/../../lib:$$$$ORIGIN/../../..') $(4) -lpthread
endef
ifneq ($(wildcard $(MPI_OPENMPI_I)/openmpi/ompi/mca/coll/coll.h),)
MPI_OPENMPI := $(BUILD)/mpi/openmpi/mca_coll_ringfold.so
$(eval $(call mpi_seam,openmpi,integrations/mpi/openmpi/coll_ringfold.c,mca_coll_ringfold.so,-L$(MPI_OPENMPI_I)/../lib -lmpi -lopen-pal))
ALL_TARGETS += $(MPI_OPENMPI)
endif
ifneq ($(wildcard $(MPI_MPICH_I)/mpi.h),)
MPI_MPICH := $(BUILD)/mpi/mpich/libringfold-mpich.so
$(eval $(call mpi_seam,mpich,integrations/mpi/mpich/preload.c,libringfold-mpich.so,-ldl))
ALL_TARGETS += $(MPI_MPICH)
endif
$(eval $(call c_test,mpi_core,tests/unit/mpi_core.c,rf-mpi rf-config,-lpthread))

# Programs of MPI, built for each; they know nothing of ringfold.
# $(call mpi_program,MPI,SOURCE,LINK FLAGS): build/mpi/MPI/NAME
define mpi_program
$(BUILD)/mpi/$(1)/$(basename $(notdir $(2))): $(2) $(BUILD)/flags
	@mkdir -p $$(@D)
	@$$(call step,LINK,$$@)
	$$(CC) $(CSTD) $(OPT) $(WARN) $(MPI_FLAGS_$(1)) -o $$@ $$< $(3)
endef
$(eval $(call mpi_program,openmpi,tests/integrations/mpi_calls.c,-L$(MPI_OPENMPI_I)/../lib -lmpi))
$(eval $(call mpi_program,mpich,tests/integrations/mpi_calls.c,-lmpich))
$(eval $(call mpi_program,openmpi,tests/integrations/mpi_threads.c,-L$(MPI_OPENMPI_I)/../lib -lmpi -lpthread))
$(eval $(call mpi_program,mpich,tests/integrations/mpi_threads.c,-lmpich -lpthread))
# What a call costs, with a library that does nothing.
$(eval $(call mpi_program,openmpi,tests/bench/mpi_cost.c,-L$(MPI_OPENMPI_I)/../lib -lmpi))
$(eval $(call mpi_program,mpich,tests/bench/mpi_cost.c,-lmpich))
MPI_STUB := $(BUILD)/mpi/stub/libringfold.so.1
$(MPI_STUB): tests/bench/mpi_stub.c host/ringfold.map $(PUBLIC_HEADERS) $(BUILD)/flags
	@mkdir -p $(@D)
	@$(call step,LINK,$@)
	$(CC) $(CFLAGS_ALL) $(INCLUDES) -shared -Wl,-soname,libringfold.so.1 -Wl,--version-script=host/ringfold.map -o $@ $<
MPI_COST_DEPS := $(MPI_OPENMPI) $(MPI_MPICH) $(MPI_STUB) $(BUILD)/mpi/openmpi/mpi_cost $(BUILD)/mpi/mpich/mpi_cost
$(eval $(call bench,mpi,BUILD=$(BUILD) tests/bench/mpi_cost.sh $(BENCH_OUT),$(MPI_COST_DEPS)))
MPI_TEST_DEPS := $(SHLIB) $(DPDK_PLUGIN) $(addprefix $(BUILD)/bin/ringfold-,box ctl)
$(eval $(call test,mpi-openmpi,tests/integrations/mpi.sh openmpi,$(MPI_OPENMPI) $(BUILD)/mpi/openmpi/mpi_calls $(MPI_TEST_DEPS)))
$(eval $(call test,mpi-mpich,tests/integrations/mpi.sh mpich,$(MPI_MPICH) $(BUILD)/mpi/mpich/mpi_calls $(MPI_TEST_DEPS)))

# The table of the page: without fault, and one with a fault is noticed.
MPI_TABLE = $(PYTHON) -B tests/integrations/mpi_table.py $(1) $(MPI_MPICH) $(MPI_MPICH_I)/../../../lib/$(notdir $(abspath $(MPI_MPICH_I)/..))/libmpich.so $(MPI_OPENMPI_I)/../lib/libmpi.so
$(eval $(call test,docs-mpi,$(call MPI_TABLE,docs/mpi.md) && sed /MPI_Scatter.*served/s/served/passed/ docs/mpi.md > $(BUILD)/mpi/wrong.md && ! $(call MPI_TABLE,$(BUILD)/mpi/wrong.md),$(MPI_MPICH)))

# Both seams are installed below the library's own folder; docs/mpi.md says how MPI finds them.
.PHONY: install-mpi uninstall-mpi
install-files: install-mpi
install-mpi:
	for f in $(MPI_OPENMPI) $(MPI_MPICH); do install -D -m 755 $$f $(RF_LIB)/ringfold/$${f#$(BUILD)/} || exit 1; done
uninstall: uninstall-mpi
uninstall-mpi:
	rm -rf $(RF_LIB)/ringfold/mpi

# What needs more packages (mk/deps.sh integrations) or takes longer: `make integrations`, or integrations-NAME for one.
INTEGRATIONS := $(BUILD)/integrations
INTEGRATIONS_DEPS := $(PY_FILES) $(MPI_OPENMPI) $(MPI_MPICH) $(foreach m,openmpi mpich,$(addprefix $(BUILD)/mpi/$(m)/,mpi_calls mpi_threads)) \
  $(MPI_TEST_DEPS) $(MPI_COST_DEPS) $(call rtl_box,4,1,512) $(addprefix $(BUILD)/bin/,ringfold ringfold-run)
$(INTEGRATIONS)/tests.list: mk/integrations.mk
	@mkdir -p $(@D)
	@for m in openmpi mpich; do printf 'mpi-%s\t%s\n' $$m "tests/integrations/mpi.sh $$m"; printf 'mpi-more-%s\t%s\n' $$m "tests/integrations/mpi_more.sh $$m"; done > $@
	@printf 'python\t%s\ntorch\t%s\n' "PYTHON=$(PYTHON) tests/integrations/python.sh" tests/integrations/torch.sh >> $@
	@printf 'mpi-cost\t%s\nmpi-cost-limit\t%s\n' "tests/bench/mpi_cost.sh /dev/null" "! tests/bench/mpi_cost.sh /dev/null 50" >> $@
.PHONY: integrations
integrations: $(INTEGRATIONS_DEPS) $(INTEGRATIONS)/tests.list
	@JOBS=1 tests/run $(INTEGRATIONS)/tests.list
integrations-%: $(INTEGRATIONS_DEPS) $(INTEGRATIONS)/tests.list
	@JOBS=1 tests/run $(INTEGRATIONS)/tests.list $*
