import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// The number of bytes that the cache reads and writes: of a body, no more than is served; otherwise, only heads.
@Suite(.timeLimit(.minutes(2)))
struct CacheTrafficTests {
    private let time = ManualTime()
    /// A body of 8.4 MB.
    private let body = [UInt8](repeating: 0x5A, count: 8_400_000)
    /// A number of bytes that exceeds the region for the heads of one entry.
    private let heads = 2_100

    /// Calls `body` with an origin, and a folder in which its response for `/a` is stored, fresh for a minute.
    private func withStored(_ body: (LoopbackOrigin, String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                origin.route("/a", .init(status: 304, headerFields: ["ETag": "\"a\"", "Cache-Control": "max-age=60"]))
                let cache = try ResponseCache.test(folder, time)
                let request = TransportRequest(url: try HTTPURL(origin.url("/a")))
                let response = HTTPResponse(
                    status: .ok, headerFields: [.eTag: "\"a\"", .cacheControl: "max-age=60"])
                let head = StoredHead(response, to: request, requestedAt: time.now, receivedAt: time.now)
                let writer = EntryWriter(head, CachedResource(request), cache: cache)
                for start in stride(from: 0, to: self.body.count, by: 1 << 20) {
                    await writer.append(Array(self.body[start..<min(start + 1 << 20, self.body.count)]))
                }
                await writer.commit()
                try await body(origin, folder)
            }
        }
    }

    /// Loads `/a` with a cache and loader of its own.
    private func load(_ origin: LoopbackOrigin, _ folder: String, _ traffic: FileIOStatistics) async throws
        -> ResponseBody
    {
        var configuration = ImageLoader.Configuration.patient
        let cache = try ResponseCache.test(folder, time, traffic: traffic)
        configuration.responseCache = cache
        let loader = ImageLoader(configuration: configuration)
        let data = try await loader.data(for: ImageRequest(origin.url("/a")))
        await loader.coordinator.becomesIdle()
        await cache.settles()
        return data
    }

    @Test func aFreshResponseIsReadOnce() async throws {
        try await withStored { origin, folder in
            let traffic = FileIOStatistics()
            let data = try await load(origin, folder, traffic)
            #expect(data.bytes == body && data.source == .disk)
            #expect((body.count..<body.count + heads).contains(traffic.bytesRead))
            #expect(traffic.bytesWritten == 0)
            #expect(origin.counts.totalRequests == 0)
        }
    }

    @Test func aResponseThatHasNotChangedIsReadOnceAndItsBodyNotWritten() async throws {
        try await withStored { origin, folder in
            time.advance(by: 61)
            let traffic = FileIOStatistics()
            let data = try await load(origin, folder, traffic)
            #expect(data.bytes == body && data.source == .revalidated)
            #expect((body.count..<body.count + 3 * heads).contains(traffic.bytesRead))
            #expect((1..<heads).contains(traffic.bytesWritten))
            #expect(origin.counts.totalRequests == 1)
            // From now on, the renewed head is used.
            let again = try await load(origin, folder, FileIOStatistics())
            #expect(again.bytes == body && again.source == .disk)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func expiredEntriesAreFoundWithoutReadingBodies() async throws {
        try await withStored { _, folder in
            let traffic = FileIOStatistics()
            let cache = try ResponseCache.test(folder, time, traffic: traffic)
            #expect(cache.byteCount > body.count)
            await cache.removeExpired()
            #expect(cache.byteCount > body.count)
            time.advance(by: 61)
            await cache.removeExpired()
            #expect(cache.byteCount == 0)
            #expect((1..<2 * heads).contains(traffic.bytesRead) && traffic.bytesWritten == 0)
        }
    }
}
