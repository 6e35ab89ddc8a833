/// A version of HTTP, and whether it is spoken over TLS.
enum WebProtocol: String, Codable, CaseIterable, Sendable {
    case plain = "http"
    case http1 = "https-1.1"
    case http2 = "https-2"

    /// The version in headings.
    var words: String { self == .http2 ? "HTTP/2" : "HTTP/1.1" }

    /// The versions of HTTP and TLS in the log of nginx, where all engines support TLS 1.3.
    var loggedVersions: String { self == .http2 ? "HTTP/2.0 TLSv1.3" : "HTTP/1.1 TLSv1.3" }
}
