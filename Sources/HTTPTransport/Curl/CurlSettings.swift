import CCurl
import HTTPTypes

/// The settings that can differ between requests besides the URL, but rarely do between consecutive requests of a
/// handle.
struct CurlSettings: Equatable {
    let isSecure: Bool
    let credential: Credential?
    let method: HTTPRequest.Method
    let connectMilliseconds: Int
    let headerFields: HTTPFields
    let proxy: String?
    let tls: TLSOptions.HostSettings
    var needsNewConnection = false
    /// A Boolean value that indicates whether libcurl only opens a connection.
    var connectsOnly = false

    init(
        isSecure: Bool, credential: Credential?, method: HTTPRequest.Method, connectMilliseconds: Int,
        headerFields: HTTPFields, proxy: String?, tls: TLSOptions.HostSettings, needsNewConnection: Bool = false,
        connectsOnly: Bool = false
    ) {
        self.isSecure = isSecure
        self.credential = credential
        self.method = method
        self.connectMilliseconds = connectMilliseconds
        self.headerFields = headerFields
        self.proxy = proxy
        self.tls = tls
        self.needsNewConnection = needsNewConnection
        self.connectsOnly = connectsOnly
    }

    /// Creates the settings to open a connection over which this module sends requests, in a tunnel through `proxy`, if
    /// that is not `nil`.
    init(connectMilliseconds: Int, proxy: String?) {
        self.init(
            isSecure: false, credential: nil, method: .get, connectMilliseconds: connectMilliseconds, headerFields: [:],
            proxy: proxy, tls: TLSOptions.HostSettings(), connectsOnly: true)
    }

    /// A Boolean value that indicates whether libcurl keeps a secret in the handle that it could send to the next
    /// server or proxy: the answer to a challenge (CVE-2026-11856), or the credentials of a proxy (CVE-2026-6253).
    var leavesSecrets: Bool { credential?.isNegotiated == true || proxy?.contains("@") == true }
}

extension CurlEasy {
    /// Applies the settings that differ from those of the handle; a new handle has libcurl's defaults.
    func set(_ settings: CurlSettings) throws(CurlOptionFailure) {
        guard settings != self.settings else { return }
        let before = self.settings
        // If one of the calls fails, the state of the handle is unknown.
        self.settings = nil
        if settings.credential != before?.credential { try set(settings.credential) }
        if settings.isSecure != before?.isSecure {
            // HTTP/2 if TLS negotiates it: then a transfer waits for a connection that can turn out to be shareable.
            // Without TLS, it would wait for the response to another request.
            try set(CURLOPT_HTTP_VERSION, Int(settings.isSecure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
            try set(CURLOPT_PIPEWAIT, settings.isSecure ? 1 : 0)
        }
        if settings.connectMilliseconds != before?.connectMilliseconds {
            // libcurl divides this time between the addresses of the host; the effective deadline is enforced by this
            // module.
            try set(CURLOPT_CONNECTTIMEOUT_MS, settings.connectMilliseconds)
        }
        if settings.method != before?.method ?? .get { try set(settings.method) }
        if settings.headerFields != before?.headerFields ?? [:] { try setHeaderFields(settings.headerFields) }
        if settings.needsNewConnection != before?.needsNewConnection ?? false {
            try set(CURLOPT_FRESH_CONNECT, settings.needsNewConnection ? 1 : 0)
        }
        if settings.connectsOnly != before?.connectsOnly ?? false {
            try set(CURLOPT_CONNECT_ONLY, settings.connectsOnly ? 1 : 0)
            try set(CURLOPT_HTTPPROXYTUNNEL, settings.connectsOnly ? 1 : 0)
        }
        // Unlike nil, an empty string also keeps libcurl from reading the environment.
        if before == nil || settings.proxy != before?.proxy { try set(CURLOPT_PROXY, settings.proxy ?? "") }
        if settings.tls != before?.tls ?? TLSOptions.HostSettings() { try set(settings.tls) }
        self.settings = settings
    }

    private func set(_ method: HTTPRequest.Method) throws(CurlOptionFailure) {
        try set(CURLOPT_NOBODY, method == .head ? 1 : 0)
        if method != .head { try set(CURLOPT_HTTPGET, 1) }
        try set(CURLOPT_CUSTOMREQUEST, method == .get || method == .head ? nil : method.rawValue)
    }

    private func set(_ credential: Credential?) throws(CurlOptionFailure) {
        let (user, password, token): (String?, String?, String?)
        switch credential {
        case nil: (user, password, token) = (nil, nil, nil)
        case .basic(let name, let secret), .digest(let name, let secret), .password(let name, let secret):
            (user, password, token) = (name, secret, nil)
        case .bearer(let secret): (user, password, token) = (nil, nil, secret)
        }
        try set(CURLOPT_USERNAME, user)
        try set(CURLOPT_PASSWORD, password)
        try set(CURLOPT_XOAUTH2_BEARER, token)
        let ways =
            switch credential {
            case nil, .basic: ccurl_auth_basic
            case .digest: ccurl_auth_digest
            case .password: ccurl_auth_basic | ccurl_auth_digest
            case .bearer: ccurl_auth_bearer
            }
        try set(CURLOPT_HTTPAUTH, ways)
    }

    /// Sets the TLS options; libcurl reuses a connection only if it was made with the same ones.
    private func set(_ tls: TLSOptions.HostSettings) throws(CurlOptionFailure) {
        try set(CURLOPT_SSL_VERIFYPEER, tls.isVerified ? 1 : 0)
        try set(CURLOPT_SSL_VERIFYHOST, tls.isVerified ? 2 : 0)
        try setAuthorities(areNeeded: tls.isVerified)
        let pins = tls.pins.map(\.text).sorted().joined(separator: ";")
        try set(CURLOPT_PINNEDPUBLICKEY, pins.isEmpty ? nil : pins)
        let certificate = tls.clientCertificate
        try set(CURLOPT_SSLCERT, certificate?.certificateFile)
        try set(CURLOPT_SSLKEY, certificate?.keyFile)
        // Without a pass phrase, OpenSSL would prompt on the terminal.
        try set(CURLOPT_KEYPASSWD, certificate.map { $0.passPhrase ?? "" })
    }
}
