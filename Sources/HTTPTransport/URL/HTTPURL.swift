import CCurl

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// An absolute http or https URL, as libcurl itself reads it.
///
/// One reading for the checks and for the transfer: what was judged is what is fetched. Scheme and host are in lower
/// case, international names in their ASCII form, IPv4 addresses as four decimal numbers, whatever disguise they came in;
/// dots in the path are resolved, spaces and bytes beyond ASCII are percent-encoded, the scheme's own port and the
/// fragment are dropped. A host whose last part is a number is an address or nothing.
public struct HTTPURL: Sendable, Hashable {
    /// The parts, shared: a URL is handed on often.
    private final class Parts: Sendable {
        let string: String
        let scheme: String
        let host: String
        let port: Int
        let user: String?
        let password: String?

        init(string: String, scheme: String, host: String, port: Int, user: String?, password: String?) {
            self.string = string
            self.scheme = scheme
            self.host = host
            self.port = port
            self.user = user
            self.password = password
        }
    }

    private let parts: Parts

    /// The URL without user and password.
    public var string: String { parts.string }
    /// `http` or `https`.
    public var scheme: String { parts.scheme }
    /// A Boolean value that indicates whether it is https.
    var isSecure: Bool { scheme == "https" }
    /// Name or address, IPv6 in brackets.
    public var host: String { parts.host }
    /// The port, given or implied.
    public var port: Int { parts.port }
    /// The user name that came before the host, decoded.
    public var user: String? { parts.user }
    /// The password that came with it, decoded.
    public var password: String? { parts.password }

    /// Returns whether both stand for the same resource with the same credentials; all other parts are in the string.
    public static func == (left: Self, right: Self) -> Bool {
        left.parts === right.parts
            || left.string == right.string && left.user == right.user && left.password == right.password
    }

    /// Hashes the string alone: it tells URLs apart well enough.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(string)
    }

    /// Reads an absolute URL; throws `invalidURL` if it is none, or neither http nor https.
    public init(_ text: String) throws(TransportError) {
        if let plain = PlainURL(text) {
            self.init(
                Parts(
                    string: text, scheme: plain.scheme, host: plain.host, port: plain.port, user: nil, password: nil))
        } else {
            try self.init(parsing: text)
        }
    }

    /// The URL as libcurl reads it.
    init(parsing text: String) throws(TransportError) {
        let parser = try URLParser(of: text)
        try parser.set(CURLUPART_URL, text, flags: CURLU_URLENCODE)
        try self.init(parser, text: text)
    }

    /// Resolves a reference, as `Location` holds one, against this URL (RFC 3986, section 5).
    ///
    /// User name and password are those of this URL as long as the origin is, and none otherwise. Those in the reference are
    /// dropped: whoever wrote it has no say in who we are, and an untrusted URL that has any most likely hides its host behind
    /// them (RFC 9110, section 4.2.4).
    func resolving(_ reference: String) throws(TransportError) -> HTTPURL {
        // libcurl takes an empty one for the root; this URL has no fragment.
        if reference.isEmpty || reference.utf8.first == UInt8(ascii: "#") { return self }
        let parser = try URLParser(of: reference)
        try parser.set(CURLUPART_URL, string)
        try parser.set(CURLUPART_URL, reference, flags: CURLU_URLENCODE)
        let resolved = try HTTPURL(parser, text: reference)
        let isOwn = resolved.hasSameOrigin(as: self)
        return HTTPURL(
            Parts(
                string: resolved.string, scheme: resolved.scheme, host: resolved.host, port: resolved.port,
                user: isOwn ? user : nil, password: isOwn ? password : nil))
    }

    private init(_ parts: Parts) {
        self.parts = parts
    }

    private init(_ parser: borrowing URLParser, text: String) throws(TransportError) {
        let parts = try Self.parts(parser, text)
        self.init(try Self.settled(parts, text))
    }

    /// libcurl decodes and translates a name after it has looked whether it is an address, and will look again when it
    /// fetches the string: it is read here until it stays as it is.
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
                string: again.string, scheme: again.scheme, host: again.host, port: again.port, user: first.user,
                password: first.password)
        }
        throw TransportError(url: withoutUserInformation(text), reason: .invalidURL)
    }

    /// What `parser` has read once; user, password and fragment are taken out of it.
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
        // An address is complete without it; libcurl takes what has it for a name.
        if host.hasSuffix("."), endsInNumber(String(host.dropLast())) { host.removeLast() }
        // Setting it drops an IPv6 address's zone, so only where it changes something.
        if parser.part(CURLUPART_HOST) != host { try parser.set(CURLUPART_HOST, host) }
        guard let string = parser.part(CURLUPART_URL, flags: CURLU_NO_DEFAULT_PORT) else {
            throw TransportError(url: withoutUserInformation(text), reason: .invalidURL)
        }
        return Parts(string: string, scheme: scheme, host: host, port: port, user: user, password: password)
    }

    /// Returns whether the last part of `host` is a decimal or hexadecimal number, as no name's is (WHATWG URL, section 3.5).
    private static func endsInNumber(_ host: String) -> Bool {
        guard let last = host.split(separator: ".", omittingEmptySubsequences: false).last, !last.isEmpty else {
            return false
        }
        return last.utf8.allSatisfy(\.isASCIIDigit)
            || last.hasPrefix("0x") && last.dropFirst(2).allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    /// Returns whether both URLs have the same scheme, host and port (RFC 6454, section 4).
    func hasSameOrigin(as other: HTTPURL) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// The last part of the path, not decoded; empty if the path ends in a slash.
    public var lastPathComponent: Substring {
        let path = string.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" && $0 != "?" }.prefix { $0 != "?" }
        return path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    }
}

extension HTTPURL: CustomStringConvertible {
    /// The URL without user and password.
    public var description: String { string }
}

/// Owner of a `CURLU`.
@safe
private struct URLParser: ~Copyable {
    private let handle: OpaquePointer
    private let text: String
    /// Only ever read.
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
        // A C string would end there, and hide the rest from the parser.
        if let value, value.utf8.contains(0) { throw invalid() }
        let status = unsafe curl_url_set(handle, part, value, UInt32(flags))
        guard status == CURLUE_OK else {
            let detail = unsafe String(cString: curl_url_strerror(status))
            throw invalid(detail)
        }
    }

    func part(_ part: CURLUPart, flags: Int32 = 0) -> String? {
        // Names beyond ASCII are read by the locale, which is plain C in most programs.
        let before = unsafe uselocale(Self.locale)
        defer { unsafe uselocale(before) }
        var value: UnsafeMutablePointer<CChar>?
        let status = unsafe curl_url_get(handle, part, &value, UInt32(flags))
        // A name that has no ASCII form is an error that leaves a value behind.
        defer { unsafe curl_free(value) }
        guard status == CURLUE_OK, let value = unsafe value else { return nil }
        return unsafe String(cString: value)
    }
}
