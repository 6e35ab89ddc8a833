import HTTPTransport
import HTTPTypes
import Hashing
import TestSupport
import Testing
import Threading

@testable import ResponseCache

/// A cache with a storage made only with the public protocols, of which it expects no more than they say.
@Suite(.timeLimit(.minutes(1)))
struct ResponseStorageTests {
    private struct Broken: Error {}

    private let url = "http://example.com/a"
    private let time = ManualTime()
    private let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    private func cache(_ storage: DictionaryStorage, maximumBytes: Int = 64 << 20) -> ResponseCache {
        ResponseCache(
            ResponseCache.Configuration(maximumBytes: maximumBytes), storage: storage, now: { [time] in time.now })
    }

    private func ask(
        _ cache: ResponseCache, _ policy: CachePolicy, _ origin: TestResponder
    ) async throws -> (source: ResponseSource, body: [UInt8]) {
        let response = try await CachingResponder(cache, policy: policy, before: origin)
            .response(to: TransportRequest(url: try HTTPURL(url), headerFields: [.accept: "image/png"]))
        defer { withExtendedLifetime(response) {} }
        return (response.source, try await response.body.bytes())
    }

    @Test func anotherCacheFindsTheResponsesOfAStorage() async throws {
        let storage = DictionaryStorage()
        try await cache(storage).store(body, url)
        let other = cache(storage)
        #expect(try await other.stored(url) == body)
        #expect(other.source == .disk && other.entryCount == 1 && other.byteCount == storage.byteCount)
        try await other.removeAll()
        #expect(storage.entryCount == 0)
    }

    @Test func theLimitOfTheCacheAppliesToTheStorage() async throws {
        let storage = DictionaryStorage()
        let cache = cache(storage, maximumBytes: 1_000_000)
        for number in 0..<10 {
            try await cache.store(body, url + "\(number)")
            #expect(try await cache.stored(url + "0") != nil)
        }
        #expect(storage.byteCount <= 1_000_000 && storage.entryCount == 3)
        #expect(cache.statistics.evictions == 7)
    }

    @Test func aFullStorageIsTrimmed() async throws {
        let storage = DictionaryStorage(capacity: 1_000_000)
        let cache = cache(storage)
        for number in 0..<10 { try await cache.store(body, url + "\(number)") }
        #expect(try await cache.stored(url + "9") == body)
        #expect(cache.statistics.evictions > 0 && cache.failure == nil)
        try await cache.store([UInt8](repeating: 1, count: 2_000_000), url)
        #expect(try await cache.stored(url) == nil)
        #expect(cache.failure as? ResponseStorageError == .full && storage.openWriters == 0)
    }

    @Test(arguments: [DictionaryStorage.Field.head, .body])
    func damagedEntriesAreRemovedAndNotServed(field: DictionaryStorage.Field) async throws {
        let storage = DictionaryStorage()
        let cache = cache(storage)
        try await cache.store(Array(body[..<1_000]), url)
        storage.damage(field)
        let origin = TestResponder { _ in (.ok, [.cacheControl: "no-store"], [[1]]) }
        let answer = try await ask(cache, .useProtocol, origin)
        #expect(answer.source == .network && answer.body == [1])
        await cache.settles()
        #expect(storage.entryCount == 0)
    }

    @Test func aRenewalReplacesOnlyTheHead() async throws {
        let storage = DictionaryStorage()
        let cache = cache(storage)
        try await cache.store(body, url, [.eTag: "\"a\"", .cacheControl: "max-age=60"])
        let key = try #require(try (0..<2).flatMap(storage.keys(inPortion:)).first)
        let identity = try storage.entry(key)?.head.bodyIdentity
        time.advance(by: 100)
        let origin = TestResponder { _ in (.notModified, [.eTag: "\"a\"", .cacheControl: "max-age=60"], []) }
        for source in [ResponseSource.revalidated, .disk] {
            let answer = try await ask(cache, .useProtocol, origin)
            #expect(answer.source == source && answer.body == body)
        }
        #expect(try storage.entry(key)?.head.bodyIdentity == identity)
    }

    @Test(arguments: TestStorage.allCases) func renewalWithOtherVaryMovesTheEntry(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await cache.store(body, url, [.eTag: "\"a\"", .cacheControl: "max-age=0"])
            let origin = TestResponder { _ in
                (.notModified, [.eTag: "\"a\"", .cacheControl: "max-age=60", .vary: "Accept"], [])
            }
            #expect(try await ask(cache, .useProtocol, origin).body == body)
            #expect(cache.entryCount == 1)
            #expect(try await cache.stored(url, to: [.accept: "image/png"]) == body)
            #expect(try await cache.stored(url, to: [.accept: "image/gif"]) == nil)
        }
    }

    @Test func storageFailureIsReportedOnceAndDoesNotFailLoads() async throws {
        let storage = DictionaryStorage()
        let cache = cache(storage)
        let reports = Tally()
        cache.onFailure { _ in reports.add() }
        try await cache.store(body, url)
        storage.fail(Broken())
        let origin = TestResponder { [body] _ in (.ok, [.cacheControl: "max-age=60"], [body]) }
        for _ in 0..<2 {
            let answer = try await ask(cache, .useProtocol, origin)
            #expect(answer.source == .network && answer.body == body)
        }
        #expect(cache.failure is Broken && reports.count == 1)
        await #expect(throws: Broken.self) { try await cache.removeAll() }
        #expect(await cache.removeAll { _ in true } == 0)
    }

    @Test func aStorageThatIsUnavailableForTheMomentIsNotReported() async throws {
        let storage = DictionaryStorage()
        let cache = cache(storage)
        storage.fail(ResponseStorageError.unavailable)
        try await cache.store(body, url)
        #expect(cache.failure == nil && storage.entryCount == 0)
    }

    // MARK: Heads and keys

    private func head() throws -> ResponseStorageHead {
        let request = TransportRequest(url: try HTTPURL(url))
        let head = StoredHead(
            HTTPResponse(status: .ok, headerFields: [.eTag: "\"a\""]), to: request, requestedAt: 1, receivedAt: 2)
        return ResponseStorageHead(head, BodyFacts(identity: 5, length: 7, checksum: .init(of: body.span)))
    }

    @Test func writtenHeadsOfEntriesAreReadBackUnchanged() throws {
        let head = try head()
        let read = try ResponseStorageHead(head.bytes)
        #expect(read.head == head.head && read.body == head.body && read.bodyIdentity == 5 && read.bodyLength == 7)
    }

    @Test func changedOrCutHeadsOfEntriesAreDamaged() throws {
        let bytes = try head().bytes
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x41
            #expect(throws: ResponseStorageError.damaged) { try ResponseStorageHead(changed) }
            #expect(throws: ResponseStorageError.damaged) { try ResponseStorageHead(Array(bytes[..<index])) }
        }
    }

}
