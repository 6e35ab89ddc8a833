import HTTPTransport
import HTTPTypes
import TestSupport
import Testing
import Threading

@testable import ResponseCache

/// A body that is passed on unchanged, and stored while it is read.
@Suite(.timeLimit(.minutes(1)))
struct StoringBodyTests {
    private let url = "http://example.com/a"
    private let time = ManualTime()
    private let piece = [UInt8](repeating: 7, count: 20_000)
    private let lost = TransportError(url: "http://example.com/a", reason: .connectionLost)

    /// Runs `check` with a cache in each storage.
    private func withCaches(_ check: (ResponseCache) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            for storage in TestStorage.allCases { try await check(try storage.cache(folder, time)) }
        }
    }

    private func storing(_ source: TestSource, in cache: ResponseCache) throws -> StoringBody {
        let request = TransportRequest(url: try HTTPURL(url))
        let response = HTTPResponse(status: .ok, headerFields: [.eTag: "\"a\"", .cacheControl: "max-age=60"])
        let head = StoredHead(response, to: request, requestedAt: time.now, receivedAt: time.now)
        return StoringBody(source, by: EntryWriter(head, CachedResource(request), cache: cache))
    }

    /// The length of the beginning that is kept, if there is one.
    private func kept(_ cache: ResponseCache) async throws -> Int? {
        let request = TransportRequest(url: try HTTPURL(url))
        await cache.settles()
        return await cache.thread.run { cache.find(.part, request, CachedResource(request))?.body.length }
    }

    @Test func aBodyIsStoredWhenItsEndIsRead() async throws {
        try await withCaches { (cache) async throws in
            let body = try storing(TestSource([piece, [1, 2]]), in: cache)
            #expect(try await body.next() == piece)
            #expect(try await body.next() == [1, 2])
            #expect(try await cache.stored(url) == nil)
            #expect(try await body.next() == nil)
            #expect(try await cache.stored(url) == piece + [1, 2])
        }
    }

    @Test func interruptedBodyIsKeptAsPart() async throws {
        try await withCaches { (cache) async throws in
            func read() async throws { _ = try await storing(TestSource([piece], then: lost), in: cache).bytes() }
            await #expect(throws: TransportError.self) { try await read() }
            #expect(try await cache.stored(url) == nil)
            #expect(try await kept(cache) == piece.count)
        }
    }

    @Test func releasedBodyIsKeptAsPart() async throws {
        try await withCaches { (cache) async throws in
            func readBeginning() async throws {
                #expect(try await storing(TestSource([piece, piece]), in: cache).next() == piece)
            }
            try await readBeginning()
            #expect(try await cache.stored(url) == nil)
            #expect(try await kept(cache) == piece.count)
        }
    }

    /// While the disk is blocked, no more is read than the writer can hold.
    @Test func aBodyWaitsForASlowDiskAndIsStoredWhole() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time, maximumBytes: 1 << 30, maximumEntryBytes: 1 << 30)
            let request = TransportRequest(url: try HTTPURL(url))
            let head = StoredHead(HTTPResponse(status: .ok), to: request, requestedAt: time.now, receivedAt: time.now)
            let writer = EntryWriter(head, CachedResource(request), cache: cache)
            let large = [UInt8](repeating: 1, count: 256 << 10)
            let held = HeldCache(cache)
            let pulling = Task {
                let body = StoringBody(TestSource([[UInt8]](repeating: large, count: 200)), by: writer)
                var most = 0
                while try await body.next() != nil { most = max(most, writer.waitingBytes) }
                return most
            }
            while writer.waitingBytes < EntryWriter.queueLimit, !Task.isCancelled { await Task.yield() }
            #expect(writer.waitingBytes < EntryWriter.queueLimit + large.count)
            held.release()
            #expect(try await pulling.value < EntryWriter.queueLimit + large.count)
            #expect(try await cache.stored(url)?.count == 50 << 20)
            #expect(writer.waitingBytes == 0)
        }
    }
}
