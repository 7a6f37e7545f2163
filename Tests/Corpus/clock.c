// Loaded before the C library (LD_PRELOAD), it stops the calendar at one instant, so that dates and days left are the same in
// each recording. Clocks that only measure durations go on.
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const time_t instant = 1800000000; // 2027-01-15T08:00:00Z, as NOW in Scripts/corpus_kit.py

int clock_gettime(clockid_t clock, struct timespec *result) {
    if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return (int)syscall(SYS_clock_gettime, clock, result);
    result->tv_sec = instant;
    result->tv_nsec = 0;
    return 0;
}

int gettimeofday(struct timeval *restrict result, void *restrict zone) {
    (void)zone;
    result->tv_sec = instant;
    result->tv_usec = 0;
    return 0;
}

time_t time(time_t *result) {
    if (result) *result = instant;
    return instant;
}
