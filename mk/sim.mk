# Simulation: trace files, switch, virtual-time fabric, Verilated shapes of the box, and the tools on top.

LIBS_PCAP := $(call pkg_libs,libpcap)

$(eval $(call c_lib,rf-opt,host/tools/opt.c))
$(eval $(call c_prog,ringfold,host/tools/ringfold.c,))
$(eval $(call c_lib,rf-trace,sim/trace/pcapng.c sim/trace/reader.c))
$(eval $(call c_lib,rf-switch,sim/fabric/switch.c))
$(eval $(call c_test,trace,tests/unit/trace.c,rf-trace,$(LIBS_PCAP)))
$(eval $(call c_test,switch,tests/sim/switch.c,rf-switch))
