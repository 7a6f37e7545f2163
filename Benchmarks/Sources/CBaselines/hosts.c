#include "baselines.h"

#include <stdlib.h>
#include <string.h>

// A simple hash table: open addressing, at most half full, FNV-1a.
typedef struct {
    char *name;
    uint32_t length, rule;
} entry;

struct baseline_hosts {
    entry *entries;
    size_t mask;
};

static uint64_t hash(const char *name, size_t length) {
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t index = 0; index < length; index++) sum = (sum ^ (uint8_t)name[index]) * 0x100000001b3;
    return sum ^ sum >> 32;
}

baseline_hosts *baseline_hosts_new(size_t capacity) {
    size_t size = 16;
    while (size < capacity * 2) size *= 2;
    baseline_hosts *hosts = malloc(sizeof *hosts);
    *hosts = (baseline_hosts){calloc(size, sizeof(entry)), size - 1};
    return hosts;
}

static entry *find(const baseline_hosts *hosts, const char *name, size_t length) {
    size_t index = hash(name, length) & hosts->mask;
    while (hosts->entries[index].name != NULL) {
        entry *found = &hosts->entries[index];
        if (found->length == length && memcmp(found->name, name, length) == 0) break;
        index = (index + 1) & hosts->mask;
    }
    return &hosts->entries[index];
}

void baseline_hosts_add(baseline_hosts *hosts, const char *name, size_t length, uint32_t rule) {
    entry *place = find(hosts, name, length);
    *place = (entry){malloc(length), (uint32_t)length, rule};
    memcpy(place->name, name, length);
}

int64_t baseline_hosts_find(const baseline_hosts *hosts, const char *name, size_t length) {
    for (;;) {
        entry *found = find(hosts, name, length);
        if (found->name != NULL) return found->rule;
        const char *dot = memchr(name, '.', length);
        if (dot == NULL) return -1;
        length -= (size_t)(dot + 1 - name);
        name = dot + 1;
    }
}
