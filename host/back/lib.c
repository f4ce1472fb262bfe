#include "host/back/lib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libibverbs.so.1"

static struct rf_ibv functions;
static char failure[200];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Converts a void * to a function pointer: C has no such conversion. */
#define LOAD_IF_THERE(handle, name)                                                                \
	do {                                                                                       \
		void *symbol = dlsym(handle, "ibv_" #name);                                        \
		if (symbol)                                                                        \
			memcpy(&functions.name, &symbol, sizeof(symbol));                          \
	} while (0)
#define LOAD(handle, name)                                                                         \
	do {                                                                                       \
		LOAD_IF_THERE(handle, name);                                                       \
		if (!functions.name)                                                               \
			snprintf(failure, sizeof(failure), LIBRARY " has no ibv_" #name);          \
	} while (0)

static void load(void)
{
	/* never closed: providers have threads and exit handlers of their own */
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		const char *text = dlerror();

		snprintf(failure, sizeof(failure), "%.190s", text ? text : LIBRARY);
		return;
	}
	LOAD(handle, get_device_list);
	LOAD(handle, free_device_list);
	LOAD(handle, get_device_name);
	LOAD(handle, open_device);
	LOAD(handle, close_device);
	LOAD(handle, query_port);
	LOAD(handle, alloc_pd);
	LOAD(handle, dealloc_pd);
	LOAD(handle, reg_mr);
	LOAD_IF_THERE(handle, reg_dmabuf_mr);
	LOAD(handle, dereg_mr);
	LOAD(handle, create_comp_channel);
	LOAD(handle, destroy_comp_channel);
	LOAD(handle, create_cq);
	LOAD(handle, destroy_cq);
	LOAD(handle, get_cq_event);
	LOAD(handle, ack_cq_events);
	LOAD(handle, create_qp);
	LOAD(handle, modify_qp);
	LOAD(handle, destroy_qp);
}

const struct rf_ibv *rf_ibv(char *why, size_t room)
{
	pthread_once(&once, load);
	if (!failure[0])
		return &functions;
	snprintf(why, room, "%s", failure);
	return NULL;
}
