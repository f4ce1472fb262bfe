/* Texts of the control protocol, separate from the codec because the smallest targets need none. */
#include "proto/rf_ctl.h"

const char *rf_ctl_reason_text(unsigned int reason)
{
	switch (reason) {
#define TEXT(name, value, text)                                                                    \
	case (value):                                                                              \
		return text;
		RF_CTL_REASONS(TEXT)
#undef TEXT
	default:
		return "unknown reason";
	}
}

const char *rf_ctl_reason_name(unsigned int reason)
{
	switch (reason) {
#define NAME(name, value, text)                                                                    \
	case (value):                                                                              \
		return #name;
		RF_CTL_REASONS(NAME)
#undef NAME
	default:
		return "?";
	}
}

const char *rf_ctl_join_field(uint32_t offset)
{
	static const struct {
		uint32_t offset;
		const char *name;
	} fields[] = {
		{0, "token"},
		{2, "data type"},
		{3, "operation"},
		{4, "path MTU"},
		{5, "slots"},
		{6, "smallest number of slots"},
		{7, "port of the box"},
		{8, "flags"},
		{10, "address family"},
		{12, "own address (it is the box's, or 0)"},
		{20, "address of the successor (it is the box's, or 0), or MAC of a mirror rank"},
		{24, "QPN of the successor, or MAC of a mirror rank (it is the box's)"},
		{32, "PSN shift"},
		{36, "lease"},
		{40, "deadline"},
		{44, "number of boxes above"},
		{48, "uplink of the box"},
		{60, "uplink of the box above"},
		{72, "uplink of the box two levels above"}};

	for (unsigned int i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].offset == offset)
			return fields[i].name;
	return "unknown";
}

const char *rf_ctl_abort_text(uint32_t code)
{
	switch (code) {
	case RF_CTL_ABORT_USER:
		return "the application requested it";
	case RF_CTL_ABORT_TRANSPORT:
		return "its transport gave up";
	case RF_CTL_ABORT_MISMATCH:
		return "the ranks disagree about a call";
	case RF_CTL_ABORT_EXIT:
		return "its process ended without leaving the group";
	case RF_CTL_ABORT_STEERING:
		return "the path check through the box failed";
	case RF_CTL_ABORT_MEMORY:
		return "it ran out of memory";
	default:
		return code >= 0x100u ? "the application's own reason" : "unknown reason";
	}
}

const char *rf_ctl_what_text(unsigned int what)
{
	switch (what) {
	case RF_CTL_WHAT_TAG:
		return "the type, operation, kind, number or content of a call";
	case RF_CTL_WHAT_COPIES:
		return "which of them gives";
	case RF_CTL_WHAT_LENGTH:
		return "the length of what they give";
	default:
		return "";
	}
}

const char *rf_ctl_state_text(unsigned int state)
{
	switch (state) {
	case RF_CTL_S_FREE:
		return "free";
	case RF_CTL_S_JOINING:
		return "joining";
	case RF_CTL_S_READY:
		return "ready";
	case RF_CTL_S_DRAINING:
		return "draining";
	case RF_CTL_S_TOMBSTONED:
		return "tombstoned";
	case RF_CTL_S_FAILED:
		return "failed";
	default:
		return "?";
	}
}

const char *rf_ctl_up_text(unsigned int up)
{
	switch (up) {
	case RF_CTL_UP_NONE:
		return "none";
	case RF_CTL_UP_IDLE:
		return "idle";
	case RF_CTL_UP_JOINING:
		return "joining";
	case RF_CTL_UP_READY:
		return "ready";
	case RF_CTL_UP_LEAVING:
		return "leaving";
	case RF_CTL_UP_FAILED:
		return "failed";
	default:
		return "?";
	}
}

const char *rf_ctl_event_text(unsigned int event)
{
	static const char *const texts[] = {"?",      "start",   "joining",  "ready",
					    "failed", "ended",   "refused",  "reset",
					    "full",   "claimed", "unclaimed"};

	return texts[event < sizeof(texts) / sizeof(texts[0]) ? event : 0];
}
