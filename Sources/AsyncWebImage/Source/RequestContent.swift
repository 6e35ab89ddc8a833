import HTTPTransport

/// The image that a request contains itself.
///
/// Its URL identifies it, so contents with equal URLs are equal. An object, because few requests have one.
final class RequestContent: Sendable, Hashable {
    /// The scheme of the URLs of such requests.
    static let scheme = "content"

    /// The URL of the request.
    let url: String
    let route: SourceRoute

    init(url: String, route: SourceRoute) {
        self.url = url
        self.route = route
    }

    static func == (left: RequestContent, right: RequestContent) -> Bool { left.url == right.url }

    func hash(into hasher: inout Hasher) { hasher.combine(url) }
}
