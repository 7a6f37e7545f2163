#define _GNU_SOURCE
#include "baselines.h"

#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

// Functions of the executable override libc's for every library of the process, including Swift's and
// OpenSSL's.
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
static _Atomic uint64_t allocations;
#define COUNT() atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed)

void *malloc(size_t size) { return COUNT(), __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return COUNT(), __libc_calloc(count, size); }
void *realloc(void *block, size_t size) { return COUNT(), __libc_realloc(block, size); }
void *aligned_alloc(size_t alignment, size_t size) { return COUNT(), __libc_memalign(alignment, size); }
int posix_memalign(void **block, size_t alignment, size_t size) {
    return COUNT(), (*block = __libc_memalign(alignment, size)) == NULL ? 12 : 0;
}

uint64_t baseline_allocations(void) { return atomic_load(&allocations); }

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
