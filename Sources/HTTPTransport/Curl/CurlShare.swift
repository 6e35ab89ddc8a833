import CCurl

/// An owner of a `CURLSH`: state shared by the handles of a transport.
///
/// Confined to the transport's thread, so that libcurl needs no locks.
@safe
final class CurlShare {
    private let pointer: OpaquePointer

    /// Creates a share of TLS sessions, and of cookies if `sharesCookies`.
    ///
    /// A new connection to a known host resumes its session, which saves both sides most of the handshake. libcurl
    /// resumes a session only with the TLS settings with which it was made.
    init(sharesCookies: Bool = false) throws(CurlOptionFailure) {
        guard let created = unsafe curl_share_init() else { throw CurlOptionFailure(code: CURLE_OUT_OF_MEMORY) }
        unsafe pointer = OpaquePointer(created)
        try share(CURL_LOCK_DATA_SSL_SESSION)
        if sharesCookies { try share(CURL_LOCK_DATA_COOKIE) }
    }

    deinit { unsafe curl_share_cleanup(UnsafeMutableRawPointer(pointer)) }

    /// Makes `easy` use the share until it is destroyed.
    func attach(to easy: CurlEasy) throws(CurlOptionFailure) {
        try unsafe easy.check(ccurl_set_pointer(easy.handle, CURLOPT_SHARE, UnsafeMutableRawPointer(pointer)))
        easy.share = self
    }

    private func share(_ data: curl_lock_data) throws(CurlOptionFailure) {
        guard unsafe ccurl_share(UnsafeMutableRawPointer(pointer), data) == CURLSHE_OK else {
            throw CurlOptionFailure(code: CURLE_FAILED_INIT)
        }
    }
}
