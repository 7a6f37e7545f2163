// libcurl as a module. What stands here beside the include is only what Swift cannot call itself: functions
// with variable arguments, one typed call for each kind of argument, and macros with casts.
#ifndef PINTLE_CCURL_SHIM_H
#define PINTLE_CCURL_SHIM_H

#include <curl/curl.h>

static inline CURLcode pintle_curl_set_long(CURL *curl, CURLoption option, long value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode pintle_curl_set_offset(CURL *curl, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(curl, option, value);
}
/// Strings, lists, URL handles, user data; null too.
static inline CURLcode pintle_curl_set_pointer(CURL *curl, CURLoption option, const void *value) {
    return curl_easy_setopt(curl, option, value);
}
static inline CURLcode pintle_curl_set_url(CURL *curl, CURLU *url) {
    return curl_easy_setopt(curl, CURLOPT_CURLU, url);
}
static inline CURLcode pintle_curl_set_write(CURL *curl, curl_write_callback function, void *data) {
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, data);
    return curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, function);
}
static inline CURLcode pintle_curl_set_header(CURL *curl, curl_write_callback function, void *data) {
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, data);
    return curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, function);
}
static inline CURLcode pintle_curl_set_read(CURL *curl, curl_read_callback function, void *data) {
    curl_easy_setopt(curl, CURLOPT_READDATA, data);
    return curl_easy_setopt(curl, CURLOPT_READFUNCTION, function);
}
static inline CURLcode pintle_curl_set_seek(CURL *curl, curl_seek_callback function, void *data) {
    curl_easy_setopt(curl, CURLOPT_SEEKDATA, data);
    return curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, function);
}
static inline CURLcode pintle_curl_set_ssl_context(CURL *curl, curl_ssl_ctx_callback function, void *data) {
    curl_easy_setopt(curl, CURLOPT_SSL_CTX_DATA, data);
    return curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION, function);
}
static inline CURLcode pintle_curl_set_progress(CURL *curl, curl_xferinfo_callback function, void *data) {
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, data);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, function);
    return curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}
static inline CURLcode pintle_curl_set_socket_options(CURL *curl, curl_sockopt_callback function, void *data) {
    curl_easy_setopt(curl, CURLOPT_SOCKOPTDATA, data);
    return curl_easy_setopt(curl, CURLOPT_SOCKOPTFUNCTION, function);
}
static inline CURLcode pintle_curl_set_open_socket(CURL *curl, curl_opensocket_callback function) {
    return curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, function);
}
static inline CURLcode pintle_curl_set_prereq(CURL *curl, curl_prereq_callback function, void *data) {
    curl_easy_setopt(curl, CURLOPT_PREREQDATA, data);
    return curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, function);
}

static inline CURLcode pintle_curl_set_debug(CURL *curl, curl_debug_callback function, void *data) {
    curl_easy_setopt(curl, CURLOPT_DEBUGDATA, data);
    return curl_easy_setopt(curl, CURLOPT_DEBUGFUNCTION, function);
}

/// CURLOPT_QUICK_EXIT by its number, which headers before 7.87 do not name; older libraries refuse it.
static inline CURLcode pintle_curl_set_quick_exit(CURL *curl) {
    return curl_easy_setopt(curl, (CURLoption)(CURLOPTTYPE_LONG + 322), 1L);
}

/// The bytes of content that came, before libcurl decoded them; -1 if that is not known.
static inline curl_off_t pintle_curl_get_received_length(CURL *curl) {
    curl_off_t count = -1;
    curl_easy_getinfo(curl, CURLINFO_SIZE_DOWNLOAD_T, &count);
    return count;
}
/// The `SSL *` of the transfer's connection; null where there is none, or where it is not OpenSSL's.
static inline void *pintle_curl_get_ssl(CURL *curl) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(curl, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL) { return NULL; }
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

static inline CURLMcode pintle_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
/// A member of a union, which Swift imports under another name in each version.
static inline CURLcode pintle_curl_message_result(const CURLMsg *message) { return message->data.result; }

static inline const curl_version_info_data *pintle_curl_version(void) { return curl_version_info(CURLVERSION_NOW); }

static const long pintle_CURLAUTH_BASIC = (long)CURLAUTH_BASIC;
static const size_t pintle_CURL_WRITEFUNC_PAUSE = CURL_WRITEFUNC_PAUSE;
static const size_t pintle_CURL_READFUNC_PAUSE = CURL_READFUNC_PAUSE;
static const size_t pintle_CURL_READFUNC_ABORT = CURL_READFUNC_ABORT;

#endif
