import CCurl

/// An absolute http or https URL, as libcurl itself reads it.
///
/// One parser for the checks and for the transfer: what was judged is what is fetched. Scheme and host are in lower
/// case, dots in the path are resolved, spaces and bytes beyond ASCII are percent-encoded, the fragment is dropped.
public struct HTTPURL: Sendable, Hashable {
    /// The URL without user and password.
    public let string: String
    /// `http` or `https`.
    public let scheme: String
    /// Name or address, IPv6 in brackets.
    public let host: String
    /// The port, given or implied.
    public let port: Int
    /// The user name that came before the host, decoded.
    public let user: String?
    /// The password that came with it, decoded.
    public let password: String?

    /// Reads an absolute URL; throws `invalidURL` if it is none, or neither http nor https.
    public init(_ text: String) throws(TransportError) {
        let parser = try URLParser(of: text)
        try parser.set(CURLUPART_URL, text, flags: CURLU_URLENCODE)
        try self.init(parser, text: text)
    }

    /// Resolves a reference, as `Location` holds one, against this URL (RFC 3986, section 5).
    func resolving(_ reference: String) throws(TransportError) -> HTTPURL {
        let parser = try URLParser(of: reference)
        try parser.set(CURLUPART_URL, string)
        try parser.set(CURLUPART_URL, reference, flags: CURLU_URLENCODE)
        return try HTTPURL(parser, text: reference)
    }

    private init(_ parser: borrowing URLParser, text: String) throws(TransportError) {
        guard let scheme = parser.part(CURLUPART_SCHEME), scheme == "http" || scheme == "https",
            let host = parser.part(CURLUPART_HOST), !host.isEmpty,
            let port = parser.part(CURLUPART_PORT, flags: CURLU_DEFAULT_PORT).flatMap({ Int($0) }), port > 0
        else { throw TransportError(url: text, reason: .invalidURL) }
        self.scheme = scheme
        self.host = host.lowercased()
        self.port = port
        user = parser.part(CURLUPART_USER, flags: CURLU_URLDECODE)
        password = parser.part(CURLUPART_PASSWORD, flags: CURLU_URLDECODE)
        try parser.set(CURLUPART_USER, nil)
        try parser.set(CURLUPART_PASSWORD, nil)
        try parser.set(CURLUPART_FRAGMENT, nil)
        try parser.set(CURLUPART_HOST, self.host)
        guard let string = parser.part(CURLUPART_URL) else { throw TransportError(url: text, reason: .invalidURL) }
        self.string = string
    }

    /// Whether both URLs have the same scheme, host and port (RFC 6454, section 4).
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

    init(of text: String) throws(TransportError) {
        guard let handle = unsafe curl_url() else { throw TransportError(url: text, reason: .invalidURL) }
        unsafe self.handle = handle
        self.text = text
    }

    deinit { unsafe curl_url_cleanup(handle) }

    func set(_ part: CURLUPart, _ value: String?, flags: Int32 = 0) throws(TransportError) {
        let status = unsafe curl_url_set(handle, part, value, UInt32(flags))
        guard status == CURLUE_OK else {
            let detail = unsafe String(cString: curl_url_strerror(status))
            throw TransportError(url: text, reason: .invalidURL, detail: detail)
        }
    }

    func part(_ part: CURLUPart, flags: Int32 = 0) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_get(handle, part, &value, UInt32(flags)) == CURLUE_OK, let value = unsafe value else {
            return nil
        }
        defer { unsafe curl_free(value) }
        return unsafe String(cString: value)
    }
}
