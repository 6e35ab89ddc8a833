import CCurl
import HTTPTypes

/// An owner of a `CURL` easy handle.
///
/// One that only opens connections is reused if ``CurlVersion/mayReuseHandles`` allows it.
///
/// Confined to the worker's thread.
@safe
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var headerList: CurlList?
    private var resolvedList: CurlList?
    /// The present exchange, to which the callbacks report.
    var exchange: CurlExchange? {
        didSet { unsafe errorText.pointee = 0 }
    }
    /// The authorities that certificates are verified with.
    private let authorities: CertificateAuthorities
    /// The rules for addresses, if there are any.
    let policy: NetworkPolicy?
    /// The state shared with other handles; it outlives the handle.
    var share: CurlShare?
    /// The tracker of its connections.
    var connections: CurlConnections?

    /// Creates a handle with all options that are the same for all transfers.
    init(_ configuration: CurlTransport.Configuration) throws(CurlOptionFailure) {
        guard let handle = unsafe curl_easy_init() else { throw CurlOptionFailure(code: CURLE_OUT_OF_MEMORY) }
        unsafe self.handle = handle
        policy = configuration.policy.addresses.isEmpty ? nil : configuration.policy
        authorities = CertificateAuthorities(configuration.tls, system: .system)
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        try check(unsafe ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText))
        // Signals do not work with threads.
        try set(CURLOPT_NOSIGNAL, 1)
        // Only HTTP is allowed; redirects are followed by this module.
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        // A proxy's answer to CONNECT is not the response.
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // ProxyRule selects the proxy; otherwise libcurl would read exceptions from the environment.
        try set(CURLOPT_NOPROXY, "")
        // Above 64 KiB, header included, glibc trims its whole heap whenever the buffer is freed.
        try set(CURLOPT_BUFFERSIZE, 60 << 10)
        try set(CURLOPT_TCP_KEEPALIVE, 1)
        // A name lookup by libcurl, behind a proxy, must not block the thread when it is abandoned.
        try set(CURLOPT_QUICK_EXIT, 1)
        let tls = configuration.tls
        try setAuthorities(areNeeded: true)
        // The same for proxies: a thread keeps the authorities of one file.
        try set(CURLOPT_PROXY_CAINFO, authorities.file)
        try set(CURLOPT_PROXY_CAPATH, authorities.folder)
        try set(
            CURLOPT_SSLVERSION, Int(tls.minimumVersion == .tls12 ? CURL_SSLVERSION_TLSv1_2 : CURL_SSLVERSION_TLSv1_3))
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe errorText.deallocate()
    }

    /// libcurl's message for the transfer's failure; empty if there is none.
    var errorDetail: String { unsafe String(cString: errorText) }

    func set(_ option: CURLoption, _ value: Int) throws(CurlOptionFailure) {
        try check(unsafe ccurl_set_long(handle, option, value))
    }

    /// Sets a string option, which libcurl copies; `nil` removes the value.
    func set(_ option: CURLoption, _ value: String?) throws(CurlOptionFailure) {
        guard let value else { return try check(unsafe ccurl_set_string(handle, option, nil)) }
        // The implicit conversion of an optional string makes two copies.
        try check(unsafe value.withCString { unsafe ccurl_set_string(handle, option, $0) })
    }

    /// Sets the authorities for servers, or none if a server is not verified: libcurl would parse them all the same.
    func setAuthorities(areNeeded: Bool) throws(CurlOptionFailure) {
        try set(CURLOPT_CAINFO, areNeeded ? authorities.file : nil)
        try set(CURLOPT_CAPATH, areNeeded ? authorities.folder : nil)
    }

    /// Sets the request's header fields.
    func setHeaderFields(_ fields: HTTPFields) throws(CurlOptionFailure) {
        // "Name:" would remove a field of libcurl's own.
        let list = try CurlList(fields.requestLines { $0.isEmpty ? Array(";".utf8) : ": ".utf8 + $0 })
        try unsafe check(ccurl_set_list(handle, CURLOPT_HTTPHEADER, list.pointer))
        // libcurl keeps a pointer to the list: release the old one only now.
        headerList = list
    }

    /// Passes the addresses of a host and port to libcurl; `nil` if it needs none.
    func setAddresses(_ addresses: [IPAddress]?, of url: HTTPURL) throws(CurlOptionFailure) {
        if addresses == nil, resolvedList == nil { return }
        let list = try addresses.map { addresses throws(CurlOptionFailure) in
            let texts = addresses.map { $0.isIPv4 ? "\($0)" : "[\($0)]" }
            // "+": the entry expires like one of libcurl's own.
            return try CurlList([Array("+\(url.host):\(url.port):\(texts.joined(separator: ","))".utf8)])
        }
        try unsafe check(ccurl_set_list(handle, CURLOPT_RESOLVE, list?.pointer))
        resolvedList = list
    }

    /// A Boolean value that indicates whether a server or proxy has challenged the last transfer, with or without
    /// credentials.
    var hasChallenge: Bool { long(CURLINFO_HTTPAUTH_AVAIL) != 0 || long(CURLINFO_PROXYAUTH_AVAIL) != 0 }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        return unsafe ccurl_get_long(handle, info, &value) == CURLE_OK ? value : 0
    }

    /// Returns a time that libcurl reports in microseconds.
    func time(_ info: CURLINFO) -> Duration {
        var value: curl_off_t = 0
        return unsafe ccurl_get_offset(handle, info, &value) == CURLE_OK ? .microseconds(value) : .zero
    }

    /// The socket of the connection that was opened for an application; `nil` if there is none.
    var activeSocket: Int32? {
        var socket = CURL_SOCKET_BAD
        return unsafe ccurl_get_socket(handle, &socket) == CURLE_OK && socket != CURL_SOCKET_BAD ? socket : nil
    }

    /// Continues after a pause.
    ///
    /// Call this method on the worker's thread only.
    func unpause() -> CURLcode { unsafe curl_easy_pause(handle, CURLPAUSE_CONT) }

    func check(_ code: CURLcode) throws(CurlOptionFailure) {
        guard code == CURLE_OK else { throw CurlOptionFailure(code: code) }
    }
}

/// The error when libcurl rejects an option.
struct CurlOptionFailure: Error {
    let code: CURLcode
}
