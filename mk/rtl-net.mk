# rtl/net and the parts of rtl/control that handle frames and the register bus: benches, proofs, mutants, constants.

RTL_NET := $(addprefix rtl/net/,rf_crc.v rf_crc_back.v rf_crc_key.v rf_icrc_mask.v rf_icrc_tail.v rf_align.v rf_align_code.v)
RTL_INGRESS := $(RTL_LIB) $(RTL_NET) $(addprefix rtl/net/,rf_ingress_check.v rf_ingress_read.v rf_ingress.v)
RTL_EGRESS  := $(RTL_LIB) $(RTL_NET) $(addprefix rtl/net/,rf_egress_build.v rf_egress.v)

# Generated once and kept in the tree; the test checks that they equal the generator's output.
rtl/net/rf_crc_masks.vh rtl/net/rf_crc_tables.vh rtl/net/rf_crc_sums.vh: rtl/net/rf_crc_%.vh: mk/crcgen.py
	@$(call step,GENERATE,$@)
	$(PYTHON) mk/crcgen.py $* > $@

# $(call net_bench,NAME,TOP,VERILOG,CPP,WIDTH,VLFLAGS,ARGS)
define net_bench
$(call vl_bench,$(1)-$(5),$(2),$(3),$(4),-GWIDTH=$(5) -CFLAGS "-DWIDTH=$(5)" $(6),$(7))
endef

$(foreach w,64 128 256 512,$(eval $(call net_bench,net-ingress,rf_ingress,$(RTL_INGRESS),tests/rtl/net_ingress.cpp,$(w),-GPORT=2 -CFLAGS -DPORT=2 $(if $(filter 128 512,$(w)),-DRF_CRC_TABLE),--pcap tests/data/rxe-sample.pcap)))
# The frame FIFO follows the path MTU.
$(eval $(call vl_bench,net-ingress-64-mtu256,rf_ingress,$(RTL_INGRESS),tests/rtl/net_ingress.cpp,-GWIDTH=64 -GMTU_MAX=256 -GPORT=2 -CFLAGS "-DWIDTH=64 -DMTU=256 -DPORT=2" -DRF_CRC_TABLE))
$(foreach w,64 128 256 512,$(eval $(call net_bench,net-egress,rf_egress,$(RTL_EGRESS),tests/rtl/net_egress.cpp,$(w),-GSTALL_CYCLES=2000 -CFLAGS -DSTALL_CYCLES=2000 $(if $(filter 64 256,$(w)),-DRF_CRC_TABLE))))
$(foreach w,64 512,$(eval $(call net_bench,net-path,net_path_tb,$(RTL_INGRESS) $(addprefix rtl/net/,rf_egress_build.v rf_egress.v) tests/rtl/net_path_tb.v,tests/rtl/net_path.cpp,$(w),-DRF_CRC_TABLE,--pcap tests/data/rxe-sample.pcap)))
$(foreach w,64 128 256 512,$(eval $(call net_bench,net-crc,net_crc_tb,rtl/net/rf_crc_back.v $(addprefix tests/rtl/,net_crc_by_mask.v net_crc_by_table.v net_crc_tb.v),tests/rtl/net_crc.cpp,$(w))))
$(eval $(call test,rtl-net-crcgen,$(PYTHON) mk/crcgen.py check rtl/net/rf_crc_masks.vh masks && $(PYTHON) mk/crcgen.py check rtl/net/rf_crc_tables.vh tables && $(PYTHON) mk/crcgen.py check rtl/net/rf_crc_sums.vh sums))

$(foreach h,3 8,$(eval $(call vl_bench,conn-table-$(h),rf_conn_table,$(RTL_LIB) rtl/net/rf_crc_key.v rtl/control/rf_conn_table.v,tests/rtl/conn_table.cpp,-GHASH_BITS=$(h) -CFLAGS "-DHASH_BITS=$(h)")))

# $(call ports_bench,NAME,PORTS,WIDTH)
define ports_bench
$(call vl_bench,$(1)-$(2)x$(3),rf_$(1),$(RTL_LIB) rtl/control/rf_$(1).v,tests/rtl/$(1).cpp,-GPORTS=$(2) -GWIDTH=$(3) -CFLAGS "-DPORTS=$(2) -DWIDTH=$(3)")
endef
$(eval $(call ports_bench,punt,2,64))
$(eval $(call ports_bench,punt,4,512))
$(eval $(call ports_bench,punt,8,128))
$(eval $(call ports_bench,inject,2,64))
$(eval $(call ports_bench,inject,4,512))
$(eval $(call ports_bench,inject,8,256))
$(eval $(call vl_bench,axil,rf_axil,rtl/control/rf_axil.v,tests/rtl/net_axil.cpp))

# Mutants of these modules: each must be detected by its bench. Each needs its own build, so they are not part of `make test`.
.PHONY: mutate-net-ingress mutate-net-egress mutate-net-control
mutate-net-ingress mutate-net-egress mutate-net-control: mutate-net-%: $(GENERATED)
	$(PYTHON) tests/rtl/net_mutants.py $* $(BUILD)/mutants/net-$*
MUTATE_TARGETS += mutate-net-ingress mutate-net-egress mutate-net-control

# Proofs of handshakes and counts.
FORMAL_NET := tests/formal/net_axil.proof tests/formal/net_read.proof $(sort $(wildcard tests/formal/stream_*.proof))
.PHONY: formal-net
formal-net: $(GENERATED)
	$(PROVE) $(FORMAL_NET)
FORMAL_TARGETS += formal-net
FORMAL_PROOFS  += $(FORMAL_NET)
# The longest ones leave a part to `make formal`: the mutants of the first list, all of the second.
FORMAL_NO_MUTANTS := $(addprefix tests/formal/stream_,egress.proof punt.proof)
FORMAL_LATER := $(addprefix tests/formal/stream_,egress_down.proof ingress.proof)
$(foreach p,$(filter-out $(FORMAL_NO_MUTANTS) $(FORMAL_LATER),$(FORMAL_NET)),$(eval $(call test,formal-$(basename $(notdir $(p))),$(PROVE) $(p))))
$(foreach p,$(FORMAL_NO_MUTANTS),$(eval $(call test,formal-$(basename $(notdir $(p))),$(PROVE) --no-mutants $(p))))

# Every bench must fail if it is made to expect a wrong value.
NET_FLIPS := net-ingress-64/Vrf_ingress net-egress-64/Vrf_egress conn-table-8/Vrf_conn_table punt-2x64/Vrf_punt \
  inject-2x64/Vrf_inject axil/Vrf_axil
$(eval $(call test,rtl-net-flip,for b in $(NET_FLIPS); do ! $(BUILD)/vl/$$$$b --flip || exit 1; done,$(addprefix $(BUILD)/vl/,$(NET_FLIPS))))
