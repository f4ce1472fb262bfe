# Control protocol, the box's firmware, the host's client of the control protocol.
#
# Libraries, in link order: fwlinux (register access by callbacks) fw; client; rfctl; rfproto.

FW_SOURCES := $(addprefix firmware/core/,buddy.c check.c conn.c fw.c group.c member.c net.c place.c request.c status.c)

$(eval $(call c_lib,rfctl,proto/rf_ctl.c proto/rf_ctl_frame.c proto/rf_ctl_text.c))
$(eval $(call c_lib,fw,$(FW_SOURCES)))
$(eval $(call c_lib,fwlinux,firmware/target/linux/hal.c))
