# Control protocol, the box's firmware, the host's client of the control protocol.
#
# Libraries, in link order: fw fwlinux (register access by callbacks); client; rfctl; rfproto.

FW_SOURCES := $(addprefix firmware/core/,buddy.c check.c conn.c fw.c group.c log.c member.c net.c nonce.c place.c request.c stall.c status.c)

$(eval $(call c_lib,rfctl,proto/rf_ctl.c proto/rf_ctl_frame.c proto/rf_ctl_text.c))
$(eval $(call c_lib,fw,$(FW_SOURCES)))
$(eval $(call c_lib,fwlinux,firmware/target/linux/hal.c firmware/target/linux/keys.c))
$(eval $(call c_lib,client,$(addprefix host/src/control/,client.c client_rx.c client_text.c)))

$(eval $(call c_lib,fwbox,tests/unit/fw_ask.c tests/unit/fw_box.c tests/unit/fw_hosts.c))
$(eval $(call c_test,fw_conn_test,tests/unit/fw_conn_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,fw_join_test,tests/unit/fw_join_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,ctl_test,tests/unit/ctl_test.c,rfctl rfproto))
$(eval $(call c_test,fw_refuse_test,tests/unit/fw_refuse_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,fw_check_test,tests/unit/fw_check_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,fw_replay_test,tests/unit/fw_replay_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call test,ctl_vectors,$(PYTHON) tests/check/ctl_vectors.py docs/control-protocol.md tests/unit/ctl_test.c))
$(eval $(call c_test,fw_keys_test,tests/unit/fw_keys_test.c,fwlinux))
$(eval $(call c_test,fw_net_test,tests/unit/fw_net_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,fw_random_test,tests/unit/fw_random_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,fw_queue_test,tests/unit/fw_queue_test.c,fw rfctl rfproto))
$(eval $(call c_test,ctl_client_test,tests/unit/ctl_client_test.c,client rfctl rfproto))
$(eval $(call c_test,ctl_many_test,tests/unit/ctl_many_test.c,client rfctl rfproto))
$(eval $(call test,fw_freestanding,tests/unit/fw_freestanding.sh $(BUILD)/freestanding))
$(eval $(call c_test,fw_model_test,tests/unit/fw_model_test.c,fw fwlinux client model roce rfctl rfproto,-ldl))

# Fuzzing of the control protocol: `make fuzz` looks for new inputs for FUZZ_SECONDS and adds them to the kept corpus;
# the test runs the corpus and changed copies of it.
FUZZ_SECONDS ?= 60
FUZZ_CORPUS  := tests/data/ctl-corpus
FUZZ_SOURCES := tests/unit/ctl_fuzz.c tests/unit/fw_box.c firmware/target/linux/hal.c $(FW_SOURCES) \
  $(addprefix proto/,rf_ctl.c rf_ctl_frame.c rf_ctl_text.c rf_siphash.c rf_crc32.c)
$(BUILD)/fuzz/ctl_fuzz: $(FUZZ_SOURCES) | $(GENERATED)
	@mkdir -p $(@D)
	clang $(CSTD) -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -DRF_LIBFUZZER $(INCLUDES) -o $@ $(FUZZ_SOURCES)
.PHONY: fuzz
fuzz: $(BUILD)/fuzz/ctl_fuzz
	@mkdir -p $(BUILD)/fuzz/found
	$(BUILD)/fuzz/ctl_fuzz -max_len=2048 -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 $(BUILD)/fuzz/found $(FUZZ_CORPUS)
	$(BUILD)/fuzz/ctl_fuzz -merge=1 $(FUZZ_CORPUS) $(BUILD)/fuzz/found
$(eval $(call c_link,ctl_fuzz,tests/unit/ctl_fuzz.c,fwbox fw fwlinux client rfctl rfproto,-lcmocka,,$(BUILD)/tests/ctl_fuzz))
$(eval $(call test,ctl_fuzz,$(BUILD)/tests/ctl_fuzz $(FUZZ_CORPUS)/*,$(BUILD)/tests/ctl_fuzz))
