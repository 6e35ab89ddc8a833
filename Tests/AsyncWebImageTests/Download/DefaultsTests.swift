import Foundation
import HTTPTransport
import ImageCodecs
import Testing
import Threading

@testable import AsyncWebImage
@testable import ResponseCache

/// The limits of a loader in Docs/Limits.md.
struct DefaultsTests {
    private let downloads = ImageLoader.Configuration().downloads

    @Test func defaultConcurrencyIs128DownloadsInTotalAndSixPerHostOr32OverHTTP2() {
        #expect(downloads.maximumConcurrentDownloads == 128)
        #expect(downloads.maximumConcurrentDownloadsPerHost == 32)
        #expect(downloads.maximumConnectionsPerHost == 6)
        #expect(downloads.rateLimitPerHost == nil && downloads.executionOrder == .fifo)
    }

    @Test(arguments: [(0, 1), (64, 32), (255, 127), (256, 128), (1_024, 128), (1_048_576, 128)])
    func defaultConcurrencyLeavesHalfOfTheFilesToOthers(openFileLimit: Int, count: Int) {
        #expect(DownloadConfiguration.maximumConcurrentDownloads(openFileLimit: openFileLimit) == count)
    }

    @Test func prefetcherCanUseTheSlotsOfLowPriorities() {
        #expect(ImagePrefetcherTests.defaultConcurrentLoads == downloads.maximumConcurrentDownloads / 2)
    }

    @Test func defaultDeadlinesAreSecondsPerStageAndTenMinutesInTotal() {
        #expect(downloads.deadlines.lookup == .seconds(8))
        #expect(downloads.deadlines.connect == .seconds(10))
        #expect(downloads.deadlines.firstByte == .seconds(15))
        #expect(downloads.deadlines.idle == .seconds(15))
        #expect(downloads.deadlines.total == .seconds(600))
    }

    @Test func defaultLimitsAreTenRedirectsAndBodiesOf512MiB() {
        #expect(downloads.maximumRedirects == 10)
        #expect(downloads.maximumBodyBytes == 512 << 20)
        #expect(downloads.acceptedStatuses == 200...299 && downloads.acceptedContentTypes == nil)
    }

    @Test func defaultLimitOfBytesInFlightIs64MiB() {
        #expect(downloads.maximumBytesInFlight == 64 << 20)
        #expect(downloads.maximumReplayBytes == 4 << 20)
        #expect(Backpressure.highWater == 1 << 20 && Backpressure.limitedReadAhead == 16 << 10)
    }

    @Test func defaultLimitOfResumableBytesIs32MiB() {
        #expect(downloads.maximumResumableBytes == 32 << 20)
        var bodies = InterruptedBodies(limit: 1 << 40)
        for number in 0..<70 {
            guard let url = try? HTTPURL("http://example.com/\(number)"),
                var resumption = Resumption(
                    ResponseHead(response: .init(status: .ok, headerFields: [.eTag: "\"a\""]), url: url),
                    offset: 1 << 14, total: nil)
            else { continue }
            resumption.stored = [[UInt8](repeating: 1, count: 1 << 14)]
            bodies.insert(resumption, for: FetchKey(url: url, headerFields: [:]))
        }
        #expect(bodies.bytes == 64 << 14)
    }

    @Test func sixteenMebibytesOfFinishedBodiesAreKeptForLaterOnes() {
        #expect(BufferPool.Limits.bodies().byteCount == 16 << 20)
        #expect(BufferPool.idleTime == .seconds(1))
    }

    @Test func halfOfTheDecodeMemoryIsKeptForLaterImages() {
        #expect(BufferPool.Limits.pixels(memoryBudget: 64 << 20).byteCount == 32 << 20)
        #expect(BufferPool.Limits.pixels(memoryBudget: 1 << 30).byteCount == 128 << 20)
    }

