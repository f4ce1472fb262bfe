# The box's firmware as a Linux service. Built if libinih and libmicrohttpd are installed.

RFD_HAVE := $(shell pkg-config --exists INIReader inih libmicrohttpd 2>/dev/null && echo yes || (pkg-config --exists inih libmicrohttpd 2>/dev/null && echo yes))

ifneq ($(RFD_HAVE),)
$(eval $(call c_prog,ringfoldd,$(addprefix ringfoldd/,main.c config.c bus.c),rf-web fw fwlinux rfctl rfproto rf-opt,$(call pkg_libs,inih)))
$(eval $(call test,ringfoldd,$(PYTHON) tests/e2e/ringfoldd.py $(BUILD)/bin/ringfoldd,$(BUILD)/bin/ringfoldd))
endif

# `make install` installs the program with the others; the configuration is installed only if there is none yet.
.PHONY: install-ringfoldd
install-files: $(if $(RFD_HAVE),install-ringfoldd)
install-ringfoldd:
	install -D -m 644 ringfoldd/ringfoldd.service $(DESTDIR)$(PREFIX)/lib/systemd/system/ringfoldd.service
	sed -i 's|/usr/local|$(PREFIX)|; s|/etc/ringfold|$(SYSCONFDIR)/ringfold|' $(DESTDIR)$(PREFIX)/lib/systemd/system/ringfoldd.service
	install -D -m 644 ringfoldd/ringfold.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/ringfold.conf
	install -D -m 644 ringfoldd/ringfold.rules $(DESTDIR)$(PREFIX)/lib/udev/rules.d/70-ringfold.rules
	[ -e $(DESTDIR)$(SYSCONFDIR)/ringfold/ringfoldd.ini ] || install -D -m 644 ringfoldd/ringfoldd.ini $(DESTDIR)$(SYSCONFDIR)/ringfold/ringfoldd.ini
