#if ServiceLifecycle
public import ServiceLifecycle

/// Shuts a loader down with the other services of a `ServiceGroup`.
///
/// The loader works without it, and before and while it runs.
///
/// ```swift
/// let images = ImageLoaderService(loader: loader, gracePeriod: .seconds(10))
/// try await ServiceGroup(services: [images, server], gracefulShutdownSignals: [.sigterm], logger: logger).run()
/// ```
public struct ImageLoaderService: Service {
    private let loader: ImageLoader
    private let gracePeriod: Duration

    /// A service that gives downloads `gracePeriod` to finish; see ``ImageLoader/shutdown(gracePeriod:)``.
    public init(loader: ImageLoader, gracePeriod: Duration) {
        self.loader = loader
        self.gracePeriod = gracePeriod
    }

    /// Waits for the graceful shutdown, then shuts the loader down; if it is canceled, without a grace period.
    public func run() async throws {
        // Throws when it is canceled, which the loader sees as well.
        try? await gracefulShutdown()
        await loader.shutdown(gracePeriod: gracePeriod)
    }
}
#endif
