import CCurl

import Glibc

/// An absolute http or https URL, prepared as by browsers and parsed by libcurl; or the URL of a source of the
/// application, with another scheme, which is neither changed nor ever sent over a network.
///
/// The checks and the transfer use the same parsed parts, so the URL that was checked is the one that is fetched. Scheme
/// and host are lowercase, international names in ASCII form, and IPv4 addresses in decimal notation, regardless of
/// their original notation. A host whose last label is a number must be an address.
///
/// Spaces around the text, and tabs and line breaks in it, are ignored. Backslashes before the query are slashes, dots in
/// the path are resolved, and the default port and the fragment are removed. Spaces, quotation marks, non-ASCII bytes, and
/// what else browsers encode are percent-encoded; what is encoded already does not change (WHATWG URL).
public struct HTTPURL: Sendable, Hashable {
    /// The shared parts, because URLs are copied often.
    private final class Parts: Sendable {
        let string: String
        let scheme: String
        let host: String
        let zone: String?
        let port: Int
        let user: String?
        let password: String?

        init(
            string: String, scheme: String, host: String, zone: String?, port: Int, user: String?, password: String?
        ) {
            self.string = string
            self.scheme = scheme
            self.host = host
            self.zone = zone
            self.port = port
            self.user = user
            self.password = password
        }
    }

    private let parts: Parts

    /// The URL without user name and password.
    public var string: String { parts.string }
    /// The scheme in lowercase: `http`, `https`, or that of a source.
    public var scheme: String { parts.scheme }
    /// A Boolean value that indicates whether the scheme is https.
    var isSecure: Bool { scheme == "https" }
    /// The host name or address; IPv6 addresses are in brackets and without a zone.
    ///
    /// In the URL of a source, it is the text between two slashes and the path, and can be empty.
    public var host: String { parts.host }
    /// The zone of an IPv6 address, usually the name of a network interface, percent-encoded; `nil` if there is none
    /// (RFC 6874).
    var zone: String? { parts.zone }
    /// The explicit or default port; 0 for a source.
    public var port: Int { parts.port }
    /// The decoded user name, if any.
    public var user: String? { parts.user }
    /// The decoded password, if any.
    public var password: String? { parts.password }

    /// Returns whether both identify the same resource with the same credentials; all other parts are in the string.
    public static func == (left: Self, right: Self) -> Bool {
        left.parts === right.parts
            || left.string == right.string && left.user == right.user && left.password == right.password
                // Only http URLs are ASCII; equivalent spellings name different files.
                && (!left.isOfSource || left.string.utf8.elementsEqual(right.string.utf8))
    }

