// An HTTPS client in C, over the libcurl that a pinned session uses too.
#ifndef PINTLE_CURL_CLIENT_H
#define PINTLE_CURL_CLIENT_H

#include <stddef.h>
#include <stdint.h>

typedef struct curl_client curl_client;

/// Freed by nobody: a benchmark ends.
///
/// With `caches_store` the roots are parsed once; as shipped, with a directory of roots beside the file, libcurl
/// parses them for each connection.
curl_client *curl_client_new(const char *authorities, int caches_store);
/// Gets a URL so many times, one after the other, without resuming TLS; the bytes of the answers, or -1.
int64_t curl_client_get(curl_client *client, const char *url, int count);
/// Sends so many bytes of a file; how many were taken, or -1.
int64_t curl_client_put(curl_client *client, const char *url, const char *path, int64_t count);

/// Processor time of all threads of this process, in nanoseconds.
uint64_t process_nanoseconds(void);
uint64_t wall_nanoseconds(void);

#endif
