/* SIGHUP, which nohup(1) has a program ignore. */
#ifndef RF_BASE_HANGUP_H
#define RF_BASE_HANGUP_H

#include <signal.h>
#include <stddef.h>

/* Installs the action for SIGHUP unless the caller has it ignored. Returns 0, or -1 with errno. */
static inline int rf_take_hangup(const struct sigaction *act)
{
	struct sigaction now;

	if (sigaction(SIGHUP, NULL, &now) != 0)
		return -1;
	return now.sa_handler == SIG_IGN ? 0 : sigaction(SIGHUP, act, NULL);
}

#endif
