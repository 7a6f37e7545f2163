#include "curl_client.h"

#include <curl/curl.h>
#include <stdlib.h>

typedef struct {
    CURL *curl;
    uint64_t start;
    int rounds;
    int64_t *received;
} transfer;

struct curl_load {
    CURLM *multi;
    int width;
    int64_t received;
    transfer transfers[];
};

static size_t take(char *bytes, size_t size, size_t count, void *at) {
    (void)bytes;
    *((transfer *)at)->received += (int64_t)(size * count);
    return size * count;
}

static CURL *new_handle(transfer *transfer, const char *authorities, const char *url) {
    CURL *curl = curl_easy_init();
    if (!curl) return NULL;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CAINFO, authorities);
    curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(curl, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 64L * 1024);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    // Over HTTP/2, a stream on the connection that is there instead of a connection of its own.
    curl_easy_setopt(curl, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_PRIVATE, transfer);
    return curl;
}

curl_load *curl_load_new(const char *authorities, const char *url, int width) {
    curl_load *load = calloc(1, sizeof *load + (size_t)width * sizeof(transfer));
    if (!load || !(load->multi = curl_multi_init())) return NULL;
    load->width = width;
    curl_multi_setopt(load->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    // As many idle connections as a pinned session keeps.
    curl_multi_setopt(load->multi, CURLMOPT_MAXCONNECTS, 256L);
    for (int index = 0; index < width; index++) {
        transfer *transfer = &load->transfers[index];
        transfer->received = &load->received;
        if (!(transfer->curl = new_handle(transfer, authorities, url))) return NULL;
    }
    return load;
}

static int start(curl_load *load, transfer *transfer) {
    transfer->rounds--;
    transfer->start = wall_nanoseconds();
    return curl_multi_add_handle(load->multi, transfer->curl) == CURLM_OK;
}

int64_t curl_load_run(curl_load *load, int width, int rounds, uint64_t *latencies) {
    int running = 0, left = 0, pending = width;
    if (width > load->width) return -1;
    load->received = 0;
    for (int index = 0; index < width; index++) {
        load->transfers[index].rounds = rounds;
        if (!start(load, &load->transfers[index])) return -1;
    }
    while (pending > 0) {
        if (curl_multi_perform(load->multi, &running) != CURLM_OK) return -1;
        int ended = 0;
        for (CURLMsg *message; (message = curl_multi_info_read(load->multi, &left));) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL *curl = message->easy_handle;
            transfer *transfer = NULL;
            if (message->data.result != CURLE_OK) return -1;
            curl_easy_getinfo(curl, CURLINFO_PRIVATE, &transfer);
            *latencies++ = wall_nanoseconds() - transfer->start;
            curl_multi_remove_handle(load->multi, curl);
            ended++;
            if (transfer->rounds == 0) pending--;
            else if (!start(load, transfer)) return -1;
        }
        if (!ended && pending > 0) curl_multi_poll(load->multi, NULL, 0, 1000, NULL);
    }
    return load->received;
}
