#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/// Initializes OpenSSL without its handler at the exit of the process, unless OpenSSL has been initialized already;
/// returns 0 if that fails.
///
/// The handler frees what other threads use until the process has ended: one in a TLS handshake would crash.
static inline int copenssl_initialize(void) { return OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, 0); }

/// Computes a SHA-256, without the providers of OpenSSL, which take most of a millisecond to load: a program that finds
/// everything in its cache needs nothing else of OpenSSL.
static inline void copenssl_sha256(const void *bytes, size_t count, unsigned char digest[SHA256_DIGEST_LENGTH]) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, bytes, count);
    SHA256_Final(digest, &context);
#pragma clang diagnostic pop
}

// Swift cannot call OpenSSL's macros, and their casts hide constants from it.

/// Sets the minimum version of TLS; returns 0 if that fails.
static inline int copenssl_set_minimum_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}

/// Lets a single read from the socket take several records, and frees the buffers of a connection that has nothing in
/// them.
///
/// A part of the bytes passed to `SSL_write` can be written, and the remainder be passed from another address.
static inline void copenssl_set_modes(SSL_CTX *context) {
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_mode(
        context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_TLSEXT_PADDING);
}

/// Reports the sessions of clients, without keeping them.
static inline void copenssl_report_sessions(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
}

/// Sets the name of the server that the client asks for; returns 0 if that fails.
static inline int copenssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}
