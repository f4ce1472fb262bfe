/*
 * The settings page: the configuration that the image on the box's processor reads at its start. It
 * is defined byte by byte, so that the program that writes it may be built by another compiler. Big
 * endian, like the control protocol. Epoch and salt are random bytes, drawn again before each start
 * of the processor.
 */
#ifndef RF_FW_TARGET_SETTINGS_H
#define RF_FW_TARGET_SETTINGS_H

#include "firmware/core/fw.h"

#define RF_SETTINGS_BYTES 4096u
#define RF_SETTINGS_KEYS_MAX 32u

/*
 * Writes a page of RF_SETTINGS_BYTES. Returns the bytes used, or 0 if there are more keys than
 * RF_SETTINGS_KEYS_MAX.
 */
size_t rf_settings_put(uint8_t *page, const struct rf_fw_cfg *cfg);

/*
 * Reads a page. keys has RF_SETTINGS_KEYS_MAX entries and becomes cfg->keys. False: not a page of
 * this layout, or damaged.
 */
bool rf_settings_get(const uint8_t *page, struct rf_fw_cfg *cfg, struct rf_fw_key *keys);

/*
 * Erases the salt in a page that has been read, because a salt is used for one start only. A page
 * without a salt can still be read, but rf_fw_init() refuses its settings.
 */
void rf_settings_spend(uint8_t *page);

#endif
