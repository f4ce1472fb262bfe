#include "host/io/device_value.h"

#include <string.h>

bool rf_device_value(const char *device, const char *key, char *value, size_t room)
{
	size_t len = strlen(key);

	value[0] = '\0';
	for (const char *p = strchr(device, ','); p; p = strchr(p + 1, ',')) {
		size_t n = strcspn(p + 1, ",");

		if (strncmp(p + 1, key, len) != 0 || p[1 + len] != '=' || n - len - 1 >= room)
			continue;
		memcpy(value, p + len + 2, n - len - 1);
		value[n - len - 1] = '\0';
		return true;
	}
	return false;
}
