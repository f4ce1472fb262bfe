/*
 * Creation that does not block: a thread makes the object, and the caller asks for it. What may be
 * cancelled is every wait for other ranks (rf_cancel).
 */
#include "host/api/api.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rf_creation {
	struct rf_context *ctx;
	pthread_t thread;
	atomic_bool cancel;
	/* copies of what the caller has given */
	struct rf_comm_config comm_config;
	char *texts[4];
	unsigned int *members;
	/* the result; read once done is set */
	bool done RF_LOCKED;
	int status;
	struct rf_comm *comm;
	char text[RF_TEXT_MAX];
};

/* ---- copies ---- */

/* Copies a text of the config. False: no memory. */
static bool keep(struct rf_creation *c, unsigned int k, const char **text)
{
	if (!*text)
		return true;
	c->texts[k] = strdup(*text);
	*text = c->texts[k];
	return *text != NULL;
}

static bool keep_comm(struct rf_creation *c, const struct rf_comm_config *from)
{
	struct rf_comm_config *to = &c->comm_config;
	size_t size = from ? from->size : 0;

	memcpy(to, from ? from : to, size < sizeof(*to) ? size : sizeof(*to));
	to->size = sizeof(*to);
	if (!keep(c, 0, &to->root) || !keep(c, 1, &to->box_ip) || !keep(c, 2, &to->key) ||
	    !keep(c, 3, &to->name))
		return false;
	/* a list that is too long is refused later */
	if (!to->members || !to->n_members || to->n_members > RF_RANKS_MAX)
		return true;
	c->members = malloc(to->n_members * sizeof(*c->members));
	if (!c->members)
		return false;
	memcpy(c->members, to->members, to->n_members * sizeof(*c->members));
	to->members = c->members;
	return true;
}

static void creation_free(struct rf_creation *c)
{
	/* the key */
	if (c->texts[2])
		explicit_bzero(c->texts[2], strlen(c->texts[2]));
	for (unsigned int k = 0; k < sizeof(c->texts) / sizeof(c->texts[0]); k++)
		free(c->texts[k]);
	free(c->members);
	free(c);
}

/* ---- the thread ---- */

static void *make(void *arg)
{
	struct rf_creation *c = arg;

	rf_cancel = &c->cancel;
	c->status = rf_comm_create(c->ctx, &c->comm_config, &c->comm);
	if (c->status)
		memcpy(c->text, rf_error_text, sizeof(c->text));
	rf_cancel = NULL;
	rf_lock(c->ctx);
	c->done = true;
	pthread_cond_broadcast(&c->ctx->cond);
	rf_unlock(c->ctx);
	return NULL;
}

static int start(struct rf_creation *c, bool kept, struct rf_creation **out)
{
	struct rf_context *ctx = c->ctx;
	sigset_t all, old;
	int ret;

	if (!kept) {
		creation_free(c);
		return rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for the creation");
	}
	rf_lock(ctx);
	ctx->n_creations++;
	rf_unlock(ctx);
	/* block all signals: the application's signals must not arrive on this thread */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&c->thread, NULL, make, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!ret) {
		*out = c;
		return RF_OK;
	}
	rf_lock(ctx);
	ctx->n_creations--;
	rf_unlock(ctx);
	creation_free(c);
	return rf_fail(ctx, RF_ERR_SYSTEM, "cannot start a thread: %s", strerror(ret));
}

int rf_comm_icreate(struct rf_context *ctx, const struct rf_comm_config *config,
		    struct rf_creation **creation)
{
	struct rf_creation *c;

	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	if (!creation)
		return rf_fail(ctx, RF_ERR_INVALID, "creation is NULL");
	if (config && config->size < sizeof(config->size))
		return rf_fail(ctx, RF_ERR_INVALID,
			       "config.size is not set: use RF_COMM_CONFIG_INIT");
	c = calloc(1, sizeof(*c));
	if (!c)
		return rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for the creation");
	c->ctx = ctx;
	return start(c, keep_comm(c, config), creation);
}

/* ---- its end ---- */

/* Waits until the thread has ended, at most until then. */
static bool ended(struct rf_creation *c, uint64_t until)
{
	bool done;

	rf_lock(c->ctx);
	while (!c->done && rf_sleep(c->ctx, until))
		;
	done = c->done;
	rf_unlock(c->ctx);
	return done;
}

/* Ends the creation, whose thread has done its work. Returns its status, recorded. */
static int finish(struct rf_creation *c)
{
	struct rf_context *ctx = c->ctx;
	int status = c->status;

	pthread_join(c->thread, NULL);
	rf_lock(ctx);
	ctx->n_creations--;
	rf_unlock(ctx);
	if (status)
		rf_fail(ctx, status, "%s", c->text);
	creation_free(c);
	return status;
}

int rf_comm_created(struct rf_creation *creation, unsigned int timeout_ms, struct rf_comm **comm)
{
	uint64_t until =
		timeout_ms == RF_WAIT_FOREVER ? RF_NEVER : rf_now() + timeout_ms * RF_NS_PER_MS;
	struct rf_context *ctx;
	struct rf_comm *made;
	int ret;

	if (!creation)
		return rf_null("creation");
	ctx = creation->ctx;
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	if (!comm)
		return rf_fail(ctx, RF_ERR_INVALID, "comm is NULL");
	if (!ended(creation, until))
		return rf_fail(ctx, RF_IN_PROGRESS, "not created after %u ms", timeout_ms);
	made = creation->comm;
	ret = finish(creation);
	if (!ret)
		*comm = made;
	return ret;
}

int rf_creation_cancel(struct rf_creation *creation)
{
	if (!creation)
		return RF_OK;
	if (rf_usable(creation->ctx))
		return RF_ERR_INVALID;
	atomic_store(&creation->cancel, true);
	ended(creation, RF_NEVER);
	if (creation->status == RF_OK)
		return rf_fail(creation->ctx, RF_ERR_BUSY,
			       "the object has been created already: take it, and destroy it");
	finish(creation);
	return RF_OK;
}
