import Foundation
import HTTPTransport
import ImageCodecs
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// Docs/Limits.md states the defaults of the code: each row of its tables that names a property.
struct LimitsDocumentTests {
    /// The defaults of the code by the property that a row names, as the document writes them.
    private static let defaults: [String: String] = {
        let configuration = ImageLoader.Configuration()
        let downloads = configuration.downloads
        let retry = downloads.retry as? ExponentialBackoff
        let stored = ResponseCache.Configuration()
        let limits = DecodeLimits()
        return [
            "maximumConcurrentDownloads": count(downloads.maximumConcurrentDownloads),
            "maximumConcurrentDownloadsPerHost": count(downloads.maximumConcurrentDownloadsPerHost),
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
            "CurlTransport.Configuration.maximumIdleConnections": count(configuration.transport.maximumIdleConnections),
            "ImageLoader.Configuration.maximumMemoryCacheBytes": bytes(configuration.maximumMemoryCacheBytes),
            "ResponseCache.Configuration.maximumBytes": bytes(stored.maximumBytes),
            "ResponseCache.Configuration.maximumEntryBytes": bytes(stored.maximumEntryBytes),
            "maximumPixels": count(limits.maximumPixels),
            "maximumSide": count(limits.maximumSide),
            "maximumBytes": bytes(limits.maximumBytes),
            "maximumScans": count(limits.maximumScans),
            "maximumFrames": count(limits.maximumFrames),
            "maximumAnimationPixels": count(limits.maximumAnimationPixels),
            "maximumHeaderBytes": bytes(limits.maximumHeaderBytes),
        ]
    }()

    /// Properties whose default depends on the machine, or is stated by another test.
    private static let computed: Set<String> = [
        "CurlTransport.Configuration.maximumConnections", "ImageDecoder.Configuration.memoryBudget",
        "ImageDecoder.Configuration.maximumDecodeBytes",
        "AnimationDecoder.init(_:windowBytes:)", "--memory-limit",
    ]

    @Test func everyRowWithAPropertyStatesTheDefaultOfTheCode() throws {
        let rows = try Self.rows()
        #expect(rows.count > 25)
        for (property, text) in rows where !Self.computed.contains(property) {
            let expected = try #require(Self.defaults[property], "no default is known for \(property)")
            #expect(text == expected || text.hasPrefix(expected + " "), "\(property)")
        }
    }

    @Test func everyDefaultOfTheCodeHasARow() throws {
        let stated = Set(try Self.rows().map(\.property))
        #expect(stated == Self.computed.union(Self.defaults.keys))
    }

    /// The rows that name a property, with their defaults.
    private static func rows(file: String = #filePath) throws -> [(property: String, text: String)] {
        let root = URL(filePath: file).deletingLastPathComponent().appending(path: "../..")
        let document = try String(contentsOf: root.appending(path: "Docs/Limits.md"), encoding: .utf8)
        return document.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("|"), cells.count == 3 else { return nil }
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

    private static func seconds(_ value: Duration?) -> String {
        guard let value else { return "none" }
        let (seconds, attoseconds) = value.components
        let tenths = attoseconds / 100_000_000_000_000_000
        return tenths == 0 ? "\(seconds) s" : "\(seconds).\(tenths) s"
    }
}
