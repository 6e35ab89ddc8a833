import Foundation
import HTTPSemantics
import HTTPTransport
import HTTPTypes
import TestSupport
import Testing
import Threading

@testable import ResponseCache

/// A 304 gives an entry a new head beside the old one; its body is unchanged.
@Suite(.timeLimit(.minutes(5)))
struct UpdatedHeadTests {
    private let url = "http://example.com/a.png"
    private let body = [UInt8](repeating: 7, count: 100_000)
    private let time = ManualTime()

    private func data(_ folder: String, _ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
    }

    /// Renews the entry of ``url`` by a 304 with these fields.
    private func renew(_ cache: ResponseCache, _ fields: HTTPFields = [.cacheControl: "max-age=60"]) async throws {
        let request = TransportRequest(url: try HTTPURL(url), headerFields: [.accept: "image/png"])
        let resource = CachedResource(request)
        await cache.thread.run { [time] in
            guard let stored = cache.find(.whole, request, resource) else { return }
            let head = stored.head.updated(
                by: HTTPResponse(status: .notModified, headerFields: fields), to: request, requestedAt: time.now,
                receivedAt: time.now)
            _ = cache.update(stored, to: head, resource)
        }
    }

    /// Returns the stored response for ``url``, without its body.
    private func head(_ cache: ResponseCache) async throws -> StoredHead? {
        let request = TransportRequest(url: try HTTPURL(url), headerFields: [.accept: "image/png"])
        return await cache.thread.run { cache.find(.whole, request, CachedResource(request))?.head }
    }

