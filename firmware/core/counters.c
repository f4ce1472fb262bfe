/* The firmware's own counters, by number: those with names, then the refusals by reason. */
#include <string.h>

#include "firmware/core/internal.h"

static const char *const counter_names[] = {
#define RF_FW_X(name, text) #name,
	RF_FW_COUNTERS(RF_FW_X)
#undef RF_FW_X
};

static const char *const counter_texts[] = {
#define RF_FW_X(name, text) text,
	RF_FW_COUNTERS(RF_FW_X)
#undef RF_FW_X
};

#define NAMED ((unsigned int)(sizeof(counter_names) / sizeof(counter_names[0])))

unsigned int rf_fw_counter_count(void)
{
	return NAMED + RF_CTL_R_COUNT;
}

uint32_t rf_fw_counter(const struct rf_fw *fw, unsigned int n)
{
	static const size_t at[] = {
#define RF_FW_X(name, text) offsetof(struct rf_fw_counters, name),
		RF_FW_COUNTERS(RF_FW_X)
#undef RF_FW_X
	};
	uint32_t value = 0;

	if (n < NAMED)
		memcpy(&value, (const uint8_t *)&fw->cnt + at[n], sizeof(value));
	else if (n < rf_fw_counter_count())
		value = fw->cnt.refused[n - NAMED];
	return value;
}

const char *rf_fw_counter_name(unsigned int n)
{
	if (n < NAMED)
		return counter_names[n];
	return n < rf_fw_counter_count() ? rf_ctl_reason_name(n - NAMED) : NULL;
}

const char *rf_fw_counter_text(unsigned int n)
{
	if (n < NAMED)
		return counter_texts[n];
	return n < rf_fw_counter_count() ? rf_ctl_reason_text(n - NAMED) : NULL;
}
