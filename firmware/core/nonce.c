/*
 * The box's challenge: a number that every request has to carry, so that one recorded earlier is
 * worth nothing later. docs/control-protocol.md has the rules.
 *
 * Two are valid at a time, the current one and the one before it; a new one is made when the
 * current one is older than cfg.nonce_ms. They are SipHash values under a key of the box, so that
 * nobody else can tell the next one in advance, and need no source of random numbers.
 */
#include <string.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_siphash.h"

static void advance(struct rf_fw *fw)
{
	static const uint8_t open_lab[RF_SIPHASH_KEY_BYTES];
	const uint8_t *key = fw->cfg.nkeys > 0 ? fw->cfg.keys[0].key : open_lab;
	uint8_t text[12] = "RFN";

	/* No message is so short: the value is the tag of none. */
	rf_put_be32(text + 4, fw->epoch);
	rf_put_be32(text + 8, ++fw->nonce_count);
	fw->nonce[1] = fw->nonce[0];
	fw->nonce[0] = rf_siphash(key, text, sizeof(text));
	if (fw->nonce[0] == 0)
		fw->nonce[0] = 1;
	fw->nonce_until = fw->now_ms + fw->cfg.nonce_ms;
}

void rf_fw_nonce_spoil(struct rf_fw *fw)
{
	advance(fw);
	fw->nonce[1] = fw->nonce[0];
	fw->refused_count = 0;
}

uint64_t rf_fw_nonce(struct rf_fw *fw)
{
	if (fw->now_ms >= fw->nonce_until + fw->cfg.nonce_ms)
		rf_fw_nonce_spoil(fw);
	else if (fw->now_ms >= fw->nonce_until)
		advance(fw);
	return fw->nonce[0];
}

bool rf_fw_nonce_used(const struct rf_fw *fw, uint64_t tag)
{
	for (unsigned int i = 0; i < RF_FW_REFUSED; i++)
		if (fw->refused_tag[i] == tag)
			return true;
	return false;
}

void rf_fw_nonce_use(struct rf_fw *fw, uint64_t tag)
{
	/* Full: what is overwritten could still be replayed. */
	if (fw->refused_count == RF_FW_REFUSED)
		rf_fw_nonce_spoil(fw);
	fw->refused_tag[fw->refused_count++] = tag;
}

bool rf_fw_nonce_ok(struct rf_fw *fw, uint64_t nonce)
{
	uint64_t now = rf_fw_nonce(fw);

	return nonce == now || nonce == fw->nonce[1];
}
