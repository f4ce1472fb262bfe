# The frameworks: Python, MPI.

# The package of Python: its sources, and the declarations of the public header.
PY := $(BUILD)/python/ringfold
PY_SOURCES := $(wildcard integrations/python/ringfold/*.py) integrations/python/ringfold/py.typed
PY_FILES := $(patsubst integrations/python/ringfold/%,$(PY)/%,$(PY_SOURCES)) $(PY)/_declared.py

$(filter-out $(PY)/_declared.py,$(PY_FILES)): $(PY)/%: integrations/python/ringfold/%
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
