/*
 * Nonces: numbers that the box gives out and every request must carry, so that a recorded request
 * cannot be replayed later. docs/control-protocol.md has the rules.
 *
 * A nonce consists of the low 24 bits of a stamp and 40 bits of a SipHash of epoch, source address
 * and the whole stamp, keyed with the salt of this start. So the box stores no nonces; it computes
 * the nonce of a stamp and address again. Stamps are the box's time in units of 1/64 ms. When
 * nonces are made void, the stamp advances by one unit beyond the time. The box stores only marks:
 * how old a nonce may be, for a job or for a job at one address. The number of marks per job is
 * bounded, and each is needed only as long as a nonce lives.
 */
#include <string.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_siphash.h"

#define PER_MS_LOG2 6u
#define STAMP_BITS 24u
#define HASH_BITS (64u - STAMP_BITS)

_Static_assert(2ull * RF_FW_NONCE_MS_MAX << PER_MS_LOG2 < 1ull << STAMP_BITS,
	       "a stamp differs from one that is 2^24 units older");
_Static_assert(RF_FW_SALT_BYTES == RF_SIPHASH_KEY_BYTES, "the salt is the key");

/* Lifetime of a nonce in units, from when it is first given out. */
static uint64_t lives(const struct rf_fw *fw)
{
	return 2ull * fw->cfg.nonce_ms << PER_MS_LOG2;
}

/* The current time as a stamp; never less than the current nonce's. */
static uint64_t stamp_now(const struct rf_fw *fw)
{
	uint64_t now = fw->now_ms << PER_MS_LOG2;

	return now > fw->nonce.stamp ? now : fw->nonce.stamp;
}

static uint64_t value(struct rf_fw *fw, uint64_t stamp, uint32_t ip)
{
	struct rf_fw_known *n = &fw->nonce.known[ip & (RF_FW_KNOWN - 1u)];
	uint8_t text[14];

	/*
	 * A request usually carries the nonce of the last answer, and its own answer carries it
	 * again.
	 */
	if (n->stamp == stamp && n->ip == ip)
		return n->value;
	rf_put_be32(text, fw->epoch);
	rf_put_be32(text + 4, ip);
	rf_put_be16(text + 8, (uint16_t)(stamp >> 32));
	rf_put_be32(text + 10, (uint32_t)stamp);
	n->value = stamp << HASH_BITS | rf_siphash(fw->cfg.salt, text, sizeof(text)) >> STAMP_BITS;
	/* 0 means that no nonce is known. */
	if (n->value == 0)
		n->value = 1;
	n->stamp = stamp;
	n->ip = ip;
	return n->value;
}

void rf_fw_nonce_init(struct rf_fw *fw)
{
	fw->nonce.stamp = 1;
}

uint64_t rf_fw_nonce(struct rf_fw *fw, uint32_t ip)
{
	uint64_t now = stamp_now(fw);

	if (now - fw->nonce.stamp >= lives(fw) / 2u)
		fw->nonce.stamp = now;
	return value(fw, fw->nonce.stamp, ip);
}

bool rf_fw_nonce_ok(struct rf_fw *fw, uint64_t nonce, uint64_t job, uint32_t ip)
{
	uint64_t now = stamp_now(fw);
	uint64_t age = (now - (nonce >> HASH_BITS)) & ((1u << STAMP_BITS) - 1u);
	uint64_t stamp = now - age;

	/* Stamp 0 is never used. */
	if (age >= now || age >= lives(fw) || stamp < fw->nonce.void_all ||
	    value(fw, stamp, ip) != nonce)
		return false;
	for (unsigned int i = 0; i < fw->nonce.marks; i++) {
		const struct rf_fw_void *m = &fw->nonce.mark[i];

		if (m->job == job && (m->ip == 0 || m->ip == ip) && stamp < m->stamp)
			return false;
	}
	return true;
}

/* Makes the next nonce newer than all that were given out. */
static uint64_t step(struct rf_fw *fw)
{
	fw->nonce.stamp = stamp_now(fw) + 1u;
	return fw->nonce.stamp;
}

void rf_fw_nonce_void_all(struct rf_fw *fw)
{
	fw->nonce.void_all = step(fw);
	memset(fw->nonce.known, 0, sizeof(fw->nonce.known));
	fw->nonce.marks = 0;
}

/* Frees the marks of a job; returns one of them, or NULL. */
static struct rf_fw_void *clear(struct rf_fw *fw, uint64_t job)
{
	struct rf_fw_void *place = NULL;

	for (unsigned int i = 0; i < fw->nonce.marks; i++) {
		struct rf_fw_void *m = &fw->nonce.mark[i];

		if (m->stamp == 0 || m->job != job)
			continue;
		m->stamp = 0;
		place = m;
	}
	return place;
}

void rf_fw_nonce_void(struct rf_fw *fw, uint64_t job, uint32_t ip)
{
	struct rf_fw_void *same = NULL, *spare = NULL, *oldest = fw->nonce.mark;
	uint64_t stamp = step(fw);
	unsigned int held = 0;

	for (unsigned int i = 0; i < fw->nonce.marks; i++) {
		struct rf_fw_void *m = &fw->nonce.mark[i];

		/* Nonces older than this mark have expired anyway. */
		if (m->stamp != 0 && stamp - m->stamp >= lives(fw))
			m->stamp = 0;
		if (m->stamp == 0) {
			spare = m;
			continue;
		}
		if (m->stamp < oldest->stamp)
			oldest = m;
		if (m->job != job)
			continue;
		held++;
		if (m->ip == ip)
			same = m;
	}
	/* A job with too many marks gets a single one for all its addresses. */
	if (ip == 0 || (!same && held == RF_FW_VOIDS_JOB)) {
		ip = 0;
		same = clear(fw, job);
	}
	if (!same)
		same = spare;
	if (!same && fw->nonce.marks < RF_FW_VOIDS)
		same = &fw->nonce.mark[fw->nonce.marks++];
	/* No mark is free: the oldest mark is applied to all jobs and reused. */
	if (!same) {
		fw->nonce.void_all = oldest->stamp;
		same = oldest;
	}
	*same = (struct rf_fw_void){job, stamp, ip};
}
