public import HTTPTransport
import ResponseCache

/// A source of images for URLs of other schemes than http and https; see `ImageLoader.Configuration.sources`.
///
/// A loader has no sources by default, and its ``NetworkPolicy`` does not apply to them: do not give a source to a
/// loader of untrusted URLs unless everyone who can choose a URL may see everything in the source. Redirects never lead
/// to a source.
///
/// Images of sources are loaded like others: callers share a load, which is subject to the limits of downloads (each
/// scheme counts as one host), hooks, priorities, and cancellation, and decoded images enter the memory cache. Of the
/// deadlines, only ``Deadlines/total`` applies. Errors of a source have the reasons
/// ``TransportError/Reason-swift.enum/sourceNotFound``, ``TransportError/Reason-swift.enum/sourceRefused``, and
/// ``TransportError/Reason-swift.enum/sourceFailed``. The ``ResponseCache`` is not used, unless a transport's
/// responses are to be stored.
///
/// ```swift
/// var configuration = ImageLoader.Configuration()
/// configuration.sources = [.files(under: "/srv/images"), .dataURLs()]
/// let loader = ImageLoader(configuration: configuration)
/// let photo = try await loader.image(for: ImageRequest("file:///srv/images/photo.jpg"))
/// ```
public struct URLSource: Sendable {
    /// The schemes of the URLs, in lowercase.
    let schemes: Set<String>
    private let resolve: @Sendable (_ text: String, _ scheme: String) throws(TransportError) -> Resolution

    /// The URL that identifies an image, and the route to it.
    typealias Resolution = (url: HTTPURL, route: SourceRoute)

    /// The maximum length of a URL, in bytes, except of one that contains its image.
    private static let maximumURLBytes = 64 << 10

    private init(
        _ schemes: Set<String>,
        resolve: @escaping @Sendable (_ text: String, _ scheme: String) throws(TransportError) -> Resolution
    ) {
        self.schemes = schemes
        self.resolve = resolve
    }

    private init(_ schemes: Set<String>, route: SourceRoute) {
        self.init(Set(schemes.map { $0.lowercased() })) { text, scheme throws(TransportError) in
            (try Self.url(text, scheme), route)
        }
    }

    /// The files in a folder and in the folders below it, for `file:` URLs with absolute paths.
    ///
    /// Symbolic links are followed unless they lead out of the folder, which may be a link itself; hard links cannot be
    /// told from files. Only regular files are read, on threads of the source. A request with the version of the file
    /// in ``ImageRequest/knownVersion`` fails with ``ImageError/notModified(_:)``. The memory cache does not notice
    /// that a file has changed: use ``CachePolicy/reload`` for files that change. Access to the folder `/` is access to
    /// everything that the process can read.
    public static func files(under folder: String) -> URLSource {
        URLSource(["file"], route: SourceRoute(FileResponder(folder: folder)))
    }

    /// The images that `data:` URLs contain (RFC 2397), of at most `maximumBytes` bytes each, without the encoding.
    ///
    /// Errors and events name such a URL by its beginning and its SHA-256 digest.
    public static func dataURLs(maximumBytes: Int = 1 << 20) -> URLSource {
        let threads = CacheThreads(named: "webimage-data")
        return URLSource(["data"]) { text, _ throws(TransportError) in
            let data = try DataURL(text, maximumBytes: maximumBytes)
            let responder = ContentResponder(bytes: { _ in
                try await threads.run { Result { () throws(TransportError) in try data.decoded() } }.get()
            })
            return (HTTPURL(ofSource: data.identity, scheme: "data"), SourceRoute(responder))
        }
    }

    /// The bytes that `bytes` returns for the URLs of a scheme, such as `asset` for `asset://icons/home.png`.
    ///
    /// The closure is called in a task of the load, which is canceled when no caller waits any longer. To fail, it
    /// throws a ``TransportError``, usually with the reason
    /// ``TransportError/Reason-swift.enum/sourceNotFound``, or any other error.
    public static func scheme(
        _ scheme: String, bytes: @escaping @Sendable (_ url: HTTPURL) async throws -> [UInt8]
    ) -> URLSource {
        URLSource([scheme], route: SourceRoute(ContentResponder(bytes: { (try await bytes($0), nil) })))
    }

    /// The pieces of the asynchronous sequence that `pieces` returns for the URLs of a scheme; see
    /// ``scheme(_:bytes:)``.
    ///
    /// The next piece is requested when there is room for it.
    public static func scheme<Pieces: AsyncSequence & SendableMetatype>(
        _ scheme: String, pieces: @escaping @Sendable (_ url: HTTPURL) async throws -> Pieces
    ) -> URLSource where Pieces.Element: Collection, Pieces.Element.Element == UInt8 {
        URLSource([scheme], route: SourceRoute(ContentResponder(pieces: pieces)))
    }

    /// The responses of a transport for the URLs of some schemes.
    ///
    /// The transport applies the deadlines and limits of the request that it can. With `storesResponses`, a
    /// ``ResponseCache`` stores its responses by the rules for HTTP. Redirects are not followed.
    public static func transport(
        _ transport: any Transport, schemes: Set<String>, storesResponses: Bool = false
    ) -> URLSource {
        URLSource(schemes, route: SourceRoute(transport, usesResponseCache: storesResponses))
    }

    /// Returns the URL that identifies the image at `text`, which has one of the schemes, and the route to it.
    func resolved(_ text: String, scheme: String) throws(TransportError) -> Resolution { try resolve(text, scheme) }

    private static func url(_ text: String, _ scheme: String) throws(TransportError) -> HTTPURL {
        guard text.utf8.count <= maximumURLBytes, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw TransportError(url: "\(scheme):…", reason: .invalidURL)
        }
        return HTTPURL(ofSource: String(text.prefix { $0 != "#" }), scheme: scheme)
    }
}