    @Test func defaultRetryMakesThreeAttempts() {
        let retry = downloads.retry as? ExponentialBackoff
        #expect(retry?.maximumAttempts == 3)
        #expect(retry?.base == .milliseconds(500))
        #expect(retry?.maximumDelay == .seconds(30))
        #expect(retry?.maximumRetryAfter == .seconds(60))
    }

    @Test func defaultCacheLimitsAreAsDocumented() {
        #expect(ImageLoader.Configuration().maximumMemoryCacheBytes == 128 << 20)
        #expect(ImageLoader.Configuration().responseCache == nil)
        #expect(ImageLoader.Configuration().cachePolicy == .useProtocol)
        let stored = ResponseCache.Configuration()
        #expect(stored.maximumBytes == 512 << 20 && stored.maximumEntryBytes == 32 << 20)
        #expect(EntryWriter.queueLimit == 1 << 20)
        #expect(DownloadMachine.maximumConcurrentLookups == 16)
    }

    @Test func cachedImagesAndResponsesHaveNoMaximumAgeByDefault() {
        #expect(ImageLoader.Configuration().maximumMemoryCacheAge == nil)
        #expect(ResponseCache.Configuration().maximumAge == nil)
    }

    @Test func memoryCacheIsTrimmedUnderMemoryPressureByDefault() {
        #expect(ImageLoader.Configuration().trimsUnderMemoryPressure)
    }

    /// Sizes in MiB; the first one means that the size of the memory is unknown.
    @Test(arguments: [(-1, 16), (32, 16), (64, 16), (100, 25), (1_024, 256), (4_096, 1_024), (1_000_000, 1_024)])
    func decodeMemoryBudgetIsAQuarterOfTheAvailableMemoryWithinBounds(memory: Int, budget: Int) {
        #expect(ImageDecoder.Configuration.memoryBudget(availableMemory: memory << 20) == budget << 20)
    }

    @Test func defaultDecodeMemoryBudgetFollowsFromTheAvailableMemory() {
        #expect(availableMemory() <= Int(ProcessInfo.processInfo.physicalMemory))
        let expected = ImageDecoder.Configuration.memoryBudget(availableMemory: availableMemory())
        #expect(ImageDecoder.Configuration().memoryBudget == expected)
    }

    @Test func defaultDecodeMemoryBudgetIsAtMostOneGibibyte() {
        let decoding = ImageDecoder.Configuration()
        #expect((4 << 20...1 << 30).contains(decoding.memoryBudget))
        #expect(decoding.maximumDecodeBytes == nil)
        #expect(decoding.threadCount == availableProcessorCount())
    }

    @Test func defaultPreviewIntervalIs100MillisecondsAndShareOneFifth() {
        let expected = PreviewPolicy(
            selection: .all, minimumInterval: .milliseconds(100), maximumSide: 1_920, decodingShare: 0.2,
            elapsedShare: 0.02)
        #expect(PreviewPolicy() == expected)
    }

    @Test func minimumSizeOfKeptPartialBodiesIs16KiB() {
        #expect(Resumption.minimumBytes == 16 << 10)
    }

    @Test func progressEventsAre64KiBApart() {
        #expect(DownloadEventSender.step == 64 << 10)
    }

    @Test func publicEnumsHaveTheDocumentedNumberOfCases() {
        #expect(CachePolicy.allCases.count == 6)
        #expect(DownloadPriority.allCases.count == 5)
        #expect(PixelFormat.allCases.count == 6)
    }

    @Test func defaultMinimumTLSVersionIs12() {
        #expect(TLSOptions().minimumVersion == .tls12)
    }

    @Test func defaultRequestHasNormalPriorityAndNoCookies() {
        let request = ImageRequest("http://example.com/")
        #expect(request.priority == .normal && !request.handlesCookies && request.cachePolicy == nil)
        #expect(!request.finishesOnShutdown && request.credential == nil && request.headerFields.isEmpty)
    }
}
