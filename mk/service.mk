# What shows a box to people and programs: metrics, status, page. Without libmicrohttpd, serving it says so.

WEB_HAVE := $(shell pkg-config --exists libmicrohttpd 2>/dev/null && echo yes)
$(eval $(call c_lib,rf-web,$(addprefix service/,address.c $(if $(WEB_HAVE),web.c,web_none.c) metrics.c status.c groups.c faults.c events.c)))
LDLIBS_rf-web := $(if $(WEB_HAVE),$(call pkg_libs,libmicrohttpd)) -ljansson -lm

# The page as a C string.
$(BUILD)/gen/service/page.h: service/page.html mk/page.py
	@mkdir -p $(@D)
	@$(PYTHON) mk/page.py rf_web_page $< > $@
GENERATED += $(BUILD)/gen/service/page.h

ifneq ($(WEB_HAVE),)
$(eval $(call test,box-http,$(PYTHON) -B tests/e2e/boxhttp.py $(BUILD),$(BUILD)/bin/ringfold-box $(BUILD)/tests/e2e_rank))
$(eval $(call test,box-page,$(PYTHON) -B tests/e2e/boxpage.py $(BUILD),$(BUILD)/bin/ringfold-box $(BUILD)/tests/e2e_rank))
endif
