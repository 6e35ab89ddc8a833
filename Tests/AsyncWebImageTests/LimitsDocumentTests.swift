import Foundation
import ImageEncoders
import Testing

@testable import AsyncWebImage
@testable import HTTPTransport
@testable import ImageCodecs
@testable import ResponseCache

/// Docs/Limits.md states the limits of the code, both those with a property and the fixed ones.
struct LimitsDocumentTests {
    /// The defaults of the code by the property that a row names, as the document writes them.
    private static let defaults: [String: String] = {
        let configuration = ImageLoader.Configuration()
        let downloads = configuration.downloads
        let retry = downloads.retry as? ExponentialBackoff
        let stored = ResponseCache.Configuration()
        let limits = DecodeLimits()
        return [
            "AnimationEncoder(maximumBytes:)": bytes(AnimationEncoder.defaultMaximumBytes),
            "ThreadedResolver(maximumLookups:)": count(LookupThreads(openFileLimit: 1_024).maximum),
            "maximumConcurrentDownloads": count(downloads.maximumConcurrentDownloads),
            "maximumConcurrentDownloadsPerHost": count(downloads.maximumConcurrentDownloadsPerHost),
            "maximumConnectionsPerHost": count(downloads.maximumConnectionsPerHost),
            "maximumWaitingDownloads": count(downloads.maximumWaitingDownloads),
            "maximumQueueTime": seconds(downloads.maximumQueueTime),
            "deadlines.lookup": seconds(downloads.deadlines.lookup),
            "deadlines.connect": seconds(downloads.deadlines.connect),
            "deadlines.firstByte": seconds(downloads.deadlines.firstByte),
            "deadlines.idle": seconds(downloads.deadlines.idle),
            "deadlines.total": seconds(downloads.deadlines.total),
            "ExponentialBackoff.maximumAttempts": count(retry?.maximumAttempts),
            "ExponentialBackoff.base": seconds(retry?.base),
            "ExponentialBackoff.maximumDelay": seconds(retry?.maximumDelay),
            "ExponentialBackoff.maximumRetryAfter": seconds(retry?.maximumRetryAfter),
            "maximumRedirects": count(downloads.maximumRedirects),
            "maximumBodyBytes": bytes(downloads.maximumBodyBytes),
            "maximumReplayBytes": bytes(downloads.maximumReplayBytes),
            "maximumBytesInFlight": bytes(downloads.maximumBytesInFlight),
            "twice maximumBytesInFlight": bytes(2 * downloads.maximumBytesInFlight),
            "maximumResumableBytes": bytes(downloads.maximumResumableBytes),
            "CurlTransport.Configuration.maximumIdleConnections":
                "as many as open ones, at most \(count(CurlTransport.Configuration.defaultIdleConnections))",
            "ImageLoader.Configuration.maximumMemoryCacheBytes": bytes(configuration.maximumMemoryCacheBytes),
            "ResponseCache.Configuration.maximumBytes": bytes(stored.maximumBytes),
            "ResponseCache.Configuration.maximumEntryBytes": bytes(stored.maximumEntryBytes),
            "maximumPixels": count(limits.maximumPixels),
            "maximumSide": count(limits.maximumSide),
            "maximumBytes": bytes(limits.maximumBytes),
            "maximumScans": count(limits.maximumScans),
            "maximumFrames": count(limits.maximumFrames),
            "maximumWork": count(limits.maximumWork),
            "maximumHeaderBytes": bytes(limits.maximumHeaderBytes),
            "DecodeLimits.maximumHeaderBytes": bytes(limits.maximumHeaderBytes),
            // Of a module with a trait.
            "SVGFormat.timeLimit": "20 s",
        ]
    }()

