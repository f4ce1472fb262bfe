/* Fuzzing programs without libFuzzer: FILE... runs each file and 20 changed copies of it. */
#include "tests/unit/fuzz.h"

static uint64_t state = 1;

static uint32_t rnd(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

int main(int argc, char **argv)
{
	static uint8_t data[65536];
	unsigned int runs = 0;

	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		size_t n = f ? fread(data, 1, sizeof(data), f) : 0;

		if (!f) {
			perror(argv[i]);
			return 1;
		}
		fclose(f);
		LLVMFuzzerTestOneInput(data, n);
		runs++;
		for (unsigned int k = 0; n > 0 && k < 20; k++) {
			data[rnd((uint32_t)n)] ^= (uint8_t)(1u << rnd(8));
			LLVMFuzzerTestOneInput(data, n);
			runs++;
		}
	}
	printf("%u inputs\n", runs);
	return runs > 0 ? 0 : 1;
}
