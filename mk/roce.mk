# RoCEv2 transport, all-reduce state machines, and code that the firmware shares with them.
#
# Libraries, in link order: collective roce rfproto.

$(eval $(call c_lib,rfproto,proto/rf_crc32.c proto/rf_imm.c proto/rf_siphash.c wire/arp.c))
# The ICRC is computed by ISA-L if it is installed. `make ISAL=no` builds the portable path.
ISAL ?= $(shell pkg-config --exists libisal && echo yes || echo no)
$(eval $(call c_lib,roce,$(addprefix host/roce/,wire.c frame.c crc.c icrc.c l2.c queue.c qp.c requester.c completer.c responder.c selective.c congestion.c timer.c timeout.c endpoint.c),$(if $(filter yes,$(ISAL)),-DROCE_ISAL)))
LDLIBS_roce := $(if $(filter yes,$(ISAL)),$(call pkg_libs,libisal))
$(eval $(call c_test,crc_test,tests/unit/crc_test.c,rfproto))
$(eval $(call c_test,headers_test,tests/unit/headers_test.c,roce rfctl rfproto))
$(eval $(call c_test,roce_wire_test,tests/unit/roce_wire_test.c,roce rfproto,-lpcap))
$(eval $(call c_test,roce_crc_test,tests/unit/roce_crc_test.c,roce rfproto))
$(eval $(call test,roce_portable,tests/unit/roce_portable.sh $(BUILD) $(ISAL),$(BUILD)/tests/roce_crc_test))
$(eval $(call test_lib,failcalloc,tests/unit/fail_calloc.c))
$(eval $(call c_test,roce_qp_test,tests/unit/roce_qp_test.c,failcalloc roce rfproto,-Wl$(comma)--wrap=calloc))
$(eval $(call c_test,roce_responder_test,tests/unit/roce_responder_test.c,roce rfproto))
$(eval $(call c_test,roce_selective_test,tests/unit/roce_selective_test.c,roce rfproto))
$(eval $(call c_test,roce_mirror_test,tests/unit/roce_mirror_test.c,roce rfproto))
$(eval $(call test_lib,rocenet,tests/unit/roce_net.c))
$(eval $(call c_test,roce_loss_test,tests/unit/roce_loss_test.c,rocenet roce rfproto))
$(eval $(call c_test,roce_endpoint_test,tests/unit/roce_endpoint_test.c,failcalloc roce rfproto,-Wl$(comma)--wrap=calloc))
# Element-wise loops gain from vectors; the results do not depend on it.
$(eval $(call c_lib,collective,$(addprefix host/collective/,arith.c block_int.c average.c order.c msg_qp.c collective.c schedule.c call.c directed.c directed_call.c hosts.c hosts_plan.c),,-O3))
$(eval $(call c_test,collective_arith_test,tests/unit/collective_arith_test.c,collective roce rfproto,-lm))
$(eval $(call c_test,collective_types_test,tests/unit/collective_types_test.c,collective model roce rfproto))
$(eval $(call c_test,collective_test,$(addprefix tests/unit/collective_,test.c ring.c box.c),rocenet collective roce rfproto))
$(eval $(call c_test,collective_seam_test,tests/unit/collective_seam_test.c,failcalloc collective roce rfproto,-Wl$(comma)--wrap=calloc))
$(eval $(call c_test,directed_test,$(addprefix tests/unit/directed_,test.c net.c box.c),rocenet collective roce rfproto))
$(eval $(call c_test,hosts_test,$(addprefix tests/unit/hosts_,test.c net.c want.c),collective roce rfproto))
$(eval $(call test,hosts_mutants,tests/unit/hosts_mutants.sh $(BUILD) "$(CC) $(SANITIZE)",$(BUILD)/tests/hosts_test))

# Figures.
$(eval $(call test_prog,roce-bench,tests/bench/roce_bench.c,roce rfproto))
$(eval $(call bench,roce,tests/bench/roce_bench.sh $(BUILD)/bin/roce-bench $(BENCH_OUT),$(BUILD)/bin/roce-bench))
