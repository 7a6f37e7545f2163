// OpenSSL 3 as one module. What stands here beside the includes is only what Swift cannot call
// itself: macros, and the low-level SHA-256. OpenSSL 3.0 deprecates these functions, and 4.0 still
// has them. Every other way costs more. Instructions for the key of a P-256 certificate, 91 bytes
// (valgrind --tool=callgrind, which counts SHA-256 itself without the processor's instructions for it):
//
//                                          3.0.22   3.5.9   3.6.5
//   SHA256_Init, _Update, _Final             4366    4333    4330
//   EVP with a context for each thread       5011    4623    4623
//   EVP_Digest with a fetched EVP_MD         5453    5346    5348
//   EVP_Digest with EVP_sha256()             7770    6511    6520
#ifndef PINTLE_COPENSSL_SHIM_H
#define PINTLE_COPENSSL_SHIM_H

#define OPENSSL_SUPPRESS_DEPRECATED 1
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

/// SHA-256 of `count` bytes into `digest` (32 bytes).
static inline void pintle_sha256(const void *bytes, size_t count, unsigned char *digest) {
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, bytes, count);
    SHA256_Final(digest, &context);
}

// SSL_OP_... are built by a macro with an argument, which Swift does not import.
static const uint64_t pintle_SSL_OP_NO_TICKET = SSL_OP_NO_TICKET;
static const uint64_t pintle_SSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t pintle_SSL_OP_NO_COMPRESSION = SSL_OP_NO_COMPRESSION;
#ifdef SSL_OP_NO_RX_CERTIFICATE_COMPRESSION
static const uint64_t pintle_SSL_OP_NO_RX_CERTIFICATE_COMPRESSION = SSL_OP_NO_RX_CERTIFICATE_COMPRESSION;
#else
static const uint64_t pintle_SSL_OP_NO_RX_CERTIFICATE_COMPRESSION = 0;
#endif

#endif
