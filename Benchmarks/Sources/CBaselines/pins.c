#define OPENSSL_SUPPRESS_DEPRECATED 1
#include "baselines.h"

#include <openssl/sha.h>
#include <openssl/x509.h>
#include <string.h>

typedef struct {
    const uint8_t *next, *end;
} cursor;

/// Reads one element, stores its value in `*contents`, and moves the cursor behind it.
static int element(cursor *at, uint8_t tag, cursor *contents) {
    if (at->end - at->next < 2 || at->next[0] != tag) return 0;
    size_t length = at->next[1];
    const uint8_t *start = at->next + 2;
    if (length >= 0x80) {
        size_t octets = length & 0x7F;
        if (octets == 0 || octets > 4 || (size_t)(at->end - start) < octets) return 0;
        for (length = 0; octets > 0; octets--) length = length << 8 | *start++;
    }
    if ((size_t)(at->end - start) < length) return 0;
    *contents = (cursor){start, start + length};
    at->next = start + length;
    return 1;
}

static int find_public_key(const baseline_certificate *der, baseline_certificate *key) {
    cursor input = {der->bytes, der->bytes + der->count}, certificate, fields, skipped;
    if (!element(&input, 0x30, &certificate) || !element(&certificate, 0x30, &fields)) return 0;
    if (fields.next < fields.end && *fields.next == 0xA0 && !element(&fields, 0xA0, &skipped)) return 0;
    if (!element(&fields, 0x02, &skipped) || !element(&fields, 0x30, &skipped) || !element(&fields, 0x30, &skipped) ||
        !element(&fields, 0x30, &skipped) || !element(&fields, 0x30, &skipped))
        return 0;
    const uint8_t *start = fields.next;
    if (!element(&fields, 0x30, &skipped)) return 0;
    *key = (baseline_certificate){start, (size_t)(fields.next - start)};
    return 1;
}

static int hash_public_key(baseline_pin_method method, const baseline_certificate *der, uint8_t *digest) {
    baseline_certificate key;
    if (method == BASELINE_D2I) {
        const uint8_t *bytes = der->bytes;
        X509 *certificate = d2i_X509(NULL, &bytes, (long)der->count);
        if (certificate == NULL) return 0;
        uint8_t *encoded = NULL;
        int count = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded);
        X509_free(certificate);
        if (count <= 0) return 0;
        SHA256(encoded, (size_t)count, digest);
        OPENSSL_free(encoded);
        return 1;
    }
    if (!find_public_key(der, &key)) return 0;
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, key.bytes, key.count);
    SHA256_Final(digest, &context);
    return 1;
}

int baseline_match_pins(baseline_pin_method method, const baseline_certificate *path, size_t path_count,
                        const baseline_digest *pins, size_t pin_count) {
    for (size_t depth = 0; depth < path_count; depth++) {
        uint8_t digest[32];
        if (!hash_public_key(method, &path[depth], digest)) return -1;
        for (size_t pin = 0; pin < pin_count; pin++)
            if (memcmp(digest, pins[pin].bytes, 32) == 0) return (int)depth;
    }
    return -1;
}
