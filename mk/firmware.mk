# Control protocol, the box's firmware, the host's client of the control protocol.
#
# Libraries, in link order: fw fwlinux (register access by callbacks); client; rfctl; rfproto.

FW_SOURCES := $(addprefix firmware/core/,buddy.c check.c conn.c fw.c group.c join.c keys.c log.c member.c net.c nonce.c place.c request.c stall.c status.c)

CTL_SOURCES := $(addprefix proto/,rf_ctl.c rf_ctl_pages.c rf_ctl_frame.c rf_ctl_text.c)
$(eval $(call c_lib,rfctl,$(CTL_SOURCES)))
$(eval $(call c_lib,fw,$(FW_SOURCES)))
$(eval $(call c_lib,fwlinux,$(addprefix firmware/target/linux/,hal.c keys.c fresh.c)))
$(eval $(call c_lib,client,$(addprefix host/src/control/,client.c client_rx.c client_text.c)))

$(eval $(call test_lib,fwbox,tests/unit/fw_ask.c tests/unit/fw_box.c tests/unit/fw_hosts.c tests/unit/fw_joined.c))
$(eval $(call c_test,fw_conn_test,tests/unit/fw_conn_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,fw_join_test,tests/unit/fw_join_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,fw_end_test,tests/unit/fw_end_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,fw_lag_test,tests/unit/fw_lag_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,ctl_test,tests/unit/ctl_test.c,rfctl rfproto))
$(eval $(call c_test,fw_refuse_test,tests/unit/fw_refuse_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,fw_check_test,tests/unit/fw_check_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,fw_replay_test,tests/unit/fw_replay_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,fw_owner_test,tests/unit/fw_owner_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,fw_quota_test,tests/unit/fw_quota_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call test,ctl_vectors,$(PYTHON) tests/check/ctl_vectors.py docs/control-protocol.md tests/unit/ctl_test.c))
$(eval $(call c_test,fw_keys_test,tests/unit/fw_keys_test.c,fwlinux))
$(eval $(call c_test,fw_net_test,tests/unit/fw_net_test.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,fw_random_test,tests/unit/fw_random_test.c tests/unit/fw_world.c,fwbox fw fwlinux client rfctl rfproto))
$(eval $(call c_test,fw_queue_test,tests/unit/fw_queue_test.c,fw rfctl rfproto))
$(eval $(call test_lib,ctlscript,tests/unit/ctl_script.c))
$(eval $(call c_test,ctl_client_test,tests/unit/ctl_client_test.c,ctlscript client rfctl rfproto))
$(eval $(call c_test,ctl_distrust_test,tests/unit/ctl_distrust_test.c,ctlscript client rfctl rfproto))
$(eval $(call c_test,ctl_many_test,tests/unit/ctl_many_test.c,ctlscript client rfctl rfproto))
$(eval $(call test,fw_freestanding,tests/unit/fw_freestanding.sh $(BUILD)/freestanding))
$(eval $(call c_test,fw_model_test,tests/unit/fw_model_test.c,fw fwlinux client model roce rfctl rfproto,-ldl))
