// Prints the pin of a certificate file in one small C process: the peer of `pintle pin`.
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <stdio.h>

int main(int count, char **arguments) {
    FILE *file = count == 2 ? fopen(arguments[1], "r") : NULL;
    X509 *certificate = file ? PEM_read_X509(file, NULL, NULL, NULL) : NULL;
    unsigned char *key = NULL, digest[32], text[45];
    int length = certificate ? i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &key) : 0;
    if (length <= 0) return 2;
    SHA256(key, (size_t)length, digest);
    EVP_EncodeBlock(text, digest, sizeof digest);
    return printf("sha256/%s\n", text) < 0;
}
