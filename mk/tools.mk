# Traffic for packet generators, and the comparison of what came back.

$(eval $(call c_lib,rf-traffic,host/tools/traffic.c))
$(eval $(call c_prog,ringfold-gen,host/tools/ringfold-gen.c,rf-traffic collective roce rfproto rf-opt,-ljansson -lpcap -lm))
$(eval $(call c_prog,ringfold-check,host/tools/ringfold-check.c,rf-traffic collective roce rfproto rf-opt,-ljansson -lpcap -lm))
