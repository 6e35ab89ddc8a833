import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import ResponseCache

/// A stored body is read off the cooperative pool, piece by piece.
@Suite(.timeLimit(.minutes(1)))
struct StoredSourceTests {
    private let url = "http://example.com/a"
    private let body = [UInt8](repeating: 13, count: StoredBody.maximumShortLength + 100_000)

    /// Runs `check` with the stored body, in memory and in a folder.
    private func withSource(_ check: (ResponseCache, StoredSource) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            for directory in [nil, folder] {
                let cache = try ResponseCache.test(directory, ManualTime())
                try await cache.store(body, url)
                try await check(cache, try await source(cache))
            }
        }
    }

    private func source(_ cache: ResponseCache) async throws -> StoredSource {
        let request = TransportRequest(url: try HTTPURL(url))
        let stored = await cache.thread.run { cache.find(.whole, request, CachedResource(request)) }
        return StoredSource(try #require(stored), in: cache)
    }

    @Test(arguments: [true, false]) func storedBodyIsReadToItsEnd(ahead: Bool) async throws {
        try await withSource { _, source in
            if ahead { try await source.readAhead() }
            #expect(try await source.bytes() == body)
            #expect(try await source.next() == nil)
        }
    }

    @Test func canceledTaskReadsNoMoreOfAStoredBody() async throws {
        try await withSource { cache, _ in
            let task = Task {
                let source = try await self.source(cache)
                try await source.readAhead()
                await untilCancelled()
                _ = try await source.next()
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func damagedStoredBodyEndsEarlyAndIsRemoved() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, ManualTime())
            try await cache.store(body, url)
            let name = try #require(try cacheFiles(folder).first)
            let path = URL(fileURLWithPath: "\(folder)/\(name)")
            var file = try Data(contentsOf: path)
            file[5_000] ^= 1
            try file.write(to: path)
            let source = try await source(cache)
            await #expect(throws: StoredBodyError.damaged) { try await source.bytes() }
            #expect(try cacheFiles(folder) == [])
        }
    }

    private func untilCancelled() async {
        let (events, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in events {}
        continuation.finish()
    }
}
