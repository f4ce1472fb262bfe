# Packages of Debian: docs/packages.md.
DEB := $(BUILD)/deb

.PHONY: deb deb-test
deb:
	@mk/deb.sh $(DEB) $(RF_VERSION)

# The packages that were built last, or new ones; some minutes, so it is no part of `make test`.
deb-test: $(if $(wildcard $(DEB)/*.deb),,deb) $(addprefix $(BUILD)/mpi/,openmpi/mpi_calls mpich/mpi_calls)
	@printf 'packages\t%s\n' "tests/integrations/packages.sh $(DEB)" > $(DEB)/tests.list
	@TEST_TIMEOUT=2400 tests/run $(DEB)/tests.list
