// Counts the calls of malloc and similar functions in a program that contains this library, or loads it with LD_PRELOAD.
// Its functions override libc's for every library of the process, including Swift's and OpenSSL's.
#ifndef PINTLE_ALLOCATION_COUNTER_H
#define PINTLE_ALLOCATION_COUNTER_H

#include <stdint.h>

/// Returns the number of calls to malloc, calloc, realloc and the aligned variants in this process.
uint64_t counted_allocations(void);

#endif
