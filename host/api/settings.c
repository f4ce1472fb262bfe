/* The settings of a communicator: of its config, else of the environment. */
#include "host/api/api.h"

#include <stdio.h>
#include <string.h>

#include "host/config/settings.h"

#define CONFIG(config, member, absent)                                                             \
	((config) && (config)->size >= offsetof(struct rf_comm_config, member) +                   \
					       sizeof((config)->member)                            \
		 ? (config)->member                                                                \
		 : (absent))
#define SLOTS_MIN 16u
#define SLOTS_MAX 32768u

/*
 * A setting that is one of the words, which stand for 1, 2, ... wanted: the config's, 0 for the
 * environment's.
 */
static int word(const char *name, unsigned int wanted, const char *const *words, unsigned int n,
		unsigned int *value, char *why, size_t room)
{
	const char *text = rf_setting_text(name);

	*value = wanted;
	for (unsigned int k = 0; k < n && !wanted; k++)
		if (strcmp(text, words[k]) == 0)
			*value = k + 1;
	if (*value >= 1 && *value <= n)
		return RF_OK;
	if (wanted)
		snprintf(why, room, "%s: %u is not one of its values", name, wanted);
	else
		snprintf(why, room, "%s=%s: expected %s%s%s or %s", name, text, words[0],
			 n > 2 ? ", " : "", n > 2 ? words[1] : "", words[n - 1]);
	return RF_ERR_INVALID;
}

static const char *const schedules[] = {"box", "ring"};
static const char *const steerings[] = {"mirror", "ring"};

const char *rf_steering_name(enum rf_steering steering)
{
	return steering == RF_STEERING_RING ? "ring" : "mirror";
}

static int words(struct rf_comm *comm, const struct rf_comm_config *config, char *why, size_t room)
{
	const char *const fallbacks[] = {rf_fallback_name(RF_FALLBACK_NONE),
					 rf_fallback_name(RF_FALLBACK_EXACT),
					 rf_fallback_name(RF_FALLBACK_RING)};
	unsigned int schedule, steering = 0, fallback = 0;
	int ret = word("RF_SCHEDULE", CONFIG(config, schedule, 0), schedules, 2, &schedule, why,
		       room);

	if (!ret)
		ret = word("RF_STEERING", CONFIG(config, steering, 0), steerings, 2, &steering, why,
			   room);
	if (!ret)
		ret = word("RF_FALLBACK", CONFIG(config, fallback, 0), fallbacks, 3, &fallback, why,
			   room);
	comm->schedule = (enum rf_schedule)schedule;
	comm->steering = (enum rf_steering)steering;
	comm->fallback = (enum rf_fallback)fallback;
	return ret;
}

/* JOIN flags: how the box treats the group. */
static int flags(struct rf_comm *comm, const struct rf_comm_config *config, char *why, size_t room)
{
	enum rf_choice selective = CONFIG(config, selective, RF_CHOICE_DEFAULT);
	uint64_t code = CONFIG(config, straggler, 0), on = selective == RF_CHOICE_ON;
	int ret = RF_OK;

	if ((unsigned int)selective > RF_CHOICE_OFF) {
		snprintf(why, room, "RF_SELECTIVE: expected on, off or default");
		return RF_ERR_INVALID;
	}
	if (selective == RF_CHOICE_DEFAULT)
		ret = rf_setting_number("RF_SELECTIVE", 0, 1, &on, why, room);
	if (!ret && !code)
		ret = rf_setting_number("RF_STRAGGLER", 0, 31, &code, why, room);
	if (ret)
		return ret;
	if (code > RF_STRAGGLER_SILENT) {
		snprintf(why, room, "straggler %llu: expected an RNR timer code from 1 to 31",
			 (unsigned long long)code);
		return RF_ERR_INVALID;
	}
	comm->flags = RF_CTL_J_DIRECTED;
	if (comm->steering == RF_STEERING_MIRROR)
		comm->flags |= RF_CTL_J_MIRROR;
	if (on)
		comm->flags |= RF_CTL_J_SELECTIVE;
	if (code != RF_STRAGGLER_SILENT)
		comm->flags |= (uint16_t)(code << RF_CTL_J_STRAGGLER_LSB);
	if (on && comm->schedule == RF_SCHEDULE_BOX && comm->ctx->verbs) {
		snprintf(why, room,
			 "a NIC does not accept packets out of order: RF_SELECTIVE=1 "
			 "needs RF_BACKEND=dpdk");
		return RF_ERR_INVALID;
	}
	return RF_OK;
}

