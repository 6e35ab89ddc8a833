import Foundation
import HTTPTransport
import HTTPTypes
import Hashing
import TestSupport
import Testing

@testable import ResponseCache

/// Entries that temporarily cannot be opened, read, or removed are not treated as damaged.
@Suite(.timeLimit(.minutes(1)))
struct UnreadableEntryTests {
    private struct Broken: Error {}

    private let url = "http://example.com/a"
    private let time = ManualTime()
    private let storage = DictionaryStorage()

    private func cache() -> ResponseCache { ResponseCache(.init(), storage: storage, now: { [time] in time.now }) }

    /// A length at which a body is read in pieces.
    private static let long = StoredBody.maximumShortLength + 100_000

    private func body(_ length: Int) -> [UInt8] { [UInt8](repeating: 31, count: length) }

    private func response(
        _ cache: ResponseCache, _ origin: @escaping TestResponder.Script, policy: CachePolicy = .useProtocol
    ) async throws -> IncomingResponse {
        try await CachingResponder(cache, policy: policy, before: TestResponder(origin))
            .response(to: TransportRequest(url: try HTTPURL(url)))
    }

    private func fails(_ request: TransportRequest) throws -> (HTTPResponse.Status, HTTPFields, [[UInt8]]) {
        throw TransportError(url: request.url.string, reason: .timedOut(.total))
    }

    // MARK: Verification

    @Test(arguments: [DictionaryStorage.Operation.open, .read])
    func verificationCountsEntriesThatCannotBeReadApart(operation: DictionaryStorage.Operation) async throws {
        let cache = cache()
        for number in 0..<3 { try await cache.store([1], url + "\(number)") }
        storage.fail(Broken(), in: [operation])
        #expect(try await cache.verify() == (0, 0, 3))
        storage.recover()
        #expect(try await cache.verify() == (3, 0, 0))
    }

    @Test func verificationFailsIfTheEntriesCannotBeListed() async throws {
        let cache = cache()
        storage.fail(Broken(), in: [.list])
        await #expect(throws: Broken.self) { try await cache.verify() }
    }

    @Test func removalOfAllResponsesReportsFailures() async throws {
        let cache = cache()
        try await cache.store([1], url)
        storage.fail(Broken(), in: [.remove])
        await #expect(throws: Broken.self) { try await cache.removeAll() }
        storage.recover()
        try await cache.removeAll()
        #expect(cache.entryCount == 0)
    }

    /// A folder cannot be read as a file, and a link is not followed.
    @Test(arguments: [true, false]) func verificationKeepsFilesThatCannotBeRead(isFolder: Bool) async throws {
        try await withTemporaryFolder { folder in
            let cache = try ResponseCache.test(folder, time)
            for number in 0..<3 { try await cache.store([1], url + "\(number)") }
            let path = try #require(try cacheFiles(folder).first.map { "\(folder)/\($0)" })
            try FileManager.default.removeItem(atPath: path)
            if isFolder {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            } else {
                try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/null")
            }
            #expect(try await cache.verify() == (2, 0, 1))
            #expect(try await cache.verify() == (2, 0, 1))
        }
    }

    // MARK: Requests

    @Test(arguments: [1_000, long]) func readErrorIsAMissAndTheEntryRemains(length: Int) async throws {
        let cache = cache()
        try await cache.store(body(length), url)
        storage.fail(Broken(), in: [.read])
        let error = await #expect(throws: TransportError.self) { try await response(cache, fails, policy: .cacheOnly) }
        #expect(error?.reason == .notCached)
        #expect(await cache.response(for: url) == nil)
        await #expect(throws: TransportError.self) { try await response(cache, fails) }
        storage.recover()
        let served = try await response(cache, fails)
        #expect(served.source == .disk)
        #expect(try await served.body.bytes() == body(length))
        storage.fail(Broken(), in: [.read])
        let fetched = try await response(cache) { _ in (.ok, [.cacheControl: "max-age=60"], [[1]]) }
        #expect(fetched.source == .network)
        #expect(try await fetched.body.bytes() == [1])
        storage.recover()
        #expect(try await cache.stored(url) == [1])
    }

    @Test(arguments: [1_000, long]) func readErrorCountsAsAMissInTheStatistics(length: Int) async throws {
        let cache = cache()
        try await cache.store(body(length), url)
        storage.fail(Broken(), in: [.read])
        await #expect(throws: TransportError.self) { try await response(cache, fails, policy: .cacheOnly) }
        #expect(cache.statistics == ResponseCache.Statistics(hits: 0, misses: 1))
        storage.recover()
        _ = try await response(cache, fails)
        #expect(cache.statistics == ResponseCache.Statistics(hits: 1, misses: 1))
    }

