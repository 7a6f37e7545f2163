#include "curl_client.h"

// From Debian's package valgrind. Outside valgrind these requests do nothing.
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>

void begin_counting_instructions(void) {
    CALLGRIND_ZERO_STATS;
    CALLGRIND_START_INSTRUMENTATION;
}

void end_counting_instructions(void) { CALLGRIND_STOP_INSTRUMENTATION; }
#else
void begin_counting_instructions(void) {}
void end_counting_instructions(void) {}
#endif
