/*
 * The box's challenge: a number that every request has to carry, so that one recorded earlier is
 * worth nothing later. docs/control-protocol.md has the rules.
 *
 * A nonce is a stamp, 24 bits, and 40 bits of a SipHash of epoch, source address and the whole
 * stamp under the salt of this start. So the box remembers no nonce: it computes what the nonce of
 * that stamp and address is. Stamps are the box's time in units of 1/64 ms; where nonces are made
 * void the stamp steps over the time, by one unit. What must be remembered is how old a nonce may
 * be, for a job or for a job at one address: marks, a bounded number for each job, each needed for
 * no longer than a nonce lives.
 */
#include <string.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_siphash.h"

#define PER_MS_LOG2 6u
#define STAMP_BITS 24u
#define HASH_BITS (64u - STAMP_BITS)

_Static_assert(2ull * RF_FW_NONCE_MS_MAX << PER_MS_LOG2 < 1ull << STAMP_BITS,
	       "a stamp is told from one that is 2^24 units older");
_Static_assert(RF_FW_SALT_BYTES == RF_SIPHASH_KEY_BYTES, "the salt is the key");

/* Units from giving a nonce out first until it is void. */
static uint64_t lives(const struct rf_fw *fw)
{
	return 2ull * fw->cfg.nonce_ms << PER_MS_LOG2;
}

/* Now, as a stamp; never before the current nonce. */
static uint64_t stamp_now(const struct rf_fw *fw)
{
	uint64_t now = fw->now_ms << PER_MS_LOG2;

	return now > fw->nonce.stamp ? now : fw->nonce.stamp;
}

static uint64_t value(struct rf_fw *fw, uint64_t stamp, uint32_t ip)
{
	struct rf_fw_known *n = &fw->nonce.known[ip & (RF_FW_KNOWN - 1u)];
	uint8_t text[14];

	/* A request mostly carries what the last answer gave, and its own answer gives it again. */
	if (n->stamp == stamp && n->ip == ip)
		return n->value;
	rf_put_be32(text, fw->epoch);
	rf_put_be32(text + 4, ip);
	rf_put_be16(text + 8, (uint16_t)(stamp >> 32));
	rf_put_be32(text + 10, (uint32_t)stamp);
	n->value = stamp << HASH_BITS | rf_siphash(fw->cfg.salt, text, sizeof(text)) >> STAMP_BITS;
	/* 0 says that none is known. */
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

	/* No stamp is 0. */
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

/* The next nonce is younger than all that were given out. */
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

/* Forgets the marks of a job; returns a place that is free then. */
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

		/* Nonces older than this mark have had their time. */
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
	/* A job that needs many marks gets one for all its addresses. */
	if (ip == 0 || (!same && held == RF_FW_VOIDS_JOB)) {
		ip = 0;
		same = clear(fw, job);
	}
	if (!same)
		same = spare;
	if (!same && fw->nonce.marks < RF_FW_VOIDS)
		same = &fw->nonce.mark[fw->nonce.marks++];
	/* More jobs than there are marks: the oldest then holds for everybody. */
	if (!same) {
		fw->nonce.void_all = oldest->stamp;
		same = oldest;
	}
	*same = (struct rf_fw_void){job, stamp, ip};
}
