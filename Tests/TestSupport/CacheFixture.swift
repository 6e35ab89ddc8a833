import Foundation
import HTTPTransport
package import HTTPTypes
package import ResponseCache
import Threading

/// A time that stands still until a test moves it, in seconds.
package final class ManualTime: Sendable {
    private let seconds = Locked(1_000_000_000)

    package init() {}

    package var now: Int { seconds.withLock { $0 } }

    package func advance(by count: Int) { seconds.withLock { $0 += count } }
}

extension ResponseCache {
    /// A cache whose time a test moves.
    package static func test(
        _ directory: String?, _ time: ManualTime, maximumBytes: Int = 64 << 20, maximumEntryBytes: Int = 16 << 20,
        traffic: FileIOStatistics? = nil
    ) throws -> ResponseCache {
        try ResponseCache(
            Configuration(directory: directory, maximumBytes: maximumBytes, maximumEntryBytes: maximumEntryBytes),
            traffic: traffic,
            now: { time.now })
    }

    /// Returns when everything has been done that was to be done.
    package func settles() async { await finishesWriting() }

    /// Stores a body under a URL.
    package func store(
        _ body: [UInt8], _ url: String, _ fields: HTTPFields = [.cacheControl: "max-age=60"],
        to requestFields: HTTPFields = [:]
    ) async throws {
        let request = TransportRequest(url: try HTTPURL(url), headerFields: requestFields)
        let head = StoredHead(
            HTTPResponse(status: .ok, headerFields: fields), to: request, requestedAt: now(), receivedAt: now())
        let writer = EntryWriter(head, CacheKey(request), cache: self)
        writer.append(body)
        writer.commit()
        await settles()
    }

    /// The body stored under a URL; nil if there is none, or it is damaged.
    package func stored(_ url: String, to requestFields: HTTPFields = [:]) async throws -> [UInt8]? {
        let request = TransportRequest(url: try HTTPURL(url), headerFields: requestFields)
        let body = Locked<[UInt8]?>(nil)
        await thread.run {
            guard let stored = self.find(.whole, request, CacheKey(request)) else { return }
            var bytes: [UInt8] = []
            var reader = StoredBodyReader(stored.body)
            do { while let piece = try reader.next() { bytes += piece } } catch { return }
            body.withLock { $0 = bytes }
        }
        return body.withLock { $0 }
    }
}

/// Runs `body` with the path of a new folder, which is gone afterward.
package func withTemporaryFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let path = NSTemporaryDirectory() + "/async-web-image-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}
