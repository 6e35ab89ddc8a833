import CCurl

/// Owner of a `CURLSH`: what the handles of a transport have in common.
///
/// Confined to the transport's thread, so that libcurl needs no locks for it.
@safe
final class CurlShare {
    private let pointer: OpaquePointer

    /// A share of TLS sessions, and of cookies if `sharesCookies`.
    ///
    /// A connection to a host that was connected to before resumes its session, which spares both sides most of the
    /// handshake. libcurl resumes a session only under the TLS settings that it was made with.
    init(sharesCookies: Bool = false) throws(CurlOptionFailure) {
        guard let created = unsafe curl_share_init() else { throw CurlOptionFailure(code: CURLE_OUT_OF_MEMORY) }
        unsafe pointer = OpaquePointer(created)
        try share(CURL_LOCK_DATA_SSL_SESSION)
        if sharesCookies { try share(CURL_LOCK_DATA_COOKIE) }
    }

    deinit { unsafe curl_share_cleanup(UnsafeMutableRawPointer(pointer)) }

    /// Has `easy` use the share until its end.
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
