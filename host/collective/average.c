#include "host/collective/average.h"

#include <string.h>

bool rf_average_has(enum rf_arith_type type)
{
	return type == RF_ARITH_FP32 || type == RF_ARITH_BF16 || type == RF_ARITH_FP16 ||
	       type == RF_ARITH_FP64;
}

static void divide32(char *data, size_t count, float n)
{
	static const uint32_t nan = 0x7fc00000;

	for (size_t k = 0; k < count; k++) {
		float v;

		memcpy(&v, data + 4 * k, 4);
		v /= n;
		memcpy(data + 4 * k, &v, 4);
		if (v != v)
			memcpy(data + 4 * k, &nan, 4);
	}
}

static void divide64(char *data, size_t count, double n)
{
	static const uint64_t nan = UINT64_C(0x7ff8000000000000);

	for (size_t k = 0; k < count; k++) {
		double v;

		memcpy(&v, data + 8 * k, 8);
		v /= n;
		memcpy(data + 8 * k, &v, 8);
		if (v != v)
			memcpy(data + 8 * k, &nan, 8);
	}
}

static void divide16(enum rf_arith_type type, char *data, size_t count, float n)
{
	for (size_t k = 0; k < count; k++) {
		uint16_t v;

		memcpy(&v, data + 2 * k, 2);
		if (type == RF_ARITH_BF16)
			v = rf_bf16_from_float(rf_bf16_to_float(v) / n);
		else
			v = rf_fp16_from_float(rf_fp16_to_float(v) / n);
		memcpy(data + 2 * k, &v, 2);
	}
}

void rf_average(enum rf_arith_type type, void *data, size_t count, unsigned int n)
{
	switch (type) {
	case RF_ARITH_FP32:
		divide32(data, count, (float)n);
		break;
	case RF_ARITH_FP64:
		divide64(data, count, n);
		break;
	case RF_ARITH_BF16:
	case RF_ARITH_FP16:
		divide16(type, data, count, (float)n);
		break;
	default:
		break;
	}
}
