// Asks many TLS servers for their certificates on one thread with poll and OpenSSL, and prints a line for each: the peer
// of `pintle audit`.
//
//   CAudit ANCHORS.pem HOSTS NUMBER PIN
//
// HOSTS has lines "NAME ADDRESS:PORT", with IPv4 addresses. NUMBER connections are open at a time. PIN is the SHA-256 of
// the servers' public key in base64.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST = 500, TIMEOUT_SECONDS = 10 };

typedef struct {
    SSL *ssl;
    time_t deadline;
    char name[256];
} server;

static int fail(const char *reason) {
    fprintf(stderr, "CAudit: %s\n", reason);
    exit(2);
}

static time_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

// Prints the result and ends the connection.
static int finish(server *server, const char *result) {
    int trusted = result == NULL;
    printf("%s %s\n", server->name, trusted ? "trusted" : result);
    if (trusted) SSL_shutdown(server->ssl);
    int socket = SSL_get_fd(server->ssl);
    SSL_free(server->ssl);
    close(socket);
    server->ssl = NULL;
    return trusted;
}

// Opens a connection. Returns 0 at the end of the list.
static int begin(server *server, FILE *hosts, SSL_CTX *context) {
    char address[64];
    unsigned port;
    int count = fscanf(hosts, "%255s %63[0-9.]:%u", server->name, address, &port);
    if (count == EOF) return 0;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (count != 3 || inet_pton(AF_INET, address, &to.sin_addr) != 1) fail("a line is not NAME ADDRESS:PORT");
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    if (descriptor < 0) fail("no socket");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // If connecting fails, SSL_connect reports it.
    (void)!connect(descriptor, (struct sockaddr *)&to, sizeof to);
    server->ssl = SSL_new(context);
    if (server->ssl == NULL || SSL_set_fd(server->ssl, descriptor) != 1 ||
        SSL_set_tlsext_host_name(server->ssl, server->name) != 1 || SSL_set1_host(server->ssl, server->name) != 1)
        fail("no memory");
    server->deadline = now() + TIMEOUT_SECONDS;
    return 1;
}

static int has_pin(SSL *ssl, const unsigned char pin[32]) {
    X509 *leaf = SSL_get0_peer_certificate(ssl);
    unsigned char *key = NULL, digest[32];
    int length = leaf ? i2d_X509_PUBKEY(X509_get_X509_PUBKEY(leaf), &key) : 0;
    if (length <= 0) return 0;
    SHA256(key, (size_t)length, digest);
    OPENSSL_free(key);
    return memcmp(digest, pin, sizeof digest) == 0;
}

// Continues a handshake. Returns 1 if the server is trusted.
static int advance(server *server, struct pollfd *entry, const unsigned char pin[32]) {
    if (server->deadline < now()) return finish(server, "timed out");
    ERR_clear_error();
    int result = SSL_connect(server->ssl);
    if (result == 1) return finish(server, has_pin(server->ssl, pin) ? NULL : "shows another key");
    switch (SSL_get_error(server->ssl, result)) {
    case SSL_ERROR_WANT_READ: entry->events = POLLIN; return 0;
    case SSL_ERROR_WANT_WRITE: entry->events = POLLOUT; return 0;
    }
    long error = SSL_get_verify_result(server->ssl);
    return finish(server, error == X509_V_OK ? "not reached" : X509_verify_cert_error_string(error));
}

int main(int count, char **arguments) {
    if (count != 5) fail("usage: CAudit ANCHORS HOSTS NUMBER PIN");
    int width = atoi(arguments[3]), trusted = 0, total = 0, open = 0;
    if (width < 1 || width > LARGEST) fail("NUMBER is 1 to 500");
    unsigned char pin[33];
    if (strlen(arguments[4]) != 44 || EVP_DecodeBlock(pin, (unsigned char *)arguments[4], 44) != 33)
        fail("PIN is not base64 of 32 bytes");
    FILE *hosts = fopen(arguments[2], "r");
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (hosts == NULL || context == NULL || SSL_CTX_load_verify_file(context, arguments[1]) != 1)
        fail("cannot read the anchors or the hosts");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);

    static server servers[LARGEST];
    static struct pollfd entries[LARGEST];
    int more = 1;
    do {
        for (int index = 0; index < width; index++) {
            if (servers[index].ssl != NULL && (entries[index].revents != 0 || servers[index].deadline < now()))
                trusted += advance(&servers[index], &entries[index], pin);
            if (servers[index].ssl == NULL && more && (more = begin(&servers[index], hosts, context))) {
                total++;
                entries[index] = (struct pollfd){.fd = SSL_get_fd(servers[index].ssl), .events = POLLOUT};
            }
        }
        open = 0;
        for (int index = 0; index < width; index++) {
            if (servers[index].ssl == NULL) entries[index].fd = -1;
            else open++;
        }
        if (open > 0) poll(entries, (nfds_t)width, 100);
    } while (open > 0);
    fprintf(stderr, "%d of %d servers are trusted\n", trusted, total);
    return trusted == total ? 0 : 1;
}
