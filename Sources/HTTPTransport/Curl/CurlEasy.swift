import CCurl
import HTTPTypes

/// Owner of a `CURL` easy handle; used for one transfer after the other where ``CurlVersion/mayReuseHandles`` allows it.
///
/// Confined to the transport's thread.
@safe
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private let headerLines: HeaderLines
    private var headerList: CurlList?
    private var resolvedList: CurlList?
    /// The transfer that the callbacks report to, while it has the handle.
    var transfer: CurlTransfer? {
        didSet { unsafe errorText.pointee = 0 }
    }
    /// Which addresses may be talked to, if there is anything to judge.
    let policy: NetworkPolicy?
    /// What it has in common with other handles; it outlives the handle.
    var share: CurlShare?
    /// A Boolean value that indicates whether it sends and keeps cookies.
    var handlesCookies = false
    /// What is told of its connections.
    var connections: CurlConnections?
    /// What the handle is set to.
    var settings: CurlSettings?

    /// A handle with everything set that is the same for all transfers.
    init(_ configuration: CurlTransport.Configuration, headerLines: HeaderLines) throws(CurlOptionFailure) {
        guard let handle = unsafe curl_easy_init() else { throw CurlOptionFailure(code: CURLE_OUT_OF_MEMORY) }
        unsafe self.handle = handle
        self.headerLines = headerLines
        policy = configuration.policy.addresses.isEmpty ? nil : configuration.policy
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        try check(unsafe ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText))
        // Threads and signals do not go together.
        try set(CURLOPT_NOSIGNAL, 1)
        // Nothing but HTTP is ever spoken; redirects are followed by hand.
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        // A proxy's answer to CONNECT is not the response.
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Which proxy is decided by ProxyRule; unset, libcurl would look for exceptions in the environment.
        try set(CURLOPT_NOPROXY, "")
        // Above 64 KiB, header included, glibc tidies up its whole heap whenever the buffer is freed.
        try set(CURLOPT_BUFFERSIZE, 60 << 10)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        // What is fed in by CURLOPT_RESOLVE is to outlive the resolver's own memory of it.
        try set(CURLOPT_DNS_CACHE_TIMEOUT, Int(AddressBook.lifetime / .seconds(1)) + 5)
        // A name lookup of libcurl's own, behind a proxy, must not hold up the thread when it is abandoned.
        try set(CURLOPT_QUICK_EXIT, 1)
        let tls = configuration.tls
        if let file = tls.certificateAuthorityFile {
            try set(CURLOPT_CAINFO, file)
            // Where libcurl was built with a folder of authorities, it would trust these besides.
            try set(CURLOPT_CAPATH, nil)
        }
        try set(
            CURLOPT_SSLVERSION, Int(tls.minimumVersion == .tls12 ? CURL_SSLVERSION_TLSv1_2 : CURL_SSLVERSION_TLSv1_3))
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe errorText.deallocate()
    }

    /// What libcurl said of the transfer's failure; empty if nothing.
    var errorDetail: String { unsafe String(cString: errorText) }

    func set(_ option: CURLoption, _ value: Int) throws(CurlOptionFailure) {
        try check(unsafe ccurl_set_long(handle, option, value))
    }

    /// libcurl copies the string; nil sets the option back to its default.
    func set(_ option: CURLoption, _ value: String?) throws(CurlOptionFailure) {
        guard let value else { return try check(unsafe ccurl_set_string(handle, option, nil)) }
        // The implicit conversion of an optional string makes two copies.
        try check(unsafe value.withCString { unsafe ccurl_set_string(handle, option, $0) })
    }

    /// Sets the request's header fields.
    func setHeaderFields(_ fields: HTTPFields) throws(CurlOptionFailure) {
        let list = try headerLines.list(of: fields)
        try unsafe check(ccurl_set_list(handle, CURLOPT_HTTPHEADER, list.pointer))
        // libcurl keeps the list: the old one may go only now.
        headerList = list
    }

    /// Tells libcurl a host's addresses; nil leaves it with what it knows.
    func setResolved(_ entry: String?) throws(CurlOptionFailure) {
        if entry == nil, resolvedList == nil { return }
        let list = try entry.map { entry throws(CurlOptionFailure) in try CurlList([entry]) }
        try unsafe check(ccurl_set_list(handle, CURLOPT_RESOLVE, list?.pointer))
        resolvedList = list
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
