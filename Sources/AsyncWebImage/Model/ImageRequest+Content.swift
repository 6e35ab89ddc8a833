import Hashing
import Synchronization

// Requests that contain their image; they need no source, and no URL can do the same.
extension ImageRequest {
    /// Creates a request for the image in `bytes`, a file in memory.
    ///
    /// It is loaded like one with a URL, except that the ``ResponseCache`` is not used. The bytes are identified by
    /// `cacheKey` (see ``ImageRequest/cacheKey``), or else by their SHA-256 digest, which this initializer computes.
    public init(
        bytes: [UInt8], cacheKey: String? = nil, options: DecodeOptions = DecodeOptions(),
        priority: DownloadPriority = .normal
    ) {
        let name = cacheKey ?? "sha256-\(SHA256.hash(bytes).hexadecimal)"
        let route = SourceRoute(ContentResponder(bytes: { _ in (bytes, nil) }))
        self.init(content: route, name, cacheKey: cacheKey, options: options, priority: priority)
    }

    /// Creates a request for the image whose bytes an asynchronous sequence delivers in pieces.
    ///
    /// It is loaded like one with a URL, except that the ``ResponseCache`` is not used. The next piece is requested
    /// when there is room for it. `cacheKey` identifies the image; without it, only loads of this request and of its
    /// copies are shared, and decoded images do not enter the memory cache. A second iteration can be necessary, for
    /// example if another caller joins when the beginning has been discarded
    /// (``DownloadConfiguration/maximumReplayBytes``).
    public init<Pieces: AsyncSequence & Sendable>(
        pieces: Pieces, cacheKey: String? = nil, options: DecodeOptions = DecodeOptions(),
        priority: DownloadPriority = .normal
    ) where Pieces.Element: Collection, Pieces.Element.Element == UInt8 {
        let name = cacheKey ?? "pieces-\(lastUnnamed.wrappingAdd(1, ordering: .relaxed).newValue)"
        let route = SourceRoute(ContentResponder(pieces: { _ in pieces }), isReusable: cacheKey != nil)
        self.init(content: route, name, cacheKey: cacheKey, options: options, priority: priority)
    }

    private init(
        content route: SourceRoute, _ name: String, cacheKey: String?, options: DecodeOptions,
        priority: DownloadPriority
    ) {
        let url = "\(RequestContent.scheme):\(name)"
        self.init(url, options: options, priority: priority, cacheKey: cacheKey)
        content = RequestContent(url: url, route: route)
    }
}

/// The number of requests for sequences without a cache key so far, which tells them apart.
private let lastUnnamed = Atomic<Int>(0)
