// libcurl sets and reads options through variadic functions and macros, which Swift cannot call: one typed function
// per kind.
#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075800
#error "libcurl 7.88.0 or newer is needed"
#endif

// Their casts hide them from Swift.
static const long ccurl_auth_basic = (long)CURLAUTH_BASIC;
static const long ccurl_auth_digest = (long)CURLAUTH_DIGEST;
static const long ccurl_auth_bearer = (long)CURLAUTH_BEARER;

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
/// For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
static inline CURLcode ccurl_set_data_function(
    CURL *easy, CURLoption option, size_t (*function)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(easy, option, function);
}
static inline CURLcode ccurl_set_prereq_function(
    CURL *easy, int (*function)(void *, char *, char *, int, int)) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, function);
}
static inline CURLcode ccurl_set_socket_opened_function(
    CURL *easy, int (*function)(void *, curl_socket_t, curlsocktype)) {
    return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, function);
}
static inline CURLcode ccurl_set_close_socket_function(CURL *easy, int (*function)(void *, curl_socket_t)) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
}
static inline CURLcode ccurl_set_open_socket_function(
    CURL *easy, curl_socket_t (*function)(void *, curlsocktype, struct curl_sockaddr *)) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}
/// Returns the address itself, which is longer than the member that contains its beginning.
static inline const struct sockaddr *ccurl_socket_address(const struct curl_sockaddr *address) {
    return &address->addr;
}
/// Makes handles that use the share keep data of a kind in it.
static inline CURLSHcode ccurl_share(CURLSH *share, curl_lock_data kind) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, kind);
}
/// Sets the functions that lock and unlock a kind of data; both get `data`.
static inline void ccurl_share_set_lock_functions(
    CURLSH *share, void *data, curl_lock_function lock, curl_unlock_function unlock) {
    curl_share_setopt(share, CURLSHOPT_USERDATA, data);
    curl_share_setopt(share, CURLSHOPT_LOCKFUNC, lock);
    curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, unlock);
}
static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode ccurl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode ccurl_get_socket(CURL *easy, curl_socket_t *value) {
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, value);
}
static inline CURLcode ccurl_get_private(CURL *easy, void **value) {
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, value);
}
static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode ccurl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode ccurl_multi_set_socket_function(
    CURLM *multi, int (*function)(CURL *, curl_socket_t, int, void *, void *)) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, function);
}
static inline CURLMcode ccurl_multi_set_timer_function(CURLM *multi, int (*function)(CURLM *, long, void *)) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, function);
}
/// Returns the result of a finished transfer, a member of a union in the message.
static inline CURLcode ccurl_message_result(const CURLMsg *message) {
    return message->data.result;
}
