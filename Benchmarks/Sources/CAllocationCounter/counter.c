#include "allocation_counter.h"

#include <stdatomic.h>
#include <stddef.h>

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

uint64_t counted_allocations(void) { return atomic_load(&allocations); }
