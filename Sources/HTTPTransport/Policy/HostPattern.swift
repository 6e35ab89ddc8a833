/// One host, or all below a domain: `example.com`, `*.example.com`.
public struct HostPattern: Sendable, Hashable {
    /// The host, or the domain with a dot before it.
    private let name: String

    /// Reads a name or an address as a URL would hold it, or `*.` and a domain, which itself does not match then.
    ///
    /// Nil if the text is neither. International names match in either form, letters in either case.
    public init?(_ text: String) {
        let isDomain = text.hasPrefix("*.")
        let given = isDomain ? text.dropFirst(2) : text[...]
        // Nothing else of a URL may hide in it.
        guard !given.isEmpty, !given.utf8.contains(where: { "/?#@*\\".utf8.contains($0) }),
            let url = try? HTTPURL("http://\(given)/"), url.port == 80, url.string.hasSuffix("/"),
            isDomain || given.hasPrefix("[") || !given.contains(":")
        else { return nil }
        name = (isDomain ? "." : "") + Self.withoutFinalDot(url.host)
    }

    /// Returns whether `host`, as ``HTTPURL/host`` has it, is meant.
    public func matches(_ host: String) -> Bool {
        let host = Self.withoutFinalDot(host)
        return name.hasPrefix(".") ? host.hasSuffix(name) && host != name : host == name
    }

    /// The longer of two that match a host is the more specific one.
    var length: Int { name.utf8.count }

    /// A dot at the end says that a name is complete; the host is the same.
    private static func withoutFinalDot(_ host: String) -> String {
        host.hasSuffix(".") ? String(host.dropLast()) : host
    }
}

extension HostPattern: CustomStringConvertible {
    /// As it is read: `example.com`, `*.example.com`.
    public var description: String { name.hasPrefix(".") ? "*\(name)" : name }
}

extension HostPattern: ExpressibleByStringLiteral {
    /// A pattern written in the program; a text that is none ends it.
    public init(stringLiteral text: String) {
        guard let pattern = HostPattern(text) else { preconditionFailure("\(text) is no host") }
        self = pattern
    }
}
