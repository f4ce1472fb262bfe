#include "firmware/target/linux/fresh.h"

#include <errno.h>
#include <sys/random.h>

/* getrandom() returns up to 256 bytes completely or fails. */
static int draw(void *to, size_t len)
{
	ssize_t n;

	do
		n = getrandom(to, len, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len ? 0 : -1;
}

int rf_fresh(struct rf_fw_cfg *cfg)
{
	do
		if (draw(&cfg->epoch, sizeof(cfg->epoch)) != 0)
			return -1;
	while (cfg->epoch == 0);
	return draw(cfg->salt, sizeof(cfg->salt));
}