/* wanted: the config's, 0 for the environment's. */
static int slots_setting(const char *name, unsigned int wanted, unsigned int *value, char *why,
			 size_t room)
{
	uint64_t slots = wanted;
	int ret = RF_OK;

	if (!slots)
		ret = rf_setting_number(name, SLOTS_MIN, SLOTS_MAX, &slots, why, room);
	if (!ret && (slots < SLOTS_MIN || slots > SLOTS_MAX || (slots & (slots - 1)))) {
		snprintf(why, room, "%llu slots: expected a power of two from %u to %u",
			 (unsigned long long)slots, SLOTS_MIN, SLOTS_MAX);
		ret = RF_ERR_INVALID;
	}
	*value = (unsigned int)slots;
	return ret;
}

/* Large calls get a second group only if it is larger, and if one group is not needed whole. */
static int both_slots(struct rf_comm *comm, const struct rf_comm_config *config, char *why,
		      size_t room)
{
	unsigned int large = 0;
	int ret = slots_setting("RF_SLOTS", CONFIG(config, slots, 0), &comm->slots, why, room);

	if (!ret)
		ret = slots_setting("RF_SLOTS_LARGE", CONFIG(config, slots_large, 0), &large, why,
				    room);
	if (comm->schedule == RF_SCHEDULE_BOX && comm->fallback == RF_FALLBACK_NONE &&
	    large > comm->slots)
		comm->large.slots = large;
	return ret;
}

int rf_comm_settings(struct rf_comm *comm, const struct rf_comm_config *config, char *why,
		     size_t room)
{
	const char *box_ip = CONFIG(config, box_ip, NULL);
	const char *name = CONFIG(config, name, NULL);
	uint64_t timeout_ms = CONFIG(config, timeout_ms, 0);
	uint64_t box_timeout_ms = 0;
	int ret = RF_OK;

	if (name && strlen(name) > RF_NAME_MAX) {
		snprintf(why, room, "the name of a communicator is longer than %u bytes",
			 RF_NAME_MAX);
		return RF_ERR_INVALID;
	}
	if (!CONFIG(config, members, NULL) && CONFIG(config, n_members, 0)) {
		snprintf(
			why, room,
			"members is NULL, and n_members is %u: list the members, or leave both out "
			"for all processes",
			config->n_members);
		return RF_ERR_INVALID;
	}
	snprintf(comm->name, sizeof(comm->name), "%s", name ? name : "");
	if (!timeout_ms)
		ret = rf_setting_number("RF_TIMEOUT", 1, 86400000, &timeout_ms, why, room);
	if (!ret)
		ret = rf_setting_number("RF_BOX_TIMEOUT", 10, 86400000, &box_timeout_ms, why, room);
	if (!ret)
		ret = rf_ip_parse("address of the box (RF_BOX_IP)",
				  box_ip ? box_ip : rf_setting_text("RF_BOX_IP"), &comm->box_ip,
				  why, room);
	if (!ret)
		ret = words(comm, config, why, room);
	if (!ret && comm->ctx->gateway && comm->schedule == RF_SCHEDULE_BOX &&
	    comm->steering == RF_STEERING_RING) {
		snprintf(why, room,
			 "RF_GATEWAY is set: behind a router the box needs mirror connections "
			 "(RF_STEERING=mirror), because no switch there has the rule");
		ret = RF_ERR_INVALID;
	}
	if (!ret)
		ret = both_slots(comm, config, why, room);
	if (!ret)
		ret = flags(comm, config, why, room);
	comm->timeout_ms = (unsigned int)timeout_ms;
	comm->box_timeout_ms = (unsigned int)box_timeout_ms;
	return ret;
}
