/* The firmware as the only program on the box's processor. */
#include "firmware/core/fw.h"
#include "firmware/target/rv32/cpu.h"
#include "firmware/target/settings.h"

int main(void);

/* Not zeroed at the start: rf_fw_init() writes all of fw, and rf_settings_get() all keys in use. */
static struct rf_fw fw __attribute__((section(".noinit")));
static struct rf_fw_key keys[RF_SETTINGS_KEYS_MAX] __attribute__((section(".noinit")));

static void own_write(uint32_t offset, uint32_t value)
{
	*(volatile uint32_t *)(uintptr_t)(RF_CPU_OWN_BASE + offset) = value;
}

/* The bus has a fixed address, so the pointer is not used. */
uint32_t rf_hal_read(struct rf_hal *hal, uint32_t addr)
{
	(void)hal;
	return *(volatile uint32_t *)(uintptr_t)(RF_CPU_BUS_BASE + addr);
}

void rf_hal_write(struct rf_hal *hal, uint32_t addr, uint32_t value)
{
	(void)hal;
	*(volatile uint32_t *)(uintptr_t)(RF_CPU_BUS_BASE + addr) = value;
}

static void wait(void)
{
	__asm__ volatile("wfi" ::: "memory");
}

static uint32_t start(void)
{
	uint8_t *page = (uint8_t *)(uintptr_t)RF_CPU_SETTINGS_BASE;
	struct rf_fw_cfg cfg;

	if (!rf_settings_get(page, &cfg, keys))
		return RF_CPU_STATUS_SETTINGS;
	/* If only the processor restarts, it finds no salt and refuses to serve. */
	rf_settings_spend(page);
	return (uint32_t)rf_fw_init(&fw, NULL, &cfg);
}

int main(void)
{
	uint32_t status;
	extern char __stack_filled[];

	own_write(RF_CPU_STACK, (uint32_t)(uintptr_t)__stack_filled);
	status = start();
	own_write(RF_CPU_COUNTERS, (uint32_t)(uintptr_t)&fw.cnt);
	own_write(RF_CPU_STATUS, status);
	while (status != 0)
		wait();
	/*
	 * Both interrupt lines are level-triggered, and wfi returns at once if one is up. So no
	 * event between rf_fw_poll() and wfi is missed.
	 */
	for (;;) {
		uint64_t next = rf_fw_poll(&fw);

		own_write(RF_CPU_ALARM_LO, (uint32_t)next);
		own_write(RF_CPU_ALARM_HI, (uint32_t)(next >> 32));
		wait();
	}
}
