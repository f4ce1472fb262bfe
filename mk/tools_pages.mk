# Man pages and bash completion, made by the tools themselves; their installation, and that of docs, example, dissector and
# switch scripts. Comes after the fragments that name the installed programs.

PAGES_PROGRAMS := $(INSTALL_PROGRAMS) $(BUILD)/bin/ringfold-plan $(if $(RFD_HAVE),$(BUILD)/bin/ringfoldd)
PAGES := $(BUILD)/pages/done

$(PAGES): mk/pages.py $(PAGES_PROGRAMS) $(PUBLIC_HEADERS)
	@rm -rf $(@D)
	@$(PYTHON) -B mk/pages.py man $(@D)/man1 $(PAGES_PROGRAMS)
	@$(PYTHON) -B mk/pages.py api $(@D)/man3 $(PUBLIC_HEADERS)
	@$(PYTHON) -B mk/pages.py completion $(@D)/completion $(PAGES_PROGRAMS)
	@touch $@
ALL_TARGETS += $(PAGES)

$(eval $(call test,pages,tests/e2e/pages.sh $(BUILD)/pages $(PYTHON),$(PAGES)))

# Every block of commands in README.md and docs/ that can run here.
$(eval $(call test,docs-commands,$(PYTHON) -B tests/e2e/docs.py --test $(BUILD) && $(PYTHON) -B tests/e2e/docs.py $(BUILD),$(PAGES) $(addprefix $(BUILD)/bin/,allreduce ringfold-replay) $(call rtl_box,4,1,512)))

RF_MAN   := $(DESTDIR)$(PREFIX)/share/man
RF_SHARE := $(DESTDIR)$(PREFIX)/share/ringfold
RF_DOC   := $(DESTDIR)$(PREFIX)/share/doc/ringfold
RF_COMPLETION := $(DESTDIR)$(PREFIX)/share/bash-completion/completions

.PHONY: install-pages uninstall-pages
install-files: install-pages
install-pages:
	install -d $(RF_MAN)/man1 $(RF_MAN)/man3 $(RF_COMPLETION) $(RF_SHARE)/switch $(RF_DOC)/docs/pictures $(RF_DOC)/examples
	install -m 644 $(BUILD)/pages/man1/* $(RF_MAN)/man1
	install -m 644 $(BUILD)/pages/man3/* $(RF_MAN)/man3
	install -m 644 $(BUILD)/pages/completion $(RF_COMPLETION)/ringfold
	ln -sf ringfold $(RF_COMPLETION)/ringfoldd
	install -m 644 tools/wireshark/ringfold.lua $(RF_SHARE)
	install -m 755 tools/switch/*.sh $(RF_SHARE)/switch
	install -m 644 README.md LICENSE $(RF_DOC)
	install -m 644 docs/*.md $(RF_DOC)/docs
	install -m 644 docs/pictures/* $(RF_DOC)/docs/pictures
	install -m 644 examples/*.c $(RF_DOC)/examples

uninstall: uninstall-pages
uninstall-pages:
	rm -f $(RF_MAN)/man1/ringfold.1 $(RF_MAN)/man1/ringfoldd.1 $(RF_MAN)/man1/ringfold-*.1
	rm -f $(addprefix $(RF_MAN)/man3/,$(notdir $(wildcard $(BUILD)/pages/man3/*)))
	rm -f $(RF_COMPLETION)/ringfold $(RF_COMPLETION)/ringfoldd
	rm -rf $(RF_SHARE) $(RF_DOC)