    @Test func entryThatFailsWithinItsBodyIsSkippedForAMinute() async throws {
        let cache = cache()
        try await cache.store(body(Self.long), url, [.cacheControl: "max-age=600"])
        storage.fail(Broken(), in: [.read], readableBytes: 200_000)
        let served = try await response(cache, fails)
        await #expect(throws: StoredBodyError.unreadable) { try await served.body.bytes() }
        // A retry gets further.
        await #expect(throws: TransportError.self) { try await response(cache, fails) }
        storage.recover()
        #expect(try await cache.stored(url) == nil)
        time.advance(by: SkippedEntries.lifetime)
        #expect(try await cache.stored(url) == body(Self.long))
    }

    /// Stores the beginning of a body of 300,000 bytes.
    private func storeBeginning(_ cache: ResponseCache) async throws -> (StoredHead, CachedResource, StoredResponse) {
        let request = TransportRequest(url: try HTTPURL(url))
        let head = StoredHead(
            HTTPResponse(status: .ok, headerFields: [.eTag: "\"1\"", .contentLength: "300000"]), to: request,
            requestedAt: time.now, receivedAt: time.now)
        let writer = EntryWriter(head, CachedResource(request), cache: cache, length: 300_000)
        await writer.append(body(100_000))
        await writer.keep()
        let part = await cache.thread.run { cache.find(.part, request, CachedResource(request)) }
        return (head, CachedResource(request), try #require(part))
    }

    @Test func beginningThatCannotBeReadRemains() async throws {
        let cache = cache()
        _ = try await storeBeginning(cache)
        storage.fail(Broken(), in: [.read])
        await #expect(throws: TransportError.self) { try await response(cache, fails) }
        await cache.settles()
        #expect(storage.entryCount == 1)
    }

    @Test func beginningThatCannotBeCopiedRemains() async throws {
        let cache = cache()
        let (head, resource, part) = try await storeBeginning(cache)
        storage.fail(Broken(), in: [.read])
        let writer = EntryWriter(head, resource, cache: cache, length: 300_000, continuing: part)
        await writer.append(body(200_000))
        await writer.commit()
        await cache.settles()
        #expect(storage.entryCount == 1 && storage.openWriters == 0)
    }

    // MARK: Removal

    @Test func responsesThatCannotBeRemovedAreNotCounted() async throws {
        let cache = cache()
        for number in 0..<3 { try await cache.store([1], url + "\(number)") }
        storage.fail(Broken(), in: [.remove])
        #expect(await cache.removeAll { _ in true } == 0)
        storage.recover()
        #expect(await cache.removeAll { _ in true } == 3)
    }

    @Test func damagedEntryThatCannotBeRemovedIsSkippedAndRemovedLater() async throws {
        let cache = cache()
        try await cache.store(body(1_000), url, [.cacheControl: "max-age=600"])
        storage.damage(.body)
        storage.fail(Broken(), in: [.remove])
        #expect(await cache.response(for: url) == nil)
        storage.recover()
        #expect(await cache.response(for: url) == nil)
        #expect(storage.entryCount == 1)
        time.advance(by: SkippedEntries.lifetime)
        #expect(await cache.response(for: url) == nil)
        #expect(storage.entryCount == 0)
    }

    @Test func anEntryThatReplacesASkippedOneIsUsed() async throws {
        let cache = cache()
        try await cache.store(body(1_000), url)
        storage.damage(.body)
        storage.fail(Broken(), in: [.remove])
        #expect(await cache.response(for: url) == nil)
        try await cache.store([1], url)
        #expect(await cache.response(for: url)?.body == [1])
    }

    // MARK: Lengths

    @Test func entriesThatAreShorterThanTheirHeadSaysAreDamaged() async throws {
        let cache = cache()
        let request = TransportRequest(url: try HTTPURL(url))
        let head = StoredHead(HTTPResponse(status: .ok), to: request, requestedAt: time.now, receivedAt: time.now)
        var writer = try storage.writer(headByteCount: 0)
        try writer.append([1, 2, 3])
        let facts = BodyFacts(identity: 1, length: 1 << 47, checksum: .init())
        let key = head.key(CachedResource(request))
        try writer.commit(ResponseStorageHead(head, facts), as: key)
        #expect(await cache.response(for: url) == nil)
        #expect(storage.entryCount == 0)
    }

    @Test func headsOfImpossibleLengthsAreDamaged() throws {
        let request = TransportRequest(url: try HTTPURL(url))
        let head = StoredHead(HTTPResponse(status: .ok), to: request, requestedAt: 1, receivedAt: 2)
        for length in [1 << 48 + 1, Int.max] {
            let bytes = ResponseStorageHead(head, BodyFacts(identity: 1, length: length, checksum: .init())).bytes
            #expect(throws: ResponseStorageError.damaged) { try ResponseStorageHead(bytes) }
        }
    }
}