    /// The fixed limits by the first column of their rows, except for those of the command.
    private static let fixed: [String: String] = [
        "memory for a body that is allocated because of its declared length, before any of the body has been received":
            bytes(BodyBuffer.trustedLength),
        "memory for a body that is allocated because of its declared length, once a part but less than "
            + "\(bytes(2 * BodyBuffer.trustedLength)) of it has been received, relative to the received bytes; only these count "
            + "as memory for bodies": "\(BodyBuffer.growth) times",
        "bytes that wait between a transfer and its task, with hooks or a response cache; the task can hold as many again":
            bytes(BodyPipe.highWater),
        "number of partial bodies kept in memory": count(InterruptedBodies.maximumCount),
        "memory of finished bodies that is kept for later ones": bytes(BufferPool.Limits.bodies().byteCount),
        "time after which unused memory of finished bodies, and of pixels, is released; up to twice this time":
            seconds(BufferPool.idleTime),
        "memory of released pixels that is kept for later images: half of that of all decodes, at most":
            bytes(BufferPool.Limits.pixels(memoryBudget: .max).byteCount),
        "bytes that a transfer receives before its readers have read them": bytes(Backpressure.highWater),
        "bytes that must arrive before a waiting decoder is resumed: 1/32 of the body, at most":
            bytes(BodyBuffer.maximumBatch),
        "bytes of a body that are waiting when its transfer pauses until a `ResponseValidator` has accepted the head; one "
            + "more read of up to 60 KiB can precede the pause": bytes(BodyPipe.undecidedHighWater),
        "bytes that a transfer for `info(for:)` receives before they are read; one more read of up to 60 KiB can precede "
            + "the pause with hooks or a response cache, which stores nothing of such a body":
            bytes(Backpressure.limitedReadAhead),
        "bytes received but not yet read by a consumer of `bytes(for:)`, if the body is too large to be kept":
            bytes(Backpressure.highWater),
        "hosts that are known to speak HTTP/2; with more, all of them are learned again":
            count(MultiplexedHosts.maximumCount),
        "hosts without running transfers for which a thread is remembered": count(TransferAssignment.maximumKeys),
        "bytes of a response head, with interim responses and trailers": bytes(ResponseHeadParser.limit),
        "lines of a response head": count(ResponseHeadParser.maximumLines),
        "body of a redirect or challenge that is read so that its connection can be reused":
            "\(bytes(ActiveTransfer.maximumDiscardBytes)), \(milliseconds(TransferClock.maximumDiscardTime))",
        "CPU time of one call of libcurl that reads \(bytes(Int(FloodJudge.minimumBytes))) or more from a connection "
            + "but delivers nothing": milliseconds(FloodJudge.maximumCallTime),
        "time for which a body can be delivered before other transfers get a turn":
            milliseconds(ShareClock.maximum),
        "bytes received on a connection of libcurl without TLS that belong to no header line and no body":
            bytes(Int(StalledReadDetector.limit)),
        "bytes received in TLS without a byte of HTTP": bytes(RawSocket.maximumFruitless),
        "bytes received in HTTP/2 without a response head, a part of a body, or the end of a stream, apart from the "
            + "remainders of streams that have been given up": bytes(HTTP2Session.maximumUnproductiveBytes),
        "answers that an HTTP/2 server requests and does not read": count(HTTP2Session.maximumAnswers),
        "bytes before a chunk of a body in HTTP/1.1, with extensions": bytes(HTTP1ResponseReader.maximumChunkLine),
        "content codings of one body that are decoded; with more, it is delivered as it is":
            count(ContentCoding.maximumCount),
        "buffer for the decoded bytes of one coding": bytes(ContentDecoder.bufferSize),
        "bytes received on a connection before others get a turn": bytes(ConnectionPool.bytesPerTurn),
        "bytes of TLS that one call of OpenSSL can read": bytes(RawSocket.maximumTurn),
        "bytes of a large body in HTTP/1.1 that stay unread, and the time for which they do":
            "\(bytes(ReceiveCoalescing.sufficientCount)), \(milliseconds(ReceiveCoalescing.maximumDelay))",
        "streams at a time on an HTTP/2 connection; fewer if the server requires it":
            count(HTTP2Session.maximumStreams),
        "window of an HTTP/2 stream, at first and after a body has been read without delay":
            "\(bytes(HTTP2StreamWindow.initialSize)), \(bytes(HTTP2StreamWindow.maximumSize))",
        "request in HTTP/2, if the server does not accept less; each field counts 32 bytes more":
            bytes(HTTP2Session.maximumRequestSize),
        "time after ENHANCE_YOUR_CALM for which no further connection to the server is opened, and servers for which "
            + "this is remembered by each thread":
            "\(milliseconds(CalmPeriods.duration)), \(count(CalmPeriods.maximumServers))",
        "window of an HTTP/2 connection": bytes(HTTP2Session.connectionWindow),
        "repetitions of a request that the server refuses without processing it": count(ActiveTransfer.maximumRefusals),
        "messages of callers and transfers that a transport's thread handles before it serves connections again":
            count(CoordinatorExecutor.maximumMessagesOnTransport),
        "time after which an idle connection is closed": seconds(Connection.maximumIdleTime),
        "servers that are remembered because they do not share connections by HTTP/2, by each thread; with more, all of "
            + "them are learned again": count(ConnectionGate.maximumServers),
        "servers that require HTTP/1.1 although they negotiate HTTP/2, by each thread, and the time for which they are "
            + "remembered; with more, all of them are learned again":
            "\(count(HTTP1Requirements.maximumServers)), \(hours(HTTP1Requirements.period))",
        "servers whose TLS session is kept by each thread, and the time for which it is":
            "\(count(TLSSessions.defaultLimit)), \(hours(.seconds(TLSContext.sessionLifetime)))",
        "time after which each thread reads the certificate authorities again": hours(TrustStore.lifetime),
        "hosts in the DNS cache, and addresses of each":
            "\(count(DNSCache.maximumEntries)), \(count(DNSCache.maximumAddresses))",
        "initial threads for name lookups": count(LookupThreads(openFileLimit: 1_024).initial),
        "bytes of one response that wait to be written, before its transfer waits": bytes(EntryWriter.queueLimit),
        "part of an interrupted body that a killed process loses, in addition to what waits to be written":
            bytes(EntryDraft.checkpointInterval),
        "stored body that is read at once; longer ones are read in pieces": bytes(StoredBody.maximumShortLength),
        "threads of a cache for reading and writing": count(CacheThreads.count),
        "cache lookups at a time, including responses that are being served":
            count(DownloadMachine.maximumConcurrentLookups),
        "time for which a change of a cache in a folder waits for another process that changes the same part of it; the "
            + "response is then not stored": seconds(EntryFolder.maximumLockTime),
        "waiting downloads of the priority `low`; when this number is reached, stale responses are returned without "
            + "starting a background revalidation (`stale-while-revalidate`)":
            count(DownloadMachine.maximumWaitingRefreshes),
        "responses stored for one URL that differ by `Vary`": count(ResponseCache.maximumVariants),
        "time for which a cache does not use an entry that is damaged and cannot be removed, or whose body could not "
            + "be read to its end": seconds(.seconds(SkippedEntries.lifetime)),
        "damaged or unreadable entries that a cache remembers; with more, it forgets all of them and tries them again":
            count(SkippedEntries.maximumCount),
        "time for which a decode that waits for bytes holds memory that others wait for, if its body can be read "
            + "again; up to twice this time": seconds(ImageDecoder.recallTime),
        "images in an ICO": count(IconDirectory.maximumCount),
        // Of modules with traits.
        "pixels of an image inside of a HEIC file, beside the declared ones": "a quarter, 64 on each side, and 266,240",
        "pixels of all tiles of a HEIC file": "32 times the declared ones, and 67,108,864",
        "parts of an item of a HEIC file": "32",
        "thumbnails of a HEIC file that are looked at": "8",
        "pixels of a frame of a JPEG XL": "those of the image, and at least 1,048,576",
        "pixels of the frames of a JPEG XL that are not shown; 16,384 more count for each, and twice the image is added "
            + "for each shown frame": "32 times the image, and 67,108,864",
        "memory for frames of a JPEG XL at a time": "twice that for the image, and 32 MiB",
        "segments of metadata in a JPEG that is restored from JPEG XL": "1,024",
        "color profile of a JPEG XL; a file with a larger one is not decoded": "4 MiB",
        "processor time for an SVG, and memory": "10 s, and 96 MiB plus 64 bytes per pixel",
        "declared size of an SVG; larger ones are reduced in proportion": "32,767 pixels per side, and 256 megapixels",
        "bytes to which all strips or tiles of a TIFF decode, with samples that are not used":
            "256 MiB plus 64 bytes per pixel",
        "color profile": bytes(ColorSource.maximumProfileBytes),
        "memory that Little CMS allocates for a color conversion": bytes(ColorProfileHandle.maximumBytes),
        "tables of a lossless WebP image, frame, or alpha channel; part of the memory for its decode":
            tableLimit,
    ]

