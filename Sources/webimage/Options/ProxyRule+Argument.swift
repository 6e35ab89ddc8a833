import AsyncWebImage

import Glibc

/// Proxies as arguments, which mean the same as those of curl.
extension ProxyRule {
    /// Creates the rule for `--proxy`: no proxy if the argument is empty; otherwise this one, except for the hosts in
    /// the environment variable `no_proxy` or `NO_PROXY`.
    init(argument: String) {
        guard !argument.isEmpty else {
            self = .none
            return
        }
        var variables = ["all_proxy": argument]
        for name in ["no_proxy", "NO_PROXY"] {
            if let value = unsafe getenv(name) { variables[name] = unsafe String(cString: value) }
        }
        self = .environment(variables)
    }

    /// Returns whether `text` is the URL of a proxy: a scheme that libcurl supports, or none, and a host.
    static func isProxy(_ text: String) -> Bool {
        var rest = text[...]
        if let mark = text.firstRange(of: "://") {
            guard schemes.contains(text[..<mark.lowerBound].lowercased()) else { return false }
            rest = text[mark.upperBound...]
        }
        guard let url = try? HTTPURL("http://\(rest)") else { return false }
        return url.path == "/" && url.query == nil
    }

    private static let schemes: Set = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
}
