// The same work in C: Pintle's peers in every table.
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
    BASELINE_WALK,  // DER walk, SHA256_Init/Update/Final
    BASELINE_D2I,   // d2i_X509 and i2d_X509_PUBKEY
} baseline_pin_method;

/// Returns the depth of the first certificate whose key has one of these SHA-256 pins, or -1.
int baseline_match_pins(baseline_pin_method method, const baseline_certificate *path, size_t path_count,
                        const baseline_digest *pins, size_t pin_count);

// B. Paths.

typedef struct baseline_path baseline_path;

/// Parses the certificates once. The result is never freed, because the benchmark's process ends.
baseline_path *baseline_path_new(const baseline_certificate *leaf, const baseline_certificate *intermediate,
                                 const baseline_certificate *root, const char *host);
/// Calls X509_verify_cert for a TLS server of that name. Returns 1 if the path is valid. With `from_der` it parses leaf
/// and intermediate for each call, as a program that receives bytes must.
int baseline_path_verify(baseline_path *path, int from_der);
/// Returns the context that OpenSSL passes to a verification callback: the leaf, and all certificates that were sent.
struct x509_store_ctx_st *baseline_path_context(const baseline_path *path);

/// Returns an unconnected TLS connection, because a presented chain needs one.
struct ssl_st *baseline_connection(void);

// E. Processes.

/// Runs a program to its end and discards its output. Returns its nanoseconds, or -1 if it failed.
int64_t baseline_spawn(const char *const *arguments);

// F. Updates.

/// Signs a message with the Ed25519 key of this number. Returns the raw public key (32 bytes) and the signature (64
/// bytes) in its arguments, and stores both for `baseline_signature_verify`. The result is 1 on success.
int baseline_signature_make(const uint8_t *message, size_t count, uint8_t number, uint8_t *key, uint8_t *signature);
/// Returns 1 if the last signature that was made is valid for this message.
int baseline_signature_verify(const uint8_t *message, size_t count);

// Counters.

/// Returns the number of bytes that malloc has allocated and the process has not freed.
uint64_t baseline_heap_bytes(void);
/// Returns the processor time of this thread, on which other load on the machine has little effect.
uint64_t baseline_cpu_nanoseconds(void);

#endif
