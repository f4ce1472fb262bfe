/* In place of web.c where libmicrohttpd is not installed. */
#include <stdio.h>

#include "service/web.h"

int rf_web_start(const char *listen, const struct rf_view *view, struct rf_web **out, char *why,
		 size_t room)
{
	(void)view;
	(void)out;
	snprintf(why, room,
		 "%s: built without libmicrohttpd: install libmicrohttpd-dev and build again",
		 listen);
	return -1;
}

int rf_web_fd(const struct rf_web *w)
{
	(void)w;
	return -1;
}

unsigned int rf_web_port(const struct rf_web *w)
{
	(void)w;
	return 0;
}

void rf_web_run(struct rf_web *w)
{
	(void)w;
}

void rf_web_stop(struct rf_web *w)
{
	(void)w;
}