    /// Hashes only the string, which distinguishes URLs well enough.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(string)
    }

    /// Parses an absolute URL; throws `invalidURL` if the text is not an http or https URL.
    public init(_ text: String) throws(TransportError) {
        if let plain = PlainURL(text) {
            self.init(
                Parts(
                    string: text, scheme: plain.scheme, host: plain.host, zone: nil, port: plain.port, user: nil,
                    password: nil))
        } else {
            try self.init(parsing: text)
        }
    }

    /// Creates the URL of a source of the application; `text` begins with the scheme, which is neither http nor https.
    package init(ofSource text: String, scheme: String) {
        var rest = text.dropFirst(scheme.count + 1)
        var (host, user, password) = ("", String?.none, String?.none)
        if rest.hasPrefix("//") {
            let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
            host = String(authority)
            if let at = authority.lastIndex(of: "@") {
                host = String(authority[authority.index(after: at)...])
                let userInformation = authority[..<at].split(separator: ":", maxSplits: 1)
                user = userInformation.first.map(String.init)
                password = userInformation.dropFirst().first.map(String.init)
                rest = "//\(host)\(rest[authority.endIndex...])"
            }
        }
        self.init(
            Parts(
                string: "\(scheme):\(rest)", scheme: scheme, host: host, zone: nil, port: 0, user: user,
                password: password))
    }

    /// A Boolean value that indicates whether the URL is one of a source, which no network transport accepts.
    package var isOfSource: Bool { port == 0 }

    /// Creates the URL as libcurl parses it.
    init(parsing text: String) throws(TransportError) {
        let parser = try URLParser(of: text)
        try parser.set(CURLUPART_URL, PreparedURL(text.utf8).text, flags: CURLU_URLENCODE)
        try self.init(parser, text: text)
    }

    /// Resolves a reference, for example from `Location`, relative to this URL (RFC 3986, section 5).
    ///
    /// Bytes of a path or query that are not ASCII are percent-encoded as they are, in whatever encoding.
    ///
    /// User name and password are kept if the origin is the same, and removed otherwise. Those in the reference are
    /// ignored: its author must not choose the credentials, and an untrusted URL that has any probably hides its host
    /// behind them (RFC 9110, section 4.2.4).
    func resolving(_ reference: some Sequence<UInt8>) throws(TransportError) -> HTTPURL {
        let reference = PreparedURL(reference, relativeTo: scheme).text
        // libcurl treats an empty reference as the root; this URL has no fragment.
        if reference.isEmpty { return self }
        let parser = try URLParser(of: reference)
        try parser.set(CURLUPART_URL, string)
        try parser.set(CURLUPART_URL, reference, flags: CURLU_URLENCODE)
        let resolved = try HTTPURL(parser, text: reference)
        let isOwn = resolved.hasSameOrigin(as: self)
        return HTTPURL(
            Parts(
                string: resolved.string, scheme: resolved.scheme, host: resolved.host, zone: resolved.zone,
                port: resolved.port, user: isOwn ? user : nil, password: isOwn ? password : nil))
    }

    private init(_ parts: Parts) {
        self.parts = parts
    }

    private init(_ parser: borrowing URLParser, text: String) throws(TransportError) {
        let parts = try Self.parts(parser, text)
        self.init(try Self.settled(parts, text))
    }

    /// Parses the text until it no longer changes.
    ///
    /// libcurl decodes and translates a name after it has checked whether
    /// it is an address, and would check again when it fetches the string.
    private static func settled(_ first: Parts, _ text: String) throws(TransportError) -> Parts {
        var parts = first
        for _ in 0..<4 {
            if PlainURL.isPlainHost(parts.host.utf8Span.span) { return parts }
            let parser = try URLParser(of: text)
            try parser.set(CURLUPART_URL, parts.string)
            let again = try Self.parts(parser, text)
            if again.host == parts.host {
                guard !endsInNumber(parts.host) || IPAddress(parts.host) != nil else { break }
                return parts
            }
            parts = Parts(
                string: again.string, scheme: again.scheme, host: again.host, zone: again.zone, port: again.port,
                user: first.user, password: first.password)
        }
        throw TransportError(url: withoutUserInformation(text), reason: .invalidURL)
    }

    /// Returns the parts that `parser` has parsed once; user, password, and fragment are removed from it.
    private static func parts(_ parser: borrowing URLParser, _ text: String) throws(TransportError) -> Parts {
        guard let scheme = parser.part(CURLUPART_SCHEME), scheme == "http" || scheme == "https",
            var host = parser.part(CURLUPART_HOST, flags: CURLU_PUNYCODE)?.lowercased(), !host.isEmpty,
            !host.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            let port = parser.part(CURLUPART_PORT, flags: CURLU_DEFAULT_PORT).flatMap({ Int($0) }), port > 0
        else { throw TransportError(url: withoutUserInformation(text), reason: .invalidURL) }
        let user = parser.part(CURLUPART_USER, flags: CURLU_URLDECODE)
        let password = parser.part(CURLUPART_PASSWORD, flags: CURLU_URLDECODE)
        try parser.set(CURLUPART_USER, nil)
        try parser.set(CURLUPART_PASSWORD, nil)
        try parser.set(CURLUPART_FRAGMENT, nil)
        // An address is complete without the dot, but libcurl treats an address with a dot as a name.
        if host.hasSuffix("."), endsInNumber(String(host.dropLast())) { host.removeLast() }
        let zone = parser.part(CURLUPART_ZONEID)
        if parser.part(CURLUPART_HOST) != host {
            try parser.set(CURLUPART_HOST, host)
            // Setting the host has removed it.
            if let zone { try parser.set(CURLUPART_ZONEID, zone) }
        }
        guard let string = parser.part(CURLUPART_URL, flags: CURLU_NO_DEFAULT_PORT) else {
            throw TransportError(url: withoutUserInformation(text), reason: .invalidURL)
        }
        return Parts(
            string: string, scheme: scheme, host: host, zone: zone, port: port, user: user, password: password)
    }

    /// Returns whether the last label of `host` is a decimal or hexadecimal number, which a name's cannot be (WHATWG
    /// URL, section 3.5).
    private static func endsInNumber(_ host: String) -> Bool {
        guard let last = host.split(separator: ".", omittingEmptySubsequences: false).last, !last.isEmpty else {
            return false
        }
        return last.utf8.allSatisfy(\.isASCIIDigit)
            || last.hasPrefix("0x") && last.dropFirst(2).allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    /// Returns whether both URLs have the same scheme, host, zone, and port (RFC 6454, section 4).
    func hasSameOrigin(as other: HTTPURL) -> Bool {
        scheme == other.scheme && host == other.host && zone == other.zone && port == other.port
    }

    /// The scheme, the host with its zone, and the port, which is not omitted if it is the default.
    package var origin: String {
        let host = zone.map { "\(parts.host.dropLast())%25\($0)]" } ?? parts.host
        return "\(scheme)://\(host):\(port)"
    }

    /// Returns the URL as it is recorded in logs and traces: without its query, which can contain signatures and other
    /// secrets, unless `withQuery` is set.
    package func recorded(withQuery: Bool) -> String {
        guard !withQuery, query != nil else { return string }
        return string.prefix { $0 != "?" } + "?…"
    }

    /// The path, percent-encoded; it begins with a slash, unless the URL is one of a source.
    public var path: Substring { pathAndQuery.prefix { $0 != "?" } }

    /// The query without the question mark, percent-encoded; `nil` if there is none.
    public var query: Substring? {
        let query = pathAndQuery.drop { $0 != "?" }
        return query.isEmpty ? nil : query.dropFirst()
    }

    private var pathAndQuery: Substring {
        let rest = string.drop { $0 != ":" }.dropFirst()
        return rest.hasPrefix("//") ? rest.dropFirst(2).drop { $0 != "/" && $0 != "?" } : rest
    }

    /// The last component of the path, percent-encoded; empty if the path ends with a slash.
    package var lastPathComponent: Substring {
        path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    }
}

