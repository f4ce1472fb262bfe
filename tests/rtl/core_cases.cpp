#include "tests/rtl/core_ref.h"
#include "tests/rtl/core_tests.h"

void cases(uint32_t seed) { (void)seed; }
