public import ImageCodecs

/// A download implementation to compare.
public protocol Engine: Sendable {
    /// Creates an engine with these options and its own defaults otherwise.
    init(_ options: EngineOptions) throws

    /// Loads the whole body into memory, without decoding it, and returns its length.
    ///
    /// Throws an error if the body is incomplete, or the status is an error.
    func fetch(_ url: String) async throws -> Int

    /// Ends the engine's threads and connections; no transfer may be active.
    func shutdown() async throws
}

extension Engine {
    /// Creates an engine that runs at most `concurrency` transfers at a time, even if all are to one host.
    public init(concurrency: Int) throws {
        try self.init(EngineOptions(limits: EngineLimits(total: concurrency, perHost: concurrency)))
    }
}

/// An engine whose callers for one URL share one transfer, which stops when the last of them cancels.
public protocol SharingEngine: Engine {
    /// A caller's handle of a download.
    associatedtype Handle: Sendable

    /// Joins the download of `url`, or starts it, as ``Engine/fetch(_:)`` would.
    func start(_ url: String) -> Handle

    /// Returns the length of the body once it is complete.
    ///
    /// Await it once per handle. Throws `CancellationError` after ``cancel(_:)``.
    func value(of handle: Handle) async throws -> Int

    /// Removes this caller from the download without affecting others.
    func cancel(_ handle: Handle)

    /// The current number of callers that wait for a result.
    var callerCount: Int { get async }

    /// The current number of running or waiting downloads.
    var downloadCount: Int { get async }
}

/// An engine that decodes the images it downloads.
public protocol ImageEngine: Engine {
    /// Loads and decodes the image, with sides of at most `maximumSide` pixels, and returns its size.
    func image(_ url: String, maximumSide: Int) async throws -> PixelSize
}

/// An engine that shows images while they arrive.
public protocol ProgressiveEngine: Engine {
    /// Loads and decodes the image at full size and returns that size.
    ///
    /// Before that, the engine calls `onPreview` on any thread with every full-size preview; it should only record the
    /// time.
    func progressiveImage(_ url: String, onPreview: @escaping @Sendable (PixelBuffer) -> Void) async throws -> PixelSize
}
