# Traffic for packet generators, and the comparison of what came back.

$(eval $(call c_lib,rf-traffic,host/tools/traffic.c))
$(eval $(call c_prog,ringfold-gen,host/tools/ringfold-gen.c,rf-traffic collective roce rfproto rf-opt,-ljansson -lpcap -lm))
$(eval $(call c_prog,ringfold-check,host/tools/ringfold-check.c,rf-traffic collective roce rfproto rf-opt,-ljansson -lpcap -lm))

# Tools that talk to the box over DPDK. $(HOST_LIBS) is of mk/host.mk.
BOXLINK_LIBS := rf-boxlink client rfctl rf-io rf-bootstrap roce rfproto rf-opt
$(eval $(call c_lib,rf-boxlink,host/tools/boxlink.c))
$(eval $(call c_prog,ringfold-ctl,$(addprefix host/tools/,ringfold-ctl.c ctl_traffic.c ctl_show.c),rf-traffic collective $(BOXLINK_LIBS),$(call pkg_libs,libdpdk) -ljansson -lpthread -lm))
