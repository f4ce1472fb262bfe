// The whole box: single cases, ranks with packet loss, performance figures.
//
//   Vrf_core cases [SEED] | stress FIRST LAST | speed [JSON LINES] | simulation [PACKETS]
#include "tests/rtl/core_tests.h"

int main(int argc, char **argv)
{
	std::string what = argc > 1 ? argv[1] : "cases";
	unsigned from = argc > 2 ? static_cast<unsigned>(strtoul(argv[2], nullptr, 0)) : 1;
	unsigned to = argc > 3 ? static_cast<unsigned>(strtoul(argv[3], nullptr, 0)) : from;

	if (what == "cases") {
		cases(from);
	} else if (what == "stress") {
		for (unsigned seed = from; seed <= to; seed++) {
			printf("repeat with: %s stress %u\n", argv[0], seed);
			fflush(stdout);
			stress(seed);
		}
	} else if (what == "speed") {
		speed(argc > 2 ? argv[2] : nullptr);
	} else if (what == "simulation") {
		simulation(argc > 2 ? from : 1000);
	} else {
		fprintf(stderr, "usage: %s cases [SEED] | stress FIRST LAST | speed [JSON LINES] | simulation [PACKETS]\n", argv[0]);
		return 2;
	}
	printf("ok\n");
	return 0;
}
