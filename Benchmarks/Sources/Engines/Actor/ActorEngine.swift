import AsyncWebImage
import Foundation
import ImageCodecs

/// AsyncWebImage, through its public API.
struct ActorEngine: SharingEngine {
    private let loader: ImageLoader

    /// Creates a loader without an image cache, so that every requested image is loaded.
    ///
    /// The environment variable `TRANSPORT_THREADS` sets the number of threads for transfers.
    init(_ options: EngineOptions) {
        var configuration = ImageLoader.Configuration()
        if let limits = options.limits {
            configuration.downloads.maximumConcurrentDownloads = limits.total
            configuration.downloads.maximumConcurrentDownloadsPerHost = limits.perHost
            configuration.downloads.maximumConnectionsPerHost = limits.perHost
        }
        configuration.transport.tls.certificateAuthorityFile = options.certificateAuthorityFile
        configuration.maximumMemoryCacheBytes = 0
        if let threads = ProcessInfo.processInfo.environment["TRANSPORT_THREADS"].flatMap(Int.init) {
            configuration.transport.threadCount = threads
        }
        loader = ImageLoader(configuration: configuration)
    }

    func fetch(_ url: String) async throws -> Int {
        try await loader.data(for: ImageRequest(url)).bytes.count
    }

    /// Does nothing, because releasing the loader ends its threads.
    func shutdown() {}

    func start(_ url: String) -> LoadTask<ResponseBody> {
        loader.dataTask(for: ImageRequest(url))
    }

    func value(of handle: LoadTask<ResponseBody>) async throws -> Int {
        try await handle.value.bytes.count
    }

    func cancel(_ handle: LoadTask<ResponseBody>) {
        handle.cancel()
    }

    var callerCount: Int {
        get async { await loader.coordinator.activity.callers }
    }

    var downloadCount: Int {
        get async {
            let activity = await loader.coordinator.activity
            return activity.running + activity.waiting
        }
    }
}

extension ActorEngine: ImageEngine {
    func image(_ url: String, maximumSide: Int) async throws -> PixelSize {
        try await loader.image(for: ImageRequest(url, maximumSide: maximumSide)).pixels.size
    }
}

extension ActorEngine: ProgressiveEngine {
    func progressiveImage(
        _ url: String, onPreview: @escaping @Sendable (PixelBuffer) -> Void
    ) async throws -> PixelSize {
        for try await frame in loader.previews(for: ImageRequest(url)) {
            if frame.isFinal { return frame.pixels.size }
            onPreview(frame.pixels)
        }
        throw CancellationError()
    }
}