    /// The limit for the tables of a lossless WebP image, as the document writes it.
    private static let tableLimit: String = {
        let base = LosslessTables.limit(compressedBytes: 0)
        let perByte = LosslessTables.limit(compressedBytes: 1) - base
        return "\(bytes(base)) plus \(perByte) bytes per compressed byte, at most \(bytes(LosslessTables.maximumBytes))"
    }()

    /// Properties whose default depends on the machine, or is stated by another test.
    private static let computed: Set<String> = [
        "CurlTransport.Configuration.maximumConnections", "CurlTransport.Configuration.threadCount",
        "ImageDecoder.Configuration.memoryBudget",
        "ImageDecoder.Configuration.maximumDecodeBytes", "ImageDecoder.Configuration.threadCount",
        "AnimationDecoder.init(_:windowBytes:)", "--memory-limit", "--max-work",
    ]

    @Test func everyLimitWithAPropertyIsDocumentedWithItsDefault() throws {
        let rows = try Self.rows(of: Self.document())
        #expect(rows.count > 25)
        for (property, text) in rows where !Self.computed.contains(property) {
            let expected = try #require(Self.defaults[property], "no default is known for \(property)")
            #expect(text == expected || text.hasPrefix(expected + " "), "\(property)")
        }
    }

    @Test func everyDefaultLimitIsDocumented() throws {
        let stated = Set(try Self.rows(of: Self.document()).map(\.property))
        #expect(stated == Self.computed.union(Self.defaults.keys))
    }

