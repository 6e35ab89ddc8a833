/// A host, all hosts below a domain, or all hosts: `example.com`, `*.example.com`, `*`.
public struct HostPattern: Sendable, Hashable {
    /// The host, the domain with a leading dot, or `*`.
    private let name: String
    /// The host, if it is an address.
    private let address: IPAddress?

    /// Parses a name or an address as in a URL, `*.` followed by a domain, or `*`.
    ///
    /// A wildcard matches subdomains but not the domain itself. Internationalized names match in Unicode or Punycode,
    /// ignoring case; addresses match however they are written, such as `127.0.0.1` and `[::ffff:7f00:1]`. Returns
    /// `nil` for other text.
    public init?(_ text: String) {
        guard text != "*" else {
            (name, address) = ("*", nil)
            return
        }
        let isDomain = text.hasPrefix("*.")
        let given = isDomain ? text.dropFirst(2) : text[...]
        // Reject other parts of a URL.
        guard !given.isEmpty, !given.utf8.contains(where: { "/?#@*\\".utf8.contains($0) }),
            let url = try? HTTPURL("http://\(given)/"), url.port == 80, url.string.hasSuffix("/"),
            isDomain || given.hasPrefix("[") || !given.contains(":")
        else { return nil }
        name = (isDomain ? "." : "") + Self.withoutFinalDot(url.host)
        address = isDomain ? nil : IPAddress(urlHost: url.host)
    }

    /// Returns whether `host`, in the format of ``HTTPURL/host``, matches.
    public func matches(_ host: String) -> Bool {
        if let address { return IPAddress(urlHost: host) == address }
        if name == "*" { return true }
        let host = Self.withoutFinalDot(host)
        return name.hasPrefix(".") ? host.hasSuffix(name) && host != name : host == name
    }

    /// Returns whether two patterns are the same address, however it is written, or have the same name.
    public static func == (left: Self, right: Self) -> Bool {
        left.address == right.address && (left.address != nil || left.name == right.name)
    }

    /// Hashes the address or, if there is none, the name.
    public func hash(into hasher: inout Hasher) {
        if let address { hasher.combine(address) } else { hasher.combine(name) }
    }

    /// The length; of two patterns that match a host, the longer one is more specific.
    var length: Int { name == "*" ? 0 : name.utf8.count }

    /// Removes a final dot, which marks a fully qualified name of the same host.
    private static func withoutFinalDot(_ host: String) -> String {
        host.hasSuffix(".") ? String(host.dropLast()) : host
    }
}

extension HostPattern: CustomStringConvertible {
    /// The pattern in the format that it is parsed from: `example.com`, `*.example.com`, `*`.
    public var description: String { name.hasPrefix(".") ? "*\(name)" : name }
}

extension HostPattern: ExpressibleByStringLiteral {
    /// Creates a pattern from a literal; traps if the text is not a pattern.
    public init(stringLiteral text: String) {
        guard let pattern = HostPattern(text) else { preconditionFailure("\(text) is not a host pattern") }
        self = pattern
    }
}
