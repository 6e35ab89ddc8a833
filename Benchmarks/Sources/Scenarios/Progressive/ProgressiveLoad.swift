import Engines
import ImageCodecs
import JPEGLoop

/// The ways to load a progressive JPEG from a slow origin, and the parts of that work.
enum ProgressiveLoad: String, CaseIterable, Sendable {
    /// This package, with previews.
    case actor
    /// This package, without previews.
    case actorWithoutPreviews = "no-previews"
    case operationQueue = "operation-queue"
    /// A decode of all bytes at once, without a download.
    case plainDecode = "plain-decode"
    /// The same after a download by the C loop.
    case loadThenDecode = "load-then-decode"
    /// A C function that decodes the bytes as they arrive, without previews: the limit of libcurl and libjpeg.
    case curlAndLibjpeg = "curl+libjpeg"

    /// A Boolean value that indicates whether an image is shown before it is complete.
    var showsPreviews: Bool { self == .actor || self == .operationQueue }

    /// Returns the work that loads the file at `url`, or decodes its `bytes`.
    ///
    /// The work calls its argument for each preview, and returns the number of rows.
    func work(_ url: String, _ bytes: [UInt8]) throws -> (@escaping @Sendable () -> Void) async throws -> Int {
        switch self {
        case .actor, .operationQueue:
            let engine = try engine(as: (any ProgressiveEngine.Type).self).init(concurrency: 1)
            return { onPreview in
                let size = try await engine.progressiveImage(url) { _ in onPreview() }
                try await engine.shutdown()
                return size.height
            }
        case .actorWithoutPreviews:
            let engine = try engine(as: (any ImageEngine.Type).self).init(concurrency: 1)
            return { _ in
                let size = try await engine.image(url, maximumSide: Self.noMaximum)
                try await engine.shutdown()
                return size.height
            }
        case .plainDecode:
            return { _ in try StreamingDecoder.decode(bytes.span).pixels.height }
        case .loadThenDecode:
            return { _ in
                _ = try await CurlMulti.run(prefix: url + "?", count: 1, concurrency: 1)
                return try StreamingDecoder.decode(bytes.span).pixels.height
            }
        case .curlAndLibjpeg:
            return { _ in Int(unsafe jpeg_load(url)) }
        }
    }

    /// A side that no picture of the scenario exceeds.
    private static let noMaximum = 65_535

    private func engine<EngineType>(as type: EngineType.Type) throws -> EngineType {
        let name: EngineName = self == .operationQueue ? .operationQueue : .actor
        guard let engine = name.type as? EngineType else { throw Unable(engine: rawValue, task: "load an image") }
        return engine
    }
}
