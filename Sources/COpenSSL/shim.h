#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/// Initializes OpenSSL without its handler at the exit of the process, unless OpenSSL has been initialized already;
/// returns 0 if that fails.
///
/// The handler frees what other threads use until the process has ended: one in a TLS handshake would crash.
static inline int copenssl_initialize(void) { return OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, 0); }
