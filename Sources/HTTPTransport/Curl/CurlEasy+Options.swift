import CCurl
import HTTPTypes

// The options that differ between requests.
extension CurlEasy {
    /// Sets the request's method.
    func set(_ method: HTTPRequest.Method) throws(CurlOptionFailure) {
        try set(CURLOPT_NOBODY, method == .head ? 1 : 0)
        if method != .head { try set(CURLOPT_HTTPGET, 1) }
        try set(CURLOPT_CUSTOMREQUEST, method == .get || method == .head ? nil : method.rawValue)
    }

    /// Sets the credential for the origin.
    func set(_ credential: Credential) throws(CurlOptionFailure) {
        switch credential {
        case .basic(let user, let password), .digest(let user, let password), .password(let user, let password):
            try set(CURLOPT_USERNAME, user)
            try set(CURLOPT_PASSWORD, password)
        case .bearer(let token): try set(CURLOPT_XOAUTH2_BEARER, token)
        }
        let ways =
            switch credential {
            case .basic: ccurl_auth_basic
            case .digest: ccurl_auth_digest
            case .password: ccurl_auth_basic | ccurl_auth_digest
            case .bearer: ccurl_auth_bearer
            }
        try set(CURLOPT_HTTPAUTH, ways)
    }

    /// Sets the TLS options; libcurl reuses a connection only if it was made with the same ones.
    func set(_ tls: TLSOptions.HostSettings) throws(CurlOptionFailure) {
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
