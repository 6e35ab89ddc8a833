import CCurl

import Glibc

/// An owner of a `CURLSH`: state shared by the handles of a transport.
///
/// `@unchecked Sendable`: if it is shared by threads, libcurl locks the state; otherwise, it is confined to one thread.
@safe
final class CurlShare: @unchecked Sendable {
    private let pointer: OpaquePointer
    /// A mutex for each kind of state; `nil` if the share is confined to a thread.
    private let mutexes: UnsafeMutablePointer<pthread_mutex_t>?

    private static let mutexCount = Int(CURL_LOCK_DATA_LAST.rawValue)

    /// Creates a share of TLS sessions for one thread, or of TLS sessions and cookies for any number of threads if
    /// `sharesCookies`.
    ///
    /// A new connection to a known host resumes its session, which saves both sides most of the handshake. libcurl
    /// resumes a session only with the TLS settings with which it was made.
    init(sharesCookies: Bool = false) throws(CurlOptionFailure) {
        guard let created = unsafe curl_share_init() else { throw CurlOptionFailure(code: CURLE_OUT_OF_MEMORY) }
        unsafe pointer = OpaquePointer(created)
        unsafe mutexes = sharesCookies ? .allocate(capacity: Self.mutexCount) : nil
        if let mutexes = unsafe mutexes {
            for kind in 0..<Self.mutexCount {
                unsafe (mutexes + kind).initialize(to: pthread_mutex_t())
                unsafe pthread_mutex_init(mutexes + kind, nil)
            }
            unsafe ccurl_share_set_lock_functions(
                created, mutexes,
                { _, kind, _, mutexes in
                    if let mutex = unsafe CurlShare.mutex(kind, of: mutexes) { unsafe pthread_mutex_lock(mutex) }
                },
                { _, kind, mutexes in
                    if let mutex = unsafe CurlShare.mutex(kind, of: mutexes) { unsafe pthread_mutex_unlock(mutex) }
                })
        }
        try share(CURL_LOCK_DATA_SSL_SESSION)
        if sharesCookies { try share(CURL_LOCK_DATA_COOKIE) }
    }

    deinit {
        unsafe curl_share_cleanup(UnsafeMutableRawPointer(pointer))
        guard let mutexes = unsafe mutexes else { return }
        for kind in 0..<Self.mutexCount { unsafe pthread_mutex_destroy(mutexes + kind) }
        unsafe mutexes.deallocate()
    }

    /// Makes `easy` use the share until it is destroyed.
    func attach(to easy: CurlEasy) throws(CurlOptionFailure) {
        try unsafe easy.check(ccurl_set_pointer(easy.handle, CURLOPT_SHARE, UnsafeMutableRawPointer(pointer)))
        easy.share = self
    }

    /// Adds the cookies of a file; a file that cannot be read has none.
    func loadCookies(_ file: String) throws(CurlOptionFailure) {
        guard let easy = unsafe curl_easy_init() else { throw CurlOptionFailure(code: CURLE_OUT_OF_MEMORY) }
        defer { unsafe curl_easy_cleanup(easy) }
        for code in unsafe [
            ccurl_set_pointer(easy, CURLOPT_SHARE, UnsafeMutableRawPointer(pointer)),
            ccurl_set_string(easy, CURLOPT_COOKIEFILE, file), ccurl_set_string(easy, CURLOPT_COOKIELIST, "RELOAD"),
        ] where code != CURLE_OK {
            throw CurlOptionFailure(code: code)
        }
    }

    private func share(_ data: curl_lock_data) throws(CurlOptionFailure) {
        guard unsafe ccurl_share(UnsafeMutableRawPointer(pointer), data) == CURLSHE_OK else {
            throw CurlOptionFailure(code: CURLE_FAILED_INIT)
        }
    }

    private static func mutex(
        _ kind: curl_lock_data, of mutexes: UnsafeMutableRawPointer?
    ) -> UnsafeMutablePointer<pthread_mutex_t>? {
        let index = Int(kind.rawValue)
        guard index < mutexCount, let mutexes = unsafe mutexes else { return nil }
        return unsafe mutexes.assumingMemoryBound(to: pthread_mutex_t.self) + index
    }
}
