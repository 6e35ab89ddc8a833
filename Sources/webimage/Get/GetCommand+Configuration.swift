import AsyncWebImage
import ImageCodecs

// The settings of the loader, which follow from the options.
extension GetCommand {
    /// The files that this command opens: the list, and those of each image.
    var openFiles: OpenFileBudget.Needs {
        OpenFileBudget.Needs(
            images: concurrency, filesPerImage: 1 + cache.filesPerImage + (progressiveDir == nil ? 0 : 1),
            files: 1 + cache.files)
    }

    /// No cache of decoded images: every image is needed once, and a long list must not fill the memory.
    func loaderConfiguration(concurrency: Int) throws -> ImageLoader.Configuration {
        var configuration = ImageLoader.Configuration(downloads: requests.downloads, maximumMemoryCacheBytes: 0)
        // The buffered part of each download is small compared to the images themselves.
        configuration.downloads.maximumReplayBytes = 1 << 20
        configuration.downloads.maximumResumableBytes = 8 << 20
        // Headers are held before any memory is reserved, for as many images as are processed at a time.
        configuration.decoding.customFormats = CommandFormats.custom
        configuration.decoding.limits.maximumHeaderBytes = 8 << 20
        work.apply(to: &configuration.decoding.limits)
        let memory = memoryLimits
        configuration.decoding.memoryBudget = writesAnew ? memory.allConversions : memory.allChecks
        configuration.decoding.maximumDecodeBytes = memory.image
        configuration.downloads.maximumConcurrentDownloads = concurrency
        perHost.apply(to: &configuration.downloads)
        configuration.downloads.rateLimitPerHost = rate.map { RateLimit(requestsPerSecond: $0) }
        try cache.apply(to: &configuration)
        return configuration
    }

    /// A Boolean value that indicates whether pixels are decoded, for conversion, previews, or recovery of damaged
    /// images.
    private var writesAnew: Bool {
        plan.isConverted || plan.dependsOnHeader || allowPartial || progressiveDir != nil
    }
}
