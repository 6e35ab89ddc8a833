import CCurl

/// Owner of a `CURL` easy handle; used for one transfer after the other.
///
/// Confined to the transport's thread.
@safe
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var lists: [UnsafeMutablePointer<curl_slist>] = unsafe []

    /// A handle with everything set that is the same for all transfers.
    init(_ configuration: CurlTransport.Configuration) throws(CurlOptionFailure) {
        guard let handle = unsafe curl_easy_init() else { throw CurlOptionFailure(code: CURLE_OUT_OF_MEMORY) }
        unsafe self.handle = handle
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        try check(unsafe ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText))
        // Threads and signals do not go together.
        try set(CURLOPT_NOSIGNAL, 1)
        // A redirect could change the scheme: ours are followed by hand, and nothing but HTTP is ever spoken.
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        // A proxy's answer to CONNECT is not the response.
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Which proxy is decided by ProxyRule; unset, libcurl would look for exceptions in the environment.
        try set(CURLOPT_NOPROXY, "")
        try set(CURLOPT_BUFFERSIZE, 64 << 10)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        // What is fed in by CURLOPT_RESOLVE is to outlive the resolver's own memory of it.
        try set(CURLOPT_DNS_CACHE_TIMEOUT, Int(HostResolver.lifetime / .seconds(1)) + 5)
        // A name lookup of libcurl's own, behind a proxy, must not hold up the thread when it is abandoned.
        try set(CURLOPT_QUICK_EXIT, 1)
        if let file = configuration.certificateAuthorityFile { try set(CURLOPT_CAINFO, file) }
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe lists.forEach { unsafe curl_slist_free_all($0) }
        unsafe errorText.deallocate()
    }

    /// What libcurl said of the last failure; empty if nothing.
    var errorDetail: String { unsafe String(cString: errorText) }

    /// Forgets the last transfer's lists and failure.
    func clear() {
        unsafe lists.forEach { unsafe curl_slist_free_all($0) }
        unsafe lists.removeAll(keepingCapacity: true)
        unsafe errorText.pointee = 0
    }

    func set(_ option: CURLoption, _ value: Int) throws(CurlOptionFailure) {
        try check(unsafe ccurl_set_long(handle, option, value))
    }

    /// libcurl copies the string; nil sets the option back to its default.
    func set(_ option: CURLoption, _ value: String?) throws(CurlOptionFailure) {
        try check(unsafe ccurl_set_string(handle, option, value))
    }

    /// libcurl keeps the list, so that it lives until ``clear()``; an empty one unsets the option.
    func set(_ option: CURLoption, _ lines: [String]) throws(CurlOptionFailure) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            guard let longer = unsafe curl_slist_append(list, line) else {
                unsafe curl_slist_free_all(list)
                throw CurlOptionFailure(code: CURLE_OUT_OF_MEMORY)
            }
            unsafe list = longer
        }
        if let list = unsafe list { unsafe lists.append(list) }
        try check(unsafe ccurl_set_list(handle, option, list))
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        return unsafe ccurl_get_long(handle, info, &value) == CURLE_OK ? value : 0
    }

    /// A time libcurl gives in microseconds.
    func time(_ info: CURLINFO) -> Duration {
        var value: curl_off_t = 0
        return unsafe ccurl_get_offset(handle, info, &value) == CURLE_OK ? .microseconds(value) : .zero
    }

    /// Goes on after a pause.
    ///
    /// From the transport's thread only.
    func unpause() -> CURLcode { unsafe curl_easy_pause(handle, CURLPAUSE_CONT) }

    func check(_ code: CURLcode) throws(CurlOptionFailure) {
        guard code == CURLE_OK else { throw CurlOptionFailure(code: code) }
    }
}

/// libcurl refused an option.
struct CurlOptionFailure: Error {
    let code: CURLcode
}
