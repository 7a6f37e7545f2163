#define _GNU_SOURCE
#include "baselines.h"

#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

uint64_t baseline_heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static uint64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t baseline_cpu_nanoseconds(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

int64_t baseline_spawn(const char *const *arguments) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    uint64_t start = read_clock(CLOCK_MONOTONIC);
    pid_t process;
    int status = -1;
    int failed = posix_spawnp(&process, arguments[0], &actions, NULL, (char *const *)arguments, environ);
    if (!failed) waitpid(process, &status, 0);
    uint64_t end = read_clock(CLOCK_MONOTONIC);
    posix_spawn_file_actions_destroy(&actions);
    return failed || status != 0 ? -1 : (int64_t)(end - start);
}
