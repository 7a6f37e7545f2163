// An HTTPS client in C, on the same libcurl as a pinned session.
#ifndef PINTLE_CURL_CLIENT_H
#define PINTLE_CURL_CLIENT_H

#include <stddef.h>
#include <stdint.h>

typedef struct curl_client curl_client;

/// Creates a client, which is never freed, because the benchmark's process ends.
///
/// With `caches_store` libcurl parses the roots once. By default it also has a directory of roots, and then it
/// parses the roots for each connection.
curl_client *curl_client_new(const char *authorities, int caches_store);
/// Gets a URL `count` times in sequence, without resuming TLS. Returns the bytes of all responses, or -1.
int64_t curl_client_get(curl_client *client, const char *url, int count);
/// Sends the first `count` bytes of a file. Returns the number of bytes that were sent, or -1.
int64_t curl_client_put(curl_client *client, const char *url, const char *path, int64_t count);

typedef struct curl_load curl_load;

/// Creates `width` transfers of one URL on one multi handle, which are never freed.
curl_load *curl_load_new(const char *authorities, const char *url, int width);
/// Runs the first `width` transfers at once, each `rounds` times in sequence. Writes the nanoseconds of each request
/// to `latencies`. Returns the bytes of all responses, or -1.
int64_t curl_load_run(curl_load *load, int width, int rounds, uint64_t *latencies);

/// Returns the processor time of all threads of this process, in nanoseconds.
uint64_t process_nanoseconds(void);
uint64_t wall_nanoseconds(void);
/// Returns the calls of malloc and similar functions, or 0 if this process has not loaded the library that counts them.
uint64_t preloaded_allocations(void);

/// Makes callgrind count only the instructions from here to `end_counting_instructions`, of all threads.
void begin_counting_instructions(void);
void end_counting_instructions(void);

/// Restricts this thread, and the threads and processes that it starts, to the first processor.
void use_first_processor(void);

#endif