    /// Calls `body` with an entry that has been renewed an hour after it was stored, and what was written for that.
    private func withRenewed(
        _ check: (ResponseCache, String, _ entry: String, FileIOStatistics) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let traffic = FileIOStatistics()
            let cache = try ResponseCache.test(folder, time, traffic: traffic)
            try await cache.store(body, url)
            let entry = try #require(try cacheFiles(folder).first)
            let before = (try data(folder, entry), traffic.bytesWritten)
            time.advance(by: 3_600)
            try await renew(cache)
            #expect(try cacheFiles(folder) == [entry])
            let after = try data(folder, entry)
            #expect(after.count == before.0.count && after.suffix(body.count) == before.0.suffix(body.count))
            #expect((1..<1_000).contains(traffic.bytesWritten - before.1))
            try await check(cache, folder, entry, traffic)
        }
    }

    @Test func anotherProcessFindsTheRenewal() async throws {
        try await withRenewed { cache, folder, _, _ in
            let other = try ResponseCache.test(folder, time)
            #expect(try await head(other)?.receivedAt == time.now)
            #expect(try await other.stored(url) == body)
            #expect(other.byteCount == cache.byteCount && other.byteCount > body.count)
        }
    }

    @Test func renewalWithoutDateAndAgeMakesTheEntryFreshAgain() async throws {
        let cache = try ResponseCache.test(nil, time)
        // Two days before the time of the test.
        let date = "Fri, 07 Sep 2001 01:46:40 GMT"
        try await cache.store(body, url, [.cacheControl: "max-age=60", .date: date, .age: "172800"])
        let stored = try #require(try await head(cache))
        #expect(!stored.freshness.isFresh(at: time.now))
        try await renew(cache)
        let renewed = try #require(try await head(cache))
        #expect(renewed.freshness.remaining(at: time.now) == 60)
    }

    @Test func newestRenewedHeadIsUsed() async throws {
        try await withRenewed { cache, folder, _, _ in
            let count = cache.byteCount
            for _ in 0..<5 {
                time.advance(by: 10)
                try await renew(cache)
                #expect(try await head(cache)?.receivedAt == time.now)
            }
            #expect(cache.byteCount == count)
            #expect(try cacheFiles(folder).count == 1)
        }
    }

    /// Simulates a process that was killed while it wrote the renewal.
    @Test func previousHeadIsUsedIfItsRenewalIsDamaged() async throws {
        try await withRenewed { cache, folder, entry, _ in
            let whole = try data(folder, entry)
            let slot = 64 + (EntryFile.usualRegionLength - 64) / 2
            let end = slot + 16 + (try #require(try await head(cache))).bytes.count
            for index in stride(from: slot, to: end, by: 3) {
                for bytes in [[whole[index] ^ 0x41], [UInt8](repeating: 0, count: end - index)] {
                    var damaged = whole
                    damaged.replaceSubrange(index..<index + bytes.count, with: bytes)
                    if damaged == whole { continue }
                    try damaged.write(to: URL(fileURLWithPath: "\(folder)/\(entry)"))
                    #expect(try await head(cache)?.receivedAt == time.now - 3_600, "byte \(index)")
                }
            }
            #expect(try await cache.stored(url) == body)
            try await renew(cache)
            #expect(try await head(cache)?.receivedAt == time.now)
        }
    }

    @Test func renewalOfAReplacedEntryIsIgnored() async throws {
        try await withRenewed { cache, _, _, _ in
            let request = TransportRequest(url: try HTTPURL(url))
            let resource = CachedResource(request)
            let old = try #require(await cache.thread.run { cache.find(.whole, request, resource) })
            time.advance(by: 10)
            try await cache.store([1, 2, 3], url)
            let head = old.head.updated(
                by: HTTPResponse(status: .notModified), to: request, requestedAt: 0, receivedAt: 0)
            await cache.thread.run { _ = cache.update(old, to: head, resource) }
            #expect(try await self.head(cache)?.receivedAt == time.now)
            #expect(try await cache.stored(url) == [1, 2, 3])
        }
    }

    @Test(arguments: [TestStorage.folder, .memory])
    func renewalByAnEarlierRequestDoesNotReplaceThatByALaterOne(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store(body, url)
            let request = TransportRequest(url: try HTTPURL(url), headerFields: [.accept: "image/png"])
            let resource = CachedResource(request)
            let old = try #require(await cache.thread.run { cache.find(.whole, request, resource) })
            let sentAt = time.now + 10
            time.advance(by: 20)
            try await renew(cache)
            let slow = old.head.updated(
                by: HTTPResponse(status: .notModified, headerFields: [.cacheControl: "max-age=6000"]), to: request,
                requestedAt: sentAt, receivedAt: time.now + 10)
            await cache.thread.run { _ = cache.update(old, to: slow, resource) }
            let renewed = try #require(try await head(cache))
            #expect(renewed.requestedAt == time.now && renewed.freshness.remaining(at: time.now) == 60)
        }
    }

    /// Otherwise the entry would be validated again and again until that time.
    @Test(arguments: [TestStorage.folder, .memory])
    func renewalReplacesOneFromTheFuture(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store(body, url)
            time.advance(by: 10)
            try await renew(cache)
            time.advance(by: -3_600)
            try await renew(cache)
            #expect(try await head(cache)?.receivedAt == time.now)
        }
    }

    /// There is room for a head of up to a kilobyte.
    @Test func entryWhoseNewHeadIsTooLongForItsFileIsWrittenAgain() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            try await cache.store(body, url)
            time.advance(by: 3_600)
            let long = String(repeating: "a", count: 5_000)
            try await renew(cache, [.cacheControl: "no-cache", .contentLocation: long])
            let renewed = try #require(try await head(cache))
            #expect(renewed.fields[.contentLocation] == long && renewed.fields[.cacheControl] == "no-cache")
            #expect(try await cache.stored(url) == body)
            #expect(try cacheFiles(folder).count == 1)
        }
    }

    @Test func aLongHeadHasRoomForItsRenewal() async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            let long = String(repeating: "a", count: 5_000)
            let fields: HTTPFields = [.cacheControl: "max-age=60", .contentLocation: long]
            try await cache.store(body, url, fields)
            time.advance(by: 3_600)
            try await renew(cache, fields)
            #expect(try await head(cache)?.receivedAt == time.now)
            #expect(try await cache.stored(url) == body)
        }
    }

    @Test func unstorableRenewalRemovesTheEntry() async throws {
        for fields: HTTPFields in [[.cacheControl: "no-store"], [.vary: "*"]] {
            try await withRenewed { cache, folder, _, _ in
                try await renew(cache, fields)
                #expect(try cacheFiles(folder) == [])
                #expect(cache.byteCount == 0)
            }
        }
    }

    @Test func renewalWithOtherVaryRenamesTheFilesOfTheEntry() async throws {
        try await withRenewed { cache, folder, entry, _ in
            try await renew(cache, [.vary: "Accept"])
            let names = try cacheFiles(folder)
            #expect(names.count == 2 && !names.contains(entry))
            #expect(cache.entryCount == 1)
            #expect(try await cache.stored(url, to: [.accept: "image/png"]) == body)
            #expect(try await cache.stored(url, to: [.accept: "image/gif"]) == nil)
            let other = try ResponseCache.test(folder, time)
            #expect(try await other.stored(url, to: [.accept: "image/png"]) == body)
            await other.remove(url)
            #expect(try cacheFiles(folder) == [] && cache.byteCount == 0)
        }
    }
}
