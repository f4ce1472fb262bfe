/*
 * The settings page: what the image on the box's processor is told at its start, as bytes, so that
 * whoever writes it need not be built by the same compiler. Big endian, as the control protocol.
 * Epoch and salt are random bytes, drawn anew before each start of the processor.
 */
#ifndef RF_FW_TARGET_SETTINGS_H
#define RF_FW_TARGET_SETTINGS_H

#include "firmware/core/fw.h"

#define RF_SETTINGS_BYTES 4096u
#define RF_SETTINGS_KEYS_MAX 32u

/* Bytes written to page (RF_SETTINGS_BYTES long), or 0: more keys than RF_SETTINGS_KEYS_MAX. */
size_t rf_settings_put(uint8_t *page, const struct rf_fw_cfg *cfg);

/*
 * Reads a page. keys has RF_SETTINGS_KEYS_MAX entries and becomes cfg->keys. False: no page of this
 * layout, or damaged.
 */
bool rf_settings_get(const uint8_t *page, struct rf_fw_cfg *cfg, struct rf_fw_key *keys);

/*
 * Takes the salt out of a page that has been read: it serves for one start. One without is still
 * read, and rf_fw_init() refuses it.
 */
void rf_settings_spend(uint8_t *page);

#endif
