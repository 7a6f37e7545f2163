#include "baselines.h"

#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

struct baseline_path {
    baseline_certificate leaf_der, intermediate_der;
    X509 *leaf;
    STACK_OF(X509) *untrusted;
    X509_STORE *store;
    const char *host;
};

static X509 *parse(const baseline_certificate *der) {
    const uint8_t *bytes = der->bytes;
    return d2i_X509(NULL, &bytes, (long)der->count);
}

baseline_path *baseline_path_new(const baseline_certificate *leaf, const baseline_certificate *intermediate,
                                 const baseline_certificate *root, const char *host) {
    baseline_path *path = calloc(1, sizeof *path);
    path->leaf_der = *leaf;
    path->intermediate_der = *intermediate;
    path->leaf = parse(leaf);
    path->untrusted = sk_X509_new_null();
    sk_X509_push(path->untrusted, parse(intermediate));
    path->store = X509_STORE_new();
    X509_STORE_add_cert(path->store, parse(root));
    path->host = strdup(host);
    return path;
}

static int verify(const baseline_path *path, X509 *leaf, STACK_OF(X509) *untrusted) {
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    X509_STORE_CTX_init(context, path->store, leaf, untrusted);
    X509_STORE_CTX_set_default(context, "ssl_server");
    X509_VERIFY_PARAM *parameters = X509_STORE_CTX_get0_param(context);
    X509_VERIFY_PARAM_set1_host(parameters, path->host, 0);
    int valid = X509_verify_cert(context);
    X509_STORE_CTX_free(context);
    return valid;
}

int baseline_path_verify(baseline_path *path, int from_der) {
    if (!from_der) return verify(path, path->leaf, path->untrusted);
    X509 *leaf = parse(&path->leaf_der);
    STACK_OF(X509) *untrusted = sk_X509_new_null();
    sk_X509_push(untrusted, parse(&path->intermediate_der));
    int valid = verify(path, leaf, untrusted);
    sk_X509_pop_free(untrusted, X509_free);
    X509_free(leaf);
    return valid;
}

struct x509_store_ctx_st *baseline_path_context(const baseline_path *path) {
    STACK_OF(X509) *sent = sk_X509_dup(path->untrusted);
    sk_X509_unshift(sent, path->leaf);
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    X509_STORE_CTX_init(context, path->store, path->leaf, sent);
    return context;
}

struct ssl_st *baseline_connection(void) {
    return SSL_new(SSL_CTX_new(TLS_client_method()));
}
