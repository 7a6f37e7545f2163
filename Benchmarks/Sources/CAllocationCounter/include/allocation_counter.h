// Counts the calls of malloc and similar functions in a process that loads this library with LD_PRELOAD.
#ifndef PINTLE_ALLOCATION_COUNTER_H
#define PINTLE_ALLOCATION_COUNTER_H

#include <stdint.h>

uint64_t counted_allocations(void);

#endif
