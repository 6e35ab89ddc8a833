import CCurl

/// Owner of a `CURLSH`: the cookies of all transfers of a transport that handle any.
///
/// Confined to the transport's thread, so that libcurl needs no locks for it.
@safe
final class CookieJar {
    private let share: OpaquePointer
    /// Where the first cookies come from; empty for none, and once they are here.
    private var file: String

    init(file: String?) throws(CurlOptionFailure) {
        guard let share = unsafe curl_share_init() else { throw CurlOptionFailure(code: CURLE_OUT_OF_MEMORY) }
        unsafe self.share = OpaquePointer(share)
        self.file = file ?? ""
        guard unsafe ccurl_share_cookies(share) == CURLSHE_OK else {
            throw CurlOptionFailure(code: CURLE_FAILED_INIT)
        }
    }

    deinit { unsafe curl_share_cleanup(UnsafeMutableRawPointer(share)) }

    /// Has `easy` send and take cookies from now on, until its end.
    func open(for easy: CurlEasy) throws(CurlOptionFailure) {
        try unsafe easy.check(ccurl_set_pointer(easy.handle, CURLOPT_SHARE, UnsafeMutableRawPointer(share)))
        try easy.set(CURLOPT_COOKIEFILE, file)
        // Read again, it would bring back what servers have taken away.
        file = ""
        easy.jar = self
    }
}
