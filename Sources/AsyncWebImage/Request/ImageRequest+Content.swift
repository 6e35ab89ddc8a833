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
    /// copies are shared, and decoded images do not enter the memory cache.
    ///
    /// Loads that are not shared need another iteration: set `isRepeatable` if each iteration of the sequence delivers
    /// all pieces, which those of an `AsyncStream` do not. Otherwise, a second one fails with
    /// ``TransportError/Reason-swift.enum/sourceFailed``.
    public init<Pieces: AsyncSequence & Sendable>(
        pieces: Pieces, isRepeatable: Bool = false, cacheKey: String? = nil, options: DecodeOptions = DecodeOptions(),
        priority: DownloadPriority = .normal
    ) where Pieces.Element: Collection, Pieces.Element.Element == UInt8 {
        let name = cacheKey ?? "pieces-\(lastUnnamed.wrappingAdd(1, ordering: .relaxed).newValue)"
        let pass = FirstPass()
        let responder = ContentResponder(pieces: { url in
            guard isRepeatable || pass.begins() else {
                throw TransportError(
                    url: url.string, reason: .sourceFailed, detail: "the sequence has been read already")
            }
            return pieces
        })
        let route = SourceRoute(responder, isReusable: cacheKey != nil)
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

/// Tells the first iteration of a sequence from all others.
private final class FirstPass: Sendable {
    private let hasBegun = Atomic(false)

    /// Returns `true` once.
    func begins() -> Bool { !hasBegun.exchange(true, ordering: .relaxed) }
}

/// The number of requests for sequences without a cache key so far, which tells them apart.
private let lastUnnamed = Atomic<Int>(0)
