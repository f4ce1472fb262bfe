# rtl/net and the parts of rtl/control that frames and the register bus meet: benches, proofs, mutants, constants.

RTL_NET := $(addprefix rtl/net/,rf_crc.v rf_crc_back.v rf_crc_key.v rf_icrc_mask.v rf_icrc_tail.v rf_align.v rf_align_code.v)
RTL_INGRESS := $(RTL_LIB) $(RTL_NET) $(addprefix rtl/net/,rf_ingress_check.v rf_ingress_read.v rf_ingress.v)
RTL_EGRESS  := $(RTL_LIB) $(RTL_NET) $(addprefix rtl/net/,rf_egress_build.v rf_egress.v)

# Made once and kept in the tree; the test sees that they are what the generator makes.
rtl/net/rf_crc_masks.vh rtl/net/rf_crc_tables.vh: rtl/net/rf_crc_%.vh: mk/crcgen.py
	$(PYTHON) mk/crcgen.py $* > $@

# $(call net_bench,NAME,TOP,VERILOG,CPP,WIDTH,VLFLAGS,ARGS)
define net_bench
$(call vl_bench,$(1)-$(5),$(2),$(3),$(4),-GWIDTH=$(5) -CFLAGS "-DWIDTH=$(5)" $(6),$(7))
endef

$(foreach w,64 128 256 512,$(eval $(call net_bench,net-ingress,rf_ingress,$(RTL_INGRESS),tests/rtl/net_ingress.cpp,$(w),$(if $(filter 128 512,$(w)),-DRF_CRC_TABLE),--pcap tests/data/rxe-sample.pcap)))
$(foreach w,64 128 256 512,$(eval $(call net_bench,net-egress,rf_egress,$(RTL_EGRESS),tests/rtl/net_egress.cpp,$(w),$(if $(filter 64 256,$(w)),-DRF_CRC_TABLE))))
$(foreach w,64 512,$(eval $(call net_bench,net-path,net_path_tb,$(RTL_INGRESS) $(addprefix rtl/net/,rf_egress_build.v rf_egress.v) tests/rtl/net_path_tb.v,tests/rtl/net_path.cpp,$(w),-DRF_CRC_TABLE,--pcap tests/data/rxe-sample.pcap)))
