#if ServiceLifecycle
public import ServiceLifecycle

/// A service that shuts down a loader as part of a `ServiceGroup`.
///
/// The loader works regardless of whether the service runs.
///
/// ```swift
/// let images = ImageLoaderService(loader: loader, gracePeriod: .seconds(10))
/// try await ServiceGroup(services: [images, server], gracefulShutdownSignals: [.sigterm], logger: logger).run()
/// ```
public struct ImageLoaderService: Service {
    private let loader: ImageLoader
    private let gracePeriod: Duration

    /// Creates a service that gives downloads `gracePeriod` to finish; see ``ImageLoader/shutdown(gracePeriod:)``.
    public init(loader: ImageLoader, gracePeriod: Duration) {
        self.loader = loader
        self.gracePeriod = gracePeriod
    }

    /// Waits for the graceful shutdown, then shuts down the loader.
    ///
    /// If the task is canceled, the loader is shut down without a grace period.
    public func run() async throws {
        // Throws on cancellation, which the loader detects as well.
        try? await gracefulShutdown()
        await loader.shutdown(gracePeriod: gracePeriod)
    }
}
#endif
