#define _GNU_SOURCE
#include "curl_client.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

// Functions of the executable override libc's, also for libcrypto. They redirect the file of roots, because stock
// URLSession has no setting for it and must trust the root of the benchmark.
static FILE *open_roots(const char *name, const char *path, const char *mode) {
    const char *roots = getenv("PINTLE_BENCH_ROOTS");
    if (roots && strcmp(path, "/etc/ssl/certs/ca-certificates.crt") == 0) path = roots;
    return ((FILE * (*)(const char *, const char *))dlsym(RTLD_NEXT, name))(path, mode);
}

FILE *fopen(const char *path, const char *mode) { return open_roots("fopen", path, mode); }
FILE *fopen64(const char *path, const char *mode) { return open_roots("fopen64", path, mode); }

struct curl_client {
    CURL *curl;
    int64_t received, sent, to_send;
    int file;
};

static size_t take(char *bytes, size_t size, size_t count, void *at) {
    (void)bytes;
    ((curl_client *)at)->received += (int64_t)(size * count);
    return size * count;
}

static size_t give(char *bytes, size_t size, size_t count, void *at) {
    curl_client *client = at;
    int64_t rest = client->to_send - client->sent, room = (int64_t)(size * count);
    ssize_t given = pread(client->file, bytes, (size_t)(rest < room ? rest : room), client->sent);
    if (given < 0) return CURL_READFUNC_ABORT;
    client->sent += given;
    return (size_t)given;
}

curl_client *curl_client_new(const char *authorities, int caches_store) {
    curl_client *client = calloc(1, sizeof *client);
    CURL *curl = client ? client->curl = curl_easy_init() : NULL;
    if (!curl) return NULL;
    curl_easy_setopt(curl, CURLOPT_CAINFO, authorities);
    if (caches_store) curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
    // Like a pinned session, which must not resume TLS: a resumed connection skips the verdict.
    curl_easy_setopt(curl, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 64L * 1024);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, client);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(curl, CURLOPT_READDATA, client);
    return client;
}

int64_t curl_client_get(curl_client *client, const char *url, int count) {
    client->received = 0;
    curl_easy_setopt(client->curl, CURLOPT_UPLOAD, 0L);
    curl_easy_setopt(client->curl, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(client->curl, CURLOPT_URL, url);
    for (int index = 0; index < count; index++) {
        if (curl_easy_perform(client->curl) != CURLE_OK) return -1;
    }
    return client->received;
}

int64_t curl_client_put(curl_client *client, const char *url, const char *path, int64_t count) {
    client->sent = 0;
    client->to_send = count;
    client->file = open(path, O_RDONLY | O_CLOEXEC);
    if (client->file < 0) return -1;
    curl_easy_setopt(client->curl, CURLOPT_URL, url);
    curl_easy_setopt(client->curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(client->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)count);
    CURLcode code = curl_easy_perform(client->curl);
    close(client->file);
    return code == CURLE_OK ? client->sent : -1;
}

static uint64_t nanoseconds(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

uint64_t process_nanoseconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
}

uint64_t wall_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t preloaded_allocations(void) {
    uint64_t (*count)(void) = (uint64_t(*)(void))dlsym(RTLD_DEFAULT, "counted_allocations");
    return count ? count() : 0;
}

void use_first_processor(void) {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CPU_SET(0, &processors);
    sched_setaffinity(0, sizeof processors, &processors);
}
