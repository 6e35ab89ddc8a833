import Glibc

/// A rule that determines whether requests use a proxy.
///
/// An `https` URL uses a tunnel (CONNECT) through an HTTP proxy, which sees the host and port but not the request.
/// Tunnels are kept for later requests. See ``NetworkPolicy/resolvesNamesThroughProxy`` for the checks that are
/// possible behind a proxy. ``TLSOptions`` apply to origins, not to a proxy's own TLS.
public enum ProxyRule: Sendable, Hashable {
    /// Never use a proxy.
    case none
    /// Always use this proxy, in libcurl's format: `http://host:port`, `socks5h://host:port`. If it is invalid,
    /// requests fail with `invalidProxy`.
    case url(String)
    /// Use the proxy in the given environment variables: `http_proxy` (lowercase only, because attackers can set
    /// HTTP_PROXY, RFC 3875), `https_proxy`, `HTTPS_PROXY`, `all_proxy`, `ALL_PROXY`, with the exceptions in
    /// `no_proxy` or `NO_PROXY`: names, including their subdomains, addresses, and address ranges (`10.0.0.0/8`),
    /// with or without a port, or `*` for all.
    case environment([String: String])

    /// Returns a rule that always uses this proxy, in libcurl's format, with Basic authentication for `user`.
    ///
    /// If the URL of the proxy begins with `http://`, the password is sent to the proxy unencrypted.
    public static func url(_ proxy: String, user: String, password: String) -> ProxyRule {
        let parts = proxy.split(separator: "://", maxSplits: 1)
        let (scheme, rest) = parts.count == 2 ? (parts[0], parts[1]) : ("http", proxy[...])
        return .url("\(scheme)://\(percentEncoded(user)):\(percentEncoded(password))@\(rest)")
    }

    private static func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = byte.isASCIIDigit || (0x41...0x5A).contains(byte & 0xDF)
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// The rule of this process's environment variables.
    public static var environment: ProxyRule {
        var variables: [String: String] = [:]
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] {
            if let value = unsafe getenv(name) { variables[name] = unsafe String(cString: value) }
        }
        return .environment(variables)
    }

    /// Returns the proxy for `url`, or `nil` for a direct connection.
    func proxy(for url: HTTPURL) -> String? {
        switch self {
        case .none: return nil
        case .url(let proxy): return proxy
        case .environment(let variables):
            guard !variables.isEmpty else { return nil }
            func first(_ names: String...) -> String? {
                names.lazy.compactMap { variables[$0] }.first { !$0.isEmpty }
            }
            let direct =
                url.scheme == "http"
                ? first("http_proxy", "all_proxy", "ALL_PROXY")
                : first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
            guard let proxy = direct else { return nil }
            return Self.isExcepted(url, by: first("no_proxy", "NO_PROXY") ?? "") ? nil : proxy
        }
    }
}