extension HTTPURL: CustomStringConvertible {
    /// The URL without user and password.
    public var description: String { string }
}

/// An owner of a `CURLU`.
@safe
private struct URLParser: ~Copyable {
    private let handle: OpaquePointer
    private let text: String
    /// The locale, which is only read.
    private nonisolated(unsafe) static let locale = unsafe newlocale(LC_CTYPE_MASK, "C.UTF-8", nil)

    init(of text: String) throws(TransportError) {
        self.text = text
        guard let handle = unsafe curl_url() else {
            throw TransportError(url: HTTPURL.withoutUserInformation(text), reason: .invalidURL)
        }
        unsafe self.handle = handle
    }

    deinit { unsafe curl_url_cleanup(handle) }

    private func invalid(_ detail: String? = nil) -> TransportError {
        TransportError(url: HTTPURL.withoutUserInformation(text), reason: .invalidURL, detail: detail)
    }

    func set(_ part: CURLUPart, _ value: String?, flags: Int32 = 0) throws(TransportError) {
        // A C string would end there and hide the remainder from the parser.
        if let value, value.utf8.contains(0) { throw invalid() }
        let status = unsafe curl_url_set(handle, part, value, UInt32(flags))
        guard status == CURLUE_OK else {
            let detail = unsafe String(cString: curl_url_strerror(status))
            throw invalid(detail)
        }
    }

    func part(_ part: CURLUPart, flags: Int32 = 0) -> String? {
        // Non-ASCII names are parsed according to the locale, which is plain C in most programs.
        let before = unsafe uselocale(Self.locale)
        defer { unsafe uselocale(before) }
        var value: UnsafeMutablePointer<CChar>?
        let status = unsafe curl_url_get(handle, part, &value, UInt32(flags))
        // A name without an ASCII form is an error that still returns a value.
        defer { unsafe curl_free(value) }
        guard status == CURLUE_OK, let value = unsafe value else { return nil }
        return unsafe String(cString: value)
    }
}
