import HTTPTransport

/// The sources of a loader by scheme.
struct URLSources: Sendable {
    private let sources: [String: URLSource]

    /// Creates the table; of several sources for a scheme, the first is used, and none for http, https, and
    /// the scheme of requests that contain their image.
    init(_ sources: [URLSource]) {
        let reserved = ["http", "https", RequestContent.scheme]
        let pairs = sources.flatMap { source in source.schemes.map { ($0, source) } }
            .filter { !reserved.contains($0.0) }
        self.sources = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the URL of an image, and its route if it is not fetched over HTTP; `nil` if the text is not a URL, or there
    /// is no source for its scheme.
    func resolve(_ text: String, _ content: RequestContent?) throws(TransportError) -> (HTTPURL, SourceRoute?)? {
        if let content, content.url == text {
            return (HTTPURL(ofSource: text, scheme: RequestContent.scheme), content.route)
        }
        guard !Self.isWebURL(text), let scheme = Self.scheme(of: text), scheme != "http", scheme != "https" else {
            return (try? HTTPURL(text)).map { ($0, nil) }
        }
        guard let source = sources[scheme] else { return nil }
        let (url, route) = try source.resolved(text, scheme: scheme)
        return (url, route)
    }

    /// Returns the text of a URL that no request can use, for messages: a long one can contain an image.
    static func displayText(of text: String) -> String {
        guard text.utf8.count > maximumShownBytes, let scheme = scheme(of: text), !scheme.hasPrefix("http") else {
            return HTTPURL.displayText(of: text)
        }
        return "\(scheme):…"
    }

    private static let maximumShownBytes = 2_000
    private static let maximumSchemeBytes = 40

    /// Returns whether the text begins as almost all URLs do: to look for its scheme takes much longer.
    private static func isWebURL(_ text: String) -> Bool {
        let bytes = text.utf8Span.span
        return bytes.begins(with: "https:") || bytes.begins(with: "http:")
    }

    /// Returns the scheme in lowercase; `nil` if the text has none (RFC 3986, section 3.1).
    private static func scheme(of text: String) -> String? {
        guard let end = text.utf8.prefix(maximumSchemeBytes).firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = text[..<end].lowercased()
        let isScheme =
            scheme.utf8.first.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } == true
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        return isScheme ? scheme : nil
    }
}
