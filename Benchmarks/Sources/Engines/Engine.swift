public import ImageCodecs

/// One way to download.
public protocol Engine: Sendable {
    /// An engine that runs at most `concurrency` transfers at a time, all of them to one host if need be.
    init(concurrency: Int) throws

    /// Loads the whole body into memory and returns its length; nothing is decoded.
    ///
    /// Throws if no whole body came, or the status is an error.
    func fetch(_ url: String) async throws -> Int

    /// Ends the engine's threads and connections; nothing may be under way.
    func shutdown() async throws
}

/// An engine whose callers for one URL share one transfer, which the last of them to cancel stops.
public protocol SharingEngine: Engine {
    /// One caller's part in a download.
    associatedtype Handle: Sendable

    /// Joins the download of `url`, or starts it, as ``Engine/fetch(_:)`` would.
    func start(_ url: String) -> Handle

    /// The length of the body once it is there.
    ///
    /// To be awaited once for each handle. Throws `CancellationError` after ``cancel(_:)``.
    func value(of handle: Handle) async throws -> Int

    /// Takes this caller out of the download and touches no other.
    func cancel(_ handle: Handle)

    /// Callers who wait for an answer, at this moment.
    var callerCount: Int { get async }

    /// Downloads that run or wait for their turn, at this moment.
    var downloadCount: Int { get async }
}

/// An engine that makes pixels of what it downloads.
public protocol ImageEngine: Engine {
    /// Loads and decodes the image, neither side longer than `maximumSide` pixels, and returns the size it came to.
    func image(_ url: String, maximumSide: Int) async throws -> PixelSize
}

/// An engine that shows images while they arrive.
public protocol ProgressiveEngine: Engine {
    /// Loads and decodes the image at full size and returns that size.
    ///
    /// `onPreview` is called with every full-size preview before that, on a thread of the engine's choice; it should only
    /// take the time.
    func progressiveImage(_ url: String, onPreview: @escaping @Sendable (PixelBuffer) -> Void) async throws -> PixelSize
}
