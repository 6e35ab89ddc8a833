import Foundation
import HTTPSemantics
import QOI
import Testing

@testable import AsyncWebImage
@testable import HTTPTransport
@testable import ImageCodecs
@testable import ResponseCache

/// Documents state the defaults of the code: the numbers of these phrases are computed from it.
struct DocumentDefaultsTests {
    /// A document, and a phrase that it must contain.
    struct Phrase: CustomTestStringConvertible {
        let document: String
        let text: String

        init(_ document: String, _ text: String) {
            (self.document, self.text) = (document, text)
        }

        var testDescription: String { "\(document): \(text)" }
    }

    @Test(arguments: phrases)
    func documentStatesTheDefault(phrase: Phrase) throws {
        let package = #filePath.components(separatedBy: "/Tests/")[0]
        let text = try String(contentsOfFile: "\(package)/\(phrase.document)", encoding: .utf8)
        // Phrases may be broken across lines.
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains(phrase.text))
    }

    private static let articles = "Sources/AsyncWebImage/AsyncWebImage.docc"
    private static let configuration = ImageLoader.Configuration()
    private static let phrases =
        overviews + articlePhrases + cachingPhrases + imagePhrases + threads + migration + largeImages + decisions
        + cacheDecisions + imageDecisions

    private static let overviews: [Phrase] = [
        Phrase(
            "README.md",
            "at most \(configuration.downloads.maximumConcurrentDownloads) downloads run at a time, and at most "
                + "\(configuration.downloads.maximumConnectionsPerHost) from one host, or "
                + "\(configuration.downloads.maximumConcurrentDownloadsPerHost) over HTTP/2"),
        Phrase(
            "SECURITY.md",
            "\(configuration.downloads.maximumConnectionsPerHost) of the "
                + "\(configuration.downloads.maximumConcurrentDownloads) slots, or "
                + "\(configuration.downloads.maximumConcurrentDownloadsPerHost) with HTTP/2"),
        Phrase(
            "CHANGELOG.md",
            "\(configuration.downloads.maximumConcurrentDownloads) in total and "
                + "\(configuration.downloads.maximumConnectionsPerHost) per host, or "
                + "\(configuration.downloads.maximumConcurrentDownloadsPerHost) if the host speaks HTTP/2"),
        Phrase("CHANGELOG.md", "\(word(CachePolicy.allCases.count)) cache policies"),
        Phrase("CHANGELOG.md", "\(word(DownloadPriority.allCases.count)) priorities"),
        Phrase("CHANGELOG.md", "\(word(PixelFormat.allCases.count)) pixel formats"),
        Phrase("SECURITY.md", "with \(version(TLSOptions().minimumVersion)) or newer"),
    ]

    private static let articlePhrases: [Phrase] = {
        let downloads = configuration.downloads
        let retry = ExponentialBackoff()
        let previews = PreviewPolicy()
        let perSecond = Int(Duration.seconds(1) / previews.minimumInterval)
        return [
            Phrase("\(articles)/GettingStarted.md", "after \(word(retry.maximumAttempts)) attempts in total"),
            Phrase("\(articles)/LoadAnImage.md", "\(range(downloads.acceptedStatuses)) by default"),
            Phrase("\(articles)/ShowAnImageWhileItDownloads.md", "at most \(word(perSecond)) previews per second"),
            Phrase(
                "\(articles)/ShowAnImageWhileItDownloads.md",
                "at most \(grouped(previews.maximumSide)) pixels per side"),
            Phrase(
                "\(articles)/ShowAnImageWhileItDownloads.md",
                "at most \(percent(previews.decodingShare)) of the time spent decoding, or "
                    + "\(percent(previews.elapsedShare)) of the time elapsed"),
            Phrase("\(articles)/ConfigureCaching.md", "| default | \(mebibytes(memoryCache)) | none |"),
            Phrase("\(articles)/ConfigureCaching.md", "`\(configuration.cachePolicy)` (default)"),
            Phrase(
                "\(articles)/LoadUntrustedURLs.md",
                "a body of \(mebibytes(downloads.maximumBodyBytes)), \(DecodeLimits().maximumPixels / 1_000_000) million "
                    + "pixels, and \(minutes(downloads.deadlines.total))"),
            Phrase(
                "\(articles)/LoadUntrustedURLs.md",
                "network policy is \(configuration.transport.policy == NetworkPolicy() ? "off" : "on") by default"),
            Phrase("\(articles)/RetryAndResume.md", "up to \(word(retry.maximumAttempts)) attempts"),
            Phrase("\(articles)/RetryAndResume.md", "at most \(seconds(retry.base)) seconds after the first failure"),
            Phrase("\(articles)/RetryAndResume.md", "up to \(seconds(retry.maximumDelay)) seconds"),
            Phrase("\(articles)/RetryAndResume.md", "with up to \(seconds(retry.maximumRetryAfter)) seconds"),
            Phrase("\(articles)/RetryAndResume.md", "\(minutes(downloads.deadlines.total)) by default"),
            Phrase(
                "\(articles)/RetryAndResume.md",
                "up to \(mebibytes(downloads.maximumResumableBytes)) of partial bodies of at least "
                    + "\(kibibytes(Resumption.minimumBytes)) each"),
            Phrase(
                "\(articles)/RunInAServerAndShutDown.md",
                "\(downloads.maximumConcurrentDownloads) downloads at a time, and "
                    + "\(downloads.maximumConnectionsPerHost) from one host, as in browsers, or "
                    + "\(downloads.maximumConcurrentDownloadsPerHost) if the host speaks HTTP/2"),
        ]
    }()

    private static let cachingPhrases: [Phrase] = {
        let part = kibibytes(Resumption.minimumBytes)
        return [
            Phrase("\(articles)/ConfigureCaching.md", "if at least \(part) have arrived"),
            Phrase(
                "\(articles)/RetryAndResume.md",
                "is kept only up to \(mebibytes(configuration.downloads.maximumReplayBytes))"),
            Phrase("\(articles)/RetryAndResume.md", "does not store partial bodies of less than \(part)"),
        ]
    }()

    private static let imagePhrases: [Phrase] = {
        let options = DecodeOptions()
        let thumbnails = "\(articles)/MakeThumbnailsInBoundedMemory.md"
        let filter = options.resampling.filter == .lanczos3 ? "Lanczos-3" : options.resampling.filter.rawValue
        let upscaling = options.allowsUpscaling ? "on" : "off"
        let linearLight = options.resampling.usesLinearLight ? "on" : "off"
        let pixels = options.pixelFormat == .rgba8 ? "8-bit RGBA" : "\(options.pixelFormat)"
        return [
            Phrase(
                "\(articles)/AddAFormat.md",
                "\(ImageFormat.signatureLength) by default, at most \(grouped(QOIFormat.maximumSignatureLength))"),
            Phrase("\(articles)/GettingStarted.md", "\(pixels) by default"),
            Phrase(thumbnails, "the filter, \(filter) by default"),
            Phrase(thumbnails, "averaged in linear light, which is \(linearLight) by default"),
            Phrase(thumbnails, "smaller than the target; \(upscaling) by default"),
            Phrase(thumbnails, "\(word(ImagePrefetcherTests.defaultConcurrentLoads)) at a time by default"),
        ]
    }()

    private static let threads: [Phrase] = {
        func count(_ processors: Int) -> Int { CurlTransport.Configuration.threadCount(processors: processors) }
        let bounds = "\(word(count(1))) to \(word(count(1_000)))"
        // With 12 processors, the number of threads is neither the lowest nor the highest.
        let share = "for every \(word(12 / count(12))) processors"
        return [
            Phrase("CHANGELOG.md", "\(bounds) threads, one \(share)"),
            Phrase("\(articles)/RunInAServerAndShutDown.md", "\(bounds) threads, one \(share)"),
            Phrase("Docs/Architecture.md", "By default, transfers run on \(bounds) threads"),
            Phrase("Docs/SDWebImageParity.md", "one \(share)"),
            Phrase("Docs/Decisions/0015-transfer-threads.md", "one worker \(share), from \(bounds)"),
            Phrase("Docs/Decisions/0042-threads.md", "\(bounds) by default"),
        ]
    }()

    private static let migration: [Phrase] = {
        let article = "\(articles)/MigrateFromSDWebImage.md"
        let table = "Docs/SDWebImageParity.md"
        let downloads = configuration.downloads
        return [
            Phrase(article, "up to \(word(ExponentialBackoff().maximumAttempts)) attempts"),
            Phrase(article, "`deadlines.total`, \(minutes(downloads.deadlines.total)) by default"),
            Phrase(
                article,
                "is \(downloads.maximumConcurrentDownloads) instead of 6, with at most "
                    + "\(downloads.maximumConnectionsPerHost) from one host, or "
                    + "\(downloads.maximumConcurrentDownloadsPerHost) over HTTP/2"),
            Phrase(article, "a memory cache of \(mebibytes(memoryCache))"),
            Phrase(table, "maximumConcurrentDownloads`, \(downloads.maximumConcurrentDownloads), settable"),
            Phrase(table, "`Deadlines.idle`, \(seconds(downloads.deadlines.idle)) s"),
            Phrase(table, "one of \(word(DownloadPriority.allCases.count)); the two lowest"),
            Phrase(table, "| \(range(downloads.acceptedStatuses)), or `acceptedStatuses`"),
            Phrase(table, "at most \(downloads.maximumRedirects), http and https only"),
            Phrase(article, "more than \(grouped(EventTests.bufferedEvents)) events behind"),
            Phrase(table, "more than \(grouped(EventTests.bufferedEvents)) events behind"),
        ]
    }()

    /// SDWebImage before 4.4.5 takes the ratio of areas for the ratio of sides.
    private static let largeImages: [Phrase] = [(4000, 4000), (6000, 4000), (8000, 6000), (12_000, 8000)].map {
        let size = PixelSize(width: $0, height: $1)
        let ratio = Double(60 << 20) / Double(size.area * 4)
        let small = PixelSize(width: Int(Double(size.width) * ratio), height: Int(Double(size.height) * ratio))
        let plan = ScalePlan(of: size, orientation: .up, options: DecodeOptions(target: .maximumBytes()))
        func text(_ size: PixelSize) -> String {
            "\(size.width) x \(size.height), \((size.area * 4 + (1 << 19)) >> 20) MiB"
        }
        return Phrase(
            "\(articles)/MigrateFromSDWebImage.md", "| \($0) x \($1) | \(text(small)) | \(text(plan.scaledSize)) |")
    }

    private static let decisions: [Phrase] = {
        let downloads = configuration.downloads
        let total = downloads.maximumConcurrentDownloads
        let perHost = downloads.maximumConcurrentDownloadsPerHost
        let connections = downloads.maximumConnectionsPerHost
        let idle = grouped(CurlTransport.Configuration.defaultIdleConnections)
        let previews = PreviewPolicy().minimumInterval
        let scheduling = "Docs/Decisions/0005-own-scheduling.md"
        let bodies = "Docs/Decisions/0007-back-pressure.md"
        let attempts = "Docs/Decisions/0009-attempts-and-time.md"
        let events = "Docs/Decisions/0012-events-metrics-tracing.md"
        return [
            Phrase(scheduling, "at a time (\(ImagePrefetcherTests.defaultConcurrentLoads))"),
            Phrase(scheduling, "**\(total) downloads** in total"),
            Phrase(scheduling, "**\(connections) from one host**"),
            Phrase(scheduling, "**\(perHost) from a host that speaks HTTP/2**"),
            Phrase(scheduling, "at most \(idle)"),
            Phrase(scheduling, "\(word(DownloadMachine.maximumConcurrentLookups)) at a time"),
            Phrase(bodies, "`maximumReplayBytes`, \(mebibytes(downloads.maximumReplayBytes))"),
            Phrase(bodies, "\(kibibytes(Backpressure.limitedReadAhead)) ahead"),
            Phrase(bodies, "\(mebibytes(downloads.maximumBytesInFlight)) by default"),
            Phrase(attempts, "(\(seconds(downloads.deadlines.total.map { $0 / 60 })) minutes)"),
            Phrase(
                attempts,
                "\(mebibytes(downloads.maximumResumableBytes)), \(InterruptedBodies.maximumCount) bodies, at least "
                    + kibibytes(Resumption.minimumBytes)),
            Phrase(attempts, "The default is \(word(ExponentialBackoff().maximumAttempts)) attempts"),
            Phrase(events, "at most every \(kibibytes(DownloadEventSender.step))"),
            Phrase(events, "bounded to the newest \(grouped(EventTests.bufferedEvents)) events by default"),
            Phrase("Docs/Decisions/0017-dns.md", "on \(LookupThreads(openFileLimit: 1_024).initial) threads"),
            Phrase("Docs/Decisions/0017-dns.md", "up to \(LookupThreads(openFileLimit: 1_024).maximum) by default"),
            Phrase(
                "Docs/Decisions/0028-memory-cache-without-dates.md", "maximum, \(mebibytes(memoryCache)) by default"
            ),
            Phrase(
                "Docs/Decisions/0033-previews-on-demand.md",
                "(\(previews.components.attoseconds / 1_000_000_000_000_000) ms)"),
        ]
    }()

    private static let cacheDecisions: [Phrase] = {
        let decision = "Docs/Decisions/0025-cache-on-disk.md"
        let stored = ResponseCache.Configuration()
        return [
            Phrase(decision, "bodies of up to \(mebibytes(stored.maximumEntryBytes))"),
            Phrase(
                decision,
                "(\(mebibytes(stored.maximumBytes)) in total; \(mebibytes(stored.maximumEntryBytes)) for a response)"),
            Phrase(decision, "on \(word(CacheThreads.count)) threads of the cache"),
            Phrase(decision, "If \(mebibytes(EntryWriter.queueLimit)) of a body waits for the disk"),
        ]
    }()

    private static let imageDecisions: [Phrase] = {
        let colors = "Docs/Decisions/0038-color.md"
        let base = LosslessTables.limit(compressedBytes: 0)
        let perByte = LosslessTables.limit(compressedBytes: 1) - base
        return [
            Phrase(colors, "larger than \(mebibytes(ColorSource.maximumProfileBytes))"),
            Phrase(colors, "may hold \(mebibytes(ColorProfileHandle.maximumBytes))"),
            Phrase(
                "Docs/Decisions/0030-memory.md",
                "\(mebibytes(base)) and \(perByte) bytes for each compressed byte, at most "
                    + mebibytes(LosslessTables.maximumBytes)),
        ]
    }()

    private static let memoryCache = configuration.maximumMemoryCacheBytes

    private static func word(_ number: Int) -> String {
        let words = [1: "one", 3: "three", 4: "four", 5: "five", 6: "six", 8: "eight", 10: "ten", 16: "sixteen"]
        return words[number] ?? String(number)
    }

    private static func version(_ version: TLSOptions.Version) -> String { version == .tls12 ? "TLS 1.2" : "TLS 1.3" }

    private static func range(_ statuses: ClosedRange<Int>) -> String {
        "\(statuses.lowerBound) to \(statuses.upperBound)"
    }

    private static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded()))%" }

    private static func grouped(_ number: Int) -> String {
        let digits = String(number)
        return digits.count > 3 ? "\(digits.dropLast(3)),\(digits.suffix(3))" : digits
    }

    private static func mebibytes(_ bytes: Int) -> String { "\(bytes >> 20) MiB" }

    private static func kibibytes(_ bytes: Int) -> String { "\(bytes >> 10) KiB" }

    private static func minutes(_ time: Duration?) -> String {
        time.map { "\(word(Int($0 / .seconds(60)))) minutes" } ?? "no limit"
    }

    private static func seconds(_ time: Duration?) -> String {
        guard let time else { return "no limit" }
        let tenths = Int(time / .milliseconds(100))
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
