#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Whether requests go through a proxy.
///
/// An `https` URL goes through an HTTP proxy by a tunnel (CONNECT), which the proxy cannot look into: it hears the host and
/// its port, and the origin alone the request. Tunnels are kept for later requests. What a ``NetworkPolicy`` can judge behind
/// a proxy is said at ``NetworkPolicy/trustsProxy``; ``TLSOptions`` are about origins, not about a proxy's own TLS.
public enum ProxyRule: Sendable, Hashable {
    /// Never.
    case none
    /// Always through this one, given as libcurl takes it: `http://host:port`, `socks5h://host:port`; requests fail with
    /// `invalidProxy` if it does not.
    case url(String)
    /// As the environment says: `http_proxy` (lower case only, RFC 3875 leaves HTTP_PROXY to attackers), `https_proxy`,
    /// `HTTPS_PROXY`, `all_proxy`, `ALL_PROXY`, and the exceptions in `no_proxy` or `NO_PROXY`: names, which stand for the
    /// domains below them as well, addresses and ranges of them (`10.0.0.0/8`), with or without a port, or `*` for all.
    case environment([String: String])

    /// Always through this one, given as libcurl takes it, to which `user` proves who asks by Basic.
    ///
    /// Over `http://` anybody on the way to the proxy can read the password.
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

    /// The rules of this process's environment.
    public static var environment: ProxyRule {
        var variables: [String: String] = [:]
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] {
            if let value = unsafe getenv(name) { variables[name] = unsafe String(cString: value) }
        }
        return .environment(variables)
    }

    /// The proxy for `url`, or nil to go straight there.
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
