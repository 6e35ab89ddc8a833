import Foundation
import HTTPSemantics
import HTTPTransport
import HTTPTypes
import TestSupport
import Testing
import Threading

@testable import ResponseCache

/// Direct access to the responses of a cache, in a folder and in memory.
@Suite(.timeLimit(.minutes(2)))
struct CacheAccessTests {
    private let time = ManualTime()
    private let url = "http://example.com/a.png"
    private let fresh = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60", .eTag: "\"1\""])

    /// Runs `body` with a cache in each storage.
    private func withCaches(_ body: (ResponseCache) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            for storage in TestStorage.allCases { try await body(try storage.cache(folder, time)) }
        }
    }

    @Test func storedResponseIsFoundByItsURL() async throws {
        try await withCaches { cache in
            #expect(await !cache.contains(url))
            #expect(await cache.store([1, 2, 3], fresh, for: url))
            #expect(await cache.contains(url))
            let stored = try #require(await cache.response(for: url))
            #expect(stored.body == [1, 2, 3])
            #expect(stored.entry.response.headerFields[.eTag] == "\"1\"")
            #expect(stored.entry.isFresh && stored.entry.freshness.remaining == .seconds(60))
            time.advance(by: 70)
            let stale = try #require(await cache.response(for: url)?.entry)
            #expect(!stale.isFresh && stale.freshness.remaining == .seconds(-10) && stale.freshness.isStorable)
            #expect(stale.freshness.cacheControl() == "max-age=0")
            await cache.remove(url)
            #expect(await cache.response(for: url) == nil)
        }
    }

    @Test func storedResponseAnswersRequests() async throws {
        try await withCaches { cache in
            await cache.store([1, 2, 3], fresh, for: url)
            let body = try await cache.stored(url)
            #expect(body == [1, 2, 3])
        }
    }

    @Test func responseIsFoundByACacheKeyInsteadOfAURL() async throws {
        try await withCaches { cache in
            #expect(await cache.store([7], fresh, for: "photo 1"))
            #expect(await cache.contains("photo 1"))
            #expect(await !cache.contains("photo 2"))
            #expect(await cache.response(for: "photo 1")?.body == [7])
        }
    }

    @Test func responsesThatMustNotBeStoredAreNot() async throws {
        try await withCaches { cache in
            let secret = HTTPResponse(status: .ok, headerFields: [.cacheControl: "no-store"])
            #expect(await !cache.store([1], secret, for: url))
            #expect(await !cache.store([UInt8](repeating: 0, count: 17 << 20), fresh, for: url))
            #expect(await !cache.store([1], fresh, for: ""))
            #expect(cache.entryCount == 0)
        }
    }

    @Test func entriesDescribeTheirResponses() async throws {
        try await withCaches { cache in
            await cache.store([UInt8](repeating: 1, count: 5_000), fresh, for: url)
            time.advance(by: 20)
            let entries = Locked<[ResponseCache.Entry]>([])
            await cache.forEachEntry { entry in
                entries.withLock { $0.append(entry) }
                return true
            }
            let entry = try #require(entries.withLock { $0.first })
            #expect(entry.url == url)
            #expect(entry.response.status == .ok && entry.response.headerFields[.eTag] == "\"1\"")
            #expect(entry.bodyByteCount == 5_000 && entry.byteCount >= 5_000 && entry.byteCount == cache.byteCount)
            #expect(entry.freshSeconds == 40 && entry.isFresh && !entry.isPartial)
            #expect(entry.freshness.remaining == .seconds(40))
            #expect(entry.receivedAt == time.now - 20)
        }
    }

    @Test func listingStopsWhenTheClosureReturnsFalse() async throws {
        try await withCaches { cache in
            for number in 0..<10 { await cache.store([1], fresh, for: "\(url)?\(number)") }
            let count = Locked(0)
            await cache.forEachEntry { _ in
                count.withLock {
                    $0 += 1
                    return $0 < 3
                }
            }
            #expect(count.withLock { $0 } == 3)
        }
    }

    @Test func matchingResponsesAreRemovedAndCounted() async throws {
        try await withCaches { cache in
            for number in 0..<10 { await cache.store([1], fresh, for: "\(url)?\(number)") }
            #expect(await cache.removeAll { $0.url.hasSuffix("3") || $0.url.hasSuffix("4") } == 2)
            #expect(cache.entryCount == 8)
            #expect(await !cache.contains("\(url)?3"))
        }
    }

    @Test func trimmingRemovesTheLeastRecentlyUsedResponses() async throws {
        try await withCaches { cache in
            for number in 0..<8 {
                await cache.store([UInt8](repeating: 1, count: 10_000), fresh, for: "\(url)?\(number)")
            }
            _ = await cache.response(for: "\(url)?0")
            let half = cache.byteCount / 2
            await cache.trim(to: half)
            #expect(cache.byteCount <= half && cache.entryCount >= 3)
            #expect(await cache.contains("\(url)?0"))
            #expect(await !cache.contains("\(url)?1"))
            #expect(cache.statistics.evictions == 8 - cache.entryCount)
        }
    }

    @Test func responsesOlderThanTheMaximumAgeAreNotUsed() async throws {
        try await withTemporaryFolder { folder in
            for directory in [folder, nil] {
                let cache = try ResponseCache(
                    .init(directory: directory, maximumAge: 30), now: { [time] in time.now })
                await cache.store([1], fresh, for: url)
                time.advance(by: 29)
                #expect(await cache.contains(url))
                time.advance(by: 1)
                #expect(await !cache.contains(url))
                #expect(try await cache.stored(url) == nil)
            }
        }
    }

    @Test func onlyAnExistingCacheIsOpenedWithoutCreatesDirectory() async throws {
        try await withTemporaryFolder { folder in
            let configuration = ResponseCache.Configuration(directory: folder, createsDirectory: false)
            #expect(throws: FileFailure.self) { try ResponseCache(configuration, now: { [time] in time.now }) }
            let cache = try ResponseCache.test(folder, time)
            await cache.store([1], fresh, for: url)
            let again = try ResponseCache(configuration, now: { [time] in time.now })
            #expect(await again.contains(url))
        }
    }

    @Test func verificationCountsAndRemovesDamagedResponses() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            for number in 0..<3 {
                await cache.store([UInt8](repeating: 1, count: 9_000), fresh, for: "\(url)?\(number)")
            }
            let file = try #require(try cacheFiles(folder).first)
            try flipLastByte(of: "\(folder)/\(file)")
            #expect(try await cache.verify() == (2, 1, 0))
            #expect(cache.entryCount == 2)
            #expect(try await cache.verify() == (2, 0, 0))
        }
    }

    @Test func cacheStatisticsCountHitsRevalidationsAndMisses() async throws {
        try await withCaches { cache in
            let request = TransportRequest(url: try HTTPURL(url))
            func lookUp() async throws {
                let request = try #require(CacheRequest(request, policy: .useProtocol))
                await cache.thread.run { cache.record(cache.lookUp(request), request) }
            }
            try await lookUp()
            await cache.store([1], fresh, for: url)
            try await lookUp()
            time.advance(by: 61)
            try await lookUp()
            #expect(
                cache.statistics == ResponseCache.Statistics(hits: 1, revalidations: 1, misses: 1, evictions: 0))
        }
    }
}

/// Changes the last byte of a file.
private func flipLastByte(of path: String) throws {
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    defer { try? handle.close() }
    let end = try handle.seekToEnd()
    try handle.seek(toOffset: end - 1)
    let byte = try #require(try handle.read(upToCount: 1)?.first)
    try handle.seek(toOffset: end - 1)
    try handle.write(contentsOf: [byte ^ 0xFF])
}
