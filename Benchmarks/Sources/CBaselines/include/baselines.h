// What the same work costs in C: the peers that stand beside Pintle in every table.
#ifndef PINTLE_BASELINES_H
#define PINTLE_BASELINES_H

#include <stddef.h>
#include <stdint.h>

// A. Pins.

typedef struct {
    const uint8_t *bytes;
    size_t count;
} baseline_certificate;

typedef struct {
    uint8_t bytes[32];
} baseline_digest;

typedef enum {
    BASELINE_WALK_LOW_LEVEL,  // DER walk, SHA256_Init/Update/Final
    BASELINE_WALK_EVP,        // DER walk, EVP with a digest fetched once and a context kept
    BASELINE_WALK_ONE_SHOT,   // DER walk, SHA256()
    BASELINE_D2I,             // d2i_X509 and i2d_X509_PUBKEY
} baseline_pin_method;

/// The depth of the first certificate whose key has one of these SHA-256 pins, or -1.
int baseline_match_pins(baseline_pin_method method, const baseline_certificate *path, size_t path_count,
                        const baseline_digest *pins, size_t pin_count);

// B. Paths.

typedef struct baseline_path baseline_path;

/// Parses everything once. Freed by nobody: a benchmark ends.
baseline_path *baseline_path_new(const baseline_certificate *leaf, const baseline_certificate *intermediate,
                                 const baseline_certificate *root, const char *host);
/// X509_verify_cert for a TLS server of that name; 1 = valid. With `from_der` leaf and intermediate are
/// parsed anew, as a program that is handed bytes must.
int baseline_path_verify(baseline_path *path, int from_der);
/// The context that OpenSSL would hand to a verification callback: leaf, and everything that was sent.
struct x509_store_ctx_st *baseline_path_context(const baseline_path *path);

/// A connection to no server; a presented chain needs one.
struct ssl_st *baseline_connection(void);

// D. Hosts.

typedef struct baseline_hosts baseline_hosts;

baseline_hosts *baseline_hosts_new(size_t capacity);
void baseline_hosts_add(baseline_hosts *hosts, const char *name, size_t length, uint32_t rule);
/// The rule of the name or of its longest parent, or -1: hashes each suffix anew, longest first.
int64_t baseline_hosts_find(const baseline_hosts *hosts, const char *name, size_t length);

// E. Processes.

/// Runs a program to its end with its output thrown away; nanoseconds, or -1 if it failed.
int64_t baseline_spawn(const char *const *arguments);

// F. Updates.

/// Signs a message with a new Ed25519 key, gives the raw public key (32 bytes) and the signature (64), and
/// keeps both; 1 = done.
int baseline_signature_make(const uint8_t *message, size_t count, uint8_t *key, uint8_t *signature);
/// Whether the signature that was made last is one of this message; 1 = yes.
int baseline_signature_verify(const uint8_t *message, size_t count);

// What is counted.

/// How often malloc, calloc, realloc or an aligned cousin was called in this process.
uint64_t baseline_allocations(void);
/// Bytes that malloc has handed out and not got back.
uint64_t baseline_heap_bytes(void);
/// What this thread has had of the processor: what others do to the machine counts for little.
uint64_t baseline_cpu_nanoseconds(void);

#endif
