/* The lock of a context, the texts of errors, time and random numbers. */
#include "base/clock.h"
#include "host/api/api.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

_Thread_local char rf_create_text[RF_TEXT_MAX];
static _Thread_local char last_text[RF_TEXT_MAX];

uint64_t rf_now(void)
{
	return rf_now_ns();
}

void rf_random(void *buf, size_t len)
{
	uint8_t *p = buf;
	uint64_t x;

	if (getrandom(buf, len, GRND_NONBLOCK) == (ssize_t)len)
		return;
	/* early during boot: good enough to tell runs apart, and nothing here is secret */
	x = rf_now() | 1;
	while (len--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		*p++ = (uint8_t)(x >> 32);
	}
}

void rf_lock(struct rf_context *ctx)
{
	atomic_fetch_add(&ctx->callers, 1);
	rf_mutex_lock(&ctx->lock, rf_context_class);
	atomic_fetch_sub(&ctx->callers, 1);
}

void rf_unlock(struct rf_context *ctx)
{
	rf_mutex_unlock(&ctx->lock, rf_context_class);
}

void rf_context_pcap_end(struct rf_context *ctx)
{
	char text[RF_LOG_TEXT];

	if (!rf_pcapng_end(&ctx->pcap, text, sizeof(text)))
		rf_log_line(&ctx->log, RF_LOG_WARN, "RF_PCAP: %s", text);
}

int rf_fail(struct rf_context *ctx, int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ctx->error, sizeof(ctx->error), format, args);
	va_end(args);
	rf_log_line(&ctx->log, RF_LOG_TRACE, "returned %d (%s): %s", status, rf_strerror(status),
		    ctx->error);
	return status;
}

int rf_fail_unlocked(struct rf_context *ctx, int status, const char *text)
{
	rf_lock(ctx);
	rf_fail(ctx, status, "%s", text);
	rf_unlock(ctx);
	return status;
}

const char *rf_last_error_text(struct rf_context *ctx)
{
	if (!ctx)
		return rf_create_text;
	rf_lock(ctx);
	memcpy(last_text, ctx->error, sizeof(last_text));
	rf_unlock(ctx);
	return last_text;
}
