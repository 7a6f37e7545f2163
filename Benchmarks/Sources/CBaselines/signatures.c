#include "baselines.h"

#include <openssl/evp.h>

static unsigned char key_bytes[32], signature_bytes[64];

int baseline_signature_make(const uint8_t *message, size_t count, uint8_t number, uint8_t *key, uint8_t *signature) {
    // The key is fixed, because the cost of a verification depends on the key and would vary by 5 % between runs.
    unsigned char seed[32] = {number};
    EVP_PKEY *pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, sizeof seed);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t key_count = sizeof key_bytes, signature_count = sizeof signature_bytes;
    int made = pair && context && EVP_DigestSignInit(context, NULL, NULL, NULL, pair) == 1 &&
               EVP_DigestSign(context, signature_bytes, &signature_count, message, count) == 1 &&
               EVP_PKEY_get_raw_public_key(pair, key_bytes, &key_count) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(pair);
    for (size_t i = 0; i < sizeof key_bytes; i++) key[i] = key_bytes[i];
    for (size_t i = 0; i < sizeof signature_bytes; i++) signature[i] = signature_bytes[i];
    return made;
}

int baseline_signature_verify(const uint8_t *message, size_t count) {
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key_bytes, sizeof key_bytes);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int valid = key && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
                EVP_DigestVerify(context, signature_bytes, sizeof signature_bytes, message, count) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return valid;
}