    @Test func everyFixedLimitIsDocumentedWithItsConstant() throws {
        let library = try #require(try Self.document().components(separatedBy: "## `webimage get`").first)
        let rows = Self.cells(of: library).filter { $0[2].isEmpty }
        #expect(Set(rows.map { $0[0] }) == Set(Self.fixed.keys))
        for row in rows { #expect(row[1] == Self.fixed[row[0]], "\(row[0])") }
    }

    @Test func animationDecoderKeepsTheDocumentedNumberOfFrames() throws {
        let text = try #require(
            try Self.rows(of: Self.document()).first { $0.property.hasPrefix("AnimationDecoder") }?.text)
        let window = try AnimationDecoder(AnimatedImage(Samples.file(.png))).window
        #expect(text == "\(Self.bytes(window.limit)), at most \(FrameWindow.maximumCount) frames")
    }

    private static func document(file: String = #filePath) throws -> String {
        let root = URL(filePath: file).deletingLastPathComponent().appending(path: "../..")
        return try String(contentsOf: root.appending(path: "Docs/Limits.md"), encoding: .utf8)
    }

    /// The rows of all tables with three columns.
    private static func cells(of document: String) -> [[String]] {
        document.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return line.hasPrefix("|") && cells.count == 3 && cells[0] != "limit" && !cells[0].hasPrefix("---")
                ? cells : nil
        }
    }

    /// The rows that name a property, with their defaults.
    private static func rows(of document: String) -> [(property: String, text: String)] {
        cells(of: document).compactMap { cells in
            let names = cells[2].split(separator: "`", omittingEmptySubsequences: false).map(String.init)
            guard names.count >= 3 else { return nil }
            let property = names.count >= 5 ? names[3] : names[0] + names[1]
            return (property, cells[1])
        }
    }

    private static func count(_ value: Int?) -> String {
        guard let value else { return "none" }
        var digits = String(value)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return ([digits] + groups).joined(separator: ",")
    }

    private static func bytes(_ value: Int) -> String {
        value % (1 << 20) == 0 ? "\(count(value >> 20)) MiB" : "\(count(value >> 10)) KiB"
    }

    private static func milliseconds(_ value: Duration) -> String {
        "\(value.components.seconds * 1_000 + value.components.attoseconds / 1_000_000_000_000_000) ms"
    }

    private static func hours(_ value: Duration) -> String { "\(value.components.seconds / 3_600) h" }

    private static func seconds(_ value: Duration?) -> String {
        guard let value else { return "none" }
        let (seconds, attoseconds) = value.components
        let tenths = attoseconds / 100_000_000_000_000_000
        return tenths == 0 ? "\(seconds) s" : "\(seconds).\(tenths) s"
    }
}
