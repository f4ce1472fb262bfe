/* The lock of a context, the texts of errors, time and random numbers. */
#include "base/clock.h"
#include "host/api/api.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

_Thread_local char rf_error_text[RF_TEXT_MAX];
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
	char text[RF_TEXT_MAX];
	va_list args;

	/* the arguments may be the text of an earlier failure */
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	memcpy(rf_error_text, text, sizeof(text));
	rf_log_line(&ctx->log, RF_LOG_TRACE, "returned %d (%s): %s", status, rf_strerror(status),
		    text);
	return status;
}

const char *rf_last_error_text(struct rf_context *ctx)
{
	(void)ctx;
	memcpy(last_text, rf_error_text, sizeof(last_text));
	return last_text;
}

/* ---- fork ---- */

static atomic_uint forks;
static pthread_once_t forks_once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
	atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

unsigned int rf_forks_now(void)
{
	pthread_once(&forks_once, watch_forks);
	return atomic_load(&forks);
}

int rf_null(const char *name)
{
	snprintf(rf_error_text, RF_TEXT_MAX, "%s is NULL: it was never made, or is released", name);
	return RF_ERR_INVALID;
}

int rf_usable(struct rf_context *ctx)
{
	if (!ctx)
		return rf_null("ctx");
	if (ctx->forks == atomic_load(&forks))
		return RF_OK;
	return rf_fail(ctx, RF_ERR_INVALID,
		       "this process has inherited the object by fork(): it belongs to the parent; "
		       "make a context of its own after the fork");
}
