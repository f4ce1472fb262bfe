rtl/lib/rf_skid.v
rtl/lib/rf_ram_lut.v
rtl/lib/rf_ram_sdp.v
rtl/lib/rf_fifo.v
rtl/lib/rf_delay.v
rtl/lib/rf_rr_arb.v
