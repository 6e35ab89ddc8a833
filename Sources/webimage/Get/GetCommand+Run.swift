import WebimageConsole
import ArgumentParser
import AsyncWebImage

extension GetCommand {
    func run() async throws {
        let budget = try OpenFileBudget.reserve(images: concurrency, cacheFiles: cache.filesPerImage)
        let list = try input.map { try InputList(path: $0) }
        var transport = network.transport
        transport.maximumIdleConnections = max(transport.maximumIdleConnections, budget.images)
        transport.maximumConnections = budget.connections
        let meter = TransferMeter(over: CurlTransport(configuration: transport))
        let workers = ThreadPool()
        let plan = plan
        let fetcher = ImageFetcher(
            loader: ImageLoader(configuration: try loaderConfiguration(concurrency: budget.images), transport: meter),
            meter: meter,
            folder: try OutputFolder(path: output),
            previews: try progressiveDir.map { try OutputFolder(path: $0) },
            plan: plan,
            workers: workers,
            memory: memoryLimits)
        let display = ProgressDisplay(printsJSON: json, meter: meter)
        let sources = sources
        // Encoding at full size can take hundreds of megabytes per image: limit the number of concurrent ones.
        let concurrency = plan.holdsFullSize ? min(budget.images, 2 * workers.count) : budget.images

        let hasCache = cache.folder != nil
        do {
            try await Interruption.cancelling {
                let drawing = Task { await display.redrawRegularly() }
                let end: (any Error)?
                do {
                    try await Self.get(sources, list, concurrency: concurrency, by: fetcher, display)
                    end = nil
                } catch {
                    end = error
                }
                drawing.cancel()
                // Writes pending responses, including interrupted ones, to disk before the process ends.
                if hasCache { await fetcher.loader.shutdown(gracePeriod: .zero) }
                if let end { throw end }
            }
        } catch {
            try? await display.close()
            throw error
        }
        try await display.close()
        if await display.failed > 0 { throw ExitCode.failure }
    }

    /// No cache of decoded images: every image is needed once, and a long list must not fill the memory.
    func loaderConfiguration(concurrency: Int) throws -> ImageLoader.Configuration {
        var configuration = ImageLoader.Configuration(downloads: requests.downloads, maximumMemoryCacheBytes: 0)
        // The buffered part of each download is small compared to the images themselves.
        configuration.downloads.maximumReplayBytes = 1 << 20
        configuration.downloads.maximumResumableBytes = 8 << 20
        // Headers are held before any memory is reserved, for as many images as are processed at a time.
        configuration.decoding.limits.maximumHeaderBytes = 8 << 20
        let memory = memoryLimits
        configuration.decoding.memoryBudget = writesAnew ? memory.allConversions : memory.allChecks
        if writesAnew { configuration.decoding.maximumDecodeBytes = memory.conversion }
        configuration.downloads.maximumConcurrentDownloads = concurrency
        configuration.downloads.maximumConcurrentDownloadsPerHost = min(perHost ?? concurrency, concurrency)
        configuration.downloads.rateLimitPerHost = rate.map { RateLimit(requestsPerSecond: $0) }
        try cache.apply(to: &configuration)
        return configuration
    }

    /// A Boolean value that indicates whether pixels are decoded, for conversion, previews, or recovery of damaged
    /// images.
    private var writesAnew: Bool {
        if case .converted = plan.mode { return true }
        return allowPartial || progressiveDir != nil
    }

    /// Processes up to `concurrency` images at a time; reads a line of the list when another one can start.
    private static func get(
        _ sources: [String], _ list: InputList?, concurrency: Int, by fetcher: ImageFetcher, _ display: ProgressDisplay
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var running = 0
            func start(_ source: ImageSource) async throws {
                if running == concurrency {
                    try await group.next()
                } else {
                    running += 1
                }
                group.addTask {
                    let id = await display.begin(source.text)
                    try await display.end(id, fetcher.get(source))
                }
            }
            for source in sources { try await start(ImageSource(argument: source)) }
            while let line = try await list?.next() { try await start(line) }
            try await group.waitForAll()
        }
    }
}
